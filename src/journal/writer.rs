//! The one thread that writes.
//!
//! What comes in waits in a list; the thread takes all of it at once, writes it in one transaction and commits. A
//! lone game end is committed at once; while ends come thick and fast, their commits are [`LINGER`] apart, so that a
//! ply's share of them stays small; moves that nothing urgent follows wait for [`PATIENCE`].

use super::{Aside, EventId, Store, StoreError, insert::Rows};
use referee::event::{Event, Stamped};
use std::{
    mem,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How long moves may wait for a commit.
const PATIENCE: Duration = Duration::from_millis(200);
/// From one commit to the next while games end all the time.
const LINGER: Duration = Duration::from_millis(10);
/// This many waiting events are committed whatever the time.
const MANY: usize = 4096;
/// With this many waiting events, those who bring more have to wait: the disk does not keep up.
const LIMIT: usize = 4 * MANY;

/// The way into an event's rows while it is played. Shared by reference between the threads of the games.
#[derive(Debug)]
pub struct Writer {
    inbox: Arc<Inbox>,
    path: PathBuf,
    thread: Option<JoinHandle<Store>>,
}

impl Writer {
    /// Starts the thread. It calls `committed` with every batch once the batch is on the disk.
    pub(super) fn start(
        store: Store,
        event: EventId,
        committed: impl FnMut(Vec<Stamped>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let inbox = Arc::new(Inbox::default());
        let path = store.path().to_owned();
        let guard = Guard { inbox: Arc::clone(&inbox), path: path.clone() };
        let thread = thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || {
                if let Err((unwritten, error)) = pump(&store, event, &guard.inbox, committed) {
                    guard.inbox.fail(unwritten, error);
                }
                store
            })
            .map_err(|source| StoreError::Thread { path: path.clone(), source: Arc::new(source) })?;
        Ok(Self { inbox, path, thread: Some(thread) })
    }

    /// Hands over what happened, in order. Returns at once, except while the disk cannot keep up; for that reason it
    /// is not to be called from `committed`, which would then wait for itself.
    ///
    /// # Errors
    /// [`StoreError::Stopped`] once the disk has failed: nothing since the last commit is stored, nothing will be.
    pub fn write(&self, events: impl IntoIterator<Item = Stamped>) -> Result<(), StoreError> {
        self.inbox.put(events)
    }

    /// Hands over what is no event, to be written with the next events, or a moment later.
    ///
    /// # Errors
    /// [`StoreError::Stopped`] once the disk has failed.
    pub fn keep(&self, asides: Vec<Aside>) -> Result<(), StoreError> {
        if asides.is_empty() { Ok(()) } else { self.inbox.put_asides(asides) }
    }

    /// Commits what waits, ends the thread and gives the store back.
    ///
    /// # Errors
    /// [`StoreError::Stopped`] when something could not be stored, now or before.
    pub fn finish(mut self) -> Result<Store, StoreError> {
        let store = self.join();
        let waiting = self.inbox.lock();
        match (&waiting.failed, store) {
            (Some(source), _) => Err(waiting.stopped(source)),
            (None, Some(store)) => Ok(store),
            (None, None) => Err(StoreError::Panicked { path: self.path.clone() }),
        }
    }

    fn join(&mut self) -> Option<Store> {
        self.inbox.close();
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

/// What waits is committed even so; but only [`Writer::finish`] tells whether that went well.
impl Drop for Writer {
    fn drop(&mut self) {
        self.join();
    }
}

/// Tells those who write that the thread has panicked: else they would wait for it for ever.
struct Guard {
    inbox: Arc<Inbox>,
    path: PathBuf,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if thread::panicking() {
            self.inbox.fail(0, StoreError::Panicked { path: self.path.clone() });
        }
    }
}

/// Writes batch after batch until the inbox is closed and empty; on failure, says how much was lost.
fn pump(
    store: &Store,
    event: EventId,
    inbox: &Inbox,
    mut committed: impl FnMut(Vec<Stamped>),
) -> Result<(), (usize, StoreError)> {
    let database = store.database();
    let mut rows = database.check(|conn| Rows::new(conn, event)).map_err(|error| (0, error))?;
    let mut last_commit = None;
    while let Some((batch, asides)) = inbox.take(last_commit) {
        database
            .write(|conn| {
                batch.iter().try_for_each(|event| rows.store(event))?;
                asides.iter().try_for_each(|aside| aside.store(conn, event))
            })
            .map_err(|error| (batch.len(), error))?;
        last_commit = Some(Instant::now());
        committed(batch);
    }
    Ok(())
}

/// Whether somebody waits to hear that it is on the disk.
fn is_urgent(event: &Stamped) -> bool {
    !matches!(event.event, Event::Moved(_) | Event::GameStarted(_) | Event::Memory { .. })
}

/// A bounded list of what waits to be written. Not a channel: those wake their reader for every message, which would
/// cost more than writing the row.
#[derive(Debug, Default)]
struct Inbox {
    waiting: Mutex<Waiting>,
    work: Condvar,
    room: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    events: Vec<Stamped>,
    asides: Vec<Aside>,
    urgent: bool,
    closed: bool,
    failed: Option<Arc<StoreError>>,
    /// Events lost to the failure.
    unwritten: usize,
}

impl Waiting {
    fn stopped(&self, source: &Arc<StoreError>) -> StoreError {
        StoreError::Stopped { unwritten: self.unwritten, source: Arc::clone(source) }
    }

    /// When to write what waits; `None`: now.
    fn due(&self, patient: Instant, last_commit: Option<Instant>) -> Option<Instant> {
        match () {
            () if self.closed || self.events.len() >= MANY => None,
            () if self.urgent => last_commit.map(|last| last + LINGER),
            () => Some(patient),
        }
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, events: impl IntoIterator<Item = Stamped>) -> Result<(), StoreError> {
        let full = |waiting: &mut Waiting| waiting.failed.is_none() && waiting.events.len() >= LIMIT;
        let waiting = self.room.wait_while(self.lock(), full);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        let (before, calm) = (waiting.events.len(), !waiting.urgent);
        waiting.events.extend(events);
        let after = waiting.events.len();
        if let Some(source) = waiting.failed.clone() {
            waiting.unwritten += after;
            waiting.events.clear();
            return Err(waiting.stopped(&source));
        }
        waiting.urgent |= waiting.events[before..].iter().any(is_urgent);
        if before == 0 && after > 0 || calm && waiting.urgent || before < MANY && after >= MANY {
            self.work.notify_one();
        }
        Ok(())
    }

    fn put_asides(&self, asides: Vec<Aside>) -> Result<(), StoreError> {
        let mut waiting = self.lock();
        if let Some(source) = &waiting.failed {
            return Err(waiting.stopped(source));
        }
        waiting.asides.extend(asides);
        self.work.notify_one();
        Ok(())
    }

    /// Everything that waits, when it is time to write it; `None` after the last.
    fn take(&self, last_commit: Option<Instant>) -> Option<(Vec<Stamped>, Vec<Aside>)> {
        let nothing =
            |waiting: &mut Waiting| waiting.events.is_empty() && waiting.asides.is_empty() && !waiting.closed;
        let waiting = self.work.wait_while(self.lock(), nothing);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        let patient = Instant::now() + PATIENCE;
        while let Some(due) = waiting.due(patient, last_commit) {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = self.work.wait_timeout(waiting, left);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        waiting.urgent = false;
        self.room.notify_all();
        let (events, asides) = (mem::take(&mut waiting.events), mem::take(&mut waiting.asides));
        if events.is_empty() && asides.is_empty() { None } else { Some((events, asides)) }
    }

    fn close(&self) {
        self.lock().closed = true;
        self.work.notify_one();
    }

    fn fail(&self, unwritten: usize, error: StoreError) {
        let mut waiting = self.lock();
        waiting.unwritten += unwritten + waiting.events.len();
        waiting.events.clear();
        waiting.failed = Some(Arc::new(error));
        self.room.notify_all();
    }
}
