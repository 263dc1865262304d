//! The maximum of the likelihood of a large field, without a matrix of all pairs of players.
//!
//! Every product with the information is a sum over the games, so that work and memory grow with the players and the
//! pairs that met. The steps of Newton's method are found by conjugate gradients. Their preconditioner is a Cholesky
//! factor without fill; since players with the fewest opponents are eliminated first, it is exact for newcomers who hang
//! on the field by a thread.
//!
//! Errors come from samples with the inverse of the information as covariance: every game is disturbed by as much as its
//! information allows, and the disturbance solved for (G. Papandreou and A. Yuille, "Gaussian sampling by local
//! perturbations", 2010). Disturbances are signs instead of normal numbers: their covariance is the same, and a sign
//! costs a bit (M. Hutchinson, "A stochastic estimator of the trace of the influence matrix", 1989). The part of a
//! variance that is a player's own is exact.

use super::likelihood::{Curvature, Likelihood};
use super::newton::{FARTHEST, LAST_GAIN, LAST_STEP, MOST_STEPS, forward};
use crate::mix::mix;
use elimination::Elimination;
use nalgebra::DVector;

mod elimination;

/// Samples from which errors are taken: they are within 6 % (one standard deviation) of the exact ones.
pub(super) const SAMPLES: u64 = 128;
/// Conjugate gradients end when the residual has shrunk by this factor, and are given up after so many steps.
const SOLVED: f64 = 1e-9;
/// The same for a sample of the errors, whose own error is far larger.
const SAMPLED: f64 = 1e-4;
const MOST_PRODUCTS: usize = 2000;

/// The maximum and samples of its error.
pub(super) struct Maximum {
    pub at: DVector<f64>,
    /// Variance by parameter; the strengths' is relative to their mean.
    pub variance: DVector<f64>,
    /// Samples of the error of the strengths.
    pub samples: Vec<DVector<f64>>,
}

/// The likelihood of a large field. Players outside the core have one game, half won and half lost, against the mean
/// of the core.
pub(super) struct Field<'a> {
    pub likelihood: &'a Likelihood,
    /// Whether the player belongs to the core; if nobody does, everyone is measured against the mean of all.
    pub core: &'a [bool],
    /// Number of samples that errors are taken from.
    pub samples: u64,
}

/// The information at one point: what each meeting and each prior game adds, and the preconditioner.
struct Information<'a> {
    field: &'a Field<'a>,
    meetings: Vec<Curvature>,
    priors: Vec<(usize, f64)>,
    anchors: Vec<usize>,
    diagonal: DVector<f64>,
    elimination: Elimination,
}

