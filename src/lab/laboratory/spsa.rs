//! The tuning of numbers by simultaneous perturbation (SPSA): J. Spall, "Multivariate stochastic approximation using a
//! simultaneous perturbation gradient approximation", IEEE Trans. Autom. Control 37, 1992, as testers of engines use it.
//!
//! Pair `k` of `N` is played between two engines whose values lie `c_k` above and below the tuned ones, each in a random
//! direction of its own. All values then move at once towards the side that has won more:
//!
//! - `c_k = c_end (N / k)^gamma`, the perturbation;
//! - `a_k = r_end c_end^2 ((A + N) / (A + k))^alpha` with `A = N / 10`; the step is `a_k / c_k` for each game won more than
//!   lost.
//!
//! Pair `k` plays the values after pair `k - W`, and results are applied in the order of the pairs, whatever the order in
//! which they come. Directions and roundings follow from the seed and `k`. So the same results give the same values bit
//! for bit, however many pairs are played at once and however often the program was killed. Pure: results in, values out.

use plan::TunePlan;
use referee::rating::mix::mix;
use std::collections::{BTreeMap, VecDeque};

/// Exponent of the steps.
const ALPHA: f64 = 0.602;
/// Exponent of the perturbations.
const GAMMA: f64 = 0.101;
/// Share of all pairs that the first steps are held back by.
const HELD_BACK: f64 = 0.1;

/// A number that is tuned.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name of the engine's option.
    pub name: String,
    /// Value before the first pair.
    pub start: f64,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
    /// Perturbation in the last pair, in its own units.
    pub c_end: f64,
    /// Step in the last pair for each game won more than lost, in units of the perturbation.
    pub r_end: f64,
    /// True if the engine takes whole numbers only.
    pub whole: bool,
}

impl Parameter {
    /// A value as it is sent to the engine; `share` from 0 to 1 rounds a whole number up that often.
    fn playable(&self, value: f64, share: f64) -> f64 {
        let value = value.clamp(self.min, self.max);
        if self.whole { (value + share).floor().clamp(self.min, self.max) } else { value }
    }

    /// A value as text, for the engine: whole numbers are rounded to the nearest.
    pub fn text(&self, value: f64) -> String {
        if self.whole { format!("{}", value.round()) } else { format!("{value}") }
    }
}

/// What is tuned, and how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Pairs of games; fixed before the first.
    pub pairs: u64,
    /// Pair `k` plays the values after pair `k - window`.
    pub window: u64,
    /// Seed of directions and roundings.
    pub seed: u64,
    /// The numbers.
    pub parameters: Vec<Parameter>,
}

impl Spec {
    /// The tuning of a plan whose parameters are complete; `None` while bounds or starts are missing.
    pub fn of(plan: &TunePlan, seed: u64) -> Option<Self> {
        let parameter = |it: &plan::ParameterPlan| {
            let (name, c_end, r_end, whole) = (it.name.clone(), it.c_end, it.r_end, it.whole);
            Some(Parameter { name, start: it.start?, min: it.min?, max: it.max?, c_end, r_end, whole })
        };
        let parameters = plan.parameters.iter().map(parameter).collect::<Option<Vec<_>>>()?;
        Some(Self { pairs: plan.pairs, window: plan.window.max(1), seed, parameters })
    }

    /// Perturbation of pair `k` in units of `c_end`.
    pub fn perturbation(&self, k: u64) -> f64 {
        (self.pairs as f64).powf(GAMMA) / (k as f64).powf(GAMMA)
    }

    /// Step of pair `k` for each game won more than lost, in units of `r_end c_end`.
    pub fn step(&self, k: u64) -> f64 {
        let all = self.pairs as f64;
        let held = HELD_BACK * all;
        (held + all).powf(ALPHA) / (held + k as f64).powf(ALPHA) / self.perturbation(k)
    }

    /// Direction of a parameter in pair `k`: 1 or -1.
    fn direction(&self, k: u64, parameter: usize) -> f64 {
        if self.random(k, 2 * parameter as u64) & 1 == 0 { 1.0 } else { -1.0 }
    }

