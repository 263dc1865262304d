//! Principal variation search below the root, with pruning, reductions and extensions.

use rsshogi::mate::solve_mate_in_one_in_place;
use rsshogi::types::{Move, Move32};

use super::exchange::exchange_gains;
use super::node::{Node, Trial};
use super::order::{Hints, Picker, Wanted};
use super::parts::Part;
use super::reduction;
use super::table::{Bound, Known, NO_EVALUATION};
use super::value::{INFINITE, MAX_PLY, from_table, is_decided, is_loss, mate_in, mated_in, to_table};
use super::worker::Worker;

impl Worker<'_> {
    /// The value of the node within the window, for the side to move.
    pub(super) fn search(&mut self, alpha: i32, beta: i32, depth: i32, ply: usize, cut: bool) -> i32 {
        if depth <= 0 {
            return self.quiesce(alpha, beta, 0, ply);
        }
        self.lines[ply].clear();
        if let Some(value) = self.ruled(ply) {
            return value;
        }
        if ply >= MAX_PLY {
            return self.evaluate(ply);
        }
        // Mate distance pruning.
        let (alpha, beta) = (alpha.max(mated_in(ply)), beta.min(mate_in(ply + 1)));
        if alpha >= beta {
            return alpha;
        }
        let mut node = self.enter(alpha, beta, depth, ply, cut);
        if let Some(value) = self.value_from_table(&node).or_else(|| self.mate_in_one(&node)) {
            return value;
        }
        self.guess(&mut node);
        if let Some(value) = self.prune(&node) {
            return value;
        }
        self.try_moves(&mut node);
        self.conclude(&node)
    }

    fn enter(&mut self, alpha: i32, beta: i32, depth: i32, ply: usize, cut: bool) -> Node {
        self.deepest = self.deepest.max(ply);
        // Killers two plies below belong to another subtree.
        self.frame(ply + 2).killers = [Move::MOVE_NONE; 2];
        Node {
            alpha,
            beta,
            depth,
            ply,
            pv: beta - alpha > 1,
            cut,
            in_check: self.position.is_in_check(),
            improving: false,
            guess: NO_EVALUATION,
            known: self.shared.table.probe(self.key()),
            before: self.before(ply),
            excluded: self.frame(ply).excluded,
            best: -INFINITE,
            best_move: Move32::MOVE_NONE,
            count: 0,
            tuned: self.shared.terms.tuned,
        }
    }

    fn value_from_table(&self, node: &Node) -> Option<i32> {
        let known = node.known.filter(|known| known.depth >= node.depth)?;
        let value = from_table(known.value, node.ply);
        let proves = if value >= node.beta { known.bound.fails_high() } else { known.bound.fails_low() };
        let outside = value >= node.beta || value <= node.alpha || known.bound == Bound::Exact;
        (!node.pv && !node.is_excluding() && outside && proves).then_some(value)
    }

    fn mate_in_one(&mut self, node: &Node) -> Option<i32> {
        // Only nodes without a table entry: otherwise the test was made before.
        if node.known.is_some() || node.in_check || node.is_excluding() {
            return None;
        }
        let mv = solve_mate_in_one_in_place(&mut self.position)?;
        let value = mate_in(node.ply + 1);
        self.remember(node, mv.to_move(), value, MAX_PLY as i32, Bound::Exact, NO_EVALUATION);
        if node.pv {
            self.lines[node.ply].clear();
            self.lines[node.ply].push(mv.to_move());
        }
        Some(value)
    }

    fn remember(&self, node: &Node, mv: Move, value: i32, depth: i32, bound: Bound, evaluation: i32) {
        let value = to_table(value, node.ply);
        self.shared.table.store(self.key(), Known { mv, value, evaluation, depth, bound, pv: node.pv });
    }

    /// Computes the static evaluation, using the table entry.
    fn guess(&mut self, node: &mut Node) {
        if node.in_check {
            self.frame(node.ply).evaluation = NO_EVALUATION;
            node.guess = self.evaluation_before(node.ply, 2).unwrap_or(0);
            return;
        }
        let stored = node.known.map(|known| known.evaluation).filter(|&value| value != NO_EVALUATION);
        let evaluation = stored.unwrap_or_else(|| self.evaluate(node.ply));
        self.frame(node.ply).evaluation = evaluation;
        let earlier = self.evaluation_before(node.ply, 2).or_else(|| self.evaluation_before(node.ply, 4));
        node.improving = earlier.is_none_or(|earlier| evaluation > earlier);
        node.guess = evaluation;
        if let Some(known) = node.known {
            let value = from_table(known.value, node.ply);
            let tells = if value > evaluation { known.bound.fails_high() } else { known.bound.fails_low() };
            if tells {
                node.guess = value;
            }
        }
    }

    /// Pruning before any move is tried, where the static evaluation is far outside the window.
    fn prune(&mut self, node: &Node) -> Option<i32> {
        if node.pv || node.in_check || node.is_excluding() {
            return None;
        }
        let razor = node.tuned.razor_margin() * node.depth;
        if node.depth <= 3 && node.guess + razor < node.alpha && self.has(Part::StaticPruning) {
            let value = self.quiesce(node.alpha, node.beta, 0, node.ply);
            if value <= node.alpha {
                return Some(value);
            }
        }
        let margin = node.tuned.futility() * (node.depth - i32::from(node.improving));
        if node.depth <= 8
            && node.guess - margin >= node.beta
            && self.has(Part::StaticPruning)
            && !is_decided(node.guess)
            && !is_loss(node.beta)
        {
            return Some(node.guess);
        }
        self.prune_by_null_move(node).or_else(|| self.prune_by_capture(node))
    }

    fn prune_by_null_move(&mut self, node: &Node) -> Option<i32> {
        let goal = node.beta + node.tuned.null_margin();
        let promising = node.guess >= node.beta && self.frame(node.ply).evaluation + 30 * node.depth >= goal;
        if node.depth < 3
            || !promising
            || self.after_null(node.ply)
            || is_decided(node.beta)
            || !self.has(Part::NullMove)
        {
            return None;
        }
        let further = ((node.guess - node.beta) / node.tuned.null_evaluation()).min(3);
        let reduction = node.tuned.null_reduction() + node.depth / 3 + further;
        let ply = node.ply + 1;
        if !self.visit() {
            return Some(0);
        }
        let value = self.with_null_move(node.ply, |worker| {
            -worker.search(-node.beta, 1 - node.beta, node.depth - reduction, ply, !node.cut)
        })?;
        (value >= node.beta).then_some(if is_decided(value) { node.beta } else { value })
    }

    /// ProbCut (M. Buro, 1995): cutoff if a good capture exceeds beta by a margin in a shallower search.
    fn prune_by_capture(&mut self, node: &Node) -> Option<i32> {
        let goal = node.beta + node.tuned.capture_margin();
        let doubtful = node
            .known
            .is_some_and(|known| known.depth >= node.depth - 3 && from_table(known.value, node.ply) < goal);
        if node.depth < 5 || is_decided(node.beta) || doubtful || !self.has(Part::ProbCut) {
            return None;
        }
        let hints = Hints { known: node.known_move(), killers: [Move::MOVE_NONE; 3], before: node.before };
        let mut picker = Picker::new(&self.position, Wanted::Captures, &hints, &self.arena);
        let needed = goal - self.frame(node.ply).evaluation;
        let mut found = None;
        while let Some(mv) = picker.next(&self.position, self.history, &mut self.arena) {
            if !exchange_gains(&self.position, mv, needed) {
                continue;
            }
            let value = self.try_capture(node, mv, goal);
            if self.is_stopped() || value >= goal {
                found = Some((mv, value));
                break;
            }
        }
        picker.close(&mut self.arena);
        let (mv, value) = found?;
        if !self.is_stopped() {
            let evaluation = self.frame(node.ply).evaluation;
            self.remember(node, mv.to_move(), value, node.depth - 3, Bound::Lower, evaluation);
        }
        Some(value)
    }

    fn try_capture(&mut self, node: &Node, mv: Move32, goal: i32) -> i32 {
        if !self.visit() {
            return 0;
        }
        let ply = node.ply + 1;
        self.make(mv, node.ply);
        let mut value = -self.quiesce(-goal, 1 - goal, 0, ply);
        if value >= goal && !self.is_stopped() {
            value = -self.search(-goal, 1 - goal, node.depth - 4, ply, !node.cut);
        }
        self.unmake(mv);
        value
    }

    fn try_moves(&mut self, node: &mut Node) {
        // Internal iterative reduction: without a table move the order is poor, so search shallower and store a
        // move for the next visit.
        if node.depth >= 4 && node.known_move() == Move::MOVE_NONE {
            node.depth -= 1;
        }
        let [first, second] = self.frame(node.ply).killers;
        let killers = match self.has(Part::Killers) {
            true => [first, second, self.history.refutation(node.before[0])],
            false => [Move::MOVE_NONE; 3],
        };
        let hints = Hints { known: node.known_move(), killers, before: node.before };
        let mut picker = Picker::new(&self.position, Wanted::All, &hints, &self.arena);
        let mut tried = Tried::default();
        while let Some(mv) = picker.next(&self.position, self.history, &mut self.arena) {
            if mv.to_move() == node.excluded {
                continue;
            }
            node.count += 1;
            let trial = self.trial(node, mv);
            if self.passes_over(node, &trial, &mut picker) {
                continue;
            }
            let Some(value) = self.try_move(node, &trial) else { break };
            if self.accept(node, &trial, value) {
                self.learn(node, &trial, &tried);
                break;
            }
            tried.note(&trial);
        }
        picker.close(&mut self.arena);
    }

    fn trial(&self, node: &Node, mv: Move32) -> Trial {
        let taken = self.position.piece_on(mv.to_sq());
        let quiet = mv.is_drop() || taken.is_empty();
        let score = if quiet {
            self.history.quiet(mv, self.position.turn(), &node.before)
        } else {
            self.history.capture(mv, taken.piece_type())
        };
        Trial { mv, quiet, check: self.position.gives_check_move32(mv), score }
    }

    /// True if a late move at low depth is pruned.
    fn passes_over(&self, node: &Node, trial: &Trial, picker: &mut Picker) -> bool {
        if is_loss(node.best) || node.best == -INFINITE || !self.has(Part::MovePruning) {
            return false;
        }
        let depth = (node.depth - reduction::base(node, node.count)).max(0);
        if !trial.quiet {
            return node.depth <= 6
                && !exchange_gains(&self.position, trial.mv, -node.tuned.capture_exchange() * node.depth);
        }
        if node.count >= reduction::moves_worth_trying(node) {
            picker.skip_quiets();
        }
        if trial.check {
            return !exchange_gains(&self.position, trial.mv, -150 * node.depth);
        }
        if depth <= 4 && trial.score < -node.tuned.history_pruning() * (depth + 1) {
            return true;
        }
        let margin = node.tuned.quiet_margin() + node.tuned.quiet_margin_ply() * depth;
        if !node.in_check && depth <= 7 && node.guess + margin <= node.alpha {
            return true;
        }
        depth <= 8 && !exchange_gains(&self.position, trial.mv, -node.tuned.quiet_exchange() * depth * depth)
    }

    /// The value of a move; `None` if the search was stopped.
    fn try_move(&mut self, node: &mut Node, trial: &Trial) -> Option<i32> {
        let extension = self.extension(node, trial);
        if !self.visit() {
            return None;
        }
        let ply = node.ply + 1;
        let depth = node.depth - 1 + extension;
        let (alpha, beta) = (node.alpha, node.beta);
        let reduction = if self.has(Part::Reductions) { reduction::late(node, trial) } else { 0 };
        self.make(trial.mv, node.ply);
        let mut value = alpha;
        let mut open = node.pv && node.count == 1;
        if !open {
            let reduced = if node.depth >= 3 && node.count > 1 {
                (depth - reduction).clamp(1, depth.max(1))
            } else {
                depth
            };
            value = -self.search(-alpha - 1, -alpha, reduced, ply, true);
            if value > alpha && reduced < depth {
                value = -self.search(-alpha - 1, -alpha, depth, ply, !node.cut);
            }
            open = node.pv && value > alpha;
        }
        if open && !self.is_stopped() {
            value = -self.search(-beta, -alpha, depth, ply, false);
        }
        self.unmake(trial.mv);
        (!self.is_stopped()).then_some(value)
    }

    /// The extension of a move in plies.
    fn extension(&mut self, node: &Node, trial: &Trial) -> i32 {
        if node.ply as i32 >= 2 * self.root_depth || !self.has(Part::Extensions) {
            return 0;
        }
        match self.singularity(node, trial) {
            0 => i32::from(trial.check && node.depth <= 6 && exchange_gains(&self.position, trial.mv, 0)),
            other => other,
        }
    }

    /// Singular extension: a table move much better than all alternatives is searched deeper.
    fn singularity(&mut self, node: &Node, trial: &Trial) -> i32 {
        let Some(known) = node.known.filter(|known| known.mv == trial.mv.to_move()) else { return 0 };
        let value = from_table(known.value, node.ply);
        if node.depth < 7
            || node.is_excluding()
            || is_decided(value)
            || !known.bound.fails_high()
            || known.depth < node.depth - 3
        {
            return 0;
        }
        let goal = value - node.tuned.singular_margin() * node.depth;
        self.frame(node.ply).excluded = known.mv;
        let line = std::mem::take(&mut self.lines[node.ply]);
        let best_other = self.search(goal - 1, goal, (node.depth - 1) / 2, node.ply, node.cut);
        self.lines[node.ply] = line;
        self.frame(node.ply).excluded = Move::MOVE_NONE;
        if best_other < goal {
            1
        } else if value >= node.beta {
            -1
        } else {
            0
        }
    }

    /// Updates the node with the value of a move; returns true on a cutoff.
    fn accept(&mut self, node: &mut Node, trial: &Trial, value: i32) -> bool {
        if value <= node.best {
            return false;
        }
        node.best = value;
        if value <= node.alpha {
            return false;
        }
        node.best_move = trial.mv;
        if node.pv {
            self.extend_line(node.ply, trial.mv);
        }
        if value >= node.beta {
            return true;
        }
        node.alpha = value;
        false
    }

    /// Updates killers, counter moves and history after a cutoff.
    fn learn(&mut self, node: &Node, trial: &Trial, tried: &Tried) {
        // A bonus of 0 changes no score.
        let a_ply = node.tuned.history_bonus();
        let bonus = if self.has(Part::History) { (a_ply * node.depth - a_ply / 2).min(1600) } else { 0 };
        let side = self.position.turn();
        if trial.quiet {
            self.history.note_quiet(trial.mv, side, &node.before, bonus);
            self.history.note_refutation(node.before[0], trial.mv);
            let frame = self.frame(node.ply);
            if frame.killers[0] != trial.mv.to_move() {
                frame.killers = [trial.mv.to_move(), frame.killers[0]];
            }
            for &mv in tried.quiets() {
                self.history.note_quiet(mv, side, &node.before, -bonus);
            }
        } else {
            let taken = self.position.piece_on(trial.mv.to_sq()).piece_type();
            self.history.note_capture(trial.mv, taken, bonus);
        }
        for &mv in tried.captures() {
            let taken = self.position.piece_on(mv.to_sq()).piece_type();
            self.history.note_capture(mv, taken, -bonus);
        }
    }

    fn conclude(&mut self, node: &Node) -> i32 {
        if self.is_stopped() {
            return 0;
        }
        if node.count == 0 {
            // In shogi a side without a legal move loses, even if it is not in check.
            return if node.is_excluding() { node.alpha } else { mated_in(node.ply) };
        }
        if !node.is_excluding() {
            let bound = if node.best >= node.beta {
                Bound::Lower
            } else if node.pv && node.best_move.is_normal() {
                Bound::Exact
            } else {
                Bound::Upper
            };
            let evaluation = self.frame(node.ply).evaluation;
            self.remember(node, node.best_move.to_move(), node.best, node.depth, bound, evaluation);
        }
        node.best
    }
}

/// Moves searched before a cutoff.
#[derive(Default)]
struct Tried {
    quiets: Few,
    captures: Few,
}

/// Bounded list; moves beyond its capacity are dropped, as the first matter most for history updates.
struct Few([Move32; 32], usize);

impl Default for Few {
    fn default() -> Self {
        Self([Move32::MOVE_NONE; 32], 0)
    }
}

impl Few {
    fn push(&mut self, mv: Move32) {
        if let Some(slot) = self.0.get_mut(self.1) {
            *slot = mv;
            self.1 += 1;
        }
    }
}

impl Tried {
    fn note(&mut self, trial: &Trial) {
        if trial.quiet { self.quiets.push(trial.mv) } else { self.captures.push(trial.mv) }
    }

    fn quiets(&self) -> &[Move32] {
        &self.quiets.0[..self.quiets.1]
    }

    fn captures(&self) -> &[Move32] {
        &self.captures.0[..self.captures.1]
    }
}
