//! The queue from the reader of the committed entries to the thread that shows them. The reader waits while the queue is
//! full; it is a thread of its own, and goes on from the database.

use parking_lot::{Condvar, Mutex, MutexGuard};
use referee::entry::Stamped;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Entries that wait at most, beside the last batch.
const MOST: usize = 64 * 1024;

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    taken: Condvar,
    /// True if the sending end is gone.
    over: AtomicBool,
    /// True if the receiving end is gone.
    closed: AtomicBool,
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
    /// Queues entries for the next frame while the receiving end exists, once there is room. No entry is copied.
    pub fn send(&self, batch: impl Into<Arc<[Stamped]>>) {
        let batch = batch.into();
        let mut waiting = self.0.waiting();
        self.0.taken.wait_while(&mut waiting, |waiting| waiting.entries >= MOST && !self.is_closed());
        if self.is_closed() {
            return;
        }
        waiting.entries += batch.len();
        waiting.batches.push(batch);
    }

    /// True if the receiving end is gone.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let waiting = self.0.waiting();
        self.0.closed.store(true, Ordering::Release);
        drop(waiting);
        self.0.taken.notify_all();
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
        let batches = std::mem::take(&mut *self.0.waiting()).batches;
        self.0.taken.notify_all();
        batches
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
    fn a_full_queue_holds_up_its_reader_until_the_screen_takes_it_or_is_gone() {
        let (feed, inbox) = pair();
        let batch: Arc<[Stamped]> = (0..MOST as i64).map(|at| Stamped { at, entry: Entry::Closed }).collect();
        feed.send(batch.clone());
        let sender = std::thread::spawn(move || {
            (0..3).for_each(|_| feed.send(batch.clone()));
            feed
        });
        assert_eq!(inbox.take().len(), 1);
        drop(inbox);
        assert!(sender.join().unwrap().is_closed());
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
