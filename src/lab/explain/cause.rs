//! The cause of a loss.

use serde::Serialize;
use std::fmt;

/// Why a game was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, strum::VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Less was searched at the move than half of what the engine usually does in the game, and with at most twice the usual
    /// nodes it finds a better move: a critical move may take so many.
    Time,
    /// The engine finds a better move with more nodes.
    Horizon,
    /// More nodes do not help, or it resigned a position that was open.
    Evaluation,
    /// The turning point lies before the first move that the engine searched.
    Book,
    /// A win by declaration was missed, or a repetition entered that loses.
    Rules,
    /// An open game ended by a fault: time, an illegal move, a crash.
    Fault,
    /// A move, whose cause was not looked into because the engine was not searched again.
    Unsearched,
}

impl Cause {
    /// All of them, in the order of tables.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Horizon => "horizon",
            Self::Evaluation => "evaluation",
            Self::Book => "book",
            Self::Rules => "rules",
            Self::Fault => "fault",
            Self::Unsearched => "a move",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What the engine itself found when the position before its mistake was searched again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trial {
    /// Nodes that it searched in the game; `None` if it did not say.
    pub played: Option<u64>,
    /// Median of the nodes of its other moves around this one.
    pub usual: Option<u64>,
    /// Nodes with which it found a better move; `None` if it did not.
    pub found_with: Option<u64>,
    /// That move in USI.
    pub found: Option<String>,
    /// Most nodes that were tried.
    pub tried: u64,
}

impl Trial {
    /// True if less was searched at the move than half of what is usual for the engine in this game.
    pub fn is_short(&self) -> bool {
        self.played.zip(self.usual).is_some_and(|(played, usual)| played < usual / 2)
    }

    /// The cause that it shows.
    pub fn cause(&self) -> Cause {
        match (self.found_with, self.usual) {
            (None, _) => Cause::Evaluation,
            (Some(nodes), Some(usual)) if self.is_short() && nodes <= usual.saturating_mul(2) => Cause::Time,
            _ => Cause::Horizon,
        }
    }

    /// The numbers of nodes to try, ascending: what was searched, the usual, and doublings up to `times` as many.
    /// `otherwise` stands in where the engine did not count.
    pub fn steps(&self, times: u64, otherwise: u64) -> Vec<u64> {
        let base = if self.is_short() { self.usual } else { self.played.or(self.usual) };
        let base = base.unwrap_or(otherwise).max(1);
        let doublings =
            (0..u32::BITS).map(|power| 1u64 << power).take_while(|&factor| factor <= times.max(1));
        doublings.map(|factor| base.saturating_mul(factor)).collect()
    }
}

/// Median; `None` of nothing.
pub(crate) fn median(mut numbers: Vec<u64>) -> Option<u64> {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(played: u64, usual: u64, found_with: Option<u64>) -> Trial {
        Trial { played: Some(played), usual: Some(usual), found_with, ..Trial::default() }
    }

    #[test]
    fn a_short_search_is_a_matter_of_time_only_if_about_the_usual_one_finds_more() {
        assert_eq!(trial(100, 1000, Some(1000)).cause(), Cause::Time);
        assert_eq!(trial(100, 1000, Some(2000)).cause(), Cause::Time);
        assert_eq!(trial(100, 1000, Some(4000)).cause(), Cause::Horizon);
        assert_eq!(trial(100, 1000, None).cause(), Cause::Evaluation);
        assert_eq!(trial(900, 1000, Some(900)).cause(), Cause::Horizon);
    }

    #[test]
    fn searches_begin_with_what_was_usual_and_double() {
        assert_eq!(trial(100, 1000, None).steps(8, 7), [1000, 2000, 4000, 8000]);
        assert_eq!(trial(900, 1000, None).steps(4, 7), [900, 1800, 3600]);
        assert_eq!(Trial::default().steps(2, 7), [7, 14]);
        assert_eq!((median(vec![3, 1, 2]), median(vec![])), (Some(2), None));
    }
}
