//! Mapping from keys to actions; [`crate::ui`] performs them.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Screen {
    /// Standings, sequential test, progress, running games.
    #[default]
    Event,
    /// Boards of the running games.
    Games,
    /// One game.
    Game,
    /// Finished games.
    Played,
    /// Cross table.
    Table,
    /// Course of the ratings.
    Ratings,
    /// Time use of the engines.
    Engines,
    /// Score by opening.
    Openings,
    /// Log.
    Log,
    /// Other machines that play games of the event.
    Machines,
}

impl Screen {
    /// The screens of every event, in the order of their keys; an event on many machines has one more.
    pub const ALL: [Self; 9] = [
        Self::Event,
        Self::Games,
        Self::Game,
        Self::Played,
        Self::Table,
        Self::Ratings,
        Self::Engines,
        Self::Openings,
        Self::Log,
    ];

    /// The name of the screen.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Games => "boards",
            Self::Game => "game",
            Self::Played => "played",
            Self::Table => "table",
            Self::Ratings => "elo",
            Self::Engines => "engines",
            Self::Openings => "openings",
            Self::Log => "log",
            Self::Machines => "machines",
        }
    }
}

/// An action of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Another screen.
    Show(Screen),
    /// The next screen, or the one before.
    Turn(isize),
    /// Rows up (negative) or down.
    Vertical(isize),
    /// Columns, or plies, back (negative) or on.
    Sideways(isize),
    /// A page up (negative) or down.
    Page(isize),
    /// To the start.
    First,
    /// To the end, following it.
    Last,
    /// The game after the one shown, or before it.
    Neighbour(isize),
    /// Open the chosen row or board.
    Open,
    /// Back to the screen before.
    Back,
    /// The list of keys.
    Help,
    /// Edit the filter.
    Filter,
    /// A letter of the filter.
    Letter(char),
    /// Delete the last letter of the filter.
    Erase,
    /// Lists in another order.
    Sort,
    /// Forward or back in the line that the engine expected.
    Variation(isize),
    /// Write the game shown to a file.
    Save(Form),
    /// Pause or resume the screen.
    Pause,
    /// Kanji or letters.
    Pieces,
    /// White at the bottom, or black.
    Flip,
    /// Leave the screens; the event goes on.
    Quit,
    /// Stop the event, as Ctrl-C does everywhere.
    Interrupt,
    /// Suspend the program.
    Suspend,
    /// Redraw the screen.
    Redraw,
}

/// A record format that a game is saved in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// CSA.
    Csa,
    /// KIF in UTF-8.
    Kif,
}

/// The action of a key; `writing`: the filter is being edited.
#[must_use]
pub fn action(key: KeyEvent, writing: bool) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return control(key.code);
    }
    match (key.code, writing) {
        (KeyCode::Char(letter), true) => Some(Action::Letter(letter)),
        (KeyCode::Backspace, true) => Some(Action::Erase),
        (KeyCode::Char(letter), false) => letter_key(letter),
        (code, _) => named_key(code),
    }
}

fn control(code: KeyCode) -> Option<Action> {
    match code {
        KeyCode::Char('c') => Some(Action::Interrupt),
        KeyCode::Char('z') => Some(Action::Suspend),
        KeyCode::Char('l') => Some(Action::Redraw),
        KeyCode::Char('d' | 'f') => Some(Action::Page(1)),
        KeyCode::Char('u' | 'b') => Some(Action::Page(-1)),
        _ => None,
    }
}

fn letter_key(letter: char) -> Option<Action> {
    Some(match letter {
        'h' => Action::Sideways(-1),
        'j' => Action::Vertical(1),
        'k' => Action::Vertical(-1),
        'l' => Action::Sideways(1),
        'g' => Action::First,
        'G' => Action::Last,
        'n' => Action::Neighbour(1),
        'N' => Action::Neighbour(-1),
        'a' => Action::Pieces,
        'f' => Action::Flip,
        'p' | ' ' => Action::Pause,
        '/' => Action::Filter,
        '?' => Action::Help,
        'q' => Action::Quit,
        's' => Action::Sort,
        'v' => Action::Variation(1),
        'V' => Action::Variation(-1),
        'w' => Action::Save(Form::Csa),
        'W' => Action::Save(Form::Kif),
        '1'..='9' => Action::Show(Screen::ALL[usize::from(letter as u8 - b'1')]),
        'o' => Action::Show(Screen::Openings),
        'e' => Action::Show(Screen::Engines),
        't' => Action::Show(Screen::Table),
        'r' => Action::Show(Screen::Ratings),
        'L' => Action::Show(Screen::Log),
        'm' => Action::Show(Screen::Machines),
        _ => return None,
    })
}

