//! The screens of a ledger: the players of many events in one rating, what to play next, and a player's opponents.
//!
//! A [`Source`] reads, rates and answers on a thread of its own, so that keys are obeyed while it works. Like those of an
//! event, the [`view`]s are pure functions of the [`State`], which the source's answers change, and of the [`ui`].

pub mod ui;
pub mod view;

use referee::rating::Estimate;

/// What rates the players; it works on a thread of its own.
pub trait Source: Send + 'static {
    /// The reason of a failure.
    type Error: std::fmt::Display + Send;

    /// Reads and rates everything, as it is now. What it is at is said in a few words, again and again.
    ///
    /// # Errors
    /// When there is nothing to be rated.
    fn read(&mut self, say: &dyn Fn(String)) -> Result<Table, Self::Error>;

    /// The opponents of a player of the table that was read last, and what to play next for its rating.
    fn player(&mut self, node: usize) -> Details;
}

/// The rated players.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// How much was read, in words.
    pub facts: String,
    /// Sets of players that games connect, the one with most games first.
    pub groups: Vec<Group>,
    /// What to play next for everyone's rating; `None` where no encounter is known to help.
    pub next: Option<Suggestions>,
    /// What else is to be known, such as events that were left out.
    pub notes: Vec<String>,
}

/// Players that games connect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The players, best first.
    pub players: Vec<Player>,
    /// What their Elo is relative to, and what else is to be known of it.
    pub notes: Vec<String>,
}

/// A player.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// Its number in the ledger.
    pub node: usize,
    /// Its name; where others share it, with what distinguishes it.
    pub label: String,
    /// Other names of the same build.
    pub also: Vec<String>,
    /// SHA-256 of its program, where it is known.
    pub build: Option<String>,
    /// Its arguments and options.
    pub settings: String,
    /// Its clock; empty where it is unknown, or where the ledger does not distinguish clocks.
    pub clock: String,
    /// The machine that it played on, where the ledger distinguishes machines.
    pub machine: String,
    /// Its Elo.
    pub elo: Estimate,
    /// Games, or their weight.
    pub games: f64,
    /// Points a game, 0..=1.
    pub score: Option<f64>,
    /// Number of events.
    pub events: u64,
}

/// Encounters that are worth their time.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestions {
    /// Half the 95 % interval of what is aimed at now, in Elo.
    pub error: f64,
    /// The encounters, the best first.
    pub encounters: Vec<Encounter>,
}

/// An encounter that is worth its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Encounter {
    /// The two players, by their numbers in the ledger.
    pub players: [usize; 2],
    /// Half the 95 % interval of what is aimed at after 100 more games.
    pub error_after: f64,
    /// Seconds of such a game, where they are known.
    pub seconds: Option<f64>,
}

/// What is shown of one player.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// Its number in the ledger.
    pub node: usize,
    /// Its opponents, the one with most games first.
    pub opponents: Vec<Opponent>,
    /// What to play next for its rating; `None` where no encounter is known to help.
    pub next: Option<Suggestions>,
}

/// A player's games against another.
#[derive(Clone, Debug, PartialEq)]
pub struct Opponent {
    /// The opponent's number in the ledger.
    pub node: usize,
    /// Games won, drawn and lost.
    pub results: [u64; 3],
    /// Elo of the player minus that of the opponent, by the games of all.
    pub difference: Estimate,
}

impl Table {
    /// A player by its number in the ledger.
    #[must_use]
    pub fn player(&self, node: usize) -> Option<&Player> {
        self.groups.iter().flat_map(|group| &group.players).find(|player| player.node == node)
    }
}

/// The content of the screens.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The players; `None` before they were read.
    pub table: Option<Table>,
    /// The player whose details were asked for last, if they have come.
    pub details: Option<Details>,
    /// What the source is at; `None` while it waits.
    pub work: Option<Work>,
    /// Lines that were written meanwhile, such as why a database cannot be read.
    pub lines: Vec<String>,
}

/// What the source is at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// In a few words.
    pub words: String,
    /// Seconds since it began.
    pub seconds: u64,
}

/// An answer of the source.
#[derive(Clone, Debug)]
pub enum Answer<E> {
    /// What it is at.
    Says(String),
    /// The players.
    Read(Result<Table, E>),
    /// A player's details.
    Player(Details),
}

#[cfg(test)]
mod tests;
