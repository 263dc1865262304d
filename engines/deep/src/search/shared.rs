//! State shared by all threads of a search: evaluator, tree, stop flags and counters.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::evaluator::{Evaluator, EvaluatorError};

use super::{Task, cache::Cache, tree::Tree};

/// State shared by all threads of a search.
pub struct Shared<'a> {
    pub evaluator: &'a dyn Evaluator,
    pub tree: &'a Tree,
    pub cache: &'a Cache,
    pub task: &'a Task,
    pub root: u32,
    pub counts: &'a Counts,
    /// True if the search has ended.
    over: AtomicBool,
    /// True if the search pauses because the memory is full.
    full: AtomicBool,
    /// True if the playouts have ended, so that a mate would come too late.
    idle: AtomicBool,
    fault: Mutex<Option<EvaluatorError>>,
}

/// Counters of a search.
#[derive(Debug)]
pub struct Counts {
    /// Completed playouts.
    pub playouts: AtomicU64,
    /// Evaluations by the network.
    pub evaluations: AtomicU64,
    /// Descents that ended at a leaf which waits for its evaluation.
    pub collisions: AtomicU64,
    /// Length of the longest path in plies.
    pub deepest: AtomicU32,
    /// Playouts that may still begin, if they are limited.
    left: Option<AtomicU64>,
}

impl Counts {
    /// Zero counters, with a limit of playouts.
    pub fn new(playouts: Option<u64>) -> Self {
        Self {
            playouts: AtomicU64::new(0),
            evaluations: AtomicU64::new(0),
            collisions: AtomicU64::new(0),
            deepest: AtomicU32::new(0),
            left: playouts.map(AtomicU64::new),
        }
    }

    /// Takes one playout from the limit; returns false if none is left. Without a limit nothing is written: every thread
    /// would wait for the cache line.
    pub fn begin_playout(&self) -> bool {
        let take = |left: &AtomicU64| left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok();
        self.left.as_ref().is_none_or(take)
    }

    /// Returns a playout that was abandoned.
    pub fn call_off_playout(&self) {
        self.left.iter().for_each(|left| {
            left.fetch_add(1, Relaxed);
        });
    }

    /// Notes the length of a path, which is rarely the longest.
    pub fn note_depth(&self, plies: u32) {
        if plies > self.deepest.load(Relaxed) {
            self.deepest.fetch_max(plies, Relaxed);
        }
    }
}

impl<'a> Shared<'a> {
    /// The state of a search from `root`.
    pub fn new(
        evaluator: &'a dyn Evaluator,
        (tree, cache): (&'a Tree, &'a Cache),
        task: &'a Task,
        root: u32,
        counts: &'a Counts,
    ) -> Self {
        Self {
            counts,
            evaluator,
            tree,
            cache,
            task,
            root,
            over: AtomicBool::new(false),
            full: AtomicBool::new(false),
            idle: AtomicBool::new(false),
            fault: Mutex::new(None),
        }
    }

    pub fn end(&self) {
        self.over.store(true, Relaxed);
    }

    /// Pauses the search because the memory is full.
    pub fn pause(&self) {
        self.full.store(true, Relaxed);
    }

    /// Stops the mate solver.
    pub fn end_solver(&self) {
        self.idle.store(true, Relaxed);
    }

    /// True if the search has ended or pauses.
    pub fn is_over(&self) -> bool {
        self.has_ended() || self.full.load(Relaxed)
    }

    fn has_ended(&self) -> bool {
        self.over.load(Relaxed) || self.task.clock.as_ref().is_some_and(|clock| clock.is_stopped())
    }

    /// True if the mate solver has to stop.
    pub fn is_solver_over(&self) -> bool {
        self.idle.load(Relaxed) || self.is_over()
    }

    /// True if the search pauses because the memory is full.
    pub fn is_paused(&self) -> bool {
        self.full.load(Relaxed) && !self.has_ended()
    }

    /// True if the root is proven.
    pub fn is_decided(&self) -> bool {
        self.task.lines <= 1 && self.tree.proof(self.tree.node(self.root)).is_some()
    }

    /// The error that ended the search, if any.
    pub fn fault(&self) -> Option<EvaluatorError> {
        self.fault.lock().take()
    }

    /// Ends the search with an error.
    pub fn fail(&self, fault: EvaluatorError) {
        *self.fault.lock() = Some(fault);
        self.end();
    }
}
