//! Information: the encounters whose games shrink the errors of all ratings most.
//!
//! "Why was I paired so": a round has half as many encounters as there are players. They are chosen one after the other
//! when the round begins, from the results of the rounds before: each is the one of all pairs that takes most off the sum
//! of the variances of all strengths, those that were chosen before it counted as played. So a player may be in several
//! encounters of a round, or in none. Between pairs that are worth the same a lot decides.
//!
//! - Strengths are those of the maximum likelihood, with one game against the field beside the real ones, half won and half
//!   lost, so that the first results are not believed too much.
//! - A game says `s (1 - s)` about a difference, where s is the expected score: most between equals. Two players count as
//!   equal until their difference is known to be another: the difference is taken as the end of its 95 % interval that is
//!   nearer to zero, for a choice by differences that are noise makes the noise last.
//! - What an encounter with the information w takes off is `w |C d|^2 / (1 + w d'Cd)`, with the covariance C of the
//!   strengths and d = e_i - e_j (the formula of J. Sherman and W. Morrison).
//!
//! The player who had black less often has it in the first game, or a lot decides. Everything follows from the results and
//! the seed, so a resumed run computes the same encounters. A player who has withdrawn is not chosen while two others are
//! left.

use super::{
    lot::{lot, mixed},
    step::{Step, pick},
    swiss::Entered,
    table::Table,
};
use crate::standings::{Encounter, Ranges};
use nalgebra::{DMatrix, DVector};
use referee::{
    ids::PlayerId,
    rating::{CrossTable, ELO_PER_NAT, Results, Z_95, fit, score_of_elo},
};
use std::collections::BTreeMap;

/// Information of the game against the field that everybody has beside the real ones, in games between equals.
const PRIOR: f64 = 0.25;
/// A gain that is larger by less than this share is the same: rounding must not decide instead of the lot.
const SAME: f64 = 1e-9;

pub(super) fn encounters(entrants: usize, rounds: u32) -> u64 {
    (entrants as u64 / 2).saturating_mul(u64::from(rounds))
}

/// The current round.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// Number of complete rounds.
    complete: u32,
    /// Encounters of the round; empty until they are chosen.
    tables: Vec<Table<PlayerId>>,
}

impl Round {
    pub(super) fn step(&mut self, rounds: u32, of: &Entered<'_>, issued: &Ranges) -> Step {
        let games = of.entrants.len() as u64 / 2 * of.stage.stride();
        while self.complete < rounds && games > 0 {
            let window = u64::from(self.complete) * games..u64::from(self.complete + 1) * games;
            if of.progress.finished.first_absent(window.start) >= window.end {
                *self = Self { complete: self.complete + 1, ..Self::default() };
                continue;
            }
            if self.tables.is_empty() {
                self.tables = Field::new(of, self.complete + 1).choose();
            }
            return pick(window, issued, of.progress).map_or(Step::Wait, Step::Play);
        }
        Step::Over
    }

    pub(super) fn table(&self, encounter: u64) -> Option<Table<PlayerId>> {
        let tables = self.tables.len() as u64;
        let at = encounter.checked_sub(u64::from(self.complete) * tables)?;
        self.tables.get(usize::try_from(at).ok()?).copied()
    }
}

/// The entrants before a round, by their seats.
struct Field<'a> {
    of: &'a Entered<'a>,
    round: u32,
    /// Information of a game of each pair.
    of_game: DMatrix<f64>,
    /// Seats in an order drawn by lot, without those who have withdrawn.
    order: Vec<usize>,
    /// Games with black.
    blacks: Vec<u64>,
    covariance: DMatrix<f64>,
    /// Its square.
    square: DMatrix<f64>,
}

impl<'a> Field<'a> {
    fn new(of: &'a Entered<'a>, round: u32) -> Self {
        let entrants = of.entrants;
        let seats: BTreeMap<PlayerId, usize> = entrants.iter().copied().zip(0..).collect();
        let until = u64::from(round - 1) * (entrants.len() as u64 / 2);
        let seated = |encounter: &Encounter| {
            let [first, second] = encounter.players;
            Some(([*seats.get(&first)?, *seats.get(&second)?], *encounter))
        };
        let met: Vec<([usize; 2], Encounter)> =
            of.progress.encounters.range(..until).filter_map(|(_, encounter)| seated(encounter)).collect();
        let strengths = strengths(entrants.len(), &met);
        let apart = |a: usize, b: usize| (strengths[a] - strengths[b]).abs();
        let first =
            covariance(&met, &DMatrix::from_fn(entrants.len(), entrants.len(), |a, b| of_game(apart(a, b))));
        let of_game = DMatrix::from_fn(entrants.len(), entrants.len(), |a, b| {
            let error = Z_95 * ELO_PER_NAT * across(&first, a, b).max(0.0).sqrt();
            of_game((apart(a, b) - error).max(0.0))
        });
        let covariance = covariance(&met, &of_game);
        let mut blacks = vec![0; entrants.len()];
        for ([a, b], encounter) in &met {
            let [first, second] = encounter.blacks();
            blacks[*a] += first;
            blacks[*b] += second;
        }
        let square = &covariance * &covariance;
        let order = order(of, round);
        Self { of, round, of_game, order, blacks, covariance, square }
    }

