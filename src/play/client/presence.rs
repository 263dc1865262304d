//! Where a client is, for those who watch it.

use journal::now;
use parking_lot::Mutex;
use std::sync::Arc;

/// What a client does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Its engine is started, or it logs in.
    #[default]
    Arrives,
    /// It is logged in, and waits for a game.
    Waits,
    /// It plays.
    Plays,
    /// The login failed or the connection broke; it logs in again after a while.
    Away,
}

/// A client as others see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// What it does.
    pub stage: Stage,
    /// Since when, in ms since 1970-01-01 UTC.
    pub since: i64,
    /// Logins that failed and connections that broke, in this run.
    pub failures: u64,
    /// The last of them, in words.
    pub last_failure: Option<String>,
}

/// What a client does now; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Presence(Arc<Mutex<Seen>>);

impl Presence {
    /// What the client does now.
    pub fn seen(&self) -> Seen {
        self.0.lock().clone()
    }

    pub(crate) fn set(&self, stage: Stage) {
        let mut seen = self.0.lock();
        if seen.stage != stage || seen.since == 0 {
            (seen.stage, seen.since) = (stage, now());
        }
    }

    pub(crate) fn failed(&self, why: &str) {
        self.set(Stage::Away);
        let mut seen = self.0.lock();
        seen.failures += 1;
        seen.last_failure = Some(notation::printable(why.as_bytes()));
    }
}
