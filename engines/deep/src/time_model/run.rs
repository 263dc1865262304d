//! `renmei-deep time-model`: searches positions and fits the model.

use super::{
    Features, Model,
    collect::{self, Trace},
    fit, plot,
};
use crate::{
    evaluator::{DeviceChoice, TorchEvaluator, TorchOptions},
    search::{Searcher, Task},
};
use anyhow::{Error, Result, anyhow, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use opening_book::games;
use std::{fmt, fs, path::PathBuf, sync::Arc};
use usi_shell::SplitMix64;

/// One of this many positions is held out for validation.
const HELD_OUT: usize = 5;

/// Bytes of memory per search.
const MEMORY: usize = 1 << 29;

/// Arguments of the fit.
#[derive(Args, Clone, Debug)]
pub struct ModelOptions {
    /// Databases of renmei, game records, lists of openings, or directories of them.
    #[arg(required = true)]
    sources: Vec<PathBuf>,
    /// Description file of the network; default is the embedded one.
    #[arg(long)]
    network: Option<PathBuf>,
    /// auto, cpu, cuda or cuda:N.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Maximum number of positions to search, one per game.
    #[arg(long, default_value_t = 500)]
    positions: usize,
    /// Visits per search.
    #[arg(long, default_value_t = 16_384)]
    visits: u64,
    /// Leaves per batch.
    #[arg(long, default_value_t = 8)]
    batch: usize,
    /// Search threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Seed of the selection of positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file of coefficients to write; a plot is written beside it.
    #[arg(long, default_value = "stopping.toml")]
    out: PathBuf,
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
/// When the network is unavailable, the sources cannot be read, a search fails, nothing can be fitted, or a file cannot be
/// written.
pub fn run(options: &ModelOptions) -> Result<Report> {
    let traces = search(options)?;
    let (mut kept, mut held_out) = (Vec::new(), Vec::new());
    for (nth, trace) in traces.iter().enumerate() {
        let side = if nth % HELD_OUT == HELD_OUT - 1 { &mut held_out } else { &mut kept };
        side.extend(trace.cases());
    }
    let Some(model) = fit::fit(&kept) else {
        bail!("no model can be fitted: in {} searches the best move changed never or always", traces.len());
    };
    let report = report(model, traces.len(), &kept, &held_out);
    let text = format!("{report}{}", toml::to_string(&model).unwrap_or_default());
    fs::write(&options.out, text)
        .map_err(|fault| anyhow!("stopping model `{}`: {fault}", options.out.display()))?;
    plot::draw(&model, &held_out, &options.out.with_extension("svg")).map_err(Error::from_boxed)?;
    Ok(report)
}

fn search(options: &ModelOptions) -> Result<Vec<Trace>> {
    let (batch, lanes) = (options.batch.max(1), options.threads);
    let torch = TorchOptions { device: options.device, batch, lanes, ..TorchOptions::default() };
    let evaluator = TorchEvaluator::open(options.network.as_deref(), &torch)?;
    let (threads, deterministic) = (options.threads.max(1), options.threads <= 1);
    let task = Task { threads, batch, root_mate: false, deterministic, ..Task::default() };
    let mut records = Vec::new();
    for source in &options.sources {
        records.extend(games::games(source)?);
    }
    let positions = collect::positions(&records, options.positions, &mut SplitMix64::new(options.seed));
    let mut searcher = Searcher::new(Arc::new(evaluator), MEMORY);
    let bar = ProgressBar::new(positions.len() as u64).with_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} positions, {eta} left")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let trace = |game| {
        let trace = Trace::of(&mut searcher, game, &task, options.visits)?;
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
