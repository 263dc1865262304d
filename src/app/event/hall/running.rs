//! What the running events of a hall do beside their entries.

use arena::operations::Operations;
use client::{presence::Presence, ratings::Ratings};
use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc};
use web::{Office, arbiter::Entrance};

/// What the running events of a hall do beside their entries, by their names in the hall. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Running(Arc<Mutex<BTreeMap<String, Asked>>>);

/// What is asked about an event, and its operations where its games are arranged here.
type Asked = (Option<Now>, Option<Operations>);

/// What is asked about a running event.
#[derive(Clone, Debug)]
pub enum Now {
    /// Players log in here.
    Host {
        /// Knows who is there.
        office: Office,
        /// Where they log in.
        entrance: Entrance,
    },
    /// An engine plays on a server.
    Seat {
        /// What it does.
        presence: Presence,
        /// The opponents' ratings.
        ratings: Ratings,
    },
}

impl Running {
    /// What is asked about an event; `None` while it does not run.
    pub fn of(&self, name: &str) -> Option<Now> {
        self.0.lock().get(name)?.0.clone()
    }

    /// The operations of an event whose games are arranged here.
    pub fn operations(&self, name: &str) -> Option<Operations> {
        self.0.lock().get(name)?.1.clone()
    }

    /// The operations of all events, with their names.
    pub fn all_operations(&self) -> Vec<(String, Operations)> {
        let running = self.0.lock();
        running
            .iter()
            .filter_map(|(name, (_, operations))| Some((name.clone(), operations.clone()?)))
            .collect()
    }

    pub(super) fn set(&self, name: &str, now: Option<Now>, operations: Option<Operations>) {
        self.0.lock().insert(name.to_owned(), (now, operations));
    }

    pub(super) fn forget(&self, name: &str) {
        self.0.lock().remove(name);
    }
}
