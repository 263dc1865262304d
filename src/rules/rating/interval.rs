//! The 95 % interval of an expected score, exact in small samples.
//!
//! E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of positive counts
//! estimated from survey data" (Survey Methodology, 1998): the interval of C. J. Clopper and E. Pearson (1934) for so
//! many games without draws as carry the information of the sample. A draw is worth more than one such game, and so are
//! pairs in which an opening wins with both colours; pairs that repeat a result are worth less.

use super::{Counts, Pentanomial, Sample, Trinomial, Z_95, elo_of_score};
use statrs::function::beta::beta_reg;

/// Weight of an outcome that was never seen, for the spread alone (P.-S. Laplace): a few games that are alike are no proof
/// that all are. With half of it, ten games of which most are drawn would be believed too much.
pub(crate) const UNSEEN: f64 = 1.0;

/// Number of games up to which the interval is exact; beyond it is R. G. Newcombe's approximation (1998, method 4).
const EXACT: f64 = 10_000.0;

/// Probability outside the interval at each end.
const TAIL: f64 = 0.025;

/// An interval on the scale of the score or of Elo; an end that the games do not tell is `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// The 95 % interval of the difference in Elo; without a game both ends are unknown.
pub(crate) fn elo_interval(counts: &Counts) -> Interval {
    let Some(sample) = counts.sample() else { return Interval { low: None, high: None } };
    let mean = sample.moments().0;
    let games = effective_games(counts, &sample);
    let Interval { low, high } = score_interval(mean, games);
    Interval { low: low.map(elo_of_score), high: high.map(elo_of_score) }
}

/// By how much pairs make the error of a mean over games wider than if these were independent; 1 at least, and without pairs.
pub fn by_pairs(games: Trinomial, pairs: Pentanomial) -> f64 {
    let variance = |counts: Counts| counts.spread(UNSEEN).map(|(_, variance)| variance);
    let (Some(of_game), Some(of_pair)) = (variance(games.into()), variance(pairs.into())) else { return 1.0 };
    (2.0 * of_pair / of_game).sqrt().max(1.0)
}

/// Number of games without draws that would tell as much as the sample does.
fn effective_games(counts: &Counts, sample: &Sample) -> f64 {
    let games = counts.games() as f64;
    let spread = counts.spread(UNSEEN).filter(|_| sample.p[0] < 1.0 && sample.p[sample.p.len() - 1] < 1.0);
    // Of games that were all won, or all lost, nothing but their number is known.
    let Some((mean, variance)) = spread else { return games };
    mean * (1.0 - mean) / variance * sample.size
}

/// The interval for a score of `mean` over `games` games without draws. A score of 0 has no lower end, one of 1 no
/// upper end.
fn score_interval(mean: f64, games: f64) -> Interval {
    let ends = if games <= EXACT { clopper_pearson } else { newcombe };
    // One loss in 10^17 games rounds the mean to 1.
    let inside = |score: f64| score.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
    let low = (mean > 0.0).then(|| inside(ends(mean, games).min(mean)));
    let high = (mean < 1.0).then(|| inside((1.0 - ends(1.0 - mean, games)).max(mean)));
    Interval { low, high }
}

/// The lower end by Clopper and Pearson: the score at which a result at least as good has the probability [`TAIL`].
fn clopper_pearson(mean: f64, games: f64) -> f64 {
    let points = mean * games;
    let better = |score: f64| beta_reg(points, games - points + 1.0, score);
    let (mut low, mut high) = (0.0, mean);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if better(middle) < TAIL { low = middle } else { high = middle }
    }
    low
}

/// The lower end of E. B. Wilson's interval with a continuity correction.
fn newcombe(mean: f64, games: f64) -> f64 {
    let (z, n) = (Z_95, games);
    let root = z * z - 2.0 - 1.0 / n + 4.0 * mean * (n * (1.0 - mean) + 1.0);
    (2.0 * n * mean + z * z - 1.0 - z * root.max(0.0).sqrt()) / (2.0 * (n + z * z))
}

#[cfg(test)]
mod tests;
