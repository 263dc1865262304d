//! Files: their hashes, each computed once, and whether they have changed since.

pub use platform::files::Stamp;

use crate::NotRead;
use platform::{content, files::Foreign};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Most files of a directory.
const MOST_FILES: usize = 1000;
/// Most bytes of a directory.
const MOST_BYTES: u64 = 32 << 30;
/// Bytes read at once.
const CHUNK: usize = 1 << 20;
/// After this time a person is told what is being read.
const SILENT: Duration = Duration::from_secs(2);

/// A file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    /// Its path, links followed.
    pub path: PathBuf,
    /// What the system said of it.
    pub stamp: Stamp,
    /// SHA-256 of its contents in hexadecimal digits.
    pub sha256: String,
}

/// Reads files, each once, however many engines have it.
pub struct Library<'a> {
    say: &'a dyn Fn(&str),
    known: HashMap<PathBuf, ReadFile>,
}

impl<'a> Library<'a> {
    /// A library without a book. `say` tells what is being read where that takes its time.
    pub fn new(say: &'a dyn Fn(&str)) -> Self {
        Self { say, known: HashMap::new() }
    }

    /// Tells something to people.
    pub fn say(&self, words: &str) {
        (self.say)(words);
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or a link leads out of what is foreign.
    pub fn read(&mut self, path: &Path, foreign: &Foreign) -> io::Result<ReadFile> {
        let path = foreign.real(path)?;
        if let Some(known) = self.known.get(&path) {
            return Ok(known.clone());
        }
        let file = foreign.open(&path)?;
        let stamp = Stamp::of(&file)?;
        let sha256 = hash(file, &mut || {
            let gigabytes = stamp.bytes as f64 / 1e9;
            (self.say)(&format!("reading `{}` ({gigabytes:.1} GB), to know what plays", path.display()));
        })?;
        let read = ReadFile { path: path.clone(), stamp, sha256 };
        self.known.insert(path, read.clone());
        Ok(read)
    }
}

/// SHA-256 in hexadecimal digits; `slow` is called once if it takes long.
fn hash(mut file: File, slow: &mut dyn FnMut()) -> io::Result<String> {
    let (begun, mut told) = (Instant::now(), false);
    let (mut sha256, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        let bytes = match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        sha256.update(&chunk[..bytes]);
        if !told && begun.elapsed() > SILENT {
            told = true;
            slow();
        }
    }
    Ok(content::hex(&sha256.finalize()))
}

/// The files below a directory, in the order of their paths, without those that are `left_out`.
///
/// # Errors
/// When it cannot be read, or holds more than is read at every start.
pub fn below(
    directory: &Path,
    foreign: &Foreign,
    left_out: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, NotRead> {
    let (mut files, mut bytes, mut open) = (vec![], 0_u64, vec![directory.to_owned()]);
    let mut visited = 0_usize;
    while let Some(directory) = open.pop() {
        visited += 1;
        let entries = fs::read_dir(&directory)?;
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| !left_out(path)) {
            match foreign.real(&path).and_then(fs::metadata) {
                Ok(data) if data.is_file() => {
                    bytes += data.len();
                    files.push(path);
                }
                Ok(data) if data.is_dir() => open.push(path),
                // Links that lead nowhere, or out of what is foreign, sockets, pipes.
                _ => {}
            }
        }
        // Directories count too: links may make them endless.
        if files.len().max(visited) > MOST_FILES {
            return Err(NotRead::Files(MOST_FILES));
        }
        if bytes > MOST_BYTES {
            return Err(NotRead::Gigabytes(MOST_BYTES >> 30));
        }
    }
    files.sort_unstable();
    Ok(files)
}