    fn choose(mut self) -> Vec<Table<PlayerId>> {
        let games = self.of.stage.encounter_games();
        (0..self.of.entrants.len() / 2)
            .filter_map(|table| {
                let (a, b) = self.best()?;
                self.count(a, b);
                let (black, white) = match self.blacks[a].cmp(&self.blacks[b]) {
                    std::cmp::Ordering::Less => (a, b),
                    std::cmp::Ordering::Greater => (b, a),
                    std::cmp::Ordering::Equal
                        if lot(mixed(self.of.seed, u64::from(self.round)), table as u64) =>
                    {
                        (a, b)
                    }
                    std::cmp::Ordering::Equal => (b, a),
                };
                self.blacks[black] += games.div_ceil(2);
                self.blacks[white] += games / 2;
                Table { round: self.round, black, white }.seated(self.of.entrants)
            })
            .collect()
    }

    /// The pair whose encounter takes most off the sum of the variances.
    fn best(&self) -> Option<(usize, usize)> {
        let mut best: Option<(f64, (usize, usize))> = None;
        for (at, &a) in self.order.iter().enumerate() {
            for &b in &self.order[at + 1..] {
                let gain = self.gain(a, b);
                if best.is_none_or(|(most, _)| gain > most * (1.0 + SAME)) {
                    best = Some((gain, (a, b)));
                }
            }
        }
        best.map(|(_, pair)| pair)
    }

    /// The information of an encounter.
    fn weight(&self, a: usize, b: usize) -> f64 {
        self.of.stage.encounter_games() as f64 * self.of_game[(a, b)]
    }

    fn gain(&self, a: usize, b: usize) -> f64 {
        let weight = self.weight(a, b);
        weight * across(&self.square, a, b) / (1.0 + weight * across(&self.covariance, a, b))
    }

    /// Counts an encounter as played.
    fn count(&mut self, a: usize, b: usize) {
        let weight = self.weight(a, b);
        let along: DVector<f64> = self.covariance.column(a) - self.covariance.column(b);
        let share = weight / (1.0 + weight * (along[a] - along[b]));
        let moved = &self.covariance * &along;
        self.covariance -= share * &along * along.transpose();
        self.square -= share * (&moved * along.transpose() + &along * moved.transpose());
        self.square += share * share * along.norm_squared() * &along * along.transpose();
    }
}

/// The information of one game at a difference in Elo.
fn of_game(elo: f64) -> f64 {
    let score = score_of_elo(elo);
    score * (1.0 - score)
}

/// The square form of a matrix with e_a - e_b.
fn across(matrix: &DMatrix<f64>, a: usize, b: usize) -> f64 {
    matrix[(a, a)] + matrix[(b, b)] - 2.0 * matrix[(a, b)]
}

/// The covariance of all strengths, in natural logarithms, after the encounters that were played.
fn covariance(met: &[([usize; 2], Encounter)], of_game: &DMatrix<f64>) -> DMatrix<f64> {
    let players = of_game.nrows();
    let mut information = DMatrix::from_diagonal_element(players, players, PRIOR);
    for &([a, b], encounter) in met {
        let weight = (encounter.games() - encounter.left_out) as f64 * of_game[(a, b)];
        information[(a, a)] += weight;
        information[(b, b)] += weight;
        information[(a, b)] -= weight;
        information[(b, a)] -= weight;
    }
    // The prior makes it positive definite.
    information.try_inverse().unwrap_or_else(|| DMatrix::identity(players, players))
}

/// The strengths of all, in Elo.
fn strengths(players: usize, met: &[([usize; 2], Encounter)]) -> Vec<f64> {
    let mut table = CrossTable::new(players);
    let half = 0.5 / players.max(2) as f64;
    // Two players of the table, and counts: nothing that it refuses.
    for black in 0..players {
        for white in 0..black {
            let _refused =
                table.add(black, white, Results { black_wins: half, draws: 0.0, white_wins: half });
        }
    }
    for &([first, second], Encounter { as_black, as_white, .. }) in met {
        let results = |wins: u64, draws: u64, losses: u64| Results {
            black_wins: wins as f64,
            draws: draws as f64,
            white_wins: losses as f64,
        };
        let _refused = table.add(first, second, results(as_black.wins, as_black.draws, as_black.losses));
        let _refused = table.add(second, first, results(as_white.losses, as_white.draws, as_white.wins));
    }
    fit(&table).players.iter().map(|player| player.elo.value().unwrap_or(0.0)).collect()
}

/// The seats in an order drawn by lot, without those who have withdrawn if two others are left.
fn order(of: &Entered<'_>, round: u32) -> Vec<usize> {
    let draw = mixed(of.seed, u64::from(round));
    let mut order: Vec<usize> = (0..of.entrants.len()).collect();
    order.sort_by_key(|&seat| mixed(draw, u64::from(of.entrants[seat].0)));
    let plays = |seat: &usize| !of.arbitration.is_out(of.entrants[*seat], of.when(round));
    let playing: Vec<usize> = order.iter().copied().filter(plays).collect();
    if playing.len() < 2 { order } else { playing }
}
