//! What a sequential test will bring: the chance to pass and the number of games, by the true difference.
//!
//! The log likelihood ratio is a walk whose steps are the pairs, and each pair moves it by its score (M. Van den Bergh's
//! approximation of the generalised ratio). Where it ends, and when, is A. Wald's "Sequential tests of statistical
//! hypotheses" (1945), from the moment generating function of a step; a walk overshoots its bound by 0.583 standard
//! deviations of a step (D. Siegmund, "Corrected diffusion approximations in certain random walk problems", 1979).

use super::{Model, Sprt, SprtError};
use crate::{Sample, elo_of_score, moments, outcome, score_of_elo};
use serde::Serialize;

/// Mean overshoot of a walk beyond a bound, in standard deviations of a step.
const OVERSHOOT: f64 = 0.583;
/// Pairs that an outcome counts which was never seen.
const UNSEEN: f64 = 0.5;
/// Steps of a bisection: enough for every digit of a number.
const STEPS: usize = 200;

/// How the results of a pair of games are distributed, whatever the difference is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairLaw {
    /// By Davidson's model.
    Assumed {
        /// Share of draws between equals from a level opening, from 0 to below 1.
        draws: f64,
        /// Elo by which an opening favours one side, in either direction.
        bias: f64,
    },
    /// As pairs were seen, with the same odds between their outcomes but for a factor for each half point.
    Shown([u64; 5]),
}

/// What a test brings at a true difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prospect {
    /// The true difference on the scale of the hypotheses.
    pub difference: f64,
    /// The same in logistic Elo.
    pub elo: f64,
    /// The probability that H1 is accepted.
    pub passes: f64,
    /// Games until the verdict, on average.
    pub games: f64,
}

impl PairLaw {
    /// Probabilities of a pair's points (0, 1/2, 1, 3/2, 2) where the first player is expected to score `score` a game.
    fn at(&self, score: f64) -> [f64; 5] {
        match *self {
            Self::Assumed { draws, bias } => {
                let nu = 2.0 * draws / (1.0 - draws);
                let lean = root(score_of_elo(bias), |x| mean(&game(x, nu)));
                let law = |x| pair(game(x + lean, nu), game(x - lean, nu));
                law(root(score, |x| moments(&law(x)).0))
            }
            Self::Shown(pairs) => {
                let seen = pairs.map(|pairs| (pairs as f64).max(UNSEEN));
                let law = |tilt: f64| {
                    let mut law = seen;
                    law.iter_mut().enumerate().for_each(|(i, p)| *p *= (tilt * (i as f64 - 2.0)).exp());
                    let sum: f64 = law.iter().sum();
                    law.map(|p| p / sum)
                };
                law(root(score, |tilt| moments(&law(tilt)).0))
            }
        }
    }
}

/// Loss, draw and win of a game at a difference in log odds.
fn game(x: f64, nu: f64) -> [f64; 3] {
    let odds = [(-x / 2.0).exp(), nu, (x / 2.0).exp()];
    let sum: f64 = odds.iter().sum();
    odds.map(|part| part / sum)
}

fn mean(game: &[f64; 3]) -> f64 {
    game[2] + game[1] / 2.0
}

fn pair(first: [f64; 3], second: [f64; 3]) -> [f64; 5] {
    let mut cells = [0.0; 5];
    for (i, p) in first.iter().enumerate() {
        for (j, q) in second.iter().enumerate() {
            cells[i + j] += p * q;
        }
    }
    cells
}

/// The place where a rising function has a value, within 60 natural logarithms.
fn root(value: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-60.0, 60.0);
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if of(middle) < value { low = middle } else { high = middle }
    }
    low
}

impl Sprt {
    /// What the test brings where the true difference is `difference`, on the scale of its hypotheses. `None` where pairs
    /// have no spread, so that no number of them decides anything.
    ///
    /// # Errors
    /// [`SprtError::BayesEloOfPairs`] under that model, and nothing else.
    pub fn prospect(&self, law: &PairLaw, difference: f64) -> Result<Option<Prospect>, SprtError> {
        if self.model == Model::BayesElo {
            return Err(SprtError::BayesEloOfPairs);
        }
        let (score, cells) = self.cells(law, difference);
        let sample = Sample { size: 1.0, p: cells.to_vec(), games_each: 2.0 };
        let (score0, score1) = self.scores(&sample);
        let variance = sample.moments().1;
        let step = |i| (score1 - score0) * (outcome(i, 5) - f64::midpoint(score0, score1)) / variance;
        let steps = [0, 1, 2, 3, 4].map(step);
        let (lower, upper) = self.bounds();
        let end = (variance > 0.0).then(|| Step { law: cells, size: steps }.end(lower, upper)).flatten();
        let elo = elo_of_score(score);
        Ok(end.map(|(passes, pairs)| Prospect { difference, elo, passes, games: 2.0 * pairs }))
    }

    /// The score and the law of a pair at a difference. The normalized scale is that of the law itself.
    fn cells(&self, law: &PairLaw, difference: f64) -> (f64, [f64; 5]) {
        let at = Self { elo0: difference, ..*self };
        let inside = |score: f64| score.clamp(1e-6, 1.0 - 1e-6);
        let mut score = 0.5;
        let mut cells = law.at(score);
        for _ in 0..50 {
            let sample = Sample { size: 1.0, p: cells.to_vec(), games_each: 2.0 };
            score = inside(at.scores(&sample).0);
            cells = law.at(score);
        }
        (score, cells)
    }
}

/// A step of a walk.
struct Step {
    law: [f64; 5],
    size: [f64; 5],
}

