//! Opening a database file: identification, SQLite settings, schema.

use super::{StoreError, defence};
use platform::files::{Identity, Stamp, beside};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// The schema of a database.
const TABLES: &str = include_str!("schema.sql");
/// Number of the schema. Files with another number are refused; a change of the schema is another number.
pub(super) const SCHEMA: usize = 1;
/// "RNME"; written by the schema.
const APPLICATION_ID: i64 = 0x524E_4D45;
/// Longest wait for another connection's write lock.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest wait for readers before the log is moved into the file as far as they let it.
const GATHERING: Duration = Duration::from_secs(1);
/// Longest wait until a file that was empty a moment ago can be opened.
const SETTLING: Duration = Duration::from_secs(5);
/// Delay before the next attempt to open a file that another process is setting up.
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// A connection and the path of its file, for error messages.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) conn: Connection,
    pub(super) path: PathBuf,
    /// The file when it was opened, where the system can say.
    identity: Option<Identity>,
}

/// The databases of a directory by their name's ending, `.db`, the newest first.
pub fn databases_in(directory: &Path) -> Vec<PathBuf> {
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .map(|entry| directory.join(entry.file_name()))
        .filter(|path| path.extension().is_some_and(|it| it == "db") && path.is_file())
        .map(|path| (changed(&path).max(changed(&beside(&path, "-wal"))), path))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path.strip_prefix(".").unwrap_or(&path).to_owned()).collect()
}

impl Database {
    /// True if the path still leads to the file that was opened.
    pub(super) fn is_in_place(&self) -> bool {
        Stamp::at(&self.path).ok().map(|stamp| stamp.identity) == self.identity
    }

    /// Opens or creates a database for writing.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let begun = Instant::now();
        let is_new = !fs::metadata(path).is_ok_and(|file| file.len() > 0);
        loop {
            match Self::open_now(path) {
                // Programs that create one file at once remove the files beside it under each other's hands.
                Err(
                    StoreError::CannotOpen { .. } | StoreError::NotADatabase { .. } | StoreError::Io { .. },
                ) if is_new && path.is_file() && begun.elapsed() < SETTLING => thread::sleep(RETRY_DELAY),
                // SQLite's busy timeout covers writers but not a change of the journal mode, so that is retried here.
                Err(StoreError::Locked { .. }) if begun.elapsed() < PATIENCE => thread::sleep(RETRY_DELAY),
                opened => return opened,
            }
        }
    }

    fn open_now(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let db = Self::connect(path, flags)?;
        defence::refuse_second_name(&db.path)?;
        let is_empty = db.is_empty()?;
        if !is_empty {
            defence::check_schema(&db)?;
        }
        db.check(set_up_writing)?;
        tracing::debug!(target: "journal", path = ?db.path, is_empty, "database opened to write");
        if is_empty {
            db.create()?;
        }
        Ok(db)
    }

    /// Opens a database for reading: never blocks a writer, never changes the file.
    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        if path.try_exists().is_ok_and(|exists| !exists) {
            return Err(StoreError::missing(path));
        }
        // Only a connection that could write removes the files that SQLite puts beside a database. Where such a file is
        // there already, it is somebody else's, or evidence of an unclean end.
        let is_alone = !beside(path, "-wal").exists();
        let mode =
            if is_alone { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
        let mut db = Self::connect(path, mode)?;
        db.check(|conn| conn.pragma_update(None, "query_only", true))?;
        if db.is_empty()? {
            // The program that creates the file has not written its tables yet.
            db.conn = db.check(|_| expected())?;
            db.check(|conn| conn.pragma_update(None, "query_only", true))?;
        } else {
            defence::check_schema(&db)?;
        }
        Ok(db)
    }

    fn connect(path: &Path, mode: OpenFlags) -> Result<Self, StoreError> {
        defence::refuse_links(path)?;
        let conn = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|error| StoreError::sql(path, error))?;
        // Before anything is read: without a log, which cannot be made, SQLite only says that it cannot open the file.
        if mode.contains(OpenFlags::SQLITE_OPEN_CREATE) {
            refuse_read_only(&conn).map_err(|error| StoreError::sql(path, error))?;
        }
        // One canonical path per file, so that two links to it share one lock.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let identity = Stamp::at(&path).ok().map(|stamp| stamp.identity);
        let db = Self { conn, path, identity };
        db.check(|conn| {
            defence::harden(conn)?;
            conn.busy_timeout(PATIENCE)?;
            conn.set_prepared_statement_cache_capacity(32);
            conn.pragma_update(None, "cache_size", -4096)
        })?;
        Ok(db)
    }

    /// True if the file has no schema yet.
    fn is_empty(&self) -> Result<bool, StoreError> {
        // Not by SQL on `pragma_application_id`: a file may have a table of that name.
        let (id, version, tables): (i64, i64, i64) = self.check(|conn| {
            let pragma = |name| conn.pragma_query_value(Some("main"), name, |row| row.get(0));
            let tables = conn.query_row("SELECT count(*) FROM main.sqlite_schema", [], |row| row.get(0))?;
            Ok((pragma("application_id")?, pragma("user_version")?, tables))
        })?;
        let found = usize::try_from(version).unwrap_or(usize::MAX);
        if id != APPLICATION_ID && (tables > 0 || id != 0 || version != 0) {
            return Err(StoreError::Foreign(self.path.clone()));
        }
        match found {
            0 => Ok(true),
            SCHEMA => Ok(false),
            _ => Err(StoreError::OtherSchema { path: self.path.clone(), found, known: SCHEMA }),
        }
    }

    /// Creates the tables, unless another process has done so since.
    fn create(&self) -> Result<(), StoreError> {
        self.write(|conn| {
            let version: i64 = conn.pragma_query_value(Some("main"), "user_version", |row| row.get(0))?;
            if version == 0 { create_tables(conn) } else { Ok(()) }
        })
    }

    /// Faults of the file, of which at most ten are listed: of its pages, and of indexes that differ from their tables. It
    /// reads the whole file. `quick_check` would not find an index with entries for rows that are gone.
    pub(super) fn damage(&self) -> Result<Vec<String>, StoreError> {
        self.check(|conn| {
            let mut check = conn.prepare("PRAGMA main.integrity_check(10)")?;
            let found = check.query_map([], |row| row.get::<_, String>(0))?;
            Ok(found.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().filter(|line| line != "ok").collect())
        })
    }

    /// Examines a file whose last writer died; indexes that differ from their tables are made anew. Returns the faults that
    /// were mended. What is read from now on is on the disk.
    pub(super) fn recover(&self) -> Result<Vec<String>, StoreError> {
        // The writer may have died between a write to the log and its sync; a checkpoint syncs the log first.
        self.check(|conn| conn.query_row("PRAGMA main.wal_checkpoint(passive)", [], |_| Ok(())))?;
        let faults = self.damage()?;
        if !faults.is_empty() {
            tracing::warn!(target: "journal", path = ?self.path, ?faults, "the file was damaged when its process died");
            let damaged = |faults: Vec<String>| StoreError::Damaged(self.path.clone(), faults.join("; "));
            self.write(|conn| conn.execute_batch("REINDEX")).map_err(|_| damaged(faults.clone()))?;
            let left = self.damage()?;
            if !left.is_empty() {
                return Err(damaged(left));
            }
        }
        Ok(faults)
    }

    /// Runs `sql`; an error is reported with the path of the file.
    pub(super) fn check<'c, T>(
        &'c self,
        sql: impl FnOnce(&'c Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        sql(&self.conn).map_err(|error| StoreError::sql(&self.path, error))
    }

    /// Moves what was committed from the log beside the file into the file; false if some of it is left, because somebody reads
    /// an older state of the file.
    pub(super) fn gather(&self) -> Result<bool, StoreError> {
        self.check(|conn| {
            conn.busy_timeout(GATHERING)?;
            let moved = conn.query_row("PRAGMA wal_checkpoint(truncate)", [], |row| {
                Ok(row.get::<_, i64>(1)? == row.get::<_, i64>(2)?)
            });
            conn.busy_timeout(PATIENCE)?;
            moved
        })
    }

    /// Runs `sql` in one short write transaction: all of it is on the disk on return, or nothing.
    pub(super) fn write<'c, T>(
        &'c self,
        sql: impl FnOnce(&'c Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.check(|conn| {
            let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
            let value = sql(conn)?;
            transaction.commit()?;
            Ok(value)
        })
    }
}

