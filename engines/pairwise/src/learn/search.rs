//! The shallow search of the trainer: finds the leaf of a move's principal variation.
//!
//! It searches one or two plies, then captures, pawn promotions and evasions until the position is quiet; deep
//! in an exchange only recaptures. It has no transposition table and no reductions, so that two searches of a
//! position differ only by the weights.

use rsshogi::board::{CapturePlusPro, Evasions, Legal, Move32List, MoveGenType, Position};
use rsshogi::movegen::{generate_moves_move32, generate_moves_to_move32};
use rsshogi::types::{Move32, PieceType, Square};

use crate::evaluation::{Accumulator, Weights, piece_value};

/// Value of being mated at once; less for each ply.
pub const MATE: i32 = 30_000;

/// Values beyond this are mates.
pub const MATE_BOUND: i32 = MATE - 1000;

/// Plies of captures before only recaptures are searched, and before the search ends.
const CAPTURE_PLIES: usize = 4;
const MOST_PLIES: usize = 12;

/// Margin of delta pruning, in centipawns: a capture is skipped if its material gain plus this stays below
/// alpha.
const MARGIN: i32 = 250;

/// A search and its principal variation.
pub struct Searcher<'a> {
    weights: &'a Weights,
    lines: Vec<Vec<Move32>>,
    /// Nodes searched.
    pub nodes: u64,
}

/// The search window.
#[derive(Clone, Copy)]
struct Window {
    alpha: i32,
    beta: i32,
}

impl Window {
    fn turned(self) -> Self {
        Self { alpha: -self.beta, beta: -self.alpha }
    }
}

impl<'a> Searcher<'a> {
    /// A searcher that knows `weights`.
    pub fn new(weights: &'a Weights) -> Self {
        Self { weights, lines: vec![Vec::new(); MOST_PLIES + 8], nodes: 0 }
    }

    /// The value of the legal move `mv` for its mover, by `depth` plies (including it) and quiescence search.
    /// Outside of `alpha` to `beta` it is a bound, and [`line`](Self::line) is meaningless.
    pub fn value_of(
        &mut self,
        position: &mut Position,
        sums: &Accumulator,
        mv: Move32,
        (alpha, beta): (i32, i32),
        depth: usize,
    ) -> i32 {
        let next = self.weights.advance(sums, position, mv);
        position.apply_move32(mv);
        let window = Window { alpha, beta }.turned();
        let value = -self.search(position, &next, window, depth.saturating_sub(1), 0, mv.to_sq());
        undo(position, mv);
        value
    }

    /// The quiescence value of `position` for the side to move.
    pub fn quiet_value(&mut self, position: &mut Position, sums: &Accumulator) -> i32 {
        let window = Window { alpha: -MATE, beta: MATE };
        self.quiescence(position, sums, window, 0, 0, Square::from_index(0))
    }

    /// Principal variation of the last search, after the searched move or position.
    pub fn line(&self) -> &[Move32] {
        &self.lines[0]
    }

    fn search(
        &mut self,
        position: &mut Position,
        sums: &Accumulator,
        mut window: Window,
        depth: usize,
        ply: usize,
        last: Square,
    ) -> i32 {
        if depth == 0 {
            return self.quiescence(position, sums, window, ply, 0, last);
        }
        self.nodes += 1;
        self.lines[ply].clear();
        let mut moves = Move32List::new();
        generate_moves_move32::<Legal>(position, &mut moves);
        sort(position, &mut moves);
        let mut best = -MATE + ply as i32;
        for &mv in moves.as_slice() {
            let next = self.weights.advance(sums, position, mv);
            position.apply_move32(mv);
            let value = -self.search(position, &next, window.turned(), depth - 1, ply + 1, mv.to_sq());
            undo(position, mv);
            if self.is_cut(mv, value, &mut best, &mut window, ply) {
                break;
            }
        }
        best
    }

    fn quiescence(
        &mut self,
        position: &mut Position,
        sums: &Accumulator,
        mut window: Window,
        ply: usize,
        captures: usize,
        last: Square,
    ) -> i32 {
        self.nodes += 1;
        self.lines[ply].clear();
        let evading = position.is_in_check() && captures < CAPTURE_PLIES;
        let stand = self.weights.value(sums, position);
        let mut best = -MATE + ply as i32;
        if !evading {
            best = stand;
            window.alpha = window.alpha.max(stand);
            if stand >= window.beta || captures >= MOST_PLIES {
                return stand;
            }
        }
        let moves = forcing_moves(position, evading, captures, last);
        for &mv in moves.as_slice() {
            if (!evading && stand + gain(position, mv) + MARGIN <= window.alpha)
                || !position.is_legal_after_pseudo_move32(mv)
            {
                continue;
            }
            let next = self.weights.advance(sums, position, mv);
            position.apply_move32(mv);
            let value = -self.quiescence(position, &next, window.turned(), ply + 1, captures + 1, mv.to_sq());
            undo(position, mv);
            if self.is_cut(mv, value, &mut best, &mut window, ply) {
                break;
            }
        }
        best
    }

    /// Updates the best value and the window; returns true on a cutoff.
    fn is_cut(&mut self, mv: Move32, value: i32, best: &mut i32, window: &mut Window, ply: usize) -> bool {
        *best = value.max(*best);
        if value > window.alpha {
            window.alpha = value;
            let (head, tail) = self.lines.split_at_mut(ply + 1);
            head[ply].clear();
            head[ply].push(mv);
            head[ply].extend_from_slice(&tail[0]);
        }
        value >= window.beta
    }
}

fn forcing_moves(position: &Position, evading: bool, captures: usize, last: Square) -> Move32List {
    let mut moves = Move32List::new();
    if evading {
        generate::<Evasions>(position, &mut moves);
    } else if captures >= CAPTURE_PLIES && position.is_in_check() {
        generate::<Evasions>(position, &mut moves);
        moves.retain_unordered(|mv| mv.to_sq() == last);
    } else if captures >= CAPTURE_PLIES {
        generate_moves_to_move32::<CapturePlusPro>(position, last, &mut moves);
    } else {
        generate::<CapturePlusPro>(position, &mut moves);
    }
    sort(position, &mut moves);
    moves
}

fn generate<T: MoveGenType>(position: &Position, moves: &mut Move32List) {
    generate_moves_move32::<T>(position, moves);
}

/// Most valuable victim first, then least valuable attacker.
fn sort(position: &Position, moves: &mut Move32List) {
    moves.as_mut_slice().sort_by_cached_key(|&mv| {
        let attacker = if mv.is_drop() { 0 } else { piece_value(mv.piece_after_move().piece_type()) };
        -8 * gain(position, mv) + attacker
    });
}

/// Material change of a move in centipawns, ignoring replies.
fn gain(position: &Position, mv: Move32) -> i32 {
    let captured = position.piece_on(mv.to_sq());
    let mut gain = 0;
    if !captured.is_empty() {
        gain = piece_value(captured.piece_type()) + piece_value(captured.piece_type().demote());
    }
    if mv.is_promotion() {
        let kind: PieceType = mv.piece_after_move().piece_type();
        gain += piece_value(kind) - piece_value(kind.demote());
    }
    gain
}

fn undo(position: &mut Position, mv: Move32) {
    let undone = position.undo_move32(mv);
    debug_assert!(undone.is_ok(), "the last move of a search is {mv:?}");
}
