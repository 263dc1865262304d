//! The seam between search and network: questions go in by the batch, answers come out in the same order.
//!
//! A search asks [`Encoding`] to turn a position and its legal moves into a [`Question`] and hands many of them to an
//! [`Evaluator`], from as many threads as it likes. [`TorchEvaluator`] answers with a network on a device;
//! [`UniformEvaluator`] answers at once and knows nothing, for tests and for the speed that a search cannot exceed.

mod torch;

use crate::{
    labels::Labels,
    network::NetworkError,
    planes::{Features, Packed},
};
use rsshogi::{board::Position, types::Move};

pub use torch::{DeviceChoice, TorchEvaluator, TorchOptions};
pub(crate) use torch::{device_name, kind_for, kind_name, processor_kind};

/// A position as a network is asked about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What the network sees.
    pub planes: Packed,
    /// The labels of the legal moves, in the order in which their priors are wanted.
    pub labels: Vec<u16>,
}

/// What a network says of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How likely each legal move asked about is, in their order: between 0 and 1, 1 in all. Alike for all moves when
    /// the network has no policy. Moves that share a label share its likelihood evenly.
    pub priors: Vec<f32>,
    /// The probability that the player to move wins, 0 to 1; 0.5 when the network has no value.
    pub value: f32,
}

/// How a network wants to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The planes that it sees.
    pub features: Features,
    /// Its names for moves.
    pub labels: Labels,
}

impl Encoding {
    /// The question about a position and its legal moves. `seen`: how often the position occurred before in its game.
    /// A word that is no move on the board (a resignation, say) is not to be among the moves.
    pub fn question(self, position: &Position, moves: &[Move], seen: u8) -> Question {
        let label = |&mv: &Move| self.labels.label(position, mv).unwrap_or_default();
        Question { planes: self.features.pack(position, seen), labels: moves.iter().map(label).collect() }
    }
}

/// Someone who answers questions, from any thread.
pub trait Evaluator: Send + Sync {
    /// Answers all questions, in their order. An empty list has no answers.
    ///
    /// # Errors
    /// When the device fails, or a question is not in this evaluator's [`encoding`](Self::encoding).
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError>;

    /// The number of questions that it answers best at a time, and the most that it takes to the device at once.
    fn batch(&self) -> usize;

    /// How to ask it.
    fn encoding(&self) -> Encoding;

    /// What it is, for `id name` and reports: `torch cuda:0 f16`, say.
    fn kind(&self) -> &str;
}

/// Why there is no answer, or no evaluator.
#[derive(Debug, thiserror::Error)]
pub enum EvaluatorError {
    /// The network could not be had.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The device that was asked for is not there.
    #[error("device `{0}` is not there: libtorch finds no such GPU (`cpu` and `auto` need none)")]
    NoDevice(String),
    /// Not a device.
    #[error("`{0}` is no device: write `auto`, `cpu`, `cuda` or `cuda:N`")]
    UnknownDevice(String),
    /// The question was not asked in this network's way.
    #[error("a question has {found} bytes of planes where the network wants {wanted}")]
    Planes {
        /// Bytes it has.
        found: usize,
        /// Bytes it should have.
        wanted: usize,
    },
    /// A move's name is none of the network's.
    #[error("a question asks for label {label} of a network that has {labels}")]
    Label {
        /// The label asked for.
        label: u16,
        /// How many there are.
        labels: usize,
    },
    /// libtorch said no.
    #[error("evaluation failed on {device}: {}", crate::network::told(source))]
    Torch {
        /// Where.
        device: String,
        /// What it said.
        source: tch::TchError,
    },
}

/// Gives every move the same prior and every position the value 0.5.
#[derive(Clone, Copy, Debug)]
pub struct UniformEvaluator {
    batch: usize,
}

impl UniformEvaluator {
    /// One that likes to be asked `batch` questions at a time.
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

fn uniform(moves: usize) -> Vec<f32> {
    vec![1.0 / moves.max(1) as f32; moves]
}

#[cfg(test)]
mod tests;
