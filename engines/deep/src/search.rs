//! Monte Carlo tree search with PUCT selection and batched evaluation by a network.
//!
//! Read [`Searcher::think`] first, then `session` (one search from start to end), `worker` (one thread's loop;
//! `shared` holds the state of all threads), `leaf` (rules and short mates at a leaf) and `select` (PUCT).
//! `tree` stores the nodes, in memory from `pool`; `cache` holds evaluations; `proof` handles proven results;
//! `mate` searches for mates; `report` builds the search's output.

mod cache;
mod leaf;
mod mate;
mod pool;
mod proof;
mod report;
mod select;
mod session;
mod shared;
mod tree;
mod worker;

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use rsshogi::types::{Color, EnteringKingRule, Move};
use usi_shell::{Clock, Game};

use crate::evaluator::{Evaluator, EvaluatorError};
use cache::Cache;
use mate::Solver;
pub use mate::{Mate, solve};
use session::Session;
use shared::{Counts, Shared};
use tree::Tree;

/// Parameters of one search.
#[derive(Clone, Debug)]
pub struct Task {
    /// Time limit; without it only the other limits and the caller end the search.
    pub clock: Option<Clock>,
    /// Maximum number of playouts, excluding those of earlier searches.
    pub playouts: Option<u64>,
    /// The search ends when the principal variation has this many plies.
    pub depth: Option<u32>,
    /// Number of principal variations, from 1.
    pub lines: usize,
    /// Number of threads, from 1.
    pub threads: usize,
    /// Maximum number of leaves per batch of a thread, from 1.
    pub batch: usize,
    /// Constants of the PUCT formula.
    pub constants: Constants,
    /// The rules of the game, and the values of a draw.
    pub terms: Terms,
    /// Depth of the mate search at each leaf in plies: 0, 1 or 3.
    pub leaf_mate: u32,
    /// True if a mate solver runs on the root position, in a thread of its own.
    pub root_mate: bool,
    /// Maximum interval between calls of `progress`.
    pub report_interval: Duration,
    /// One thread, and no dependence on time except for the clock, so that results are reproducible.
    pub deterministic: bool,
}

/// Constants of the PUCT formula: c = init + ln((visits + base + 1) / base).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// `init` below the root.
    pub init: f32,
    /// `base` below the root.
    pub base: f32,
    /// `init` at the root.
    pub root_init: f32,
    /// `base` at the root.
    pub root_base: f32,
    /// First play urgency: an unvisited move has its parent's value less this times the square root of the
    /// visited moves' total prior.
    pub fpu: f32,
    /// First play urgency at the root.
    pub root_fpu: f32,
    /// Virtual loss: the number of lost visits that a pending playout counts as.
    pub virtual_loss: u32,
}

/// Rules and draw values of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The value of a draw for Black, 0 to 1.
    pub draw_black: f32,
    /// The value of a draw for White, 0 to 1.
    pub draw_white: f32,
    /// A game of this many plies is drawn; 0 for no such rule.
    pub max_moves: u32,
    /// Rule for declaring a win.
    pub declaration: EnteringKingRule,
}

impl Terms {
    /// The value of a draw for a side.
    pub(crate) fn draw_value(&self, side: Color) -> f32 {
        if side == Color::BLACK { self.draw_black } else { self.draw_white }
    }
}

/// A proven result of a move or a position, from the player who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proven {
    /// A win in this many plies.
    Win(u32),
    /// A loss in this many plies.
    Loss(u32),
    /// A draw.
    Draw,
}

/// A root move.
#[derive(Clone, Debug, PartialEq)]
pub struct RootMove {
    /// The move.
    pub mv: Move,
    /// Visits, including those of earlier searches.
    pub visits: u64,
    /// Win probability of its player, 0 to 1, with draws counted at their value.
    pub value: f32,
    /// Probability of a draw by the rules.
    pub draw: f32,
    /// The network's prior.
    pub prior: f32,
    /// The proven result, from the player of this move.
    pub proven: Option<Proven>,
    /// Principal variation, starting with this move; moves beyond [`Task::lines`] have only this move.
    pub line: Vec<Move>,
}

