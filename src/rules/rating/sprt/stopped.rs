//! The difference in strength after a sequential test stopped, where the plain estimate is biased towards the
//! verdict.

use super::{Sprt, SprtError};
use crate::{
    Counts, ELO_PER_NAT, Interval, Sample, UNSEEN, elo_interval, elo_of_score, normal_cdf, score_of_elo,
};
use serde::Serialize;
use std::f64::consts::PI;

/// The difference in logistic Elo, corrected for stopping when the LLR was at a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StoppedEstimate {
    /// The median-unbiased estimate: at this difference, better and worse outcomes are equally likely.
    pub elo: f64,
    /// Lower end of the 95 % interval; none if nothing was won or drawn.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval; none if nothing was lost or drawn.
    pub high: Option<f64>,
    /// The probability of superiority.
    pub los: f64,
}

impl Sprt {
    /// The difference after (or during) the test: the LLR is taken as a Brownian motion between the test's bounds, and
    /// outcomes are ordered from an early H0 to an early H1 (D. Siegmund, "Sequential Analysis"; the arithmetic of
    /// fishtest). An LLR beyond a bound is taken back to the moment when it met the bound. The spread of a result
    /// changes with the difference as that of games without draws does, so that the ends hold for lopsided results
    /// too; with less than five points on a side, where a motion is no likeness of single games, it is at least as wide
    /// as the exact interval. If all games were won, or all lost, stopping changes nothing, and the interval is the
    /// exact one. None without a game.
    ///
    /// # Errors
    /// As [`Sprt::llr`].
    pub fn estimate(&self, counts: &Counts) -> Result<Option<StoppedEstimate>, SprtError> {
        self.accepts(counts)?;
        let Some(sample) = counts.regularised() else { return Ok(None) };
        let mean = counts.sample().map_or(0.5, |sample| sample.moments().0);
        if mean == 0.0 || mean == 1.0 {
            return Ok(Some(one_sided(counts, mean)));
        }
        let spread = counts.spread(UNSEEN).unwrap_or_default();
        let estimate = self.estimate_of(&sample, mean, spread);
        let points = counts.games() as f64 * mean.min(1.0 - mean);
        Ok(estimate
            .map(|estimate| if points < FEW { estimate.widened(elo_interval(counts)) } else { estimate }))
    }

    fn estimate_of(&self, sample: &Sample, mean: f64, spread: (f64, f64)) -> Option<StoppedEstimate> {
        let (centre, variance) = spread;
        let (score0, score1) = self.scores(sample);
        let drift = |score: f64| (score1 - score0) * (score - (score0 + score1) / 2.0) / variance;
        let (lower, upper) = self.bounds();
        let llr = sample.size * drift(mean);
        let at = llr.clamp(lower, upper);
        let time = if at == llr { sample.size } else { at / drift(mean) };
        let step = (score1 - score0).powi(2) / variance;
        let walk = |score: f64| {
            let wider = score * (1.0 - score) / (centre * (1.0 - centre));
            Walk { lower, upper, variance: step * wider }
        };
        let worse = |elo: f64| {
            let score = score_of_elo(elo);
            walk(score).probability_of_worse(drift(score), time, at)
        };
        let plain = elo_of_score(mean);
        let sd = ELO_PER_NAT * (variance / sample.size).sqrt() / (mean * (1.0 - mean));
        // After a billion draws and nothing else, both hypotheses of BayesElo round to the same score.
        (step > 0.0).then(|| StoppedEstimate {
            elo: elo_at(&worse, 0.5, plain, sd).unwrap_or(plain),
            low: elo_at(&worse, 0.975, plain, sd),
            high: elo_at(&worse, 0.025, plain, sd),
            los: worse(0.0),
        })
    }
}

/// A difference in Elo at which a score is within rounding of all or nothing.
const FARTHEST: f64 = 6000.0;

/// Points of the weaker side from which on sums of games are taken as normally distributed.
const FEW: f64 = 5.0;

impl StoppedEstimate {
    fn widened(self, Interval { low, high }: Interval) -> Self {
        let end =
            |own: Option<f64>, other: Option<f64>, wider: fn(f64, f64) -> f64| Some(wider(own?, other?));
        Self { low: end(self.low, low, f64::min), high: end(self.high, high, f64::max), ..self }
    }
}

