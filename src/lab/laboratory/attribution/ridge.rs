//! Ridge regression with weights, its strength chosen by leaving out one observation at a time.
//!
//! A. Hoerl and R. Kennard, "Ridge regression", Technometrics 12, 1970. Columns are scaled to equal spread, and the mean is
//! not shrunk. The residual of a left-out observation is `e / (1 - h)`, with `h` its leverage (G. Golub, M. Heath and G.
//! Wahba, Technometrics 21, 1979), so that no fit is repeated.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Strengths that are tried: powers of ten from the first to the second, so many to a decade; relative to the weights' sum.
const STRENGTHS: (i32, i32, i32) = (-8, 3, 4);
/// Directions with less of the largest one's spread are none, for least squares.
const LEAST_SHARE: f64 = 1e-12;

/// A fit.
#[derive(Clone, Debug)]
pub struct Ridge {
    center: DVector<f64>,
    scale: DVector<f64>,
    mean: f64,
    /// Weights of the columns, scaled.
    weights: DVector<f64>,
    /// Their covariance if the observations' weights are the inverses of their variances, and the strength says how the
    /// weights were spread before.
    covariance: DMatrix<f64>,
    /// Variance of the mean, likewise.
    mean_variance: f64,
    /// Residuals of observations that are left out.
    pub held_out: Vec<f64>,
    /// Parameters that are spent: the sum of the leverages.
    pub spent: f64,
}

struct Prepared<'a> {
    y: &'a [f64],
    w: &'a [f64],
    z: DMatrix<f64>,
    center: DVector<f64>,
    scale: DVector<f64>,
    mean: f64,
    eigen: SymmetricEigen<f64, nalgebra::Dyn>,
    right: DVector<f64>,
}

impl<'a> Prepared<'a> {
    fn new(x: &DMatrix<f64>, y: &'a [f64], w: &'a [f64]) -> Self {
        let sum: f64 = w.iter().sum();
        let average = |values: &mut dyn Iterator<Item = f64>| {
            values.zip(w).map(|(value, weight)| value * weight).sum::<f64>() / sum
        };
        let center = DVector::from_iterator(
            x.ncols(),
            x.column_iter().map(|column| average(&mut column.iter().copied())),
        );
        let mean = average(&mut y.iter().copied());
        let mut z = x.clone();
        let mut scale = DVector::from_element(x.ncols(), 1.0);
        for (at, mut column) in z.column_iter_mut().enumerate() {
            column.add_scalar_mut(-center[at]);
            let spread = average(&mut column.iter().map(|value| value * value)).sqrt();
            scale[at] = if spread > 1e-9 { spread } else { 1.0 };
            column /= scale[at];
        }
        let mut weighed = z.clone();
        for (mut row, weight) in weighed.row_iter_mut().zip(w) {
            row *= *weight;
        }
        let eigen = SymmetricEigen::new(weighed.tr_mul(&z));
        let right = weighed.tr_mul(&DVector::from_iterator(y.len(), y.iter().map(|y| y - mean)));
        Self { y, w, z, center, scale, mean, right: eigen.eigenvectors.tr_mul(&right), eigen }
    }

    fn fit(&self, shrunk: impl Fn(f64) -> f64) -> Ridge {
        let inverse = self.eigen.eigenvalues.map(shrunk);
        let weights = &self.eigen.eigenvectors * self.right.component_mul(&inverse);
        let covariance =
            &self.eigen.eigenvectors * DMatrix::from_diagonal(&inverse) * self.eigen.eigenvectors.transpose();
        let sum: f64 = self.w.iter().sum();
        let by_row = &self.z * &covariance;
        let (mut held_out, mut spent) = (vec![], 0.0);
        for row in 0..self.z.nrows() {
            let leverage = self.w[row] * (by_row.row(row).dot(&self.z.row(row)) + 1.0 / sum);
            let residual = self.y[row] - self.mean - self.z.row(row).transpose().dot(&weights);
            held_out.push(residual / (1.0 - leverage).max(1e-9));
            spent += leverage;
        }
        let (center, scale) = (self.center.clone(), self.scale.clone());
        Ridge {
            center,
            scale,
            mean: self.mean,
            weights,
            covariance,
            mean_variance: 1.0 / sum,
            held_out,
            spent,
        }
    }
}

impl Ridge {
    /// The fit of `y` by the columns of `x` with these weights that predicts left-out observations best.
    pub fn chosen(x: &DMatrix<f64>, y: &[f64], w: &[f64]) -> Self {
        let prepared = Prepared::new(x, y, w);
        let sum: f64 = w.iter().sum();
        let (from, to, each) = STRENGTHS;
        let strengths = (from * each..=to * each).map(|at| sum * 10f64.powf(f64::from(at) / f64::from(each)));
        let fits = strengths.map(|strength| prepared.fit(|value| 1.0 / (value.max(0.0) + strength)));
        let loss = |fit: &Self| fit.held_out.iter().zip(w).map(|(rest, w)| w * rest * rest).sum::<f64>();
        // Of equals the strongest: the last of `max_by` on the negated loss.
        let best = fits.map(|fit| (loss(&fit), fit)).max_by(|a, b| b.0.total_cmp(&a.0));
        best.map_or_else(|| prepared.fit(|_| 0.0), |(_, fit)| fit)
    }

    /// Plain least squares; of several solutions the shortest.
    pub fn least_squares(x: &DMatrix<f64>, y: &[f64], w: &[f64]) -> Self {
        let prepared = Prepared::new(x, y, w);
        let most = prepared.eigen.eigenvalues.amax();
        prepared.fit(|value| if value > LEAST_SHARE * most { 1.0 / value } else { 0.0 })
    }

    fn scaled(&self, row: &DVector<f64>) -> DVector<f64> {
        (row - &self.center).component_div(&self.scale)
    }

    /// What is expected of a row.
    pub fn predict(&self, row: &DVector<f64>) -> f64 {
        self.mean + self.scaled(row).dot(&self.weights)
    }

    /// The variance of what is expected.
    pub fn variance(&self, row: &DVector<f64>) -> f64 {
        let z = self.scaled(row);
        self.mean_variance + z.dot(&(&self.covariance * &z))
    }

    /// The largest weight of a column as it was given, without its sign.
    pub fn largest(&self) -> f64 {
        self.weights.component_div(&self.scale).amax()
    }
}
