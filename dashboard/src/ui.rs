//! The view of the reader: the screen, the chosen row, the shown ply. Actions change only this.

use crate::{
    input::{Action, Form, Screen},
    state::{Game, Played, State, by_opening},
    theme::Palette,
};
use referee::entry::GameId;
use report::Language;

/// The view of the reader.
#[derive(Clone, Debug, Default)]
pub struct Ui {
    /// The current screen.
    pub screen: Screen,
    /// The screen before.
    pub came_from: Screen,
    /// The colours.
    pub palette: Palette,
    /// Letters instead of kanji.
    pub ascii: bool,
    /// White at the bottom.
    pub flipped: bool,
    /// True if the list of keys lies over the screen.
    pub help: bool,
    /// True if the screen is paused.
    pub paused: bool,
    /// Entries that wait while the screen is paused.
    pub waiting: usize,
    /// The filter.
    pub filter: String,
    /// True if the filter is being edited.
    pub writing: bool,
    /// The chosen row or board of the screen.
    pub chosen: usize,
    /// The game that is shown.
    pub game: Option<GameId>,
    /// The ply that is shown; `None` follows the game.
    pub ply: Option<usize>,
    /// Moves shown of the line that the engine of the shown ply expected; 0 shows the game itself.
    pub ahead: usize,
    /// The order of games.
    pub order: Order,
    /// True if another process plays the event.
    pub watching: bool,
    /// True if the event is over and its program waits for the reader to leave.
    pub lingers: bool,
    /// Notice in the last line, until the next key or for a while.
    pub notice: Option<String>,
}

/// The order that games are listed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::VariantArray)]
pub enum Order {
    /// By start; finished games by end, latest first.
    #[default]
    Time,
    /// By the names of the players.
    Player,
    /// Won by black, by white, drawn, not counted.
    Result,
    /// The longest first.
    Length,
    /// The least time left first; of games that are over, the latest.
    Left,
}

impl Order {
    /// The name of the order.
    pub fn name(self, words: Language) -> &'static str {
        match self {
            Self::Time => words.pick("time", "時刻"),
            Self::Player => words.player(),
            Self::Result => words.pick("result", "結果"),
            Self::Length => words.pick("length", "手数"),
            Self::Left => words.pick("time left", "残り時間"),
        }
    }

    fn next(self) -> Self {
        let all = <Self as strum::VariantArray>::VARIANTS;
        all[(self as usize + 1) % all.len()]
    }
}

/// A request of an action to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Leave the screens.
    Quit,
    /// Send the process the signal of Ctrl-C.
    Interrupt,
    /// Suspend the process.
    Suspend,
    /// Redraw the screen.
    Redraw,
    /// Write a game to a file.
    Save(GameId, Form),
}

impl Ui {
    /// Performs an action.
    pub fn act(&mut self, action: Action, state: &State) -> Option<Wish> {
        if self.help && !matches!(action, Action::Interrupt | Action::Suspend | Action::Redraw) {
            self.help = false;
            return None;
        }
        // Every other key leaves the expected line.
        if !matches!(
            action,
            Action::Variation(_) | Action::Pieces | Action::Flip | Action::Help | Action::Pause
        ) {
            self.ahead = 0;
        }
        match action {
            Action::Save(form) => {
                return self.game.filter(|_| self.screen == Screen::Game).map(|game| Wish::Save(game, form));
            }
            Action::Sort => self.order = self.order.next(),
            Action::Variation(by) => self.look_ahead(by, state),
            Action::Quit => return Some(Wish::Quit),
            Action::Interrupt => return Some(Wish::Interrupt),
            Action::Suspend => return Some(Wish::Suspend),
            Action::Redraw => return Some(Wish::Redraw),
            Action::Show(screen) => self.show(screen, state),
            Action::Turn(by) => {
                let all: Vec<Screen> = Screen::of_event(!state.machines.is_empty()).collect();
                let at = all.iter().position(|&screen| screen == self.screen).unwrap_or(0);
                self.show(all[moved(at, by, all.len(), true)], state);
            }
            Action::Help => self.help = true,
            Action::Pause => self.paused = !self.paused,
            Action::Pieces => self.ascii = !self.ascii,
            Action::Flip => self.flipped = !self.flipped,
            Action::Filter | Action::Letter(_) | Action::Erase => self.write(action),
            Action::Open if self.writing => self.writing = false,
            Action::Open => self.open(state),
            Action::Back => self.back(),
            _ if self.screen == Screen::Game => self.leaf(action, state),
            _ => self.choose(action, state),
        }
        None
    }

