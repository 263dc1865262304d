//! Sources of training positions: Renmei databases, files of labels, lists of games, lines of play, and the binary formats
//! PSV and hcpe.

mod binary;

use crate::{
    label,
    samples::{Corpus, MATE},
};
use anyhow::{Context, Result, anyhow, bail, ensure};
use lzma_rust2::XzReader;
use opening_book::games::{self, Game, ScoredFault};
use rsshogi::{board::STARTPOS_SFEN, types::Move};
use std::{
    fmt,
    fs::{self, File},
    io::{self, BufRead, BufReader},
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
    /// `.txt`, `.xz`: one game per line, its moves from the even start position in USI notation, without a result: for the
    /// policy alone.
    Lines(PathBuf),
    /// `.psv`: 40 bytes per position, as in YaneuraOu and nnue-pytorch.
    Psv(PathBuf),
    /// `.hcpe`: 38 bytes per position, as in dlshogi and Apery.
    Hcpe(PathBuf),
}

impl FromStr for Source {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let path = PathBuf::from(text);
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("db" | "sqlite") => Ok(Self::Store(path)),
            Some("tsv") => Ok(Self::List(path)),
            Some("txt" | "xz") => Ok(Self::Lines(path)),
            Some("psv") => Ok(Self::Psv(path)),
            Some("hcpe") => Ok(Self::Hcpe(path)),
            _ => bail!(
                "`{text}` is not a source: its extension must be .db, .sqlite, .tsv, .txt, .xz, .psv or .hcpe"
            ),
        }
    }
}

impl Source {
    fn path(&self) -> &Path {
        match self {
            Self::Store(path) | Self::List(path) | Self::Lines(path) | Self::Psv(path) | Self::Hcpe(path) => {
                path
            }
        }
    }

    fn read(&self, corpus: &mut Corpus) -> Result<()> {
        let file = |fault| anyhow!("source `{self}`: {fault}");
        match self {
            Self::Store(path) => read_database(path, corpus),
            Self::List(path) => read_list(path, &fs::read_to_string(path).map_err(file)?, corpus),
            Self::Lines(path) => read_lines(path, lines(path).map_err(file)?, corpus),
            Self::Psv(path) => binary::read_psv(path, &fs::read(path).map_err(file)?, corpus),
            Self::Hcpe(path) => binary::read_hcpe(path, &fs::read(path).map_err(file)?, corpus),
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
/// When one cannot be read or its format does not match its extension.
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

/// Adds the labels of a file of labels, or the games that count of any other database.
fn read_database(path: &Path, corpus: &mut Corpus) -> Result<()> {
    let found =
        label::read(path, corpus).map_err(|fault| anyhow!("database `{}`: {fault}", path.display()))?;
    if !found {
        games::counted(path, MATE, |game| corpus.add(&game))?;
    }
    Ok(())
}

/// Returns false for a database without labels.
fn read_list(path: &Path, text: &str, corpus: &mut Corpus) -> Result<()> {
    for (number, line, game) in games::scored_lines(text) {
        let game = game.and_then(|game| match game.result {
            Some(_) => Ok(game),
            None => Err(ScoredFault::Ending(line.split('\t').nth(1).unwrap_or_default().to_owned())),
        });
        let game = game.map_err(|fault| content(path, format_args!("line {number}"), &fault.to_string()))?;
        corpus.add(&game);
    }
    Ok(())
}

/// The lines of a file, decompressed as they are read.
fn lines(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = BufReader::new(File::open(path)?);
    let is_packed = path.extension().is_some_and(|ending| ending == "xz");
    Ok(if is_packed { Box::new(BufReader::new(XzReader::new(file, true))) } else { Box::new(file) })
}

fn read_lines(path: &Path, lines: impl BufRead, corpus: &mut Corpus) -> Result<()> {
    for (at, line) in lines.lines().enumerate() {
        let there =
            |fault: &dyn fmt::Display| content(path, format_args!("line {}", at + 1), &fault.to_string());
        let game = line.map_err(Into::into).and_then(|line| game_of(&line)).map_err(|fault| there(&fault))?;
        if let Err(fault) = corpus.add_valid(&game) {
            corpus.broken += 1;
            corpus.first_fault.get_or_insert_with(|| there(&fault).to_string());
        }
    }
    Ok(())
}

/// A game without result and scores, not yet checked against the rules.
fn game_of(line: &str) -> Result<Game> {
    let moves = line.split_ascii_whitespace().map(|text| {
        Move::from_usi(text)
            .map(|mv| (mv, None))
            .with_context(|| format!("`{text}` is no move in USI notation"))
    });
    let moves = moves.collect::<Result<Vec<_>>>()?;
    ensure!(!moves.is_empty(), "no moves");
    Ok(Game { start: STARTPOS_SFEN.to_owned(), moves, ..Game::default() })
}

fn content(path: &Path, place: impl fmt::Display, reason: &str) -> anyhow::Error {
    anyhow!("source `{}`, {place}: {reason}", path.display())
}

#[cfg(test)]
mod tests;
