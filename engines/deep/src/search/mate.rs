//! Mate search by checks: a short one for leaves, and a df-pn solver for the root and for mate problems.

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

/// The result of a mate search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mate {
    /// A mating line with a long defence.
    Moves(Vec<Move>),
    /// No mate by checks alone. Repetitions count as failure, which in rare cases hides a mate.
    NoMate,
    /// The search was stopped or reached its node limit.
    Unknown,
}

/// Entries of the table of [`solve`]: 32 MiB.
const TABLE: usize = 1 << 20;

/// Searches for a mate by checks for the side to move, until the clock or the node limit ends it.
pub fn solve(game: &Game, clock: &Clock, nodes: Option<u64>) -> Mate {
    Solver::new(TABLE).solve(game.position(), nodes.unwrap_or(u64::MAX), &|| clock.is_stopped())
}

/// The length of a mate by checks for the side to move within `plies`: 1, 3 or none. The position is unchanged
/// afterwards.
pub fn short(position: &mut Position, plies: u32) -> Option<u32> {
    if plies == 0 {
        return None;
    }
    if solve_mate_in_one_in_place(position).is_some() {
        return Some(1);
    }
    (plies >= 3 && checks(position).into_iter().any(|check| mates_after(position, check))).then_some(3)
}

/// True if there is a reply to this check, and every one is mated at once.
fn mates_after(position: &mut Position, check: Move32) -> bool {
    position.apply_move32(check);
    let mut answers = Move32List::new();
    generate_legal_all_move32(position, &mut answers);
    // To capture the piece that checks is the answer that most often ends the attack.
    let takes = |answer: &&Move32| answer.to_sq() == check.to_sq();
    let first = answers.iter().filter(takes).chain(answers.iter().filter(|answer| !takes(answer)));
    let mates = first.copied().all(|answer| {
        position.apply_move32(answer);
        let mates = solve_mate_in_one_in_place(position).is_some();
        back(position, answer);
        mates
    });
    back(position, check);
    mates
}

/// The legal moves that give check.
fn checks(position: &Position) -> Vec<Move32> {
    let mut list = Move32List::new();
    generate_checks_move32(position, &mut list);
    list.iter().copied().filter(|&mv| position.is_legal_move32(mv)).collect()
}

/// Undoes the last move.
pub(super) fn back(position: &mut Position, mv: Move32) {
    position.undo_move32(mv).expect("the last move can be taken back");
}
