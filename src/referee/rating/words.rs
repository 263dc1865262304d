//! A difference in Elo as text.

use super::{Numbers, signed};

impl Numbers {
    /// The difference with its 95 % interval in words: `+41 Elo, between +10 and +72 (95 %)`, `weaker by at least 93
    /// Elo (95 %)`.
    #[must_use]
    pub fn elo_words(&self) -> String {
        elo_words(self.elo.value(), self.elo_low, self.elo_high)
    }
}

/// A difference in Elo with its 95 % interval in words. An end is `None` where everything was won, or lost.
#[must_use]
pub fn elo_words(elo: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    match (elo, low, high) {
        (Some(elo), Some(low), Some(high)) => {
            format!("{} Elo, between {} and {} (95 %)", signed(elo, 0), signed(low, 0), signed(high, 0))
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
    use crate::rating::{Counts, Numbers, Trinomial};

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
}
