//! Whether the file of a database is still the one that an event is played in. Another program may replace, overwrite or cut
//! it short, and SQLite hears of none of that.

use crate::{EventId, Store, StoreError, database, seal::Sealed};
use platform::files::Stamp;
use rusqlite::OptionalExtension;
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
    /// The first seal of the event, which never changes.
    first: Option<Sealed>,
    /// When the oldest event of the database was created; `None`: nobody knows.
    oldest: Option<i64>,
    /// What the file alone had.
    had: Alone,
    /// The file as it was when it seemed to be another one.
    doubted: Option<Stamp>,
    looked: Instant,
}

/// What a file has without the log beside it, which covers a file that was overwritten until it is moved into it.
#[derive(Clone, Copy, Debug, Default)]
struct Alone {
    /// When its oldest event was created; `None`: it has none yet.
    oldest: Option<i64>,
    /// The last entry of the event that is played.
    last: Option<i64>,
}

impl Alone {
    fn of(path: &Path, event: EventId) -> Result<Self, StoreError> {
        let read = || {
            let conn = database::alone(path)?;
            if conn.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))? {
                return Ok(Self::default());
            }
            let sql = "SELECT (SELECT created_at FROM events ORDER BY id LIMIT 1), \
                       (SELECT max(seq) FROM seals WHERE event = ?)";
            conn.query_row(sql, [event.0], |row| Ok(Self { oldest: row.get(0)?, last: row.get(1)? }))
        };
        read().map_err(|error| StoreError::sql(path, error))
    }
}

impl<'s> Watched<'s> {
    pub fn new(store: &'s Store, event: EventId) -> Self {
        let sql = "SELECT created_at FROM events ORDER BY id LIMIT 1";
        let oldest = store.database().check(|conn| conn.query_row(sql, [], |row| row.get(0))).ok();
        let had = Alone::of(store.path(), event).unwrap_or_default();
        let stamp = Stamp::at(store.path()).ok();
        Self { store, event, stamp, first: None, oldest, had, doubted: None, looked: Instant::now() }
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
        if self.first.is_none() {
            self.first = sealed(self.store, self.event, "ASC")?;
        }
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
            () if !self.is_in(self.store.path(), now.bytes < was.bytes) => false,
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
        let Ok(has) = Alone::of(self.store.path(), self.event) else { return false };
        let is_ours = match has.oldest {
            Some(_) => self.oldest.is_none() || has.oldest == self.oldest,
            None => self.had.oldest.is_none(),
        };
        let goes_on = is_ours && has.last >= self.had.last;
        if goes_on {
            self.had = has;
        }
        goes_on
    }

    /// Whether somebody who opens a file finds the event in it; `wholly` examines all of the file.
    fn is_in(&self, path: &Path, wholly: bool) -> bool {
        let found = Store::read(path).and_then(|other| {
            let is_whole = !wholly || other.damage()?.is_empty();
            Ok(is_whole && sealed(&other, self.event, "ASC")? == self.first)
        });
        // What keeps it from being read for a moment says nothing.
        let is_passing =
            |error| matches!(error, StoreError::Locked(_) | StoreError::CannotOpen(..) | StoreError::Io(..));
        found.unwrap_or_else(is_passing)
    }

    /// Copies what this connection still has into a file beside the database; `None` if that is not the whole event.
    fn keep(&self) -> Option<PathBuf> {
        let last = |store: &Store| sealed(store, self.event, "DESC");
        let mut names = (1..100).map(|number| self.store.path().with_extension(format!("kept{number}.db")));
        let kept = names.find(|name| fs::symlink_metadata(name).is_err())?;
        let copied = || {
            let stored = last(self.store)?;
            self.store.database().check(|conn| conn.execute("VACUUM INTO ?", [kept.to_string_lossy()]))?;
            Ok::<_, StoreError>(last(&Store::read(&kept)?)? == stored)
        };
        let is_ours = || Alone::of(&kept, self.event).is_ok_and(|copy| copy.oldest == self.oldest);
        if copied().is_ok_and(|is_there| is_there) && self.is_in(&kept, true) && is_ours() {
            return Some(kept);
        }
        let _never_made = fs::remove_file(&kept);
        None
    }
}

/// The first or the last seal of an event.
fn sealed(store: &Store, event: EventId, order: &str) -> Result<Option<Sealed>, StoreError> {
    let sql = format!("SELECT sha256 FROM seals WHERE event = ? ORDER BY seq {order} LIMIT 1");
    store.database().check(|conn| conn.query_row(&sql, [event.0], |row| row.get(0)).optional())
}
