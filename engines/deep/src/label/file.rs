//! The file of labels: text, the first line with the name of the teacher, then a line for each position.
//!
//! Its fields, with tabs between them: the position in SFEN; the move in USI notation; the score of the side to move in
//! centipawns; twice the points of the side to move in the game; how often the position occurred before in it; its number.
//! `-` for a move, score or result that is not known.

use super::engine::Label;
use crate::samples::{Corpus, MATE, Sample};
use anyhow::{Error, Result, anyhow, bail};
use rsshogi::{board::position_from_sfen, types::Move};
use std::{
    collections::HashSet,
    fmt::Display,
    fs::{self, File},
    io::{ErrorKind, Write},
    path::Path,
    str::FromStr,
};

/// The beginning of the first line.
const HEAD: &str = "labels of ";
const UNKNOWN: &str = "-";

pub(super) struct LabelFile {
    file: File,
    known: HashSet<[u8; 32]>,
}

impl LabelFile {
    /// Opens or creates the file for the labels of `teacher`.
    pub(super) fn open(path: &Path, teacher: &str) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Err(fault) if fault.kind() == ErrorKind::NotFound => String::new(),
            text => text.map_err(|fault| failed(path, fault))?,
        };
        let mut known = HashSet::new();
        let mut whole = format!("{HEAD}{teacher}\n");
        if !text.is_empty() {
            let found = each(&text, path, |sample| {
                known.insert(sample.position.data);
            })?;
            if found != teacher {
                bail!(failed(
                    path,
                    format_args!("those of `{found}`, not of `{teacher}`: give another --out")
                ));
            }
            whole.clear();
        }
        let file = File::options().append(true).create(true).open(path).and_then(|mut file| {
            file.set_len(complete(&text).len() as u64)?;
            file.write_all(whole.as_bytes())?;
            Ok(file)
        });
        Ok(Self { file: file.map_err(|fault| failed(path, fault))?, known })
    }

    pub(super) fn has(&self, position: &[u8; 32]) -> bool {
        self.known.contains(position)
    }

    /// Writes a line as [`line`] makes it.
    pub(super) fn add(&mut self, line: &str) -> Result<()> {
        self.file.write_all(line.as_bytes()).map_err(|fault| anyhow!("labels cannot be written: {fault}"))
    }
}

/// The line of a position, which is that of `sample` in SFEN, and its label.
pub(super) fn line(sfen: &str, label: &Label, sample: &Sample) -> String {
    fn known(field: Option<&impl ToString>) -> String {
        field.map_or_else(|| UNKNOWN.to_owned(), ToString::to_string)
    }
    let (mv, score, half_points) =
        (known(label.mv.as_ref()), known(label.score.as_ref()), known(sample.half_points.as_ref()));
    format!("{sfen}\t{mv}\t{score}\t{half_points}\t{}\t{}\n", sample.seen, sample.game)
}

/// Adds the labels of a file to a corpus: position, engine's move and score, and the result of the game.
pub(crate) fn read(path: &Path, corpus: &mut Corpus) -> Result<()> {
    let text = fs::read_to_string(path).map_err(|fault| failed(path, fault))?;
    let mut games = HashSet::new();
    each(&text, path, |sample| {
        if sample.is_legal() {
            games.insert(sample.game);
            corpus.samples.push(sample);
        }
    })?;
    corpus.games += games.len();
    Ok(())
}

fn failed(path: &Path, fault: impl Display) -> Error {
    anyhow!("labels `{}`: {fault}", path.display())
}

/// The text as far as its lines have an end: the last one may be in writing, or was when a labelling was killed.
fn complete(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |end| end + 1)]
}

/// Hands the labels of a text to `use_label`, those without a move with `MOVE_NONE`. Returns the name of the teacher.
fn each<'a>(text: &'a str, path: &Path, mut use_label: impl FnMut(Sample)) -> Result<&'a str> {
    let mut lines = complete(text).lines().zip(1..);
    let teacher = lines.next().and_then(|(first, _)| first.strip_prefix(HEAD));
    let teacher = teacher.ok_or_else(|| failed(path, "not a file of labels"))?;
    for (line, number) in lines {
        use_label(parse(line).ok_or_else(|| failed(path, format_args!("malformed line {number}")))?);
    }
    Ok(teacher)
}

fn parse(line: &str) -> Option<Sample> {
    /// `Some(None)` for a field that is not known.
    fn known<T: FromStr>(field: &str) -> Option<Option<T>> {
        if field == UNKNOWN { Some(None) } else { field.parse().ok().map(Some) }
    }
    let fields: Vec<&str> = line.split('\t').collect();
    let &[sfen, mv, score, half_points, seen, game] = &fields[..] else { return None };
    Some(Sample {
        position: position_from_sfen(sfen).ok()?.try_to_packed_sfen().ok()?,
        mv: if mv == UNKNOWN { Move::MOVE_NONE } else { Move::from_usi(mv)? },
        score: known::<i32>(score)?.map(|score| score.clamp(-MATE, MATE) as i16),
        half_points: known(half_points)?,
        seen: seen.parse().ok()?,
        game: game.parse().ok()?,
        source: 0,
    })
}
