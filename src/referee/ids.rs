//! Identifiers of players and games.

use serde::{Deserialize, Serialize};

/// A participant of the event: the index into its list of players, in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlayerId(pub u16);

impl PlayerId {
    /// The index into a list kept by player.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A game of the event. Games are numbered from 1 in the order of their starts, and no number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GameId(pub u64);
