//! The stream of an event: one queue, one writing thread, readers that see what is on the disk.
//!
//! Entries wait in a list. The thread takes the whole list, writes it in one transaction and commits. A lone game end
//! is committed at once; when ends are frequent, commits are [`LINGER`] apart, so that a ply's share of a commit stays
//! small; moves without an urgent entry after them wait up to [`PATIENCE`], or [`HASTE`] while viewers wait for them.
//!
//! A commit waits for the disk alone: readers follow at their own speed (`readers`).

use crate::{
    EventHead, EventId, Moves, OpenedEvent, Store, StoreError, Writer,
    identity::Watched,
    insert::Rows,
    now,
    readers::{Feed, Hasty, Reader},
    side,
};
use parking_lot::{Condvar, Mutex};
use referee::{
    entry::{Entry, Stamped},
    sink::{SideRecord, Sink},
};
use std::{
    fmt, mem,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Longest wait of a move for its commit.
const PATIENCE: Duration = Duration::from_millis(200);
/// The same while somebody waits for moves.
const HASTE: Duration = Duration::from_millis(80);
/// Time between two commits while games end all the time.
const LINGER: Duration = Duration::from_millis(10);
/// Number of waiting entries that triggers a commit at any time.
const MANY: usize = 4096;
/// Number of waiting entries at which senders block: the disk is too slow.
const LIMIT: usize = 16 * MANY;

/// An event that is locked for playing but not yet written to: earlier entries can be replayed now.
#[derive(Debug)]
pub struct Opening {
    store: Writer,
    opened: OpenedEvent,
    players: Vec<String>,
    inbox: Arc<Inbox>,
}

impl Opening {
    /// State of the event in the database.
    pub fn event(&self) -> &OpenedEvent {
        &self.opened
    }

    /// Names of the players known so far, by [`PlayerId`](referee::entry::PlayerId).
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// The database, for reading.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The database, for what is written before the first entry of this run.
    pub fn writer(&self) -> &Writer {
        &self.store
    }

    /// A sink for the event's entries. They are kept until [`Opening::start`].
    pub fn sink(&self) -> Arc<dyn Sink> {
        Arc::new(InboxSink(Arc::clone(&self.inbox)))
    }

    /// Replays the entries of earlier runs, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn replay(&self, moves: Moves, each: &mut dyn FnMut(&Stamped)) -> Result<(), StoreError> {
        self.store.replay(self.opened.event, moves, each)
    }

    /// Starts the writing thread, which calls `failed` when the database fails.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn start(
        self,
        readers: Vec<Reader>,
        failed: impl FnOnce() + Send + 'static,
    ) -> Result<Journal, StoreError> {
        Journal::start(self.inbox, self.store, self.opened.event, readers, failed)
    }

    /// Releases the event without playing it.
    pub fn into_store(self) -> Writer {
        self.store
    }
}

/// Accepts the entries of an event while it is played.
#[derive(Debug)]
pub struct Journal {
    inbox: Arc<Inbox>,
    path: PathBuf,
    event: EventId,
    thread: Option<JoinHandle<Writer>>,
}

impl Journal {
    /// Creates or resumes an event in a database and locks it.
    ///
    /// # Errors
    /// [`StoreError::Running`] while another process plays the event; other variants when the database cannot be
    /// written.
    pub fn open(database: &Path, head: &EventHead<'_>) -> Result<Opening, StoreError> {
        let mut store = Writer::open(database)?;
        let opened = store.open_event(head)?;
        let known = store.events()?.into_iter().find(|event| event.id == opened.event);
        let players = known.map(|event| event.players).unwrap_or_default();
        Ok(Opening { store, opened, players, inbox: Arc::default() })
    }

