//! Sources of training positions: Renmei databases, files of labels, lists of games, and the binary formats PSV
//! and hcpe.

mod binary;
mod list;
mod store;

use super::samples::Corpus;
use journal::StoreError;
use std::{
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
};

/// A file of games or positions; the file name's extension determines its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `.db`, `.sqlite`: a Renmei database, all games that count, or a file of labels
    /// ([`label`](crate::label)).
    Store(PathBuf),
    /// `.tsv`: one game per line: number of random opening plies, ending, moves, scores.
    List(PathBuf),
    /// `.psv`: 40 bytes per position, as in YaneuraOu and nnue-pytorch.
    Psv(PathBuf),
    /// `.hcpe`: 38 bytes per position, as in dlshogi and Apery.
    Hcpe(PathBuf),
}

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The extension is unknown.
    #[error("`{0}` is not a source: its extension must be .db, .sqlite, .tsv, .psv or .hcpe")]
    Unknown(String),
    /// The file could not be read.
    #[error("source `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The games of a database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file is not a database, or its labels cannot be read.
    #[error("database `{}`: {source}", path.display())]
    Labels {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: journal::LabelFault,
    },
    /// An invalid line or entry.
    #[error("source `{}`, {place}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Line or entry, from 1.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let path = PathBuf::from(text);
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("db" | "sqlite") => Ok(Self::Store(path)),
            Some("tsv") => Ok(Self::List(path)),
            Some("psv") => Ok(Self::Psv(path)),
            Some("hcpe") => Ok(Self::Hcpe(path)),
            _ => Err(SourceError::Unknown(text.to_owned())),
        }
    }
}

impl Source {
    fn path(&self) -> &Path {
        match self {
            Self::Store(path) | Self::List(path) | Self::Psv(path) | Self::Hcpe(path) => path,
        }
    }

    fn read(&self, corpus: &mut Corpus) -> Result<(), SourceError> {
        let file = |source| SourceError::File { path: self.path().to_owned(), source };
        match self {
            Self::Store(path) => store::read(path, corpus),
            Self::List(path) => list::read(path, &std::fs::read_to_string(path).map_err(file)?, corpus),
            Self::Psv(path) => binary::read_psv(path, &std::fs::read(path).map_err(file)?, corpus),
            Self::Hcpe(path) => binary::read_hcpe(path, &std::fs::read(path).map_err(file)?, corpus),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path().display().fmt(f)
    }
}

/// Reads all sources, in order.
///
/// # Errors
/// When one cannot be read or has another format than its extension says.
pub fn load(sources: &[Source]) -> Result<Corpus, SourceError> {
    let mut corpus = Corpus::default();
    sources.iter().try_for_each(|source| source.read(&mut corpus))?;
    Ok(corpus)
}

#[cfg(test)]
mod tests;
