//! The interface between search and network: batches of questions in, answers in the same order out.
//!
//! A search uses [`Encoding`] to turn a position and its legal moves into a [`Question`], and passes batches of
//! them to an [`Evaluator`] from any number of threads. [`TorchEvaluator`] runs a network on a device;
//! [`UniformEvaluator`] returns constants, for tests and for measuring the search's maximum speed, and [`SimulatedDevice`]
//! makes it sleep as long as a device computes.

mod desk;
mod simulated;
mod torch;

use crate::{
    labels::Labels,
    network::NetworkError,
    planes::{Features, Packed},
};
use rsshogi::{board::Position, types::Move};
use usi_shell::Clock;

pub use desk::{Desk, Pending};
pub use simulated::{Simulated, SimulatedDevice};
pub use torch::{DeviceChoice, NoGpu, TorchEvaluator, TorchOptions};
pub(crate) use torch::{device_name, kind_for, kind_name, training_kind};

/// A position encoded for a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The input planes.
    pub planes: Packed,
    /// The labels of the legal moves; their order is that of the priors in the answer.
    pub labels: Vec<u16>,
}

/// A network's evaluation of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Priors of the question's moves, in their order: between 0 and 1, with sum 1. Uniform when the network
    /// has no policy. Moves that share a label share its probability evenly.
    pub priors: Vec<f32>,
    /// Win probability of the side to move, 0 to 1; 0.5 when the network has no value.
    pub value: f32,
}

/// The input format of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The input planes.
    pub features: Features,
    /// The policy labels.
    pub labels: Labels,
}

impl Encoding {
    /// Encodes a position and its legal moves. `seen` is the number of earlier occurrences of the position in
    /// its game. `moves` must not contain resignations and the like.
    pub fn question(self, position: &Position, moves: &[Move], seen: u8) -> Question {
        let label = |&mv: &Move| self.labels.label(position, mv).unwrap_or_default();
        Question { planes: self.features.pack(position, seen), labels: moves.iter().map(label).collect() }
    }
}

/// Evaluates positions; callable from any thread.
pub trait Evaluator: Send + Sync {
    /// Evaluates all questions, in their order. An empty list gives an empty list.
    ///
    /// # Errors
    /// When the device fails, or a question does not have this evaluator's [`encoding`](Self::encoding).
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError>;

    /// Hands questions over, to be polled for their answers. An evaluator that computes in the calling thread answers first.
    fn submit(&self, questions: Vec<Question>) -> Pending {
        Pending::answered(self.evaluate(&questions))
    }

    /// How many batches a caller may have handed over and not yet polled, while it gathers another one; 0 if the
    /// evaluator computes in the calling thread.
    fn ahead(&self) -> usize {
        0
    }

    /// Evaluates a batch of empty boards: the cost of an evaluation without encoding and decoding.
    ///
    /// # Errors
    /// When the device fails.
    fn forward_only(&self, _batch: usize) -> Result<(), EvaluatorError> {
        Ok(())
    }

    /// Best number of questions per call, and maximum number of positions sent to the device at once.
    fn batch(&self) -> usize;

    /// The encoding of questions.
    fn encoding(&self) -> Encoding;

    /// Sets the clock of the search that begins. Calls may return [`EvaluatorError::Stopped`] once it has stopped.
    fn attend(&self, _clock: &Clock) {}

    /// Description for `id name` and reports, such as `torch cuda:0 f16`.
    fn kind(&self) -> &str;
}

/// Why an evaluation failed or no evaluator could be made.
#[derive(Debug, thiserror::Error)]
pub enum EvaluatorError {
    /// The network cannot be loaded.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The device is unknown or cannot be used.
    #[error("{0}")]
    Device(String),
    /// The question does not have the encoding of the network.
    #[error("{0}")]
    Question(String),
    /// The device has too little memory.
    #[error(
        "the memory of {device} is full: lower `Batch` (now {batch}), end what else uses it, or take a smaller \
         network ({})",
        crate::network::message(source)
    )]
    Memory {
        /// The device.
        device: String,
        /// Positions per batch.
        batch: usize,
        /// The error of libtorch.
        source: tch::TchError,
    },
    /// The search was stopped before the answers came.
    #[error("the search was stopped before the network answered")]
    Stopped,
    /// The threads that evaluate have ended, which a panic alone can do.
    #[error("the thread that evaluates has ended")]
    Gone,
    /// libtorch failed.
    #[error("evaluation failed on {device}: {}", crate::network::message(source))]
    Torch {
        /// The device.
        device: String,
        /// The error of libtorch.
        source: tch::TchError,
    },
}

/// An evaluator with uniform priors and the value 0.5.
#[derive(Clone, Copy, Debug)]
pub struct UniformEvaluator {
    batch: usize,
}

impl UniformEvaluator {
    /// An evaluator that reports `batch` as its best batch size.
    pub const fn new(batch: usize) -> Self {
        Self { batch }
    }
}

impl Evaluator for UniformEvaluator {
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError> {
        Ok(questions
            .iter()
            .map(|question| Answer { priors: uniform(question.labels.len()), value: 0.5 })
            .collect())
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn encoding(&self) -> Encoding {
        Encoding { features: Features::Joint, labels: Labels::Directional }
    }

    fn kind(&self) -> &str {
        "uniform"
    }
}

/// The size in which a GPU computes a batch of up to `most`: a power of two, if `most` allows. cuDNN plans every size anew in
/// every thread, so a search whose batches grow one by one would wait for a hundred plans.
pub(crate) fn filled_up(batch: usize, most: usize) -> usize {
    batch.next_power_of_two().min(most).max(batch)
}

/// Equal priors.
pub(crate) fn uniform(moves: usize) -> Vec<f32> {
    vec![1.0 / moves.max(1) as f32; moves]
}

#[cfg(test)]
mod tests;