impl Field<'_> {
    /// The maximum; none if a parameter runs away.
    pub fn maximise(&self) -> Option<Maximum> {
        let mut at = DVector::zeros(self.likelihood.parameters());
        let mut value = self.value(&at);
        for _ in 0..MOST_STEPS {
            let information = self.information(&at);
            let gradient = self.gradient(&at);
            let step = information.solve(&gradient, SOLVED)?;
            let length = step.amax();
            (at, value) = forward(|at| self.value(at), at, value, &step);
            if length < LAST_STEP && step.dot(&gradient) < LAST_GAIN {
                let information = self.information(&at);
                center(&mut at, self.likelihood.players);
                return information.summit(at);
            }
            if !length.is_finite() || at.amax() > FARTHEST {
                return None;
            }
        }
        None
    }

    fn anchors(&self) -> Vec<usize> {
        let anchored = self.core.contains(&true);
        (0..self.core.len()).filter(|&player| self.core[player] || !anchored).collect()
    }

    /// Players with a prior game, and their strength relative to the mean of the core.
    fn outside(&self, at: &DVector<f64>) -> impl Iterator<Item = (usize, f64)> {
        let mean = mean(at, &self.anchors());
        let players = (0..self.core.len()).filter(|&player| !self.core[player]);
        players.map(move |player| (player, at[player] - mean)).collect::<Vec<_>>().into_iter()
    }

    fn value(&self, at: &DVector<f64>) -> f64 {
        let priors = self.outside(at).map(|(_, x)| -x.abs() / 2.0 - (-x.abs()).exp().ln_1p());
        self.likelihood.value(at) + priors.sum::<f64>()
    }

    fn gradient(&self, at: &DVector<f64>) -> DVector<f64> {
        let mut gradient = self.likelihood.gradient(at);
        let anchors = self.anchors();
        let mut pull = 0.0;
        for (player, x) in self.outside(at) {
            let by_x = 0.5 - 1.0 / (1.0 + (-x).exp());
            gradient[player] += by_x;
            pull += by_x;
        }
        anchors.iter().for_each(|&anchor| gradient[anchor] -= pull / anchors.len() as f64);
        gradient
    }

    fn information(&self, at: &DVector<f64>) -> Information<'_> {
        let likelihood = self.likelihood;
        let meetings: Vec<Curvature> =
            likelihood.meetings.iter().map(|meeting| likelihood.curvature(meeting, at)).collect();
        let priors: Vec<(usize, f64)> =
            self.outside(at).map(|(player, x)| (player, 0.25 / (x / 2.0).cosh().powi(2))).collect();
        let mut diagonal = DVector::zeros(likelihood.parameters());
        for (meeting, curvature) in likelihood.meetings.iter().zip(&meetings) {
            if meeting.black != meeting.white {
                diagonal[meeting.black] += curvature.xx;
                diagonal[meeting.white] += curvature.xx;
            }
            if let Some(advantage) = likelihood.advantage {
                diagonal[advantage] += curvature.xx;
            }
            if let Some(draw) = likelihood.draw {
                diagonal[draw] += curvature.nn;
            }
        }
        priors.iter().for_each(|&(player, own)| diagonal[player] += own);
        let edges = likelihood.meetings.iter().zip(&meetings);
        let edges = edges.map(|(meeting, curvature)| (meeting.black, meeting.white, curvature.xx));
        let elimination = Elimination::new(&diagonal, likelihood.players, edges);
        Information { field: self, meetings, priors, anchors: self.anchors(), diagonal, elimination }
    }
}

