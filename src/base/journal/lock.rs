//! One process plays an event: a file lock, which the system releases when the process dies.

use super::{EventId, StoreError};
use platform::files;
use std::{
    fs::{self, File, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The right to play an event; released on drop.
#[derive(Debug)]
pub(super) struct EventLock {
    pub(super) event: EventId,
    /// True if the holder before died: it did not remove the file.
    pub(super) was_left: bool,
    path: PathBuf,
    /// Holds the lock while open.
    file: File,
}

impl EventLock {
    /// Takes the lock file of `event` beside its database and writes the holder's process, host and start time into
    /// it.
    pub(super) fn take(database: &Path, event: EventId, name: &str, since: &str) -> Result<Self, StoreError> {
        let path = files::beside(database, &format!("-run{}", event.0));
        let failed = |source| StoreError::Lock(path.clone(), Arc::new(source));
        loop {
            let mut file = files::open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) if files::is_at(&file, &path) => {
                    let was_left = file.metadata().map_err(failed)?.len() > 0;
                    sign(&mut file, since).map_err(failed)?;
                    return Ok(Self { event, was_left, path, file });
                }
                // The previous holder removed this file after we opened it; retry on its successor.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Running { event: name.to_owned(), holder: holder(&mut file) });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
    }
}

/// The process that plays one event of the database, if any.
pub(super) fn holder_of_event(database: &Path, event: EventId) -> Option<String> {
    let mut file = files::read(&files::beside(database, &format!("-run{}", event.0))).ok()?;
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| holder(&mut file))
}

impl Drop for EventLock {
    fn drop(&mut self) {
        // Removed while still locked, so that no process can lock a file that is gone. If removal fails, an unlocked
        // file stays behind, which is harmless.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

fn sign(file: &mut File, since: &str) -> io::Result<()> {
    let host = platform::usage::host_name().unwrap_or_else(|| "this machine".to_owned());
    file.set_len(0)?;
    write!(file, "process {} on host {host} since {since}", std::process::id())
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.take(200).read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}
