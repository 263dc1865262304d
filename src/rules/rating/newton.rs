//! The maximum of a field's likelihood.

use super::likelihood::{Information, Likelihood};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

const MOST_STEPS: usize = 100;
/// Largest change of a parameter in one step (natural logarithms; 350 Elo).
const LONGEST_STEP: f64 = 2.0;
/// A parameter beyond this (5000 Elo) diverges.
const FARTHEST: f64 = 30.0;
/// The likelihood that a last step may still gain: it leads within 10^-5 standard errors of the maximum, and the step
/// itself is then made too. A smaller bound would not be reached with very unequal counts, because of rounding.
const LAST_GAIN: f64 = 1e-11;
/// When a parameter diverges, gains vanish too, but steps do not.
const LAST_STEP: f64 = 1e-3;
/// A parameter is not identified if less than this share of its information is independent of the others.
const LEAST_OWN_SHARE: f64 = 1e-9;

/// Most players whose information is factored in any case. Time grows with the cube of their number; the equations of a larger
/// field are solved by conjugate gradients, in proportion to its meetings, unless everybody has met nearly everybody.
pub(super) const FACTORED: usize = 400;
/// Passes over all meetings that these take in all, about.
const PASSES: usize = 1000;
/// Steps of these, and the shares of the residual that remain of a step of Newton's method and of a drawn error.
const MOST_GRADIENTS: usize = 2000;
const OF_STEP: f64 = 1e-6;
const OF_DRAW: f64 = 1e-3;
/// A residual that is rounding: the likelihood that it may gain.
const ROUNDING: f64 = 1e-16;
/// Errors that are drawn of a large field. An error bar is then known within 9 % itself, as a sample's deviation is.
const DRAWS: u64 = 64;

/// The maximum of the likelihood.
pub(super) struct Maximum {
    pub at: DVector<f64>,
    /// The errors of the parameters there; the strengths' part is relative to their mean.
    pub errors: Errors,
}

/// The errors of parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Errors {
    /// Their covariance.
    Covariance(DMatrix<f64>),
    /// Errors drawn from their distribution.
    Drawn(Vec<DVector<f64>>),
}

impl Errors {
    /// The variance of the difference of two parameters, or of one.
    pub fn variance(&self, one: usize, other: Option<usize>) -> f64 {
        match self {
            Self::Covariance(c) => {
                c[(one, one)] + other.map_or(0.0, |other| c[(other, other)] - 2.0 * c[(one, other)])
            }
            Self::Drawn(draws) => {
                let squares =
                    draws.iter().map(|draw| (draw[one] - other.map_or(0.0, |other| draw[other])).powi(2));
                squares.sum::<f64>() / draws.len().max(1) as f64
            }
        }
    }
}

/// Newton's method, each step halved until the likelihood does not fall: on a concave likelihood it reaches the
/// maximum, if there is one, from anywhere. None if a parameter runs away or the results do not identify it.
pub(super) fn maximise(likelihood: &Likelihood) -> Option<Maximum> {
    let mut at = DVector::zeros(likelihood.parameters());
    let mut value = likelihood.value(&at);
    for _ in 0..MOST_STEPS {
        let (gradient, information) = likelihood.slope(&at);
        let step = match is_large(likelihood) {
            true => solve(likelihood, &information, &gradient, OF_STEP)?,
            false => factor(likelihood, information.dense())?.solve(&gradient),
        };
        let length = step.amax();
        (at, value) = forward(likelihood, at, value, &step);
        if length < LAST_STEP && step.dot(&gradient) < LAST_GAIN {
            return summit(likelihood, at);
        }
        if !length.is_finite() || at.amax() > FARTHEST {
            return None;
        }
    }
    None
}

/// The point after the largest part of the step that does not lower the value, and the value there.
fn forward(
    likelihood: &Likelihood,
    at: DVector<f64>,
    value: f64,
    step: &DVector<f64>,
) -> (DVector<f64>, f64) {
    // Below this a difference of likelihoods is rounding.
    let slack = 1e-12 * value.abs();
    let mut share = (LONGEST_STEP / step.amax()).min(1.0);
    for _ in 0..30 {
        let next = &at + step * share;
        let reached = likelihood.value(&next);
        if reached >= value - slack {
            return (next, reached);
        }
        share /= 2.0;
    }
    (at, value)
}

fn is_large(likelihood: &Likelihood) -> bool {
    let players = likelihood.players;
    players > FACTORED && likelihood.meetings.len().saturating_mul(PASSES) < players.saturating_pow(3)
}

