//! What a training leaves to be read.

use super::{exam::Exam, loader::Loss};
use crate::network::Description;
use serde::{Deserialize, Serialize};

/// A training, from its beginning to now.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// What was trained.
    pub network: Description,
    /// Where the positions are from.
    pub sources: Vec<String>,
    /// Games they are from, and games left out because they could not be followed.
    pub games: usize,
    /// Games left out.
    pub broken_games: usize,
    /// Positions to learn from.
    pub positions: usize,
    /// Positions held out.
    pub held_out: usize,
    /// Positions left out because they were there already.
    pub duplicates: usize,
    /// Positions in a step.
    pub batch: usize,
    /// Steps taken.
    pub steps: usize,
    /// Steps there are to be.
    pub steps_planned: usize,
    /// The highest learning rate.
    pub rate: f64,
    /// Which moves the played one was to be likelier than.
    pub loss: Loss,
    /// Parts of the game's result in the value.
    pub blend: f32,
    /// Where it was computed, and in which numbers: `cpu bf16`.
    pub device: String,
    /// Seconds spent on steps and examinations.
    pub seconds: f64,
    /// How it went.
    pub marks: Vec<Mark>,
    /// Examinations on held-out games: before the first step, on the way, and at the end.
    pub exams: Vec<(usize, Exam)>,
}

/// Mean losses since the mark before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Steps taken.
    pub step: usize,
    /// Cross-entropy of the moves.
    pub policy: f64,
    /// Cross-entropy of the winning probability.
    pub value: f64,
}

impl Report {
    /// The last examination in words.
    pub fn last_exam(&self) -> String {
        let Some((step, exam)) = self.exams.last() else { return "not examined".to_owned() };
        format!("step {step}, {exam}")
    }
}
