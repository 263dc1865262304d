//! Errors of the journal; each names the file.

use rusqlite::ErrorCode;
use std::{io, path::Path, path::PathBuf, sync::Arc};

/// Why the journal could not serve a request.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be opened or created.
    #[error("database `{}` cannot be opened: {}", .0.display(), .1)]
    CannotOpen(PathBuf, #[source] Arc<rusqlite::Error>),
    /// There is no such file.
    #[error("there is no database `{}`{}; name another one (`--db FILE` where the command has this option)", .0.display(), listed(.1))]
    Missing(PathBuf, Vec<PathBuf>),
    /// The file that is followed is not there any more, or another one has its name.
    #[error("database `{}` was deleted, moved or replaced while it was shown", .0.display())]
    Gone(PathBuf),
    /// The file is not a database, or it is damaged.
    #[error("`{}` is not a database, or it is damaged: {}", .0.display(), .1)]
    NotADatabase(PathBuf, #[source] Arc<rusqlite::Error>),
    /// The file has faults that cannot be mended.
    #[error("database `{}` is damaged: {}; restore it from a copy, or begin another one", .0.display(), .1)]
    Damaged(PathBuf, String),
    /// A SQLite database of another program.
    #[error("database `{}` was not made by renmei", .0.display())]
    Foreign(PathBuf),
    /// A file beside the database, or the database that is to be created, is a link or no file.
    #[error("database `{}`: `{}`: {source}", path.display(), link.display())]
    Link {
        /// The database.
        path: PathBuf,
        /// The file or link.
        link: PathBuf,
        /// Why it is refused.
        source: Arc<io::Error>,
    },
    /// The name leads to no regular file.
    #[error("database `{}` cannot be used: {}", .0.display(), .1)]
    Unusable(PathBuf, #[source] Arc<io::Error>),
    /// The database has a second name, by which another program could write to it without seeing this one.
    #[error("database `{}` cannot be written to: {}", .0.display(), .1)]
    SecondName(PathBuf, #[source] Arc<io::Error>),
    /// Other users can use a file with secrets, and that cannot be changed.
    #[error("every user of this machine can use `{}`, which holds hashes of passwords or the key of trips, and its mode cannot be changed: {}; run `chmod o-rwx` as its owner", .0.display(), .1)]
    Mode(PathBuf, #[source] Arc<io::Error>),
    /// The file says that it is ours, but its schema is not.
    #[error("database `{}`: {} is not as renmei makes it; the file was altered, and nothing in it was executed", .0.display(), .1)]
    Schema(PathBuf, String),
    /// A value is larger than any that this program writes.
    #[error("database `{}` holds a value that is larger than {} MiB, which renmei never writes: the file was altered", .0.display(), crate::defence::LARGEST >> 20)]
    TooBig(PathBuf),
    /// The file has another schema than this program.
    #[error("database `{}` has schema {found}, and this renmei reads and writes schema {known} alone: open it with the renmei that made it", path.display())]
    OtherSchema {
        /// The database.
        path: PathBuf,
        /// Number of the file's schema.
        found: usize,
        /// Number of this program's schema.
        known: usize,
    },
    /// Another connection held its lock for longer than the busy timeout.
    #[error("database `{}` is locked by another program", .0.display())]
    Locked(PathBuf),
    /// The file or its directory cannot be written to.
    #[error("database `{}` is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// The disk is full.
    #[error("database `{}` cannot grow: the disk is full", .0.display())]
    Full(PathBuf),
    /// Another program has replaced, overwritten or cut short the file of an event that is played, or the log beside it; what
    /// could be kept of the event.
    #[error("`{}` was replaced, overwritten, cut short or removed by another program while its event was played; {}", .0.display(), kept(.1.as_deref()))]
    Replaced(PathBuf, Option<PathBuf>),
    /// Input/output error.
    #[error("database `{}`: input/output error: {}", .0.display(), .1)]
    Io(PathBuf, #[source] Arc<rusqlite::Error>),
    /// Any other SQLite error.
    #[error("database `{}`: {}", .0.display(), .1)]
    Sql(PathBuf, #[source] Arc<rusqlite::Error>),
    /// Another process plays this event.
    #[error("event `{event}` is being run by {holder}")]
    Running {
        /// The event's name.
        event: String,
        /// Process, host and start time of the holder.
        holder: String,
    },
    /// The lock file of an event cannot be created or locked.
    #[error("lock file `{}`: {}", .0.display(), .1)]
    Lock(PathBuf, #[source] Arc<io::Error>),
    /// The writing thread could not be started.
    #[error("the thread that writes database `{}` could not be started: {}", .0.display(), .1)]
    Thread(PathBuf, #[source] Arc<io::Error>),
    /// The writer failed; entries since its last commit are not in the database.
    #[error("{0} entries were not stored: {1}")]
    Stopped(usize, #[source] Arc<StoreError>),
    /// The writing thread panicked.
    #[error("the thread that writes database `{}` panicked", .0.display())]
    Panicked(PathBuf),
}

impl StoreError {
    /// Classifies an SQLite error of the file at `path`.
    /// A database that is to be read and is not there.
    pub(super) fn missing(path: &Path) -> Self {
        let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self::Missing(path.to_owned(), crate::databases_in(directory))
    }

    pub(super) fn sql(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let code = source.sqlite_error_code();
        let source = Arc::new(source);
        match code {
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Self::CannotOpen(path, source),
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::NotADatabase(path, source),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked(path),
            Some(ErrorCode::ReadOnly) => Self::ReadOnly(path),
            Some(ErrorCode::TooBig) => Self::TooBig(path),
            Some(ErrorCode::DiskFull) => Self::Full(path),
            Some(ErrorCode::SystemIoFailure) => Self::Io(path, source),
            _ => Self::Sql(path, source),
        }
    }
}

/// What was kept of the event of a file that was replaced.
fn kept(copy: Option<&Path>) -> String {
    match copy {
        Some(copy) => format!(
            "the event until then is in `{}`: move that file to the place of the database, remove the `-wal` and `-shm` beside it, and begin the event again",
            copy.display()
        ),
        None => "no copy could be kept of what was played: restore it, or begin another one".to_owned(),
    }
}

/// Databases beside one that is missing, at most five.
fn listed(others: &[PathBuf]) -> String {
    match others {
        [] => String::new(),
        others => {
            let names: Vec<_> = others.iter().take(5).map(|path| format!("`{}`", path.display())).collect();
            format!(", but {}{}", names.join(", "), if others.len() > 5 { ", .." } else { "" })
        }
    }
}