/// Opens for reading what is in the file, without the log beside it.
pub(super) fn alone(path: &Path) -> rusqlite::Result<Connection> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    let name = path.as_os_str().as_encoded_bytes().iter();
    let name =
        name.map(|byte| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") });
    let uri = format!("file:{}?immutable=1", name.collect::<String>());
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(uri, flags)?;
    defence::harden(&conn).map(|()| conn)
}

/// A database in memory with the schema that files have.
pub(super) fn expected() -> rusqlite::Result<Connection> {
    let conn = Connection::open_in_memory()?;
    create_tables(&conn)?;
    Ok(conn)
}

fn create_tables(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(TABLES)?;
    conn.pragma_update(None, "user_version", SCHEMA as i64)
}

fn refuse_read_only(conn: &Connection) -> rusqlite::Result<()> {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY);
    if conn.is_readonly("main")? { Err(rusqlite::Error::SqliteFailure(error, None)) } else { Ok(()) }
}

fn set_up_writing(conn: &Connection) -> rusqlite::Result<()> {
    keep_log(conn)?;
    // `full`: a finished game survives a power failure, not only the death of the process.
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "journal_size_limit", 16 << 20)
}

/// Commits go to a log beside the file. The change of the mode is itself a commit, which comes after SQLite's answer; when
/// it fails, or there can be no log, the old mode stays, in which a power failure takes the last commit back.
fn keep_log(conn: &Connection) -> rusqlite::Result<()> {
    let mut change = conn.prepare("PRAGMA main.journal_mode = wal")?;
    let modes = change.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    if modes == ["wal"] {
        return Ok(());
    }
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR);
    let why = format!("there can be no log beside it (its journal mode stays {modes:?})");
    Err(rusqlite::Error::SqliteFailure(error, Some(why)))
}