/// The estimate where all games were won or lost. No outcome is more extreme, so stopping changes nothing.
fn one_sided(counts: &Counts, mean: f64) -> StoppedEstimate {
    let games = counts.games() as f64;
    let Interval { low, high } = elo_interval(counts);
    let sign = if mean == 1.0 { 1.0 } else { -1.0 };
    // Of the outcomes that are as extreme, half count as worse.
    let los = 0.5 + sign * (0.5 - 0.5f64.powf(games + 1.0));
    StoppedEstimate {
        elo: sign * elo_of_score(0.5f64.powf(1.0 / games).min(1.0 - f64::EPSILON)),
        low,
        high,
        los,
    }
}

/// The Elo at which a worse outcome has the given probability: the crossing that is nearest to the plain estimate, since
/// far beyond the range of the test the probability may turn back. The way there is in steps of the standard deviation,
/// so that neither the scale of the hypotheses nor a widest Elo has a part in it. `None` where there is no such Elo.
fn elo_at(worse: &impl Fn(f64) -> f64, probability: f64, plain: f64, sd: f64) -> Option<f64> {
    let is_above = |elo: f64| worse(elo) < probability;
    let starts_above = is_above(plain);
    let (mut near, mut step) = (plain, if starts_above { -sd } else { sd } / 4.0);
    let mut far = near + step;
    while is_above(far) == starts_above {
        step *= 1.25;
        (near, far) = (far, far + step);
        // Beyond this a score rounds to 0 or 1.
        if far.is_nan() || far.abs() >= FARTHEST {
            return None;
        }
    }
    for _ in 0..100 {
        let middle = f64::midpoint(near, far);
        if is_above(middle) == starts_above { near = middle } else { far = middle }
    }
    Some(near)
}

/// A Brownian motion from 0 that is absorbed at two bounds.
struct Walk {
    lower: f64,
    upper: f64,
    variance: f64,
}

impl Walk {
    /// The probability of an outcome worse than being at `at` at `time`: to be below it then, or absorbed at the lower
    /// bound before or at the upper bound later.
    fn probability_of_worse(&self, drift: f64, time: f64, at: f64) -> f64 {
        let width = self.upper - self.lower;
        // How far the slowest mode has decayed. Both forms are exact to 10^-15 around the switch.
        let decay = (PI / width).powi(2) * self.variance * time / 2.0;
        let probability =
            if decay > 0.2 { self.by_modes(drift, time, at) } else { self.by_images(drift, time, at) };
        probability.clamp(0.0, 1.0)
    }

    /// The eigenfunction expansion: the chance of ever ending at the lower bound, less what has not come to it yet.
    fn by_modes(&self, drift: f64, time: f64, at: f64) -> f64 {
        let width = self.upper - self.lower;
        let (start, at) = (-self.lower, at - self.lower);
        let pull = drift / self.variance;
        let mut modes = 0.0;
        for n in 1..60 {
            let wave = f64::from(n) * PI / width;
            let decay = (wave * wave * self.variance + drift * pull) * time / 2.0;
            let weight = pull * (at - start) - decay;
            if weight < -60.0 {
                break;
            }
            let (sin, cos) = (wave * at).sin_cos();
            let shape = (pull * sin - wave * cos) / (pull * pull + wave * wave);
            modes += weight.exp() * shape * (wave * start).sin();
        }
        ruin(pull, start, width) + 2.0 / width * modes
    }

    /// Siegmund's form for early stops: each bound reflects once.
    fn by_images(&self, drift: f64, time: f64, at: f64) -> f64 {
        let (pull, spread) = (drift / self.variance, (self.variance * time).sqrt());
        let travelled = drift * time;
        normal_cdf((at - travelled) / spread)
            + scaled_cdf(2.0 * pull * self.lower, (2.0 * self.lower - at + travelled) / spread)
            - scaled_cdf(2.0 * pull * self.upper, (at - travelled - 2.0 * self.upper) / spread)
    }
}

/// The probability that a walk from `start` in `0..width` ever meets 0 before `width`, with `pull` = drift / variance.
fn ruin(pull: f64, start: f64, width: f64) -> f64 {
    if (pull * width).abs() < 1e-9 {
        (width - start) / width
    } else if pull > 0.0 {
        // Multiplied through so that nothing overflows.
        (-2.0 * pull * start).exp() * (-2.0 * pull * (width - start)).exp_m1()
            / (-2.0 * pull * width).exp_m1()
    } else {
        (2.0 * pull * (width - start)).exp_m1() / (2.0 * pull * width).exp_m1()
    }
}