impl Step {
    /// The probability of ending at the upper bound, and the number of steps; `None` without a spread.
    fn end(&self, lower: f64, upper: f64) -> Option<(f64, f64)> {
        let mean = self.expect(|step| step);
        let variance = self.expect(|step| (step - mean).powi(2));
        let sd = variance.sqrt();
        let (lower, upper) = (lower - OVERSHOOT * sd, upper + OVERSHOOT * sd);
        // Below this the drift is lost in the rounding of Wald's formula, whose limit it is.
        let level = (mean * (upper - lower) / variance).abs() < 1e-6;
        if variance <= 0.0 || !variance.is_finite() {
            return None;
        }
        if level {
            return Some((-lower / (upper - lower), -lower * upper / variance));
        }
        let passes = match self.exponent(mean, variance) {
            Some(exponent) => {
                (exponent * lower).exp_m1() / ((exponent * lower).exp_m1() - (exponent * upper).exp_m1())
            }
            None => f64::from(u8::from(mean > 0.0)),
        };
        let steps = (passes * upper + (1.0 - passes) * lower) / mean;
        Some((passes, steps.max(1.0)))
    }

    fn expect(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.law.iter().zip(self.size).map(|(p, step)| p * of(step)).sum()
    }

    /// The exponent besides 0 at which the moment generating function is 1; `None` where every step goes one way.
    fn exponent(&self, mean: f64, variance: f64) -> Option<f64> {
        let beyond = |exponent: f64| self.expect(|step| (exponent * step).exp_m1()) > 0.0;
        let mut far = -2.0 * mean / variance;
        for _ in 0..60 {
            if beyond(far) {
                break;
            }
            far *= 2.0;
        }
        if !beyond(far) || !far.is_finite() {
            return None;
        }
        let mut near = 0.0;
        for _ in 0..STEPS {
            let middle = f64::midpoint(near, far);
            if beyond(middle) { far = middle } else { near = middle }
        }
        Some(far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pentanomial, simulation::Random, sprt::Verdict};

    fn test(model: Model, elo1: f64) -> Sprt {
        Sprt::new(model, 0.0, elo1, 0.05, 0.05).unwrap()
    }

    #[test]
    fn the_law_has_the_score_the_draws_and_the_bias_that_are_asked_for() {
        let law = PairLaw::Assumed { draws: 0.3, bias: 0.0 }.at(0.5);
        // Two independent games of 35 % : 30 % : 35 %.
        let expected = [0.1225, 0.21, 0.335, 0.21, 0.1225];
        assert!(law.iter().zip(expected).all(|(p, q)| (p - q).abs() < 1e-12), "{law:?}");
        let biased = PairLaw::Assumed { draws: 0.0, bias: 200.0 }.at(0.5);
        let favoured = score_of_elo(200.0);
        assert!((biased[4] - favoured * (1.0 - favoured)).abs() < 1e-12, "{biased:?}");
        let shown = PairLaw::Shown([10, 20, 40, 20, 10]);
        assert!((moments(&shown.at(0.6)).0 - 0.6).abs() < 1e-12);
        assert!((shown.at(0.5)[2] - 0.4).abs() < 1e-12);
    }

    #[test]
    fn at_its_hypotheses_a_test_errs_as_often_as_it_says() {
        for model in [Model::Normalized, Model::Logistic] {
            let law = PairLaw::Assumed { draws: 0.3, bias: 50.0 };
            let at = |difference| test(model, 5.0).prospect(&law, difference).unwrap().unwrap();
            let [level, low, high] = [at(2.5), at(0.0), at(5.0)];
            assert!(
                (low.passes - 0.05).abs() < 0.002 && (high.passes - 0.95).abs() < 0.002,
                "{low:?} {high:?}"
            );
            assert!((level.passes - 0.5).abs() < 0.01 && level.games > 1.5 * low.games, "{level:?} {low:?}");
        }
    }

    #[test]
    fn without_a_spread_there_is_no_prospect() {
        let law = PairLaw::Assumed { draws: 1.0 - 1e-17, bias: 0.0 };
        assert_eq!(test(Model::Logistic, 5.0).prospect(&law, 0.0), Ok(None));
        let bayes = test(Model::BayesElo, 5.0).prospect(&law, 0.0);
        assert_eq!(bayes, Err(SprtError::BayesEloOfPairs));
    }

    /// Share of tests that accept H1, and their mean number of games, by playing them.
    fn played(test: &Sprt, cells: &[f64; 5], tests: u32) -> (f64, f64) {
        let mut random = Random(11);
        let (mut passed, mut games) = (0.0, 0.0);
        for _ in 0..tests {
            let mut pairs = [0; 5];
            loop {
                pairs[random.pick(cells)] += 1;
                games += 2.0;
                match test.verdict(test.llr(&Pentanomial(pairs).into()).unwrap()) {
                    Verdict::Continue => {}
                    verdict => break passed += f64::from(u8::from(verdict == Verdict::H1)),
                }
            }
        }
        (passed / f64::from(tests), games / f64::from(tests))
    }

    #[test]
    fn played_tests_pass_as_often_and_take_as_long_as_foreseen() {
        let law = PairLaw::Assumed { draws: 0.3, bias: 100.0 };
        for (model, elo1) in [(Model::Normalized, 40.0), (Model::Logistic, 40.0)] {
            let test = test(model, elo1);
            for share in [-0.5, 0.0, 0.5, 1.0, 1.5] {
                let foreseen = test.prospect(&law, share * elo1).unwrap().unwrap();
                let (passed, games) = played(&test, &test.cells(&law, share * elo1).1, 400);
                let slack = 3.0 * (0.25_f64 / 400.0).sqrt();
                assert!((passed - foreseen.passes).abs() < slack, "{foreseen:?}: {passed}");
                assert!((games / foreseen.games - 1.0).abs() < 0.12, "{foreseen:?}: {games}");
            }
        }
    }
}
