//! Mapping from keys to actions; [`crate::ui`] performs them.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use report::Language;

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
    pub fn name(self, words: Language) -> &'static str {
        match self {
            Self::Event => words.pick("event", "大会"),
            Self::Games => words.pick("boards", "盤面"),
            Self::Game => words.pick("game", "対局"),
            Self::Played => words.pick("played", "棋譜"),
            Self::Table => words.pick("table", "対戦表"),
            Self::Ratings => words.pick("elo", "Elo"),
            Self::Engines => words.pick("engines", "時間"),
            Self::Openings => words.pick("openings", "開始局面"),
            Self::Log => words.pick("log", "ログ"),
            Self::Machines => words.pick("machines", "マシン"),
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

/// A key with its meaning in both languages.
type Key = (&'static str, [&'static str; 2]);

/// Two keys in one row: the help just fits into 24.
const REDRAW_OR_SUSPEND: Key =
    ("^L ^Z", ["draw everything anew; give the terminal back for a while", "再描画、端末を一時的に返す"]);

/// The keys of this system with their meanings, for the help; `can_suspend`: the system suspends programs.
pub fn keys(can_suspend: bool, words: Language) -> impl Iterator<Item = (&'static str, &'static str)> {
    let redraw = ("^L", ["draw everything anew", "再描画"]);
    let keys =
        KEYS.iter().map(move |&row| if row == REDRAW_OR_SUSPEND && !can_suspend { redraw } else { row });
    keys.map(move |(key, [english, japanese])| (key, words.pick(english, japanese)))
}

/// Every key with its meaning.
const KEYS: &[Key] = &[
    ("1 - 9", ["the screens, by the numbers of the last line", "各画面（番号は最下行）"]),
    (
        "t r e o L m",
        [
            "table, elo (ratings over the games), engines, openings, log, machines",
            "対戦表、Elo（レートの推移）、時間、開始局面、ログ、マシン",
        ],
    ),
    ("Tab  Shift-Tab", ["next screen, screen before", "次の画面、前の画面"]),
    ("↑ ↓  k j", ["choose a row or a board; in a game: ten plies", "行や盤面の選択、対局では10手移動"]),
    ("← →  h l", ["choose a board; in a game: one ply back or on", "盤面の選択、対局では1手移動"]),
    ("PgUp PgDn  ^U ^D", ["a page", "1ページ移動"]),
    (
        "Home End  g G",
        [
            "first or last row; in a game: its start; its end, followed",
            "先頭・末尾の行、対局では開始局面・最終手（追従）",
        ],
    ),
    ("Enter", ["open the chosen game", "選んだ対局を開く"]),
    ("Esc  Backspace", ["back", "戻る"]),
    ("n N", ["next game, game before", "次の対局、前の対局"]),
    (
        "/",
        [
            "filter by player or ending; Enter keeps it, Esc drops it",
            "対局者・終局で絞り込む（Enter で確定、Esc で取消）",
        ],
    ),
    (
        "s",
        ["boards and played: by player, result, length, time left", "並べ替え: 対局者、結果、手数、残り時間"],
    ),
    (
        "v V",
        ["in a game: into the line the engine had in mind, and back", "対局で: エンジンの読み筋を進む、戻る"],
    ),
    ("w W", ["in a game: write it to a file, as CSA or as KIF", "対局で: ファイルに保存（CSA、KIF）"]),
    ("p  Space", ["hold the screen still, or go on", "表示の停止・再開"]),
    ("a f", ["kanji pieces, or letters; turn the board round", "駒の漢字・英字、盤面反転"]),
    REDRAW_OR_SUSPEND,
    (
        "q",
        [
            "leave the screens; games go on, and lines tell of them",
            "画面を閉じる（対局は続き、経過を行で表示）",
        ],
    ),
    (
        "^C",
        [
            "stop: finish the running games; again: adjourn them",
            "停止: 対局中のものを終えてから。もう一度で指し掛け",
        ],
    ),
    ("?  F1", ["this list", "この一覧"]),
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
    fn every_digit_in_the_help_opens_a_screen() {
        for (at, screen) in Screen::ALL.into_iter().enumerate() {
            let digit = char::from(b'1' + at as u8);
            assert_eq!(press(KeyCode::Char(digit), false), Some(Action::Show(screen)));
        }
    }
}
