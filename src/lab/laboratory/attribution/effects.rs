//! What parts and pairs are worth in Elo, from the games of a league.
//!
//! The strength of a build is the sum of its effects and a random effect of its own: parts are also worth something in
//! threes and more, and without it every interval is too narrow (D. Firth and H. Turner warn of that for BradleyTerry2).
//! A game has black's advantage and the odds of a draw as in our ratings ([`FieldGames`]).
//!
//! Penalized quasi-likelihood (N. Breslow and D. Clayton, JASA 88, 1993): the likelihood of the games is replaced by the
//! parabola that touches it at the present strengths, `-t'At/2 + b't`, the linear mixed model `t = Xe + u`, `u ~ N(0, v)`
//! is solved for it, and so on until the strengths stay. In terms of the information `A`, with `G = A (1 + vA)^-1` (the
//! inverse of the covariance of the strengths' estimates), the effects are `(X'GX)^-1 X'(1 + vA)^-1 b`, not shrunk, and `v`
//! maximizes the restricted likelihood (REML; D. Harville, JASA 72, 1977)
//!
//! `-1/2 (log |1 + vA| + log |X'GX| - e'X'GXe - v b'(1 + vA)^-1 b)`.
//!
//! Intervals are those of M. Kenward and J. Roger (Biometrics 53, 1997): their covariance allows for the error of `v`, and
//! their degrees of freedom for how few builds it is known from.

use super::{Effect, Field, Levels};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use referee::rating::{CrossTable, Expansion, FieldGames};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Steps until the strengths stay.
const STEPS: usize = 60;
/// Largest change of a strength in one step, in natural logarithms of odds.
const LONGEST_STEP: f64 = 1.5;
/// The last step.
const LAST_STEP: f64 = 1e-7;
/// A strength beyond this (5000 Elo) diverges.
const FARTHEST: f64 = 30.0;
/// The largest standard deviation of the random effect, in natural logarithms of odds (1700 Elo).
const WIDEST: f64 = 10.0;
/// Degrees of freedom beyond which a distribution is normal.
const NORMAL: f64 = 1e6;

/// Why there are no effects.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoEffects {
    /// The builds do not tell effects apart.
    #[error("the builds that were played do not tell these effects apart from the others")]
    Aliased(Vec<Effect>),
    /// Fewer builds than effects and two more.
    #[error("{builds} builds are too few for {effects} effects")]
    Few {
        /// Builds.
        builds: usize,
        /// Effects.
        effects: usize,
    },
    /// The games say nothing of an effect, or it is without bounds.
    #[error("there are too few games yet: an effect has no bounds")]
    Unbounded,
}

/// An effect in Elo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimated {
    /// What it is an effect of.
    pub effect: Effect,
    /// Its estimate.
    pub elo: f64,
    /// Half its 95 % interval.
    pub error: f64,
}

/// What parts and pairs are worth.
#[derive(Clone, Debug)]
pub struct Effects {
    /// Every effect, in the order of [`Field::effects`].
    pub all: Vec<Estimated>,
    /// Standard deviation of what a build has of its own, in Elo.
    pub own: f64,
    /// Black's advantage in Elo.
    pub black_advantage: f64,
    /// The probability of a draw between equals.
    pub draw_ratio: f64,
    /// Elo of each build from its own games alone, relative to the mean of all.
    pub builds: Vec<f64>,
    /// Variance of these, by the games.
    pub variance: Vec<f64>,
}

