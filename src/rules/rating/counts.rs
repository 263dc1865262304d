//! Results of two sides against each other, by single games or by pairs.

use serde::{Deserialize, Serialize};

/// Single games from one side's view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trinomial {
    /// Games lost.
    pub losses: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games won.
    pub wins: u64,
}

/// Finished pairs (one opening, colours swapped) from one side's view, by the points of the pair: `[LL, LD, WL+DD,
/// WD, WW]`, so that the index is the pair's points in halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pentanomial(pub [u64; 5]);

/// Either kind of count: pairs where openings are played with both colours, single games elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counts {
    /// Single games.
    Trinomial(Trinomial),
    /// Pairs of games.
    Pentanomial(Pentanomial),
}

impl From<Trinomial> for Counts {
    fn from(games: Trinomial) -> Self {
        Self::Trinomial(games)
    }
}

impl From<Pentanomial> for Counts {
    fn from(pairs: Pentanomial) -> Self {
        Self::Pentanomial(pairs)
    }
}

impl Counts {
    /// Number of games; a pair has two.
    pub fn games(&self) -> u64 {
        let observed = self.cells().iter().fold(0u64, |sum, &n| sum.saturating_add(n));
        observed.saturating_mul(self.games_per_observation())
    }

    pub(crate) fn games_per_observation(&self) -> u64 {
        match self {
            Self::Trinomial(_) => 1,
            Self::Pentanomial(_) => 2,
        }
    }

    /// The cells from the worst outcome to the best.
    pub(crate) fn cells(&self) -> Vec<u64> {
        match *self {
            Self::Trinomial(Trinomial { losses, draws, wins }) => vec![losses, draws, wins],
            Self::Pentanomial(Pentanomial(cells)) => cells.to_vec(),
        }
    }

    /// The frequencies as they are; none without an observation.
    pub(crate) fn sample(&self) -> Option<Sample> {
        self.sample_with(|n| n as f64)
    }

    /// The frequencies with 0.001 in empty cells, as fishtest and fastchess do before a likelihood ratio.
    pub(crate) fn regularised(&self) -> Option<Sample> {
        self.sample_with(|n| if n == 0 { 1e-3 } else { n as f64 })
    }

    /// Mean and variance of one observation's score, with the weight `unseen` in empty cells; none without an
    /// observation.
    pub(crate) fn spread(&self, unseen: f64) -> Option<(f64, f64)> {
        self.sample_with(|n| if n == 0 { unseen } else { n as f64 }).map(|sample| sample.moments())
    }

    fn sample_with(&self, weigh: impl Fn(u64) -> f64) -> Option<Sample> {
        let cells = self.cells();
        if cells.iter().all(|&n| n == 0) {
            return None;
        }
        let weights: Vec<f64> = cells.into_iter().map(weigh).collect();
        let size: f64 = weights.iter().sum();
        let p = weights.iter().map(|w| w / size).collect();
        Some(Sample { size, p, games_each: self.games_per_observation() as f64 })
    }
}

/// An empirical distribution over evenly spaced scores from 0 to 1.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Observations: games or pairs.
    pub size: f64,
    /// Frequencies from the worst outcome to the best; they sum to 1.
    pub p: Vec<f64>,
    /// Games in one observation.
    pub games_each: f64,
}

impl Sample {
    /// Mean and variance of one observation's score.
    pub fn moments(&self) -> (f64, f64) {
        moments(&self.p)
    }
}

/// The score of outcome `i` of `n`.
pub(crate) fn outcome(i: usize, n: usize) -> f64 {
    i as f64 / (n - 1) as f64
}

/// Mean and variance of the score under the probabilities `p`.
pub(crate) fn moments(p: &[f64]) -> (f64, f64) {
    let score = |i| outcome(i, p.len());
    let mean: f64 = p.iter().enumerate().map(|(i, p)| p * score(i)).sum();
    let variance = p.iter().enumerate().map(|(i, p)| p * (score(i) - mean).powi(2)).sum();
    (mean, variance)
}

#[cfg(test)]
impl Counts {
    /// The same results from the other side.
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::Trinomial(Trinomial { losses, draws, wins }) => {
                Trinomial { losses: wins, draws, wins: losses }.into()
            }
            Self::Pentanomial(Pentanomial([ll, ld, even, wd, ww])) => {
                Pentanomial([ww, wd, even, ld, ll]).into()
            }
        }
    }
}
