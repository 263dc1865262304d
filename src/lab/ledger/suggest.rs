//! Which encounter to play next.
//!
//! The information of one game about the difference of two players is `(ds/dElo)^2 / Var(score)` at their ratings. A game
//! between i and j that brings the information w changes the covariance C of all ratings by
//! `- w (C d)(C d)' / (1 + w d'Cd)` with d = e_i - e_j (the formula of Sherman and Morrison), so that what it gains for any
//! question is known before it is played.

use super::{Group, Rated};
use referee::rating::{ELO_PER_NAT, Z_95, score_of_elo};
use serde::Serialize;
use std::cmp::Ordering;

/// Games of an encounter whose gain is computed.
const GAMES: f64 = 100.0;
/// Most players between whom encounters are looked for: those with the widest intervals.
const MAX_PLAYERS: usize = 120;

/// What shall be known better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The difference of two players, by their numbers in [`crate::Ledger::nodes`].
    Difference(usize, usize),
    /// The ratings of all, relative to their mean.
    Everyone,
}

/// An encounter that is worth its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// The two players' numbers in [`crate::Ledger::nodes`].
    pub players: [usize; 2],
    /// Half the 95 % interval of what is aimed at now, in Elo; of everyone the root of the mean square.
    pub error: f64,
    /// The same after 100 more games of this encounter, if the ratings are right.
    pub error_after: f64,
    /// Seconds of such a game, where games of the ledger tell.
    pub seconds: Option<f64>,
}

impl Rated {
    /// The encounters to play next, as [`Group::suggest`] finds them among the players that `aim` is about; for everyone
    /// in the set with most games.
    pub fn suggest(&self, aim: Aim, may_meet: impl Fn(usize, usize) -> bool, most: usize) -> Vec<Suggestion> {
        let about = match aim {
            Aim::Difference(player, _) => Some(player),
            Aim::Everyone => None,
        };
        let group = match about {
            Some(player) => self.groups.iter().find(|group| group.nodes.contains(&player)),
            None => self.groups.first(),
        };
        group.map(|group| group.suggest(aim, may_meet, most)).unwrap_or_default()
    }
}

impl Group {
    /// The encounters that shrink the error of `aim` most per second of playing, the best first; at most `most`. Players
    /// at different clocks do not meet, nor do those whose difference nothing bounds.
    pub fn suggest(&self, aim: Aim, may_meet: impl Fn(usize, usize) -> bool, most: usize) -> Vec<Suggestion> {
        let Some(errors) = Errors::of(self, aim) else { return vec![] };
        let mut found: Vec<(f64, Suggestion)> = vec![];
        for (at, &i) in errors.players.iter().enumerate() {
            for &j in &errors.players[at + 1..] {
                if may_meet(self.nodes[i], self.nodes[j])
                    && let Some(suggestion) = errors.suggestion(self, i, j)
                {
                    let gain = suggestion.error.powi(2) - suggestion.error_after.powi(2);
                    found.push((gain / suggestion.seconds.unwrap_or(1.0), suggestion));
                }
            }
        }
        found.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        found.into_iter().take(most).map(|(_, suggestion)| suggestion).collect()
    }
}

/// The errors of a group, and what is asked of them.
struct Errors {
    /// By numbers of the ratings.
    aim: Aim,
    /// Numbers of players between whom encounters are looked for.
    players: Vec<usize>,
    /// Variances of the differences of all players, and their means by player.
    between: Vec<Vec<f64>>,
    means: Vec<f64>,
    variance: f64,
}

impl Errors {
    /// `None` where the aim lies outside the group, or is not bounded by its games.
    fn of(group: &Group, aim: Aim) -> Option<Self> {
        let number = |node: usize| group.nodes.iter().position(|&other| other == node);
        let aim = match aim {
            Aim::Difference(a, b) => Aim::Difference(number(a)?, number(b)?),
            Aim::Everyone => Aim::Everyone,
        };
        let wanted = match aim {
            Aim::Difference(a, b) => vec![a, b],
            Aim::Everyone => vec![],
        };
        let mut players: Vec<usize> = (0..group.nodes.len())
            .filter(|&at| group.ratings.players[at].elo.is_bounded() || wanted.contains(&at))
            .collect();
        let error = |at: &usize| group.ratings.players[*at].elo.error().unwrap_or_default();
        players.sort_by(|a, b| error(b).total_cmp(&error(a)));
        players.sort_by_key(|at| !wanted.contains(at));
        players.truncate(MAX_PLAYERS);
        players.sort_unstable();
        let count = players.len();
        let pair = |&a: &usize, &b: &usize| group.ratings.variance_between(a, b).unwrap_or_default();
        let between: Vec<Vec<f64>> =
            players.iter().map(|a| players.iter().map(|b| pair(a, b)).collect()).collect();
        let means: Vec<f64> = between.iter().map(|row| row.iter().sum::<f64>() / count as f64).collect();
        let mut errors = Self { aim, players, between, means, variance: 0.0 };
        errors.variance = errors.variance_now()?;
        (errors.variance > 0.0).then_some(errors)
    }

    fn at(&self, player: usize) -> Option<usize> {
        self.players.iter().position(|&other| other == player)
    }

    /// Variance of what is aimed at; of everyone the mean of the players' variances.
    fn variance_now(&self) -> Option<f64> {
        match self.aim {
            Aim::Difference(a, b) => Some(self.between[self.at(a)?][self.at(b)?]),
            Aim::Everyone => Some(self.about_mean()),
        }
    }

    /// The mean of the players' variances about their mean: half of that of the variances of their differences.
    fn about_mean(&self) -> f64 {
        self.means.iter().sum::<f64>() / self.means.len().max(1) as f64 / 2.0
    }

    /// How the rating of k goes together with the difference of i and j, relative to the mean of all.
    fn covariance(&self, k: usize, [i, j]: [usize; 2]) -> f64 {
        (self.between[k][j] - self.between[k][i] + self.means[i] - self.means[j]) / 2.0
    }

    fn suggestion(&self, group: &Group, i: usize, j: usize) -> Option<Suggestion> {
        let [a, b] = [self.at(i)?, self.at(j)?];
        let elo = |at: usize| group.ratings.players[at].elo.value();
        let score = score_of_elo(elo(i)? - elo(j)?);
        let draws = group.ratings.draw_ratio.unwrap_or(0.0).min(0.99);
        // Draws carry less of a difference than decisive games, and the scale of the ratings is drawn together by them.
        let information = score * (1.0 - score) / ELO_PER_NAT.powi(2) / (1.0 - draws) * GAMES;
        let along = match self.aim {
            Aim::Difference(p, q) => {
                let both = [self.at(p)?, self.at(q)?].map(|k| self.covariance(k, [a, b]));
                (both[0] - both[1]).powi(2)
            }
            Aim::Everyone => {
                let squares = (0..self.players.len()).map(|k| self.covariance(k, [a, b]).powi(2));
                squares.sum::<f64>() / self.players.len() as f64
            }
        };
        let gain = information * along / (1.0 + information * self.between[a][b]);
        let wide = |variance: f64| Z_95 * variance.max(0.0).sqrt();
        let seconds = group.seconds.of_pair.get(&(i.min(j), i.max(j))).copied().or(group.seconds.of_any);
        Some(Suggestion {
            players: [group.nodes[i], group.nodes[j]],
            error: wide(self.variance),
            error_after: wide(self.variance - gain),
            seconds,
        })
    }
}
