//! `renmei-deep time-model`: searches positions, recording the best move at every doubling of the visits, and fits the
//! model to them.

use super::{Features, Model};
use crate::{
    evaluator::{DeviceChoice, EvaluatorError, TorchEvaluator, TorchOptions},
    search::{Progress, Searcher, Task},
    train::{self, Source},
};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use rsshogi::types::Move;
use std::{collections::HashSet, fs, path::PathBuf, sync::Arc, time::Duration};
use tch::{Device, Kind, Tensor};
use usi_shell::Game;

/// Visits at the first mark.
const FIRST: u64 = 16;
/// One of so many positions is held out for validation.
const HELD_OUT: usize = 5;
/// Bytes of memory per search.
const MEMORY: usize = 1 << 29;
/// Leaves per batch.
const BATCH: usize = 8;
/// Keeps the matrix invertible when features hardly vary; too small to affect the fit otherwise.
const RIDGE: f64 = 1e-6;

/// Arguments of the fit.
#[derive(Args, Clone, Debug)]
pub struct ModelOptions {
    /// Game records, or other sources of `train`, whose positions are searched.
    #[arg(required = true)]
    sources: Vec<Source>,
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
    /// The file of coefficients to write.
    #[arg(long, default_value = "stopping.toml")]
    out: PathBuf,
}

/// Features, and whether the best move changed.
type Case = (Features, bool);

/// Searches, fits, and writes the file of coefficients, whose text is returned.
///
/// # Errors
/// When network or sources are unavailable, a search fails, nothing can be fitted, or the file cannot be written.
pub fn run(options: &ModelOptions) -> Result<String> {
    let torch = TorchOptions { device: options.device, batch: BATCH, ..TorchOptions::default() };
    let evaluator = TorchEvaluator::open(options.network.as_deref(), &torch)?;
    let mut searcher = Searcher::new(Arc::new(evaluator), MEMORY);
    let (mut kept, mut held_out) = (Vec::new(), Vec::new());
    let games = positions(options)?;
    for (nth, game) in games.iter().enumerate() {
        let side = if nth % HELD_OUT == HELD_OUT - 1 { &mut held_out } else { &mut kept };
        side.extend(cases(&search(&mut searcher, game, options.visits)?));
        eprintln!("{} of {} positions", nth + 1, games.len());
    }
    let model = fit(&kept).context("no model can be fitted: the best move changed never or always")?;
    let text = report(&model, games.len(), &kept, &held_out) + &toml::to_string(&model)?;
    fs::write(&options.out, &text)
        .map_err(|fault| anyhow!("stopping model `{}`: {fault}", options.out.display()))?;
    Ok(text)
}

/// A position of each game.
fn positions(options: &ModelOptions) -> Result<Vec<Game>> {
    let mut samples = train::load(&options.sources)?.samples;
    samples.sort_by_key(train::Sample::spread);
    let mut met = HashSet::new();
    samples.retain(|sample| met.insert(sample.game));
    let game = |(position, legal): (rsshogi::board::Position, rsshogi::board::MoveList)| {
        (legal.len() > 1).then(|| Game::from_sfen(&position.to_sfen(Some(1))).ok())?
    };
    let games = samples.iter().filter_map(|sample| sample.unpacked().and_then(game));
    Ok(games.take(options.positions).collect())
}

/// A search after some visits: the best move and its share of them.
#[derive(Clone, Copy, Debug)]
struct Mark {
    visits: u64,
    best: Move,
    share: f64,
}

impl Mark {
    fn of(progress: &Progress) -> Option<Self> {
        let best = progress.moves.first()?;
        let share = best.visits as f64 / progress.visits.max(1) as f64;
        Some(Self { visits: progress.visits, best: best.mv, share })
    }
}

fn search(searcher: &mut Searcher, game: &Game, visits: u64) -> Result<Vec<Mark>, EvaluatorError> {
    searcher.new_game();
    let task = Task {
        playouts: Some(visits),
        batch: BATCH,
        threads: 1,
        root_mate: false,
        report_interval: Duration::from_millis(2),
        deterministic: true,
        ..Task::default()
    };
    let mut marks: Vec<Mark> = Vec::new();
    let outcome = searcher.think(game, &task, &mut |progress| {
        let due = marks.last().map_or(FIRST, |last| last.visits * 2);
        marks.extend(Mark::of(progress).filter(|mark| mark.visits >= due));
        true
    })?;
    // The end is a mark if it is close to a doubling.
    let (last, end) = (marks.last().map_or(0, |last| last.visits), outcome.progress.visits);
    if end >= visits * 9 / 10 && last < end * 3 / 4 {
        marks.extend(Mark::of(&outcome.progress));
    }
    Ok(marks)
}

/// All pairs of an earlier and a later mark: the features at the earlier one, and whether another move was best at any mark
/// up to the later one.
fn cases(marks: &[Mark]) -> impl Iterator<Item = Case> {
    marks.iter().enumerate().flat_map(|(nth, now)| {
        marks[nth + 1..].iter().scan(false, move |changed, later| {
            *changed |= later.best != now.best;
            let future = (later.visits - now.visits) as f64;
            Some((Features::new(now.share, now.visits as f64, future), *changed))
        })
    })
}

