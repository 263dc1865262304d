//! Playing until Elo is known well enough: an interval that stays right although it is looked at after every pair.
//!
//! A confidence sequence by betting (I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by
//! betting", J. R. Stat. Soc. B 86, 2024; with fixed bets, mixed over their sizes: T. Cover, "Universal portfolios";
//! F. Orabona, K. Jun, IEEE Trans. Inf. Theory 70, 2024). Let x be the score of a pair, 0 to 1, and m its true mean. A
//! player who stakes a share s of its capital on x at the odds that are fair for m multiplies it by 1 − s + s·x/m after
//! each pair; so the capital, and any mixture of capitals, is a martingale that begins at 1. By J. Ville's inequality it
//! ever reaches 2/α with the probability α/2 at most, whatever the law of x. Every m against which it did is denied;
//! the same with 1 − x and 1 − m denies from above. The capital falls as m grows, so both ends are found by bisection.

use crate::{ELO_PER_NAT, TestCounts, elo_of_score, score_of_elo};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The word of a verdict for an Elo that is known well enough.
pub const PRECISE: &str = "precise";

/// The probability that the interval ever misses the truth, at any of the looks.
const ALPHA: f64 = 0.05;

/// The least error that can be asked for, in Elo: a smaller one needs more games than can be played.
const MIN_ERROR: f64 = 0.1;

/// The largest error that can be asked for, in Elo.
const MAX_ERROR: f64 = 400.0;

/// The estimate, in Elo, from which on an event does not wait for its precision: 99 points in 100.
const FAR: f64 = 798.25;

/// The scores of a pair.
const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A mean score of pairs that is as good as none.
const LEAST_MEAN: f64 = 1e-12;

/// Number of different shares of the capital that are staked; odd, so that one of them is in the middle.
const STAKES: usize = 9;

/// The quotient of a share and the next smaller one.
const STEP: f64 = 1.5;

/// The quotient of the capital that stakes a share, and of that which stakes the one nearer to the middle.
const LEAN: f64 = 0.6;

/// The sum of the powers of [`LEAN`]: 1 + 2 (0.6 + 0.36 + 0.216 + 0.1296).
const WEIGHTS: f64 = 3.6112;

/// The largest share that is staked: some of the capital outlives every pair.
const BOLDEST: f64 = 0.9;

/// An Elo that is to be known within an error at 95 %.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Precision(f64);

/// A precision that cannot be asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrecisionError {
    /// Not a number of Elo.
    #[error("`{0}` is not a number of Elo; say such as \"5 elo\"")]
    NotElo(String),
    /// Outside of what can be reached, or makes sense.
    #[error("{0} Elo is not between {MIN_ERROR} and {MAX_ERROR}")]
    OutOfRange(String),
}

/// The Elo of the first player against the second, with an interval that holds at every look: in 95 % of all events the
/// true difference lies in it from the first pair to the last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Known {
    /// The plain estimate, from the score of the pairs; none if every game was won, or every game lost.
    pub elo: Option<f64>,
    /// Lower end; none where no difference is denied from below.
    pub low: Option<f64>,
    /// Upper end; none where no difference is denied from above.
    pub high: Option<f64>,
}

impl Known {
    /// True if the difference surely is beyond 400 Elo, and more than 99 points in 100 were scored: of such players nearly
    /// every game ends alike, and no number of games that is played makes the error in Elo small.
    pub fn is_far(self) -> bool {
        let beyond = |elo: f64, end: Option<f64>| elo >= FAR && end.is_some_and(|end| end >= MAX_ERROR);
        let elo = self.elo.unwrap_or(f64::INFINITY);
        beyond(elo, self.low) || beyond(self.elo.map_or(elo, |elo| -elo), self.high.map(|high| -high))
    }

    /// The larger distance from the estimate to an end, in Elo; none while an end is missing.
    pub fn error(&self) -> Option<f64> {
        let elo = self.elo?;
        Some((elo - self.low?).max(self.high? - elo))
    }
}

impl Precision {
    /// A precision in Elo.
    ///
    /// # Errors
    /// [`PrecisionError::OutOfRange`] if it is not from 0.1 to 400.
    pub fn new(elo: f64) -> Result<Self, PrecisionError> {
        match (MIN_ERROR..=MAX_ERROR).contains(&elo) {
            true => Ok(Self(elo)),
            false => Err(PrecisionError::OutOfRange(elo.to_string())),
        }
    }

    /// The largest error, in Elo.
    pub fn elo(self) -> f64 {
        self.0
    }

