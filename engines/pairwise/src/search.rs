//! The search: which move is best, and how deep that was looked into.
//!
//! Read [`Searcher::think`] first: threads that deepen side by side and share what they find out in the
//! `table`. Then `root` (one thread's deepening), `tree` (what happens below the root), `quiescence`
//! (and at its leaves), `order` and `history` (which moves come first), `path` (repetition).

mod exchange;
mod history;
mod order;
mod quiescence;
mod reduction;
mod root;
mod table;
mod tree;
mod value;
mod worker;

use std::thread;

use rsshogi::types::Move;
use usi_shell::{Clock, Game};

use crate::evaluation::Weights;
use history::History;
use root::Deepening;
pub use root::{Found, RootMove};
use table::Table;
pub use value::{MAX_PLY, is_decided, is_loss, to_score};
pub use worker::Terms;
use worker::{Shared, Worker};

/// What one search is to do.
#[derive(Clone, Default)]
pub struct Task {
    /// When to end; without it, only the other limits end the search.
    pub clock: Option<Clock>,
    /// Greatest depth in plies.
    pub depth: Option<u32>,
    /// Greatest number of positions, all threads together.
    pub nodes: Option<u64>,
    /// How many lines are wanted, from 1.
    pub lines: usize,
    /// How many threads search, from 1.
    pub threads: usize,
    /// What may be taken for granted.
    pub terms: Terms,
}

/// How a search is going.
#[derive(Clone, Debug)]
pub struct Progress {
    /// What the last depth has found.
    pub found: Found,
    /// Positions visited by all threads.
    pub nodes: u64,
    /// How full the table is, in permille.
    pub fullness: u32,
    /// How many legal moves there are.
    pub choices: usize,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The moves, the best first; empty if the mover has lost.
    pub moves: Vec<RootMove>,
    /// Positions visited by all threads.
    pub nodes: u64,
    /// The depth that was searched last, if only in part.
    pub depth: u32,
    /// The reply expected to the best move.
    pub reply: Option<Move>,
}

/// What stays from search to search: the table and what the threads have learned of moves.
pub struct Searcher {
    table: Table,
    histories: Vec<History>,
}

impl Searcher {
    /// A searcher with a table of about `megabytes` MiB.
    #[must_use]
    pub fn new(megabytes: usize) -> Self {
        Self { table: Table::new(megabytes), histories: Vec::new() }
    }

    /// Changes the size of the table, which forgets its contents.
    pub fn resize(&mut self, megabytes: usize) {
        if self.table.megabytes() != megabytes {
            self.table = Table::new(megabytes);
        }
    }

    /// Forgets everything, so that a search can be repeated.
    pub fn clear(&mut self) {
        self.table.clear();
        self.histories.iter_mut().for_each(History::clear);
    }

    /// Searches the position of `game`. After each depth `judge` hears of it, and says whether to go on.
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

/// Deepens until nobody is interested any more.
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
    let reply = moves.first().and_then(|best| worker.expected_reply(best));
    Outcome { moves, nodes, depth, reply }
}

/// Deepens beside the leading thread, for what it leaves in the table.
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
