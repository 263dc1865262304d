//! Record files: finding and reading them, with faults by line.

use notation::record::{self, Format, GameRecord, HEAD, RecordFault};
use platform::files::{LARGE, typed, typed_contents};
use referee::number::number;
use serde::Serialize;
use std::{
    borrow::Cow,
    collections::HashSet,
    fmt, fs,
    io::{self, BufRead, BufReader, Read as _},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

/// A file or record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileFault {
    /// The file.
    pub file: PathBuf,
    /// Line from 1, or entry from 1 in a binary file; `None` when the whole file is at fault.
    pub line: Option<usize>,
    /// The fault, as a lowercase fragment.
    pub reason: String,
    /// True for an illegal move.
    pub illegal: bool,
}

impl FileFault {
    /// A fault of a whole file.
    pub(super) fn whole(file: &Path, reason: String) -> Self {
        Self { file: file.to_owned(), line: None, reason, illegal: false }
    }

    /// A fault in a record.
    pub(super) fn of(file: &Path, RecordFault { line, what }: RecordFault) -> Self {
        let (reason, illegal) = (what.to_string(), what.is_illegal());
        Self { file: file.to_owned(), line: Some(line), reason, illegal }
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file.display(), self.reason),
            None => write!(f, "{}: {}", self.file.display(), self.reason),
        }
    }
}

/// The named files, and the record files in the named directories (by extension), sorted by name, each once; and what cannot
/// be read.
pub fn found(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<FileFault>) {
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        if path.is_dir() {
            walk(path, &mut files, &mut faults);
        } else {
            files.push(path.clone());
        }
    }
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    (files, faults)
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>, faults: &mut Vec<FileFault>) {
    let mut entries = match fs::read_dir(directory).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
        Ok(entries) => entries,
        Err(error) => return faults.push(unreadable(directory, &error)),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        // Links to directories are not followed: a link to a parent would never end.
        let (path, is_link) = (entry.path(), entry.file_type().is_ok_and(|it| it.is_symlink()));
        if path.is_dir() && !is_link {
            walk(&path, files, faults);
        } else if !path.is_dir() && hint(&path).is_some() {
            files.push(path);
        }
    }
}

/// The records of a file of at most `most` bytes, each or why it cannot be read.
pub fn read(path: &Path, most: u64) -> Vec<Result<GameRecord, FileFault>> {
    let mut records = vec![];
    match Content::of(path, most) {
        Err(fault) => records.push(Err(fault)),
        Ok(mut content) => content.games(|read| {
            records.push(read.map_err(|fault| FileFault::of(path, fault)));
            ControlFlow::Continue(())
        }),
    }
    records
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> FileFault {
    FileFault::whole(path, format!("cannot be read: {error}"))
}

pub(super) fn hint(path: &Path) -> Option<Format> {
    path.extension().and_then(|it| it.to_str()).and_then(Format::from_extension)
}

/// Content of a file, and the format its name suggests.
pub(super) struct Content {
    /// The whole of it, or the beginning.
    pub bytes: Vec<u8>,
    /// What follows.
    rest: Box<dyn BufRead>,
    hint: Option<Format>,
}

impl Content {
    /// The content of a file of at most `most` bytes.
    pub fn of(path: &Path, most: u64) -> Result<Self, FileFault> {
        let bytes = typed_contents(path, most).map_err(|error| unreadable(path, &error))?;
        Ok(Self::whole(path, bytes))
    }

    /// The content of a file of any size, of which a part is in memory at a time: its games can be read once. What comes out
    /// of a pipe, and texts in UTF-16, are in memory as a whole.
    pub fn in_parts(path: &Path) -> Result<Self, FileFault> {
        if !path.is_file() {
            return Self::of(path, LARGE);
        }
        let begin = || {
            let (mut file, mut bytes) = (typed(path)?, vec![]);
            (&mut file).take(HEAD as u64).read_to_end(&mut bytes)?;
            Ok((bytes, BufReader::new(file)))
        };
        let (bytes, rest) = begin().map_err(|error| unreadable(path, &error))?;
        let is_whole = bytes.len() < HEAD;
        match (is_whole, matches!(record::unicode(&bytes), Cow::Owned(_))) {
            (true, _) => Ok(Self::whole(path, bytes)),
            (false, true) => Self::of(path, LARGE),
            (false, false) => Ok(Self { bytes, rest: Box::new(rest), hint: hint(path) }),
        }
    }

    fn whole(path: &Path, bytes: Vec<u8>) -> Self {
        let bytes = match record::unicode(&bytes) {
            Cow::Owned(read) => read,
            Cow::Borrowed(_) => bytes,
        };
        Self { bytes, rest: Box::new(io::empty()), hint: hint(path) }
    }

    /// Calls `each` with all records of the file that hold a game, and with all faults, until it breaks off.
    pub fn games(&mut self, mut each: impl FnMut(record::Read) -> ControlFlow<()>) {
        let (mut found, mut positions, mut flow) = (0, vec![], ControlFlow::Continue(()));
        record::each_of(&self.bytes, &mut self.rest, self.hint, |line, read| {
            found += 1;
            flow = match read {
                Ok(record) if record.plies.is_empty() && record.ending.is_none() => {
                    match record.start == GameRecord::default().start {
                        true => each(Err(RecordFault::new(line, "holds no move"))),
                        false => {
                            positions.push(line);
                            ControlFlow::Continue(())
                        }
                    }
                }
                read => each(read),
            };
            flow
        });
        let _is_broken_off = flow.is_break()
            || match positions[..] {
                [] if found == 0 => each(Err(RecordFault::new(1, "holds no game"))),
                [first, _, ..] if positions.len() == found => each(Err(no_game(first, found))),
                _ => positions.iter().try_for_each(|line| each(Err(no_game(*line, 1)))),
            }
            .is_break();
    }
}

/// Advice on positions, which are not games.
fn no_game(line: usize, positions: usize) -> RecordFault {
    let (what, advice) =
        (number(positions, "position"), "play from them with `--openings FILE` or `[openings] file`");
    RecordFault::new(line, format!("{what} without a move: openings, not games; {advice}"))
}
