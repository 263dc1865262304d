//! Labelling: an engine adds its best move and its score to stored positions, and its score alone to those of lines of
//! play, whose move stays.
//!
//! Several engine processes run in parallel. Labels are stored in a database of their own, and positions that
//! already have one are skipped: an interrupted labelling continues where it was. The file is a source for
//! training.

mod engine;
mod file;

pub use engine::EngineOptions;
pub(crate) use file::read;

use crate::samples::{Corpus, Sample};
use anyhow::Result;
use clap::Args;
use engine::{Engine, Label};
use file::LabelFile;
use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;
use std::{
    path::PathBuf,
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
    time::{Duration, Instant},
};

/// Interval between writes.
const WRITTEN_EVERY: Duration = Duration::from_secs(2);
/// Capacity of the queue of labels to be written.
const AHEAD: usize = 256;

/// Parameters of labelling.
#[derive(Args, Clone, Debug)]
pub struct LabelOptions {
    /// The engine and its options.
    #[command(flatten)]
    pub engine: EngineOptions,
    /// Number of engine processes.
    #[arg(long, default_value_t = 1)]
    pub jobs: usize,
    /// The file of labels to write, itself a source for `train`.
    #[arg(long)]
    pub out: PathBuf,
    /// Maximum number of positions in the file.
    #[arg(long)]
    pub most: Option<usize>,
}

/// Result of labelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// Positions that already had a label.
    pub before: usize,
    /// Positions labelled now.
    pub now: usize,
}

/// A position and the engine's result.
type Answered = (Sample, Label);

/// Labels the positions of a corpus, each once, in an order independent of their games.
///
/// # Errors
/// When the engine cannot be started or fails repeatedly, or the file cannot be written. Labels already written are kept.
pub fn label(corpus: Corpus, options: &LabelOptions) -> Result<Labelled> {
    let mut file = LabelFile::open(&options.out, &options.engine.to_string())?;
    let mut samples = corpus.samples;
    samples.sort_by_key(|sample| spread(&sample.position.data));
    samples.dedup_by_key(|sample| sample.position.data);
    samples.truncate(options.most.unwrap_or(usize::MAX));
    let all = samples.len();
    samples.retain(|sample| !file.has(&sample.position.data));
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
        let written = write(&mut file, &answers, &bar);
        // Without a receiver the workers stop at their next result.
        drop(answers);
        let worked = workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(())));
        let worked = worked.collect::<Result<Vec<()>>>();
        let written = written?;
        worked.map(|_| written)
    })?;
    bar.finish();
    Ok(Labelled { before, now })
}

/// Labels positions with one engine process until none is left.
fn work(
    open: &Mutex<impl Iterator<Item = Sample>>,
    options: &EngineOptions,
    sender: SyncSender<Answered>,
) -> Result<()> {
    let mut engine = Engine::start(options)?;
    loop {
        let next = open.lock().next();
        let Some(sample) = next else { return Ok(()) };
        let Some((position, legal)) = sample.unpacked() else { continue };
        let label = engine.evaluate_with_retries(&position.to_sfen(Some(1)))?;
        let mut checked = label.checked(legal.as_slice());
        // A line of play names the move of a stronger player, and lacks the score alone.
        if !sample.has_target() {
            checked.mv = Some(sample.mv.to_usi());
        }
        if sender.send((sample, checked)).is_err() {
            return Ok(());
        }
    }
}

fn write(file: &mut LabelFile, answers: &Receiver<Answered>, bar: &ProgressBar) -> Result<usize> {
    let (mut now, mut waiting, mut written) = (0, Vec::new(), Instant::now());
    for answer in answers {
        waiting.push(answer);
        now += 1;
        bar.inc(1);
        if written.elapsed() > WRITTEN_EVERY {
            file.add(&std::mem::take(&mut waiting))?;
            written = Instant::now();
        }
    }
    file.add(&waiting)?;
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

/// Pseudo-random hash of the position, so that the first thousand positions come from all games and the order
/// is the same in every run.
fn spread(position: &[u8; 32]) -> u64 {
    position.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    })
}

#[cfg(test)]
mod tests;
