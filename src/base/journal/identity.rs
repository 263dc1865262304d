//! Whether the file of a database and the log beside it are still those that an event is played in. Another program may
//! replace, overwrite or cut them short, and SQLite hears of none of that.

use crate::{EventId, Store, StoreError, database};
use platform::files::{self, Identity, Stamp};
use rusqlite::{Connection, ErrorCode};
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Time between two looks at the file.
const GLANCE: Duration = Duration::from_secs(1);
/// How every log of SQLite begins.
const LOG: [u8; 3] = [0x37, 0x7f, 0x06];
/// Bytes of a log up to the end of its salts (sqlite.org/fileformat2.html#walformat).
const LOG_HEAD: usize = 24;
/// Pages of a log that has grown.
const GROWN: u32 = 1000;
/// Largest file that the memory of a connection holds as a whole.
const SMALL: u64 = 3 << 20;

/// The files as they were seen last.
#[derive(Debug)]
pub(crate) struct Watched<'s> {
    store: &'s Store,
    event: EventId,
    /// `None` where the system does not give it.
    stamp: Option<Stamp>,
    /// When the oldest event of the database was created; `None`: nobody knows.
    oldest: Option<i64>,
    had: Contents,
    /// How far the log was moved into the file then.
    moved: Option<Moved>,
    /// The file as it was when it seemed to be another one.
    doubted: Option<Stamp>,
    looked: Instant,
    /// The log; `None` until there is one.
    log: Option<Identity>,
    /// Pages of the log that are not in the file.
    unmoved: u32,
    /// Another one when another connection has written, or begun the log anew.
    version: Option<i64>,
}