    fn show(&mut self, screen: Screen, state: &State) {
        if screen != self.screen {
            (self.came_from, self.chosen) = (self.screen, 0);
        }
        self.screen = screen;
        if screen == Screen::Game && self.game.is_none() {
            self.game = state.running().next().map(|game| game.id).or(state.played.last().map(|p| p.game));
        }
        if screen == Screen::Log {
            self.chosen = usize::MAX;
        }
    }

    fn write(&mut self, action: Action) {
        self.writing = true;
        match action {
            Action::Letter(letter) if !letter.is_control() => self.filter.push(letter),
            Action::Erase => _ = self.filter.pop(),
            _ => {}
        }
        self.chosen = 0;
    }

    fn back(&mut self) {
        if self.writing || !self.filter.is_empty() {
            (self.writing, self.filter) = (false, String::new());
        } else if self.screen == Screen::Game {
            self.screen = if self.came_from == Screen::Game { Screen::Event } else { self.came_from };
        } else {
            self.screen = Screen::Event;
        }
    }

    fn open(&mut self, state: &State) {
        let game = match self.screen {
            Screen::Event | Screen::Games => self.games(state).get(self.chosen).map(|game| game.id),
            Screen::Played => self.played(state).get(self.chosen).map(|played| played.game),
            _ => None,
        };
        if game.is_some() {
            (self.game, self.ply) = (game, None);
            (self.came_from, self.screen) = (self.screen, Screen::Game);
        }
    }

    fn choose(&mut self, action: Action, state: &State) {
        let rows = self.rows(state);
        let at = self.chosen.min(rows.saturating_sub(1));
        self.chosen = match action {
            Action::Vertical(by) | Action::Sideways(by) | Action::Neighbour(by) => moved(at, by, rows, false),
            Action::Page(by) => moved(at, 10 * by, rows, false),
            Action::First => 0,
            _ => rows.saturating_sub(1),
        };
    }

    fn rows(&self, state: &State) -> usize {
        match self.screen {
            Screen::Event | Screen::Games => self.games(state).len(),
            Screen::Played => self.played(state).len(),
            Screen::Log => state.log.len(),
            Screen::Table | Screen::Ratings | Screen::Engines => state.info.engines.len(),
            Screen::Openings => by_opening(state).len(),
            Screen::Machines => state.machines.len(),
            Screen::Game => 0,
        }
    }

    fn leaf(&mut self, action: Action, state: &State) {
        if let Action::Neighbour(by) = action {
            return self.neighbour(by, state);
        }
        let Some(game) = self.game.and_then(|game| state.boards.get(&game)) else { return };
        let end = game.plies.len();
        let at = self.ply.unwrap_or(end).min(end);
        self.ply = match action {
            Action::Sideways(by) => Some(moved(at, by, end + 1, false)),
            Action::Vertical(by) | Action::Page(by) => Some(moved(at, 10 * by, end + 1, false)),
            Action::First => Some(0),
            _ => None,
        };
        // At its last ply the view follows the game again.
        self.ply = self.ply.filter(|&ply| ply < end);
    }

    fn look_ahead(&mut self, by: isize, state: &State) {
        let game = self.game.filter(|_| self.screen == Screen::Game);
        let Some(game) = game.and_then(|game| state.boards.get(&game)) else { return };
        let shown = self.ply.unwrap_or(game.plies.len()).min(game.plies.len());
        let moves = shown.checked_sub(1).map_or(0, |at| game.variation(at).len());
        self.ahead = moved(self.ahead.min(moves), by, moves + 1, false);
    }

