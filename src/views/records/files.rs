//! Record files: finding and reading them, with faults by line.

use super::openings::has_a_game_a_line;
use notation::record::{self, Flaw, Format, GameRecord, RecordFault};
use serde::Serialize;
use std::{
    fmt, fs,
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

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file.display(), self.reason),
            None => write!(f, "{}: {}", self.file.display(), self.reason),
        }
    }
}

/// The named files, and the record files in the named directories (by extension), sorted by name; and what cannot be read.
#[must_use]
pub fn found(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<FileFault>) {
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        if path.is_dir() {
            walk(path, &mut files, &mut faults);
        } else {
            files.push(path.clone());
        }
    }
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
        } else if path.is_file() && hint(&path).is_some() {
            files.push(path);
        }
    }
}

/// The records of a file of at most `most` bytes, each or why it cannot be read.
#[must_use]
pub fn read(path: &Path, most: u64) -> Vec<Result<GameRecord, FileFault>> {
    let fault = |line, reason: String, illegal| FileFault { file: path.to_owned(), line, reason, illegal };
    match fs::metadata(path) {
        Err(error) => return vec![Err(unreadable(path, &error))],
        Ok(data) if data.len() > most => {
            return vec![Err(fault(None, format!("larger than {} MiB", most >> 20), false))];
        }
        Ok(_) => {}
    }
    let content = match Content::of(path) {
        Ok(content) => content,
        Err(fault) => return vec![Err(fault)],
    };
    let mut records = vec![];
    content.records(|_, read| {
        records.push(read.map_err(|RecordFault { line, what }| fault(Some(line), what.to_string(), false)));
    });
    records
}

fn unreadable(path: &Path, error: &std::io::Error) -> FileFault {
    FileFault {
        file: path.to_owned(),
        line: None,
        reason: format!("cannot be read: {error}"),
        illegal: false,
    }
}

fn hint(path: &Path) -> Option<Format> {
    path.extension().and_then(|it| it.to_str()).and_then(Format::from_extension)
}

/// A record or its fault; lines count from 1 in the whole file.
pub(super) type Read = Result<GameRecord, RecordFault>;

/// A part of a file that is read by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'c> {
    /// Lines of the file before it.
    pub before: usize,
    pub bytes: &'c [u8],
    /// The format that the name of the file suggests.
    pub hint: Option<Format>,
}

/// Content of a file, and the format its name suggests.
pub(super) struct Content {
    pub bytes: Vec<u8>,
    pub hint: Option<Format>,
}

impl Content {
    pub fn of(path: &Path) -> Result<Self, FileFault> {
        let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
        Ok(Self { bytes: record::unicode(&bytes).into_owned(), hint: hint(path) })
    }

    /// Calls `each` with all records of the file and the part of the file that each comes from. A fault in one record does
    /// not affect the others: records are separated by line or, in CSA, by part; other formats hold one record per file.
    pub fn records<'c>(&'c self, mut each: impl FnMut(Part<'c>, Read)) {
        let parts = self.parts();
        let part = |(before, bytes)| Part { before, bytes, hint: self.hint };
        let fault = |line, reason| Err(RecordFault { line, what: Flaw::Form(reason) });
        if parts.len() > 1 && parts.iter().all(|(_, part)| is_position(part)) {
            return each(part(parts[0]), fault(parts[0].0 + 1, positions(parts.len())));
        }
        let mut found = false;
        for (before, bytes) in parts {
            let part = part((before, bytes));
            match record::read(bytes, self.hint) {
                Ok(records) => records.into_iter().for_each(|record| {
                    found = true;
                    match is_game(&record) {
                        true => each(part, Ok(record)),
                        false if is_position(bytes) => each(part, fault(before + 1, positions(1))),
                        false => each(part, fault(before + 1, "holds no move".to_owned())),
                    }
                }),
                Err(fault) => {
                    found = true;
                    each(part, Err(RecordFault { line: before + fault.line, ..fault }));
                }
            }
        }
        if !found {
            each(part((0, &self.bytes)), fault(1, "holds no game".to_owned()));
        }
    }

    /// Independent parts, each with the number of lines before it.
    fn parts(&self) -> Vec<(usize, &[u8])> {
        let lines = self.bytes.split_inclusive(|byte| *byte == b'\n');
        if has_a_game_a_line(&self.bytes) {
            let is_significant = |line: &[u8]| !matches!(line.trim_ascii().first(), None | Some(b'#'));
            return lines.enumerate().filter(|(_, line)| is_significant(line)).collect();
        }
        if self.bytes.contains(&0) {
            return vec![(0, &self.bytes)];
        }
        // Only CSA has a line that separates games.
        let (mut parts, mut begin, mut at, mut before) = (Vec::new(), 0, 0, 0);
        for (number, line) in lines.enumerate() {
            at += line.len();
            if line.trim_ascii() == b"/" {
                parts.push((before, &self.bytes[begin..at - line.len()]));
                (begin, before) = (at, number + 1);
            }
        }
        parts.push((before, &self.bytes[begin..]));
        if parts.len() > 1 {
            parts.retain(|(_, part)| part.split(|byte| *byte == b'\n').any(is_statement));
        }
        parts
    }
}

/// True for a line with a position and no moves.
fn is_position(line: &[u8]) -> bool {
    has_a_game_a_line(line)
        && record::read(line, Some(Format::Usi)).is_ok_and(|read| !read.iter().any(is_game))
}

/// Advice on a file of positions, which holds no games.
fn positions(count: usize) -> String {
    let what = if count == 1 {
        "a position without a move".to_owned()
    } else {
        format!("{count} positions without a move")
    };
    format!("{what}: openings, not games; play from them with `--openings FILE` or `[openings] file`")
}

/// Rejects a bare position and text without any part of a record.
fn is_game(record: &GameRecord) -> bool {
    !record.plies.is_empty() || record.ending.is_some()
}

/// True for a line of a CSA file that is neither empty nor a comment.
fn is_statement(line: &[u8]) -> bool {
    !matches!(line.trim_ascii().first(), None | Some(b'\''))
}
