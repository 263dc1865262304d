//! How a tuning is planned before a game is spent: an assumed landscape of strength, tunings on it by simulation, and the
//! least number of pairs that reaches the goal.
//!
//! The landscape is a hill: each parameter costs the square of its distance from the best value, and parameters may
//! interact. Games are drawn at random from the Elo difference of both sides.

use crate::spsa::{Parameter, Spec, Tuning, mix};
use referee::rating::score_of_elo;

/// Elo that a perturbation should cost at the best value: less is lost in the noise, much more leaves the hill's top.
pub const COST: f64 = 2.5;
/// Games won less lost that a pair gives for one Elo, while scores are near one half.
const RESULT_PER_ELO: f64 = 4.0 * std::f64::consts::LN_10 / 1600.0;
/// Tunings by which a proposal is tried.
const RUNS: u64 = 200;
/// How much the number of pairs grows from try to try.
const GROWTH: f64 = 1.2;

/// A landscape of strength.
#[derive(Clone, Debug, PartialEq)]
pub struct Landscape {
    /// The best values.
    pub best: Vec<f64>,
    /// Elo that a distance of one costs, by parameter.
    pub curvature: Vec<f64>,
    /// How much two parameters interact, from -1 to 1: 0 not at all.
    pub interaction: f64,
    /// Share of the games that are drawn.
    pub draws: f64,
}

impl Landscape {
    /// Elo lost against the best values, from 0.
    #[must_use]
    pub fn loss(&self, values: &[f64]) -> f64 {
        let away = |i: usize| self.curvature[i].sqrt() * (values[i] - self.best[i]);
        let own: f64 = (0..values.len()).map(|i| away(i).powi(2)).sum();
        // Neighbours interact; below 1 the hill keeps its one top.
        let joint: f64 = (1..values.len()).map(|i| away(i - 1) * away(i)).sum();
        own + self.interaction * joint
    }

    /// Games won less games lost of a pair, from random numbers of this seed.
    fn result(&self, plus: &[f64], minus: &[f64], seed: u64) -> i8 {
        let score = score_of_elo(self.loss(minus) - self.loss(plus));
        let draws = self.draws.min(2.0 * score).min(2.0 * (1.0 - score));
        let game = |stream: u64| {
            let random = (mix(seed ^ stream) >> 11) as f64 / (1_u64 << 53) as f64;
            match random {
                _ if random < score - draws / 2.0 => 1,
                _ if random < score + draws / 2.0 => 0,
                _ => -1,
            }
        };
        game(1) + game(2)
    }

    /// Elo that is lost after a tuning on this landscape: by the last values, and by the averaged ones.
    #[must_use]
    pub fn tuned(&self, spec: Spec, run: u64) -> (f64, f64) {
        let pairs = spec.pairs;
        let mut tuning = Tuning::new(Spec { seed: mix(spec.seed ^ run), ..spec });
        for k in 1..=pairs {
            // All pairs of a window are played at once.
            let Some(trial) = tuning.trial(k) else { continue };
            tuning.note(k, self.result(&trial.plus, &trial.minus, mix(mix(run) ^ k)));
        }
        (self.loss(tuning.values()), self.loss(&tuning.averaged()))
    }
}