/// e^factor times the normal distribution function at x, also where one overflows and the other vanishes.
fn scaled_cdf(factor: f64, x: f64) -> f64 {
    if x > -20.0 {
        factor.exp() * normal_cdf(x)
    } else {
        (factor - x * x / 2.0).exp() / (-x * (2.0 * PI).sqrt()) * (1.0 - 1.0 / (x * x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Random, pairs_at};
    use crate::sprt::Model;
    use crate::{Pentanomial, Trinomial};

    fn assert_near(got: f64, expected: f64, tolerance: f64) {
        assert!((got - expected).abs() <= tolerance, "{got} is not {expected}");
    }

    #[test]
    fn the_estimate_after_a_stop_is_fishtests() {
        let test = Sprt::new(Model::Normalized, 0.764, 3.439, 0.05, 0.05).unwrap();
        let stopped = test.estimate(&Pentanomial([39, 2226, 31451, 2412, 40]).into()).unwrap().unwrap();
        assert_near(stopped.elo, 0.8652, 5.1e-5);
        assert_near(stopped.low.unwrap(), 0.1683, 5.1e-5);
        assert_near(stopped.high.unwrap(), 1.5406, 5.1e-5);
        assert_near(stopped.los, 0.99200, 5.1e-6);
    }

    #[test]
    fn both_forms_of_the_walk_agree_where_they_meet() {
        let walk = Walk { lower: -2.25, upper: 2.89, variance: 0.01 };
        let time = 0.2 * 2.0 * (5.14 / PI).powi(2) / 0.01;
        for drift in [-0.1, -0.01, 0.0, 0.004, 0.1] {
            for at in [-2.25, -1.0, 0.0, 2.0, 2.89] {
                assert_near(walk.by_modes(drift, time, at), walk.by_images(drift, time, at), 1e-10);
            }
        }
    }

    #[test]
    fn a_walk_without_drift_is_ruined_in_proportion() {
        assert_near(ruin(0.0, 1.0, 4.0), 0.75, 1e-15);
        assert_near(ruin(1e-7, 1.0, 4.0), 0.75, 1e-6);
        assert_near(ruin(-1e-7, 1.0, 4.0), 0.75, 1e-6);
        assert_eq!((ruin(1e6, 1.0, 4.0), ruin(-1e6, 1.0, 4.0)), (0.0, 1.0));
    }

    #[test]
    fn five_lost_games_have_one_bound_and_a_finite_estimate() {
        let test = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        let counts = Counts::from(Trinomial { losses: 5, draws: 0, wins: 0 });
        let StoppedEstimate { elo, low, high, los } = test.estimate(&counts).unwrap().unwrap();
        assert_near(elo, -331.08, 0.01);
        assert_eq!((low, high), (None, crate::Numbers::from(&counts).elo_high));
        assert_near(los, 0.015625, 1e-9);
    }

    /// The scale of the hypotheses is a way of writing two scores: the same scores have the same interval.
    #[test]
    fn the_interval_depends_on_the_scores_of_the_hypotheses_and_not_on_their_scale() {
        for pairs in [[10, 200, 400, 240, 20], [0, 1, 3, 40, 300], [0, 0, 1, 2, 5000], [900, 30, 2, 0, 1]] {
            let counts = Counts::from(Pentanomial(pairs));
            let normalized = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
            let (_, score1) = normalized.scores(&counts.regularised().unwrap());
            let logistic = Sprt::new(Model::Logistic, 0.0, elo_of_score(score1), 0.05, 0.05).unwrap();
            let [a, b] = [normalized, logistic].map(|test| test.estimate(&counts).unwrap().unwrap());
            assert_near(a.elo, b.elo, 1e-6 * a.elo.abs());
            assert_near(a.los, b.los, 1e-9);
            for (one, other) in [(a.low, b.low), (a.high, b.high)] {
                assert_near(one.unwrap(), other.unwrap(), 1e-6 * one.unwrap().abs());
            }
        }
    }

    /// Two half points lost in two thousand pairs are beyond 1200 Elo, where an earlier version ended.
    #[test]
    fn no_end_of_the_interval_is_clamped() {
        let test = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        let stopped = test.estimate(&Pentanomial([0, 0, 0, 2, 2000]).into()).unwrap().unwrap();
        let (low, high) = (stopped.low.unwrap(), stopped.high.unwrap());
        assert!(low < stopped.elo && stopped.elo > 1200.0 && high > stopped.elo + 100.0, "{stopped:?}");
    }

    #[test]
    fn an_early_h1_leaves_the_estimate_below_the_plain_one() {
        let test = Sprt::new(Model::Logistic, 0.0, 20.0, 0.05, 0.05).unwrap();
        let counts = Counts::from(Trinomial { losses: 100, draws: 20, wins: 150 });
        let plain = crate::Numbers::from(&counts).elo.value().unwrap();
        let stopped = test.estimate(&counts).unwrap().unwrap();
        assert!(
            stopped.low.unwrap() < stopped.elo && stopped.elo < plain && stopped.elo < stopped.high.unwrap()
        );
    }

    #[test]
    fn every_small_count_has_an_ordered_estimate() {
        for (model, elo1) in [(Model::Normalized, 5.0), (Model::Logistic, 400.0), (Model::BayesElo, 10.0)] {
            let test = Sprt::new(model, 0.0, elo1, 0.05, 0.1).unwrap();
            for cell in 0..7u64.pow(3) {
                let counts = Trinomial { losses: cell % 7, draws: cell / 7 % 7, wins: cell / 49 }.into();
                let Some(StoppedEstimate { elo, low, high, los }) = test.estimate(&counts).unwrap() else {
                    assert_eq!(cell, 0);
                    continue;
                };
                assert!(low.is_some() || high.is_some());
                let (low, high) = (low.unwrap_or(-1e9), high.unwrap_or(1e9));
                assert!([elo, low, high].iter().all(|x| x.is_finite()) && (0.0..=1.0).contains(&los));
                assert!(low <= elo && elo <= high, "{counts:?} {low} {elo} {high}");
            }
        }
    }

    /// The share of sequential tests whose corrected interval holds the true difference.
    fn coverage(test: &Sprt, score: f64, drawish: f64, bias: f64) -> f64 {
        let cells = pairs_at(score, drawish, bias);
        let (truth, mut random) = (elo_of_score(crate::moments(&cells).0), Random(7));
        let covered = (0..TESTS).filter(|_| {
            let mut pairs = [0; 5];
            for _ in 0..1000 {
                pairs[random.pick(&cells)] += 1;
                let llr = test.llr(&Pentanomial(pairs).into()).unwrap();
                if test.verdict(llr) != crate::sprt::Verdict::Continue {
                    break;
                }
            }
            let stopped = test.estimate(&Pentanomial(pairs).into()).unwrap().unwrap();
            stopped.low.is_none_or(|low| low <= truth) && stopped.high.is_none_or(|high| truth <= high)
        });
        covered.count() as f64 / f64::from(TESTS)
    }

    const TESTS: u32 = 500;

    #[test]
    fn the_interval_after_a_stop_holds_the_truth_for_lopsided_and_for_close_results() {
        let tests = [(Model::Normalized, 60.0), (Model::Logistic, 100.0), (Model::Normalized, 300.0)];
        for &(model, elo1) in &tests[..testing::repetitions(3, 1)] {
            let test = Sprt::new(model, 0.0, elo1, 0.05, 0.05).unwrap();
            let scores: &[f64] = &[0.5, 0.02, 0.65, 0.2, 0.55, 0.9, 0.98];
            for &score in &scores[..testing::repetitions(7, 3)] {
                for (drawish, bias) in [(0.0, 0.0), (0.5, 0.0), (0.1, 1.0)] {
                    let share = coverage(&test, score, drawish, bias);
                    assert!(share >= 0.93, "{model:?} {elo1} at {score}, {drawish}, bias {bias}: {share}");
                }
            }
        }
    }

    /// Φ(x) far out by its asymptotic series, to a part in x⁶.
    fn far_cdf(x: f64) -> f64 {
        let (square, density) = (x * x, (-x * x / 2.0).exp() / (2.0 * PI).sqrt());
        density / -x * (1.0 - 1.0 / square + 3.0 / square.powi(2) - 15.0 / square.powi(3))
    }

    #[test]
    fn the_tail_of_a_scaled_distribution_goes_on_where_the_factor_overflows() {
        for x in [-19.0, -19.999, -20.0, -20.001, -25.0, -30.0] {
            for factor in [0.0, 3.0, 40.0] {
                let expected = f64::exp(factor) * far_cdf(x);
                let got = scaled_cdf(factor, x);
                assert!((got / expected - 1.0).abs() < 3e-5, "{factor} {x}: {got} is not {expected}");
            }
        }
        // e^2000 overflows and Φ(-63.3) vanishes; their product does neither.
        let x = -(4000.0_f64).sqrt();
        let (product, known) = (scaled_cdf(2000.0, x), 1.0 / (-x * (2.0 * PI).sqrt()) * (1.0 - 1.0 / 4000.0));
        assert!((product / known - 1.0).abs() < 1e-9, "{product} {known}");
        assert_near(scaled_cdf(0.0, 0.0), 0.5, 1e-15);
        assert_near(scaled_cdf(2.0, 1.0), 2.0_f64.exp() * 0.841_344_746_068_543, 1e-9);
    }

    /// The same walk in small steps on a lattice: a worse outcome is one absorbed below before, or below `at` then; of those
    /// still on their way when `at` is a bound, those that end below later.
    fn by_steps(walk: &Walk, drift: f64, time: f64, at: f64) -> f64 {
        const CELLS: usize = 240;
        let width = walk.upper - walk.lower;
        let cell = width / CELLS as f64;
        // A step of one cell either way, or none: a third of the time to stay keeps the lattice smooth.
        let dt = cell * cell / walk.variance * (2.0 / 3.0);
        let lean = drift * dt / cell;
        let (up, down) = (1.0 / 3.0 + lean / 2.0, 1.0 / 3.0 - lean / 2.0);
        let start = (-walk.lower / cell).round() as usize;
        let mut here = vec![0.0; CELLS + 1];
        here[start] = 1.0;
        let mut below = 0.0;
        for _ in 0..(time / dt).round() as usize {
            let mut next = vec![0.0; CELLS + 1];
            for place in 1..CELLS {
                next[place + 1] += here[place] * up;
                next[place - 1] += here[place] * down;
                next[place] += here[place] / 3.0;
            }
            below += next[0];
            (next[0], next[CELLS]) = (0.0, 0.0);
            here = next;
        }
        let mark = (at - walk.lower) / cell;
        let under = here.iter().enumerate().map(|(place, share)| {
            let place = place as f64;
            share * if (place - mark).abs() < 0.5 { 0.5 } else { f64::from(u8::from(place < mark)) }
        });
        below + under.sum::<f64>()
    }

    #[test]
    fn a_walk_on_a_lattice_of_small_steps_ends_as_often_at_a_worse_place() {
        let walk = Walk { lower: -2.25, upper: 2.89, variance: 0.01 };
        for time in [60.0, 200.0, 900.0] {
            for drift in [-0.01, -0.003, 0.0, 0.006] {
                for at in [-1.0, 0.5, 2.0] {
                    let [got, stepped] =
                        [walk.probability_of_worse(drift, time, at), by_steps(&walk, drift, time, at)];
                    // What is still on its way and ends at the lower bound later is worse, too, where `at` is above it.
                    assert!(got >= stepped - 0.01, "{time} {drift} {at}: {got} {stepped}");
                    if time < 100.0 {
                        assert_near(got, stepped, 0.01);
                    }
                }
            }
        }
    }

    #[test]
    fn a_walk_with_a_drift_is_ruined_as_the_formula_of_the_gambler_has_it() {
        for (pull, start, width) in [(0.3, 1.0, 4.0), (-0.3, 1.0, 4.0), (0.3, 3.0, 4.0), (-2.0, 0.5, 1.5)] {
            let power = |x: f64| (-2.0 * pull * x).exp();
            let expected = (power(start) - power(width)) / (1.0 - power(width));
            assert_near(ruin(pull, start, width), expected, 1e-12);
        }
    }

    #[test]
    fn games_that_were_all_won_are_the_lost_ones_mirrored_and_with_few_points_the_interval_is_the_exact_one()
    {
        let test = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        let of = |losses, draws, wins| {
            let counts = Counts::from(Trinomial { losses, draws, wins });
            (test.estimate(&counts).unwrap().unwrap(), elo_interval(&counts))
        };
        let (won, lost) = (of(0, 0, 5).0, of(5, 0, 0).0);
        assert_near(won.elo, -lost.elo, 1e-9);
        assert_near(won.los + lost.los, 1.0, 1e-12);
        assert_eq!((won.high, lost.low), (None, None));
        assert_near(won.low.unwrap(), -lost.high.unwrap(), 1e-9);
        // Four and a half points of the weaker side are few, five are not.
        let (few, exact) = of(3, 3, 40);
        assert!(few.low.unwrap() <= exact.low.unwrap() && few.high.unwrap() >= exact.high.unwrap());
        let (many, exact) = of(4, 2, 40);
        assert!(
            many.low.unwrap() > exact.low.unwrap() || many.high.unwrap() < exact.high.unwrap(),
            "{many:?} {exact:?}"
        );
    }
}
