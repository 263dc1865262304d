//! Colours by meaning: each role has a colour in 24 bits, one of sixteen, or only weight.

use ratatui::style::{Color, Modifier, Style};

/// The colours of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// `NO_COLOR`: only bold, dim, underlined and reversed.
    Mono,
    /// The terminal's own sixteen.
    #[default]
    Sixteen,
    /// 24 bits.
    True,
}

/// The meaning of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Ordinary text.
    Plain,
    /// Frames, headings of columns, finished games.
    Quiet,
    /// Titles and leaders.
    Strong,
    /// The row or game the reader has chosen.
    Chosen,
    /// The side to move.
    Mover,
    /// A clock that is nearly empty.
    Low,
    /// A fault.
    Fault,
    /// Towards H1, winning.
    Good,
    /// Squares of the last move.
    Last,
}

impl Palette {
    /// The palette for the values of `NO_COLOR` and `COLORTERM`.
    pub fn of(no_color: Option<&str>, colorterm: Option<&str>) -> Self {
        match (no_color, colorterm) {
            (Some(set), _) if !set.is_empty() => Self::Mono,
            (_, Some("truecolor" | "24bit")) => Self::True,
            _ => Self::Sixteen,
        }
    }

    /// The style of a role.
    pub fn style(self, role: Role) -> Style {
        let style = Style::new().add_modifier(modifier(role));
        match (self, role) {
            (Self::Mono, _) | (_, Role::Plain | Role::Strong | Role::Chosen) => style,
            (Self::Sixteen, _) => sixteen(style, role),
            (Self::True, _) => full(style, role),
        }
    }
}

fn modifier(role: Role) -> Modifier {
    match role {
        Role::Plain | Role::Good => Modifier::empty(),
        Role::Quiet => Modifier::DIM,
        Role::Strong | Role::Mover => Modifier::BOLD,
        Role::Chosen => Modifier::REVERSED,
        Role::Low | Role::Fault => Modifier::BOLD.union(Modifier::UNDERLINED),
        Role::Last => Modifier::REVERSED,
    }
}

fn sixteen(style: Style, role: Role) -> Style {
    match role {
        Role::Mover => style.fg(Color::Cyan),
        Role::Low => style.fg(Color::Yellow),
        Role::Fault => style.fg(Color::Red),
        Role::Good => style.fg(Color::Green),
        Role::Last => Style::new().fg(Color::Black).bg(Color::Yellow),
        _ => style,
    }
}

fn full(style: Style, role: Role) -> Style {
    match role {
        Role::Mover => style.fg(Color::Rgb(90, 190, 230)),
        Role::Low => style.fg(Color::Rgb(240, 180, 60)),
        Role::Fault => style.fg(Color::Rgb(240, 90, 90)),
        Role::Good => style.fg(Color::Rgb(110, 200, 120)),
        Role::Last => Style::new().fg(Color::Rgb(20, 20, 20)).bg(Color::Rgb(225, 195, 110)),
        _ => style,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_wins_over_what_the_terminal_can() {
        assert_eq!(Palette::of(Some("1"), Some("truecolor")), Palette::Mono);
        assert_eq!(Palette::of(Some(""), Some("truecolor")), Palette::True);
        assert_eq!(Palette::of(None, None), Palette::Sixteen);
    }

    #[test]
    fn without_colours_every_warning_still_stands_out() {
        for role in [Role::Fault, Role::Low, Role::Last, Role::Chosen, Role::Mover] {
            let style = Palette::Mono.style(role);
            assert_eq!((style.fg, style.bg), (None, None));
            assert!(!style.add_modifier.is_empty(), "{role:?}");
        }
    }
}
