//! A node during its search, and a move about to be searched.

use rsshogi::types::{Move, Move32};

use super::history::Before;
use super::table::Known;
use super::tuned::Tuned;

/// A node of the search.
pub(super) struct Node {
    pub alpha: i32,
    pub beta: i32,
    pub depth: i32,
    pub ply: usize,
    /// A PV node (open window).
    pub pv: bool,
    /// An expected cut node.
    pub cut: bool,
    pub in_check: bool,
    /// True if the static evaluation has risen since two plies ago.
    pub improving: bool,
    /// Evaluation refined by the transposition table; a rough estimate in check.
    pub guess: i32,
    pub known: Option<Known>,
    pub before: Before,
    pub excluded: Move,
    pub best: i32,
    pub best_move: Move32,
    /// Number of moves tried or skipped.
    pub count: i32,
    pub tuned: Tuned,
}

impl Node {
    /// The move of the table entry, if any.
    #[inline]
    pub fn known_move(&self) -> Move {
        self.known.map_or(Move::MOVE_NONE, |known| known.mv)
    }

    /// True while a singular extension search excludes a move.
    #[inline]
    pub fn is_excluding(&self) -> bool {
        self.excluded != Move::MOVE_NONE
    }
}

/// A move about to be searched.
pub(super) struct Trial {
    pub mv: Move32,
    pub quiet: bool,
    pub check: bool,
    pub score: i32,
}
