//! Ratings of a whole field from all its games at once.

use super::connect::core;
use super::likelihood::{Likelihood, Meeting};
use super::newton::{Errors, FACTORED, Maximum, maximise};
use super::{CrossTable, ELO_PER_NAT, Estimate, Results, Z_95, normal_cdf};
use nalgebra::DVector;
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
    /// Elo of the rated players, prior or not.
    #[serde(skip)]
    elo: DVector<f64>,
    /// Their errors, before the scale.
    #[serde(skip)]
    errors: Errors,
    #[serde(skip)]
    scale: f64,
    /// Place of each player among the rated ones.
    #[serde(skip)]
    places: Vec<Option<usize>>,
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
///
/// Of more than [`MOST_RATED`] players those with the most games are rated, by the games among them.
pub fn fit(table: &CrossTable) -> Ratings {
    rate(table, true)
}

/// Rates a field by the plain model of Bradley and Terry: no advantage of black, a draw is half a win and half a loss.
/// With results weighted by age this is what shogi-server's `mk_rate` does. The prior is that of [`fit`].
pub fn fit_bradley_terry(table: &CrossTable) -> Ratings {
    rate(table, false)
}

/// Most players of a field that are rated.
pub const MOST_RATED: usize = 20_000;
/// Players of the core of a large field against whom the prior has a player outside it play.
const ANCHORS: usize = 16;

fn rate(table: &CrossTable, davidson: bool) -> Ratings {
    rate_most(table, davidson, MOST_RATED)
}

/// Rates so many players at most. `davidson`: with black's advantage and the odds of a draw.
fn rate_most(table: &CrossTable, davidson: bool, limit: usize) -> Ratings {
    if table.players() <= limit {
        return rate_all(table, davidson);
    }
    let games = points(table);
    let mut most: Vec<usize> = (0..table.players()).collect();
    most.sort_by(|&a, &b| games[b].1.total_cmp(&games[a].1));
    let mut places = vec![None; table.players()];
    most.iter().take(limit).enumerate().for_each(|(place, &player)| places[player] = Some(place));
    let mut among = CrossTable::new(limit);
    for (black, white, &results) in table.cells() {
        if let (Some(black), Some(white)) = (places[black], places[white]) {
            // Two players of the table, and counts: nothing that it refuses.
            let _refused = among.add(black, white, results);
        }
    }
    let rated = rate_all(&among, davidson);
    let mut players = without_elo(table);
    for (player, place) in players.iter_mut().zip(&places) {
        player.elo = place.map_or(Estimate::Unknown, |place| rated.players[place].elo);
    }
    Ratings { players, places, ..rated }
}

fn rate_all(table: &CrossTable, davidson: bool) -> Ratings {
    let has = |needed: bool, index: usize| (davidson && needed).then_some(table.players() + index);
    let advantage = has(table.cells().next().is_some(), 0);
    let draw = has(table.cells().any(|(_, _, results)| results.draws > 0.0), 1);
    let core = core(table);
    let meetings = table.cells().map(|(black, white, &results)| Meeting { black, white, results }).collect();
    let likelihood = Likelihood { players: table.players(), meetings, advantage, draw };
    // With both priors the likelihood has a maximum. Only weights beyond floating-point precision (10^16 games beside
    // one) still hide it.
    match exact(&core, likelihood) {
        Some(found) => rated(table, &core, found),
        None => unrated(table),
    }
}

/// What was found of a field, in natural logarithms.
struct Found {
    likelihood: Likelihood,
    at: DVector<f64>,
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
    let Maximum { at, errors } = maximum;
    Some(Found { likelihood, at, errors, identified })
}

/// One game for each player outside the core, against everyone in it, both colours and results alike. In a large field it is
/// against a few of them, other ones for each player, so that none of them rests on it.
fn prior_meetings(core: &[bool]) -> Vec<Meeting> {
    let anchored = core.contains(&true);
    let anchors: Vec<usize> = (0..core.len()).filter(|&player| core[player] == anchored).collect();
    let (all, is_large) = (anchors.len(), core.len() > FACTORED);
    let few = if is_large { ANCHORS.min(all) } else { all };
    // Without a core players are each other's anchors: of a small field each two once.
    let games = match (anchored, is_large) {
        (true, _) => few,
        (false, true) => 2 * few,
        (false, false) => few.saturating_sub(1),
    };
    let weight = 1.0 / games as f64;
    let results = Results { black_wins: weight / 4.0, draws: 0.0, white_wins: weight / 4.0 };
    let mut meetings = Vec::new();
    for (turn, player) in (0..core.len()).filter(|&p| !core[p]).enumerate() {
        let first = if is_large { turn } else { 0 };
        let of_player = (0..few).map(|at| anchors[(first + at * all / few) % all]);
        let is_met = |anchor| if anchored || is_large { anchor != player } else { anchor > player };
        for anchor in of_player.filter(|&anchor| is_met(anchor)) {
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
    let Found { likelihood, at, errors, identified } = found;
    let draw_ratio = likelihood.draw.map(|i| 1.0 / (1.0 + 2.0 * (-at[i]).exp()));
    let scale = ELO_PER_NAT * (1.0 - draw_ratio.unwrap_or(0.0));
    let error = |i: usize| Z_95 * scale * errors.variance(i, None).max(0.0).sqrt();
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
        errors,
        scale,
        places: (0..table.players()).map(Some).collect(),
    }
}

fn unrated(table: &CrossTable) -> Ratings {
    let n = table.players();
    Ratings {
        players: without_elo(table),
        black_advantage: Estimate::Unknown,
        draw_ratio: None,
        elo: DVector::zeros(n),
        errors: Errors::Drawn(vec![]),
        scale: 1.0,
        places: (0..n).map(Some).collect(),
    }
}

/// The players with their games and scores.
fn without_elo(table: &CrossTable) -> Vec<PlayerRating> {
    let player = |(points, games): (f64, f64)| PlayerRating {
        elo: Estimate::Unknown,
        games,
        score: (games > 0.0).then(|| points / games),
    };
    points(table).into_iter().map(player).collect()
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
    /// Variance of the difference of two players' ratings, in Elo squared; none for players who are not rated.
    pub fn variance_between(&self, player: usize, other: usize) -> Option<f64> {
        let place = |player: usize| self.places.get(player).copied().flatten();
        Some(self.errors.variance(place(player)?, Some(place(other)?)) * self.scale.powi(2))
    }

    /// The probability that `player` is stronger than `other` (numbers of the table), given these ratings; none for
    /// players who are not rated or have no game.
    pub fn los(&self, player: usize, other: usize) -> Option<f64> {
        let has_played = |player: usize| self.players.get(player).is_some_and(|player| player.games > 0.0);
        let variance =
            self.variance_between(player, other).filter(|_| has_played(player) && has_played(other))?;
        let ahead = self.elo[self.places[player]?] - self.elo[self.places[other]?];
        Some(if variance > 0.0 { normal_cdf(ahead / variance.sqrt()) } else { 0.5 })
    }
}

#[cfg(test)]
mod tests;
