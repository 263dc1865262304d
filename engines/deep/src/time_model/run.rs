//! `renmei-deep time-model`: searches positions and fits the model.

use super::{
    Features, Model, ModelError,
    collect::{self, Trace},
    fit, plot,
};
use crate::{
    evaluator::Evaluator,
    search::{Searcher, Task},
};
use indicatif::{ProgressBar, ProgressStyle};
use opening_book::games;
use std::{fmt, fs, path::PathBuf, sync::Arc};
use usi_shell::SplitMix64;

/// One of this many positions is held out for validation.
const HELD_OUT: usize = 5;

/// Parameters of the fit.
#[derive(Clone, Debug)]
pub struct ModelOptions {
    /// Games or lists of openings: databases of Renmei, records, directories of them.
    pub sources: Vec<PathBuf>,
    /// Maximum number of positions, one per game.
    pub positions: usize,
    /// Visits per search.
    pub visits: u64,
    /// Seed of the selection of positions.
    pub seed: u64,
    /// The file of coefficients; the plot is written beside it.
    pub out: PathBuf,
    /// Parameters of each search.
    pub task: Task,
    /// Bytes per search.
    pub memory: usize,
}

/// Result of the fit.
#[derive(Clone, Debug)]
pub struct Report {
    /// The coefficients.
    pub model: Model,
    /// Positions searched.
    pub positions: usize,
    /// Number of cases the model was fitted to.
    pub cases: usize,
    /// Number of held-out cases.
    pub held_out: usize,
    /// Mean negative log-likelihood on the held-out cases: of the model, and of the constant mean.
    pub loss: [f64; 2],
    /// Share of the held-out cases predicted to change with 5% or less, and the share of those that changed.
    pub settled: [f64; 2],
}

/// Searches, fits, writes the coefficients and draws the plot.
///
/// # Errors
/// When the sources cannot be read, a search fails, nothing can be fitted, or a file cannot be written.
pub fn run(options: &ModelOptions, evaluator: Arc<dyn Evaluator>) -> Result<Report, ModelError> {
    let traces = search(options, evaluator)?;
    let (mut kept, mut held_out) = (Vec::new(), Vec::new());
    for (nth, trace) in traces.iter().enumerate() {
        let side = if nth % HELD_OUT == HELD_OUT - 1 { &mut held_out } else { &mut kept };
        side.extend(trace.cases());
    }
    let model = fit::fit(&kept).ok_or(ModelError::Degenerate(traces.len()))?;
    let report = report(model, traces.len(), &kept, &held_out);
    let text = format!("{report}{}", toml::to_string(&model).unwrap_or_default());
    fs::write(&options.out, text).map_err(|source| ModelError::File { path: options.out.clone(), source })?;
    plot::draw(&model, &held_out, &options.out.with_extension("svg"))?;
    Ok(report)
}

fn search(options: &ModelOptions, evaluator: Arc<dyn Evaluator>) -> Result<Vec<Trace>, ModelError> {
    let mut records = Vec::new();
    for source in &options.sources {
        records.extend(games::games(source)?);
    }
    let positions = collect::positions(&records, options.positions, &mut SplitMix64::new(options.seed));
    let mut searcher = Searcher::new(evaluator, options.memory);
    let bar = ProgressBar::new(positions.len() as u64).with_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} positions, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let trace = |game| {
        let trace = Trace::of(&mut searcher, game, &options.task, options.visits)?;
        bar.inc(1);
        Ok(trace)
    };
    positions.iter().map(trace).collect()
}

fn report(
    model: Model,
    positions: usize,
    kept: &[(Features, bool)],
    held_out: &[(Features, bool)],
) -> Report {
    let share = |cases: &[(Features, bool)]| {
        cases.iter().filter(|case| case.1).count() as f64 / cases.len().max(1) as f64
    };
    let mean = share(kept).clamp(1e-6, 1.0 - 1e-6);
    let blind = Model { intercept: (mean / (1.0 - mean)).ln(), share: 0.0, visits: 0.0, future: 0.0 };
    let settled: Vec<(Features, bool)> =
        held_out.iter().filter(|(features, _)| model.change(features) <= 0.05).copied().collect();
    Report {
        model,
        positions,
        cases: kept.len(),
        held_out: held_out.len(),
        loss: [fit::loss(&model, held_out), fit::loss(&blind, held_out)],
        settled: [settled.len() as f64 / held_out.len().max(1) as f64, share(&settled)],
    }
}

/// As TOML comments at the head of the file of coefficients, to document their origin.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [loss, blind] = self.loss;
        let [settled, changed] = self.settled.map(|share| share * 100.0);
        writeln!(f, "# Stopping model, fitted by `renmei-deep time-model`: {} positions,", self.positions)?;
        writeln!(
            f,
            "# {} cases, {} more held out: loss {loss:.4} there, {blind:.4} without",
            self.cases, self.held_out
        )?;
        writeln!(
            f,
            "# features. In {settled:.1}% a change was held to be 5% likely or less; {changed:.1}% of them changed."
        )
    }
}
