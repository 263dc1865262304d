//! The search for the commit that lost strength, by the probability of each commit given all games so far.
//!
//! A hypothesis says that the loss came with commit `k` and is `L` Elo, or that nothing was lost. Every game is one of a
//! commit's program against that of the good commit, so it speaks for each hypothesis at once, and none is thrown away:
//! this is what a sequence of tests with a verdict each does not do (R. Waeber, P. Frazier, S. Henderson, "Bisection
//! search with noisy responses", SIAM J. Control Optim. 51, 2013). Next plays the commit whose games are expected to
//! say most about `k`.
//!
//! Results are pairs of games with colours swapped, whose mean score is taken as normal, with the variance of all
//! pairs together.

use contest::standings::Pentanomial;
use referee::rating::score_of_elo;
use std::collections::BTreeMap;

/// Sizes of a loss that are told apart, from [`LEAST_ELO`] to [`MOST_ELO`] in equal ratios.
const SIZES: usize = 28;
/// The least loss in Elo: a smaller one counts as none.
const LEAST_ELO: f64 = 5.0;
/// The greatest loss in Elo; a greater one looks like it.
const MOST_ELO: f64 = 800.0;
/// How far the loss may be from what is expected, as the logarithm of their ratio; its distribution (Student's t with three
/// degrees of freedom, scaled) has tails, so that a loss of another size costs games and not the answer.
const SPREAD: f64 = 0.3;
/// Probability before the first game that nothing was lost.
const NOTHING_LOST: f64 = 0.05;
/// Variance of the mean score of a pair of independent games without draws, and the number of pairs that it is worth
/// before there are others.
const VARIANCE: (f64, f64) = (0.125, 4.0);
/// Points at which the density of a result is taken.
const POINTS: usize = 48;

/// Pairs of a program in a row that repeat earlier ones, after which no more of its games are played.
const ENOUGH_REPEATS: u64 = 16;

/// What is known of a commit's build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Build {
    /// Not tried yet.
    #[default]
    Unknown,
    /// It does not build.
    Failed,
    /// Its program, by a number; the good commit's is [`GOOD`].
    Program(usize),
}

/// Number of the good commit's program.
pub const GOOD: usize = 0;

/// The state of a search: commits in order, those after the good one up to the bad one.
#[derive(Clone, Debug)]
pub struct Bisection {
    builds: Vec<Build>,
    /// Pairs of each program against the good one, from its side, by the program's number.
    results: Vec<Pentanomial>,
    /// What the games of each program have brought, by its number.
    seen: BTreeMap<usize, Seen>,
    /// Losses in Elo, each with its probability before the first game.
    sizes: Vec<(f64, f64)>,
}

/// Pairs of a program.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    played: u64,
    distinct: u64,
    /// Pairs since the last distinct one.
    repeats: u64,
}

/// Probabilities given the games so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// For each commit: the loss came with it.
    pub commits: Vec<f64>,
    /// Nothing was lost.
    pub nothing: f64,
    /// Expected loss in Elo, if there is one.
    pub loss: f64,
    /// For each commit and size of the loss.
    joint: Vec<Vec<f64>>,
}

/// What a search has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// The loss came with one of the commits `first..=last`; they are several where those between do not build.
    Lost {
        /// The first of them.
        first: usize,
        /// The last of them.
        last: usize,
        /// The probability.
        probability: f64,
    },
    /// Nothing was lost, with this probability.
    Nothing(f64),
}

impl Bisection {
    /// A search among `commits` commits, of which the last is the bad one, for a loss of about `expected` Elo.
    pub fn new(commits: usize, expected: f64) -> Self {
        let expected = expected.clamp(LEAST_ELO, MOST_ELO);
        let shares = |at: usize| {
            let elo = LEAST_ELO * (MOST_ELO / LEAST_ELO).powf(at as f64 / (SIZES - 1) as f64);
            (elo, (1.0 + ((elo / expected).ln() / SPREAD).powi(2)).powi(-2))
        };
        let sum: f64 = (0..SIZES).map(|at| shares(at).1).sum();
        let sizes = (0..SIZES).map(shares).map(|(elo, share)| (elo, share / sum)).collect();
        Self { builds: vec![Build::Unknown; commits], results: vec![[0; 5]], seen: BTreeMap::new(), sizes }
    }

    /// Notes how a commit builds. Commits of one program are on the same side of the loss.
    pub fn set_build(&mut self, commit: usize, build: Build) {
        self.builds[commit] = build;
        if let Build::Program(number) = build {
            self.results.resize(self.results.len().max(number + 1), [0; 5]);
        }
    }

    /// How a commit builds, as far as it is known.
    pub fn build(&self, commit: usize) -> Build {
        self.builds[commit]
    }

