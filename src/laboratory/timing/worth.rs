//! Where the expected score changes hands, and what the change of time is worth there.

use super::{Doubling, Estimate, OwnMove, PHASE, PHASES, Phase, Walked, phase_of};
use referee::{
    rating::mix::mix,
    rating::{elo_of_score, score_of_elo},
};
use std::f64::consts::TAU;

/// Distances of the expected score from even that part moves into near, far and decided.
const BANDS: [f64; 2] = [0.15, 0.35];
/// Kinds of moves: by phase, by band, and by whether the reply was expected.
const KINDS: usize = PHASES * 3 * 2;
/// Most samples of the bootstrap, and the work that they share.
const SAMPLES: usize = 1000;
const LEAST_SAMPLES: usize = 200;
const WORK: usize = 5_000_000;

/// Share of all steps that the slope of a phase is pulled towards that of all phases with.
const PULL: f64 = 0.05;

/// Sums over the moves of a kind.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    /// Expected score that changed hands for good, in either direction.
    changed: f64,
    /// Moves.
    moves: f64,
    /// Doublings by which the policy searches more.
    doublings: f64,
}

/// Sums over the steps of a phase: of the product with the result, and of the square.
#[derive(Clone, Copy, Debug, Default)]
struct Slope {
    product: f64,
    square: f64,
}

/// Sums of a game.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    kinds: Vec<(usize, Kind)>,
    slopes: [Slope; PHASES],
    fell: bool,
}

impl Sums {
    pub fn of(walked: &Walked<'_>, centipawns: f64) -> Self {
        let result = walked.game.result;
        let own: Vec<&OwnMove> = walked.game.moves.iter().filter(|own| own.searched().is_some()).collect();
        let scores = own.iter().filter_map(|own| own.score);
        let shares: Vec<f64> = scores.map(|score| share(score, centipawns)).collect();
        let (mut kinds, mut slopes) = ([Kind::default(); KINDS], [Slope::default(); PHASES]);
        let kind = |at: usize| {
            kind_of(own[at].ply, at.checked_sub(1).map_or(0.5, |last| shares[last]), own[at].expected)
        };
        for at in 0..own.len() {
            let step = step(&shares, at, result);
            kinds[kind(at)].changed += step.abs();
            let slope = &mut slopes[phase_of(own[at].ply)];
            slope.product += step * (result - 0.5);
            slope.square += step * step;
        }
        // Of a game that it loses on time, the moves before do not count.
        for (at, (own, nodes, spent)) in walked.searched().enumerate().filter(|_| !walked.fell) {
            let ratio = spent.as_secs_f64().max(1e-6) / own.elapsed.as_secs_f64();
            let kind = &mut kinds[kind(at)];
            kind.moves += 1.0;
            // No search has less than a node.
            kind.doublings += ratio.log2().max(-(nodes as f64).log2());
        }
        let used = kinds.into_iter().enumerate().filter(|(_, kind)| kind.moves > 0.0 || kind.changed > 0.0);
        Self { kinds: used.collect(), slopes, fell: walked.fell }
    }
}

/// The expected score of a score.
fn share(score: i32, centipawns: f64) -> f64 {
    match score {
        i32::MAX => 1.0,
        score if score == -i32::MAX => 0.0,
        score => 1.0 / (1.0 + (-f64::from(score) / centipawns).exp()),
    }
}

/// By how much the expected score changed for good between an own move and the next: from both evaluations before to both
/// after, the result standing for those after the last move.
fn step(shares: &[f64], at: usize, result: f64) -> f64 {
    let after = [1, 2].map(|more| shares.get(at + more).copied().unwrap_or(result));
    let before = [shares[at.saturating_sub(1)], shares[at]];
    let (low, high) = (before[0].min(before[1]), before[0].max(before[1]));
    let (next_low, next_high) = (after[0].min(after[1]), after[0].max(after[1]));
    if next_low > high {
        next_low - high
    } else if next_high < low {
        next_high - low
    } else {
        0.0
    }
}

fn kind_of(ply: u32, before: f64, expected: bool) -> usize {
    let distance = (before - 0.5).abs();
    let band = BANDS.iter().filter(|limit| distance > **limit).count();
    (phase_of(ply) * 3 + band) * 2 + usize::from(expected)
}

/// Sums of all games.
#[derive(Clone, Debug)]
struct Total {
    kinds: [Kind; KINDS],
    slopes: [Slope; PHASES],
    games: f64,
    fell: f64,
}

