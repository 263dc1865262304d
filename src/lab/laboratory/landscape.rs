//! How a tuning is planned before a game is spent: an assumed landscape of strength, tunings on it by simulation, and the
//! least number of pairs that reaches the goal.
//!
//! The landscape is a hill: each parameter costs the square of its distance from the best value, and parameters may
//! interact. Games are drawn at random from the Elo difference of both sides.

use crate::spsa::{Parameter, Spec, Tuning};
use referee::rating::{mix::mix, score_of_elo};

/// Elo that a perturbation should cost at the best value: less is lost in the noise, much more leaves the hill's top.
pub const COST: f64 = 2.5;
/// Games won less lost that a pair gives for one Elo, while scores are near one half.
const RESULT_PER_ELO: f64 = 4.0 * std::f64::consts::LN_10 / 1600.0;
/// Tunings by which a proposal is tried.
const RUNS: u64 = 200;
/// How much the number of pairs grows from try to try.
const GROWTH: f64 = 1.15;
/// Pairs that are tried at least, and at most.
const PAIRS: (f64, f64) = (200.0, 500_000.0);
/// Parts of a tuning that its course is computed for.
const PARTS: usize = 200;
/// Steps that are tried: the least, the ratio of neighbours, and their number.
const STEPS: (f64, f64, i32) = (0.0002, 1.2, 38);

/// A landscape of strength.
#[derive(Clone, Debug, PartialEq)]
pub struct Landscape {
    /// The best values.
    pub best: Vec<f64>,
    /// Elo that a distance of one costs, by parameter.
    pub curvature: Vec<f64>,
    /// How much two parameters interact, from -1 to 1: 0 not at all.
    pub interaction: f64,
    /// Share of the games that are drawn.
    pub draws: f64,
}

impl Landscape {
    /// Elo lost against the best values, from 0.
    pub fn loss(&self, values: &[f64]) -> f64 {
        let away = |i: usize| self.curvature[i].sqrt() * (values[i] - self.best[i]);
        let own: f64 = (0..values.len()).map(|i| away(i).powi(2)).sum();
        // Neighbours interact; below 1 the hill keeps its one top.
        let joint: f64 = (1..values.len()).map(|i| away(i - 1) * away(i)).sum();
        own + self.interaction * joint
    }

    /// Games won less games lost of a pair, from random numbers of this seed.
    fn result(&self, plus: &[f64], minus: &[f64], seed: u64) -> i8 {
        let score = score_of_elo(self.loss(minus) - self.loss(plus));
        let draws = self.draws.min(2.0 * score).min(2.0 * (1.0 - score));
        let game = |stream: u64| {
            let random = (mix(seed ^ stream) >> 11) as f64 / (1_u64 << 53) as f64;
            match random {
                _ if random < score - draws / 2.0 => 1,
                _ if random < score + draws / 2.0 => 0,
                _ => -1,
            }
        };
        game(1) + game(2)
    }

    /// Elo that is lost after a tuning on this landscape: by the last values, and by the averaged ones.
    pub fn tuned(&self, spec: Spec, run: u64) -> (f64, f64) {
        let pairs = spec.pairs;
        let mut tuning = Tuning::new(Spec { seed: mix(spec.seed ^ run), ..spec });
        for k in 1..=pairs {
            // All pairs of a window are played at once.
            let Some(trial) = tuning.trial(k) else { continue };
            tuning.note(k, self.result(&trial.plus, &trial.minus, mix(mix(run) ^ k)));
        }
        (self.loss(tuning.values()), self.loss(&tuning.averaged()))
    }
}

/// What is assumed of the landscape, and what is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumption {
    /// Elo that each parameter costs at `c_end` from its best value, as the file has `c_end`.
    pub costs: Vec<f64>,
    /// Distance of the best values from the starts, in proposed perturbations.
    pub distance: f64,
    /// Share of the games that are drawn.
    pub draws: f64,
    /// Elo that may be lost at the end.
    pub within: f64,
    /// Share of the tunings that lose no more.
    pub confidence: f64,
}

/// A tuning that reaches its goal if the assumption is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// What to play: pairs, perturbations and steps.
    pub spec: Spec,
    /// Elo that the start loses.
    pub start: f64,
    /// The tunings that were simulated.
    pub tried: Tried,
    /// The same if the landscape is three times as steep, and parameters interact.
    pub steep: Tried,
    /// The same if it is three times as flat.
    pub flat: Tried,
}

/// Simulated tunings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// Share of them that lose no more than is wanted.
    pub within: f64,
    /// Share of them that lose no more than three times as much.
    pub within_three: f64,
    /// Elo lost in the median.
    pub median: f64,
}

/// The least number of pairs that reaches the goal, with the perturbations and steps for it; `None` if more than 500,000
/// would be needed. `stopped` says whether to give up.
pub fn propose(spec: &Spec, assumption: &Assumption, stopped: &dyn Fn() -> bool) -> Option<Proposal> {
    let spec = perturbed(spec, &assumption.costs);
    let number = spec.parameters.len() as f64;
    let mut pairs = PAIRS.0;
    // With fewer pairs the mean itself would hardly be good enough.
    while pairs < PAIRS.1
        && number * course(pairs, steps(pairs, assumption), assumption) > assumption.within / 1.2
    {
        pairs *= GROWTH;
    }
    let wanted = 1.0 - (1.0 - assumption.confidence) / 2.0;
    while pairs < PAIRS.1 && !stopped() {
        let parameter = |it: &Parameter| Parameter { r_end: steps(pairs, assumption), ..it.clone() };
        let parameters = spec.parameters.iter().map(parameter).collect();
        let tried = Spec { pairs: pairs as u64, parameters, ..spec.clone() };
        if reaches(&tried, assumption, wanted) {
            let found = simulate(&tried, assumption, 1.0, 0.0);
            let start = assumption.distance.powi(2) * COST * number;
            let (steep, flat) =
                (simulate(&tried, assumption, 3.0, 0.5), simulate(&tried, assumption, 1.0 / 3.0, 0.5));
            return Some(Proposal { spec: tried, start, tried: found, steep, flat });
        }
        pairs *= GROWTH;
    }
    None
}