    /// Notes all pairs of a program so far, from its side.
    pub fn set_results(&mut self, program: usize, pairs: Pentanomial) {
        self.results.resize(self.results.len().max(program + 1), [0; 5]);
        self.results[program] = pairs;
    }

    /// Notes how many pairs a program has played by now, repeated or not, after its results.
    pub fn set_played(&mut self, program: usize, played: u64) {
        let distinct = self.results[program].iter().sum();
        let seen = self.seen.entry(program).or_default();
        let repeats =
            if seen.distinct == distinct { seen.repeats + played.saturating_sub(seen.played) } else { 0 };
        *seen = Seen { played, distinct, repeats };
    }

    /// True if the last pairs of a program only repeated earlier ones: more of them say nothing.
    pub fn is_used_up(&self, program: usize) -> bool {
        self.seen.get(&program).is_some_and(|seen| seen.repeats >= ENOUGH_REPEATS)
    }

    /// True if there is a program of which no more games are played because they would only repeat others.
    pub fn has_used_up(&self) -> bool {
        self.seen.keys().any(|program| self.is_used_up(*program))
    }

    /// Games that were noted: those of distinct pairs.
    pub fn games(&self) -> u64 {
        self.results.iter().flatten().map(|pairs| 2 * pairs).sum()
    }

    /// The probabilities given all games so far.
    pub fn posterior(&self) -> Posterior {
        let possible: Vec<bool> = (0..self.builds.len()).map(|commit| self.is_possible(commit)).collect();
        let number = possible.iter().filter(|possible| **possible).count().max(1);
        let prior = (1.0 - NOTHING_LOST) / number as f64;
        let tested = self.tested();
        let variance = self.variance();
        let log =
            |sample: &Sample, score: f64| -(sample.pairs * (sample.mean - score).powi(2)) / (2.0 * variance);
        let unchanged: Vec<f64> = tested.iter().map(|(_, sample)| log(sample, 0.5)).collect();
        let mut logs = vec![vec![f64::NEG_INFINITY; SIZES]; self.builds.len()];
        for (at, (loss, share)) in self.sizes.iter().enumerate() {
            let lost: Vec<f64> = tested.iter().map(|(_, sample)| log(sample, score_of_elo(-loss))).collect();
            for commit in (0..logs.len()).filter(|commit| possible[*commit]) {
                let sides = tested.iter().zip(unchanged.iter().zip(&lost));
                let all: f64 =
                    sides.map(|((i, _), (before, after))| if *i < commit { before } else { after }).sum();
                logs[commit][at] = (prior * share).ln() + all;
            }
        }
        let nothing = NOTHING_LOST.ln() + unchanged.iter().sum::<f64>();
        self.normalized(logs, nothing)
    }

    fn normalized(&self, mut logs: Vec<Vec<f64>>, nothing: f64) -> Posterior {
        let most = logs.iter().flatten().copied().fold(nothing, f64::max);
        logs.iter_mut().flatten().for_each(|log| *log = (*log - most).exp());
        let nothing = (nothing - most).exp();
        let sum = nothing + logs.iter().flatten().sum::<f64>();
        logs.iter_mut().flatten().for_each(|weight| *weight /= sum);
        let commits: Vec<f64> = logs.iter().map(|sizes| sizes.iter().sum()).collect();
        let lost: f64 = commits.iter().sum();
        let elo = |sizes: &Vec<f64>| sizes.iter().zip(&self.sizes).map(|(p, (elo, _))| p * elo).sum::<f64>();
        let loss = logs.iter().map(elo).sum::<f64>() / lost.max(f64::MIN_POSITIVE);
        Posterior { commits, nothing: nothing / sum, loss, joint: logs }
    }

    /// True if the loss can have come with a commit: no two commits of one program lie on both sides of it.
    fn is_possible(&self, commit: usize) -> bool {
        let (before, after) = self.builds.split_at(commit);
        let programs = |builds: &[Build]| -> Vec<usize> {
            builds
                .iter()
                .filter_map(|build| if let Build::Program(n) = build { Some(*n) } else { None })
                .collect()
        };
        let (before, after) = (programs(before), programs(after));
        !after.iter().any(|program| *program == GOOD || before.contains(program))
    }

    /// The programs that were played, each with the first commit that builds it.
    fn tested(&self) -> Vec<(usize, Sample)> {
        let of = |(number, pairs): (usize, &Pentanomial)| {
            let sample = Sample::of(pairs)?;
            let commit = self.builds.iter().position(|build| *build == Build::Program(number))?;
            Some((commit, sample))
        };
        self.results.iter().enumerate().skip(1).filter_map(of).collect()
    }

    /// Variance of the mean score of a pair, within programs.
    fn variance(&self) -> f64 {
        let samples = self.results.iter().filter_map(Sample::of);
        let (squares, pairs) = samples
            .fold((VARIANCE.0 * VARIANCE.1, VARIANCE.1), |(squares, pairs), sample| {
                (squares + sample.squares, pairs + sample.pairs)
            });
        squares / pairs
    }