/// The maximum likelihood model of cases, by Newton's method. `None` if the likelihood has no maximum, as when all outcomes
/// are alike.
fn fit(cases: &[Case]) -> Option<Model> {
    let rows: Vec<f64> = cases.iter().flat_map(|(features, _)| features.row()).collect();
    let rows = Tensor::from_slice(&rows).view([-1, 4]);
    let outcomes: Vec<f64> = cases.iter().map(|case| f64::from(u8::from(case.1))).collect();
    let outcomes = Tensor::from_slice(&outcomes);
    let ridge = Tensor::eye(4, (Kind::Double, Device::Cpu)) * RIDGE;
    let mut weights = Tensor::zeros([4], (Kind::Double, Device::Cpu));
    for _ in 0..100 {
        let chances = rows.matmul(&weights).sigmoid();
        let slope = rows.tr().matmul(&(&outcomes - &chances));
        let spread = &chances - chances.square();
        let curvature = rows.tr().matmul(&(&rows * spread.unsqueeze(1))) + &ridge;
        let step = Tensor::f_linalg_solve(&curvature, &slope, true).ok()?;
        weights += &step;
        let size = step.abs().max().double_value(&[]);
        if !size.is_finite() {
            return None;
        }
        if size < 1e-9 {
            let [intercept, share, visits, future] = [0, 1, 2, 3].map(|nth| weights.double_value(&[nth]));
            return Some(Model { intercept, share, visits, future });
        }
    }
    None
}

/// Mean negative log-likelihood of the cases.
fn loss(model: &Model, cases: &[Case]) -> f64 {
    let of = |(features, changed): &Case| {
        let change = model.change(features);
        -(if *changed { change } else { 1.0 - change }).max(1e-12).ln()
    };
    cases.iter().map(of).sum::<f64>() / cases.len().max(1) as f64
}

/// TOML comments at the head of the file, to document the origin of the coefficients.
fn report(model: &Model, positions: usize, kept: &[Case], held_out: &[Case]) -> String {
    let share =
        |cases: &[Case]| cases.iter().filter(|case| case.1).count() as f64 / cases.len().max(1) as f64;
    let mean = share(kept).clamp(1e-6, 1.0 - 1e-6);
    let blind = Model { intercept: (mean / (1.0 - mean)).ln(), share: 0.0, visits: 0.0, future: 0.0 };
    let settled: Vec<Case> = held_out.iter().filter(|case| model.change(&case.0) <= 0.05).copied().collect();
    let percent = 100.0 * settled.len() as f64 / held_out.len().max(1) as f64;
    format!(
        "# Stopping model, fitted by `renmei-deep time-model`: {positions} positions, {} cases, {} more held out: loss\n\
         # {:.4} there, {:.4} without features. In {percent:.1}% a change was held to be 5% likely or less; {:.1}% of them\n\
         # changed.\n",
        kept.len(),
        held_out.len(),
        loss(model, held_out),
        loss(&blind, held_out),
        100.0 * share(&settled)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use usi_shell::SplitMix64;

    #[test]
    fn a_best_move_that_returns_counts_as_changed() {
        let mark = |(visits, mv): (u64, &str)| Mark { visits, best: mv.parse().unwrap(), share: 0.5 };
        let marks = [(16, "7g7f"), (32, "2g2f"), (64, "7g7f"), (128, "7g7f")].map(mark);
        let changed: Vec<bool> = cases(&marks).map(|(_, changed)| changed).collect();
        // From 16: to 32, 64, 128; from 32: to 64, 128; from 64: to 128.
        assert_eq!(changed, [true, true, true, true, true, false]);
    }

    #[test]
    fn it_finds_the_coefficients_that_made_the_cases() {
        let truth = Model { intercept: 1.0, share: -6.0, visits: -0.3, future: 0.5 };
        let mut rng = SplitMix64::new(11);
        let mut uniform = || rng.uniform();
        let cases: Vec<Case> = (0..40_000)
            .map(|_| {
                let features = Features {
                    share: uniform(),
                    visits: 6.0 + 8.0 * uniform(),
                    future: 4.0 + 10.0 * uniform(),
                };
                let changed = uniform() < truth.change(&features);
                (features, changed)
            })
            .collect();
        let found = fit(&cases).unwrap();
        assert!((found.share - truth.share).abs() < 0.3, "{found:?}");
        assert!((found.visits - truth.visits).abs() < 0.05 && (found.future - truth.future).abs() < 0.05);
        assert!(loss(&found, &cases) <= loss(&truth, &cases));
    }

    #[test]
    fn cases_without_a_change_have_no_model() {
        let cases = vec![(Features::new(0.5, 100.0, 100.0), false); 50];
        // The likelihood has no maximum.
        assert!(fit(&cases).is_none_or(|model| model.change(&cases[0].0) < 1e-3));
    }

    #[test]
    fn a_position_of_each_game_is_searched() {
        let place = tempfile::tempdir().unwrap();
        let lines = place.path().join("lines.txt");
        fs::write(&lines, "7g7f 3c3d 2g2f\n2g2f 8c8d\n").unwrap();
        let options = ModelOptions {
            sources: vec![Source::Lines(lines)],
            network: None,
            device: DeviceChoice::Cpu,
            positions: 500,
            visits: 64,
            out: place.path().join("stopping.toml"),
        };
        assert_eq!(positions(&options).unwrap().len(), 2);
        assert_eq!(positions(&ModelOptions { positions: 1, ..options }).unwrap().len(), 1);
    }
}