/// What the effects of a field are, from a league: `builds` by the players' numbers of the table.
///
/// # Errors
/// [`NoEffects`], if the builds or the games do not suffice.
pub fn effects(field: &Field, builds: &[Levels], table: &CrossTable) -> Result<Effects, NoEffects> {
    let wanted = field.effects();
    if builds.len() < wanted.len() + 3 {
        return Err(NoEffects::Few { builds: builds.len(), effects: wanted.len() });
    }
    let aliased = field.aliased(builds);
    if !aliased.is_empty() {
        return Err(NoEffects::Aliased(aliased));
    }
    let (x, games) = (field.matrix(builds), FieldGames::new(table));
    let mut at = DVector::zeros(builds.len());
    for step in 0..STEPS {
        let expansion = games.around(&at);
        let parabola = Parabola::new(&x, &expansion, &at);
        let solved = parabola.solve().ok_or(NoEffects::Unbounded)?;
        let change = &solved.strengths - &at;
        let length = change.amax();
        if !length.is_finite() || at.amax() > FARTHEST {
            return Err(NoEffects::Unbounded);
        }
        if length < LAST_STEP || step + 1 == STEPS {
            return parabola.conclude(&solved, &expansion, &wanted).ok_or(NoEffects::Unbounded);
        }
        at += change * (LONGEST_STEP / length).min(1.0);
    }
    Err(NoEffects::Unbounded)
}

/// The linear mixed model at one point, in the basis of the information's own directions.
struct Parabola {
    /// The information's eigenvalues; those of its null space are 0.
    values: DVector<f64>,
    vectors: DMatrix<f64>,
    /// `X` and `b` in that basis.
    x: DMatrix<f64>,
    b: DVector<f64>,
    own_x: DMatrix<f64>,
}

struct Solved {
    /// Variance of the random effect.
    variance: f64,
    effects: DVector<f64>,
    /// Covariance of the effects, if `variance` were known.
    covariance: DMatrix<f64>,
    strengths: DVector<f64>,
}

impl Parabola {
    fn new(x: &DMatrix<f64>, expansion: &Expansion, at: &DVector<f64>) -> Self {
        let b = &expansion.information * at + &expansion.gradient;
        let eigen = SymmetricEigen::new(expansion.information.clone());
        let most = eigen.eigenvalues.amax();
        let values = eigen.eigenvalues.map(|value| if value > 1e-11 * most { value } else { 0.0 });
        let (own_x, b) = (x.clone(), eigen.eigenvectors.tr_mul(&b));
        Self { values, x: eigen.eigenvectors.tr_mul(x), b, vectors: eigen.eigenvectors, own_x }
    }

    /// `1 / (1 + vA)`, by direction.
    fn damped(&self, variance: f64) -> DVector<f64> {
        self.values.map(|value| 1.0 / (1.0 + variance * value))
    }

    /// `X' diag(weights) X`.
    fn weighed(&self, weights: &DVector<f64>) -> DMatrix<f64> {
        let mut scaled = self.x.clone();
        for (mut row, weight) in scaled.row_iter_mut().zip(weights.iter()) {
            row *= *weight;
        }
        self.x.tr_mul(&scaled)
    }

    /// The effects for a variance of the random effect, with their covariance and the restricted log likelihood.
    fn given(&self, variance: f64) -> Option<(DVector<f64>, DMatrix<f64>, f64)> {
        let damped = self.damped(variance);
        let about = self.weighed(&self.values.component_mul(&damped));
        let diagonal = about.diagonal();
        let factor = about.cholesky()?;
        let root = factor.l_dirty().diagonal();
        if root.iter().zip(&diagonal).any(|(root, whole)| root * root < 1e-9 * whole) {
            return None;
        }
        let right = self.x.tr_mul(&self.b.component_mul(&damped));
        let effects = factor.solve(&right);
        let spent: f64 = self.values.iter().map(|value| (variance * value).ln_1p()).sum();
        let log_about = 2.0 * root.iter().map(|root| root.ln()).sum::<f64>();
        let own = variance * self.b.component_mul(&damped).dot(&self.b);
        let likelihood = (right.dot(&effects) + own - spent - log_about) / 2.0;
        Some((effects, factor.inverse(), likelihood))
    }

