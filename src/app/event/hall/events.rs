//! The events of a hall: one table, which the hall, the threads of its events and the pages of a desk share.

use super::score::{self, Score, Standing};
use crate::{catalogue::Reins, gallery::ListedEvent, runner::Now};
use arena::{Say, operations::Operations};
use journal::{Store, now};
use parking_lot::{Mutex, MutexGuard};
use plan::hall::HallEvent;
use platform::files::{Identity, Stamp, beside};
use std::{collections::BTreeMap, ops::Bound, path::PathBuf, sync::Arc};
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
    /// Its database, and its name there.
    pub stored: Option<(PathBuf, String)>,
    /// That database and its write-ahead log when somebody last looked for games to play again.
    pub seen: [Option<Contents>; 2],
}

/// What changes with the contents of a file: which file it is, its size, and when it was written. (Readers of a database who are
/// root give its log its owner anew.)
pub(super) type Contents = (Identity, u64, (i64, i64));

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

    /// Some of the events that have ended: the first ones behind a name, in the order of names and around. The name is that of
    /// the last of them then.
    pub(super) fn ended_after(&self, last: &mut String, most: usize) -> Vec<EventOfHall> {
        let has_ended = |event: &EventOfHall| matches!(event.state, EventState::Over | EventState::Halted(_));
        let events = self.lock();
        let behind = events.range::<str, _>((Bound::Excluded(last.as_str()), Bound::Unbounded));
        let around = behind.chain(events.range::<str, _>((Bound::Unbounded, Bound::Included(last.as_str()))));
        let ended: Vec<_> =
            around.filter(|(_, event)| has_ended(event)).take(most).map(|(_, event)| event.clone()).collect();
        ended.last().into_iter().for_each(|event| event.name.clone_into(last));
        ended
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
        let (again, reins, score, now, operations, stored, seen) = Default::default();
        Self { name, text, terms, state, again, reins, score, say, now, operations, stored, seen }
    }

    /// True if it waits, and not for its hours.
    pub fn may_begin(&self) -> bool {
        self.state == EventState::Waits && self.is_open()
    }

    /// True in its hours.
    pub fn is_open(&self) -> bool {
        self.terms.window.is_open(now())
    }

    /// True if an order has opened games again since its end. The database is read when its files have changed, and again
    /// while a process has the event open or it cannot be read.
    pub fn is_reopened(&mut self) -> bool {
        let Some((database, name)) = &self.stored else { return false };
        let log = beside(database, "-wal");
        let contents = |stamp: Stamp| (stamp.identity, stamp.bytes, stamp.modified);
        let now = [database, &log].map(|path| Stamp::at(path).ok().map(contents));
        if now == self.seen {
            return false;
        }
        let Ok(store) = Store::read(database) else { return false };
        let known = store.events().unwrap_or_default().into_iter().find(|known| known.name == *name);
        let Some(known) = known.filter(|known| !store.is_played(known.id)) else { return false };
        self.seen = now;
        known.ordered
    }

    /// The event as the gallery lists it.
    pub fn listed(&self) -> ListedEvent<'_> {
        ListedEvent { name: &self.name, title: None, note: &self.terms.note }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{EventHead, Journal};
    use referee::{
        entry::Entry,
        operation::{Action, Operation},
    };
    use std::fs;

    #[test]
    fn events_that_have_ended_are_looked_at_in_turn() {
        let events = Events::default();
        for name in ["a", "b", "c", "d", "e"] {
            let mut event =
                EventOfHall::new(name, String::new(), HallEvent::default(), Arc::new(|_: &str| ()));
            event.state = if name == "b" { EventState::Plays } else { EventState::Over };
            events.lock().insert(name.to_owned(), event);
        }
        let mut last = String::new();
        let mut next = |most| {
            events.ended_after(&mut last, most).iter().map(|event| event.name.clone()).collect::<String>()
        };
        assert_eq!([3, 3, 9].map(&mut next), ["acd", "eac", "deac"]);
    }

    #[test]
    fn an_event_has_games_to_play_again_once_an_order_has_opened_it_and_nobody_else_has_it_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cup.db");
        let opening = || {
            let head = EventHead { name: "cup", kind: "run", plan: "{}", fingerprint: "{}" };
            Journal::open(&path, &head).unwrap()
        };
        let play = |entries: Vec<Entry>| {
            let journal = opening().start(vec![], || ()).unwrap();
            entries.into_iter().for_each(|entry| journal.happened(entry));
            drop(journal.finish().unwrap());
        };
        let order = |number| {
            let (by, reason) = ("kai".to_owned(), String::new());
            Entry::Operator(Box::new(Operation { number, by, reason, undoes: None, action: Action::Paused }))
        };
        let mut event = EventOfHall::new("cup", String::new(), HallEvent::default(), Arc::new(|_: &str| ()));
        event.stored = Some((path.clone(), "cup".to_owned()));
        assert!(!event.is_reopened(), "nothing was played");
        play(vec![order(1), Entry::Closed]);
        assert!(!event.is_reopened());
        let seen = event.seen;
        fs::set_permissions(&path, fs::metadata(&path).unwrap().permissions()).unwrap();
        assert!(!event.is_reopened() && event.seen == seen, "its contents are the same");
        let reopened = opening();
        reopened.writer().reopen(reopened.event().event).unwrap();
        assert!(!event.is_reopened(), "it is still open");
        drop(reopened);
        assert!(event.is_reopened());
        let halt = Entry::Fault { player: None, text: "halted".to_owned() };
        play(vec![halt]);
        assert!(!event.is_reopened(), "the order is older than the halt");
        play(vec![order(2)]);
        assert!(event.is_reopened());
    }
}
