//! Training: games in, a network and a report out.
//!
//! The positions of all sources are split by game into those to learn from and those held out, a loader thread makes
//! batches of them, and a step is one batch through the network and the optimiser. Every so often the held-out
//! positions are asked about and a checkpoint is written, from which the same command goes on when it was stopped.

mod checkpoint;
mod exam;
mod loader;
mod optimizer;
mod plot;
mod report;
mod samples;
mod session;
mod sources;

pub use exam::{Exam, ExamOptions, examine_file};
pub use loader::Loss;
pub use report::{Mark, Report};
pub use samples::{Corpus, Sample, Split};
pub use session::{Session, TrainOptions};
pub use sources::{Source, SourceError, load};

use crate::network::NetworkError;
use std::{io, path::PathBuf};

/// Why a training cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The games cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The network cannot be had or kept.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The device cannot be had.
    #[error(transparent)]
    Device(#[from] crate::evaluator::EvaluatorError),
    /// There is nothing to learn from, or nothing to be examined with.
    #[error("{kept} positions to learn from and {held_out} held out: too few to fill a batch of {batch}")]
    TooFew {
        /// To learn from.
        kept: usize,
        /// Held out.
        held_out: usize,
        /// A batch.
        batch: usize,
    },
    /// A checkpoint of another training.
    #[error("checkpoint `{}` does not belong to this training: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("file `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The picture could not be drawn.
    #[error("plot `{}`: {reason}", path.display())]
    Plot {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The numbers have become infinite.
    #[error("the loss is {loss} at step {step}: try a lower learning rate")]
    Diverged {
        /// The step.
        step: usize,
        /// The loss.
        loss: f64,
    },
    /// libtorch said no.
    #[error("training failed: {}", crate::network::told(.0))]
    Torch(#[from] tch::TchError),
}
