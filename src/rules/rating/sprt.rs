//! The sequential probability ratio test: is a side stronger by `elo1` rather than by `elo0`?
//!
//! Generalised likelihood ratios over games or pairs (M. Van den Bergh, "The generalized likelihood ratio for
//! multinomial distributions" and "Normalized Elo"; the arithmetic of fishtest). Empty cells count as 0.001.

mod claim;
mod likelihood;
mod prospect;
mod stopped;
mod walk;

pub use prospect::{PairLaw, Prospect};
pub use stopped::StoppedEstimate;
pub use walk::Walk;

use crate::{Counts, NELO_PER_SD, Pentanomial, Sample, TestCounts, score_of_elo};
use serde::{Deserialize, Serialize};

/// The least distance between the hypotheses, in Elo: a smaller one needs more games than can be played.
const NARROWEST: f64 = 1e-3;

/// Scale of `elo0` and `elo1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Standard deviations of one game times 800 / ln 10: the same effort at every draw ratio.
    #[default]
    Normalized,
    /// Logistic Elo.
    Logistic,
    /// R. Coulom's BayesElo with the draw rate of the sample; for single games only.
    BayesElo,
}

impl Model {
    /// Largest accepted bound, in Elo. Larger differences need no test, and the normalized model may not reach them.
    pub fn farthest(self) -> f64 {
        match self {
            Self::Normalized => 400.0,
            Self::Logistic | Self::BayesElo => 1000.0,
        }
    }
}

/// A test between two hypotheses. Its parameters are checked on creation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sprt {
    model: Model,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

/// The word for a test that faults have decided: it reached a bound, and the pairs without faults speak against it.
pub const BY_FAULTS: &str = "faults";

/// The verdict of a test at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The difference is below `elo1`. Where it is not, a test ends so with the probability `beta` at most.
    H0,
    /// The difference is above `elo0`. Where it is not, a test ends so with the probability `alpha` at most.
    H1,
    /// More games are needed.
    Continue,
}

/// A test's state in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Logarithm of the likelihood ratio of H1 to H0.
    pub llr: f64,
    /// H0 is accepted at or below.
    pub lower: f64,
    /// H1 is accepted at or above.
    pub upper: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// Parameters or counts that no test exists for.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SprtError {
    /// A bound that is too large, infinite or not a number.
    #[error("{name} = {value} is beyond +-{farthest} Elo")]
    TooFar {
        /// `elo0` or `elo1`.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The largest value of the model.
        farthest: f64,
    },
    /// `elo0` is not below `elo1`.
    #[error("elo0 = {elo0} is not below elo1 = {elo1} by {NARROWEST} or more")]
    Order {
        /// The given value.
        elo0: f64,
        /// The given value.
        elo1: f64,
    },
    /// An error probability out of range.
    #[error("{name} = {value} is not between 0 and 0.5")]
    ErrorRate {
        /// `alpha` or `beta`.
        name: &'static str,
        /// The given value.
        value: f64,
    },
    /// The BayesElo model needs single games.
    #[error("the bayeselo model needs games, not pairs")]
    BayesEloOfPairs,
}

