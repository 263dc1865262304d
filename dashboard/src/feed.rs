//! From the thread that commits events to the thread that shows them: neither waits for the other.

use referee::event::Stamped;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Vec<Stamped>>,
    over: AtomicBool,
}

/// The end that is told. Dropping it tells the screen that nothing more will come.
#[derive(Debug)]
pub struct Feed(Arc<Shared>);

/// The end that shows.
#[derive(Debug)]
pub struct Inbox(Arc<Shared>);

/// Both ends.
#[must_use]
pub fn pair() -> (Feed, Inbox) {
    let shared = Arc::new(Shared::default());
    (Feed(shared.clone()), Inbox(shared))
}

impl Feed {
    /// Leaves events for the next frame, while anybody looks. Never blocks for longer than it takes to move them.
    pub fn tell(&self, batch: &[Stamped]) {
        if self.is_deserted() {
            return;
        }
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(batch);
    }

    /// Whether nobody will look any more.
    #[must_use]
    pub fn is_deserted(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
    }
}

impl Inbox {
    /// Everything that came since the last time, in order.
    #[must_use]
    pub fn take(&self) -> Vec<Stamped> {
        std::mem::take(&mut *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many events wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether nothing more will come but what waits.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::event::Event;

    #[test]
    fn batches_that_nobody_fetched_in_time_are_fetched_together_and_in_order() {
        let (feed, inbox) = pair();
        for at in 0..5 {
            feed.tell(&[Stamped { at, event: Event::Closed }]);
        }
        drop(feed);
        assert!(inbox.is_over());
        assert_eq!(inbox.take().iter().map(|stamped| stamped.at).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(inbox.waiting(), 0);
    }

    #[test]
    fn a_feed_learns_that_nobody_looks() {
        let (feed, inbox) = pair();
        assert!(!feed.is_deserted());
        drop(inbox);
        assert!(feed.is_deserted());
        feed.tell(&[Stamped { at: 0, event: Event::Closed }]);
        assert!(feed.0.waiting.lock().unwrap().is_empty(), "nothing piles up");
    }
}
