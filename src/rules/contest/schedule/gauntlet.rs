//! Gauntlet: the first players of the list challenge all the others.
//!
//! "Why was I paired so": in round r, the i-th of the smaller side (challengers or challenged) meets number (i + r)
//! of the larger one, so that no player plays twice in a round and every player plays early. Challenger i has black
//! in the first game against opponent j when i + j is even; each cycle swaps the colours of the one before. With an
//! odd number of games, both sides' colours differ by one at most over a cycle.

use super::table::{Table, round_number};

/// Challengers and challenged; a list without either side has no encounters.
fn sides(entrants: usize, challengers: u16) -> (u64, u64) {
    let challengers = usize::from(challengers).min(entrants);
    (challengers as u64, (entrants - challengers) as u64)
}

/// The encounters of all passes of all cycles.
pub(super) fn encounters(entrants: usize, challengers: u16, passes: u64) -> u64 {
    let (challengers, others) = sides(entrants, challengers);
    (challengers * others).saturating_mul(passes)
}

/// The seats of an encounter in the list of entrants; both sides must have players, and a cycle has so many passes.
pub(super) fn table(entrants: usize, challengers: u16, passes: u64, encounter: u64) -> Table<usize> {
    let (challengers, others) = sides(entrants, challengers);
    let (few, many) = (challengers.min(others), challengers.max(others));
    let (round, small) = (encounter / few, encounter % few);
    let (cycle, turn) = (round / many / passes, round % many);
    let large = (small + turn) % many;
    let (challenger, other) = if challengers <= others { (small, large) } else { (large, small) };
    let challenger_is_black = (challenger + other + cycle).is_multiple_of(2);
    let seats = (challenger as usize, (challengers + other) as usize);
    let (black, white) = if challenger_is_black { seats } else { (seats.1, seats.0) };
    Table { round: round_number(round), black, white }
}
