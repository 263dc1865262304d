//! Elo on the scale of the server: our results against opponents whose ratings are known.
//!
//! The performance is the rating whose expected score equals the score made (Bradley and Terry's model as in floodgate's
//! `mk_rate`: 400 points are ten to one, a draw is half a win, colours are equal); the opponents' ratings are taken as
//! given. The error is 1.96 times the inverse root of the Fisher information. If all games are won or all are lost, the
//! rating is bounded on one side only: the bound is the rating at which such a score has a probability of 5 %.

use std::fmt;

/// Results against one opponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// The opponent's rating.
    pub rating: f64,
    /// Games.
    pub games: f64,
    /// Points made: 1 for a win, 1/2 for a draw.
    pub points: f64,
}

/// A performance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Performance {
    /// The rating and half its 95 % interval.
    Rating {
        /// The rating.
        value: f64,
        /// Half its 95 % interval.
        error: f64,
    },
    /// All games were won: probably stronger than this.
    Above(f64),
    /// All games were lost: probably weaker than this.
    Below(f64),
}

const SPREAD: f64 = 400.0 / std::f64::consts::LN_10;

impl Performance {
    /// The performance in these games; `None` without any.
    pub fn of(games: &[Against]) -> Option<Self> {
        let total: f64 = games.iter().map(|one| one.games).sum();
        let points: f64 = games.iter().map(|one| one.points).sum();
        if total <= 0.0 {
            return None;
        }
        Some(if points >= total {
            Self::Above(where_zero(games, |at| chance_of_all(games, at, 1.0)))
        } else if points <= 0.0 {
            Self::Below(where_zero(games, |at| -chance_of_all(games, at, -1.0)))
        } else {
            let value = where_zero(games, |at| {
                games.iter().map(|g| g.games * expected(at, g.rating)).sum::<f64>() - points
            });
            let information: f64 =
                games.iter().map(|g| g.games * expected(value, g.rating) * expected(g.rating, value)).sum();
            Self::Rating { value, error: 1.96 * SPREAD / information.sqrt() }
        })
    }
}

fn expected(rating: f64, against: f64) -> f64 {
    1.0 / (1.0 + ((against - rating) / SPREAD).exp())
}

/// The log probability of winning (`sign` 1) or losing (-1) all games, less that of 5 %.
fn chance_of_all(games: &[Against], at: f64, sign: f64) -> f64 {
    let chance = |one: &Against| one.games * expected(sign * at, sign * one.rating).ln();
    games.iter().map(chance).sum::<f64>() - 0.05_f64.ln()
}

/// The zero of a rising function of the rating.
fn where_zero(games: &[Against], rising: impl Fn(f64) -> f64) -> f64 {
    let ratings = || games.iter().map(|one| one.rating);
    let mut low = ratings().fold(f64::INFINITY, f64::min) - 4000.0;
    let mut high = ratings().fold(f64::NEG_INFINITY, f64::max) + 4000.0;
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if rising(middle) < 0.0 { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

impl fmt::Display for Performance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rating { value, error } => write!(f, "{value:.0} +-{error:.0}"),
            Self::Above(bound) => write!(f, "above {bound:.0}"),
            Self::Below(bound) => write!(f, "below {bound:.0}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn against(rating: f64, games: f64, points: f64) -> Against {
        Against { rating, games, points }
    }

    fn told(games: &[Against]) -> String {
        Performance::of(games).unwrap().to_string()
    }

    #[test]
    fn half_the_points_are_the_opponents_rating_and_ten_to_one_is_400_more() {
        assert_eq!(told(&[against(2500.0, 100.0, 50.0)]), "2500 +-68");
        assert_eq!(told(&[against(2500.0, 110.0, 100.0)]), "2900 +-113");
        assert_eq!(told(&[against(2400.0, 10.0, 5.0), against(2600.0, 10.0, 5.0)]), "2500 +-159");
    }

    #[test]
    fn all_won_or_all_lost_bounds_one_side() {
        // The chance to win one game as 2500 + 400 log10(x/(1-x)) is x = 5 %.
        assert_eq!(told(&[against(2500.0, 1.0, 1.0)]), "above 1988");
        assert_eq!(told(&[against(2500.0, 1.0, 0.0)]), "below 3012");
        assert_eq!(Performance::of(&[]), None);
    }
}