    fn solve(&self) -> Option<Solved> {
        let likelihood = |deviation: f64| {
            self.given(deviation * deviation).map_or(f64::NEG_INFINITY, |(_, _, value)| value)
        };
        let deviation = maximum(likelihood);
        let variance = deviation * deviation;
        let (effects, covariance, _) = self.given(variance)?;
        let fixed = &self.x * &effects;
        let rest = &self.b - self.values.component_mul(&fixed);
        let own = rest.component_mul(&self.damped(variance)) * variance;
        let strengths = &self.own_x * &effects + &self.vectors * own;
        Some(Solved { variance, effects, covariance, strengths })
    }

    /// The effects in Elo, with their intervals.
    fn conclude(&self, solved: &Solved, expansion: &Expansion, wanted: &[Effect]) -> Option<Effects> {
        let damped = self.damped(solved.variance);
        let g = self.values.component_mul(&damped);
        let phi = &solved.covariance;
        // The derivatives of X'GX by the variance, and half the trace of the squared projection: the information about it.
        let first = -self.weighed(&g.component_mul(&g));
        let second = self.weighed(&g.component_mul(&g).component_mul(&g));
        let gx = DMatrix::from_fn(self.x.nrows(), self.x.ncols(), |i, j| g[i] * self.x[(i, j)]);
        let projection = DMatrix::from_diagonal(&g) - &gx * phi * gx.transpose();
        let about_variance = projection.norm_squared() / 2.0;
        let of_variance = if about_variance > 0.0 { 1.0 / about_variance } else { 0.0 };
        let adjusted = phi + phi * (second - &first * phi * &first) * phi * (2.0 * of_variance);
        let growth = -(phi * &first * phi);
        let scale = expansion.scale();
        let estimated = |(at, effect): (usize, &Effect)| {
            let plain = phi[(at, at)];
            let spread = of_variance * growth[(at, at)].powi(2);
            let freedom = if spread > 0.0 { 2.0 * plain * plain / spread } else { NORMAL };
            let variance = adjusted[(at, at)].max(plain);
            let error = quantile(freedom)? * scale * variance.sqrt();
            Some(Estimated { effect: *effect, elo: scale * solved.effects[at], error })
        };
        let all = wanted.iter().enumerate().map(estimated).collect::<Option<Vec<_>>>()?;
        let inverse = self.values.map(|value| if value > 0.0 { 1.0 / value } else { 0.0 });
        let builds = &self.vectors * self.b.component_mul(&inverse) * scale;
        let variance = (0..builds.len()).map(|build| {
            let row = self.vectors.row(build);
            scale
                * scale
                * row.iter().zip(&inverse).map(|(entry, inverse)| entry * entry * inverse).sum::<f64>()
        });
        Some(Effects {
            all,
            own: scale * solved.variance.sqrt(),
            black_advantage: scale * expansion.advantage,
            draw_ratio: expansion.draw_ratio,
            variance: variance.collect(),
            builds: builds.iter().copied().collect(),
        })
    }
}

/// The 97.5 % quantile of Student's t.
pub(super) fn quantile(freedom: f64) -> Option<f64> {
    let freedom = freedom.clamp(1.0, NORMAL);
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975))
}

/// Where a function of a standard deviation is greatest: on a grid, then by golden section around its best point.
fn maximum(of: impl Fn(f64) -> f64) -> f64 {
    let steps = 48;
    let point = |at: i32| {
        if at <= 0 { 0.0 } else { WIDEST * 10f64.powf(-4.0 * f64::from(steps - at) / f64::from(steps)) }
    };
    let best = (0..=steps).map(|at| (at, of(point(at)))).max_by(|a, b| a.1.total_cmp(&b.1));
    let best = best.map_or(0, |(at, _)| at);
    let (mut low, mut high) = (point(best - 1), point((best + 1).min(steps)));
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    for _ in 0..40 {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        if of(left) >= of(right) { high = right } else { low = left }
    }
    let inside = f64::midpoint(low, high);
    if of(0.0) >= of(inside) { 0.0 } else { inside }
}
