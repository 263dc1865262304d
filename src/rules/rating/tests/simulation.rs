//! Results drawn at random from known strengths, for tests of intervals.

use crate::mix::{GOLDEN, mix};

use super::{ELO_PER_NAT, elo_of_score, score_of_elo};

/// A fixed sequence of numbers in 0..1 (G. Steele, D. Lea, C. Flood: SplitMix).
pub(crate) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> f64 {
        let x = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        (x >> 11) as f64 / (1u64 << 53) as f64
    }

    /// How often each cell comes in so many draws: one by one, or, of very many, by the normal distribution of each count
    /// given those before it.
    pub fn counts<const N: usize>(&mut self, cells: &[f64; N], size: u64) -> [u64; N] {
        let mut counts = [0; N];
        if size <= 500 {
            (0..size).for_each(|_| counts[self.pick(cells)] += 1);
            return counts;
        }
        let (mut left, mut rest) = (size as f64, 1.0);
        for (at, p) in cells.iter().enumerate() {
            let share = if at + 1 == N { 1.0 } else { (p / rest).clamp(0.0, 1.0) };
            let normal =
                (-2.0 * (1.0 - self.next()).ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos();
            let count =
                (left * share + normal * (left * share * (1.0 - share)).sqrt()).round().clamp(0.0, left);
            counts[at] = count as u64;
            (left, rest) = (left - count, rest - p);
        }
        counts
    }

    /// An index with the probability of its weight; the weights sum to 1.
    pub fn pick(&mut self, weights: &[f64]) -> usize {
        let mut rest = self.next();
        let found = weights.iter().position(|weight| {
            rest -= weight;
            rest < 0.0
        });
        found.unwrap_or(weights.len() - 1)
    }
}

/// Loss, draw and win at a score, with as many of the possible draws as `drawish` says.
pub(crate) fn games_at(score: f64, drawish: f64) -> [f64; 3] {
    let draws = 2.0 * score.min(1.0 - score) * drawish;
    [1.0 - score - draws / 2.0, draws, score - draws / 2.0]
}

/// Pairs of games whose openings favour black by `bias` (log odds): the two games of a pair differ in their scores.
pub(crate) fn pairs_at(score: f64, drawish: f64, bias: f64) -> [f64; 5] {
    let shifted = |by: f64| score_of_elo(elo_of_score(score) + by * ELO_PER_NAT);
    let (first, second) = (games_at(shifted(bias), drawish), games_at(shifted(-bias), drawish));
    let mut cells = [0.0; 5];
    for (i, p) in first.iter().enumerate() {
        for (j, q) in second.iter().enumerate() {
            cells[i + j] += p * q;
        }
    }
    cells
}

/// Asserts that an interval of 95 % holds the truth in 94 to 96 % of the samples; `holds` is called with the generator, and
/// says in how many of how many cases.
pub(crate) fn assert_covers(what: &str, samples: u64, mut holds: impl FnMut(&mut Random) -> (u32, u32)) {
    let mut random = Random(mix(samples));
    let (mut held, mut all) = (0, 0);
    for _ in 0..samples {
        let (more, of) = holds(&mut random);
        (held, all) = (held + more, all + of);
    }
    let share = f64::from(held) / f64::from(all);
    assert!((0.94..=0.96).contains(&share), "{what}: {share} of {all}");
}