    pub(crate) fn start(
        inbox: Arc<Inbox>,
        store: Writer,
        event: EventId,
        mut readers: Vec<Reader>,
        failed: impl FnOnce() + Send + 'static,
    ) -> Result<Self, StoreError> {
        let hasty: Vec<Hasty> = readers.iter_mut().filter_map(|reader| reader.is_hasty.take()).collect();
        let path = store.path().to_owned();
        let spawned = |source| StoreError::Thread(path.clone(), Arc::new(source));
        let feed = |reader| Feed::start(reader, path.clone(), event);
        let feeds = readers.into_iter().map(feed).collect::<Result<Vec<_>, _>>().map_err(spawned)?;
        let mut guard = Guard { inbox: Arc::clone(&inbox), path: path.clone(), failed: Some(failed) };
        let work = move || {
            if let Err((unwritten, error)) = write(&store, event, &guard.inbox, (&feeds, &hasty)) {
                guard.fail(unwritten, error);
            }
            feeds.into_iter().for_each(Feed::finish);
            store
        };
        let thread = thread::Builder::new().name("journal".to_owned()).spawn(work).map_err(spawned)?;
        Ok(Self { inbox, path, event, thread: Some(thread) })
    }

    /// Row id of the event.
    pub fn event(&self) -> EventId {
        self.event
    }

    /// The number of entries appended so far, for lines that have to stand between entries.
    pub fn appended(&self) -> Appended {
        Appended(Arc::clone(&self.inbox))
    }

    /// A sink for the event's entries. Entries sent after [`Journal::finish`] are lost.
    pub fn sink(&self) -> Arc<dyn Sink> {
        Arc::new(InboxSink(Arc::clone(&self.inbox)))
    }

    /// Appends an entry with the current time. Blocks only while the disk is too slow.
    pub fn happened(&self, entry: Entry) {
        self.append([Stamped { at: now(), entry }]);
    }

    /// Appends entries with their times, in order.
    pub fn append(&self, entries: impl IntoIterator<Item = Stamped>) {
        self.inbox.put(entries);
    }

    /// Appends entries with their times, in order, and records that are stored in the same transaction.
    pub fn append_with(
        &self,
        entries: impl IntoIterator<Item = Stamped>,
        records: impl IntoIterator<Item = SideRecord>,
    ) {
        self.inbox.put_with(entries, records);
    }

    /// Commits all waiting entries, waits for the readers that still read, ends the threads and returns the store.
    ///
    /// # Errors
    /// [`StoreError::Stopped`] when an entry could not be stored, now or earlier.
    pub fn finish(mut self) -> Result<Writer, StoreError> {
        let store = self.join();
        let waiting = self.inbox.waiting.lock();
        match (&waiting.failed, store) {
            (Some(source), _) => Err(waiting.stopped(source)),
            (None, Some(store)) => Ok(store),
            (None, None) => Err(StoreError::Panicked(self.path.clone())),
        }
    }

    fn join(&mut self) -> Option<Writer> {
        self.inbox.close();
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

/// Waiting entries are committed on drop as well, but only [`Journal::finish`] reports a failure.
impl Drop for Journal {
    fn drop(&mut self) {
        self.join();
    }
}

/// Fails the inbox and says so when the writing thread fails or panics; otherwise senders and the event would wait for ever.
struct Guard<F: FnOnce()> {
    inbox: Arc<Inbox>,
    path: PathBuf,
    failed: Option<F>,
}

impl<F: FnOnce()> Guard<F> {
    fn fail(&mut self, unwritten: usize, error: StoreError) {
        self.inbox.fail(unwritten, error);
        self.failed.take().into_iter().for_each(|failed| failed());
    }
}

impl<F: FnOnce()> Drop for Guard<F> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.fail(0, StoreError::Panicked(self.path.clone()));
        }
    }
}

