//! One search, from start to end.

use std::{
    cell::Cell,
    convert::Infallible,
    sync::{
        OnceLock,
        atomic::Ordering::Relaxed,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use rsshogi::types::Move;
use usi_shell::Game;

use super::{
    Outcome, Progress, Proven,
    mate::{Mate, Solver},
    proof::Proof,
    report::Reporter,
    shared::Shared,
    worker::Worker,
};

/// Node limit of the mate solver before the search: a mate found within it is played at once.
const FIRST_LOOK: u64 = 500;

/// Node limit of the mate solver beside the search: one to two seconds.
const LONG_LOOK: u64 = 400_000;

/// Node limit of the mate solver before a deterministic search.
const FIXED_LOOK: u64 = 20_000;

/// How long a solver that is ahead of its pace sleeps.
const NAP: Duration = Duration::from_millis(1);

/// Playouts between calls of `progress` in a deterministic search.
const FIXED_TELL: u64 = 64;

/// A running search.
pub struct Session<'a> {
    pub shared: &'a Shared<'a>,
    pub game: &'a Game,
    /// A mate that the solver found.
    pub mate: &'a OnceLock<Vec<Move>>,
    pub begun: Instant,
    /// Bytes of memory allowed.
    pub memory: usize,
}

/// How fast the mate solver may be beside a search. Where the threads of the search have every core, each of its nodes is
/// taken from them: it looks at one node for each playout then, which costs some 3 %, and not at hundreds of thousands in the
/// first seconds.
#[derive(Debug, Default)]
struct Pace {
    /// True if there is no core for it.
    slow: bool,
    nodes: Cell<u64>,
}

impl Pace {
    fn beside(shared: &Shared<'_>) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self { slow: shared.task.threads >= cores, nodes: Cell::new(0) }
    }

    /// Waits until the playouts have caught up, or the search has ended. Called when the solver asks whether to stop.
    fn wait(&self, shared: &Shared<'_>) {
        self.nodes.set(self.nodes.get() + Solver::BETWEEN);
        while self.slow && !shared.is_solver_over() && shared.counts.playouts.load(Relaxed) < self.nodes.get()
        {
            thread::sleep(NAP);
        }
    }
}

impl Session<'_> {
    /// Searches until the end, or until the memory is full; `shared` distinguishes the two.
    pub fn search(&self, solver: &mut Solver, progress: &mut dyn FnMut(&Progress) -> bool) {
        Worker::new(self.shared, self.game).open_root();
        let task = self.shared.task;
        if task.root_mate {
            let nodes = if task.deterministic { FIXED_LOOK } else { FIRST_LOOK };
            self.look_for_mate(solver, nodes, &Pace::default());
        }
        if task.deterministic {
            self.search_alone(progress);
        } else {
            self.search_together(solver, progress);
        }
    }

    fn search_alone(&self, progress: &mut dyn FnMut(&Progress) -> bool) {
        let mut reported = 0;
        Worker::new(self.shared, self.game).run(|| {
            let playouts = self.shared.counts.playouts.load(Relaxed) / FIXED_TELL;
            if playouts > reported {
                reported = playouts;
                self.report(progress);
            }
        });
    }

    fn search_together(&self, solver: &mut Solver, progress: &mut dyn FnMut(&Progress) -> bool) {
        // Disconnected when the last thread has ended, also by a panic.
        let (present, all_gone) = mpsc::channel::<Infallible>();
        thread::scope(|scope| {
            for _ in 0..self.shared.task.threads.max(1) {
                let present = present.clone();
                scope.spawn(move || {
                    let _present = present;
                    Worker::new(self.shared, self.game).run(|| ());
                });
            }
            drop(present);
            if self.shared.task.root_mate && self.mate.get().is_none() {
                let pace = Pace::beside(self.shared);
                scope.spawn(move || self.look_for_mate(solver, LONG_LOOK, &pace));
            }
            let interval = self.shared.task.report_interval;
            while matches!(all_gone.recv_timeout(interval), Err(RecvTimeoutError::Timeout)) {
                self.report(progress);
            }
            self.shared.end_solver();
        });
    }

    /// Reports to the caller, who may end the search.
    fn report(&self, progress: &mut dyn FnMut(&Progress) -> bool) {
        let now = self.now();
        let deep = self.shared.task.depth.is_some_and(|depth| now.depth >= depth);
        if !progress(&now) || deep {
            self.shared.end();
        }
    }

    fn look_for_mate(&self, solver: &mut Solver, nodes: u64, pace: &Pace) {
        let stop = || {
            pace.wait(self.shared);
            self.shared.is_solver_over()
        };
        let found = solver.solve(self.game.position(), nodes, &stop);
        if let Mate::Moves(line) = found
            && self.is_in_time(line.len())
        {
            self.note_mate(line);
        }
    }

    /// True if the maximum number of moves allows this many more plies.
    fn is_in_time(&self, plies: usize) -> bool {
        let most = self.shared.task.terms.max_moves as usize;
        most == 0 || self.game.ply() as usize - 1 + plies <= most
    }

    fn note_mate(&self, line: Vec<Move>) {
        let (tree, root) = (self.shared.tree, self.shared.tree.node(self.shared.root));
        let number = line.first().and_then(|&first| tree.number_of(root, first));
        if let Some((_, child)) = number.and_then(|number| tree.child(root, number)) {
            tree.prove(tree.node(child), Proof::firm(Proven::Loss(line.len() as u32 - 1)));
            tree.conclude(root);
        }
        // There is no other writer during this search.
        let _ = self.mate.set(line);
        if self.shared.task.lines <= 1 {
            self.shared.end();
        }
    }

    fn now(&self) -> Progress {
        let shared = self.shared;
        let reporter = Reporter {
            tree: shared.tree,
            root: shared.root,
            draw: shared.task.terms.draw_value(self.game.position().turn()),
            mate: self.mate.get().map(Vec::as_slice),
        };
        let used = shared.tree.bytes_used() + shared.cache.bytes();
        let progress = Progress {
            playouts: shared.counts.playouts.load(Relaxed),
            evaluations: shared.counts.evaluations.load(Relaxed),
            collisions: shared.counts.collisions.load(Relaxed),
            elapsed: self.begun.elapsed(),
            deepest: shared.counts.deepest.load(Relaxed),
            fullness: (used as u64 * 1000 / self.memory as u64).min(1000) as u32,
            ..Progress::default()
        };
        reporter.complete(shared.task.lines, progress)
    }

    /// The result as far as it goes.
    pub fn outcome(&self) -> Outcome {
        let progress = self.now();
        let reply = progress.moves.first().and_then(|best| best.line.get(1).copied());
        Outcome { progress, reply }
    }
}
