//! Components of pages: each is drawn here, and has one block of the style sheet.

use maud::{Markup, html};
pub use report::html::prose;

/// A small picture beside words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// The first page.
    Home,
    /// Programs that play.
    Engines,
    /// Events.
    Events,
    /// Records of games.
    Study,
    /// What is computed.
    Jobs,
    /// Choices.
    Settings,
    /// Ratings over all events.
    Ratings,
    /// Something new.
    Add,
    /// Two who play.
    Match,
    /// A question that games answer.
    Test,
    /// Everybody against everybody.
    League,
    /// One against all others.
    Gauntlet,
    /// Rounds of players with equal points.
    Swiss,
    /// A bracket.
    Knockout,
    /// A door.
    Guests,
    /// A server in the world.
    Server,
}

impl Icon {
    /// Its lines, on a field of 24 by 24.
    fn lines(self) -> &'static str {
        match self {
            Self::Home => "M4 11 12 4l8 7v9h-5v-6H9v6H4z",
            Self::Engines => "M7 7h10v10H7zM10 3v4m4-4v4m-4 10v4m4-4v4M3 10h4m-4 4h4m10-4h4m-4 4h4",
            Self::Events => "M8 4h8v6a4 4 0 0 1-8 0zM8 6H4c0 3 2 4 4 4m8-4h4c0 3-2 4-4 4m-4 4v4m-4 2h8",
            Self::Study => "M4 5h7v14H4zM13 5h7v14h-7zM6 9h3m-3 3h3m6-3h3m-3 3h3",
            Self::Jobs => "M4 6h16M4 12h10M4 18h6m5 0 2 2 4-5",
            Self::Settings => {
                "M4 7h9m6 0h1M4 17h1m6 0h9M16 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z"
            }
            Self::Ratings => "M4 20V10m6 10V4m6 16v-7m4 7H2",
            Self::Add => "M12 5v14M5 12h14",
            Self::Match => "M3 12a4 4 0 1 0 8 0 4 4 0 0 0-8 0zM13 12a4 4 0 1 0 8 0 4 4 0 0 0-8 0z",
            Self::Test => "M4 20h16M7 20V10m5 10V5m5 15v-7",
            Self::League => "M5 5h14v14H5zM5 9.7h14M5 14.3h14M9.7 5v14m4.6-14v14",
            Self::Gauntlet => "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 9V3m0 18v-6M9 12H3m18 0h-6",
            Self::Swiss => "M6 4v16M18 4v16M6 8h12M6 12h12M6 16h12",
            Self::Knockout => "M4 4h6v6H4m6-3h5v10h5M4 14h6v6H4m6-3h5",
            Self::Guests => "M6 21V4h9v17M3 21h18M12 12h.01",
            Self::Server => {
                "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18"
            }
        }
    }
}

/// A picture, which says nothing to those who listen: words stand beside it.
pub fn icon(icon: Icon) -> Markup {
    html! { svg.icon viewBox="0 0 24 24" aria-hidden="true" { path d=(icon.lines()) {} } }
}

/// What a state is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It goes on as it should.
    Good,
    /// Something is wrong.
    Bad,
    /// Somebody or something is waited for.
    Wait,
    /// Nothing goes on.
    Rest,
}

impl Mood {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Wait => "wait",
            Self::Rest => "rest",
        }
    }
}

/// A state: a word on its colour.
pub fn state(mood: Mood, words: &str) -> Markup {
    html! { span class={ "state " (mood.class()) } { (words) } }
}

/// What somebody has to know or to do, and the way to it.
pub fn alert(mood: Mood, content: &Markup) -> Markup {
    html! { div class={ "alert " (mood.class()) } role="alert" { (content) } }
}

/// A place where nothing is yet: what to do, and how.
pub fn empty(title: &str, about: &str, orders: &Markup) -> Markup {
    html! { section.empty { h2 { (title) } p.quiet { (about) } div.buttons { (orders) } } }
}

/// Orders that are not asked for often, behind one button; it works without a script.
pub fn menu(words: &str, orders: &Markup) -> Markup {
    html! { details.menu { summary.button aria-label=(words) title=(words) { "⋯" } div { (orders) } } }
}

/// An order that is given by a second press, beside what it does; it works without a script.
pub fn asks(words: &str, what: &str, order: &Markup) -> Markup {
    html! { details.asks { summary.button { (words) } p { (what) } (order) } }
}

