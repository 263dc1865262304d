//! What can go wrong with a database, each time with its path.

use rusqlite::ErrorCode;
use std::{io, path::Path, path::PathBuf, sync::Arc};

/// Why the store could not do what it was asked to.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be opened or created.
    #[error("database `{}` cannot be opened: {source}", path.display())]
    CannotOpen {
        /// The database.
        path: PathBuf,
        /// SQLite's account.
        source: Arc<rusqlite::Error>,
    },
    /// The file is something else, or damaged.
    #[error("`{}` is not a database, or it is damaged: {source}", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// SQLite's account.
        source: Arc<rusqlite::Error>,
    },
    /// A SQLite database that another program made.
    #[error("database `{}` was not made by renmei", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// A later version of this program has changed the schema.
    #[error("database `{}` has schema {found}, made by a newer renmei; this one knows up to {known}", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: usize,
        /// The newest this program knows.
        known: usize,
    },
    /// Another connection held the database for longer than anybody should.
    #[error("database `{}` is locked by another program", path.display())]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// The file or its directory cannot be written to.
    #[error("database `{}` is read-only", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// No room is left.
    #[error("database `{}` cannot grow: the disk is full", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The disk failed.
    #[error("database `{}`: input/output error: {source}", path.display())]
    Io {
        /// The database.
        path: PathBuf,
        /// SQLite's account.
        source: Arc<rusqlite::Error>,
    },
    /// Anything else that SQLite refuses.
    #[error("database `{}`: {source}", path.display())]
    Sql {
        /// The database.
        path: PathBuf,
        /// SQLite's account.
        source: Arc<rusqlite::Error>,
    },
    /// A row holds what no event wrote there.
    #[error("database `{}`: {what}", path.display())]
    Value {
        /// The database.
        path: PathBuf,
        /// Which row, and what is wrong with it.
        what: String,
    },
    /// Another process plays this event.
    #[error("event `{event}` is being run by {holder}")]
    Running {
        /// The event's name.
        event: String,
        /// Process, host and since when.
        holder: String,
    },
    /// The lock that keeps two processes from one event cannot be taken.
    #[error("lock file `{}`: {source}", path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// The system's account.
        source: Arc<io::Error>,
    },
    /// The tables are an older version's, and somebody plays in the file.
    #[error("database `{}` has the tables of an older version and is in use by {holder}: try again when that has ended; until then it can be read", path.display())]
    Played {
        /// The file.
        path: PathBuf,
        /// Who plays.
        holder: String,
    },
    /// The copy that is kept before a migration cannot be written.
    #[error("the tables are an older version's, and `{}` cannot be written to keep the file as it was: {source}", path.display())]
    Copy {
        /// The copy.
        path: PathBuf,
        /// The system's account.
        source: Arc<io::Error>,
    },
    /// The system has no thread for the writer.
    #[error("no thread to write database `{}`: {source}", path.display())]
    Thread {
        /// The database.
        path: PathBuf,
        /// The system's account.
        source: Arc<io::Error>,
    },
    /// The writer stopped; what it was given since its last commit is not in the database.
    #[error("{unwritten} events were not stored: {source}")]
    Stopped {
        /// How many events were handed over and lost.
        unwritten: usize,
        /// Why the writer stopped.
        source: Arc<StoreError>,
    },
    /// The writer's thread ended by a panic of the `committed` callback.
    #[error("the thread that writes database `{}` panicked", path.display())]
    Panicked {
        /// The database.
        path: PathBuf,
    },
}

impl StoreError {
    /// What SQLite says, said of the file at `path`.
    pub(super) fn sql(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let code = source.sqlite_error_code();
        let source = Arc::new(source);
        match code {
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Self::CannotOpen { path, source },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::NotADatabase { path, source },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::SystemIoFailure) => Self::Io { path, source },
            _ => Self::Sql { path, source },
        }
    }
}
