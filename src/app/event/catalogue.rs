//! Events that are played beside each other, each on a thread of its own: those of a hall, the tests of a queue.

use crate::Failure;
use arena::{Shutdown, turnstile::Lane};
use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Weak,
        mpsc::{self, Receiver, Sender},
    },
    thread::Scope,
    time::Duration,
};

/// Longest wait for the end of an event, before the events that are wanted are looked at again.
const GLANCE: Duration = Duration::from_millis(200);

/// What ends an event, and its way to the cores, as its thread and its catalogue know them.
#[derive(Clone, Default)]
pub(crate) struct Reins {
    pub shutdown: Shutdown,
    lane: Arc<Mutex<Weak<Lane>>>,
}

impl Reins {
    /// Lets the games of the event go this way, which ends with the event, whatever ends that.
    pub fn lead(&self, lane: Lane) -> Arc<Lane> {
        let lane = Arc::new(lane);
        *self.lane.lock() = Arc::downgrade(&lane);
        lane
    }

    /// The way of its games to the cores, while it is played.
    pub fn lane(&self) -> Option<Arc<Lane>> {
        self.lane.lock().upgrade()
    }
}

/// How the playing of an event ended.
type Ended<K, T> = (K, Result<T, Failure>);

/// The events that are played, by their names. Dropping it lets all of them finish their games.
pub(crate) struct Catalogue<'scope, 'env, K, T> {
    scope: &'scope Scope<'scope, 'env>,
    ended: Sender<Ended<K, T>>,
    inbox: Receiver<Ended<K, T>>,
    playing: BTreeMap<K, Reins>,
}

impl<'scope, 'env, K: Clone + Ord + Send + 'scope, T: Send + 'scope> Catalogue<'scope, 'env, K, T> {
    pub fn new(scope: &'scope Scope<'scope, 'env>) -> Self {
        let (ended, inbox) = mpsc::channel();
        Self { scope, ended, inbox, playing: BTreeMap::new() }
    }

    /// The events that are played.
    pub fn playing(&self) -> &BTreeMap<K, Reins> {
        &self.playing
    }

    /// Plays an event. Its end is heard however it comes, also by a panic.
    pub fn begin(&mut self, key: K, reins: Reins, play: impl FnOnce() -> Result<T, Failure> + Send + 'scope) {
        self.playing.insert(key.clone(), reins);
        let ended = self.ended.clone();
        self.scope.spawn(move || {
            let played = catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|_panic_printed| {
                let why =
                    "a fault of Renmei ended it; the lines above say where, and what was played is kept";
                Err(Failure::Other(why.to_owned()))
            });
            // The receiver is gone only after a failure.
            let _told = ended.send((key, played));
        });
    }

    /// Passes the wish to end on to all events.
    pub fn pass_on(&self, shutdown: &Shutdown) {
        for reins in self.playing.values() {
            match () {
                () if shutdown.is_adjourning() => reins.shutdown.adjourn(),
                () if shutdown.is_finishing() => reins.shutdown.finish(),
                () => {}
            }
        }
    }

    /// Waits a while for the end of an event; how it ended, and whether that was asked for.
    pub fn next_end(&mut self) -> Option<(K, Result<T, Failure>, bool)> {
        let (key, ended) = self.inbox.recv_timeout(GLANCE).ok()?;
        let reins = self.playing.remove(&key)?;
        Some((key, ended, reins.shutdown.is_finishing()))
    }
}

impl<K, T> Drop for Catalogue<'_, '_, K, T> {
    fn drop(&mut self) {
        self.playing.values().for_each(|reins| reins.shutdown.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena::turnstile::Turnstile;
    use std::thread;

    #[test]
    fn an_event_whose_thread_panics_has_ended_and_its_places_are_free() {
        let turnstile = Turnstile::new(1);
        thread::scope(|scope| {
            let mut catalogue = Catalogue::<_, ()>::new(scope);
            let reins = Reins::default();
            let own = reins.clone();
            let lane = turnstile.lane(100);
            catalogue.begin("cup", reins.clone(), move || {
                let lane = own.lead(lane);
                assert!(lane.enter());
                panic!("a test's panic");
            });
            let (name, ended, is_asked) = loop {
                if let Some(end) = catalogue.next_end() {
                    break end;
                }
            };
            assert_eq!((name, is_asked, catalogue.playing().len()), ("cup", false, 0));
            assert!(ended.unwrap_err().to_string().starts_with("a fault of Renmei ended it"));
            assert!(reins.lane().is_none());
            assert!(turnstile.lane(100).enter(), "the place is free");
        });
    }

    #[test]
    fn a_catalogue_that_is_given_up_lets_its_events_finish() {
        let shutdown = Shutdown::default();
        thread::scope(|scope| {
            let mut catalogue = Catalogue::new(scope);
            let reins = Reins { shutdown: shutdown.clone(), ..Reins::default() };
            let until = shutdown.clone();
            catalogue.begin(1, reins, move || {
                while !until.is_finishing() {
                    thread::yield_now();
                }
                Ok(())
            });
            drop(catalogue);
        });
        assert!(shutdown.is_finishing() && !shutdown.is_adjourning());
    }
}
