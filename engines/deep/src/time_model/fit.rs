//! Logistic regression by Newton's method.

use super::{Features, Model};

const COEFFICIENTS: usize = 4;
type Vector = [f64; COEFFICIENTS];
type Matrix = [Vector; COEFFICIENTS];

/// Keeps the matrix invertible when features hardly vary; too small to affect the fit otherwise.
const RIDGE: f64 = 1e-6;

/// The maximum likelihood model of cases (features, and whether the best move changed). `None` if all outcomes
/// are alike, as the coefficients would be infinite.
pub(super) fn fit(cases: &[(Features, bool)]) -> Option<Model> {
    let mut model = Model { intercept: 0.0, share: 0.0, visits: 0.0, future: 0.0 };
    for _ in 0..100 {
        let step = step(&model, cases)?;
        model.intercept += step[0];
        model.share += step[1];
        model.visits += step[2];
        model.future += step[3];
        let size = step.iter().map(|part| part.abs()).fold(0.0, f64::max);
        if !size.is_finite() {
            return None;
        }
        if size < 1e-9 {
            return Some(model);
        }
    }
    None
}

/// Mean negative log-likelihood of the cases.
pub(super) fn loss(model: &Model, cases: &[(Features, bool)]) -> f64 {
    let of = |(features, changed): &(Features, bool)| {
        let change = model.change(features);
        -(if *changed { change } else { 1.0 - change }).max(1e-12).ln()
    };
    cases.iter().map(of).sum::<f64>() / cases.len().max(1) as f64
}

/// One Newton step: the inverse Hessian times the gradient of the log-likelihood.
fn step(model: &Model, cases: &[(Features, bool)]) -> Option<Vector> {
    let (mut slope, mut curvature) = ([0.0; COEFFICIENTS], [[0.0; COEFFICIENTS]; COEFFICIENTS]);
    for (features, changed) in cases {
        let (row, change) = (features.row(), model.change(features));
        let (miss, weight) = (f64::from(u8::from(*changed)) - change, change * (1.0 - change));
        for (i, one) in row.iter().enumerate() {
            slope[i] += miss * one;
            for (j, other) in row.iter().enumerate() {
                curvature[i][j] += weight * one * other;
            }
        }
    }
    (0..COEFFICIENTS).for_each(|i| curvature[i][i] += RIDGE);
    solve(curvature, slope)
}

/// Gaussian elimination with pivoting.
fn solve(mut matrix: Matrix, mut right: Vector) -> Option<Vector> {
    for column in 0..COEFFICIENTS {
        let pivot = (column..COEFFICIENTS)
            .max_by(|&one, &other| matrix[one][column].abs().total_cmp(&matrix[other][column].abs()))?;
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        if matrix[column][column].abs() < 1e-12 {
            return None;
        }
        for row in column + 1..COEFFICIENTS {
            let factor = matrix[row][column] / matrix[column][column];
            let above = matrix[column];
            matrix[row].iter_mut().zip(above).for_each(|(cell, above)| *cell -= factor * above);
            right[row] -= factor * right[column];
        }
    }
    let mut found = [0.0; COEFFICIENTS];
    for row in (0..COEFFICIENTS).rev() {
        let known: f64 = (row + 1..COEFFICIENTS).map(|column| matrix[row][column] * found[column]).sum();
        found[row] = (right[row] - known) / matrix[row][row];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use usi_shell::SplitMix64;

    #[test]
    fn it_finds_the_coefficients_that_made_the_cases() {
        let truth = Model { intercept: 1.0, share: -6.0, visits: -0.3, future: 0.5 };
        let mut rng = SplitMix64::new(11);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let cases: Vec<(Features, bool)> = (0..40_000)
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
}
