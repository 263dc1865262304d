//! What all threads of a search share: the network, the tree, when to stop, and what was done so far.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
};

use rsshogi::types::Color;

use crate::evaluator::{Evaluator, EvaluatorError};

use super::{Task, cache::Cache, tree::Tree};

/// What all threads of a search share.
pub struct Shared<'a> {
    /// The network.
    pub evaluator: &'a dyn Evaluator,
    /// The tree.
    pub tree: &'a Tree,
    /// Answers known.
    pub cache: &'a Cache,
    /// What to do.
    pub task: &'a Task,
    /// The root.
    pub root: u32,
    /// Priors of the root's moves, if they are not the network's.
    pub priors: Option<Vec<f32>>,
    /// What was done so far.
    pub counts: &'a Counts,
    /// Whether it is over.
    over: AtomicBool,
    /// Whether it pauses because the memory is used up.
    full: AtomicBool,
    /// Whether there are no playouts any more that a mate could help.
    idle: AtomicBool,
    fault: Mutex<Option<EvaluatorError>>,
}

/// What a search has done so far.
#[derive(Debug)]
pub struct Counts {
    /// Playouts ended.
    pub playouts: AtomicU64,
    /// Positions that the network was asked about.
    pub evaluations: AtomicU64,
    /// Plies of the longest line.
    pub deepest: AtomicU32,
    /// Playouts that may still begin.
    left: AtomicU64,
}

impl Counts {
    /// Nothing done, so many playouts to be done at most.
    pub fn new(playouts: Option<u64>) -> Self {
        Self {
            playouts: AtomicU64::new(0),
            evaluations: AtomicU64::new(0),
            deepest: AtomicU32::new(0),
            left: AtomicU64::new(playouts.unwrap_or(u64::MAX)),
        }
    }

    /// Whether a playout may still begin; if so, it has.
    pub fn begin_playout(&self) -> bool {
        self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// A playout that began comes to nothing.
    pub fn call_off_playout(&self) {
        self.left.fetch_add(1, Relaxed);
    }
}

impl<'a> Shared<'a> {
    /// A search that begins at `root`.
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
            priors: None,
            over: AtomicBool::new(false),
            full: AtomicBool::new(false),
            idle: AtomicBool::new(false),
            fault: Mutex::new(None),
        }
    }

    /// Ends it.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
    }

    /// Stops it because the memory is used up.
    pub fn pause(&self) {
        self.full.store(true, Relaxed);
    }

    /// Lets the solver know that nobody waits for it.
    pub fn end_solver(&self) {
        self.idle.store(true, Relaxed);
    }

    /// Whether it is over, or pauses.
    pub fn is_over(&self) -> bool {
        self.has_ended() || self.full.load(Relaxed)
    }

    fn has_ended(&self) -> bool {
        self.over.load(Relaxed) || self.task.clock.as_ref().is_some_and(|clock| clock.is_stopped())
    }

    /// Whether a solver is to give up.
    pub fn is_solver_over(&self) -> bool {
        self.idle.load(Relaxed) || self.is_over()
    }

    /// Whether it only pauses because the memory is used up.
    pub fn is_paused(&self) -> bool {
        self.full.load(Relaxed) && !self.has_ended()
    }

    /// Whether there is nothing more to find out.
    pub fn is_decided(&self) -> bool {
        self.task.lines <= 1 && self.tree.proof(self.tree.node(self.root)).is_some()
    }

    /// What went wrong, if anything did.
    pub fn fault(&self) -> Option<EvaluatorError> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The value of a draw for a player.
    pub fn draw_value(&self, player: Color) -> f32 {
        let terms = &self.task.terms;
        if player == Color::BLACK { terms.draw_black } else { terms.draw_white }
    }

    /// Ends it by a fault.
    pub fn fail(&self, fault: EvaluatorError) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
        self.end();
    }
}
