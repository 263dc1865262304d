//! A game's place in the schedule.

use crate::ids::PlayerId;
use rating::mix::mix;
use serde::{Deserialize, Serialize};

/// A game with its place in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pairing {
    /// The stage of the event, from 0 (a Swiss, then a knock-out final, are two stages).
    pub stage: u8,
    /// The game's index in its stage, in schedule order, from 0. (stage, index, attempt) identifies a game.
    pub index: u64,
    /// Attempts before this one: a game is played again after an adjournment or a draw that is replayed.
    pub attempt: u32,
    /// The round, from 1.
    pub round: u32,
    /// The pair of colour-swapped games, numbered through the stage from 0.
    pub pair: u64,
    /// Number of the opening, which [`Openings`](crate::opening::Openings) turns into a line by its order and seed.
    pub opening: u64,
    /// The black player.
    pub black: PlayerId,
    /// The white player.
    pub white: PlayerId,
}

impl Pairing {
    /// The seed of what is drawn in the game, by the seed of its event: the same wherever and whenever it is played.
    pub fn seed(&self, event: u64) -> u64 {
        let place = [u64::from(self.stage), self.index, u64::from(self.attempt)];
        place.into_iter().fold(event, |seed, part| mix(seed ^ part))
    }
}