    /// The difference after these pairs, given as `[LL, LD, WL + DD, WD, WW]`, with its interval; `None` before the first.
    pub fn known(self, pairs: [u64; 5]) -> Option<Known> {
        let mean = mean(pairs)?;
        let low = self.lower_end(pairs, mean);
        let high = self.lower_end(flipped(pairs), 1.0 - mean).map(|score| 1.0 - score);
        let elo = Some(elo_of_score(mean)).filter(|elo| elo.is_finite());
        Some(Known { elo, low: low.map(elo_of_score), high: high.map(elo_of_score) })
    }

    /// [`PRECISE`] once these counts say so, or that the difference is too large for any precision ([`Known::is_far`]).
    pub fn verdict_on(self, counts: &TestCounts) -> Option<&'static str> {
        let is_far = || self.known(counts.pentanomial).is_some_and(Known::is_far);
        (self.is_reached(counts) || is_far()).then_some(PRECISE)
    }

    /// True once both ends of the interval are as close to the estimate as is asked for.
    pub fn is_reached(self, counts: &TestCounts) -> bool {
        let pairs = counts.pentanomial;
        let Some(elo) = mean(pairs).map(elo_of_score) else { return false };
        let denies = |pairs, elo| self.denies(pairs, score_of_elo(elo));
        denies(pairs, elo - self.0) && denies(flipped(pairs), -elo - self.0)
    }

    /// The largest mean score of a pair below `mean` that the pairs deny; `None` if they deny none.
    fn lower_end(self, pairs: [u64; 5], mean: f64) -> Option<f64> {
        let (mut low, mut high) = (LEAST_MEAN, mean.max(LEAST_MEAN));
        if !self.denies(pairs, low) {
            return None;
        }
        // A double has no more digits than that.
        for _ in 0..64 {
            let middle = f64::midpoint(low, high);
            *(if self.denies(pairs, middle) { &mut low } else { &mut high }) = middle;
        }
        Some(low)
    }

    /// True if a capital staked on high scores, at odds that are fair for this mean, has reached 2/α.
    fn denies(self, pairs: [u64; 5], mean: f64) -> bool {
        let capitals = self.stakes(mean).map(|(weight, stake)| {
            let gains = pairs.iter().zip(SCORES).filter(|(pairs, _)| **pairs > 0);
            weight.ln()
                + gains.map(|(pairs, x)| *pairs as f64 * (stake * (x / mean - 1.0)).ln_1p()).sum::<f64>()
        });
        let largest = capitals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = capitals.iter().map(|capital| (capital - largest).exp()).sum();
        largest + sum.ln() >= (2.0 / ALPHA).ln()
    }

    /// The shares of the capital that are staked at odds for this mean, each with the part of the capital that stakes it.
    /// The middle share wins fastest where a mean as far off as the precision is to be denied, and pairs vary as those of
    /// games without draws do: then the distance over the variance is the same at every mean. Larger shares fit pairs that
    /// vary less. The interval is right with any shares, as long as they are fixed before the first pair.
    fn stakes(self, mean: f64) -> [(f64, f64); STAKES] {
        let fitting = 2.0 * self.0 / ELO_PER_NAT;
        std::array::from_fn(|at| {
            let steps = at as i32 - STAKES as i32 / 2;
            (LEAN.powi(steps.abs()) / WEIGHTS, (fitting * STEP.powi(steps) * mean).min(BOLDEST))
        })
    }
}

impl TryFrom<f64> for Precision {
    type Error = PrecisionError;

    fn try_from(elo: f64) -> Result<Self, PrecisionError> {
        Self::new(elo)
    }
}

impl From<Precision> for f64 {
    fn from(precision: Precision) -> Self {
        precision.0
    }
}

/// A number and the word `elo`, such as `5 elo`.
impl FromStr for Precision {
    type Err = PrecisionError;

    fn from_str(text: &str) -> Result<Self, PrecisionError> {
        let not_elo = || PrecisionError::NotElo(text.to_owned());
        let (number, unit) = text.trim().split_once(' ').ok_or_else(not_elo)?;
        let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match number.parse::<f64>() {
            Ok(elo) if plain && unit.trim().eq_ignore_ascii_case("elo") => Self::new(elo),
            _ => Err(not_elo()),
        }
    }
}

/// The error with its sign, without the unit.
impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "±{}", self.0)
    }
}

/// The mean score of pairs, 0 to 1; `None` without a pair.
fn mean(pairs: [u64; 5]) -> Option<f64> {
    let all: f64 = pairs.iter().map(|pairs| *pairs as f64).sum();
    let points: f64 = pairs.iter().zip(SCORES).map(|(pairs, score)| *pairs as f64 * score).sum();
    (all > 0.0).then(|| points / all)
}

fn flipped(mut pairs: [u64; 5]) -> [u64; 5] {
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests;