/// Intermediate result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// All legal moves, best first, without useless non-promotions.
    pub moves: Vec<RootMove>,
    /// Visits of the root, including those of earlier searches.
    pub visits: u64,
    /// Playouts of this search.
    pub playouts: u64,
    /// Evaluations by the network in this search.
    pub evaluations: u64,
    /// Descents of this search that ended at a leaf which waits for its evaluation.
    pub collisions: u64,
    /// Time since the search began.
    pub elapsed: Duration,
    /// Length of the principal variation in plies.
    pub depth: u32,
    /// Length of the longest path in plies.
    pub deepest: u32,
    /// Occupancy of the memory, in permille.
    pub fullness: u32,
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The final state. Without moves the side to move has lost.
    pub progress: Progress,
    /// The expected reply to the best move.
    pub reply: Option<Move>,
}

/// State kept between searches: the tree and the evaluation cache.
pub struct Searcher {
    evaluator: Arc<dyn Evaluator>,
    memory: usize,
    tree: Tree,
    cache: Cache,
    solver: Solver,
    /// The terms under which the tree was searched.
    terms: Terms,
}

/// The default depth of the mate search at each leaf. Before a GPU three plies would cost as much as the rest of a playout.
pub const fn leaf_mate(gpu: bool) -> u32 {
    if gpu { 1 } else { 3 }
}

/// Minimum memory in bytes.
const LEAST_MEMORY: usize = 4 << 20;

impl Searcher {
    /// A searcher with `evaluator` and about `memory` bytes, at least 4 MiB: a fifth for the evaluation cache,
    /// a little for the mate solver, the rest for the tree.
    pub fn new(evaluator: Arc<dyn Evaluator>, memory: usize) -> Self {
        let memory = memory.max(LEAST_MEMORY);
        let table = (memory / 32).min(8 << 20);
        Self {
            evaluator,
            memory,
            tree: Tree::new(memory - memory / 5 - table),
            cache: Cache::new(memory / 5),
            solver: Solver::new(table / Solver::ENTRY),
            terms: Terms::default(),
        }
    }

    /// Clears tree and cache in constant time.
    pub fn new_game(&mut self) {
        self.tree.clear();
        self.cache.clear();
    }

    /// Bytes allocated, and bytes allowed.
    pub fn bytes(&self) -> (usize, usize) {
        (self.tree.bytes_held() + self.cache.bytes() + self.solver.bytes(), self.memory)
    }

    /// Searches the position of `game` until the clock, a limit, a proven result or `progress` ends it.
    /// `progress` is called at intervals of [`Task::report_interval`] and returns whether to continue. The tree of earlier
    /// searches of the game is reused.
    ///
    /// # Errors
    /// When the evaluator fails.
    pub fn think(
        &mut self,
        game: &Game,
        task: &Task,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Outcome, EvaluatorError> {
        self.forget_under_other(task.terms);
        let Some(root) = self.tree.root_for(game) else { return Ok(Outcome::default()) };
        let (counts, mate, begun) = (Counts::new(task.playouts), OnceLock::new(), Instant::now());
        if self.tree.bytes_used() > self.tree.bytes_allowed() / 4 * 3 {
            self.tree.prune(root);
        }
        loop {
            let shared = Shared::new(&*self.evaluator, (&self.tree, &self.cache), task, root, &counts);
            let session = Session { shared: &shared, game, mate: &mate, begun, memory: self.memory };
            session.search(&mut self.solver, progress);
            if let Some(fault) = shared.fault() {
                return Err(fault);
            }
            let (outcome, full) = (session.outcome(), shared.is_paused());
            if !full || !self.tree.prune(root) {
                return Ok(outcome);
            }
        }
    }

    /// Clears the tree if the rules have changed, which decide terminal positions.
    fn forget_under_other(&mut self, terms: Terms) {
        let rules = |terms: Terms| (terms.max_moves, terms.declaration);
        if rules(self.terms) != rules(terms) {
            self.new_game();
        }
        self.terms = terms;
    }
}

impl Default for Task {
    fn default() -> Self {
        Self {
            clock: None,
            playouts: None,
            depth: None,
            lines: 1,
            threads: 2,
            batch: 64,
            constants: Constants::default(),
            terms: Terms::default(),
            leaf_mate: 1,
            root_mate: true,
            report_interval: Duration::from_millis(20),
            deterministic: false,
        }
    }
}

/// The constants of dlshogi.
impl Default for Constants {
    fn default() -> Self {
        Self {
            init: 1.44,
            base: 28_288.0,
            root_init: 1.16,
            root_base: 25_617.0,
            fpu: 0.27,
            root_fpu: 0.0,
            virtual_loss: 1,
        }
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self { draw_black: 0.5, draw_white: 0.5, max_moves: 0, declaration: EnteringKingRule::Point27 }
    }
}

#[cfg(test)]
mod tests;
