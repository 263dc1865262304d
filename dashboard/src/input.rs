//! Mapping from keys to actions; [`crate::ui`] performs them.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use report::Language;

/// A screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::VariantArray)]
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
    /// All screens, in the order of the last line.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The keys that open the screen, the one of the last line first, and its name.
    pub fn keys_and_name(self, words: Language) -> (&'static str, &'static str) {
        match self {
            Self::Event => ("1", words.pick("event", "大会")),
            Self::Games => ("2", words.pick("boards", "盤面")),
            Self::Game => ("3", words.pick("game", "対局")),
            Self::Played => ("4", words.pick("played", "棋譜")),
            Self::Table => ("5t", words.pick("table", "対戦表")),
            Self::Ratings => ("6r", words.pick("elo", "Elo")),
            Self::Engines => ("7e", words.pick("engines", "時間")),
            Self::Openings => ("8o", words.pick("openings", "開始局面")),
            Self::Log => ("9L", words.pick("log", "ログ")),
            Self::Machines => ("m", words.pick("machines", "マシン")),
        }
    }

    /// The screens of an event; that of machines only where there are some.
    pub fn of_event(on_machines: bool) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |screen| on_machines || *screen != Self::Machines)
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
        key => {
            let opens = |screen: &&Screen| screen.keys_and_name(Language::English).0.contains(key);
            Action::Show(*Screen::ALL.iter().find(opens)?)
        }
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

/// A key with its meaning.
type Key = (&'static str, fn(Language) -> &'static str);

/// Two keys in one row: the help just fits into 24.
const REDRAW_OR_SUSPEND: &str = "^L ^Z";

/// The keys of this system with their meanings, for the help; `can_suspend`: the system suspends programs.
pub fn keys(can_suspend: bool, words: Language) -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().map(move |&(key, meaning)| match key == REDRAW_OR_SUSPEND && !can_suspend {
        true => ("^L", words.help_redraw()),
        false => (key, meaning(words)),
    })
}

/// Every key with its meaning.
const KEYS: &[Key] = &[
    ("1 - 9", Language::help_screens),
    ("t r e o L m", Language::help_more_screens),
    ("Tab  Shift-Tab", Language::help_next_screen),
    ("↑ ↓  k j", Language::help_rows),
    ("← →  h l", Language::help_boards),
    ("PgUp PgDn  ^U ^D", Language::help_page),
    ("Home End  g G", Language::help_ends),
    ("Enter", Language::help_open),
    ("Esc  Backspace", Language::help_back),
    ("n N", Language::help_neighbours),
    ("/", Language::help_filter),
    ("s", Language::help_sort),
    ("v V", Language::help_variation),
    ("w W", Language::help_save),
    ("p  Space", Language::help_hold),
    ("a f", Language::help_pieces),
    (REDRAW_OR_SUSPEND, Language::help_redraw_or_suspend),
    ("q", Language::help_quit),
    ("^C", Language::help_stop),
    ("?  F1", Language::help_help),
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
        let offers = |can_suspend| keys(can_suspend, Language::English).any(|(key, _)| key.contains("^Z"));
        assert!(offers(true) && !offers(false));
        assert!(keys(false, Language::English).any(|(key, _)| key == "^L"));
    }

    #[test]
    fn every_key_of_a_screen_opens_it_and_is_in_the_help_as_every_digit_is() {
        let in_help =
            |key: char| KEYS.iter().any(|(keys, _)| keys.split(' ').any(|one| one == format!("{key}")));
        for screen in Screen::ALL.iter().copied() {
            let (keys, _) = screen.keys_and_name(Language::English);
            assert!(!keys.is_empty(), "the last line has a key of {screen:?}");
            for key in keys.chars() {
                assert_eq!(press(KeyCode::Char(key), false), Some(Action::Show(screen)), "{key}");
                assert!(key.is_ascii_digit() || in_help(key), "{key} is not in the help");
            }
        }
        assert!(('1'..='9').all(|digit| press(KeyCode::Char(digit), false).is_some()));
    }
}
