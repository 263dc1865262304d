//! Constrained maximum likelihood over a few outcomes, and ratios of it.

use crate::{NELO_PER_SD, Sample, moments, outcome};

/// LLR of two expected scores: each hypothesis is the likeliest distribution with that mean.
///
/// Between 0 and 1 there always is one; the closed form N (s1 - s0) (2 mean - s0 - s1) / (2 variance) stands in where
/// a score rounds to an end.
pub(super) fn score_llr(sample: &Sample, score0: f64, score1: f64) -> f64 {
    let n = sample.p.len();
    let law = |score: f64| {
        let deviations: Vec<f64> = (0..n).map(|i| outcome(i, n) - score).collect();
        tilted(&sample.p, &deviations)
    };
    ratio(sample, law(score0), law(score1)).unwrap_or_else(|| {
        let (mean, variance) = sample.moments();
        sample.size * (score1 - score0) * (2.0 * mean - score0 - score1) / (2.0 * variance)
    })
}

/// LLR of two normalized Elo: each hypothesis is the likeliest distribution whose mean lies that many standard
/// deviations from 50 %.
///
/// Falls back to the closed form games / 2 ln((1 + (t - t0)^2) / (1 + (t - t1)^2)) when there is no such distribution
/// within reach of the iteration (Van den Bergh, "Normalized Elo").
pub(super) fn normalized_llr(sample: &Sample, nelo0: f64, nelo1: f64) -> f64 {
    let law = |nelo: f64| law_at_distance(&sample.p, sample.games_each.sqrt() * nelo / NELO_PER_SD);
    ratio(sample, law(nelo0), law(nelo1)).unwrap_or_else(|| {
        let (mean, variance) = sample.moments();
        let t = (mean - 0.5) / (sample.games_each * variance).sqrt();
        let misfit = |nelo: f64| (t - nelo / NELO_PER_SD).powi(2).ln_1p();
        sample.games_each * sample.size / 2.0 * (misfit(nelo0) - misfit(nelo1))
    })
}

/// N sum p ln(p1 / p0); none if it is not finite.
fn ratio(sample: &Sample, law0: Option<Vec<f64>>, law1: Option<Vec<f64>>) -> Option<f64> {
    let (law0, law1) = (law0?, law1?);
    let mean: f64 = sample.p.iter().zip(law0.iter().zip(&law1)).map(|(p, (p0, p1))| p * (p1 / p0).ln()).sum();
    let llr = sample.size * mean;
    llr.is_finite().then_some(llr)
}

/// The law nearest to `p` whose mean is `t` standard deviations above 50 %: the constraint is linearised at the last
/// law, from the uniform one on.
fn law_at_distance(p: &[f64], t: f64) -> Option<Vec<f64>> {
    const MOST_ROUNDS: usize = 50;
    let n = p.len();
    let mut law = vec![1.0 / n as f64; n];
    for _ in 0..MOST_ROUNDS {
        let (mean, variance) = moments(&law);
        let sd = variance.sqrt();
        let deviation = |a: f64| a - 0.5 - 0.5 * t * sd * (1.0 + ((a - mean) / sd).powi(2));
        let deviations: Vec<f64> = (0..n).map(|i| deviation(outcome(i, n))).collect();
        let next = tilted(p, &deviations)?;
        let change = law.iter().zip(&next).map(|(old, new)| (old - new).abs()).fold(0.0, f64::max);
        law = next;
        if change < 1e-9 {
            return Some(law);
        }
    }
    None
}

/// The law p / (1 + theta d) under which the deviations d have mean zero: the likeliest such law (A. B. Owen,
/// "Empirical Likelihood"). None where all deviations have one sign.
fn tilted(p: &[f64], deviations: &[f64]) -> Option<Vec<f64>> {
    let highest = deviations.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = deviations.iter().copied().fold(f64::INFINITY, f64::min);
    if !(lowest < 0.0 && highest > 0.0) {
        return None;
    }
    let theta = falling_root(-1.0 / highest, -1.0 / lowest, |theta| {
        p.iter().zip(deviations).fold((0.0, 0.0), |(value, slope), (p, d)| {
            let share = d / (1.0 + theta * d);
            (value + p * share, slope - p * share * share)
        })
    });
    Some(p.iter().zip(deviations).map(|(p, d)| p / (1.0 + theta * d)).collect())
}

/// The root of a function that falls from +infinity to -infinity between `low` and `high`, given with its slope:
/// Newton's method, and bisection whenever Newton would leave the bracket or is slower than bisection.
fn falling_root(mut low: f64, mut high: f64, function: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = if low < 0.0 && high > 0.0 { 0.0 } else { low.midpoint(high) };
    let mut last_step = high - low;
    for _ in 0..200 {
        let (value, slope) = function(x);
        match value {
            v if v > 0.0 => low = x,
            v if v < 0.0 => high = x,
            _ => return x,
        }
        let newton = x - value / slope;
        let inside = newton > low && newton < high && (newton - x).abs() < last_step / 2.0;
        let next = if inside { newton } else { low.midpoint(high) };
        last_step = (next - x).abs();
        x = next;
        if last_step <= f64::EPSILON * x.abs() {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_law_cannot_be_tilted_to_a_mean_beyond_its_outcomes() {
        assert_eq!(tilted(&[0.5, 0.5], &[0.1, 0.2]), None);
        assert_eq!(tilted(&[0.5, 0.5], &[f64::NAN, 0.2]), None);
    }

    proptest! {
        #[test]
        fn a_tilted_law_is_a_law_with_the_mean_asked_for(
            weights in prop::collection::vec(1e-9f64..1.0, 5),
            score in 0.01f64..0.99,
        ) {
            let sum: f64 = weights.iter().sum();
            let p: Vec<f64> = weights.iter().map(|w| w / sum).collect();
            let deviations: Vec<f64> = (0..5).map(|i| outcome(i, 5) - score).collect();
            let law = tilted(&p, &deviations).unwrap();
            prop_assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-6);
            prop_assert!((moments(&law).0 - score).abs() < 1e-6);
        }
    }
}
