//! Counts for a sequential test.

use crate::normal_cdf;
use serde::Serialize;

/// Counts for a sequential test, from the side of the player with the lower id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TestCounts {
    /// Complete colour-swapped pairs.
    pub pairs: u64,
    /// Games as `[losses, draws, wins]`.
    pub trinomial: [u64; 3],
    /// Pairs as `[LL, LD, WL + DD, WD, WW]`.
    pub pentanomial: [u64; 5],
    /// The same without the pairs in which a fault ended a game.
    pub without_faults: [u64; 5],
}

/// Pairs from which on a test says who is probably stronger.
const TELLING: u64 = 10;

impl TestCounts {
    /// The probability that the player of these counts is the stronger one, by the normal distribution of the mean of
    /// pairs; `None` for fewer pairs than tell anything, or pairs that are all alike.
    pub fn stronger(&self) -> Option<f64> {
        let pairs: u64 = self.pentanomial.iter().sum();
        let n = pairs as f64;
        let mean = self
            .pentanomial
            .iter()
            .zip(0_u32..)
            .map(|(count, at)| *count as f64 * f64::from(at) / 4.0)
            .sum::<f64>()
            / n;
        let square = |(count, at): (&u64, u32)| *count as f64 * (f64::from(at) / 4.0 - mean).powi(2);
        let variance = self.pentanomial.iter().zip(0_u32..).map(square).sum::<f64>() / n;
        (pairs >= TELLING && variance > 0.0).then(|| normal_cdf((mean - 0.5) / (variance / n).sqrt()))
    }

    /// Counts a game with these half points (0 to 2).
    pub fn add_game(&mut self, half_points: u8) {
        self.trinomial[usize::from(half_points.min(2))] += 1;
    }

    /// Takes back a game that was counted.
    pub fn take_game_back(&mut self, half_points: u8) {
        let count = &mut self.trinomial[usize::from(half_points.min(2))];
        *count = count.saturating_sub(1);
    }

    /// Counts a pair with these half points (0 to 4), in which a fault ended a game or none did.
    pub fn add_pair(&mut self, half_points: u8, is_faulted: bool) {
        let at = usize::from(half_points.min(4));
        self.pairs += 1;
        self.pentanomial[at] += 1;
        self.without_faults[at] += u64::from(!is_faulted);
    }

    /// Takes back a pair that was counted.
    pub fn take_pair_back(&mut self, half_points: u8, is_faulted: bool) {
        let at = usize::from(half_points.min(4));
        self.pairs = self.pairs.saturating_sub(1);
        self.pentanomial[at] = self.pentanomial[at].saturating_sub(1);
        self.without_faults[at] = self.without_faults[at].saturating_sub(u64::from(!is_faulted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_stronger_follows_from_the_mean_of_pairs_and_its_error() {
        let stronger = |pentanomial| TestCounts { pentanomial, ..TestCounts::default() }.stronger();
        assert_eq!(stronger([10, 20, 40, 20, 10]), Some(0.5));
        // The mean is 0.575 and its standard error 0.02634, so that z is 2.847.
        assert!((stronger([5, 15, 40, 25, 15]).unwrap() - 0.9978).abs() < 1e-4);
        assert!((stronger([15, 25, 40, 15, 5]).unwrap() - 0.0022).abs() < 1e-4);
        assert_eq!(stronger([0, 0, 50, 0, 0]), None, "pairs that are all alike");
        assert_eq!(stronger([0, 4, 0, 5, 0]), None, "too few");
    }

    #[test]
    fn what_is_taken_back_was_never_counted_and_nothing_is_less_than_none() {
        let mut counts = TestCounts::default();
        for half_points in [0, 1, 1, 2, 9] {
            counts.add_game(half_points);
        }
        assert_eq!(counts.trinomial, [1, 2, 2]);
        for (half_points, is_faulted) in [(0, false), (3, false), (3, true), (4, false), (9, true)] {
            counts.add_pair(half_points, is_faulted);
        }
        assert_eq!(
            (counts.pairs, counts.pentanomial, counts.without_faults),
            (5, [1, 0, 0, 2, 2], [1, 0, 0, 1, 1])
        );
        counts.take_pair_back(3, true);
        assert_eq!((counts.pairs, counts.pentanomial[3], counts.without_faults[3]), (4, 1, 1));
        counts.take_pair_back(3, false);
        assert_eq!((counts.pairs, counts.pentanomial[3], counts.without_faults[3]), (3, 0, 0));
        counts.take_game_back(1);
        counts.take_game_back(9);
        assert_eq!(counts.trinomial, [1, 1, 1]);
        let mut none = TestCounts::default();
        none.take_pair_back(2, false);
        none.take_game_back(2);
        assert_eq!(none, TestCounts::default());
    }
}
