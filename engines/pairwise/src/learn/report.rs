//! Report of a run: agreement with the teacher as table, JSON and plot.

use std::fmt::Write;
use std::path::Path;

use plotters::prelude::*;
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
    /// The samples.
    pub samples: &'a Samples,
    /// The settings.
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
        let used: usize = Group::ALL.map(|group| self.parameters.used(self.sharing, group)).iter().sum();
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
        let used = |group: Group| (format!("{group:?}"), self.parameters.used(self.sharing, group).into());
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
                "used": serde_json::Map::from_iter(Group::ALL.map(used)),
                "pieces": serde_json::Map::from_iter(kinds().map(values)),
            },
        })
    }

    /// Plots agreement by pass.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn plot(&self, path: &Path) -> Result<(), String> {
        draw(self.stages, path).map_err(|fault| format!("`{}`: {fault}", path.display()))
    }
}

fn kinds() -> impl Iterator<Item = PieceType> {
    PieceType::iter().filter(|&kind| kind.raw() > 0 && kind != PieceType::KING)
}

fn draw(stages: &[Stage], path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::new(path, (640, 400)).into_drawing_area();
    area.fill(&WHITE)?;
    let most = stages.iter().flat_map(|stage| [stage.training, stage.held_out]).flatten().fold(0.1, f32::max);
    let passes = stages.last().map_or(1, |stage| stage.pass.max(1));
    let mut chart = ChartBuilder::on(&area)
        .caption("Agreement with the teacher", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..passes as f32, 0.0..most * 110.0)?;
    chart.configure_mesh().x_desc("passes").y_desc("moves found, %").draw()?;
    let training = stages.iter().filter_map(|stage| Some((stage.pass as f32, stage.training? * 100.0)));
    let held_out = stages.iter().filter_map(|stage| Some((stage.pass as f32, stage.held_out? * 100.0)));
    let line = |color: RGBColor| move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color);
    chart.draw_series(LineSeries::new(training, BLUE))?.label("games learned from").legend(line(BLUE));
    chart.draw_series(LineSeries::new(held_out, RED))?.label("games kept aside").legend(line(RED));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}