    /// Share of the roundings upwards of a parameter in pair `k`, from 0 to 1. Both sides round alike, so that their
    /// difference has less noise.
    fn share(&self, k: u64, parameter: usize) -> f64 {
        (self.random(k, 2 * parameter as u64 + 1) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn random(&self, k: u64, stream: u64) -> u64 {
        mix(mix(mix(self.seed) ^ k) ^ stream)
    }
}

/// The values of both sides of a pair, as they are sent to the engines.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// With the perturbation added.
    pub plus: Vec<f64>,
    /// With the perturbation subtracted.
    pub minus: Vec<f64>,
}

/// A tuning under way.
#[derive(Clone, Debug)]
pub struct Tuning {
    spec: Spec,
    /// Pairs whose results are applied.
    applied: u64,
    /// The values after the last pairs up to `applied`, the newest last.
    recent: VecDeque<Vec<f64>>,
    /// Results that wait for those of pairs before.
    waiting: BTreeMap<u64, i8>,
    /// Sum of the values after each pair of the second half.
    sum: Vec<f64>,
    /// Sum of the squares of all results, and of all steps.
    squares: (f64, f64),
}

impl Tuning {
    /// A tuning before its first pair.
    pub fn new(spec: Spec) -> Self {
        let start = spec.parameters.iter().map(|it| it.start.clamp(it.min, it.max)).collect::<Vec<_>>();
        let sum = vec![0.0; start.len()];
        Self {
            spec,
            applied: 0,
            recent: VecDeque::from([start]),
            waiting: BTreeMap::new(),
            sum,
            squares: (0.0, 0.0),
        }
    }

    /// What is tuned.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Pairs whose results are applied.
    pub fn applied(&self) -> u64 {
        self.applied
    }

    /// True if the result of pair `k`, from 1, is known.
    pub fn knows(&self, k: u64) -> bool {
        k <= self.applied || self.waiting.contains_key(&k)
    }

    /// The values of pair `k`, from 1; `None` while they follow from results that are missing. A pair that is played
    /// again after it was applied has the oldest values that are remembered.
    pub fn trial(&self, k: u64) -> Option<Trial> {
        let behind = self.applied.checked_sub(k.saturating_sub(self.spec.window))?;
        let behind = usize::try_from(behind).unwrap_or(usize::MAX).min(self.recent.len() - 1);
        let centre = &self.recent[self.recent.len() - 1 - behind];
        let scale = self.spec.perturbation(k);
        let side = |sign: f64| {
            let value = |(i, it): (usize, &Parameter)| {
                let reach = sign * self.spec.direction(k, i) * it.c_end * scale;
                it.playable(centre[i] + reach, self.spec.share(k, i))
            };
            self.spec.parameters.iter().enumerate().map(value).collect()
        };
        Some(Trial { plus: side(1.0), minus: side(-1.0) })
    }

    /// Notes the result of pair `k`, from 1: games won less games lost by the side with the perturbation added. Results
    /// may come in any order; a second one of the same pair is ignored.
    pub fn note(&mut self, k: u64, result: i8) {
        if self.knows(k) || k > self.spec.pairs {
            return;
        }
        self.waiting.insert(k, result);
        while let Some(result) = self.waiting.remove(&(self.applied + 1)) {
            self.apply(f64::from(result));
        }
    }

    /// Forgets the result of a pair that is not applied yet.
    pub fn forget(&mut self, k: u64) {
        self.waiting.remove(&k);
    }

    fn apply(&mut self, result: f64) {
        let k = self.applied + 1;
        let scale = self.spec.step(k);
        let mut values = self.values().to_vec();
        for (i, it) in self.spec.parameters.iter().enumerate() {
            let step = it.r_end * it.c_end * scale * result * self.spec.direction(k, i);
            values[i] = (values[i] + step).clamp(it.min, it.max);
        }
        if k > self.spec.pairs / 2 {
            self.sum.iter_mut().zip(&values).for_each(|(sum, value)| *sum += value);
        }
        self.squares = (self.squares.0 + result * result, self.squares.1 + scale * scale);
        self.recent.push_back(values);
        if self.recent.len() as u64 > self.spec.window + 1 {
            self.recent.pop_front();
        }
        self.applied = k;
    }

    /// The values after the last pair that is applied.
    pub fn values(&self) -> &[f64] {
        self.recent.back().map_or(&[], Vec::as_slice)
    }

    /// How far a value without any influence on the games may have gone from its start by now, in 95 of 100 tunings; in
    /// units of `r_end c_end`.
    pub fn chance(&self) -> f64 {
        let (results, steps) = self.squares;
        1.96 * (results / self.applied.max(1) as f64 * steps).sqrt()
    }

    /// The mean of the values after each pair of the second half, which has less noise than the last values; before
    /// that, the last values.
    pub fn averaged(&self) -> Vec<f64> {
        match self.applied.saturating_sub(self.spec.pairs / 2) {
            0 => self.values().to_vec(),
            pairs => self.sum.iter().map(|sum| sum / pairs as f64).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
