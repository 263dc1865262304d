//! What openings are worth to a test: whom they favour, and how well they separate players of known difference.
//!
//! The logarithm of the odds that black wins from a line is `bias + separation * gap`, with the gap between black and white
//! in Elo as ratings have it; a draw is half a win. Few games say little about one line, so each line is taken for one of a
//! family, and each family for one of all: biases and separations are normal around the mean of their family, those means
//! around the mean of all, and the spreads are estimated from all games together (empirical Bayes: C. Morris, "Parametric
//! empirical Bayes inference", 1983). Estimates maximize the likelihood with that prior line by line, the spreads by the
//! algorithm of A. Dempster, N. Laird and D. Rubin (1977) with the curvature there as variance (Laplace's approximation).

use crate::ELO_PER_NAT;
use std::collections::BTreeMap;

/// Rounds of the estimate of spreads, at most.
const ROUNDS: usize = 300;
/// Relative change of the spreads in a round below which no further one follows.
const STILL: f64 = 1e-4;
/// Newton's steps for a line in a round, which begins where the one before has ended.
const STEPS: usize = 3;
/// How much longer than the algorithm's own a change of a spread is, since spreads that few games tell change slowly. Below 2
/// it converges wherever the algorithm does.
const LONGER: f64 = 1.8;
/// Spreads to begin with, of lines and of families: standard deviations of bias in natural logarithms of odds, and of
/// separation.
const BEGIN: [[f64; 2]; 2] = [[0.5, 0.3], [0.2, 0.2]];
/// Least variance: less is of no use, and lets the estimate stand still.
const LEAST: f64 = 1e-4;
/// Bounds of bias and separation, against steps without an end where every game was won.
const BOUNDS: (f64, f64) = (-10.0, 10.0);

/// Games that began from a line, between players of one gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineGames {
    /// Elo of black minus that of white, without an advantage of black.
    pub gap: f64,
    /// Games won by black, drawn, won by white.
    pub results: [u64; 3],
}

/// What is known of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineRecord {
    /// Its family, by any number.
    pub family: usize,
    /// Its games.
    pub games: Vec<LineGames>,
    /// Pairs with colours swapped that ended level, and all of them.
    pub level: (u64, u64),
}

/// What a line is worth, shrunk to what its games allow.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Worth {
    /// Elo that black has of the line, between equals.
    pub bias: f64,
    /// Standard deviation of the bias, in Elo.
    pub bias_error: f64,
    /// How many times as large as in the mean of all lines a difference between players shows.
    pub separation: f64,
    /// Standard deviation of the separation.
    pub separation_error: f64,
    /// Share of pairs that end level.
    pub level: f64,
    /// Information of a pair of games about a difference, relative to a line without bias and of mean separation.
    pub information: f64,
    /// The part of `information` that the bias leaves: 1 without bias.
    #[serde(skip)]
    openness: f64,
}

/// What all lines are worth.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Worths {
    /// By line, in the given order.
    #[serde(skip)]
    pub lines: Vec<Worth>,
    /// Elo that black has in the mean of all lines.
    pub bias: f64,
    /// Standard deviation of the biases of lines around their families', in Elo, and of families'.
    pub bias_spread: [f64; 2],
    /// Standard deviation of the separations of lines around their families', relative to the mean, and of families'.
    pub separation_spread: [f64; 2],
    /// Share of drawn games.
    pub draws: f64,
}

/// A quantity that every line has, normal around the mean of its family.
struct Layer {
    mean: f64,
    families: BTreeMap<usize, f64>,
    /// Variances of lines around their family, and of families around the mean.
    spread: [f64; 2],
}

/// The estimate of a line.
#[derive(Clone, Copy, Default)]
struct Estimated {
    at: [f64; 2],
    variance: [f64; 2],
}

