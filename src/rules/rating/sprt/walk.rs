//! The course of a sequential test: its log-likelihood ratio over the pairs.

use super::Sprt;
use crate::{Pentanomial, TestCounts};

/// Points of the course; never more than 512, for an event of any length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walk {
    /// Pairs, and the log-likelihood ratio after them.
    pub points: Vec<(u64, f64)>,
    thinned: u32,
}

const POINTS: usize = 256;

impl Walk {
    /// Adds the counts after a pair, if the point of this pair is kept.
    pub fn step(&mut self, test: &Sprt, counts: &TestCounts) {
        // A ruling takes the test back to the pair that it is about.
        self.points.retain(|(pairs, _)| *pairs < counts.pairs);
        if !counts.pairs.is_multiple_of(1 << self.thinned) {
            return;
        }
        let Ok(llr) = test.llr(&Pentanomial(counts.pentanomial).into()) else { return };
        self.points.push((counts.pairs, llr));
        if self.points.len() >= 2 * POINTS {
            self.thinned += 1;
            self.points.retain(|(pairs, _)| pairs.is_multiple_of(1 << self.thinned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprt::Model;

    #[test]
    fn a_long_way_keeps_its_shape_and_no_more_points() {
        let test = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        let mut walk = Walk::default();
        let mut counts = TestCounts::default();
        for pair in 1..=5000 {
            counts.pairs = pair;
            counts.pentanomial[if pair % 3 == 0 { 1 } else { 3 }] += 1;
            walk.step(&test, &counts);
        }
        assert!(walk.points.len() < 2 * POINTS);
        assert!(walk.points.last().is_some_and(|&(pairs, llr)| pairs > 4900 && llr > 0.0));
        assert!(walk.points.is_sorted_by_key(|&(pairs, _)| pairs));
    }

    #[test]
    fn every_pair_is_a_point_until_there_are_too_many_and_then_every_second_one() {
        let test = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        let mut walk = Walk::default();
        let after = |walk: &mut Walk, pairs: u64| {
            walk.step(
                &test,
                &TestCounts { pairs, pentanomial: [0, pairs, 0, pairs, 0], ..TestCounts::default() },
            );
            walk.points.len()
        };
        assert!((1..512).all(|pair| after(&mut walk, pair) == pair as usize));
        assert_eq!(after(&mut walk, 512), 256, "the even ones stay");
        assert!(walk.points.iter().all(|(pairs, _)| pairs % 2 == 0));
        assert_eq!([513, 514].map(|pair| after(&mut walk, pair)), [256, 257]);
        // A ruling takes the test back to a pair: it and the later points are gone, and come again.
        assert_eq!(after(&mut walk, 500), 250);
        assert_eq!(walk.points.last().map(|(pairs, _)| *pairs), Some(500));
    }
}
