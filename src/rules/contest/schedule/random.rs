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

pub(super) fn encounters(entrants: usize, rounds: u32) -> u64 {
    (entrants as u64 / 2).saturating_mul(u64::from(rounds))
}

/// The seats of an encounter in a list of at least two entrants.
pub(super) fn table(entrants: usize, encounter: u64, seed: u64) -> Table<usize> {
    let tables = entrants as u64 / 2;
    let (round, table) = (encounter / tables, (encounter % tables) as usize);
    let shuffled = shuffled(entrants, mixed(seed, round));
    Table { round: round_number(round), black: shuffled[2 * table], white: shuffled[2 * table + 1] }
}

/// The entrants in a random order (the shuffle of R. Durstenfeld, 1964).
pub(super) fn shuffled(entrants: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entrants).collect();
    for last in (1..entrants).rev() {
        // The upper half of the product of 64 random bits and the number of choices: equal chances, but for 1 in 2^60.
        let drawn = (u128::from(mixed(seed, last as u64)) * (last as u128 + 1)) >> 64;
        order.swap(last, drawn as usize);
    }
    order
}
