//! Random pairing: in every round all players are shuffled, and neighbours meet. A field that is too large for a round
//! robin has every player meet many others, equally often but for chance.
//!
//! "Why was I paired so": the round's permutation of the players follows from the event's seed and the round's number
//! alone, whatever the results are; at table t (from 0) number 2t of it, who has black in the first game, meets number
//! 2t + 1. With an odd number of players, the last one pauses.

use super::{
    lot::mixed,
    table::{Table, round_number},
};
use crate::opening::permuted;

pub(super) fn encounters(entrants: usize, rounds: u32) -> u64 {
    (entrants as u64 / 2).saturating_mul(u64::from(rounds))
}

/// The seats of an encounter in a list of at least two entrants.
pub(super) fn table(entrants: usize, encounter: u64, seed: u64) -> Table<usize> {
    let n = entrants as u64;
    let (round, table) = (encounter / (n / 2), encounter % (n / 2));
    let seat = |place: u64| permuted(place, n, mixed(seed, round)) as usize;
    Table { round: round_number(round), black: seat(2 * table), white: seat(2 * table + 1) }
}
