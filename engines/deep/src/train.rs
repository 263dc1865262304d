//! Training: from games to a network and a report.
//!
//! The positions of all sources are split by game into training set and held-out set; a loader thread builds
//! batches; a step runs one batch through network and optimiser. At intervals the network is measured on the
//! held-out set and a checkpoint is written, from which the same command resumes an interrupted training.

mod accuracy;
mod against;
mod average;
mod checkpoint;
mod loader;
mod optimizer;
mod plot;
mod report;
mod samples;
mod session;
mod sources;

pub use accuracy::{Accuracy, AccuracyOptions, measure_file};
pub use against::{Against, Prediction, measure_against};
pub use loader::Loss;
pub use report::{Mark, Report};
pub use samples::{Corpus, Sample, Split};
pub use session::{Session, TrainOptions};
pub use sources::{Source, SourceError, load};

use crate::network::NetworkError;
use std::{io, path::PathBuf};

/// Why a training failed.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The games cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The network cannot be built, read or written.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The device is unavailable.
    #[error(transparent)]
    Device(#[from] crate::evaluator::EvaluatorError),
    /// The training set or the held-out set is too small.
    #[error("{training} positions to learn from and {held_out} held out: too few to fill a batch of {batch}")]
    TooFew {
        /// Size of the training set.
        training: usize,
        /// Size of the held-out set.
        held_out: usize,
        /// Size of a batch.
        batch: usize,
    },
    /// The checkpoint belongs to another training.
    #[error("checkpoint `{}` does not belong to this training: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// The network to begin with is of another kind.
    #[error("a training cannot begin with network `{}`: {reason}", path.display())]
    Start {
        /// Its description file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("file `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The plot cannot be drawn.
    #[error("plot `{}`: {reason}", path.display())]
    Plot {
        /// The file.
        path: PathBuf,
        /// The error of the plotting library.
        reason: String,
    },
    /// The loss is not finite.
    #[error("the loss is {loss} at step {step}: try a lower learning rate")]
    Diverged {
        /// The step.
        step: usize,
        /// The loss.
        loss: f64,
    },
    /// libtorch failed.
    #[error("training failed: {}", crate::network::message(.0))]
    Torch(#[from] tch::TchError),
}