/// The tuning with perturbations that cost [`COST`].
fn perturbed(spec: &Spec, costs: &[f64]) -> Spec {
    let parameter = |(it, cost): (&Parameter, &f64)| {
        let c_end = (it.c_end * (COST / cost).sqrt()).min((it.max - it.min) / 2.0);
        Parameter { c_end, ..it.clone() }
    };
    Spec { parameters: spec.parameters.iter().zip(costs).map(parameter).collect(), ..spec.clone() }
}

/// True if this share of the tunings loses no more than is wanted; ends as soon as it cannot be any more.
fn reaches(spec: &Spec, assumption: &Assumption, wanted: f64) -> bool {
    let mut may_fail = ((1.0 - wanted) * RUNS as f64 + 1e-9) as u64;
    for run in 0..RUNS {
        if landscape(spec, assumption, 1.0, 0.0, run).tuned(spec.clone(), run).1 > assumption.within {
            match may_fail {
                0 => return false,
                _ => may_fail -= 1,
            }
        }
    }
    true
}

/// Tunings on landscapes that are `steepness` times as steep as assumed.
pub fn simulate(spec: &Spec, assumption: &Assumption, steepness: f64, interaction: f64) -> Tried {
    // Others than those by which a number of pairs is chosen.
    let mut lost: Vec<f64> = (RUNS..2 * RUNS)
        .map(|run| {
            let landscape = landscape(spec, assumption, steepness, interaction, run);
            landscape.tuned(spec.clone(), run).1
        })
        .collect();
    lost.sort_by(f64::total_cmp);
    let share = |most: f64| lost.iter().filter(|lost| **lost <= most).count() as f64 / RUNS as f64;
    Tried {
        within: share(assumption.within),
        within_three: share(3.0 * assumption.within),
        median: lost[lost.len() / 2],
    }
}

/// A landscape as it is assumed, its top in a random direction.
fn landscape(spec: &Spec, assumption: &Assumption, steepness: f64, interaction: f64, run: u64) -> Landscape {
    let best = |(i, it): (usize, &Parameter)| {
        let reach = assumption.distance * it.c_end;
        let up = mix(mix(run) ^ (i as u64 + (1 << 32))) & 1 == 0;
        let [near, far] =
            if up { [it.start + reach, it.start - reach] } else { [it.start - reach, it.start + reach] };
        let inside = |value: f64| (it.min..=it.max).contains(&value);
        if inside(near) || !inside(far) { near.clamp(it.min, it.max) } else { far }
    };
    Landscape {
        best: spec.parameters.iter().enumerate().map(best).collect(),
        curvature: spec.parameters.iter().map(|it| steepness * COST / it.c_end.powi(2)).collect(),
        interaction,
        draws: assumption.draws,
    }
}

/// The step that loses least after so many pairs, should the landscape be as assumed or three times as flat.
fn steps(pairs: f64, assumption: &Assumption) -> f64 {
    let flat = Assumption { draws: assumption.draws, ..assumption.clone() };
    let loss =
        |r_end: f64| course(pairs, r_end, assumption).max(course_at(pairs, r_end, &flat, 1.0 / 3.0) / 3.0);
    let all = (0..STEPS.2).map(|at| STEPS.0 * STEPS.1.powi(at));
    all.min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(STEPS.0)
}

/// Elo that a parameter is expected to lose by its averaged value.
fn course(pairs: f64, r_end: f64, assumption: &Assumption) -> f64 {
    course_at(pairs, r_end, assumption, 1.0)
}

/// The value moves towards its best at a rate, and is moved by the noise of the results (an Ornstein-Uhlenbeck process).
fn course_at(pairs: f64, r_end: f64, assumption: &Assumption, steepness: f64) -> f64 {
    let spec = Spec { pairs: pairs as u64, window: 1, seed: 0, parameters: vec![] };
    let part = pairs / PARTS as f64;
    let noise = 2.0 * (1.0 - assumption.draws);
    let (mut away, mut variance) = (assumption.distance, 0.0);
    let mut half: Vec<(f64, f64, f64)> = vec![];
    for at in 0..PARTS {
        let k = ((at as f64 + 0.5) * part).max(1.0) as u64;
        let step = r_end * spec.step(k);
        let rate = 4.0 * steepness * COST * RESULT_PER_ELO * step * spec.perturbation(k);
        let kept = (-rate * part).exp();
        away *= kept;
        variance = variance * kept * kept + step * step * noise * (1.0 - kept * kept) / (2.0 * rate);
        if at >= PARTS / 2 {
            half.push((away, variance, kept));
        }
    }
    let number = half.len() as f64;
    let mean = half.iter().map(|(away, ..)| away).sum::<f64>() / number;
    let mut averaged = 0.0;
    for (at, (_, variance, _)) in half.iter().enumerate() {
        let mut joint = 1.0;
        averaged += variance;
        for (_, _, kept) in &half[at + 1..] {
            joint *= kept;
            averaged += 2.0 * variance * joint;
        }
    }
    steepness * COST * (mean * mean + averaged / (number * number))
}

#[cfg(test)]
mod tests;