    /// The commit to play next, `pairs` pairs of games: the one whose games are expected to say most. `None` if there is
    /// nothing left to try.
    pub fn next(&self, posterior: &Posterior, pairs: u64) -> Option<usize> {
        let gains = self.gains(posterior, pairs);
        let open = (0..gains.len()).filter(|commit| match self.builds[*commit] {
            Build::Unknown => true,
            Build::Failed => false,
            Build::Program(number) => number != GOOD && !self.is_used_up(number),
        });
        open.max_by(|a, b| gains[*a].total_cmp(&gains[*b]).then(b.cmp(a)))
    }

    /// For each commit: what a result of its next games is expected to say about where the loss came, in nats.
    fn gains(&self, posterior: &Posterior, pairs: u64) -> Vec<f64> {
        let deviation = (self.variance() / pairs.max(1) as f64).sqrt();
        let scores: Vec<f64> = self.sizes.iter().map(|(loss, _)| score_of_elo(-loss)).collect();
        let low = scores.last().copied().unwrap_or(0.0) - 4.0 * deviation;
        let step = (0.5 + 4.0 * deviation - low) / POINTS as f64;
        let density = |score: f64| -> [f64; POINTS] {
            let bell =
                |at: usize| (-((low + (at as f64 + 0.5) * step - score) / deviation).powi(2) / 2.0).exp();
            let heights: [f64; POINTS] = std::array::from_fn(bell);
            let sum: f64 = heights.iter().sum();
            heights.map(|height| height / sum.max(f64::MIN_POSITIVE))
        };
        let unchanged = density(0.5);
        let lost: Vec<_> = scores.iter().map(|score| density(*score)).collect();
        let (mut mixed, mut known, mut mass) = ([0.0; POINTS], 0.0, 0.0);
        let mut gains = vec![];
        for (sizes, commit) in posterior.joint.iter().zip(&posterior.commits) {
            let mut own = [0.0; POINTS];
            for (weight, density) in sizes.iter().zip(&lost) {
                own.iter_mut().zip(density).for_each(|(own, height)| *own += weight * height);
            }
            if *commit > 0.0 {
                known += commit * entropy(&own.map(|height| height / commit));
            }
            mixed.iter_mut().zip(own).for_each(|(mixed, own)| *mixed += own);
            mass += commit;
            let rest = (1.0 - mass).max(0.0);
            let all: [f64; POINTS] = std::array::from_fn(|at| mixed[at] + rest * unchanged[at]);
            gains.push(entropy(&all) - known - rest * entropy(&unchanged));
        }
        gains
    }

    /// What is found with at least this probability.
    pub fn found(&self, posterior: &Posterior, confidence: f64) -> Option<Found> {
        if posterior.nothing >= confidence {
            return Some(Found::Nothing(posterior.nothing));
        }
        let likeliest = self.likeliest(posterior);
        matches!(likeliest, Found::Lost { probability, .. } if probability >= confidence).then_some(likeliest)
    }

    /// The likeliest place of the loss, however likely it is. Commits whose border does not build are one place.
    pub fn likeliest(&self, posterior: &Posterior) -> Found {
        let (mut best, mut first, mut probability) = ((0, 0, 0.0), 0, 0.0);
        for (last, build) in self.builds.iter().enumerate() {
            probability += posterior.commits[last];
            if *build == Build::Failed {
                continue;
            }
            if probability > best.2 {
                best = (first, last, probability);
            }
            (first, probability) = (last + 1, 0.0);
        }
        let (first, last, probability) = best;
        // A commit that cannot be guilty does not belong to the place.
        let first = (first..=last).find(|commit| posterior.commits[*commit] > 0.0).unwrap_or(first);
        Found::Lost { first, last, probability }
    }
}

/// The pairs of a program: their number, mean score (0 to 1) and sum of squares about it.
#[derive(Clone, Copy, Debug)]
struct Sample {
    pairs: f64,
    mean: f64,
    squares: f64,
}

impl Sample {
    /// `None` without pairs.
    fn of(counts: &Pentanomial) -> Option<Self> {
        let pairs = counts.iter().sum::<u64>() as f64;
        let cells = || counts.iter().enumerate().map(|(at, count)| (*count as f64, at as f64 / 4.0));
        let mean = cells().map(|(count, score)| count * score).sum::<f64>() / pairs;
        let squares = cells().map(|(count, score)| count * (score - mean).powi(2)).sum();
        (pairs > 0.0).then_some(Self { pairs, mean, squares })
    }
}

/// Entropy of a distribution, in nats.
fn entropy(weights: &[f64]) -> f64 {
    -weights.iter().filter(|weight| **weight > 0.0).map(|weight| weight * weight.ln()).sum::<f64>()
}

#[cfg(test)]
mod tests;
