//! Mates by checks: a short look for leaves, and a df-pn solver for the root and for mate problems.

mod solver;
#[cfg(test)]
mod tests;

use rsshogi::{
    board::{Move32List, Position},
    mate::solve_mate_in_one_in_place,
    movegen::{generate_checks_move32, generate_legal_all_move32},
    types::{Move, Move32},
};
use usi_shell::{Clock, Game};

pub use solver::Solver;

/// What a solver says of a mate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mate {
    /// The line of a mate: every defence loses, this is one that holds out long.
    Moves(Vec<Move>),
    /// There is none by checks alone. A line that comes back to a position of its own is given up, which may in rare
    /// cases hide a mate.
    NoMate,
    /// It was stopped, or had looked at as many positions as it was to.
    Unknown,
}

/// Entries of the table of [`solve`]: 32 MiB.
const TABLE: usize = 1 << 20;

/// Looks for a mate by checks for the player to move, until the clock or the limit of positions ends it.
pub fn solve(game: &Game, clock: &Clock, nodes: Option<u64>) -> Mate {
    Solver::new(TABLE).solve(game.position(), nodes.unwrap_or(u64::MAX), &|| clock.is_stopped())
}

/// In how many plies, of at most `plies`, the player to move mates by checks: 1, 3 or not at all. The position is left as
/// it was.
pub fn short(position: &mut Position, plies: u32) -> Option<u32> {
    if plies == 0 {
        return None;
    }
    if solve_mate_in_one_in_place(position).is_some() {
        return Some(1);
    }
    (plies >= 3 && checks(position).into_iter().any(|check| mates_after(position, check))).then_some(3)
}

/// Whether every answer to this check can be mated at once, and there is one.
fn mates_after(position: &mut Position, check: Move32) -> bool {
    position.apply_move32(check);
    let mut answers = Move32List::new();
    generate_legal_all_move32(position, &mut answers);
    let mates = answers.iter().all(|&answer| {
        position.apply_move32(answer);
        let mates = solve_mate_in_one_in_place(position).is_some();
        back(position, answer);
        mates
    });
    back(position, check);
    mates
}

/// The moves that give check.
fn checks(position: &Position) -> Vec<Move32> {
    let mut list = Move32List::new();
    generate_checks_move32(position, &mut list);
    list.iter().copied().filter(|&mv| position.is_legal_move32(mv)).collect()
}

/// Takes the last move back.
pub(super) fn back(position: &mut Position, mv: Move32) {
    position.undo_move32(mv).expect("the last move can be taken back");
}
