//! Opening a database file: identification, SQLite settings, migration of the schema.

use super::{StoreError, defence, lock};
use platform::files::{self, Identity};
use rusqlite::{Connection, OpenFlags, TransactionBehavior, backup::Backup};
use rusqlite_migration::{M, Migrations};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Every schema version in order. Append only: files of all earlier versions exist.
pub(super) const MIGRATIONS: &[M<'static>] = &[
    M::up(include_str!("migrations/001_events.sql")),
    M::up(include_str!("migrations/002_network.sql")),
    M::up(include_str!("migrations/003_ratings.sql")),
    M::up(include_str!("migrations/004_clocks.sql")),
    M::up(include_str!("migrations/005_memory.sql")),
    M::up(include_str!("migrations/006_entered.sql")),
    M::up(include_str!("migrations/007_engine_lines.sql")),
    M::up(include_str!("migrations/008_notices.sql")),
    M::up(include_str!("migrations/009_identities.sql")),
    M::up(include_str!("migrations/010_seals.sql")),
    M::up(include_str!("migrations/011_trips.sql")),
    M::up(include_str!("migrations/012_pruned.sql")),
    M::up(include_str!("migrations/013_operations.sql")),
    M::up(include_str!("migrations/014_web.sql")),
    M::up(include_str!("migrations/015_game_options.sql")),
    M::up(include_str!("migrations/016_queue.sql")),
    M::up(include_str!("migrations/017_machines.sql")),
    M::up(include_str!("migrations/018_scaled_clocks.sql")),
    M::up(include_str!("migrations/019_repeats.sql")),
    M::up(include_str!("migrations/020_annotations.sql")),
    M::up(include_str!("migrations/021_held_since.sql")),
    M::up(include_str!("migrations/022_opening_times.sql")),
    M::up(include_str!("migrations/023_views.sql")),
    M::up(include_str!("migrations/024_queue_notes.sql")),
    M::up(include_str!("migrations/025_judgements.sql")),
    M::up(include_str!("migrations/026_moves_hash.sql")),
];
/// "RNME"; written by the first migration.
const APPLICATION_ID: i64 = 0x524E_4D45;
/// Longest wait for another connection's write lock.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest wait until a file that was empty a moment ago can be opened.
const SETTLING: Duration = Duration::from_secs(5);
/// Delay before the next attempt to open a file that another process is setting up.
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// A connection and the path of its file, for error messages.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) conn: Connection,
    pub(super) path: PathBuf,
}

/// The file beside a database whose name has this end, such as `-wal`.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(end);
    name.into()
}