fn named_key(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Up => Action::Vertical(-1),
        KeyCode::Down => Action::Vertical(1),
        KeyCode::Left => Action::Sideways(-1),
        KeyCode::Right => Action::Sideways(1),
        KeyCode::PageUp => Action::Page(-1),
        KeyCode::PageDown => Action::Page(1),
        KeyCode::Home => Action::First,
        KeyCode::End => Action::Last,
        KeyCode::Tab => Action::Turn(1),
        KeyCode::BackTab => Action::Turn(-1),
        KeyCode::Enter => Action::Open,
        KeyCode::Esc | KeyCode::Backspace => Action::Back,
        KeyCode::F(1) => Action::Help,
        _ => return None,
    })
}

/// Two keys in one row: the help just fits into 24.
const REDRAW_OR_SUSPEND: (&str, &str) = ("^L ^Z", "draw everything anew; give the terminal back for a while");

/// The keys of this system with their meanings, for the help; `can_suspend`: the system suspends programs.
pub fn keys(can_suspend: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let redraw = ("^L", "draw everything anew");
    KEYS.iter().map(move |&row| if row == REDRAW_OR_SUSPEND && !can_suspend { redraw } else { row })
}

/// Every key with its meaning.
const KEYS: &[(&str, &str)] = &[
    ("1 - 9", "the screens, by the numbers of the last line"),
    ("t r e o L m", "table, elo (ratings over the games), engines, openings, log, machines"),
    ("Tab  Shift-Tab", "next screen, screen before"),
    ("↑ ↓  k j", "choose a row or a board; in a game: ten plies"),
    ("← →  h l", "choose a board; in a game: one ply back or on"),
    ("PgUp PgDn  ^U ^D", "a page"),
    ("Home End  g G", "first or last row; in a game: its start; its end, followed"),
    ("Enter", "open the chosen game"),
    ("Esc  Backspace", "back"),
    ("n N", "next game, game before"),
    ("/", "filter by player or ending; Enter keeps it, Esc drops it"),
    ("s", "boards and played: by player, result, length, time left"),
    ("v V", "in a game: into the line the engine had in mind, and back"),
    ("w W", "in a game: write it to a file, as CSA or as KIF"),
    ("p  Space", "hold the screen still, or go on"),
    ("a f", "kanji pieces, or letters; turn the board round"),
    REDRAW_OR_SUSPEND,
    ("q", "leave the screens; games go on, and lines tell of them"),
    ("^C", "stop: finish the running games; again: adjourn them"),
    ("?  F1", "this list"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, writing: bool) -> Option<Action> {
        action(KeyEvent::new(code, KeyModifiers::NONE), writing)
    }

    #[test]
    fn vim_and_arrow_keys_mean_the_same() {
        let same = [('h', KeyCode::Left), ('j', KeyCode::Down), ('k', KeyCode::Up), ('l', KeyCode::Right)];
        for (letter, arrow) in same {
            assert_eq!(press(KeyCode::Char(letter), false), press(arrow, false));
            assert!(press(arrow, false).is_some());
        }
    }

    #[test]
    fn letters_go_into_the_filter_while_it_is_written_but_ctrl_c_still_stops() {
        assert_eq!(press(KeyCode::Char('q'), true), Some(Action::Letter('q')));
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(action(ctrl_c, true), Some(Action::Interrupt));
    }

    #[test]
    fn the_help_offers_a_suspension_only_where_the_system_has_one() {
        let offers = |can_suspend| keys(can_suspend).any(|(key, _)| key.contains("^Z"));
        assert!(offers(true) && !offers(false));
        assert!(keys(false).any(|(key, _)| key == "^L"));
    }

    #[test]
    fn every_digit_in_the_help_opens_a_screen() {
        for (at, screen) in Screen::ALL.into_iter().enumerate() {
            let digit = char::from(b'1' + at as u8);
            assert_eq!(press(KeyCode::Char(digit), false), Some(Action::Show(screen)));
        }
    }
}
