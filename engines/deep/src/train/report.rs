//! The report of a training.

use super::{accuracy::Accuracy, loader::Loss};
use crate::network::Description;
use serde::{Deserialize, Serialize};

/// Parameters and results of a training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Description of the network.
    pub network: Description,
    /// The sources of the positions.
    pub sources: Vec<String>,
    /// Share of each source in a batch; none if all positions are as frequent.
    pub shares: Vec<f64>,
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
    /// Positions per step.
    pub batch: usize,
    /// Steps completed.
    pub steps: usize,
    /// Total number of steps.
    pub steps_planned: usize,
    /// Maximum learning rate.
    pub rate: f64,
    /// Moves in the softmax of the policy loss.
    pub loss: Loss,
    /// Weight of the result in the value target.
    pub blend: f32,
    /// Description file of the network that the training began with; none for random weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Steps that the average of the weights reaches back; 0 for the weights of the last step.
    #[serde(default)]
    pub average: usize,
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
