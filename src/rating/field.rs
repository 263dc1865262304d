//! Ratings of a whole field from all its games at once.

use super::connect::core;
use super::large;
use super::likelihood::{Likelihood, Meeting};
use super::newton::{Maximum, maximise};
use super::{CrossTable, ELO_PER_NAT, Estimate, Results, Z_95, normal_cdf};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

/// Ratings of a field, in Elo; their plain mean is 0.
///
/// Strengths are multiplied by the share of decisive games between equals, so that one Elo more is worth as much
/// score at equality as on the logistic scale; without it many draws would spread the ratings (BayesElo's "scale").
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratings {
    /// By the player numbers of the table.
    pub players: Vec<PlayerRating>,
    /// Advantage of black, in Elo.
    pub black_advantage: Estimate,
    /// The probability of a draw between equals; none if draws count as half a win.
    pub draw_ratio: Option<f64>,
    /// Elo by player, prior or not.
    #[serde(skip)]
    elo: DVector<f64>,
    /// How the errors of `elo` go together.
    #[serde(skip)]
    spread: Spread,
}

/// How the errors of the strengths go together, relative to the field's mean and before `scale`.
#[derive(Clone, Debug, PartialEq)]
struct Spread {
    scale: f64,
    errors: Errors,
}

#[derive(Clone, Debug, PartialEq)]
enum Errors {
    Covariance(DMatrix<f64>),
    /// Of a large field: samples of the errors.
    Samples(Vec<DVector<f64>>),
}

impl Spread {
    /// Variance of the difference of two players' Elo.
    fn between(&self, a: usize, b: usize) -> f64 {
        let variance = match &self.errors {
            Errors::Covariance(c) => c[(a, a)] + c[(b, b)] - 2.0 * c[(a, b)],
            Errors::Samples(samples) => {
                samples.iter().map(|errors| (errors[a] - errors[b]).powi(2)).sum::<f64>()
                    / samples.len() as f64
            }
        };
        variance * self.scale * self.scale
    }
}

/// One player of a field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PlayerRating {
    /// Elo and its 95 % error, both relative to the mean of the field. Tentative where the likelihood has no maximum:
    /// the undefeated, the winless, and those without a chain of results to the core of the field.
    pub elo: Estimate,
    /// Games played, or their weight.
    pub games: f64,
    /// Points a game, 0..=1; none without a game.
    pub score: Option<f64>,
}

/// Rates a field by maximum likelihood over all games: a strength for each player, black's advantage and the odds of a
/// draw (Davidson's model, see the source).
///
/// Where the likelihood has no maximum, and only there, a weak prior stands in and what rests on it is
/// [`Estimate::Tentative`]. Players outside the core of the field (see `connect.rs`) get one game of half a win and half
/// a loss, spread evenly over the core, or over all others where there is none. If black's advantage or the odds of a
/// draw run away (black won every game, all games are drawn) or cannot be told from strength (one player always had
/// black), they get one decisive game between equals, half of it won by each colour.
pub fn fit(table: &CrossTable) -> Ratings {
    fit_with(table, large::SAMPLES)
}

/// [`fit`] with another number of samples for the errors of a large field.
pub(super) fn fit_with(table: &CrossTable, samples: u64) -> Ratings {
    let draws = table.cells().any(|(_, _, results)| results.draws > 0.0);
    let games = table.cells().next().is_some();
    let advantage = games.then_some(table.players());
    let draw = draws.then_some(table.players() + 1);
    rate(table, [advantage, draw], samples)
}

/// Rates a field by the plain model of Bradley and Terry: no advantage of black, a draw is half a win and half a loss.
/// With results weighted by age this is what shogi-server's `mk_rate` does. The prior is that of [`fit`].
pub fn fit_bradley_terry(table: &CrossTable) -> Ratings {
    rate(table, [None; 2], large::SAMPLES)
}

/// Most players whose covariances are kept as a matrix: its inverse costs the cube of their number.
pub(super) const MATRIX_MOST: usize = 400;

fn rate(table: &CrossTable, [advantage, draw]: [Option<usize>; 2], samples: u64) -> Ratings {
    let core = core(table);
    let meetings = table.cells().map(|(black, white, &results)| Meeting { black, white, results }).collect();
    let likelihood = Likelihood { players: table.players(), meetings, advantage, draw };
    let found = match table.players() > MATRIX_MOST {
        true => sampled(&core, likelihood, samples),
        false => exact(&core, likelihood),
    };
    // With both priors the likelihood has a maximum. Only weights beyond floating-point precision (10^16 games beside
    // one) still hide it.
    match found {
        Some(found) => rated(table, &core, found),
        None => unrated(table),
    }
}

/// What was found of a field, in natural logarithms.
struct Found {
    likelihood: Likelihood,
    at: DVector<f64>,
    variance: DVector<f64>,
    errors: Errors,
    /// True if the games alone identify black's advantage and the odds of a draw.
    identified: bool,
}

