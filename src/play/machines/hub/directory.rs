//! The directory of a hub, beside the database: keys, certificate, users.
//!
//! ```text
//! FILE-hub/lock              held by the manager that uses it
//! FILE-hub/keys.json         what survives a restart: a line to join with stays valid
//! FILE-hub/certificate.pem   and its key, private.pem
//! FILE-hub/members.json      workers that were let in
//! FILE-hub/nats.conf         written at each start and for each new worker
//! FILE-hub/server.pid        process and start time of the server
//! ```

use crate::hub::HubError;
use platform::{files, locks::Lock};
use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Longest file of a hub that is read.
const LONGEST: u64 = 4 << 20;

/// The directory of a hub, held by this process alone.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    _lock: Lock,
}

impl Directory {
    /// Makes it if there is none, and takes it.
    pub fn take(path: &Path) -> Result<Self, HubError> {
        let failed = failed(path);
        files::create_directory(path, files::Access::Private).map_err(failed)?;
        let path = fs::canonicalize(path).map_err(failed)?;
        files::owner_alone(&path).map_err(failed)?;
        let file = files::open(&path.join("lock")).map_err(failed)?;
        match Lock::exclusive(file) {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(_) => Err(HubError::InUse(path)),
        }
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// What is in a file; nothing if there is none.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, HubError> {
        let path = self.path(name);
        read(&path).map_err(failed(&path))
    }

    /// Writes a file that its user alone may read, in one piece.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), HubError> {
        let written = files::write_below(&self.path, Path::new(name), bytes, files::Access::Private);
        written.map_err(failed(&self.path(name)))
    }
}

/// What is in a private file; nothing if there is none.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match files::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The error of a file or a directory of a hub.
pub(crate) fn failed(path: &Path) -> impl Fn(io::Error) -> HubError + Copy + '_ {
    move |source| HubError::Directory(path.to_path_buf(), source)
}
