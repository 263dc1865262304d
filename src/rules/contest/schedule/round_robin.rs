//! Round robin by the circle method: one player stands still, the others move on by one seat a round. Every player
//! plays early, and a round can be computed without those before it.
//!
//! "Why was I paired so": in round r of a cycle (from 0) of m seats (m even; with an odd number of players the last
//! seat is empty), seat m - 1 meets seat r, and seats r + t and r - t (modulo m - 1) meet at table t. At odd tables
//! r + t has black in the first game, at even tables r - t; the player who stands still alternates. Hence colours
//! alternate from round to round and differ by one at most over a cycle; each cycle swaps those of the one before.

use super::table::{Table, round_number};

/// The encounters of all passes of all cycles.
pub(super) fn encounters(entrants: usize, passes: u64) -> u64 {
    let n = entrants as u64;
    (n * n.saturating_sub(1) / 2).saturating_mul(passes)
}

/// The seats of an encounter in a list of at least two entrants; a cycle has so many passes.
pub(super) fn table(entrants: usize, passes: u64, encounter: u64) -> Table<usize> {
    let n = entrants as u64;
    let (tables, ring) = (n / 2, n - 1 + n % 2);
    let (round, at) = (encounter / tables, encounter % tables);
    let (cycle, turn) = (round / ring / passes, round % ring);
    // With an odd number of players, table 0 is the one where the empty seat plays.
    let table = at + n % 2;
    let (ahead, behind) = match table {
        0 => (n - 1, turn),
        _ => ((turn + table) % ring, (turn + ring - table) % ring),
    };
    let ahead_is_black = if table == 0 { turn.is_multiple_of(2) } else { !table.is_multiple_of(2) };
    let (black, white) =
        if ahead_is_black == cycle.is_multiple_of(2) { (ahead, behind) } else { (behind, ahead) };
    Table { round: round_number(round), black: black as usize, white: white as usize }
}