impl Worths {
    /// Learns from all games what each line is worth.
    #[must_use]
    pub fn learn(lines: &[LineRecord]) -> Self {
        let draws = draw_share(lines);
        // A draw is less scattered than a win and a loss: games say so much more than their number.
        let weight = 1.0 / (1.0 - draws).max(0.1);
        let mut layers = [0, 1].map(|of| Layer::new(lines, of));
        let mut found = vec![Estimated { at: [0.0, 1.0], variance: [0.0; 2] }; lines.len()];
        for _ in 0..ROUNDS {
            for (line, found) in lines.iter().zip(&mut found) {
                *found = estimate(line, &layers, weight, found.at);
            }
            let changes = layers.iter_mut().enumerate().map(|(of, layer)| layer.refine(lines, &found, of));
            if changes.fold(0.0, f64::max) < STILL {
                break;
            }
        }
        let [bias, separation] = layers;
        let mean = separation.mean.max(0.1);
        let levels = levels(lines);
        let worth = |(found, level): (&Estimated, f64)| Worth::new(found, mean, level);
        Self {
            lines: found.iter().zip(levels).map(worth).collect(),
            bias: bias.mean * ELO_PER_NAT,
            bias_spread: bias.spread.map(|variance| variance.sqrt() * ELO_PER_NAT),
            separation_spread: separation.spread.map(|variance| variance.sqrt() / mean),
            draws,
        }
    }
}

impl Worth {
    fn new(found: &Estimated, mean: f64, level: f64) -> Self {
        let ([bias, separation], [bias_error, separation_error]) = (found.at, found.variance.map(f64::sqrt));
        let separation = separation / mean;
        // The mean over a normal bias by three points (Gauss and Hermite).
        let reach = 3_f64.sqrt() * bias_error;
        let openness = (4.0 * openness(bias) + openness(bias - reach) + openness(bias + reach)) / 6.0;
        Self {
            bias: bias * ELO_PER_NAT,
            bias_error: bias_error * ELO_PER_NAT,
            separation,
            separation_error: separation_error / mean,
            level,
            information: separation.max(0.0).powi(2) * openness,
            openness,
        }
    }

    /// The mean square of the distance from a bias in favour of either colour, in Elo.
    #[must_use]
    pub fn distance(&self, bias: f64) -> f64 {
        (self.bias.abs() - bias.abs()).powi(2) + self.bias_error.powi(2)
    }
}

/// The information of a pair from lines that are taken in turn, relative to a line without bias and of mean separation: the
/// square of the mean difference of the scores over the mean variance.
#[must_use]
pub fn information(lines: &[Worth]) -> f64 {
    let [shown, scattered] =
        lines.iter().fold([0.0; 2], |sum, it| [sum[0] + it.separation * it.openness, sum[1] + it.openness]);
    if scattered > 0.0 { shown.max(0.0).powi(2) / (scattered * lines.len() as f64) } else { 0.0 }
}

/// How far a game is open at a bias in natural logarithms of odds: four times the variance of its result.
fn openness(bias: f64) -> f64 {
    let score = 1.0 / (1.0 + (-bias).exp());
    4.0 * score * (1.0 - score)
}

fn draw_share(lines: &[LineRecord]) -> f64 {
    let results = || lines.iter().flat_map(|line| &line.games).map(|games| games.results);
    let (draws, all) = results().fold((0, 0), |sum, [b, d, w]| (sum.0 + d, sum.1 + b + d + w));
    if all == 0 { 0.0 } else { draws as f64 / all as f64 }
}

impl Layer {
    fn new(lines: &[LineRecord], of: usize) -> Self {
        let mean = [0.0, 1.0][of];
        let families = lines.iter().map(|line| (line.family, mean)).collect();
        Self { mean, families, spread: BEGIN[of].map(|it| it * it) }
    }

    fn prior(&self, line: &LineRecord) -> f64 {
        self.families.get(&line.family).copied().unwrap_or(self.mean)
    }

