//! The search: a tree of positions, grown where it promises most (PUCT), looked at by a network.
//!
//! Read [`Searcher::think`] first, then `session` (one search from its beginning to its end), `worker` (what its threads
//! do, with what they share in `shared`), `leaf` (what the rules say of a position) and `select` (which move is tried next). `tree`, in memory from `pool`,
//! holds what was found; `cache` holds the network's answers; `proof` and `line` are about what is certain; `mate` looks
//! for mates; `report` says how the search is going.

mod cache;
mod leaf;
mod mate;
mod noise;
mod pool;
mod proof;
mod report;
mod select;
mod session;
mod shared;
mod tree;
mod worker;

use std::{sync::Arc, time::Duration};

use rsshogi::types::{EnteringKingRule, Move};
use usi_shell::{Clock, Game};

use crate::evaluator::{Evaluator, EvaluatorError};
use cache::Cache;
use mate::Solver;
pub use mate::{Mate, solve};
use session::Session;
use tree::Tree;

/// What one search is to do.
#[derive(Clone, Debug)]
pub struct Task {
    /// When to end; without it only the other limits and the caller end the search.
    pub clock: Option<Clock>,
    /// The most playouts, those that an earlier search left behind not counted.
    pub playouts: Option<u64>,
    /// The search ends when the line of the best move has so many plies.
    pub depth: Option<u32>,
    /// How many moves are told with their lines, from 1.
    pub lines: usize,
    /// How many threads search, from 1.
    pub threads: usize,
    /// The most leaves that a thread asks the evaluator about at a time, from 1.
    pub batch: usize,
    /// How the tree grows.
    pub constants: Constants,
    /// The rules of the game, and what a draw is worth.
    pub terms: Terms,
    /// Noise on the priors of the root's moves, for self-play.
    pub noise: Option<Noise>,
    /// How deep a mate is looked for at each leaf, in plies: 0, 1 or 3.
    pub leaf_mate: u32,
    /// Whether a solver looks for a mate at the root, in a thread of its own.
    pub root_mate: bool,
    /// How often the caller hears of the search, at least.
    pub tell: Duration,
    /// One thread, and nothing that depends on time but the clock: the same search gives the same result.
    pub deterministic: bool,
}

/// How the tree grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Weight of the prior below the root.
    pub init: f32,
    /// Visits after which that weight grows noticeably.
    pub base: f32,
    /// The same at the root.
    pub root_init: f32,
    /// The same at the root.
    pub root_base: f32,
    /// A move not yet tried counts as worse than its position by this, times the root of the priors tried.
    pub fpu: f32,
    /// The same at the root.
    pub root_fpu: f32,
    /// How many lost visits a playout under way counts as.
    pub virtual_loss: u32,
}

/// What the search may take for granted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The value of a draw for Black, 0 to 1.
    pub draw_black: f32,
    /// The value of a draw for White, 0 to 1.
    pub draw_white: f32,
    /// A game of this many plies is drawn; 0 for no such limit.
    pub max_moves: u32,
    /// When a win may be declared.
    pub declaration: EnteringKingRule,
}

/// Noise of a Dirichlet distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Equal seeds give equal noise.
    pub seed: u64,
    /// The share of the noise in a prior, 0 to 1.
    pub share: f32,
    /// The smaller, the fewer moves get most of it.
    pub alpha: f32,
}

/// What is known for certain of a move or a position, for the player who plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proven {
    /// Won in so many plies.
    Win(u32),
    /// Lost in so many plies.
    Loss(u32),
    /// Drawn.
    Draw,
}

/// A move of the root.
#[derive(Clone, Debug, PartialEq)]
pub struct RootMove {
    /// The move.
    pub mv: Move,
    /// Playouts that began with it, those of earlier searches included.
    pub visits: u64,
    /// The probability that its player wins, 0 to 1, draws counted at their value.
    pub value: f32,
    /// The probability of a draw by the rules, as far as the search saw any.
    pub draw: f32,
    /// The network's prior, without noise.
    pub prior: f32,
    /// What is known for certain: a win means that this move wins.
    pub proven: Option<Proven>,
    /// The line expected, this move first. Only this move beyond the number of lines asked for.
    pub line: Vec<Move>,
}

/// How a search is going.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// All legal moves, the best first. Promotions that nobody declines are not declined.
    pub moves: Vec<RootMove>,
    /// Visits of the root, those of earlier searches included.
    pub visits: u64,
    /// Playouts of this search.
    pub playouts: u64,
    /// Positions that the evaluator was asked about in this search.
    pub evaluations: u64,
    /// Time since the search began.
    pub elapsed: Duration,
    /// Plies of the best line.
    pub depth: u32,
    /// Plies of the longest line looked at.
    pub deepest: u32,
    /// How full the memory is, in permille.
    pub fullness: u32,
}

/// What a search has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// How it ended. No moves: the player to move has lost.
    pub progress: Progress,
    /// The reply expected to the best move.
    pub reply: Option<Move>,
}

/// What stays from search to search: the tree and the answers of the network.
pub struct Searcher {
    evaluator: Arc<dyn Evaluator>,
    memory: usize,
    tree: Tree,
    cache: Cache,
    solver: Solver,
    /// Whose answers the tree holds.
    terms: Option<Terms>,
}

/// Less is no search.
const LEAST_MEMORY: usize = 4 << 20;

impl Searcher {
    /// A searcher that asks `evaluator` and takes at most about `memory` bytes, at least 4 MiB: a fifth for answers of
    /// the network, a little for the mate solver, the rest for the tree.
    pub fn new(evaluator: Arc<dyn Evaluator>, memory: usize) -> Self {
        let memory = memory.max(LEAST_MEMORY);
        let table = (memory / 32).min(8 << 20);
        Self {
            evaluator,
            memory,
            tree: Tree::new(memory - memory / 5 - table),
            cache: Cache::new(memory / 5),
            solver: Solver::new(table / Solver::ENTRY),
            terms: None,
        }
    }

    /// Forgets everything, in no time.
    pub fn new_game(&mut self) {
        self.tree.clear();
        self.cache.clear();
    }

    /// Bytes taken from the machine, of those allowed.
    pub fn bytes(&self) -> (usize, usize) {
        (self.tree.bytes_held() + self.cache.bytes() + self.solver.bytes(), self.memory)
    }

    /// Searches the position of `game` until the clock, a limit, certainty or `progress` ends it. `progress` hears of
    /// the search every [`Task::tell`], and says whether to go on. What earlier searches of the same game found is used.
    ///
    /// # Errors
    /// When the evaluator fails.
    pub fn think(
        &mut self,
        game: &Game,
        task: &Task,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Outcome, EvaluatorError> {
        self.forget_under_other(&task.terms);
        let Some(root) = self.tree.root_for(game) else { return Ok(Outcome::default()) };
        Session::begin(self, game, task, root).run(progress)
    }

    /// What the rules made of a position does not hold under others.
    fn forget_under_other(&mut self, terms: &Terms) {
        let rules = |terms: &Terms| (terms.max_moves, terms.declaration);
        if self.terms.is_some_and(|known| rules(&known) != rules(terms)) {
            self.new_game();
        }
        self.terms = Some(*terms);
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
            noise: None,
            leaf_mate: 3,
            root_mate: true,
            tell: Duration::from_millis(20),
            deterministic: false,
        }
    }
}

/// Those of dlshogi.
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
