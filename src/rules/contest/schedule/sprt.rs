//! Sequential test: two players play pairs with colours swapped until the test has a verdict.
//!
//! "Why was I paired so": there are two players; the first of the list has black in the first game of every pair.
//!
//! After the verdict no new pair begins, but every pair with a started game is completed, in a resumed run too: short
//! games end first, and dropping the long ones would bias the counts.

use super::{
    step::{Step, pick},
    table::{Table, round_number},
};
use crate::standings::{Progress, Ranges};
use std::collections::BTreeMap;

/// Whole pairs only: an odd maximum is rounded down.
pub(super) fn encounters(entrants: usize, max_games: u64) -> u64 {
    if entrants < 2 { 0 } else { max_games / 2 }
}

pub(super) fn table(encounter: u64) -> Table<usize> {
    Table { round: round_number(encounter), black: 0, white: 1 }
}

/// The next step after the verdict.
pub(super) fn finish_pairs(issued: &Ranges, returned: &BTreeMap<u64, u32>, progress: &Progress) -> Step {
    let issued_pairs = issued.iter().flat_map(|range| [range.start / 2, (range.end - 1) / 2]);
    let started = progress.halves.keys().copied();
    let started = started.chain(progress.open.keys().chain(returned.keys()).map(|index| index / 2));
    match started.chain(issued_pairs).filter_map(|pair| pick(pair * 2..pair * 2 + 2, issued, progress)).min()
    {
        Some(index) => Step::Play(index),
        None if issued.is_subset(&progress.finished) => Step::Over,
        None => Step::Wait,
    }
}