/// Solves the equations of a large field by conjugate gradients, each parameter in units of its own information. `None` if
/// the results do not identify a parameter.
fn solve(
    likelihood: &Likelihood,
    information: &Information<'_>,
    of: &DVector<f64>,
    precision: f64,
) -> Option<DVector<f64>> {
    let diagonal = information.diagonal();
    if diagonal.iter().any(|own| own.is_nan() || *own <= 0.0) {
        return None;
    }
    let (mut solution, mut residual) = (DVector::zeros(of.len()), of.clone());
    centre(likelihood, &mut residual);
    let mut direction = residual.component_div(&diagonal);
    let mut size = residual.dot(&direction);
    let enough = (size * precision * precision).max(ROUNDING);
    for _ in 0..MOST_GRADIENTS {
        if size <= enough {
            break;
        }
        let image = information.times(&direction);
        let share = size / direction.dot(&image);
        solution.axpy(share, &direction, 1.0);
        residual.axpy(-share, &image, 1.0);
        let next = residual.component_div(&diagonal);
        let former = std::mem::replace(&mut size, residual.dot(&next));
        direction = next + direction * (size / former);
    }
    centre(likelihood, &mut solution);
    Some(solution)
}

/// Takes out what all strengths have alike: equal shifts of all of them change nothing, but for rounding.
fn centre(likelihood: &Likelihood, of: &mut DVector<f64>) {
    let mut strengths = of.rows_mut(0, likelihood.players);
    let mean = strengths.mean();
    strengths.add_scalar_mut(-mean);
}

fn summit(likelihood: &Likelihood, at: DVector<f64>) -> Option<Maximum> {
    let (_, information) = likelihood.slope(&at);
    if is_large(likelihood) {
        let draw = |seed| solve(likelihood, &information, &information.drawn(seed), OF_DRAW);
        let errors = Errors::Drawn((1..=DRAWS).map(draw).collect::<Option<_>>()?);
        return Some(Maximum { at, errors });
    }
    let covariance = covariance(likelihood, information.dense())?;
    Some(Maximum { at, errors: Errors::Covariance(covariance) })
}

fn covariance(likelihood: &Likelihood, information: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let pin = pin(likelihood, &information);
    let mut covariance = factor(likelihood, information)?.inverse();
    // Pinning the mean added this variance to a direction that has none.
    let pinned = 1.0 / (pin * (likelihood.players as f64).powi(2));
    covariance.view_mut((0, 0), (likelihood.players, likelihood.players)).add_scalar_mut(-pinned);
    Some(covariance)
}

/// Factors the information with the strengths' mean pinned to zero. Since the gradient has no part in that direction
/// the steps do not depend on how hard it is pinned.
fn factor(likelihood: &Likelihood, mut information: DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    let players = likelihood.players;
    let pin = pin(likelihood, &information);
    information.view_mut((0, 0), (players, players)).add_scalar_mut(pin);
    let diagonal = information.diagonal();
    let factor = Cholesky::new(information)?;
    let root = factor.l_dirty().diagonal();
    let identified = root.iter().zip(&diagonal).all(|(root, whole)| root * root > LEAST_OWN_SHARE * whole);
    identified.then_some(factor)
}

/// Strength of the pin on the mean: about that of one player's results.
fn pin(likelihood: &Likelihood, information: &DMatrix<f64>) -> f64 {
    let players = likelihood.players;
    let bound: f64 = (0..players).map(|i| information[(i, i)]).sum();
    if bound > 0.0 { bound / (players * players) as f64 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Results, likelihood::Meeting, mix::mix};

    #[test]
    fn a_large_field_has_the_ratings_and_within_their_own_error_the_error_bars_of_a_small_one() {
        let players = FACTORED + 20;
        let draw = |n: usize| mix(n as u64) as usize;
        let meeting = |n: usize| {
            let (black, white) = (n % players, (n % players + 1 + draw(n) % (players - 1)) % players);
            let results =
                Results { black_wins: 1.0 + (draw(n) >> 20 & 3) as f64, draws: 0.5, white_wins: 1.5 };
            Meeting { black, white, results }
        };
        let (advantage, nu) = (Some(players), Some(players + 1));
        let meetings = (0..6 * players).map(meeting).collect();
        let likelihood = Likelihood { players, meetings, advantage, draw: nu };
        let Maximum { at, errors } = maximise(&likelihood).unwrap();
        let (gradient, information) = likelihood.derivatives(&at);
        let short = factor(&likelihood, information.clone()).unwrap().solve(&gradient).amax();
        assert!(short < 1e-6, "a step of {short} is left");
        let exact = Errors::Covariance(covariance(&likelihood, information).unwrap());
        let ratio = |i: usize, other| errors.variance(i, other) / exact.variance(i, other);
        let ratios: Vec<f64> =
            (0..players).flat_map(|i| [ratio(i, None), ratio(i, Some((i + 7) % players))]).collect();
        assert!(ratios.iter().all(|ratio| (0.3..2.0).contains(ratio)), "{ratios:?}");
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
    }
}
