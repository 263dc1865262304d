//! Files that a target needs, because what it checks reads paths.

use std::{
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// A directory of one check or one process, in memory where the system has such a place; it goes with the value.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// An empty directory.
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let made = tempfile::Builder::new().prefix("renmei-fuzz-").tempdir_in(place);
        Self(made.unwrap_or_else(|fault| panic!("no directory for the files of a check: {fault}")))
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file in it.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        path
    }
}
