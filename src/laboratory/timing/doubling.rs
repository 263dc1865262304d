//! What twice the nodes are worth.

use referee::rating::Z_95;
use serde::Serialize;

/// Elo of one game's log odds.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
/// The most Elo of a doubling.
const MOST: f64 = 2000.0;
/// Steps of the fit; it converges in about ten.
const STEPS: usize = 100;

/// The Elo that twice the nodes at all moves are worth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Doubling {
    /// Elo.
    pub elo: f64,
    /// Half its 95 % interval.
    pub error: f64,
    /// Games that it was measured from; 0 where it was given.
    pub games: usize,
}

/// A game between two speeds of one engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odds {
    /// Doublings by which one side searches more, as a mean over all games of the two.
    pub doublings: f64,
    /// Result of that side: 1, 0.5 or 0.
    pub result: f64,
}

impl Doubling {
    /// Measures it: the Elo that makes the results most likely, if every doubling is worth the same (a logistic regression
    /// through the origin, a draw being half a win); the interval is P. J. Huber's (1967). `None` if the games do not bound
    /// it, or show no gain.
    #[must_use]
    pub fn measured(games: &[Odds]) -> Option<Self> {
        let mut slope = 0.0;
        for _ in 0..STEPS {
            let (mut gradient, mut curvature, mut spread) = (0.0, 0.0, 0.0);
            for Odds { doublings, result } in games {
                let share = 1.0 / (1.0 + (-slope * doublings).exp());
                let residual = doublings * (result - share);
                gradient += residual;
                spread += residual * residual;
                curvature += doublings * doublings * share * (1.0 - share);
            }
            if curvature <= 0.0 || ELO * f64::abs(slope) > MOST {
                return None;
            }
            let step = (gradient / curvature).clamp(-1.0, 1.0);
            slope += step;
            if step.abs() < 1e-9 {
                let error = Z_95 * spread.sqrt() / curvature;
                let (elo, error, games) = (ELO * slope, ELO * error, games.len());
                return (elo > error).then_some(Self { elo, error, games });
            }
        }
        None
    }
}
