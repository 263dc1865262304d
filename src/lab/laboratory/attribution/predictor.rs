//! How strong a build is that was played, or never was.

use super::{Effects, Field, Levels, effects::quantile, ridge::Ridge};
use std::collections::HashSet;

/// Builds that are looked at one by one for the best; of more, a part at a time is changed for the better.
const LOOKED_AT: u128 = 100_000;

/// What is expected of a build.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// Its levels.
    pub build: Levels,
    /// Elo relative to the mean of the builds of the league.
    pub elo: f64,
    /// Half its 95 % interval, what the build has of its own included.
    pub error: f64,
}

/// Predicts builds by ridge regression of the builds' Elo, its strength chosen so that held-out builds are predicted best.
#[derive(Clone, Debug)]
pub struct Predictor {
    field: Field,
    ridge: Ridge,
    /// Variance of what a build has of its own.
    own: f64,
    /// How much farther held-out builds are from what is expected than intervals allow; at least 1.
    widened: f64,
    freedom: f64,
}

impl Predictor {
    /// Learns from a league's effects.
    pub fn new(field: &Field, builds: &[Levels], effects: &Effects) -> Self {
        let own = effects.own * effects.own;
        // A build without a game has no weight.
        let weight = |variance: &f64| if *variance > 0.0 { 1.0 / (own + variance) } else { 0.0 };
        let weights: Vec<f64> = effects.variance.iter().map(weight).collect();
        let x = field.matrix(builds);
        let ridge = Ridge::chosen(&x, &effects.builds, &weights);
        let squares = builds.iter().zip(&ridge.held_out).zip(&weights).map(|((build, rest), weight)| {
            weight * rest * rest / (1.0 + weight * ridge.variance(&field.row(build)))
        });
        let widened = (squares.sum::<f64>() / builds.len().max(1) as f64).max(1.0);
        let freedom = builds.len() as f64 - ridge.spent;
        Self { field: field.clone(), ridge, own, widened, freedom }
    }

    /// What is expected of a build.
    pub fn predict(&self, build: &[usize]) -> Predicted {
        let row = self.field.row(build);
        let variance = self.widened * (self.ridge.variance(&row) + self.own);
        let error = quantile(self.freedom).unwrap_or(f64::INFINITY) * variance.sqrt();
        Predicted { build: build.to_vec(), elo: self.ridge.predict(&row), error }
    }

    /// The build from which most is expected among those that are not in `played`; none if all are.
    pub fn best_unplayed(&self, played: &[Levels]) -> Option<Predicted> {
        let played: HashSet<&Levels> = played.iter().collect();
        let all = self.field.builds();
        if all <= LOOKED_AT {
            let unplayed = (0..all).map(|number| self.field.build(number));
            let unplayed = unplayed.filter(|build| !played.contains(build));
            return unplayed.map(|build| self.predict(&build)).max_by(|a, b| a.elo.total_cmp(&b.elo));
        }
        let climbed = played.iter().filter_map(|build| self.climb((*build).clone(), &played));
        climbed.max_by(|a, b| a.elo.total_cmp(&b.elo))
    }

    /// Changes one part at a time for the better, to a build that was not played.
    fn climb(&self, from: Levels, played: &HashSet<&Levels>) -> Option<Predicted> {
        let mut best: Option<Predicted> = None;
        let mut at = from;
        loop {
            let neighbours = (0..at.len()).flat_map(|part| {
                let at = &at;
                (0..self.field.levels()[part]).map(move |level| {
                    let mut build = at.clone();
                    build[part] = level;
                    build
                })
            });
            let unplayed = neighbours.filter(|build| !played.contains(build));
            let next = unplayed.map(|build| self.predict(&build)).max_by(|a, b| a.elo.total_cmp(&b.elo))?;
            if best.as_ref().is_some_and(|best| next.elo <= best.elo) {
                return best;
            }
            at.clone_from(&next.build);
            best = Some(next);
        }
    }
}
