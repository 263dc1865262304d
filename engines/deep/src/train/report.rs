//! The report of a training.

use super::{TrainOptions, accuracy::Accuracy};
use crate::network::Description;
use serde::{Deserialize, Serialize};

/// Parameters and results of a training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Description of the network.
    pub network: Description,
    /// The options of the training.
    pub options: TrainOptions,
    /// Games used.
    pub games: usize,
    /// Games left out because of an illegal move or an unreadable start position.
    pub broken_games: usize,
    /// Size of the training set.
    pub positions: usize,
    /// Size of the held-out set.
    pub held_out: usize,
    /// Positions left out as duplicates.
    pub duplicates: usize,
    /// Steps completed.
    pub steps: usize,
    /// Device and float type, such as `cpu bf16`.
    pub device: String,
    /// Seconds spent on steps and measurements.
    pub seconds: f64,
    /// Losses by step.
    pub marks: Vec<Mark>,
    /// Measurements on held-out positions by step: before the first step, at intervals, and at the end.
    pub exams: Vec<(usize, Accuracy)>,
}

/// Mean losses since the previous mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Steps completed.
    pub step: usize,
    /// Cross-entropy of the policy.
    pub policy: f64,
    /// Cross-entropy of the value.
    pub value: f64,
}

impl Report {
    /// The last measurement as text.
    pub fn last_accuracy(&self) -> String {
        let Some((step, accuracy)) = self.exams.last() else { return "not measured".to_owned() };
        format!("step {step}, {accuracy}")
    }
}
