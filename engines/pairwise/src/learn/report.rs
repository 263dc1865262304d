//! Report of a run: agreement with the teacher as table and JSON.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::evaluation::parameters::{Parameters, on_board};
use crate::evaluation::sharing::{Group, Sharing};
use rsshogi::types::PieceType;

use super::positions::Samples;
use super::settings::Settings;

/// Measurements after a pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Passes completed; 0 is before learning.
    pub pass: usize,
    /// Share of teacher moves found, on the training set.
    pub training: Option<f32>,
    /// Share of teacher moves found, on the held-out set.
    pub held_out: Option<f32>,
    /// Mean loss of an example.
    pub loss: Option<f32>,
    /// Positions searched per second, all threads together.
    pub searched_per_s: Option<f64>,
    /// Examples used for updates per second, all threads together.
    pub learned_per_s: Option<f64>,
}

/// The final report.
pub struct Report<'a> {
    pub samples: &'a Samples,
    pub settings: &'a Settings,
    /// Agreement before and after each pass.
    pub stages: &'a [Stage],
    /// The learned parameters.
    pub parameters: &'a Parameters,
    /// The mapping from weights to parameters.
    pub sharing: &'a Sharing,
    /// Size of the weights file in bytes.
    pub bytes: u64,
}

/// Header of the table of stages.
pub const HEAD: &str = "pass  training  held out    loss  searched/s  learned/s";

/// A row of the table of stages.
pub fn row(stage: &Stage) -> String {
    let percent = |part: Option<f32>| part.map_or("-".to_owned(), |part| format!("{:.1}%", 100.0 * part));
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
    format!(
        "{:>4}  {:>8}  {:>8}  {:>6}  {:>10}  {:>9}",
        stage.pass,
        percent(stage.training),
        percent(stage.held_out),
        stage.loss.map_or("-".to_owned(), |loss| format!("{loss:.3}")),
        number(stage.searched_per_s),
        number(stage.learned_per_s),
    )
}

impl Report<'_> {
    /// Summary of the samples.
    pub fn positions(samples: &Samples) -> String {
        let [training, held_out] = samples.games;
        format!(
            "{} positions of {training} games to learn from, {} of {held_out} kept aside \
             ({} trivial games left out, {} positions were there already)",
            samples.training.len(),
            samples.held_out.len(),
            samples.trivial,
            samples.repeated,
        )
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n\n{HEAD}\n", Self::positions(self.samples));
        for stage in self.stages {
            text += &row(stage);
            text.push('\n');
        }
        text +=
            "\nagreement: the move of a search of one ply and quiescence is the teacher's\n\npiece values:";
        for kind in kinds() {
            let _ = write!(text, " {kind} {:.0}", self.parameters.values[on_board(kind)]);
        }
        let used: usize = Group::ALL.iter().map(|&group| self.parameters.used(self.sharing, group)).sum();
        let _ = writeln!(
            text,
            "\nparameters: {used} of {} are not zero; the file has {} bytes",
            self.sharing.parameters(),
            self.bytes
        );
        text
    }

    /// The report as JSON.
    pub fn json(&self) -> serde_json::Value {
        let used = |&group: &Group| (format!("{group:?}"), self.parameters.used(self.sharing, group).into());
        let values = |kind: PieceType| (kind.to_string(), self.parameters.values[on_board(kind)].into());
        let samples = self.samples;
        json!({
            "games": {"training": samples.games[0], "held_out": samples.games[1], "trivial": samples.trivial},
            "positions": {
                "training": samples.training.len(),
                "held_out": samples.held_out.len(),
                "repeated": samples.repeated,
            },
            "settings": self.settings,
            "stages": self.stages,
            "weights": {
                "bytes": self.bytes,
                "parameters": self.sharing.parameters(),
                "used": serde_json::Map::from_iter(Group::ALL.iter().map(used)),
                "pieces": serde_json::Map::from_iter(kinds().map(values)),
            },
        })
    }
}

fn kinds() -> impl Iterator<Item = PieceType> {
    PieceType::iter().filter(|&kind| kind.raw() > 0 && kind != PieceType::KING)
}
