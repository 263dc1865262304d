//! Root search: iterative deepening with aspiration windows.

use rsshogi::board::Move32List;
use rsshogi::mate::solve_mate_in_one;
use rsshogi::movegen::generate_legal_all_move32;
use rsshogi::types::{Move, Move32};

use super::exchange::gain;
use super::parts::Part;
use super::reduction;
use super::value::{INFINITE, is_decided, mate_in};
use super::worker::Worker;

/// A root move and its search result.
#[derive(Clone, Debug)]
pub struct RootMove {
    mv: Move32,
    /// Value from its last completed search.
    pub value: i32,
    /// Principal variation that starts with it.
    pub line: Vec<Move>,
    /// Nodes searched below it in this iteration.
    pub effort: u64,
    /// True if `value` is from this iteration.
    fresh: bool,
}

impl RootMove {
    /// A move with the value `value`.
    #[cfg(test)]
    pub(crate) fn found(mv: Move, value: i32) -> Self {
        let line = vec![mv];
        Self { mv: Move32::from_raw(u32::from(mv.raw())), value, line, effort: 0, fresh: true }
    }

    /// True if the move has a value.
    pub fn is_searched(&self) -> bool {
        self.value != -INFINITE
    }

    /// Sort key: moves that raised alpha in this iteration are sorted by value. The others keep their order,
    /// because their values are bounds or from earlier iterations.
    fn place(&self) -> i32 {
        if self.fresh { -self.value } else { INFINITE }
    }
}

/// Result of one iteration.
#[derive(Clone, Debug)]
pub struct Found {
    /// Depth in plies.
    pub depth: u32,
    /// Selective depth in plies.
    pub deepest: u32,
    /// The best lines, best first: as many as requested, or as there are moves.
    pub best: Vec<RootMove>,
    /// Share of the nodes spent on the best move, from 0 to 1.
    pub share: f64,
}

/// Iterative deepening of one thread.
pub struct Deepening<'w, 'a> {
    worker: &'w mut Worker<'a>,
    moves: Vec<RootMove>,
    /// Number of lines to report.
    lines: usize,
    depth: i32,
}

impl<'w, 'a> Deepening<'w, 'a> {
    /// A search of the worker's position for the best `lines` moves.
    pub fn new(worker: &'w mut Worker<'a>, lines: usize) -> Self {
        let mut list = Move32List::new();
        generate_legal_all_move32(&worker.position, &mut list);
        let mut moves: Vec<Move32> = list.iter().copied().collect();
        let mate = solve_mate_in_one(&worker.position);
        moves.sort_by_key(|&mv| (Some(mv) != mate, -gain(&worker.position, mv)));
        let fresh = |mv: Move32| RootMove {
            mv,
            value: if Some(mv) == mate { mate_in(1) } else { -INFINITE },
            line: vec![mv.to_move()],
            effort: 0,
            fresh: false,
        };
        let moves: Vec<RootMove> = moves.into_iter().map(fresh).collect();
        let lines = lines.clamp(1, moves.len().max(1));
        Self { worker, moves, lines, depth: 0 }
    }

    /// The root moves, best first; empty if the side to move has lost.
    pub fn moves(&self) -> &[RootMove] {
        &self.moves
    }

    /// Depth of the last iteration, in plies.
    pub fn depth(&self) -> u32 {
        self.depth.cast_unsigned()
    }

    /// The worker that searches.
    pub fn worker(&self) -> &Worker<'a> {
        self.worker
    }

    /// Runs the next iteration; `None` if the search was stopped during it. In that case, too, a move found to
    /// be better is sorted first.
    pub fn deepen(&mut self) -> Option<Found> {
        self.depth += 1;
        self.worker.root_depth = self.depth;
        self.worker.deepest = 0;
        self.moves.iter_mut().for_each(|root_move| root_move.effort = 0);
        for rank in 0..self.lines {
            self.search_line(rank);
            self.moves[rank..].sort_by_key(RootMove::place);
            self.moves[..=rank].sort_by_key(RootMove::place);
            if self.worker.is_stopped() {
                return None;
            }
        }
        let all: u64 = self.moves.iter().map(|root_move| root_move.effort).sum();
        Some(Found {
            depth: self.depth.cast_unsigned(),
            deepest: self.worker.deepest as u32,
            best: self.moves[..self.lines.min(self.moves.len())].to_vec(),
            share: self.moves.first().map_or(0.0, |best| best.effort as f64 / all.max(1) as f64),
        })
    }

    /// Searches for the best move at index `rank` or later, widening the window until it contains the value.
    fn search_line(&mut self, rank: usize) {
        self.moves[rank..].iter_mut().for_each(|root_move| root_move.fresh = false);
        let expected = self.moves.get(rank).map_or(0, |root_move| root_move.value);
        let narrow = self.depth >= 5
            && !is_decided(expected)
            && expected != -INFINITE
            && self.worker.has(Part::Aspiration);
        let mut width = self.worker.shared.terms.tuned.window();
        let (mut alpha, mut beta) =
            if narrow { (expected - width, expected + width) } else { (-INFINITE, INFINITE) };
        loop {
            let value = self.search_moves(rank, alpha, beta);
            if self.worker.is_stopped() {
                return;
            }
            if value <= alpha {
                beta = i32::midpoint(alpha, beta);
                alpha = (value - width).max(-INFINITE);
            } else if value >= beta {
                beta = (value + width).min(INFINITE);
            } else {
                return;
            }
            self.moves[rank..].sort_by_key(RootMove::place);
            width += width / 2;
            if width > 1000 || is_decided(value) {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }

    fn search_moves(&mut self, rank: usize, mut alpha: i32, beta: i32) -> i32 {
        let mut best = -INFINITE;
        for index in rank..self.moves.len() {
            let first = index == rank;
            let before = self.worker.nodes();
            let Some(value) = self.search_move(index, alpha, beta, first) else { return best };
            let root_move = &mut self.moves[index];
            root_move.effort += self.worker.nodes() - before;
            root_move.fresh = first || value > alpha;
            if root_move.fresh {
                root_move.value = value;
                root_move.line.truncate(1);
                root_move.line.extend_from_slice(&self.worker.lines[1]);
            }
            best = best.max(value);
            alpha = alpha.max(value);
            if value >= beta {
                break;
            }
        }
        best
    }

    /// The value of one move; `None` if the search was stopped.
    fn search_move(&mut self, index: usize, alpha: i32, beta: i32, first: bool) -> Option<i32> {
        let mv = self.moves[index].mv;
        let depth = self.depth - 1;
        let quiet = gain(&self.worker.position, mv) == 0 && !self.worker.position.gives_check_move32(mv);
        if !self.worker.visit() {
            return None;
        }
        self.worker.make(mv, 0);
        self.worker.lines[1].clear();
        let mut open = first;
        let mut value = alpha;
        if !first {
            let reduction = if quiet && depth >= 2 && self.worker.has(Part::Reductions) {
                reduction::at_root(self.depth, index as i32, self.worker.shared.terms.tuned)
            } else {
                0
            };
            value = -self.worker.search(-alpha - 1, -alpha, depth - reduction, 1, true);
            if value > alpha && reduction > 0 {
                value = -self.worker.search(-alpha - 1, -alpha, depth, 1, false);
            }
            open = value > alpha;
        }
        if open && !self.worker.is_stopped() {
            value = -self.worker.search(-beta, -alpha, depth, 1, false);
        }
        self.worker.unmake(mv);
        (!self.worker.is_stopped()).then_some(value)
    }
}
