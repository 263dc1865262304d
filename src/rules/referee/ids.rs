//! Identifiers of players and games.

use serde::{Deserialize, Serialize};

/// A participant of the event: the index into its list of players, in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlayerId(pub u32);

impl PlayerId {
    /// The player at a place of a list. No list is longer than 2^32.
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The index into a list kept by player.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A game of the event. Games are numbered from 1 in the order of their starts, and no number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GameId(pub u64);

impl GameId {
    /// A game that another machine plays has no number before it is stored. For those who look on it has one from here on,
    /// which no game of an event reaches.
    pub const ELSEWHERE: u64 = 1 << 31;

    /// True if another machine plays the game, so that it has no number of the event yet.
    pub fn is_elsewhere(self) -> bool {
        self.0 >= Self::ELSEWHERE
    }
}