    /// The next means and spreads, from the estimates of the lines; returns the largest relative change of a spread.
    fn refine(&mut self, lines: &[LineRecord], found: &[Estimated], of: usize) -> f64 {
        let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (line, found) in lines.iter().zip(found) {
            let sum = sums.entry(line.family).or_default();
            *sum = (sum.0 + found.at[of], sum.1 + 1.0);
        }
        let [lines_apart, families_apart] = self.spread.map(|variance| 1.0 / variance);
        let mut variances = BTreeMap::new();
        for (&family, &(sum, count)) in &sums {
            let weight = count * lines_apart + families_apart;
            self.families.insert(family, (sum * lines_apart + self.mean * families_apart) / weight);
            variances.insert(family, 1.0 / weight);
        }
        let many = sums.len().max(1) as f64;
        self.mean = self.families.values().sum::<f64>() / many;
        let apart = |family: &usize| (self.families[family] - self.mean).powi(2) + variances[family];
        let families = sums.keys().map(apart).sum::<f64>() / many;
        let apart = |(line, found): (&LineRecord, &Estimated)| {
            (found.at[of] - self.prior(line)).powi(2) + found.variance[of] + variances[&line.family]
        };
        let lines = lines.iter().zip(found).map(apart).sum::<f64>() / lines.len().max(1) as f64;
        let next = [lines, families].map(|variance| variance.max(LEAST));
        let mut change: f64 = 0.0;
        for (spread, next) in self.spread.iter_mut().zip(next) {
            let ratio = (next / *spread).powf(LONGER);
            change = change.max((ratio - 1.0).abs());
            *spread = (*spread * ratio).max(LEAST);
        }
        change
    }
}

/// The likeliest bias and separation of a line under the prior, with their variances.
fn estimate(line: &LineRecord, layers: &[Layer; 2], weight: f64, begin: [f64; 2]) -> Estimated {
    let priors = [0, 1].map(|of| (layers[of].prior(line), 1.0 / layers[of].spread[0]));
    let mut at = begin;
    let mut inverse = [0.0; 3];
    for _ in 0..STEPS {
        let mut slope = [0, 1].map(|of: usize| (priors[of].0 - at[of]) * priors[of].1);
        let [mut bend, mut across] = [[priors[0].1, priors[1].1], [0.0; 2]];
        for games in &line.games {
            let gap = games.gap / ELO_PER_NAT;
            let [black, drawn, white] = games.results.map(|games| games as f64 * weight);
            let all = black + drawn + white;
            let score = 1.0 / (1.0 + (-(at[0] + at[1] * gap)).exp());
            let (rest, open) = (black + drawn / 2.0 - all * score, all * score * (1.0 - score));
            slope = [slope[0] + rest, slope[1] + rest * gap];
            bend = [bend[0] + open, bend[1] + open * gap * gap];
            across[0] += open * gap;
        }
        let determinant = bend[0] * bend[1] - across[0] * across[0];
        inverse = [bend[1] / determinant, -across[0] / determinant, bend[0] / determinant];
        let step =
            [inverse[0] * slope[0] + inverse[1] * slope[1], inverse[1] * slope[0] + inverse[2] * slope[1]];
        let size = (1.0 / step[0].abs().max(step[1].abs())).min(1.0);
        let (low, high) = BOUNDS;
        at = [0, 1].map(|of: usize| (at[of] + step[of] * size).clamp(low, high));
    }
    Estimated { at, variance: [inverse[0], inverse[2]] }
}

/// The share of level pairs of each line, shrunk to that of all: the weight of the latter, in pairs, follows from how much
/// more lines scatter than chance would let them (method of moments for a beta prior).
fn levels(lines: &[LineRecord]) -> Vec<f64> {
    let (level, pairs) = lines.iter().fold((0, 0), |sum, it| (sum.0 + it.level.0, sum.1 + it.level.1));
    if pairs == 0 {
        return vec![0.5; lines.len()];
    }
    let (all, pairs) = (level as f64 / pairs as f64, pairs as f64);
    let chance = all * (1.0 - all);
    if chance == 0.0 {
        return vec![all; lines.len()];
    }
    let counted =
        || lines.iter().map(|line| (line.level.0 as f64, line.level.1 as f64)).filter(|it| it.1 > 0.0);
    let scatter: f64 = counted().map(|(level, of)| of * (level / of - all).powi(2)).sum();
    let (count, squares) = counted().fold((0.0, 0.0), |sum, (_, of)| (sum.0 + 1.0, sum.1 + of * of));
    let spare = (pairs - squares / pairs).max(1.0);
    let variance = ((scatter - (count - 1.0) * chance) / spare).max(chance / 1000.0);
    let weight = (chance / variance - 1.0).max(1.0);
    lines.iter().map(|line| (line.level.0 as f64 + weight * all) / (line.level.1 as f64 + weight)).collect()
}

#[cfg(test)]
mod tests;