/// How far something is.
pub fn progress(words: &str, done: u64, all: u64) -> Markup {
    html! { progress max=(all.max(1)) value=(done.min(all)) aria-label=(words) { (done) " / " (all) } }
}

/// Colours of letters.
const COLOURS: u32 = 8;

/// The first letter of a name on a colour of its own, by which its owner is found again.
pub fn letter(name: &str) -> Markup {
    let first = name.chars().next().unwrap_or('?');
    // FNV-1a, so that a name has its colour on every machine.
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    html! { span class={ "letter l" (hash % COLOURS) } aria-hidden="true" { (first) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_letter_and_its_colour() {
        let drawn = |name: &str| letter(name).into_string();
        assert_eq!(drawn("水匠"), drawn("水匠"));
        assert!(drawn("水匠").contains(">水<") && drawn("").contains(">?<"));
    }

    #[test]
    fn what_stands_between_accents_is_code_and_is_escaped() {
        let drawn = |words: &str| prose(words).into_string();
        assert_eq!(drawn("give `a<b` or `c`"), "give <code>a&lt;b</code> or <code>c</code>");
        assert_eq!(drawn("an ` alone"), "an ` alone");
        assert_eq!(drawn(""), "");
    }

    /// All components, for whoever changes one.
    fn gallery() -> Markup {
        let icons =
            [Icon::Home, Icon::Engines, Icon::Events, Icon::Study, Icon::Jobs, Icon::Settings, Icon::Add];
        let moods =
            [(Mood::Good, "plays"), (Mood::Bad, "faulty"), (Mood::Wait, "waits"), (Mood::Rest, "over")];
        html! { main {
            h1 { "Components" }
            p { @for one in icons { (icon(one)) " " } @for name in ["a", "bonanza", "Suisho", "水匠", "gps", "tanuki"] { (letter(name)) " " } }
            p { @for (mood, words) in moods { (state(mood, words)) " " } (prose("text with `code`")) }
            @for (mood, words) in moods { (alert(mood, &html! { p { (words) } a.button href="#" { "Mend it" } })) }
            p.done { "It was done." }
            (progress("games", 3, 10))
            p.buttons { button.main { "Begin" } button { "Keep" } a.button href="#" { "A way" } button.quiet { "Show" } button.danger { "Delete" } button disabled { "No" } }
            (menu("Other orders", &html! { a href="#" { "Change" } button.danger { "Delete" } }))
            (asks("Resign", "The game ends.", &html! { button.danger { "Resign" } }))
            (empty("Nothing yet", "What to do, in a sentence.", &html! { button.main { "Do it" } }))
            form.order {
                label { span { "A text" } input value="text"; }
                label { span { "A number" } input.number type="number" value="4"; em.wrong { "what is wrong with it" } }
                label { span { "A choice" } select { option { "one" } option { "other" } } }
                fieldset { legend { "Several" } div.pick { label.tick { input type="checkbox" checked; (letter("gps")) span { "gps" } } label.tick { input type="checkbox"; span { "off" } } } }
                details.tab open { summary { "More" } p { "what is asked for less often" } }
            }
            div.scroll.sheet { table.games { thead { tr { th.name { "name" } th { "games" } } } tbody { tr { td.name { "gps" } td { "12" } } tr { td.name { "a longer name" } td { "3 000" } } } } }
        } }
    }

    #[test]
    fn a_page_of_all_components_is_written_in_both_themes_where_pictures_go() {
        let page = gallery().into_string();
        for class in ["state good", "alert bad", "empty", "menu", "letter", "pick", "tab", "wrong", "sheet"] {
            assert!(page.contains(class), "{class}");
        }
        let Some(directory) = std::env::var_os("RENMEI_SCREENSHOTS").map(std::path::PathBuf::from) else {
            return;
        };
        for theme in ["light", "dark"] {
            let style = crate::assets::style(theme);
            let file = directory.join(format!("components-{theme}.html"));
            std::fs::write(file, format!("<!DOCTYPE html><meta charset=utf-8><meta name=color-scheme content={theme}><style>{style}</style>{page}")).unwrap();
        }
    }

    #[test]
    fn more_than_all_is_all() {
        assert!(progress("games", 7, 5).into_string().contains("max=\"5\" value=\"5\""));
        assert!(progress("games", 0, 0).into_string().contains("max=\"1\" value=\"0\""));
    }
}