fn exact(core: &[bool], mut likelihood: Likelihood) -> Option<Found> {
    likelihood.meetings.extend(prior_meetings(core));
    let (maximum, identified) = match maximise(&likelihood) {
        Some(maximum) => (maximum, true),
        None => {
            likelihood.meetings.extend(equal_meeting(likelihood.players));
            (maximise(&likelihood)?, false)
        }
    };
    let Maximum { at, covariance } = maximum;
    let errors = Errors::Covariance(covariance.view((0, 0), (core.len(), core.len())).into_owned());
    Some(Found { variance: covariance.diagonal(), likelihood, at, errors, identified })
}

fn sampled(core: &[bool], mut likelihood: Likelihood, samples: u64) -> Option<Found> {
    let won = |by: fn(&Results) -> f64| likelihood.meetings.iter().any(|meeting| by(&meeting.results) > 0.0);
    let identified = won(|results| results.black_wins) && won(|results| results.white_wins);
    likelihood.meetings.extend(equal_meeting(likelihood.players));
    let large::Maximum { at, variance, samples } =
        large::Field { likelihood: &likelihood, core, samples }.maximise()?;
    Some(Found { likelihood, at, variance, errors: Errors::Samples(samples), identified })
}

/// One game for each player outside the core, against everyone in it, both colours and results alike.
fn prior_meetings(core: &[bool]) -> Vec<Meeting> {
    let anchored = core.contains(&true);
    let mut meetings = Vec::new();
    for player in (0..core.len()).filter(|&p| !core[p]) {
        let anchors: Vec<usize> =
            (0..core.len()).filter(|&a| a != player && (core[a] || !anchored)).collect();
        // Without a core every pair is visited from both sides.
        let weight = if anchored { 1.0 } else { 0.5 } / anchors.len() as f64;
        let results = Results { black_wins: weight / 4.0, draws: 0.0, white_wins: weight / 4.0 };
        for anchor in anchors {
            meetings.push(Meeting { black: player, white: anchor, results });
            meetings.push(Meeting { black: anchor, white: player, results });
        }
    }
    meetings
}

/// One decisive game between equals. A player against itself is such a game: its strength cancels out.
fn equal_meeting(players: usize) -> Option<Meeting> {
    let results = Results { black_wins: 0.5, draws: 0.0, white_wins: 0.5 };
    (players > 0).then_some(Meeting { black: 0, white: 0, results })
}

fn rated(table: &CrossTable, core: &[bool], found: Found) -> Ratings {
    let Found { likelihood, at, variance, errors, identified } = found;
    let draw_ratio = likelihood.draw.map(|i| 1.0 / (1.0 + 2.0 * (-at[i]).exp()));
    let scale = ELO_PER_NAT * (1.0 - draw_ratio.unwrap_or(0.0));
    let error = |i: usize| Z_95 * scale * variance[i].max(0.0).sqrt();
    let estimate = |i: usize, bounded: bool| match bounded {
        true => Estimate::Measured { value: scale * at[i], error: Some(error(i)) },
        false => Estimate::Tentative { value: scale * at[i], error: error(i) },
    };
    let players = points(table)
        .into_iter()
        .enumerate()
        .map(|(i, (points, games))| PlayerRating {
            elo: if games > 0.0 { estimate(i, core[i]) } else { Estimate::Unknown },
            games,
            score: (games > 0.0).then(|| points / games),
        })
        .collect();
    Ratings {
        players,
        black_advantage: likelihood.advantage.map_or(Estimate::Unknown, |i| estimate(i, identified)),
        draw_ratio: likelihood.advantage.map(|_| draw_ratio.unwrap_or(0.0)),
        elo: at.rows(0, table.players()) * scale,
        spread: Spread { scale, errors },
    }
}

fn unrated(table: &CrossTable) -> Ratings {
    let n = table.players();
    let player = |(points, games): (f64, f64)| PlayerRating {
        elo: Estimate::Unknown,
        games,
        score: (games > 0.0).then(|| points / games),
    };
    Ratings {
        players: points(table).into_iter().map(player).collect(),
        black_advantage: Estimate::Unknown,
        draw_ratio: None,
        elo: DVector::zeros(n),
        spread: Spread { scale: 0.0, errors: Errors::Samples(vec![DVector::zeros(n)]) },
    }
}

/// Points and games by player.
fn points(table: &CrossTable) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 0.0); table.players()];
    for (black, white, results) in table.cells() {
        sums[black].0 += results.black_wins + results.draws / 2.0;
        sums[white].0 += results.white_wins + results.draws / 2.0;
        sums[black].1 += results.games();
        sums[white].1 += results.games();
    }
    sums
}

impl Ratings {
    /// Variance of the difference of two players' ratings, in Elo squared; none for players outside the table.
    #[must_use]
    pub fn variance_between(&self, player: usize, other: usize) -> Option<f64> {
        let inside = player < self.players.len() && other < self.players.len();
        inside.then(|| self.spread.between(player, other))
    }

    /// The probability that `player` is stronger than `other` (numbers of the table), given these ratings; none for
    /// players outside the table or without a game.
    pub fn los(&self, player: usize, other: usize) -> Option<f64> {
        let has_played = |player: usize| self.players.get(player).is_some_and(|player| player.games > 0.0);
        (has_played(player) && has_played(other)).then(|| {
            let variance = self.spread.between(player, other);
            let ahead = self.elo[player] - self.elo[other];
            if variance > 0.0 { normal_cdf(ahead / variance.sqrt()) } else { 0.5 }
        })
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod large_tests;
