//! The view of a ledger's reader. Actions change only this.

use super::{Player, State, Table};
use crate::{
    input::{self, Action},
    theme::Palette,
    ui::{matches, moved},
};
use referee::rating::Estimate;

/// A screen of a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Screen {
    /// All players.
    #[default]
    Players,
    /// What to play next.
    Next,
    /// What was left out, and what else is to be known.
    Notes,
    /// One player.
    Player,
}

impl Screen {
    /// The screens, in the order of their keys.
    pub const ALL: [Self; 4] = [Self::Players, Self::Next, Self::Notes, Self::Player];

    /// The name of the screen.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Players => "players",
            Self::Next => "next",
            Self::Notes => "notes",
            Self::Player => "player",
        }
    }
}

/// The order of the players of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The best first.
    #[default]
    Elo,
    /// The widest interval first.
    Error,
    /// The one with most games first.
    Games,
    /// By name.
    Name,
}

impl Order {
    const ALL: [Self; 4] = [Self::Elo, Self::Error, Self::Games, Self::Name];

    /// The name of the order.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Elo => "Elo",
            Self::Error => "error",
            Self::Games => "games",
            Self::Name => "name",
        }
    }

    fn next(self) -> Self {
        let at = Self::ALL.iter().position(|&order| order == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }

    /// Sorts players with their places, which come in the order of Elo.
    fn sort(self, players: &mut [(usize, &Player)]) {
        let error = |elo: &Estimate| elo.error().unwrap_or(f64::INFINITY);
        match self {
            Self::Elo => {}
            Self::Error => players.sort_by(|(_, a), (_, b)| error(&b.elo).total_cmp(&error(&a.elo))),
            Self::Games => players.sort_by(|(_, a), (_, b)| b.games.total_cmp(&a.games)),
            Self::Name => players.sort_by_key(|(_, player)| player.label.to_lowercase()),
        }
    }
}

/// A line of the list of players.
#[derive(Clone, Copy, Debug)]
pub enum Line<'a> {
    /// A player.
    Player {
        /// Its set.
        group: usize,
        /// Its place in this set, from 0.
        place: usize,
        /// The player.
        player: &'a Player,
    },
    /// No game connects the players below with those above.
    Apart,
}

/// The view of the reader.
#[derive(Clone, Debug, Default)]
pub struct Ui {
    /// The current screen.
    pub screen: Screen,
    /// The colours.
    pub palette: Palette,
    /// True if the list of keys lies over the screen.
    pub help: bool,
    /// The filter.
    pub filter: String,
    /// True if the filter is being edited.
    pub writing: bool,
    /// The chosen row of the screen.
    pub chosen: usize,
    /// The row that was chosen among the players when one of them was opened.
    pub came_from: usize,
    /// The player that is shown, by its number in the ledger.
    pub player: Option<usize>,
    /// The order of the players.
    pub order: Order,
    /// Notice in the last line, until the next key.
    pub notice: Option<String>,
}

/// A request of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Leave the screens.
    Quit,
    /// Suspend the process.
    Suspend,
    /// Redraw the screen.
    Redraw,
    /// Read all databases again.
    Read,
    /// The details of a player.
    Player(usize),
}

impl Ui {
    /// Performs an action.
    pub fn act(&mut self, action: Action, state: &State) -> Option<Wish> {
        match action {
            Action::Interrupt => return Some(Wish::Quit),
            Action::Suspend => return Some(Wish::Suspend),
            Action::Redraw => return Some(Wish::Redraw),
            _ if self.help => self.help = false,
            Action::Quit => return Some(Wish::Quit),
            Action::Read => return Some(Wish::Read),
            Action::Help => self.help = true,
            Action::Sort => self.order = self.order.next(),
            Action::Show(screen) => {
                let at = input::Screen::ALL.iter().position(|&other| other == screen);
                return at.and_then(|at| Screen::ALL.get(at)).and_then(|&screen| self.show(screen, state));
            }
            Action::Turn(by) => {
                let at = Screen::ALL.iter().position(|&screen| screen == self.screen).unwrap_or(0);
                return self.show(Screen::ALL[moved(at, by, Screen::ALL.len(), true)], state);
            }
            Action::Filter | Action::Letter(_) | Action::Erase => self.write(action),
            Action::Open if self.writing => self.writing = false,
            Action::Open => return self.open(state),
            Action::Back => self.back(),
            Action::Neighbour(by) if self.screen == Screen::Player => return self.neighbour(by, state),
            Action::Vertical(_) | Action::Page(_) | Action::First | Action::Last => {
                self.choose(action, state)
            }
            _ => {}
        }
        None
    }

    /// Takes note of a table that was read anew: its players have other numbers.
    pub fn renew(&mut self) {
        if self.screen == Screen::Player {
            (self.screen, self.chosen) = (Screen::Players, 0);
        }
        self.player = None;
    }

