//! What a job says of the files that it needs.

use crate::hub::FileFault;
use platform::content;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{collections::BTreeSet, path::Path};

/// Largest file that is sent to workers, in bytes.
pub const MOST_FILE_BYTES: u64 = 4 << 30;
/// Most files of a directory that is sent to workers, and their size together in bytes.
pub const MOST_DIRECTORY_FILES: usize = 2_000;
/// Largest directory that is sent to workers, in bytes.
pub const MOST_DIRECTORY_BYTES: u64 = 8 << 30;
/// Bytes of a file in a message.
pub const PIECE: u64 = 512 * 1024;
/// Longest list of the files of a directory, in bytes.
pub(crate) const LONGEST_LIST: u64 = 4 << 20;
/// Longest path of a file below its directory, in bytes, and how many directories deep it may lie.
const LONGEST_PATH: usize = 512;
const DEEPEST: usize = 16;

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    content::hex(&Sha256::digest(bytes))
}

/// A file that the manager sends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileRef {
    /// SHA-256 of what is in it.
    pub sha256: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// True if it is a program.
    pub executable: bool,
}

impl FileRef {
    /// How many messages it takes.
    pub(crate) fn pieces(&self) -> u64 {
        self.bytes.div_ceil(PIECE)
    }

    /// Size of one of them in bytes.
    pub(crate) fn piece_bytes(&self, piece: u64) -> u64 {
        PIECE.min(self.bytes.saturating_sub(piece * PIECE))
    }
}

/// A directory that the manager sends: a file that lists its files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeRef(pub(crate) FileRef);

impl TreeRef {
    /// The list of its files.
    pub fn list(&self) -> &FileRef {
        &self.0
    }
}

/// The files of a directory, each with its path below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct List {
    pub files: Vec<Listed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub path: String,
    #[serde(flatten)]
    pub file: FileRef,
}

impl List {
    /// Reads a list, and refuses one that would write anything outside of its directory, or more than is allowed.
    pub fn read(bytes: &[u8], sha256: &str) -> Result<Self, FileFault> {
        let bad = |why| FileFault::List(sha256.to_owned(), why);
        let list: Self = serde_json::from_slice(bytes).map_err(|_| bad("it is no list of files"))?;
        if list.files.len() > MOST_DIRECTORY_FILES {
            return Err(bad("it has too many files"));
        }
        let total = list.files.iter().try_fold(0_u64, |sum, listed| sum.checked_add(listed.file.bytes));
        if total.is_none_or(|total| total > MOST_DIRECTORY_BYTES) {
            return Err(bad("its files are too large"));
        }
        let mut paths = BTreeSet::new();
        for listed in &list.files {
            if !is_inside(&listed.path) {
                return Err(bad("it names a path outside of its directory"));
            }
            if !paths.insert(listed.path.as_str()) {
                return Err(bad("it names a path twice"));
            }
        }
        let is_file_and_directory = |path: &&str| {
            Path::new(path)
                .ancestors()
                .skip(1)
                .any(|above| above.to_str().is_some_and(|above| paths.contains(above)))
        };
        if paths.iter().any(is_file_and_directory) {
            return Err(bad("it names a file that is a directory too"));
        }
        Ok(list)
    }
}

/// True if a path stays below its directory, in every spelling: plain names with single slashes between them.
pub(crate) fn is_inside(path: &str) -> bool {
    let is_name = |name: &str| {
        !matches!(name, "" | "." | "..") && name.len() <= 255 && !name.chars().any(char::is_control)
    };
    path.len() <= LONGEST_PATH && path.split('/').count() <= DEEPEST && path.split('/').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(paths: &[&str]) -> Result<List, FileFault> {
        let file = FileRef { sha256: "1".repeat(64), bytes: 5, executable: false };
        let files =
            paths.iter().map(|path| Listed { path: (*path).to_owned(), file: file.clone() }).collect();
        List::read(&serde_json::to_vec(&List { files }).unwrap(), "")
    }

    #[test]
    fn a_list_of_files_stays_in_its_directory() {
        assert!(list(&["nn.bin", "eval/nn.bin", "eval/more/x y.txt", "..."]).is_ok());
        let long = "x/".repeat(20) + "x";
        for path in
            ["", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "./a", "a/.", "a\0b", "a\nb", &long]
        {
            assert!(list(&[path]).is_err(), "{path:?}");
        }
        for paths in [["a", "a"], ["a", "a/b"], ["a/b/c", "a/b"]] {
            assert!(list(&paths).is_err(), "{paths:?}");
        }
    }

    #[test]
    fn a_list_that_would_fill_a_disk_is_refused() {
        let huge = FileRef { sha256: "1".repeat(64), bytes: u64::MAX / 2, executable: false };
        let files = ["a", "b", "c"].map(|path| Listed { path: path.to_owned(), file: huge.clone() }).to_vec();
        let text = serde_json::to_vec(&List { files }).unwrap();
        assert!(List::read(&text, "").is_err());
        let names: Vec<String> = (0..=MOST_DIRECTORY_FILES).map(|n| n.to_string()).collect();
        assert!(list(&names.iter().map(String::as_str).collect::<Vec<_>>()).is_err());
        assert!(List::read(b"[", "").is_err());
    }
}
