//! How much of the builds' win rates parts and pairs explain, on builds that were held out.
//!
//! The table of the work that this follows (PokeAI, 2017): a build's points are predicted from which levels it has (P),
//! which pairs of levels (PP), and both. Every level and every pair of levels is a column of its own, 1 or 0, by ridge
//! regression and by plain least squares.

use super::ridge::Ridge;
use super::{Field, Levels};
use nalgebra::{DMatrix, DVector};

/// Builds are held out a tenth at a time.
const FOLDS: usize = 10;

/// Which columns a regression has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Levels of parts.
    pub parts: bool,
    /// Levels of pairs of parts.
    pub pairs: bool,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The columns of the regression.
    pub columns: Columns,
    /// Their number.
    pub number: usize,
    /// Share of the variance of held-out win rates that ridge regression explains; below 0 it is worse than the mean.
    pub ridge: f64,
    /// The same for plain least squares.
    pub least_squares: f64,
    /// The largest weight of a column by ridge regression of all builds, in points (-1 to 1).
    pub ridge_largest: f64,
    /// The same by plain least squares: far above 2, it is no explanation of points from -1 to 1.
    pub least_squares_largest: f64,
}

/// The table: P, PP and P+PP. `rates` are the points of each build from -1 (all lost) to 1, with its games.
pub fn table(field: &Field, builds: &[Levels], rates: &[(f64, f64)]) -> Vec<Row> {
    let kinds = [(true, false), (false, true), (true, true)];
    kinds.map(|(parts, pairs)| row(field, builds, rates, Columns { parts, pairs })).to_vec()
}

fn row(field: &Field, builds: &[Levels], rates: &[(f64, f64)], columns: Columns) -> Row {
    let x = matrix(field, builds, columns);
    let (y, w): (Vec<f64>, Vec<f64>) = rates.iter().copied().unzip();
    let r2 = |fit: fn(&DMatrix<f64>, &[f64], &[f64]) -> Ridge| held_out(&x, &y, &w, fit);
    Row {
        columns,
        number: x.ncols(),
        ridge: r2(Ridge::chosen),
        least_squares: r2(Ridge::least_squares),
        ridge_largest: Ridge::chosen(&x, &y, &w).largest(),
        least_squares_largest: Ridge::least_squares(&x, &y, &w).largest(),
    }
}

/// R2 of builds that a fit has not seen.
fn held_out(x: &DMatrix<f64>, y: &[f64], w: &[f64], fit: fn(&DMatrix<f64>, &[f64], &[f64]) -> Ridge) -> f64 {
    let (mut residuals, mut whole) = (0.0, 0.0);
    for fold in 0..FOLDS {
        let (out, seen): (Vec<usize>, Vec<usize>) = (0..y.len()).partition(|build| build % FOLDS == fold);
        let of = |values: &[f64]| seen.iter().map(|build| values[*build]).collect::<Vec<_>>();
        let (seen_y, seen_w) = (of(y), of(w));
        if seen_w.iter().sum::<f64>() <= 0.0 {
            return f64::NAN;
        }
        let fitted = fit(&x.select_rows(&seen), &seen_y, &seen_w);
        let mean = seen_y.iter().zip(&seen_w).map(|(y, w)| y * w).sum::<f64>() / seen_w.iter().sum::<f64>();
        for build in out {
            let row: DVector<f64> = x.row(build).transpose();
            residuals += w[build] * (y[build] - fitted.predict(&row)).powi(2);
            whole += w[build] * (y[build] - mean).powi(2);
        }
    }
    1.0 - residuals / whole
}

fn matrix(field: &Field, builds: &[Levels], columns: Columns) -> DMatrix<f64> {
    let parts: Vec<(usize, usize)> = field
        .levels()
        .iter()
        .enumerate()
        .flat_map(|(part, &levels)| (0..levels).map(move |l| (part, l)))
        .collect();
    let has = |build: &Levels, (part, level): (usize, usize)| f64::from(u8::from(build[part] == level));
    let entries = |build: &Levels| {
        let mut row = vec![];
        if columns.parts {
            row.extend(parts.iter().map(|part| has(build, *part)));
        }
        if columns.pairs {
            for (at, one) in parts.iter().enumerate() {
                let others = parts[at + 1..].iter().filter(|other| other.0 > one.0);
                row.extend(others.map(|other| has(build, *one) * has(build, *other)));
            }
        }
        row
    };
    let rows: Vec<Vec<f64>> = builds.iter().map(entries).collect();
    let width = rows.first().map_or(0, Vec::len);
    DMatrix::from_fn(rows.len(), width, |row, column| rows[row][column])
}