impl Total {
    fn of<'a>(games: impl Iterator<Item = &'a Sums>) -> Self {
        let (kinds, slopes) = ([Kind::default(); KINDS], [Slope::default(); PHASES]);
        let mut total = Self { kinds, slopes, games: 0.0, fell: 0.0 };
        for game in games {
            total.games += 1.0;
            total.fell += f64::from(u8::from(game.fell));
            for (at, kind) in &game.kinds {
                let sum = &mut total.kinds[*at];
                sum.changed += kind.changed;
                sum.moves += kind.moves;
                sum.doublings += kind.doublings;
            }
            for (sum, slope) in total.slopes.iter_mut().zip(&game.slopes) {
                sum.product += slope.product;
                sum.square += slope.square;
            }
        }
        total
    }

    /// The weight of each kind; all of them are 1 together. `None` if the results do not follow the steps.
    fn weights(&self) -> Option<[f64; KINDS]> {
        let all = self.slopes.iter().fold(Slope::default(), |sum, slope| Slope {
            product: sum.product + slope.product,
            square: sum.square + slope.square,
        });
        if all.product <= 0.0 {
            return None;
        }
        let slope = |own: &Slope| {
            let (product, square) = (own.product + PULL * all.product, own.square + PULL * all.square);
            (product / square).max(0.0)
        };
        let mut weights = [0.0; KINDS];
        for (at, kind) in self.kinds.iter().enumerate() {
            weights[at] = kind.changed * slope(&self.slopes[at * PHASES / KINDS]);
        }
        let sum: f64 = weights.iter().sum();
        (sum > 0.0).then(|| weights.map(|weight| weight / sum))
    }

    /// Doublings of all moves that the change of each kind is worth.
    fn worth(&self, weights: &[f64; KINDS]) -> [f64; KINDS] {
        let mut worth = [0.0; KINDS];
        for (at, kind) in self.kinds.iter().enumerate().filter(|(_, kind)| kind.moves > 0.0) {
            worth[at] = weights[at] * kind.doublings / kind.moves;
        }
        worth
    }

    /// Elo of the policy, with the games that it loses on time.
    fn elo(&self, doubling: f64) -> Option<f64> {
        let worth: f64 = self.worth(&self.weights()?).iter().sum();
        let score = score_of_elo(doubling * worth) * (1.0 - self.fell / self.games);
        Some(elo_of_score(score.clamp(1e-6, 1.0 - 1e-6)))
    }
}

/// What the change of time is worth, with its interval.
#[derive(Clone, Debug)]
pub(super) struct Worth {
    total: Total,
    weights: [f64; KINDS],
    elo: f64,
    interval: [f64; 2],
}

impl Worth {
    /// `None` if the scores do not go with the results.
    pub fn of(games: &[Sums], doubling: &Doubling) -> Option<Self> {
        let total = Total::of(games.iter());
        let (weights, elo) = (total.weights()?, total.elo(doubling.elo)?);
        let mut samples: Vec<f64> = samples(games, doubling);
        samples.sort_by(f64::total_cmp);
        let at = |share: f64| samples.get((share * (samples.len() as f64 - 1.0)).round() as usize).copied();
        let interval = [at(0.025).unwrap_or(elo).min(elo), at(0.975).unwrap_or(elo).max(elo)];
        Some(Self { total, weights, elo, interval })
    }

    pub fn estimate(&self, doubling: Doubling) -> Estimate {
        let Total { kinds, games, fell, .. } = &self.total;
        let worth = self.total.worth(&self.weights);
        let phase = |at: usize| {
            let own = at * KINDS / PHASES..(at + 1) * KINDS / PHASES;
            let number = at as u32;
            Phase {
                from: number * PHASE + 1,
                to: (at + 1 < PHASES).then(|| (number + 1) * PHASE),
                moves: kinds[own.clone()].iter().map(|kind| kind.moves).sum::<f64>()
                    / (games - fell).max(1.0),
                weight: self.weights[own.clone()].iter().sum(),
                seconds: [0.0; 2],
                elo: doubling.elo * worth[own].iter().sum::<f64>(),
            }
        };
        Estimate {
            games: *games as usize,
            moves: kinds.iter().map(|kind| kind.moves).sum::<f64>() as u64,
            unsearched: 0.0,
            speed: 0.0,
            doubling,
            elo: self.elo,
            interval: self.interval,
            lost_on_time: [0; 2],
            left: [0.0; 2],
            far: 0.0,
            phases: (0..PHASES).map(phase).collect(),
            course: vec![],
        }
    }
}

/// The Elo of samples of the games with as many games, drawn with replacement (B. Efron's bootstrap, 1979), each with a
/// doubling drawn from its error. The draws are the same in every run.
fn samples(games: &[Sums], doubling: &Doubling) -> Vec<f64> {
    let count = (WORK / games.len().max(1)).clamp(LEAST_SAMPLES, SAMPLES);
    let mut drawn = 0_u64;
    let mut random = move || {
        drawn += 1;
        (mix(drawn) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut sample = |_| {
        let pick = |_| &games[((random() * games.len() as f64) as usize).min(games.len() - 1)];
        let total = Total::of((0..games.len()).map(pick));
        let normal = (-2.0 * (1.0 - random()).ln()).sqrt() * (TAU * random()).cos();
        let elo = doubling.elo + normal * doubling.error / referee::rating::Z_95;
        total.elo(elo)
    };
    (0..count).filter_map(&mut sample).collect()
}