/// The databases of a directory by their name's ending, `.db`, the newest first.
#[must_use]
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
    /// Opens or creates a database for writing and migrates it to the newest schema.
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
        let mut db = Self::connect(path, flags)?;
        let version = db.identify()?;
        defence::check_schema(&db, version)?;
        db.check(|conn| conn.is_readonly("main").and_then(refuse_read_only))?;
        db.check(set_up_writing)?;
        tracing::debug!(target: "journal", path = ?db.path, schema = version, "database opened to write");
        if version < MIGRATIONS.len() {
            if version > 0 {
                refuse_in_use(&db.path)?;
                db.keep_copy(version)?;
            }
            db.migrate(version)?;
            tracing::info!(target: "journal", path = ?db.path, from = version, to = MIGRATIONS.len(), "schema brought up to date");
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
        let db = Self::connect(path, mode)?;
        db.check(|conn| conn.pragma_update(None, "query_only", true))?;
        let version = db.identify()?;
        defence::check_schema(&db, version)?;
        if version < MIGRATIONS.len() { db.snapshot(version) } else { Ok(db) }
    }

    /// A private, migrated copy. An old file lacks tables that the queries need, and reading must not change the file.
    fn snapshot(&self, version: usize) -> Result<Self, StoreError> {
        let copy = || -> rusqlite::Result<Connection> {
            let mut copy = Connection::open("")?;
            defence::harden(&copy)?;
            // In one step: SQLite begins a copy in several steps anew whenever another process writes in between.
            Backup::new(&self.conn, &mut copy)?.run_to_completion(i32::MAX, Duration::ZERO, None)?;
            Ok(copy)
        };
        let conn = copy().map_err(|error| StoreError::sql(&self.path, error))?;
        let mut db = Self { conn, path: self.path.clone() };
        db.migrate(version)?;
        db.check(|conn| conn.pragma_update(None, "query_only", true))?;
        Ok(db)
    }

    /// Copies the file before a migration changes it, for example to `league.db.v4`.
    fn keep_copy(&self, version: usize) -> Result<(), StoreError> {
        let beside = |end: &str| beside(&self.path, end);
        let names = (1..).map(|n| if n == 1 { format!(".v{version}") } else { format!(".v{version}-{n}") });
        // An earlier copy may be of another moment, and is left alone.
        let Some(kept) = names.map(|name| beside(&name)).find(|path| fs::symlink_metadata(path).is_err())
        else {
            return Ok(());
        };
        let part = beside(&format!(".v{version}.part{}", std::process::id()));
        let failed = |source| StoreError::Copy { path: kept.clone(), source: Arc::new(source) };
        let _left_by_a_dead_process = fs::remove_file(&part);
        // Made here, because SQLite would follow a link of that name; into an empty file it writes.
        let ours = files::create_new(&part).and_then(|file| Identity::of(&file)).map_err(failed)?;
        self.check(|conn| conn.execute("VACUUM INTO ?", [part.to_string_lossy()]))?;
        if Identity::at(&part).map_err(failed)? != ours {
            return Err(failed(io::Error::other("somebody replaced it while it was written")));
        }
        fs::rename(&part, &kept).map_err(failed)
    }

    fn connect(path: &Path, mode: OpenFlags) -> Result<Self, StoreError> {
        defence::refuse_links(path)?;
        let conn = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|error| StoreError::sql(path, error))?;
        // One canonical path per file, so that two links to it share one lock.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let db = Self { conn, path };
        db.check(|conn| {
            defence::harden(conn)?;
            conn.busy_timeout(PATIENCE)?;
            conn.set_prepared_statement_cache_capacity(32);
            conn.pragma_update(None, "cache_size", -4096)
        })?;
        Ok(db)
    }

    /// Schema version of the file; 0 for an empty one.
    fn identify(&self) -> Result<usize, StoreError> {
        // Not by SQL on `pragma_application_id`: a file may have a table of that name.
        let (id, version, tables): (i64, i64, i64) = self.check(|conn| {
            let pragma = |name| conn.pragma_query_value(Some("main"), name, |row| row.get(0));
            let tables = conn.query_row("SELECT count(*) FROM main.sqlite_schema", [], |row| row.get(0))?;
            Ok((pragma("application_id")?, pragma("user_version")?, tables))
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

    /// Migrates the schema from version `before` to the newest.
    fn migrate(&mut self, before: usize) -> Result<(), StoreError> {
        self.conn.set_transaction_behavior(TransactionBehavior::Immediate);
        let migrations = Migrations::from_slice(MIGRATIONS);
        let migrated = migrations.to_latest(&mut self.conn);
        self.conn.set_transaction_behavior(TransactionBehavior::Deferred);
        migrated.or_else(|error| match self.identify()? {
            // Another process has migrated the file since `identify`, or is doing so.
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
    /// were mended.
    pub(super) fn recover(&self) -> Result<Vec<String>, StoreError> {
        let faults = self.damage()?;
        if !faults.is_empty() {
            tracing::warn!(target: "journal", path = ?self.path, ?faults, "the file was damaged when its process died");
            let damaged = |faults: Vec<String>| StoreError::Damaged {
                path: self.path.clone(),
                what: faults.join("; "),
            };
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

    /// Runs `sql` in one short write transaction: all of it is on the disk on return, or nothing.
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

/// A migration never touches a file in which a process plays.
fn refuse_in_use(path: &Path) -> Result<(), StoreError> {
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
    // `full`: a finished game survives a power failure, not only the death of the process.
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "journal_size_limit", 16 << 20)
}
