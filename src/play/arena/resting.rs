//! Threads that work now and then, until they are dropped.

use parking_lot::{Condvar, Mutex};
use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

/// A thread that rests between its work; the default is none. Dropping it wakes and ends it.
#[derive(Debug, Default)]
pub struct RestingThread {
    rest: Arc<Rest>,
    thread: Option<JoinHandle<()>>,
}

/// The rests of such a thread.
#[derive(Debug, Default)]
pub struct Rest {
    over: Mutex<bool>,
    ended: Condvar,
}

impl Rest {
    /// Waits; returns whether the thread is to end.
    pub fn ends_within(&self, time: Duration) -> bool {
        let mut over = self.over.lock();
        self.ended.wait_while_for(&mut over, |over| !*over, time);
        *over
    }
}

impl RestingThread {
    /// Starts a thread, whose work is to return when its rest ends.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn start(name: &str, work: impl FnOnce(&Rest) + Send + 'static) -> io::Result<Self> {
        let rest = Arc::<Rest>::default();
        let its = rest.clone();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || work(&its))?;
        Ok(Self { rest, thread: Some(thread) })
    }
}

impl Drop for RestingThread {
    fn drop(&mut self) {
        *self.rest.over.lock() = true;
        self.rest.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            let _panic_printed = thread.join();
        }
    }
}
