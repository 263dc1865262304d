//! Where the reader is: the screen, what is chosen, the ply that is shown. Actions change this and nothing else.

use crate::{
    input::{Action, Screen},
    state::{Game, Played, State},
    theme::{Palette, Role},
};
use ratatui::style::Style;
use referee::event::GameId;

/// What a reader looks at.
#[derive(Clone, Debug, Default)]
pub struct Ui {
    /// The screen.
    pub screen: Screen,
    /// The screen before.
    pub came_from: Screen,
    /// The colours.
    pub palette: Palette,
    /// Letters instead of kanji.
    pub ascii: bool,
    /// White at the bottom.
    pub flipped: bool,
    /// Whether the list of keys lies over the screen.
    pub help: bool,
    /// Whether the screen is held still.
    pub paused: bool,
    /// Events that wait while it is.
    pub waiting: usize,
    /// The filter.
    pub filter: String,
    /// Whether it is being written.
    pub writing: bool,
    /// The chosen row or board of the screen.
    pub chosen: usize,
    /// The game that is shown.
    pub game: Option<GameId>,
    /// The ply that is shown; `None` follows the game.
    pub ply: Option<usize>,
    /// Whether the event is played by somebody else: it is only watched.
    pub watching: bool,
    /// Something the reader should know, until the next key.
    pub notice: Option<String>,
}

/// What an action asks of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Leave the screens.
    Quit,
    /// Send the process what Ctrl-C sends.
    Interrupt,
    /// Stop until somebody wants us back.
    Suspend,
    /// Draw everything anew.
    Redraw,
}

impl Ui {
    /// The style of a role.
    #[must_use]
    pub fn style(&self, role: Role) -> Style {
        self.palette.style(role)
    }

    /// Does what a key asked for.
    pub fn act(&mut self, action: Action, state: &State) -> Option<Wish> {
        if self.help && !matches!(action, Action::Interrupt | Action::Suspend | Action::Redraw) {
            self.help = false;
            return None;
        }
        match action {
            Action::Quit => return Some(Wish::Quit),
            Action::Interrupt => return Some(Wish::Interrupt),
            Action::Suspend => return Some(Wish::Suspend),
            Action::Redraw => return Some(Wish::Redraw),
            Action::Show(screen) => self.show(screen, state),
            Action::Turn(by) => {
                let at = Screen::ALL.iter().position(|&screen| screen == self.screen).unwrap_or(0);
                self.show(Screen::ALL[moved(at, by, Screen::ALL.len(), true)], state);
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
            Screen::Played => self.played(state).nth(self.chosen).map(|played| played.game),
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
            Screen::Played => self.played(state).count(),
            Screen::Log => state.log.len(),
            Screen::Table | Screen::Engines => state.head.players.len(),
            Screen::Openings => crate::view::openings::rows(state).len(),
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
        // At the end of a game the reader follows it again.
        self.ply = self.ply.filter(|&ply| ply < end);
    }

    fn neighbour(&mut self, by: isize, state: &State) {
        let mut games: Vec<GameId> = state.played.iter().map(|played| played.game).collect();
        games.extend(state.running().map(|game| game.id));
        games.sort_unstable();
        let at = self.game.and_then(|game| games.binary_search(&game).ok()).unwrap_or(0);
        self.game = games.get(moved(at, by, games.len(), false)).copied();
        self.ply = None;
    }

    /// The running games that pass the filter, then those that have just ended, newest first.
    #[must_use]
    pub fn games<'a>(&self, state: &'a State) -> Vec<&'a Game> {
        let mut games: Vec<&Game> = state.running().collect();
        if self.screen == Screen::Games {
            let mut over: Vec<&Game> = state.boards.values().filter(|game| game.end.is_some()).collect();
            over.sort_by_key(|game| std::cmp::Reverse(game.end.as_ref().map(|end| end.at)));
            games.extend(over);
        }
        games.retain(|game| self.passes(state, game.players(), game.end.as_ref().map(|end| end.outcome)));
        games
    }

    /// The games that are over and pass the filter, newest first.
    pub fn played<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a Played> {
        state.played.iter().rev().filter(|played| {
            let players = [played.pairing.black, played.pairing.white];
            self.passes(state, players, Some(played.outcome))
        })
    }

    /// Every word of the filter is in the name of a player or in the words of the ending.
    #[must_use]
    pub fn passes(
        &self,
        state: &State,
        players: [referee::event::PlayerId; 2],
        outcome: Option<referee::Outcome>,
    ) -> bool {
        if self.filter.is_empty() {
            return true;
        }
        let ending = outcome.map(|outcome| outcome.to_string()).unwrap_or_default();
        let text = format!("{} {} {ending}", state.player(players[0]), state.player(players[1]));
        self.matches(&text)
    }

    /// Every word of the filter is in the text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

/// `at` moved by `by` in a list of `len`, round and round or stopping at its ends.
fn moved(at: usize, by: isize, len: usize, around: bool) -> usize {
    if len == 0 {
        return 0;
    }
    match around {
        true => (at as isize + by).rem_euclid(len as isize) as usize,
        false => at.saturating_add_signed(by).min(len - 1),
    }
}
