//! Labelling: an engine adds its best move and its score to stored positions, and its score alone to those of lines of
//! play, whose move stays.
//!
//! Several engine processes run in parallel. Labels go to a file of their own, and positions that are in it are skipped: an
//! interrupted labelling continues where it was. The file is a source for training.

mod engine;
mod file;

pub use engine::EngineOptions;
pub(crate) use file::read;

use crate::samples::{Corpus, Sample};
use anyhow::Result;
use clap::Args;
use engine::Engine;
use file::LabelFile;
use parking_lot::Mutex;
use std::{
    path::PathBuf,
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
    time::{Duration, Instant},
};

/// Interval between lines about the progress.
const REPORTED_EVERY: Duration = Duration::from_secs(30);
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
    /// The file of labels to write, such as `teacher.labels`, itself a source for `train`.
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

/// Labels the positions of a corpus, each once, in an order independent of their games.
///
/// # Errors
/// When the engine cannot be started or fails repeatedly, or the file cannot be written. Labels already written are kept.
pub fn label(corpus: Corpus, options: &LabelOptions) -> Result<Labelled> {
    let mut file = LabelFile::open(&options.out, &options.engine.to_string())?;
    let mut samples = corpus.samples;
    samples.sort_by_key(Sample::spread);
    samples.dedup_by_key(|sample| sample.position.data);
    samples.truncate(options.most.unwrap_or(usize::MAX));
    let all = samples.len();
    samples.retain(|sample| !file.has(&sample.position.data));
    let before = all - samples.len();
    let (sender, answers) = mpsc::sync_channel(AHEAD);
    let open = Mutex::new(samples.into_iter());
    let now = thread::scope(|scope| {
        let worker = || {
            let sender = sender.clone();
            scope.spawn(|| work(&open, &options.engine, sender))
        };
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| worker()).collect();
        drop(sender);
        let written = write(&mut file, answers, all - before);
        let worked = workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(())));
        let worked = worked.collect::<Result<Vec<()>>>();
        let written = written?;
        worked.map(|_| written)
    })?;
    Ok(Labelled { before, now })
}

/// Labels positions with one engine process until none is left. Its labels are lines of the file.
fn work(
    open: &Mutex<impl Iterator<Item = Sample>>,
    options: &EngineOptions,
    sender: SyncSender<String>,
) -> Result<()> {
    let mut engine = Engine::start(options)?;
    loop {
        let next = open.lock().next();
        let Some(sample) = next else { return Ok(()) };
        let Some((position, legal)) = sample.unpacked() else { continue };
        let sfen = position.to_sfen(Some(1));
        let mut label = engine.evaluate_with_retries(&sfen)?.checked(legal.as_slice());
        // A line of play names the move of a stronger player, and lacks the score alone.
        if !sample.has_target() {
            label.mv = Some(sample.mv.to_usi());
        }
        if sender.send(file::line(&sfen, &label, &sample)).is_err() {
            return Ok(());
        }
    }
}

/// Writes the labels of all workers, who stop at their next one when this returns.
fn write(file: &mut LabelFile, labels: Receiver<String>, all: usize) -> Result<usize> {
    let (mut now, mut reported) = (0, Instant::now());
    for label in labels {
        file.add(&label)?;
        now += 1;
        if reported.elapsed() > REPORTED_EVERY {
            eprintln!("{now} of {all} positions labelled");
            reported = Instant::now();
        }
    }
    Ok(now)
}

#[cfg(test)]
mod tests;
