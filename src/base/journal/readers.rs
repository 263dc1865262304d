//! Views of an event, each on a thread of its own.
//!
//! In the ordinary case a reader takes the batches that were committed from memory. The writer waits for nobody: a reader
//! that is [`WINDOW`] entries behind loses its window, reads what follows from the database, part by part, and takes
//! batches again once it is at the end. So it misses nothing, however slow it is, and needs bounded memory.

use crate::{EventId, Follower, Store, StoreError, follow::Place};
use parking_lot::{Condvar, Mutex};
use referee::entry::Stamped;
use std::{
    collections::VecDeque,
    io,
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

/// Most entries that wait in memory for a reader.
const WINDOW: usize = if cfg!(test) { 64 } else { 16 * 1024 };
/// Longest wait at the end of an event for a reader that takes nothing.
const STUCK: Duration = Duration::from_secs(5);
/// Pause after a failed look at the database.
const PAUSE: Duration = Duration::from_millis(400);

/// A view of the event: sees every entry after its commit.
pub struct Reader {
    name: &'static str,
    read: Read,
    pub(crate) is_hasty: Option<Hasty>,
}

/// Whether somebody waits for moves.
pub(crate) type Hasty = Box<dyn Fn() -> bool + Send>;

/// Receives the entries of a commit.
pub type Read = Box<dyn FnMut(&Arc<[Stamped]>) + Send>;

impl Reader {
    /// A reader; `name` becomes the name of its thread.
    pub fn new(name: &'static str, read: impl FnMut(&Arc<[Stamped]>) + Send + 'static) -> Self {
        Self { name, read: Box::new(read), is_hasty: None }
    }

    /// The same reader, for which moves are committed sooner while `is_hasty`. It is asked before each commit.
    #[must_use]
    pub fn while_hasty(self, is_hasty: impl Fn() -> bool + Send + 'static) -> Self {
        Self { is_hasty: Some(Box::new(is_hasty)), ..self }
    }
}

/// The writer's side of a reader.
pub(crate) struct Feed {
    window: Arc<Window>,
    thread: Option<JoinHandle<()>>,
}

/// What a reader and the writer share.
#[derive(Default)]
struct Window {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    batches: VecDeque<Arc<[Stamped]>>,
    /// Entries of the batches.
    entries: usize,
    /// Where the batches end, if the reader has to read what follows from the database.
    behind: Option<Place>,
    /// True while a batch is written, which the database may have before the window.
    is_writing: bool,
    /// Batches written so far.
    written: u64,
    /// Batches and parts that the reader has taken.
    taken: u64,
    /// True after the last batch.
    is_closed: bool,
    /// True if the thread of the reader has ended.
    is_over: bool,
}

/// What a reader does next.
enum Next {
    Batch(Arc<[Stamped]>),
    /// Reads the database from here.
    Behind(Place),
    End,
}

impl Feed {
    /// Starts the thread of a reader of an event.
    pub fn start(reader: Reader, database: PathBuf, event: EventId) -> io::Result<Self> {
        let window = Arc::<Window>::default();
        let shared = Over(window.clone());
        let Reader { name, mut read, .. } = reader;
        let work = move || {
            loop {
                match shared.0.next() {
                    Next::Batch(batch) => read(&batch),
                    Next::Behind(place) => shared.0.catch_up(&mut read, place, (&database, event)),
                    Next::End => return,
                }
            }
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self { window, thread: Some(thread) })
    }

    /// A batch of so many entries is about to be written after `place`.
    pub fn announce(&self, entries: usize, place: impl FnOnce() -> Place) {
        let mut state = self.window.state.lock();
        state.is_writing = true;
        if state.behind.is_none() && state.entries > 0 && state.entries + entries > WINDOW {
            state.behind = Some(place());
        }
    }

    /// The batch is written.
    pub fn commit(&self, batch: &Arc<[Stamped]>) {
        let mut state = self.window.state.lock();
        state.is_writing = false;
        state.written += 1;
        if state.behind.is_none() && !state.is_over && !batch.is_empty() {
            state.entries += batch.len();
            state.batches.push_back(batch.clone());
        }
        drop(state);
        self.window.changed.notify_all();
    }

    /// Waits until the reader has taken everything, or nothing for a while: a write to a pipe that nobody reads has no
    /// end. The thread of such a reader is left alone.
    pub fn finish(mut self) {
        self.window.close();
        let Some(thread) = self.thread.take() else { return };
        let mut state = self.window.state.lock();
        let mut taken = Some(state.taken);
        while !state.is_over {
            let is_late = self.window.changed.wait_for(&mut state, STUCK).timed_out();
            if is_late && taken.replace(state.taken) == Some(state.taken) {
                let reader = thread.thread().name();
                return tracing::warn!(target: "journal", reader, "a reader has not taken everything");
            }
        }
        drop(state);
        // The panic message has been printed; the event does not depend on its views.
        let _panicked = thread.join();
    }
}

/// Ends the thread also where the writer panics.
impl Drop for Feed {
    fn drop(&mut self) {
        self.window.close();
    }
}

impl Window {
    /// Nothing more is written.
    fn close(&self) {
        let mut state = self.state.lock();
        (state.is_closed, state.is_writing) = (true, false);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for what comes next.
    fn next(&self) -> Next {
        let mut state = self.state.lock();
        state.taken += 1;
        loop {
            if let Some(batch) = state.batches.pop_front() {
                state.entries -= batch.len();
                return Next::Batch(batch);
            }
            match &state.behind {
                Some(place) => return Next::Behind(place.clone()),
                None if state.is_closed => return Next::End,
                None => self.changed.wait(&mut state),
            }
        }
    }

    /// Reads the database until its end.
    fn catch_up(&self, read: &mut Read, place: Place, (database, event): (&PathBuf, EventId)) {
        let mut follower = None;
        loop {
            let written = self.state.lock().written;
            match part(&mut follower, &place, (database, event)) {
                Ok(part) if !part.is_empty() => {
                    read(&part.into());
                    self.state.lock().taken += 1;
                }
                Ok(_) if self.is_at_end(written) => return,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(target: "journal", "a reader could not read the database: {error}");
                    if self.state.lock().is_closed {
                        return self.state.lock().behind = None;
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Waits until nothing is written; true if nothing was since the last look, so that the window has what follows.
    fn is_at_end(&self, written: u64) -> bool {
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, |state| state.is_writing);
        let is_at_end = state.written == written;
        if is_at_end {
            state.behind = None;
        }
        is_at_end
    }
}

/// The next part of the stream from the database.
fn part(
    follower: &mut Option<Follower>,
    place: &Place,
    (database, event): (&PathBuf, EventId),
) -> Result<Vec<Stamped>, StoreError> {
    if follower.is_none() {
        *follower = Some(Follower::from_place(Store::read(database)?, event, place.clone()));
    }
    let mut part = vec![];
    if let Some(follower) = follower {
        follower.look(&mut |_, _, stamped| part.push(stamped))?;
    }
    Ok(part)
}

/// Notes the end of a reader's thread, by a panic as well.
struct Over(Arc<Window>);

impl Drop for Over {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_over = true;
        state.batches.clear();
        drop(state);
        self.0.changed.notify_all();
    }
}
