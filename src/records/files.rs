//! Record files: found in directories, read, told by line where they cannot be.

use super::openings::has_a_game_a_line;
use notation::record::{self, Format, GameRecord, RecordFault};
use serde::Serialize;
use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// A file, or a record in it, that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileFault {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; in a binary file the entry. `None` when no line is to blame.
    pub line: Option<usize>,
    /// What is wrong, as a lowercase fragment.
    pub reason: String,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file.display(), self.reason),
            None => write!(f, "{}: {}", self.file.display(), self.reason),
        }
    }
}

/// The files that are meant: those named, and those in the directories named whose extension is a record's, in the
/// order of their names.
pub(super) fn found(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<FileFault>) {
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
        // A link may lead back up: links to files are read, links to directories are not followed.
        let (path, is_link) = (entry.path(), entry.file_type().is_ok_and(|it| it.is_symlink()));
        if path.is_dir() && !is_link {
            walk(&path, files, faults);
        } else if path.is_file() && hint(&path).is_some() {
            files.push(path);
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> FileFault {
    FileFault { file: path.to_owned(), line: None, reason: format!("cannot be read: {error}") }
}

fn hint(path: &Path) -> Option<Format> {
    path.extension().and_then(|it| it.to_str()).and_then(Format::from_extension)
}

/// A record, or why there is none; lines count from 1 in the whole file.
pub(super) type Read = Result<GameRecord, RecordFault>;

/// A file's content, and the format its name suggests.
pub(super) struct Content {
    pub bytes: Vec<u8>,
    pub hint: Option<Format>,
}

impl Content {
    pub fn of(path: &Path) -> Result<Self, FileFault> {
        let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
        Ok(Self { bytes, hint: hint(path) })
    }

    /// Every record that can be told from its neighbours by itself: one line, one part of a CSA file; else the whole
    /// file.
    pub fn records(&self) -> Vec<Read> {
        let mut reads = Vec::new();
        for (before, part) in self.parts() {
            match record::read(part, self.hint) {
                Ok(records) => reads.extend(records.into_iter().map(|record| match is_game(&record) {
                    true => Ok(record),
                    false => Err(RecordFault { line: before + 1, reason: "holds no move".to_owned() }),
                })),
                Err(fault) => reads.push(Err(RecordFault { line: before + fault.line, ..fault })),
            }
        }
        if reads.is_empty() {
            reads.push(Err(RecordFault { line: 1, reason: "holds no game".to_owned() }));
        }
        reads
    }

    /// Parts that stand alone, each with the number of lines before it.
    pub fn parts(&self) -> Vec<(usize, &[u8])> {
        let lines = self.bytes.split_inclusive(|byte| *byte == b'\n');
        if has_a_game_a_line(&self.bytes) {
            let telling = |line: &[u8]| !matches!(line.trim_ascii().first(), None | Some(b'#'));
            return lines.enumerate().filter(|(_, line)| telling(line)).collect();
        }
        if self.bytes.contains(&0) {
            return vec![(0, &self.bytes)];
        }
        // Only CSA has a line that parts games.
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

/// A position alone is none, nor is a text that holds nothing of a record.
fn is_game(record: &GameRecord) -> bool {
    !record.plies.is_empty() || record.ending.is_some()
}

/// Whether a line of a CSA file is neither empty nor a comment.
fn is_statement(line: &[u8]) -> bool {
    !matches!(line.trim_ascii().first(), None | Some(b'\''))
}