impl Information<'_> {
    /// The product with a vector of parameters.
    fn product(&self, v: &DVector<f64>) -> DVector<f64> {
        let likelihood = self.field.likelihood;
        let part = |index: Option<usize>| index.map_or(0.0, |i| v[i]);
        let (advantage, draw) = (part(likelihood.advantage), part(likelihood.draw));
        let mut out = DVector::zeros(v.len());
        let (mut by_advantage, mut by_draw) = (0.0, 0.0);
        for (meeting, curvature) in likelihood.meetings.iter().zip(&self.meetings) {
            let x = v[meeting.black] - v[meeting.white] + advantage;
            let by_x = curvature.xx * x + curvature.xn * draw;
            out[meeting.black] += by_x;
            out[meeting.white] -= by_x;
            by_advantage += by_x;
            by_draw += curvature.xn * x + curvature.nn * draw;
        }
        if let Some(i) = likelihood.advantage {
            out[i] += by_advantage;
        }
        if let Some(i) = likelihood.draw {
            out[i] += by_draw;
        }
        self.add_priors(v, &mut out);
        out
    }

    fn add_priors(&self, v: &DVector<f64>, out: &mut DVector<f64>) {
        let mean = mean(v, &self.anchors);
        let mut pull = 0.0;
        for &(player, own) in &self.priors {
            let part = own * (v[player] - mean);
            out[player] += part;
            pull += part;
        }
        let share = pull / self.anchors.len() as f64;
        self.anchors.iter().for_each(|&anchor| out[anchor] -= share);
    }

    /// Solves `information * x = right` by preconditioned conjugate gradients, until the residual has shrunk by a factor;
    /// none if they do not come to an end. The strengths of the solution have mean 0: equal shifts of all are the null
    /// space.
    fn solve(&self, right: &DVector<f64>, solved: f64) -> Option<DVector<f64>> {
        let mut x = DVector::zeros(right.len());
        let mut rest = right.clone();
        let mut nearer = self.precondition(&rest);
        let mut direction = nearer.clone();
        let mut gap = rest.dot(&nearer);
        let enough = gap * solved * solved;
        for _ in 0..MOST_PRODUCTS {
            if gap <= enough || gap < f64::MIN_POSITIVE {
                return Some(x);
            }
            let product = self.product(&direction);
            let along = gap / direction.dot(&product);
            if !along.is_finite() {
                return None;
            }
            x.axpy(along, &direction, 1.0);
            rest.axpy(-along, &product, 1.0);
            nearer = self.precondition(&rest);
            let next = rest.dot(&nearer);
            direction *= next / gap;
            direction += &nearer;
            gap = next;
        }
        None
    }

    fn precondition(&self, rest: &DVector<f64>) -> DVector<f64> {
        let players = self.field.likelihood.players;
        let mut out = rest.clone();
        center(&mut out, players);
        self.elimination.solve(&mut out.as_mut_slice()[..players]);
        for i in players..out.len() {
            out[i] /= self.diagonal[i];
        }
        center(&mut out, players);
        out
    }

    fn summit(&self, at: DVector<f64>) -> Option<Maximum> {
        let players = self.field.likelihood.players;
        let count = self.field.samples;
        let mut variance = DVector::zeros(at.len());
        let mut samples = vec![];
        for seed in 0..count {
            let disturbance = self.disturbance(seed);
            let sample = self.solve(&disturbance, SAMPLED)?;
            for i in 0..players {
                // What is left of the error if all others were known is not sampled but exact, below.
                variance[i] += (sample[i] - disturbance[i] / self.diagonal[i]).powi(2) / count as f64;
            }
            samples.push(sample.rows(0, players).into_owned());
        }
        for i in 0..players {
            variance[i] += 1.0 / self.diagonal[i];
        }
        for i in players..at.len() {
            let mut unit = DVector::zeros(at.len());
            unit[i] = 1.0;
            variance[i] = self.solve(&unit, SOLVED)?[i];
        }
        Some(Maximum { at, variance, samples })
    }

    /// A vector with the information as covariance: each meeting's gradient times a sign.
    fn disturbance(&self, seed: u64) -> DVector<f64> {
        let likelihood = self.field.likelihood;
        let mut out = DVector::zeros(likelihood.parameters());
        for (number, (meeting, curvature)) in (0..).zip(likelihood.meetings.iter().zip(&self.meetings)) {
            let [first, second] = signs(seed, number);
            let Curvature { xx, xn, nn } = *curvature;
            // The Cholesky factor of the meeting's own two by two information.
            let by_x = xx.sqrt() * first;
            let across = if xx > 0.0 { xn / xx.sqrt() } else { 0.0 };
            let by_draw = across * first + (nn - across * across).max(0.0).sqrt() * second;
            out[meeting.black] += by_x;
            out[meeting.white] -= by_x;
            likelihood.advantage.into_iter().for_each(|i| out[i] += by_x);
            likelihood.draw.into_iter().for_each(|i| out[i] += by_draw);
        }
        let mut pull = 0.0;
        for &(player, own) in &self.priors {
            let [part, _] = signs(!seed, player as u64);
            out[player] += own.sqrt() * part;
            pull += own.sqrt() * part;
        }
        let share = pull / self.anchors.len() as f64;
        self.anchors.iter().for_each(|&anchor| out[anchor] -= share);
        out
    }
}

fn mean(v: &DVector<f64>, of: &[usize]) -> f64 {
    of.iter().map(|&player| v[player]).sum::<f64>() / of.len() as f64
}

/// Moves the strengths to mean 0.
fn center(v: &mut DVector<f64>, players: usize) {
    let mean = v.rows(0, players).mean();
    v.rows_mut(0, players).add_scalar_mut(-mean);
}

/// Two independent signs of a seed and a number.
fn signs(seed: u64, number: u64) -> [f64; 2] {
    let bits = mix(mix(seed).wrapping_add(number));
    [63, 62].map(|bit| if bits >> bit & 1 == 0 { 1.0 } else { -1.0 })
}
