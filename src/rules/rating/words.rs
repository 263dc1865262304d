//! A difference in Elo as text.

use super::{Numbers, signed};

impl Numbers {
    /// The difference with its 95 % interval in words: `+41 Elo, between +10 and +72 (95 %)`, `weaker by at least 93
    /// Elo (95 %)`.
    pub fn elo_words(&self) -> String {
        elo_words(self.elo.value(), self.elo_low, self.elo_high)
    }
}

/// The digits after the point that an error of this size leaves to a value: two digits of the error, and no part of a
/// whole where the error is 10 or more. Never more than three.
pub fn digits(error: f64) -> usize {
    [10.0, 1.0, 0.1].iter().filter(|&&size| error < size).count()
}

/// A difference in Elo with its 95 % interval in words. An end is `None` where everything was won, or lost.
pub fn elo_words(elo: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    match (elo, low, high) {
        (Some(elo), Some(low), Some(high)) => {
            let [elo, low, high] = [elo, low, high].map(|end| signed(end, digits((high - low) / 2.0)));
            format!("{elo} Elo, between {low} and {high} (95 %)")
        }
        (_, Some(low), None) if low > 0.0 => format!("stronger by at least {low:.0} Elo (95 %)"),
        (_, None, Some(high)) if high < 0.0 => format!("weaker by at least {:.0} Elo (95 %)", -high),
        (_, Some(low), None) => {
            format!("won every game, but too few to be sure: {} Elo or more (95 %)", signed(low, 0))
        }
        (_, None, Some(high)) => {
            format!("lost every game, but too few to be sure: {} Elo or less (95 %)", signed(high, 0))
        }
        _ => "no Elo without a game".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Counts, Numbers, Trinomial};

    fn words(wins: u64, draws: u64, losses: u64) -> String {
        Numbers::from(&Counts::from(Trinomial { losses, draws, wins })).elo_words()
    }

    #[test]
    fn a_newcomer_can_read_what_games_prove() {
        assert_eq!(words(136, 111, 96), "+41 Elo, between +10 and +72 (95 %)");
        assert_eq!(words(0, 50, 0), "+0 Elo, between -19 and +19 (95 %)");
        assert_eq!(words(0, 0, 8), "weaker by at least 93 Elo (95 %)");
        assert_eq!(words(8, 0, 0), "stronger by at least 93 Elo (95 %)");
        assert_eq!(words(0, 0, 5), "lost every game, but too few to be sure: +15 Elo or less (95 %)");
        assert_eq!(words(5, 0, 0), "won every game, but too few to be sure: -15 Elo or more (95 %)");
        assert_eq!(words(0, 0, 0), "no Elo without a game");
    }

    #[test]
    fn the_digits_follow_the_error() {
        assert_eq!(words(18_100, 36_200, 18_036), "+0.3 Elo, between -1.5 and +2.1 (95 %)");
        assert_eq!(words(1_810_000, 3_620_000, 1_803_600), "+0.31 Elo, between +0.13 and +0.49 (95 %)");
        assert_eq!(
            [30.0, 10.0, 9.9, 1.0, 0.9, 0.05, 0.0, f64::NAN].map(super::digits),
            [0, 0, 1, 1, 2, 3, 3, 0]
        );
    }
}