    fn show(&mut self, screen: Screen, state: &State) -> Option<Wish> {
        if screen == Screen::Player {
            let chosen = if self.screen == Screen::Players { self.chosen } else { self.came_from };
            let player = self.player.filter(|_| self.screen != Screen::Players);
            return self.look_at(player.or_else(|| self.at(chosen, state)), chosen);
        }
        if screen != self.screen {
            self.chosen = if screen == Screen::Players { self.came_from } else { 0 };
        }
        self.screen = screen;
        None
    }

    fn open(&mut self, state: &State) -> Option<Wish> {
        let opponent = |node: &usize| {
            let details = state.details.as_ref().filter(|details| details.node == *node);
            Some(details?.opponents.get(self.chosen)?.node)
        };
        let player = match self.screen {
            Screen::Players => self.at(self.chosen, state),
            Screen::Player => self.player.as_ref().and_then(opponent),
            Screen::Next | Screen::Notes => None,
        };
        let came_from = if self.screen == Screen::Players { self.chosen } else { self.came_from };
        self.look_at(player, came_from)
    }

    fn look_at(&mut self, player: Option<usize>, came_from: usize) -> Option<Wish> {
        let player = player?;
        (self.screen, self.player, self.came_from, self.chosen) =
            (Screen::Player, Some(player), came_from, 0);
        Some(Wish::Player(player))
    }

    /// The player of a row.
    fn at(&self, row: usize, state: &State) -> Option<usize> {
        let table = state.table.as_ref()?;
        let players = self.players(table);
        players.get(row.min(players.len().saturating_sub(1))).map(|player| player.node)
    }

    fn neighbour(&mut self, by: isize, state: &State) -> Option<Wish> {
        let players = self.players(state.table.as_ref()?);
        let at = players.iter().position(|player| Some(player.node) == self.player).unwrap_or(0);
        let at = moved(at, by, players.len(), false);
        self.look_at(players.get(at).map(|player| player.node), at)
    }

    fn back(&mut self) {
        if self.writing || !self.filter.is_empty() {
            (self.writing, self.filter) = (false, String::new());
        } else if self.screen != Screen::Players {
            (self.screen, self.chosen) = (Screen::Players, self.came_from);
        }
    }

    fn write(&mut self, action: Action) {
        self.writing = true;
        match action {
            Action::Letter(letter) if !letter.is_control() => self.filter.push(letter),
            Action::Erase => _ = self.filter.pop(),
            _ => {}
        }
        (self.chosen, self.came_from) = (0, 0);
        if self.screen == Screen::Player {
            self.screen = Screen::Players;
        }
    }

    fn choose(&mut self, action: Action, state: &State) {
        let rows = self.rows(state);
        let at = self.chosen.min(rows.saturating_sub(1));
        self.chosen = match action {
            Action::Vertical(by) => moved(at, by, rows, false),
            Action::Page(by) => moved(at, 10 * by, rows, false),
            Action::First => 0,
            _ => rows.saturating_sub(1),
        };
    }

    fn rows(&self, state: &State) -> usize {
        let table = state.table.as_ref();
        match self.screen {
            Screen::Players => table.map_or(0, |table| self.players(table).len()),
            Screen::Next => {
                table.and_then(|table| table.next.as_ref()).map_or(0, |next| next.encounters.len())
            }
            Screen::Notes => super::view::notes(state).len(),
            Screen::Player => state.details.as_ref().map_or(0, |details| details.opponents.len()),
        }
    }

    /// The lines of the list: the players that pass the filter, set after set, each in the reader's order.
    #[must_use]
    pub fn lines<'a>(&self, table: &'a Table) -> Vec<Line<'a>> {
        let mut lines = vec![];
        for (group, set) in table.groups.iter().enumerate() {
            let places = set.players.iter().enumerate();
            let mut players: Vec<(usize, &Player)> =
                places.filter(|(_, player)| self.passes(player)).collect();
            self.order.sort(&mut players);
            if !lines.is_empty() && !players.is_empty() {
                lines.push(Line::Apart);
            }
            lines.extend(players.into_iter().map(|(place, player)| Line::Player { group, place, player }));
        }
        lines
    }

    /// The players that pass the filter, in the order of their lines.
    #[must_use]
    pub fn players<'a>(&self, table: &'a Table) -> Vec<&'a Player> {
        let player = |line| if let Line::Player { player, .. } = line { Some(player) } else { None };
        self.lines(table).into_iter().filter_map(player).collect()
    }

    /// True if each word of the filter is in a name, the clock, an option or the build of the player.
    fn passes(&self, player: &Player) -> bool {
        if self.filter.is_empty() {
            return true;
        }
        let build = player.build.as_deref().unwrap_or_default();
        let Player { label, settings, clock, machine, .. } = player;
        let also = player.also.join(" ");
        matches(&self.filter, &format!("{label} {also} {build} {settings} {clock} {machine}"))
    }
}
