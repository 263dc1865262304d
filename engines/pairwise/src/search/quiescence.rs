//! Quiescence search: captures, pawn promotions, evasions and, at its first ply, quiet checks.

use rsshogi::mate::solve_mate_in_one_in_place;
use rsshogi::types::{Move, Move32};

use super::exchange::{exchange_gains, gain};
use super::order::{Hints, Picker, Wanted};
use super::parts::Part;
use super::table::{Bound, Known, NO_EVALUATION};
use super::value::{INFINITE, MAX_PLY, from_table, is_loss, mate_in, mated_in, to_table};
use super::worker::Worker;

/// Depths under which results are stored: with checks, and without.
const WITH_CHECKS: i32 = 0;
const WITHOUT_CHECKS: i32 = -1;

struct Quiet {
    alpha: i32,
    beta: i32,
    ply: usize,
    /// True if quiet checks are searched.
    checks: bool,
    in_check: bool,
    known: Option<Known>,
    best: i32,
    best_move: Move32,
    /// The stand-pat value.
    standing: i32,
    count: i32,
}

impl Worker<'_> {
    /// The quiescence value of the node; `depth` is 0 at the first ply and decreases.
    pub(super) fn quiesce(&mut self, alpha: i32, beta: i32, depth: i32, ply: usize) -> i32 {
        self.lines[ply].clear();
        if let Some(value) = self.ruled(ply) {
            return value;
        }
        if ply >= MAX_PLY {
            return self.evaluate(ply);
        }
        self.deepest = self.deepest.max(ply);
        let in_check = self.position.is_in_check();
        let mut node = Quiet {
            alpha,
            beta,
            ply,
            checks: depth > -self.shared.terms.tuned.check_plies() && self.has(Part::QuiescenceChecks),
            in_check,
            known: self.shared.table.probe(self.key()),
            best: -INFINITE,
            best_move: Move32::MOVE_NONE,
            standing: NO_EVALUATION,
            count: 0,
        };
        if let Some(value) = self.quiet_value_from_table(&node).or_else(|| self.stand(&mut node)) {
            return value;
        }
        self.try_captures(&mut node, depth);
        self.conclude_quiet(&node)
    }

    fn quiet_value_from_table(&self, node: &Quiet) -> Option<i32> {
        let needed = if node.checks || node.in_check { WITH_CHECKS } else { WITHOUT_CHECKS };
        let known = node.known.filter(|known| known.depth >= needed && node.beta - node.alpha == 1)?;
        let value = from_table(known.value, node.ply);
        let proves = if value >= node.beta { known.bound.fails_high() } else { known.bound.fails_low() };
        proves.then_some(value)
    }

    /// The stand-pat value, if it causes a cutoff.
    fn stand(&mut self, node: &mut Quiet) -> Option<i32> {
        if node.in_check {
            return None;
        }
        if node.checks && node.known.is_none() && solve_mate_in_one_in_place(&mut self.position).is_some() {
            return Some(mate_in(node.ply + 1));
        }
        let stored = node.known.map(|known| known.evaluation).filter(|&value| value != NO_EVALUATION);
        node.standing = stored.unwrap_or_else(|| self.evaluate(node.ply));
        node.best = node.standing;
        if node.best >= node.beta {
            if node.known.is_none() {
                self.remember_quiet(node, Bound::Lower);
            }
            return Some(node.best);
        }
        node.alpha = node.alpha.max(node.best);
        None
    }

    fn try_captures(&mut self, node: &mut Quiet, depth: i32) {
        let wanted = if node.checks { Wanted::CapturesAndChecks } else { Wanted::Captures };
        let known = node.known.map_or(Move::MOVE_NONE, |known| known.mv);
        let hints = Hints { known, killers: [Move::MOVE_NONE; 3], before: self.before(node.ply) };
        let mut picker = Picker::new(&self.position, wanted, &hints, &self.arena);
        while let Some(mv) = picker.next(&self.position, self.history, &mut self.arena) {
            node.count += 1;
            if self.is_hopeless(node, mv) {
                continue;
            }
            if !self.visit() {
                break;
            }
            self.make(mv, node.ply);
            let value = -self.quiesce(-node.beta, -node.alpha, depth - 1, node.ply + 1);
            self.unmake(mv);
            if self.is_stopped() || self.accept_quiet(node, mv, value) {
                break;
            }
        }
        picker.close(&mut self.arena);
    }

    /// True if a move is unlikely to raise the value into the window (delta and exchange pruning).
    fn is_hopeless(&self, node: &mut Quiet, mv: Move32) -> bool {
        let quiet = mv.is_drop() || self.position.piece_on(mv.to_sq()).is_empty();
        if node.in_check {
            // In check: once an evasion avoids the loss, only a few further quiet ones that lose no material
            // are tried.
            return !is_loss(node.best)
                && node.best != -INFINITE
                && quiet
                && (node.count > 3 || !exchange_gains(&self.position, mv, 0));
        }
        if quiet && !mv.is_promotion() {
            return !exchange_gains(&self.position, mv, 0);
        }
        if self.position.gives_check_move32(mv) {
            return false;
        }
        let reach = node.standing + gain(&self.position, mv) + self.shared.terms.tuned.delta_margin();
        if reach <= node.alpha {
            node.best = node.best.max(reach);
            return true;
        }
        false
    }

    /// Updates the node with the value of a move; returns true on a cutoff.
    fn accept_quiet(&mut self, node: &mut Quiet, mv: Move32, value: i32) -> bool {
        if value <= node.best {
            return false;
        }
        node.best = value;
        if value <= node.alpha {
            return false;
        }
        node.best_move = mv;
        if node.beta - node.alpha > 1 {
            self.extend_line(node.ply, mv);
        }
        node.alpha = value;
        value >= node.beta
    }

    fn conclude_quiet(&mut self, node: &Quiet) -> i32 {
        if self.is_stopped() {
            return 0;
        }
        if node.in_check && node.count == 0 {
            return mated_in(node.ply);
        }
        let bound = if node.best >= node.beta { Bound::Lower } else { Bound::Upper };
        self.remember_quiet(node, bound);
        node.best
    }

    fn remember_quiet(&self, node: &Quiet, bound: Bound) {
        let depth = if node.checks || node.in_check { WITH_CHECKS } else { WITHOUT_CHECKS };
        let known = Known {
            mv: node.best_move.to_move(),
            value: to_table(node.best, node.ply),
            evaluation: node.standing,
            depth,
            bound,
            pv: false,
        };
        self.shared.table.store(self.key(), known);
    }
}
