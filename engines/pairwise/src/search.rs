//! The search. Read [`Searcher::think`] first: lazy SMP, threads that search the same position and share the
//! transposition `table`. Then `root` (iterative deepening of one thread), `tree` (principal variation search),
//! `quiescence` (at its leaves), `order` and `history` (move ordering), [`usi_shell::path`] (repetitions).

mod exchange;
mod history;
mod node;
mod order;
mod parts;
mod quiescence;
mod reduction;
mod root;
mod table;
mod tree;
mod tuned;
mod value;
mod worker;

use std::thread;

use rsshogi::types::Move;
use usi_shell::{Clock, Game};

use crate::evaluation::Weights;
use history::History;
pub use parts::Parts;
use root::Deepening;
pub use root::{Found, RootMove};
use table::Table;
pub use tuned::Tuned;
pub use value::{MAX_PLY, is_decided, is_loss, to_score};
pub use worker::Terms;
use worker::{Shared, Worker};

/// Parameters of one search.
#[derive(Clone, Default)]
pub struct Task {
    /// Time limit; without it only the other limits end the search.
    pub clock: Option<Clock>,
    /// Maximum depth in plies.
    pub depth: Option<u32>,
    /// Maximum number of nodes, all threads together.
    pub nodes: Option<u64>,
    /// Number of principal variations, from 1.
    pub lines: usize,
    /// Number of threads, from 1.
    pub threads: usize,
    /// Rules and draw value.
    pub terms: Terms,
}

/// Intermediate result of a search.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Result of the last iteration.
    pub found: Found,
    /// Nodes searched by all threads.
    pub nodes: u64,
    /// Occupancy of the table, in permille.
    pub fullness: u32,
    /// Number of legal moves.
    pub choices: usize,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The root moves, best first; empty if the side to move has lost.
    pub moves: Vec<RootMove>,
    /// Nodes searched by all threads.
    pub nodes: u64,
    /// Depth of the last iteration, complete or not.
    pub depth: u32,
    /// The expected reply to the best move.
    pub reply: Option<Move>,
}

/// State kept between searches: the transposition table and the history tables.
pub struct Searcher {
    table: Table,
    histories: Vec<History>,
}

impl Searcher {
    /// A searcher with a table of about `megabytes` MiB.
    pub fn new(megabytes: usize) -> Self {
        Self { table: Table::new(megabytes), histories: Vec::new() }
    }

    /// Resizes the table, which clears it.
    pub fn resize(&mut self, megabytes: usize) {
        if self.table.megabytes() != megabytes {
            self.table = Table::new(megabytes);
        }
    }

    /// Clears all tables, so that a search is reproducible.
    pub fn clear(&mut self) {
        self.table.clear();
        self.histories.iter_mut().for_each(History::clear);
    }

    /// Searches the position of `game`. After each iteration `judge` receives the progress and returns whether
    /// to continue.
    pub fn think(
        &mut self,
        weights: &Weights,
        game: &Game,
        task: &Task,
        mut judge: impl FnMut(&Progress) -> bool,
    ) -> Outcome {
        self.table.age();
        self.histories.resize_with(task.threads.max(1), History::default);
        let shared = Shared::new(weights, &self.table, task.terms, task.clock.clone(), task.nodes);
        let shared = &shared;
        let (first, helpers) = self.histories.split_at_mut(1);
        thread::scope(|scope| {
            for history in helpers {
                scope.spawn(move || help(shared, history, game));
            }
            let mut worker = Worker::new(shared, &mut first[0], game);
            let outcome = lead(&mut worker, task, &mut judge);
            shared.stop();
            outcome
        })
    }
}

fn greatest_depth(task: &Task) -> u32 {
    task.depth.unwrap_or(u32::MAX).clamp(1, MAX_PLY as u32 - 1)
}

/// Iterative deepening of the main thread until a limit is reached or `judge` ends the search.
fn lead(worker: &mut Worker<'_>, task: &Task, judge: &mut impl FnMut(&Progress) -> bool) -> Outcome {
    let table = worker.table();
    let mut deepening = Deepening::new(worker, task.lines);
    if !deepening.moves().is_empty() {
        for _ in 0..greatest_depth(task) {
            let Some(found) = deepening.deepen() else { break };
            let nodes = deepening.worker().nodes_of_all();
            let choices = deepening.moves().len();
            if !judge(&Progress { found, nodes, fullness: table.fullness(), choices }) {
                break;
            }
        }
    }
    let (moves, depth) = (deepening.moves().to_vec(), deepening.depth());
    let nodes = worker.nodes_of_all();
    let reply = moves.first().and_then(|best| worker.expected_reply(&best.line));
    Outcome { moves, nodes, depth, reply }
}

/// Iterative deepening of a helper thread, for its entries in the table.
fn help(shared: &Shared<'_>, history: &mut History, game: &Game) {
    let mut worker = Worker::new(shared, history, game);
    let mut deepening = Deepening::new(&mut worker, 1);
    if deepening.moves().is_empty() {
        return;
    }
    while deepening.depth() < MAX_PLY as u32 - 1 {
        if deepening.deepen().is_none() {
            return;
        }
    }
}
