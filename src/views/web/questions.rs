//! The queue for the store, and cached answers.

use crate::{catalogue::Catalogue, crowd::Crowd, lists::Found, turns::Turns};
use journal::{EventSummary, Store};
use parking_lot::Mutex;
use report::EventHistory;
use std::{
    fmt,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

/// A store that is open, and the event in it.
pub type Open = Option<(Store, EventSummary)>;

/// The queue for the store, and cached answers.
pub struct Questions {
    /// The queue, by address.
    pub turns: Arc<Turns<IpAddr>>,
    /// Idle connections to the store.
    pub open: Mutex<Vec<Open>>,
    /// The games that are over, as searches need them.
    pub catalogue: Mutex<Catalogue>,
    /// The newest games, and when they were searched for.
    pub newest: Mutex<Option<(Instant, Found)>>,
    /// The history of the event.
    pub history: Mutex<Option<KeptHistory>>,
}

/// A history, the number of its last entry, when it was made, and how long that took.
pub struct KeptHistory {
    pub history: Arc<EventHistory>,
    pub seq: u64,
    pub made: Instant,
    pub took: Duration,
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions").finish_non_exhaustive()
    }
}

impl Questions {
    /// Nothing is known yet; those who ask wait together with all others of the crowd.
    pub fn of(crowd: &Crowd) -> Self {
        let (open, catalogue, newest, history) = Default::default();
        Self { turns: crowd.0.questions.clone(), open, catalogue, newest, history }
    }
}
