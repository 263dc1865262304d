//! Training: from games to a network and a report.
//!
//! The positions of all sources are split by game into training set and held-out set; a loader thread builds
//! batches; a step runs one batch through network and optimiser. At intervals the network is measured on the
//! held-out set and a checkpoint is written, from which the same command resumes an interrupted training.

mod accuracy;
mod average;
mod checkpoint;
mod loader;
mod optimizer;
mod report;
mod session;
mod sources;

pub use crate::samples::{Corpus, Sample, Split};
pub use accuracy::{Accuracy, AccuracyOptions, measure_file};
pub use loader::Loss;
pub use report::{Mark, Report};
pub use session::{Session, TrainOptions};
pub use sources::{Source, load};

use crate::network;
use anyhow::anyhow;

/// An error of a training for people: without the stack trace that libtorch adds to its own.
pub fn plain(fault: anyhow::Error) -> anyhow::Error {
    let fault = fault.downcast::<tch::TchError>();
    fault.map_or_else(|other| other, |torch| anyhow!("training failed: {}", network::message(&torch)))
}

/// There are too few positions to fill a batch.
fn too_few(training: usize, held_out: usize, batch: usize) -> anyhow::Error {
    anyhow!("{training} positions to learn from and {held_out} held out: too few to fill a batch of {batch}")
}
