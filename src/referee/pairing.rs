//! A game's place in the schedule.

use crate::ids::PlayerId;
use serde::{Deserialize, Serialize};

/// A game to be played: its place in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pairing {
    /// The stage of the event, from 0 (a Swiss, then a knock-out final, are two stages).
    pub stage: u8,
    /// The game's index in its stage, in schedule order, from 0. (stage, index, attempt) names one game for ever.
    pub index: u64,
    /// 0, and one more each time the game has to be played again (a draw that is replayed, an adjourned game).
    pub attempt: u32,
    /// The round, from 1.
    pub round: u32,
    /// The pair of colour-swapped games this one belongs to, counted through the stage from 0.
    pub pair: u64,
    /// The opening: an index that the book of openings turns into one of its lines (by its order and seed).
    pub opening: u64,
    /// Who plays black.
    pub black: PlayerId,
    /// Who plays white.
    pub white: PlayerId,
}