/// Writes batch after batch until the inbox is closed and empty; a failure carries the number of lost entries.
fn write(
    store: &Store,
    event: EventId,
    inbox: &Inbox,
    (feeds, hasty): (&[Feed], &[Hasty]),
) -> Result<(), (usize, StoreError)> {
    let database = store.database();
    let mut rows = database.check(|conn| Rows::new(conn, event)).map_err(|error| (0, error))?;
    let by_hand = database.check(|conn| conn.pragma_update(None, "wal_autocheckpoint", 0));
    by_hand.map_err(|error| (0, error))?;
    let (mut last_commit, mut watched) = (None, Watched::new(store, event));
    let is_hasty = || hasty.iter().any(|is_hasty| is_hasty());
    while let Some((batch, records)) = inbox.take(last_commit, is_hasty) {
        watched.look_at_log().map_err(|error| (batch.len(), error))?;
        feeds.iter().for_each(|feed| feed.announce(batch.len(), || rows.place()));
        database
            .write(|conn| {
                batch.iter().try_for_each(|entry| rows.store(entry))?;
                records.iter().try_for_each(|record| side::store(record, conn, event))
            })
            .map_err(|error| (batch.len(), watched.cause(error)))?;
        inbox.committed(batch.len() + records.len());
        last_commit = Some(Instant::now());
        let batch: Arc<[Stamped]> = batch.into();
        feeds.iter().for_each(|feed| feed.commit(&batch));
        watched.look().and_then(|()| watched.move_log()).map_err(|error| (0, error))?;
    }
    Ok(())
}

/// True if a reader should see the entry without delay.
fn is_urgent(entry: &Stamped) -> bool {
    !matches!(entry.entry, Entry::Moved(_) | Entry::GameStarted(_) | Entry::Memory { .. } | Entry::Judged(_))
}

/// The number of entries that were appended to a journal, whether committed or not. A reader hears each of them once, in
/// order, unless the database fails.
#[derive(Clone, Debug)]
pub struct Appended(Arc<Inbox>);

impl Appended {
    /// The number now.
    pub fn count(&self) -> u64 {
        self.0.waiting.lock().appended
    }
}

/// The sink of an inbox.
#[derive(Debug)]
struct InboxSink(Arc<Inbox>);

impl Sink for InboxSink {
    fn happened(&self, entry: Entry) {
        self.0.put([Stamped { at: now(), entry }]);
    }

    fn keep(&self, record: SideRecord) {
        self.0.keep(record);
    }

    fn when_kept(&self, then: Box<dyn FnOnce() + Send>) {
        self.0.when_committed(then);
    }
}

/// Somebody who waits for a commit.
struct Waiter {
    /// The number of entries and records given when it began to wait.
    given: u64,
    then: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("given", &self.given).finish_non_exhaustive()
    }
}

/// Bounded queue in front of the writer. Not a channel: a channel wakes its receiver for every message, which would
/// cost more than writing the row.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
    work: Condvar,
    room: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct Waiting {
    entries: Vec<Stamped>,
    records: Vec<SideRecord>,
    /// Entries ever appended in this run.
    appended: u64,
    /// Entries and records ever given in this run.
    given: u64,
    /// Those of them that are committed.
    committed: u64,
    /// Those who wait for a commit, in order.
    waiters: Vec<Waiter>,
    urgent: bool,
    closed: bool,
    failed: Option<Arc<StoreError>>,
    /// Entries lost because of the failure.
    unwritten: usize,
}

impl Waiting {
    fn stopped(&self, source: &Arc<StoreError>) -> StoreError {
        StoreError::Stopped(self.unwritten, Arc::clone(source))
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.records.is_empty()
    }

    /// Time at which to write the waiting entries; `None`: now.
    fn due(&self, patient: Instant, last_commit: Option<Instant>) -> Option<Instant> {
        match () {
            () if self.closed || self.entries.len() >= MANY => None,
            () if self.urgent => last_commit.map(|last| last + LINGER),
            () => Some(patient),
        }
    }
}

impl Inbox {
    fn put(&self, entries: impl IntoIterator<Item = Stamped>) {
        self.put_with(entries, []);
    }

