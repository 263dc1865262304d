//! The maximum of a field's likelihood.

use super::likelihood::Likelihood;
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

/// The maximum of the likelihood.
pub(super) struct Maximum {
    pub at: DVector<f64>,
    /// Covariance of the parameters there; the strengths' part is relative to their mean.
    pub covariance: DMatrix<f64>,
}

/// Newton's method, each step halved until the likelihood does not fall: on a concave likelihood it reaches the
/// maximum, if there is one, from anywhere. None if a parameter runs away or the results do not identify it.
pub(super) fn maximise(likelihood: &Likelihood) -> Option<Maximum> {
    let mut at = DVector::zeros(likelihood.parameters());
    let mut value = likelihood.value(&at);
    for _ in 0..MOST_STEPS {
        let (gradient, information) = likelihood.derivatives(&at);
        let step = factor(likelihood, information)?.solve(&gradient);
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

fn summit(likelihood: &Likelihood, at: DVector<f64>) -> Option<Maximum> {
    let (_, information) = likelihood.derivatives(&at);
    let pin = pin(likelihood, &information);
    let mut covariance = factor(likelihood, information)?.inverse();
    // Pinning the mean added this variance to a direction that has none.
    let pinned = 1.0 / (pin * (likelihood.players as f64).powi(2));
    covariance.view_mut((0, 0), (likelihood.players, likelihood.players)).add_scalar_mut(-pinned);
    Some(Maximum { at, covariance })
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
