//! Statistics of two sides against each other.

use super::interval::{Interval, elo_interval};
use super::{Counts, ELO_PER_NAT, Estimate, NELO_PER_SD, Sample, UNSEEN, Z_95, elo_of_score, normal_cdf};
use serde::Serialize;

/// Statistics of the games between two sides, from the view of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Numbers {
    /// Games counted.
    pub games: u64,
    /// Points a game, 0..=1; none without a game.
    pub score: Option<f64>,
    /// Logistic Elo difference; its `error` is the one that fishtest and fastchess print.
    pub elo: Estimate,
    /// Lower end of the 95 % interval of `elo`, which is exact in small and in lopsided samples (see `interval.rs`);
    /// none if nothing was won or drawn.
    pub elo_low: Option<f64>,
    /// Upper end of that interval; none if nothing was lost or drawn.
    pub elo_high: Option<f64>,
    /// Normalized Elo: the score's distance from 50 % in standard deviations of one game, times 800 / ln 10.
    pub nelo: Estimate,
    /// Likelihood of superiority: the probability that the side is the stronger one.
    pub los: f64,
    /// Drawn games of all games; of pairs the even ones (WL or DD) of all pairs.
    pub draw_ratio: Option<f64>,
    /// Pairs won to pairs lost; none for single games and where no pair was lost.
    pub pairs_ratio: Option<f64>,
}

impl From<&Counts> for Numbers {
    fn from(counts: &Counts) -> Self {
        let sample = counts.sample();
        let interval = elo_interval(counts);
        Self {
            games: counts.games(),
            score: sample.as_ref().map(|s| s.moments().0),
            elo: sample.as_ref().map_or(Estimate::Unknown, |sample| elo(sample, interval)),
            elo_low: interval.low,
            elo_high: interval.high,
            nelo: sample.as_ref().map_or(Estimate::Unknown, nelo),
            los: sample.as_ref().map_or(0.5, |sample| los(counts, sample)),
            draw_ratio: sample.as_ref().map(|s| s.p[s.p.len() / 2]),
            pairs_ratio: pairs_ratio(counts),
        }
    }
}

/// The spread of a sample over its outcomes.
enum Spread {
    Wide,
    OnlyLosses,
    OnlyWins,
    /// One and the same outcome throughout, neither all nor nothing.
    OneMiddleOutcome,
}

fn spread(sample: &Sample) -> Spread {
    let seen: Vec<usize> = (0..sample.p.len()).filter(|&i| sample.p[i] > 0.0).collect();
    match seen[..] {
        [0] => Spread::OnlyLosses,
        [i] if i + 1 == sample.p.len() => Spread::OnlyWins,
        [_] => Spread::OneMiddleOutcome,
        _ => Spread::Wide,
    }
}

/// The lower end of the two-sided 95 % interval of Clopper and Pearson for a share of n in n.
fn lower_end_of_all(sample: &Sample) -> f64 {
    // Beyond 10^16 games it rounds to 1, whose Elo is infinite.
    0.025f64.powf(1.0 / sample.size).min(1.0 - f64::EPSILON)
}

/// Elo of the mean with the error that fishtest and fastchess print: half the distance between the Elo of both ends
/// of the score's normal interval. Where an end leaves (0, 1) the interval is taken on the Elo scale instead (delta
/// method), which is finite for every score but 0 and 1.
fn elo(sample: &Sample, interval: Interval) -> Estimate {
    match spread(sample) {
        Spread::OnlyWins => interval.low.map_or(Estimate::Unknown, |value| Estimate::AtLeast { value }),
        Spread::OnlyLosses => interval.high.map_or(Estimate::Unknown, |value| Estimate::AtMost { value }),
        Spread::OneMiddleOutcome => {
            Estimate::Measured { value: elo_of_score(sample.moments().0), error: None }
        }
        Spread::Wide => {
            let (mean, variance) = sample.moments();
            // One loss in 10^17 games rounds the mean to 1.
            let mean = mean.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
            let reach = Z_95 * (variance / sample.size).sqrt();
            let inside = mean - reach > 0.0 && mean + reach < 1.0;
            let error = if inside {
                (elo_of_score(mean + reach) - elo_of_score(mean - reach)) / 2.0
            } else {
                reach * ELO_PER_NAT / (mean * (1.0 - mean))
            };
            Estimate::Measured { value: elo_of_score(mean), error: Some(error) }
        }
    }
}

/// Normalized Elo (M. Van den Bergh, "Normalized Elo"), its error z C / sqrt(games).
fn nelo(sample: &Sample) -> Estimate {
    match spread(sample) {
        Spread::OnlyWins => sure_nelo(sample).map_or(Estimate::Unknown, |value| Estimate::AtLeast { value }),
        Spread::OnlyLosses => {
            sure_nelo(sample).map_or(Estimate::Unknown, |value| Estimate::AtMost { value: -value })
        }
        Spread::OneMiddleOutcome => Estimate::Unknown,
        Spread::Wide => {
            let (mean, variance) = sample.moments();
            let sd = (sample.games_each * variance).sqrt();
            let error = Z_95 * NELO_PER_SD / (sample.games_each * sample.size).sqrt();
            Estimate::Measured { value: NELO_PER_SD * (mean - 0.5) / sd, error: Some(error) }
        }
    }
}

/// The least normalized Elo at the lower end of an all-won sample: no distribution with that mean spreads wider than
/// the one on the two extreme outcomes. Gives no bound while that end is below 50 %.
fn sure_nelo(sample: &Sample) -> Option<f64> {
    let p = lower_end_of_all(sample);
    let sd = (sample.games_each * p * (1.0 - p)).sqrt();
    (p > 0.5).then(|| NELO_PER_SD * (p - 0.5) / sd)
}

/// Normal likelihood of superiority, from the spread that the interval is computed from: outcomes that were never seen
/// count once ([`UNSEEN`]), so that a few games that are alike prove little. A score that is all or nothing takes cutechess's
/// form, in which each game is a coin toss, and no other score proves more than that one.
fn los(counts: &Counts, sample: &Sample) -> f64 {
    let mean = sample.moments().0;
    let most = (sample.games_each * sample.size).sqrt();
    let seen = matches!(spread(sample), Spread::Wide | Spread::OneMiddleOutcome);
    let z = match counts.spread(UNSEEN).filter(|_| seen) {
        Some((_, variance)) => (mean - 0.5) / (variance / sample.size).sqrt(),
        None => (mean - 0.5).signum() * most,
    };
    normal_cdf(z.clamp(-most, most))
}

fn pairs_ratio(counts: &Counts) -> Option<f64> {
    let Counts::Pentanomial(pairs) = counts else { return None };
    let [ll, ld, _, wd, ww] = pairs.0.map(|n| n as f64);
    (ll + ld > 0.0).then(|| (ww + wd) / (ll + ld))
}

#[cfg(test)]
mod tests;
