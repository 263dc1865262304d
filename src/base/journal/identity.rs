//! Whether the file of a database is still the one that an event is played in. Another program may replace, overwrite or cut
//! it short, and SQLite hears of none of that.

use crate::{EventId, Store, StoreError, database};
use platform::files::Stamp;
use rusqlite::{Connection, ErrorCode};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Time between two looks at the file.
const GLANCE: Duration = Duration::from_secs(1);

/// The file as it was seen last.
#[derive(Debug)]
pub(crate) struct Watched<'s> {
    store: &'s Store,
    event: EventId,
    /// `None` where the system does not give it.
    stamp: Option<Stamp>,
    /// When the oldest event of the database was created; `None`: nobody knows.
    oldest: Option<i64>,
    had: Contents,
    /// The file as it was when it seemed to be another one.
    doubted: Option<Stamp>,
    looked: Instant,
}

/// What is in a database; in its file alone, as the log beside it covers a file that was overwritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Contents {
    /// When the oldest event was created; `None`: there is none yet.
    oldest: Option<i64>,
    /// The last entry of the event that is played.
    last: Option<i64>,
}

impl Contents {
    fn of_file(path: &Path, event: EventId) -> rusqlite::Result<Self> {
        Self::read(&database::alone(path)?, event)
    }

    fn read(conn: &Connection, event: EventId) -> rusqlite::Result<Self> {
        if conn.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))? {
            return Ok(Self::default());
        }
        let sql = "SELECT (SELECT created_at FROM events ORDER BY id LIMIT 1), \
                   (SELECT max(seq) FROM seals WHERE event = ?)";
        conn.query_row(sql, [event.0], |row| Ok(Self { oldest: row.get(0)?, last: row.get(1)? }))
    }
}

impl<'s> Watched<'s> {
    pub fn new(store: &'s Store, event: EventId) -> Self {
        let oldest = store.database().check(|conn| Contents::read(conn, event)).ok().and_then(|it| it.oldest);
        let had = Contents::of_file(store.path(), event).unwrap_or_default();
        let stamp = Stamp::at(store.path()).ok();
        Self { store, event, stamp, oldest, had, doubted: None, looked: Instant::now() }
    }

    /// Looks at the file if the last look is a while ago; called after a commit.
    ///
    /// # Errors
    /// [`StoreError::Replaced`] when it is another file, or what was stored is gone from it.
    pub fn look(&mut self) -> Result<(), StoreError> {
        if self.looked.elapsed() < GLANCE {
            return Ok(());
        }
        self.looked = Instant::now();
        self.examine()
    }

    /// Looks at the file now.
    ///
    /// # Errors
    /// See [`Self::look`].
    pub fn examine(&mut self) -> Result<(), StoreError> {
        match self.is_the_same() {
            true => Ok(()),
            false => Err(StoreError::Replaced(self.store.path().to_owned(), self.keep())),
        }
    }

    fn is_the_same(&mut self) -> bool {
        let now = match Stamp::at(self.store.path()) {
            Ok(now) => now,
            // A directory that cannot be read for a moment says nothing.
            Err(error) => return error.kind() != io::ErrorKind::NotFound,
        };
        let was = *self.stamp.get_or_insert(now);
        match () {
            () if now.identity != was.identity => false,
            () if (now.bytes, now.modified) == (was.bytes, was.modified) => true,
            // SQLite takes a database without a byte for a new one.
            () if now.bytes == 0 => was.bytes == 0,
            // What SQLite moves out of the log changes the file, too.
            () if now.bytes < was.bytes && !is_whole(self.store.path()) => false,
            () if self.goes_on() => {
                (self.stamp, self.doubted) = (Some(now), None);
                true
            }
            // Another connection may be moving the log into the file: only a file that nobody writes to is judged.
            () => self.doubted.replace(now) != Some(now),
        }
    }

    /// Whether the file alone goes on from what it had.
    fn goes_on(&mut self) -> bool {
        let has = match Contents::of_file(self.store.path(), self.event) {
            Ok(has) => has,
            Err(error) => return is_passing(&error),
        };
        let is_new = has.oldest.is_none() && self.had.oldest.is_none();
        let is_ours = self.oldest.is_none() || has.oldest == self.oldest;
        let goes_on = (is_new || is_ours) && has.last >= self.had.last;
        if goes_on {
            self.had = has;
        }
        goes_on
    }

    /// Copies what this connection still has into a file beside the database; `None` if that is not the whole event.
    fn keep(&self) -> Option<PathBuf> {
        let mut names = (1..100).map(|number| self.store.path().with_extension(format!("kept{number}.db")));
        let kept = names.find(|name| fs::symlink_metadata(name).is_err())?;
        let copied = self.store.database().check(|conn| {
            let stored = Contents::read(conn, self.event)?;
            conn.execute("VACUUM INTO ?", [kept.to_string_lossy()])?;
            Ok(stored.oldest == self.oldest && Contents::of_file(&kept, self.event)? == stored)
        });
        if copied.is_ok_and(|is_ours| is_ours) && is_whole(&kept) {
            return Some(kept);
        }
        let _never_made = fs::remove_file(&kept);
        None
    }
}

/// Whether an error says nothing of what is in the file: this machine is out of descriptors, say.
fn is_passing(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DatabaseBusy, DatabaseLocked, OutOfMemory, SystemIoFailure};
    let passing = [CannotOpen, DatabaseBusy, DatabaseLocked, OutOfMemory, SystemIoFailure];
    error.sqlite_error_code().is_some_and(|code| passing.contains(&code))
}

/// Whether somebody who opens a file finds all of its pages.
fn is_whole(path: &Path) -> bool {
    let found = Store::read(path).and_then(|store| Ok(store.damage()?.is_empty()));
    // What keeps it from being read for a moment says nothing.
    let is_passing =
        |error| matches!(error, StoreError::Locked(_) | StoreError::CannotOpen(..) | StoreError::Io(..));
    found.unwrap_or_else(is_passing)
}
