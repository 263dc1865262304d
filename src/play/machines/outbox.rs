//! What a worker keeps on its disk: the answers that nobody has taken yet.

use crate::{
    MachineError,
    worker::{MOST_KEPT, NotKept},
};
use platform::{files, locks::Lock};
use referee::lease::LeaseId;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The directory of a worker; no second process uses it.
#[derive(Debug)]
pub struct Outbox {
    directory: PathBuf,
    _lock: Lock,
}

impl Outbox {
    /// Opens the directory of a worker for an event.
    ///
    /// # Errors
    /// When the directory cannot be used, or another worker uses it.
    pub fn open(state: &Path, event: &str) -> Result<Self, MachineError> {
        let failed = |source| MachineError::Directory(state.to_owned(), source);
        fs::create_dir_all(state).map_err(failed)?;
        let lock = files::create(&state.join("lock")).map_err(failed)?;
        let lock = Lock::exclusive(lock).map_err(|_| MachineError::InUse(state.to_owned()))?;
        let directory = state.join(event);
        fs::create_dir_all(&directory).map_err(failed)?;
        Ok(Self { directory, _lock: lock })
    }

    fn path(&self, lease: LeaseId) -> PathBuf {
        self.directory.join(format!("{lease}.json"))
    }

    /// Keeps an answer: on return it is on the disk, whole, or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, lease: LeaseId, answer: &[u8]) -> Result<(), NotKept> {
        self.write(lease, answer).map_err(|why| NotKept::Io(self.directory.clone(), why))
    }

    fn write(&self, lease: LeaseId, answer: &[u8]) -> io::Result<()> {
        let part = self.directory.join(format!("{lease}.part"));
        let mut file = files::create(&part)?;
        file.write_all(answer)?;
        file.sync_all()?;
        fs::rename(&part, self.path(lease))?;
        files::sync_directory(&self.directory)
    }

    /// An answer as it was kept.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, lease: LeaseId) -> io::Result<Vec<u8>> {
        files::contents(&self.path(lease), files::LARGE)
    }

    /// Forgets an answer that was taken, or never will be.
    pub fn forget(&self, lease: LeaseId) {
        // If it stays, it is sent and confirmed once more.
        let _gone_or_sent_again = fs::remove_file(self.path(lease));
    }

    /// Leases whose answers are kept.
    pub fn leases(&self) -> Vec<LeaseId> {
        let files = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let lease = |file: fs::DirEntry| file.file_name().to_str()?.strip_suffix(".json")?.parse().ok();
        let mut leases: Vec<LeaseId> = files.filter_map(lease).take(MOST_KEPT).collect();
        leases.sort_unstable();
        leases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_until_it_is_forgotten() {
        let state = tempfile::tempdir().unwrap();
        let open = || Outbox::open(state.path(), "event");
        let outbox = open().unwrap();
        outbox.keep(LeaseId(7), b"played").unwrap();
        assert!(matches!(open().unwrap_err(), MachineError::InUse(_)));
        drop(outbox);
        let outbox = open().unwrap();
        assert_eq!(outbox.leases(), [LeaseId(7)]);
        assert_eq!(outbox.read(LeaseId(7)).unwrap(), b"played");
        outbox.forget(LeaseId(7));
        assert_eq!(outbox.leases(), []);
    }
}
