//! Opening a file: is it ours, how SQLite is to treat it, and bringing its schema up to date.

use super::{StoreError, lock};
use rusqlite::{Connection, OpenFlags, TransactionBehavior, backup::Backup};
use rusqlite_migration::{M, Migrations};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Every schema there ever was, in order; only ever added to.
const MIGRATIONS: &[M<'static>] = &[
    M::up(include_str!("migrations/001_events.sql")),
    M::up(include_str!("migrations/002_network.sql")),
    M::up(include_str!("migrations/003_ratings.sql")),
    M::up(include_str!("migrations/004_clocks.sql")),
    M::up(include_str!("migrations/005_memory.sql")),
];
/// The letters RNME, as the first migration writes them.
const APPLICATION_ID: i64 = 0x524E_4D45;
/// How long one connection waits for another that writes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Until the next look at a file that another program is just setting up.
const GLANCE: Duration = Duration::from_millis(10);

/// A connection and the path it came from, for error texts.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) conn: Connection,
    pub(super) path: PathBuf,
}

impl Database {
    /// Opens or creates a database to write to, with the newest schema.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let begun = Instant::now();
        loop {
            match Self::open_now(path) {
                // SQLite waits for who writes, but not for who changes the journal: that is to be tried again.
                Err(StoreError::Locked { .. }) if begun.elapsed() < PATIENCE => thread::sleep(GLANCE),
                opened => return opened,
            }
        }
    }

    fn open_now(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut db = Self::connect(path, flags)?;
        let version = db.identify()?;
        db.check(|conn| conn.is_readonly("main").and_then(refuse_read_only))?;
        db.check(set_up_writing)?;
        tracing::debug!(target: "journal", path = ?db.path, schema = version, "database opened to write");
        if version < MIGRATIONS.len() {
            if version > 0 {
                refuse_played(&db.path)?;
                db.keep_copy(version)?;
            }
            db.migrate(version)?;
            tracing::info!(target: "journal", path = ?db.path, from = version, to = MIGRATIONS.len(), "schema brought up to date");
        }
        Ok(db)
    }

    /// Opens a database to read from: never blocks a writer, never changes the file.
    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        let db = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let version = db.identify()?;
        if version < MIGRATIONS.len() { db.snapshot(version) } else { Ok(db) }
    }

    /// A private copy of this moment with the newest tables: an old file lacks what today's queries ask for, and
    /// reading changes no file.
    fn snapshot(&self, version: usize) -> Result<Self, StoreError> {
        let copy = || -> rusqlite::Result<Connection> {
            let mut copy = Connection::open("")?;
            Backup::new(&self.conn, &mut copy)?.run_to_completion(4096, Duration::ZERO, None)?;
            Ok(copy)
        };
        let conn = copy().map_err(|error| StoreError::sql(&self.path, error))?;
        let mut db = Self { conn, path: self.path.clone() };
        db.migrate(version)?;
        db.check(|conn| conn.pragma_update(None, "query_only", true))?;
        Ok(db)
    }

    /// Keeps the file as the older version wrote it beside the one that is migrated: `league.db.v4`.
    fn keep_copy(&self, version: usize) -> Result<(), StoreError> {
        let beside = |end: &str| {
            let mut name = self.path.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        };
        let kept = beside(&format!(".v{version}"));
        if kept.exists() {
            return Ok(());
        }
        let part = beside(&format!(".v{version}-{}", std::process::id()));
        let failed = |source| StoreError::Copy { path: kept.clone(), source: Arc::new(source) };
        let _left_by_a_dead_process = fs::remove_file(&part);
        self.check(|conn| conn.execute("VACUUM INTO ?", [part.to_string_lossy()]))?;
        fs::rename(&part, &kept).map_err(failed)
    }

    fn connect(path: &Path, mode: OpenFlags) -> Result<Self, StoreError> {
        let conn = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|error| StoreError::sql(path, error))?;
        // The same file has one lock, whatever link it is reached by.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let db = Self { conn, path };
        db.check(|conn| {
            conn.busy_timeout(PATIENCE)?;
            conn.set_prepared_statement_cache_capacity(32);
            conn.pragma_update(None, "cache_size", -4096)
        })?;
        Ok(db)
    }

    /// The schema version of the file: 0 for an empty one.
    fn identify(&self) -> Result<usize, StoreError> {
        let (id, version, tables): (i64, i64, i64) = self.check(|conn| {
            conn.query_row(
                "SELECT (SELECT * FROM pragma_application_id), (SELECT * FROM pragma_user_version),
                        (SELECT count(*) FROM sqlite_schema)",
                [],
                |row| row.try_into(),
            )
        })?;
        let found = usize::try_from(version).unwrap_or(usize::MAX);
        let known = MIGRATIONS.len();
        if id != APPLICATION_ID && (tables > 0 || id != 0 || version != 0) {
            return Err(StoreError::Foreign { path: self.path.clone() });
        }
        if found > known {
            return Err(StoreError::Newer { path: self.path.clone(), found, known });
        }
        Ok(found)
    }

    /// Brings the schema up to date from the version that it had.
    fn migrate(&mut self, before: usize) -> Result<(), StoreError> {
        self.conn.set_transaction_behavior(TransactionBehavior::Immediate);
        let migrations = Migrations::from_slice(MIGRATIONS);
        let migrated = migrations.to_latest(&mut self.conn);
        self.conn.set_transaction_behavior(TransactionBehavior::Deferred);
        migrated.or_else(|error| match self.identify()? {
            // Another process may have done it between our look and our lock, or be at it.
            version if version == MIGRATIONS.len() => Ok(()),
            version if version > before => Err(StoreError::Locked { path: self.path.clone() }),
            _ => Err(self.migration_failed(error)),
        })
    }

    fn migration_failed(&self, error: rusqlite_migration::Error) -> StoreError {
        match error {
            rusqlite_migration::Error::RusqliteError { err, .. } => StoreError::sql(&self.path, err),
            other => StoreError::Value { path: self.path.clone(), what: other.to_string() },
        }
    }

    /// Runs SQL and says of which file its error is.
    pub(super) fn check<'c, T>(
        &'c self,
        sql: impl FnOnce(&'c Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        sql(&self.conn).map_err(|error| StoreError::sql(&self.path, error))
    }

    /// A short transaction that writes: all of it is on the disk when this returns, or nothing.
    pub(super) fn write<'c, T>(
        &'c self,
        sql: impl FnOnce(&'c Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.check(|conn| {
            let transaction = rusqlite::Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
            let value = sql(conn)?;
            transaction.commit()?;
            Ok(value)
        })
    }
}

/// A migration never touches a file in which somebody plays.
fn refuse_played(path: &Path) -> Result<(), StoreError> {
    match lock::holder_of(path) {
        Some(holder) => Err(StoreError::Played { path: path.to_owned(), holder }),
        None => Ok(()),
    }
}

fn refuse_read_only(read_only: bool) -> rusqlite::Result<()> {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY);
    if read_only { Err(rusqlite::Error::SqliteFailure(error, None)) } else { Ok(()) }
}

fn set_up_writing(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "journal_mode", "wal")?;
    // A finished game survives the machine, not only the process.
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "journal_size_limit", 16 << 20)
}