    fn neighbour(&mut self, by: isize, state: &State) {
        let mut games: Vec<GameId> = state.played.iter().map(|played| played.game).collect();
        games.extend(state.running().map(|game| game.id));
        games.sort_unstable();
        let at = self.game.and_then(|game| games.binary_search(&game).ok()).unwrap_or(0);
        self.game = games.get(moved(at, by, games.len(), false)).copied();
        self.ply = None;
    }

    /// The running games that pass the filter and, on the boards screen, recently finished ones, newest first.
    pub fn games<'a>(&self, state: &'a State) -> Vec<&'a Game> {
        let mut games: Vec<&Game> = state.running().collect();
        if self.screen == Screen::Games {
            let mut over: Vec<&Game> = state.boards.values().filter(|game| game.end.is_some()).collect();
            over.sort_by_key(|game| std::cmp::Reverse(game.end.as_ref().map(|end| end.at)));
            games.extend(over);
        }
        match self.order {
            Order::Time => {}
            Order::Player => games.sort_by_key(|game| game.players().map(|player| state.player(player))),
            Order::Result => games.sort_by_key(|game| rank(game.end.as_ref().map(|end| end.outcome))),
            Order::Length => games.sort_by_key(|game| std::cmp::Reverse(game.plies.len())),
            Order::Left => games.sort_by_key(|game| game.least_left(state.now)),
        }
        games.retain(|game| self.passes(state, game.players(), game.end.as_ref().map(|end| end.outcome)));
        games
    }

    /// The finished games that pass the filter, newest first unless another order is chosen.
    pub fn played<'a>(&self, state: &'a State) -> Vec<&'a Played> {
        let players = |played: &Played| [played.pairing.black, played.pairing.white];
        let passes = |played: &&Played| self.passes(state, players(played), Some(played.outcome));
        let mut games: Vec<&Played> = state.played.iter().rev().filter(passes).collect();
        match self.order {
            Order::Time | Order::Left => {}
            Order::Player => games.sort_by_key(|played| players(played).map(|player| state.player(player))),
            Order::Result => games.sort_by_key(|played| rank(Some(played.outcome))),
            Order::Length => games.sort_by_key(|played| std::cmp::Reverse(played.plies)),
        }
        games
    }

    /// Whether every word of the filter is in a player's name or in the words of the ending.
    pub fn passes(
        &self,
        state: &State,
        players: [referee::entry::PlayerId; 2],
        outcome: Option<referee::Outcome>,
    ) -> bool {
        if self.filter.is_empty() {
            return true;
        }
        // In both languages: the causes in English are the words of the database.
        let endings =
            Language::ALL.map(|words| outcome.map(|outcome| words.outcome(outcome)).unwrap_or_default());
        let text = format!("{} {} {}", state.player(players[0]), state.player(players[1]), endings.join(" "));
        self.matches(&text)
    }

    /// True if every word of the filter is in the text.
    pub fn matches(&self, text: &str) -> bool {
        matches(&self.filter, text)
    }
}

/// True if every word of a filter is in the text, whatever their case.
pub(crate) fn matches(filter: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// The order of results: running, won by black, by white, drawn, not counted.
fn rank(outcome: Option<referee::Outcome>) -> u8 {
    match outcome {
        None => 0,
        Some(outcome) => {
            outcome.black_half_points().map_or(4, |half_points| [2, 3, 1][usize::from(half_points.min(2))])
        }
    }
}

/// `at` moved by `by` in a list of `len`, wrapping around or stopping at its ends.
pub(crate) fn moved(at: usize, by: isize, len: usize, around: bool) -> usize {
    if len == 0 {
        return 0;
    }
    match around {
        true => (at as isize + by).rem_euclid(len as isize) as usize,
        false => at.saturating_add_signed(by).min(len - 1),
    }
}
