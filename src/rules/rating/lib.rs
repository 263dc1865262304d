//! Playing strength: statistics of two sides ([`Numbers`]), ratings of a whole field ([`fit`]), and the tests that end an
//! event ([`sprt`], [`precision`]). Pure: nothing here knows a game, a clock or a file.
//!
//! Ratings are on the usual logistic scale of 400 / ln 10 Elo per unit of log odds. Nothing here returns NaN. A value
//! that the games do not bound is marked as such by [`Estimate`].

mod aged;
mod connect;
mod counts;
mod course;
mod estimate;
mod expansion;
mod field;
mod interval;
mod likelihood;
pub mod mix;
mod newton;
mod pair;
pub mod precision;
pub mod residual;
#[cfg(test)]
#[path = "tests/simulation.rs"]
pub(crate) mod simulation;
pub mod sprt;
mod table;
mod test_counts;
mod words;

pub use aged::{Aged, Decay, fit_aged};
pub use counts::{Counts, Pentanomial, Trinomial};
pub use course::{Course, Milestone};
pub use estimate::{Estimate, rounded, signed};
pub use expansion::{Expansion, FieldGames};
pub use field::{MOST_RATED, PlayerRating, Ratings, fit, fit_bradley_terry};
pub use interval::by_pairs;
pub use pair::Numbers;
pub use table::{CrossTable, Results, TableError};
pub use test_counts::TestCounts;
pub use words::{digits, elo_words};

pub(crate) use counts::{Sample, moments, outcome};
pub(crate) use interval::{Interval, UNSEEN, elo_interval};

use statrs::function::erf::erfc;
use std::f64::consts::{LN_10, SQRT_2};

/// The normal quantile of a two-sided 95 % interval.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// Elo per unit of log odds: 400 / ln 10.
pub const ELO_PER_NAT: f64 = 400.0 / LN_10;

/// Normalized Elo per standard deviation of one game: 800 / ln 10 (M. Van den Bergh, "Normalized Elo").
pub const NELO_PER_SD: f64 = 800.0 / LN_10;

/// The Elo difference at which a side is expected to score `score` (0..=1) a game.
///
/// Infinite at 0 and at 1, where no finite difference is right; scores outside are taken as the nearer end.
pub fn elo_of_score(score: f64) -> f64 {
    -400.0 * (1.0 / score.clamp(0.0, 1.0) - 1.0).log10()
}

/// The score (0..=1) a game expected at an Elo difference: the inverse of [`elo_of_score`].
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The standard normal distribution function.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hundred_elo_are_about_three_points_in_four() {
        assert!((score_of_elo(200.0) - 0.759_747).abs() < 1e-6);
        assert!((elo_of_score(0.75) - 190.848_501).abs() < 1e-6);
    }

    #[test]
    fn the_ends_of_the_score_are_infinite_and_never_nan() {
        assert_eq!(elo_of_score(0.0), f64::NEG_INFINITY);
        assert_eq!(elo_of_score(1.0), f64::INFINITY);
        assert_eq!(elo_of_score(7.0), f64::INFINITY);
        assert_eq!(score_of_elo(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn the_normal_tail_is_the_tables() {
        assert!((normal_cdf(Z_95) - 0.975).abs() < 1e-11);
        assert_eq!(normal_cdf(0.0), 0.5);
    }
}
