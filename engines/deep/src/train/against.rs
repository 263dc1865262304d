//! The value of a network against other predictions of the winner on held-out games: the scores of the source, and the
//! quiescence value of `renmei-pairwise`; and what network and quiescence say together.
//!
//! Each prediction is a sigmoid of a weighted sum. Its weights are fitted on one half of the held-out games, by the hash of
//! the game, and measured on the other; and the other way round.

use super::{AccuracyOptions, Corpus, accuracy::Candidate, too_few};
use crate::{
    logistic::{self, logit, sigmoid},
    samples::{MATE, Sample},
    search::Quiet,
};
use anyhow::Result;
use serde::Serialize;
use std::{collections::BTreeMap, fmt, mem, path::Path};
use tch::{Device, Kind};

/// Unit of scores in the fits, in centipawns.
const SCALE: f64 = 600.0;

/// Predictions of the winner, measured on the same positions.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// Number of positions measured.
    pub positions: usize,
    /// Number of their games.
    pub games: usize,
    /// The predictions.
    pub rows: Vec<Prediction>,
    /// `QuiescenceShare` in permille and `QuiescenceScale` in centipawns that the last row stands for; `None` if its gain is
    /// within its interval.
    pub blend: Option<(u32, u32)>,
}

/// A prediction of the winner.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    /// Its sources.
    pub name: &'static str,
    /// Weights of the sources, fitted on all games: of the network's logit, and of scores by 600 centipawns.
    pub weights: Vec<f64>,
    /// Mean squared error to the result of the game (Brier score).
    pub brier: f64,
    /// By how much its Brier score is lower than that of the network through a fitted sigmoid.
    pub gain: f64,
    /// Half the width of the 95 % interval of the gain, games as units.
    pub gain_95: f64,
}

/// A position: logit of the network, quiescence value and the source's score by 600 centipawns, result, game.
#[derive(Clone, Copy, Debug)]
struct Case {
    network: f64,
    quiet: f64,
    score: f64,
    points: f64,
    game: u64,
}

/// Measures the network of a description file against other predictions on held-out games.
///
/// # Errors
/// When the network or the device is unavailable, or no held-out position has both a score and a result.
pub fn measure_against(network: &Path, corpus: Corpus, options: &AccuracyOptions) -> Result<Against> {
    let mut candidate = Candidate::load(network, corpus, options)?;
    let training = candidate.split.training.len();
    let mut known = mem::take(&mut candidate.split.held_out);
    known.retain(|one| one.score.is_some() && one.half_points.is_some());
    let every = known.len().div_ceil(options.most.max(1)).max(1);
    let chosen: Vec<Sample> = known.into_iter().step_by(every).collect();
    let cases = cases(&candidate, &chosen)?;
    compare(&cases).ok_or_else(|| too_few(training, cases.len(), 2))
}

fn cases(candidate: &Candidate, samples: &[Sample]) -> Result<Vec<Case>> {
    let (mut cases, mut quiet) = (Vec::with_capacity(samples.len()), Quiet::default());
    let Candidate { network, batch_builder, place, .. } = candidate;
    for samples in samples.chunks(batch_builder.batch) {
        let (_, outputs) = batch_builder.outputs(samples, network, *place)?;
        let Some(value) = outputs.value else { return Ok(cases) };
        let logits = Vec::<f64>::try_from(value.f_to_kind(Kind::Double)?.f_to_device(Device::Cpu)?)?;
        // A sample that cannot be unpacked, which no source has, would shift the others.
        if logits.len() == samples.len() {
            cases.extend(samples.iter().zip(logits).filter_map(|(sample, logit)| {
                Some(Case {
                    network: logit,
                    quiet: f64::from(quiet.value(&mut sample.unpacked()?.0)) / SCALE,
                    score: f64::from(i32::from(sample.score?).clamp(-MATE / 10, MATE / 10)) / SCALE,
                    points: f64::from(sample.half_points?) / 2.0,
                    game: sample.game,
                })
            }));
        }
    }
    Ok(cases)
}

/// `None` if there are too few cases.
fn compare(cases: &[Case]) -> Option<Against> {
    let scaled = Fitted::new(cases, |case| [case.network])?;
    let row = |name, fitted: &Fitted| fitted.prediction(name, cases, &scaled);
    let both = Fitted::new(cases, |case| [case.network, case.quiet])?;
    let as_it_is = Fitted {
        weights: vec![1.0],
        misses: cases.iter().map(|case| (sigmoid(case.network) - case.points).powi(2)).collect(),
    };
    let rows = vec![
        row("network as it is", &as_it_is),
        row("network", &scaled),
        row("score of the source", &Fitted::new(cases, |case| [case.score])?),
        row("quiescence", &Fitted::new(cases, |case| [case.quiet])?),
        row("network and quiescence", &both),
    ];
    let useful = rows[4].gain > rows[4].gain_95;
    let alone = [rows[1].weights[0], rows[3].weights[0]];
    let blend = useful.then(|| blend(alone, [both.weights[0], both.weights[1]])).flatten();
    let games = by_game(cases, &scaled.misses).len();
    Some(Against { positions: cases.len(), games, rows, blend })
}

/// Share and scale, by the weights of network and quiescence, each `alone` and `together`. Results of weak players are less
/// certain than a value ought to be, which lowers all weights: so each source counts in units of its weight alone, and the
/// scale makes centipawns as certain as the network is.
fn blend(alone: [f64; 2], together: [f64; 2]) -> Option<(u32, u32)> {
    let [network, quiet] = [together[0] / alone[0], together[1] / alone[1]];
    let (share, scale) = (quiet / (network.max(0.0) + quiet), SCALE * alone[0] / alone[1]);
    (alone.iter().all(|&weight| weight > 0.0) && quiet > 0.0)
        .then(|| ((share * 1000.0).round() as u32, scale.round().clamp(50.0, 10_000.0) as u32))
}

