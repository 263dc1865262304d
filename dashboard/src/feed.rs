//! The queue from the thread that commits entries to the thread that shows them. Neither waits for the other.

use parking_lot::{Mutex, MutexGuard};
use referee::entry::Stamped;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    over: AtomicBool,
}

/// Queued batches, shared with the other readers of the entries, and the number of their entries.
#[derive(Debug, Default)]
struct Waiting {
    batches: Vec<Arc<[Stamped]>>,
    entries: usize,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock()
    }
}

/// The sending end. Dropping it closes the queue.
#[derive(Debug)]
pub struct Feed(Arc<Shared>);

/// The receiving end.
#[derive(Debug)]
pub struct Inbox(Arc<Shared>);

/// A queue, as its two ends.
pub fn pair() -> (Feed, Inbox) {
    let shared = Arc::new(Shared::default());
    (Feed(shared.clone()), Inbox(shared))
}

impl Feed {
    /// Queues entries for the next frame while the receiving end exists. No entry is copied.
    pub fn send(&self, batch: impl Into<Arc<[Stamped]>>) {
        if self.is_closed() {
            return;
        }
        let batch = batch.into();
        let mut waiting = self.0.waiting();
        waiting.entries += batch.len();
        waiting.batches.push(batch);
    }

    /// True if the receiving end is gone.
    pub fn is_closed(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
    }
}

impl Inbox {
    /// Every queued batch, in order.
    #[must_use]
    pub fn take(&self) -> Vec<Arc<[Stamped]>> {
        std::mem::take(&mut *self.0.waiting()).batches
    }

    /// Number of queued entries.
    pub fn waiting(&self) -> usize {
        self.0.waiting().entries
    }

    /// True if the sending end is gone, so that only queued entries remain.
    pub fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::entry::Entry;

    #[test]
    fn queued_batches_are_taken_together_and_in_order() {
        let (feed, inbox) = pair();
        for at in 0..5 {
            feed.send([Stamped { at, entry: Entry::Closed }]);
        }
        drop(feed);
        assert!(inbox.is_over());
        assert_eq!(
            inbox.take().iter().flat_map(|batch| batch.iter()).map(|stamped| stamped.at).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(inbox.waiting(), 0);
    }

    #[test]
    fn a_feed_without_its_receiver_is_closed_and_queues_nothing() {
        let (feed, inbox) = pair();
        assert!(!feed.is_closed());
        drop(inbox);
        assert!(feed.is_closed());
        feed.send([Stamped { at: 0, entry: Entry::Closed }]);
        assert!(feed.0.waiting().batches.is_empty(), "nothing piles up");
    }
}
