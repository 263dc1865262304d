//! Labelling: a chosen engine says which move it would play in stored positions, and what they are worth.
//!
//! Several copies of the engine work side by side. What they said is kept in a file of its own, in which positions
//! that have their label are not asked about again: a labelling that was stopped goes on where it was, and the file is
//! a source for training.

mod engine;
mod kept;

pub use engine::{EngineError, EngineOptions};
pub(crate) use kept::{TABLE, read};

use crate::train::{Corpus, Sample};
use engine::{Engine, Said};
use indicatif::{ProgressBar, ProgressStyle};
use kept::Kept;
use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::{Duration, Instant},
};

/// How often labels go to the disk.
const WRITTEN_EVERY: Duration = Duration::from_secs(2);
/// Labels that wait to be written at most.
const AHEAD: usize = 256;

/// How to label.
#[derive(Clone, Debug)]
pub struct LabelOptions {
    /// The engine, and what it is told.
    pub engine: EngineOptions,
    /// Copies of it.
    pub jobs: usize,
    /// The file of labels.
    pub out: PathBuf,
    /// The most positions that the file is to have; `None` is all.
    pub most: Option<usize>,
}

/// What a labelling did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// Positions that had their label before.
    pub before: usize,
    /// Positions labelled now.
    pub now: usize,
}

/// Why a labelling cannot go on. What was labelled before is kept.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The file of labels.
    #[error("labels `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: rusqlite::Error,
    },
    /// The file holds what another engine said.
    #[error("labels `{}` are those of `{found}`, not of `{wanted}`: give another --out", path.display())]
    OtherTeacher {
        /// The file.
        path: PathBuf,
        /// Who said what is in it.
        found: String,
        /// Who is asked now.
        wanted: String,
    },
}

/// A position and what the engine said of it.
type Answered = (Sample, Said);

/// Labels the positions of a corpus, each once, in an order that has nothing to do with their games.
///
/// # Errors
/// When the engine cannot be started or fails again and again, or the file cannot be written.
pub fn label(corpus: Corpus, options: &LabelOptions) -> Result<Labelled, LabelError> {
    let mut kept = Kept::open(&options.out, &options.engine.to_string())?;
    let mut samples = corpus.samples;
    samples.sort_by_key(|sample| spread(&sample.position.data));
    samples.dedup_by_key(|sample| sample.position.data);
    samples.truncate(options.most.unwrap_or(usize::MAX));
    let all = samples.len();
    samples.retain(|sample| !kept.has(&sample.position.data));
    let before = all - samples.len();
    let bar = bar(all, before);
    let (sender, answers) = mpsc::sync_channel(AHEAD);
    let open = Mutex::new(samples.into_iter());
    let now = thread::scope(|scope| {
        let worker = || {
            let sender = sender.clone();
            scope.spawn(|| work(&open, &options.engine, sender))
        };
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| worker()).collect();
        drop(sender);
        let written = write(&mut kept, &answers, &bar);
        // Without a receiver the workers stop at their next answer.
        drop(answers);
        let worked = workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(())));
        let worked = worked.collect::<Result<Vec<()>, EngineError>>();
        let written = written?;
        worked.map(|_| written).map_err(LabelError::from)
    })?;
    bar.finish();
    Ok(Labelled { before, now })
}

/// Asks one engine about one position after the other, until there are none.
fn work(
    open: &Mutex<impl Iterator<Item = Sample>>,
    options: &EngineOptions,
    sender: SyncSender<Answered>,
) -> Result<(), EngineError> {
    let mut engine = Engine::start(options)?;
    loop {
        let next = open.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(sample) = next else { return Ok(()) };
        let Some((position, legal)) = sample.unpacked() else { continue };
        let said = engine.ask_patiently(&position.to_sfen(Some(1)))?;
        let legal_or_none = said.checked(legal.as_slice());
        if sender.send((sample, legal_or_none)).is_err() {
            return Ok(());
        }
    }
}

fn write(kept: &mut Kept, answers: &Receiver<Answered>, bar: &ProgressBar) -> Result<usize, LabelError> {
    let (mut now, mut waiting, mut written) = (0, Vec::new(), Instant::now());
    for answer in answers {
        waiting.push(answer);
        now += 1;
        bar.inc(1);
        if written.elapsed() > WRITTEN_EVERY {
            kept.add(&std::mem::take(&mut waiting))?;
            written = Instant::now();
        }
    }
    kept.add(&waiting)?;
    Ok(now)
}

fn bar(all: usize, before: usize) -> ProgressBar {
    let bar = ProgressBar::new(all as u64).with_position(before as u64);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} positions, {per_sec}, {eta} left")
    {
        bar.set_style(style);
    }
    bar
}

/// A number that looks like chance but is the position's own, so that the first thousand positions are of all games.
fn spread(position: &[u8; 32]) -> u64 {
    position.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    })
}

#[cfg(test)]
mod tests;
