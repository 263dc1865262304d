//! The events of a hall: one table, which the hall, the threads of its events and the pages of a desk share.

use super::score::{self, Score, Standing};
use crate::{catalogue::Reins, gallery::ListedEvent, runner::Now};
use arena::{Say, operations::Operations};
use journal::now;
use parking_lot::{Mutex, MutexGuard};
use plan::hall::HallEvent;
use std::{collections::BTreeMap, sync::Arc};
use web::EventState;

/// The events of a hall, by their names. Clones share it. It is locked for a moment alone: never while a file is read, or
/// pages are opened.
#[derive(Clone, Default)]
pub struct Events(Arc<Mutex<BTreeMap<String, EventOfHall>>>);

/// An event of a hall. Its thread has a clone, as it was begun.
#[derive(Clone)]
pub(super) struct EventOfHall {
    /// Its name in the hall: that of its file without `.toml`.
    pub name: String,
    /// The text of its file when it was begun.
    pub text: String,
    pub terms: HallEvent,
    pub state: EventState,
    /// It was begun again while its last games are finished: it goes on by its file as it is then, however they end.
    pub again: bool,
    pub reins: Reins,
    pub score: Arc<Mutex<Option<Score>>>,
    pub say: Say,
    /// What is asked about it while it runs.
    pub now: Option<Now>,
    /// Its operations, while its games are arranged here.
    pub operations: Option<Operations>,
}

impl Events {
    /// What is asked about an event; `None` while it does not run.
    pub fn of(&self, name: &str) -> Option<Now> {
        self.get(name)?.now
    }

    /// The operations of an event whose games are arranged here.
    pub fn operations(&self, name: &str) -> Option<Operations> {
        self.get(name)?.operations
    }

    /// The operations of all events, with their names.
    pub fn all_operations(&self) -> Vec<(String, Operations)> {
        let of = |event: &EventOfHall| Some((event.name.clone(), event.operations.clone()?));
        self.lock().values().filter_map(of).collect()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, EventOfHall>> {
        self.0.lock()
    }

    pub(super) fn get(&self, name: &str) -> Option<EventOfHall> {
        self.lock().get(name).cloned()
    }

    /// Changes an event, if it is here.
    pub(super) fn change<T>(&self, name: &str, change: impl FnOnce(&mut EventOfHall) -> T) -> Option<T> {
        self.lock().get_mut(name).map(change)
    }

    /// True if an event is in such a state.
    pub(super) fn any(&self, is_so: impl Fn(&EventState) -> bool) -> bool {
        self.lock().values().any(|event| is_so(&event.state))
    }

    /// Prints how all of them stand.
    pub(super) fn print(&self) {
        let events: Vec<EventOfHall> = self.lock().values().cloned().collect();
        let standing =
            |event: &EventOfHall| Standing::new(&event.name, event.state.word(), event.score.lock().as_ref());
        score::print(events.iter().map(standing));
    }
}

impl EventOfHall {
    pub fn new(name: &str, text: String, terms: HallEvent, say: Say) -> Self {
        let (name, state) = (name.to_owned(), EventState::Waits);
        let (again, reins, score, now, operations) = Default::default();
        Self { name, text, terms, state, again, reins, score, say, now, operations }
    }

    /// True if it waits, and not for its hours.
    pub fn may_begin(&self) -> bool {
        self.state == EventState::Waits && self.is_open()
    }

    /// True in its hours.
    pub fn is_open(&self) -> bool {
        self.terms.window.is_open(now())
    }

    /// The event as the gallery lists it.
    pub fn listed(&self) -> ListedEvent<'_> {
        ListedEvent { name: &self.name, title: None, note: &self.terms.note }
    }
}