impl Sprt {
    /// A test of `elo0` against `elo1`, with the probabilities `alpha` of accepting H1 under H0 and `beta` of
    /// accepting H0 under H1.
    ///
    /// # Errors
    /// [`SprtError`] if the hypotheses are not in order or too far out, or an error probability is not in (0, 0.5).
    pub fn new(model: Model, elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Self, SprtError> {
        let farthest = model.farthest();
        for (name, value) in [("elo0", elo0), ("elo1", elo1)] {
            if !(-farthest..=farthest).contains(&value) {
                return Err(SprtError::TooFar { name, value, farthest });
            }
        }
        for (name, value) in [("alpha", alpha), ("beta", beta)] {
            // From 1e-300 on the bounds stay finite.
            if !(1e-300..0.5).contains(&value) {
                return Err(SprtError::ErrorRate { name, value });
            }
        }
        if elo1 - elo0 < NARROWEST {
            return Err(SprtError::Order { elo0, elo1 });
        }
        Ok(Self { model, elo0, elo1, alpha, beta })
    }

    /// A. Wald's bounds of the LLR: H0 is accepted at or below the first, H1 at or above the second.
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The verdict on the pairs of a test, as the word that is on record, and its log likelihood ratio; `None`: more games are needed. With `heeds_faults`, a bound that is reached while the pairs
    /// without faults do not lean to the same side is no verdict on strength, but [`BY_FAULTS`].
    pub fn verdict_on(&self, counts: &TestCounts, heeds_faults: bool) -> Option<(&'static str, f64)> {
        let llr = |pairs| self.llr(&Pentanomial(pairs).into()).ok();
        let reached = llr(counts.pentanomial)?;
        let (word, side) = match self.verdict(reached) {
            Verdict::H0 => ("H0", -1.0),
            Verdict::H1 => ("H1", 1.0),
            Verdict::Continue => return None,
        };
        let clean = counts.without_faults == counts.pentanomial;
        let leans = || llr(counts.without_faults).is_some_and(|llr| llr * side > 0.0);
        Some((if clean || !heeds_faults || leans() { word } else { BY_FAULTS }, reached))
    }

    /// The log likelihood ratio of H1 to H0; 0 without a game. Always finite: where a hypothesis lies outside what the
    /// normalized model can reach, both fall back to Van den Bergh's closed form.
    ///
    /// # Errors
    /// [`SprtError::BayesEloOfPairs`] for pairs under that model, and nothing else.
    pub fn llr(&self, counts: &Counts) -> Result<f64, SprtError> {
        self.accepts(counts)?;
        let Some(sample) = counts.regularised() else { return Ok(0.0) };
        Ok(match self.model {
            Model::Normalized => likelihood::normalized_llr(&sample, self.elo0, self.elo1),
            Model::Logistic | Model::BayesElo => {
                let (score0, score1) = self.scores(&sample);
                likelihood::score_llr(&sample, score0, score1)
            }
        })
    }

    /// The verdict at an LLR.
    pub fn verdict(&self, llr: f64) -> Verdict {
        let (lower, upper) = self.bounds();
        match llr {
            llr if llr <= lower => Verdict::H0,
            llr if llr >= upper => Verdict::H1,
            _ => Verdict::Continue,
        }
    }

    /// LLR, bounds and verdict together.
    ///
    /// # Errors
    /// As [`Sprt::llr`].
    pub fn standing(&self, counts: &Counts) -> Result<Standing, SprtError> {
        let llr = self.llr(counts)?;
        let (lower, upper) = self.bounds();
        Ok(Standing { llr, lower, upper, verdict: self.verdict(llr) })
    }

    fn accepts(&self, counts: &Counts) -> Result<(), SprtError> {
        match (self.model, counts) {
            (Model::BayesElo, Counts::Pentanomial(_)) => Err(SprtError::BayesEloOfPairs),
            _ => Ok(()),
        }
    }

    /// The expected scores of both hypotheses, given the spread or the draws of the sample.
    fn scores(&self, sample: &Sample) -> (f64, f64) {
        let score = |elo: f64| match self.model {
            Model::Normalized => {
                let sd = (sample.games_each * sample.moments().1).sqrt();
                0.5 + sd * elo / NELO_PER_SD
            }
            Model::Logistic => score_of_elo(elo),
            Model::BayesElo => score_of_bayes_elo(elo, draw_elo(sample)),
        };
        (score(self.elo0), score(self.elo1))
    }
}

/// The draw parameter of BayesElo, from the sample.
fn draw_elo(sample: &Sample) -> f64 {
    let (losses, wins) = (sample.p[0], sample.p[2]);
    200.0 * ((1.0 - losses) / losses * (1.0 - wins) / wins).log10()
}

/// The score expected under BayesElo's law (R. Coulom).
fn score_of_bayes_elo(elo: f64, draw_elo: f64) -> f64 {
    let (win, loss) = (score_of_elo(elo - draw_elo), score_of_elo(-elo - draw_elo));
    (1.0 + win - loss) / 2.0
}

#[cfg(test)]
mod tests;
