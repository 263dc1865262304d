//! The file of labels.

use super::Answered;
use crate::samples::{Corpus, Sample};
use anyhow::{Result, anyhow, bail};
use journal::{LabelFault, LabelStore, StoredLabel, read_labels};
use rsshogi::{board::PackedSfen, types::Move};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

pub(super) struct LabelFile {
    store: LabelStore,
    path: PathBuf,
    known: HashSet<[u8; 32]>,
}

impl LabelFile {
    /// Opens or creates the file for the labels of `teacher`.
    pub(super) fn open(path: &Path, teacher: &str) -> Result<Self> {
        let failed = |fault| failed(path, &fault);
        let (store, found) = LabelStore::open(path, teacher).map_err(failed)?;
        if found != teacher {
            bail!(
                "labels `{}` are those of `{found}`, not of `{teacher}`: give another --out",
                path.display()
            );
        }
        let known = store.positions().map_err(failed)?;
        Ok(Self { store, path: path.to_owned(), known })
    }

    pub(super) fn has(&self, position: &[u8; 32]) -> bool {
        self.known.contains(position)
    }

    /// Writes labels in one transaction.
    pub(super) fn add(&mut self, answered: &[Answered]) -> Result<()> {
        let labels = answered.iter().map(|(sample, label)| StoredLabel {
            position: sample.position.data,
            mv: label.mv.clone(),
            score: label.score,
            seen: sample.seen,
            half_points: sample.half_points,
            game: sample.game,
        });
        self.store.add(labels).map_err(|fault| failed(&self.path, &fault))
    }
}

fn failed(path: &Path, fault: &LabelFault) -> anyhow::Error {
    anyhow!("labels `{}`: {fault}", path.display())
}

/// Adds the labels of a file to a corpus: position, engine's move and score, and the result of the game. Returns false if
/// the file has no labels.
pub(crate) fn read(path: &Path, corpus: &mut Corpus) -> Result<bool, LabelFault> {
    let mut games = HashSet::new();
    let found = read_labels(path, &mut |label| {
        let Some(mv) = label.mv.as_deref().and_then(Move::from_usi) else { return };
        let sample = Sample {
            position: PackedSfen { data: label.position },
            mv,
            score: label.score.map(|score| score.clamp(-30_000, 30_000) as i16),
            seen: label.seen,
            half_points: label.half_points,
            game: label.game,
            source: 0,
        };
        let is_legal = sample.unpacked().is_some_and(|(_, legal)| legal.as_slice().contains(&mv));
        if is_legal {
            games.insert(sample.game);
            corpus.samples.push(sample);
        }
    })?;
    corpus.games += games.len();
    Ok(found)
}
