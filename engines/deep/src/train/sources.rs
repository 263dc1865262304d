//! Sources of training positions: files of games and positions, labels, and lines of play.

use crate::{label, samples::Corpus};
use anyhow::{Context, Result, anyhow, ensure};
use lzma_rust2::XzReader;
use opening_book::games::{self, Game};
use rsshogi::{board::STARTPOS_SFEN, types::Move};
use serde::{Deserialize, Serialize};
use std::{
    convert::Infallible,
    fmt,
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    str::FromStr,
};

/// A file of games or positions; the file name's extension determines its format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// `.labels`: labels of an engine ([`label`](crate::label)).
    Labels(PathBuf),
    /// `.txt`, `.xz`: one game per line, its moves from the even start position in USI notation, without a result: for the
    /// policy alone.
    Lines(PathBuf),
    /// Game records in all formats of [`games()`](games::games): CSA, KIF, PSV, hcpe, lists of scored lines, directories.
    Games(PathBuf),
}

impl FromStr for Source {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let path = PathBuf::from(text);
        Ok(match path.extension().and_then(|ending| ending.to_str()) {
            Some("labels") => Self::Labels(path),
            Some("txt" | "xz") => Self::Lines(path),
            _ => Self::Games(path),
        })
    }
}

impl Source {
    fn read(&self, corpus: &mut Corpus) -> Result<()> {
        match self {
            Self::Labels(path) => label::read(path, corpus),
            Self::Lines(path) => read_lines(path, corpus),
            Self::Games(path) => {
                for (game, number) in games::games(path)?.iter().zip(1..) {
                    corpus.add(game, format_args!("source `{self}`, game {number}"));
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Labels(path) | Self::Lines(path) | Self::Games(path)) = self;
        path.display().fmt(f)
    }
}

/// Reads all sources, in order.
///
/// # Errors
/// When one cannot be read or is malformed.
pub fn load(sources: &[Source]) -> Result<Corpus> {
    let mut corpus = Corpus::default();
    for (index, source) in sources.iter().enumerate() {
        let begin = corpus.samples.len();
        source.read(&mut corpus)?;
        let index = u8::try_from(index).context("more than 256 sources")?;
        corpus.samples[begin..].iter_mut().for_each(|sample| sample.source = index);
    }
    Ok(corpus)
}

/// The lines of a file, decompressed as they are read.
fn lines(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = BufReader::new(File::open(path)?);
    let is_packed = path.extension().is_some_and(|ending| ending == "xz");
    Ok(if is_packed { Box::new(BufReader::new(XzReader::new(file, true))) } else { Box::new(file) })
}

fn read_lines(path: &Path, corpus: &mut Corpus) -> Result<()> {
    let lines = lines(path).map_err(|fault| anyhow!("source `{}`: {fault}", path.display()))?;
    for (line, number) in lines.lines().zip(1..) {
        let place = format!("source `{}`, line {number}", path.display());
        let game = line.map_err(Into::into).and_then(|line| game_of(&line));
        corpus.add(&game.map_err(|fault| anyhow!("{place}: {fault}"))?, place);
    }
    Ok(())
}

/// A game without result and scores, not yet checked against the rules.
fn game_of(line: &str) -> Result<Game> {
    let moves = line.split_ascii_whitespace().map(|text| {
        let mv = Move::from_usi(text).with_context(|| format!("`{text}` is no move in USI notation"))?;
        Ok((mv, None))
    });
    let moves = moves.collect::<Result<Vec<_>>>()?;
    ensure!(!moves.is_empty(), "no moves");
    Ok(Game { start: STARTPOS_SFEN.to_owned(), moves, ..Game::default() })
}

#[cfg(test)]
mod tests;
