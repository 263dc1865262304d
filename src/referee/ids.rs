//! Identifiers of players and games.

use serde::{Deserialize, Serialize};

/// A participant of the event: the index into its list of players, in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlayerId(pub u32);

impl PlayerId {
    /// The player at a place of a list. No list is longer than 2^32.
    #[must_use]
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The index into a list kept by player.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A game of the event. Games are numbered from 1 in the order of their starts, and no number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GameId(pub u64);