    /// Entries and records that go into one transaction: whoever takes the list takes all of them.
    fn put_with(
        &self,
        entries: impl IntoIterator<Item = Stamped>,
        records: impl IntoIterator<Item = SideRecord>,
    ) {
        let full = |waiting: &mut Waiting| {
            waiting.failed.is_none() && !waiting.closed && waiting.entries.len() >= LIMIT
        };
        let mut waiting = self.waiting.lock();
        self.room.wait_while(&mut waiting, full);
        let (idle, before, calm) = (waiting.is_empty(), waiting.entries.len(), !waiting.urgent);
        waiting.entries.extend(entries);
        let after = waiting.entries.len();
        waiting.appended += (after - before) as u64;
        let records_before = waiting.records.len();
        waiting.records.extend(records);
        waiting.given += (after - before + waiting.records.len() - records_before) as u64;
        if waiting.failed.is_some() {
            waiting.records.clear();
            waiting.unwritten += after;
            waiting.entries.clear();
            return;
        }
        waiting.urgent = !calm || waiting.entries[before..].iter().any(is_urgent);
        if idle && !waiting.is_empty() || calm && waiting.urgent || before < MANY && after >= MANY {
            self.work.notify_one();
        }
    }

    fn keep(&self, record: SideRecord) {
        let mut waiting = self.waiting.lock();
        if waiting.failed.is_some() {
            return;
        }
        let idle = waiting.is_empty();
        waiting.records.push(record);
        waiting.given += 1;
        if idle {
            self.work.notify_one();
        }
    }

    /// Calls `then` after the commit of all entries and records so far; drops it if they are lost.
    fn when_committed(&self, then: Box<dyn FnOnce() + Send>) {
        let mut waiting = self.waiting.lock();
        let given = waiting.given;
        if waiting.failed.is_some() {
            return;
        }
        if waiting.committed < given {
            waiting.waiters.push(Waiter { given, then });
            if !std::mem::replace(&mut waiting.urgent, true) {
                self.work.notify_one();
            }
            return;
        }
        drop(waiting);
        then();
    }

    /// Notes a commit of so many entries and records, and tells those who wait for it.
    fn committed(&self, written: usize) {
        let mut waiting = self.waiting.lock();
        waiting.committed += written as u64;
        let committed = waiting.committed;
        let count = waiting.waiters.partition_point(|waiter| waiter.given <= committed);
        let told: Vec<Waiter> = waiting.waiters.drain(..count).collect();
        drop(waiting);
        told.into_iter().for_each(|waiter| (waiter.then)());
    }

    /// Takes everything that waits once it is due; `None` after the last.
    fn take(
        &self,
        last_commit: Option<Instant>,
        is_hasty: impl Fn() -> bool,
    ) -> Option<(Vec<Stamped>, Vec<SideRecord>)> {
        let nothing = |waiting: &mut Waiting| waiting.is_empty() && !waiting.closed;
        let mut waiting = self.waiting.lock();
        self.work.wait_while(&mut waiting, nothing);
        let patient = Instant::now() + if is_hasty() { HASTE } else { PATIENCE };
        while let Some(due) = waiting.due(patient, last_commit) {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.work.wait_for(&mut waiting, left);
        }
        waiting.urgent = false;
        let full = waiting.entries.len() >= LIMIT;
        let taken = (mem::take(&mut waiting.entries), mem::take(&mut waiting.records));
        drop(waiting);
        if full {
            self.room.notify_all();
        }
        if taken.0.is_empty() && taken.1.is_empty() { None } else { Some(taken) }
    }

    fn close(&self) {
        self.waiting.lock().closed = true;
        self.work.notify_one();
        self.room.notify_all();
    }

    fn fail(&self, unwritten: usize, error: StoreError) {
        let mut waiting = self.waiting.lock();
        waiting.unwritten += unwritten + waiting.entries.len();
        waiting.entries.clear();
        waiting.failed = Some(Arc::new(error));
        let _told_nothing = mem::take(&mut waiting.waiters);
        self.room.notify_all();
    }
}
