//! Where positions come from: Renmei's own store, lists of games, and two binary formats of the field.

mod binary;
mod list;
mod store;

use super::samples::Corpus;
use std::{
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
};

/// A file of games or positions; its kind is known by its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `.db`, `.sqlite`: a store of `renmei`, all games that count, or what an engine said of positions
    /// ([`label`](crate::label)).
    Store(PathBuf),
    /// `.tsv`: a game a line: plies of its random opening, how it ended, moves, scores.
    List(PathBuf),
    /// `.psv`: 40 bytes a position, as YaneuraOu and nnue-pytorch have them.
    Psv(PathBuf),
    /// `.hcpe`: 38 bytes a position, as dlshogi and Apery have them.
    Hcpe(PathBuf),
}

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Not a kind of file that is known here.
    #[error("`{0}` is no source: its name is to end in .db, .sqlite, .tsv, .psv or .hcpe")]
    Unknown(String),
    /// The file could not be read.
    #[error("source `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The database could not be read.
    #[error("store `{}`: {source}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: rusqlite::Error,
    },
    /// A place in the file says nothing.
    #[error("source `{}`, {place}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// A line or an entry, from 1.
        place: String,
        /// What is wrong there.
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
/// When one cannot be read or is not what its ending says.
pub fn load(sources: &[Source]) -> Result<Corpus, SourceError> {
    let mut corpus = Corpus::default();
    sources.iter().try_for_each(|source| source.read(&mut corpus))?;
    Ok(corpus)
}

#[cfg(test)]
mod tests;