/// A prediction with its squared errors, case by case.
struct Fitted {
    weights: Vec<f64>,
    misses: Vec<f64>,
}

impl Fitted {
    /// `None` if no weights fit, as where all games ended alike.
    fn new<const N: usize>(cases: &[Case], features: impl Fn(&Case) -> [f64; N]) -> Option<Self> {
        // The low digits decided what is held out.
        let half = |case: &Case| (case.game / 100).is_multiple_of(2);
        let fit = |wanted: &dyn Fn(&Case) -> bool| {
            let rows = cases.iter().filter(|case| wanted(case)).map(|case| (features(case), case.points));
            let rows: Vec<_> = rows.collect();
            if rows.is_empty() { None } else { logistic::fit(&rows) }
        };
        let (one, other) = (fit(&half)?, fit(&|case| !half(case))?);
        let miss = |case: &Case| {
            let weights = if half(case) { &other } else { &one };
            (sigmoid(logit(weights, &features(case))) - case.points).powi(2)
        };
        Some(Self { weights: fit(&|_| true)?.to_vec(), misses: cases.iter().map(miss).collect() })
    }

    fn prediction(&self, name: &'static str, cases: &[Case], base: &Self) -> Prediction {
        let gains: Vec<f64> = base.misses.iter().zip(&self.misses).map(|(base, miss)| base - miss).collect();
        let (brier, _) = mean_of_games(cases, &self.misses);
        let (gain, gain_95) = mean_of_games(cases, &gains);
        Prediction { name, weights: self.weights.clone(), brier, gain, gain_95 }
    }
}

/// Sums of a quantity and numbers of positions by game.
fn by_game(cases: &[Case], quantity: &[f64]) -> BTreeMap<u64, (f64, f64)> {
    let mut games = BTreeMap::new();
    for (case, quantity) in cases.iter().zip(quantity) {
        let game: &mut (f64, f64) = games.entry(case.game).or_default();
        *game = (game.0 + quantity, game.1 + 1.0);
    }
    games
}

/// The mean over positions and half the width of its 95 % interval: positions of one game are not independent, so games are
/// the units.
fn mean_of_games(cases: &[Case], quantity: &[f64]) -> (f64, f64) {
    let games = by_game(cases, quantity);
    let (sum, positions) = games.values().fold((0.0, 0.0), |sums, game| (sums.0 + game.0, sums.1 + game.1));
    let mean = sum / f64::max(positions, 1.0);
    let squares: f64 = games.values().map(|(sum, count)| (sum - mean * count).powi(2)).sum();
    (mean, 1.96 * squares.sqrt() / f64::max(positions, 1.0))
}

/// A table, and what to set.
impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} positions of {} held-out games", self.positions, self.games)?;
        writeln!(
            f,
            "{:<24} {:>7} {:>20}  weights",
            "prediction of the winner", "Brier", "gain on the network"
        )?;
        for Prediction { name, weights, brier, gain, gain_95 } in &self.rows {
            let weights: Vec<String> = weights.iter().map(|weight| format!("{weight:.3}")).collect();
            writeln!(f, "{name:<24} {brier:>7.4} {gain:>+10.4} ±{gain_95:<8.4}  {}", weights.join(", "))?;
        }
        match self.blend {
            Some((share, scale)) => write!(f, "QuiescenceShare={share} QuiescenceScale={scale}"),
            None => write!(f, "QuiescenceShare=0: what the quiescence value adds is within the error"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use usi_shell::SplitMix64;

    /// Games whose winner is drawn with the chances that network and quiescence give together.
    fn drawn(trust: f64, slope: f64) -> Vec<Case> {
        let mut rng = SplitMix64::new(7);
        let mut uniform = || rng.uniform();
        (0..40_000_u64)
            .map(|nth| {
                let (network, quiet) = (6.0 * uniform() - 3.0, 6.0 * uniform() - 3.0);
                let won = uniform() < sigmoid(trust * network + slope * quiet);
                // Two positions a game, games of both halves.
                let game = nth / 2 * 100;
                Case { network, quiet, score: quiet, points: f64::from(u8::from(won)), game }
            })
            .collect()
    }

    #[test]
    fn the_share_that_made_the_results_is_found() {
        let against = compare(&drawn(0.7, 0.4)).unwrap();
        let alone = [against.rows[1].weights[0], against.rows[3].weights[0]];
        let truth = blend(alone, [0.7, 0.4]).unwrap();
        let found = against.blend.unwrap();
        assert!(found.0.abs_diff(truth.0) < 60 && found.1.abs_diff(truth.1) < 120, "{found:?} {truth:?}");
        let (network, both) = (&against.rows[1], &against.rows[4]);
        assert!(both.brier < network.brier && both.gain > both.gain_95);
        assert_eq!((against.positions, against.games), (40_000, 20_000));
        let message = against.to_string();
        assert!(message.contains("QuiescenceShare="), "{message}");
    }

    #[test]
    fn a_quiescence_value_that_says_nothing_gets_no_share() {
        assert!(compare(&drawn(1.0, 0.0)).unwrap().blend.is_none());
    }

    #[test]
    fn games_without_a_result_are_too_few() {
        assert!(compare(&[]).is_none());
    }
}