/// How far SQLite has moved a log into its file. It leaves out each page that stands in the log once more behind what a reader
/// needs, so that the file alone is a database only where all of the log was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moved {
    /// Another number in each log that is begun anew.
    salts: u64,
    /// Pages of the log that are in the file.
    pages: u32,
    /// True if the file alone is a database: it has all of them, or none.
    is_alone: bool,
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
        let (moved, doubted, log, unmoved, version) = (moved(store), None, None, 0, None);
        let (stamp, looked) = (Stamp::at(store.path()).ok(), Instant::now());
        Self { store, event, stamp, oldest, had, moved, doubted, looked, log, unmoved, version }
    }

    /// Looks at the log before a commit: SQLite goes on writing into one that is gone, and behind a gap.
    ///
    /// # Errors
    /// [`StoreError::Replaced`] when it is another file, or what was stored is gone from it.
    pub fn look_at_log(&mut self) -> Result<(), StoreError> {
        let path = files::beside(self.store.path(), "-wal");
        // Another connection may begin the log anew between two questions about it.
        match self.has_log(&path) || self.has_log(&path) {
            true => Ok(()),
            false => Err(StoreError::Replaced(path, self.keep())),
        }
    }

    /// Whether the log is the file that it was, begins like one, and has room for the pages that SQLite knows to be in it.
    fn has_log(&mut self, path: &Path) -> bool {
        let stored = self.store.database().check(|conn| {
            let (pages, moved) = progress(conn)?;
            let bytes: u32 = conn.query_row("PRAGMA page_size", [], |row| row.get(0))?;
            Ok((u64::from(pages) * u64::from(bytes), pages.saturating_sub(moved)))
        });
        let (stored, unmoved) = stored.unwrap_or_default();
        self.unmoved = unmoved;
        let head = head(path);
        match Stamp::at(path) {
            Ok(now) => {
                let is_ours = *self.log.get_or_insert(now.identity) == now.identity;
                let is_log = head.map_or(true, |head| head.starts_with(&LOG));
                is_ours && is_log && now.bytes >= stored
            }
            Err(error) => self.log.is_none() || error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Reads a small database again when another connection has emptied the memory of this one, from which an overwritten file
    /// is copied.
    fn remember(&mut self) -> Result<(), StoreError> {
        let database = self.store.database();
        let version = database.check(|conn| conn.query_row("PRAGMA data_version", [], |row| row.get(0)))?;
        let is_small = self.stamp.is_some_and(|file| file.bytes <= SMALL);
        if self.version.replace(version) != Some(version) && is_small {
            database.check(|conn| conn.execute_batch("PRAGMA quick_check(1)"))?;
        }
        Ok(())
    }

    /// Why a commit failed: of a file that another program has overwritten, SQLite only says that it is damaged.
    pub fn cause(&mut self, error: StoreError) -> StoreError {
        let is_damaged = matches!(error, StoreError::NotADatabase(..));
        match is_damaged || !(self.is_the_same() || self.is_the_same()) {
            true => StoreError::Replaced(self.store.path().to_owned(), self.keep()),
            false => error,
        }
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

    /// Moves a log that has grown into its own file. SQLite would do so by itself at any commit, also into another file that
    /// was written over it: the result would be a mixture of two databases in which no look finds a fault.
    ///
    /// # Errors
    /// See [`Self::look`].
    pub fn move_log(&mut self) -> Result<(), StoreError> {
        if self.unmoved < GROWN || self.doubted.is_some() {
            return Ok(());
        }
        self.looked = Instant::now();
        self.examine()?;
        // A doubt is judged by a look that comes later: another connection may be moving the log at this moment.
        if self.doubted.is_some() {
            return Ok(());
        }
        let move_it = |conn: &Connection| conn.query_row("PRAGMA wal_checkpoint(passive)", [], |_| Ok(()));
        // What cannot be moved now, because somebody reads, stays in the log and is moved later.
        let _later = self.store.database().check(move_it);
        (self.moved, self.stamp) = (moved(self.store), Stamp::at(self.store.path()).ok().or(self.stamp));
        if self.moved.is_some_and(|moved| moved.is_alone) {
            self.had = Contents::of_file(self.store.path(), self.event).unwrap_or(self.had);
        }
        Ok(())
    }

    /// Looks at the file now.
    ///
    /// # Errors
    /// See [`Self::look`].
    pub fn examine(&mut self) -> Result<(), StoreError> {
        if !self.is_the_same() {
            return Err(StoreError::Replaced(self.store.path().to_owned(), self.keep()));
        }
        let _as_far_as_it_can_be_read = self.remember();
        Ok(())
    }

    fn is_the_same(&mut self) -> bool {
        // Before the file is looked at: what another connection moves meanwhile is news at the next look.
        let moved = moved(self.store);
        let now = match Stamp::at(self.store.path()) {
            Ok(now) => now,
            // A directory that cannot be read for a moment says nothing.
            Err(error) => return error.kind() != io::ErrorKind::NotFound,
        };
        let was = *self.stamp.get_or_insert(now);
        let is_unchanged = (now.bytes, now.modified) == (was.bytes, was.modified);
        let is_alone = moved.is_some_and(|moved| moved.is_alone);
        match () {
            () if now.identity != was.identity => false,
            () if is_unchanged => true,
            // SQLite takes a database without a byte for a new one.
            () if now.bytes == 0 => was.bytes == 0,
            // What SQLite moves out of the log changes the file, too.
            () if now.bytes < was.bytes && !is_whole(self.store.path()) => false,
            // A part of the log says nothing: the rest comes when readers have gone on.
            () if moved != self.moved && !is_alone && self.doubted != Some(now) => {
                (self.stamp, self.moved, self.doubted) = (Some(now), moved, None);
                true
            }
            () if self.goes_on() => {
                (self.stamp, self.moved, self.doubted) = (Some(now), moved, None);
                true
            }
            // Another connection may be moving the log into the file: only one that nobody writes to, or that has all or
            // nothing of it, is judged.
            () => self.doubted.replace(now).is_none_or(|doubted| doubted != now && !is_alone),
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

/// How far the log of a database is in its file; `None` where that cannot be read.
fn moved(store: &Store) -> Option<Moved> {
    let (logged, pages) = store.database().check(progress).ok()?;
    let head = head(&files::beside(store.path(), "-wal")).ok()?;
    let salts = u64::from_be_bytes(*head.last_chunk()?);
    Some(Moved { salts, pages, is_alone: pages == logged || pages == 0 })
}

/// The pages of the log, and how many of them are in the file.
fn progress(conn: &Connection) -> rusqlite::Result<(u32, u32)> {
    conn.query_row("PRAGMA wal_checkpoint(noop)", [], |row| Ok((row.get(1)?, row.get(2)?)))
}

/// The beginning of a log.
fn head(log: &Path) -> io::Result<[u8; LOG_HEAD]> {
    let mut head = [0; LOG_HEAD];
    files::regular(log)?.read_exact(&mut head)?;
    Ok(head)
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
