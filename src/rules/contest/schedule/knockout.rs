//! Knock-out: the loser of an encounter is eliminated.
//!
//! "Why was I paired so": the bracket is seeded by the order of entry (in a later stage: the ranking of the stage
//! before), 1 against the last, 2 against the last but one ..., so that the first and the second can meet only in the
//! final; when the number of players is no power of two, the top seeds have a bye in round 1, which is recorded and
//! earns no score. The colours of the first game of an encounter are drawn by lot from the event's seed; they then
//! alternate. An encounter begins as soon as both its players are known, independently of the rest of the round, and
//! ends as soon as it is decided: a game begins only if no result of the running games could make it unnecessary.

use super::{
    lot::lot,
    step::{Step, pick},
    table::Table,
};
use crate::standings::{Bracket, Progress, Ranges};

/// Encounters of the full bracket; some of round 1 may have one player only.
pub(super) fn encounters(entrants: usize) -> u64 {
    entrants.next_power_of_two() as u64 - 1
}

/// The game to be played next; an encounter has `stride` indices.
pub(super) fn step(bracket: &Bracket<'_>, stride: u64, issued: &Ranges, progress: &Progress) -> Step {
    let mut games = bracket.playable().filter_map(|(encounter, needed)| {
        let start = encounter * stride;
        pick(start..start + needed, issued, progress)
    });
    match games.next() {
        Some(index) => Step::Play(index),
        None if bracket.is_over() => Step::Over,
        None => Step::Wait,
    }
}

/// The seats of an encounter that has both its players; the first colours are drawn by lot.
pub(super) fn table(bracket: &Bracket<'_>, encounter: u64, seed: u64) -> Option<Table<usize>> {
    let (round, [a, b]) = bracket.players(encounter)?;
    let (black, white) = if lot(seed, encounter) { (a, b) } else { (b, a) };
    Some(Table { round, black, white })
}
