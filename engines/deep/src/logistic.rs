//! Logistic regression by Newton's method.

use nalgebra::{DMatrix, DVector};

/// Keeps the matrix invertible when features hardly vary; too small to affect the fit otherwise.
const RIDGE: f64 = 1e-6;

/// The sigmoid function.
#[must_use]
pub fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// The weighted sum of a row.
pub fn logit<const N: usize>(weights: &[f64; N], row: &[f64; N]) -> f64 {
    weights.iter().zip(row).map(|(weight, part)| weight * part).sum()
}

/// The maximum likelihood weights of cases, each a row of features with its outcome, 0 to 1. `None` if the likelihood has no
/// maximum, as when all outcomes are alike.
#[must_use]
pub fn fit<const N: usize>(cases: &[([f64; N], f64)]) -> Option<[f64; N]> {
    let mut weights = [0.0; N];
    for _ in 0..100 {
        let step = step(&weights, cases)?;
        weights.iter_mut().zip(step).for_each(|(weight, step)| *weight += step);
        let size = step.iter().map(|part| part.abs()).fold(0.0, f64::max);
        if !size.is_finite() {
            return None;
        }
        if size < 1e-9 {
            return Some(weights);
        }
    }
    None
}

/// One Newton step: the inverse Hessian times the gradient of the log-likelihood.
fn step<const N: usize>(weights: &[f64; N], cases: &[([f64; N], f64)]) -> Option<[f64; N]> {
    let (mut slope, mut curvature) = ([0.0; N], [[0.0; N]; N]);
    for (row, outcome) in cases {
        let chance = sigmoid(logit(weights, row));
        let (miss, weight) = (outcome - chance, chance * (1.0 - chance));
        for (i, one) in row.iter().enumerate() {
            slope[i] += miss * one;
            for (j, other) in row.iter().enumerate() {
                curvature[i][j] += weight * one * other;
            }
        }
    }
    (0..N).for_each(|i| curvature[i][i] += RIDGE);
    solve(curvature, slope)
}

fn solve<const N: usize>(matrix: [[f64; N]; N], right: [f64; N]) -> Option<[f64; N]> {
    let matrix = DMatrix::from_fn(N, N, |row, column| matrix[row][column]);
    let found = matrix.lu().solve(&DVector::from_row_slice(&right))?;
    found.as_slice().try_into().ok()
}
