//! How play is ended: first no new games, then no games at all.

use parking_lot::Mutex;
use std::{fmt, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The state of the shutdown, shared by everything that plays. It never goes back.
#[derive(Clone, Debug, Default)]
pub struct Shutdown(Arc<State>);

#[derive(Default)]
struct State {
    finish: CancellationToken,
    adjourn: CancellationToken,
    watchers: Mutex<Vec<Box<dyn Fn() + Send>>>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown").field("finish", &self.finish).field("adjourn", &self.adjourn).finish()
    }
}

impl Shutdown {
    /// No new games; those that run are finished.
    pub fn finish(&self) {
        self.0.finish.cancel();
        self.call_watchers();
    }

    /// The running games end now: they are adjourned, or, on a foreign server, resigned.
    pub fn adjourn(&self) {
        self.0.finish.cancel();
        self.0.adjourn.cancel();
        self.call_watchers();
    }

    /// True if no new games begin.
    pub fn is_finishing(&self) -> bool {
        self.0.finish.is_cancelled()
    }

    /// True if the running games end.
    pub fn is_adjourning(&self) -> bool {
        self.0.adjourn.is_cancelled()
    }

    /// Cancelled once no new games begin.
    pub fn finishing(&self) -> &CancellationToken {
        &self.0.finish
    }

    /// Cancelled once the running games end.
    pub fn adjourning(&self) -> &CancellationToken {
        &self.0.adjourn
    }

    /// Calls `watcher` at each change, for those who cannot wait for a token.
    pub fn watch(&self, watcher: impl Fn() + Send + 'static) {
        self.0.watchers.lock().push(Box::new(watcher));
    }

    fn call_watchers(&self) {
        self.0.watchers.lock().iter().for_each(|watcher| watcher());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn adjourning_finishes_too_and_watchers_hear_of_each_change() {
        let (shutdown, calls) = (Shutdown::default(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&calls);
        shutdown.watch(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        assert!(!shutdown.is_finishing());
        shutdown.finish();
        assert!(shutdown.is_finishing() && !shutdown.is_adjourning());
        shutdown.adjourn();
        assert!(shutdown.finishing().is_cancelled() && shutdown.adjourning().is_cancelled());
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }
}
