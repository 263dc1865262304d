//! A thread on which actors run, as other threads see it.

use crate::lag::SchedulerLag;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// A thread on which actors run: a current-thread runtime. A connection moves to the thread of its game and back.
#[derive(Clone, Debug)]
pub struct ActorThread {
    runtime: Handle,
    /// The actors on it; closed when the thread ends.
    pub actors: TaskTracker,
    /// Its lag.
    pub lag: Arc<SchedulerLag>,
}

impl ActorThread {
    /// The thread of the runtime that this is called on.
    pub fn current() -> Self {
        Self { runtime: Handle::current(), actors: TaskTracker::new(), lag: Arc::default() }
    }

    /// Starts an actor on the thread, from any thread. A thread that has ended drops it.
    pub fn start(&self, actor: impl Future<Output = ()> + Send + 'static) {
        self.actors.spawn_on(actor, &self.runtime);
    }

    /// Starts something on the thread that nobody waits for.
    pub fn run(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }
}
