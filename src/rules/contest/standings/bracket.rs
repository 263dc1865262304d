//! The bracket of a knock-out stage, resolved from its results.

use super::{Encounter, Progress};
use crate::stage::{Format, Stage, Tie};
use referee::ids::PlayerId;
use serde::Serialize;

/// A seat of the bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
    /// Not decided.
    Open,
    /// Without a player: the number of entrants is no power of two.
    Empty,
    /// The entrant with this index.
    Taken(usize),
}

/// An encounter that is decided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decided {
    /// Its round, from 1.
    pub round: u32,
    /// The winner and the loser.
    pub players: [PlayerId; 2],
    /// Points of both, a win being one.
    pub points: [f64; 2],
    /// The games that were added because the others were level.
    pub extra: u64,
    /// True if the players were level to the end, so that the higher seed went on.
    pub by_seed: bool,
}

/// A knock-out stage as far as its results decide it.
pub(crate) struct Bracket<'a> {
    entrants: &'a [PlayerId],
    stage: &'a Stage,
    progress: &'a Progress,
    /// The two seats of each encounter, round by round.
    seats: Vec<[Seat; 2]>,
}

impl<'a> Bracket<'a> {
    /// The bracket after these results.
    pub(crate) fn new(stage: &'a Stage, entrants: &'a [PlayerId], progress: &'a Progress) -> Self {
        let order = seed_order(entrants.len());
        let taken = |seed: usize| if seed < entrants.len() { Seat::Taken(seed) } else { Seat::Empty };
        let seats = order.chunks_exact(2).map(|two| [taken(two[0]), taken(two[1])]).collect();
        let mut bracket = Self { entrants, stage, progress, seats };
        for feeder in (0..order.len().saturating_sub(2)).step_by(2) {
            let seats = [bracket.winner(feeder), bracket.winner(feeder + 1)];
            bracket.seats.push(seats);
        }
        bracket
    }

    /// The round that each entrant reached, from 1; for the winner of the final, the number of rounds plus 1.
    pub(crate) fn rounds_reached(&self) -> Vec<u32> {
        let mut reached = vec![1; self.entrants.len()];
        let mut note = |seat: Seat, round: u32| {
            if let Seat::Taken(seed) = seat {
                reached[seed] = reached[seed].max(round);
            }
        };
        for (encounter, seats) in self.seats.iter().enumerate() {
            seats.iter().for_each(|&seat| note(seat, self.round(encounter)));
        }
        if let Some(last) = self.seats.len().checked_sub(1) {
            note(self.winner(last), self.round(last) + 1);
        }
        reached
    }

    /// The encounters that are decided, in the order of the bracket.
    pub(crate) fn decided(&self) -> Vec<Decided> {
        let of = |(at, seats): (usize, &[Seat; 2])| {
            let (&[Seat::Taken(a), Seat::Taken(b)], Seat::Taken(winner)) = (seats, self.winner(at)) else {
                return None;
            };
            let seeds = if winner == a { [a, b] } else { [b, a] };
            let Score { games, half_points } = self.score(at as u64, seeds[0], seeds[1]);
            Some(Decided {
                round: self.round(at),
                players: seeds.map(|seed| self.entrants[seed]),
                points: half_points.map(|points| points as f64 / 2.0),
                extra: games.saturating_sub(self.stage.encounter_games()),
                by_seed: half_points[0] == half_points[1],
            })
        };
        self.seats.iter().enumerate().filter_map(of).collect()
    }

    /// The players who are in round 2 without an opponent in round 1.
    pub(crate) fn byes(&self) -> impl Iterator<Item = PlayerId> + '_ {
        self.seats.iter().filter_map(|seats| match seats {
            [Seat::Taken(seed), Seat::Empty] | [Seat::Empty, Seat::Taken(seed)] => Some(self.entrants[*seed]),
            _ => None,
        })
    }

    /// True if the final is decided.
    pub(crate) fn is_over(&self) -> bool {
        self.seats.len().checked_sub(1).is_none_or(|last| self.winner(last) != Seat::Open)
    }

    fn round(&self, encounter: usize) -> u32 {
        let left = self.seats.len() - encounter;
        (self.seats.len() + 1).ilog2() - left.ilog2()
    }

    /// The encounters that have both their players, by number, each with the games it needs at least.
    pub(crate) fn playable(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0_u64..).zip(&self.seats).filter_map(|(encounter, seats)| match *seats {
            [Seat::Taken(a), Seat::Taken(b)] => {
                Some((encounter, needed(self.stage, self.score(encounter, a, b))))
            }
            _ => None,
        })
    }

    /// The round of an encounter that has both its players, and these players as seats in the list of entrants.
    pub(crate) fn players(&self, encounter: u64) -> Option<(u32, [usize; 2])> {
        let at = usize::try_from(encounter).ok()?;
        let [Seat::Taken(a), Seat::Taken(b)] = *self.seats.get(at)? else { return None };
        Some((self.round(at), [a, b]))
    }

    fn winner(&self, encounter: usize) -> Seat {
        match self.seats[encounter] {
            [Seat::Open, _] | [_, Seat::Open] => Seat::Open,
            [Seat::Empty, other] | [other, Seat::Empty] => other,
            [Seat::Taken(a), Seat::Taken(b)] => {
                let score = self.score(encounter as u64, a, b);
                match score.half_points {
                    _ if needed(self.stage, score) > score.games => Seat::Open,
                    [x, y] if x > y => Seat::Taken(a),
                    [x, y] if x < y => Seat::Taken(b),
                    _ => Seat::Taken(a.min(b)),
                }
            }
        }
    }

    /// The score of entrants `a` and `b` in their encounter. Extra games count as long as those before were level: a ruling
    /// can make games needless that were begun or over then.
    fn score(&self, encounter: u64, a: usize, b: usize) -> Score {
        let Some(met) = self.progress.encounters.get(&encounter) else { return Score::default() };
        let games = self.stage.encounter_games();
        if met.games() <= games {
            let of = |seed: usize| half_points(met, self.entrants[seed]);
            return Score { games: met.games(), half_points: [of(a), of(b)] };
        }
        let is_lower = self.entrants[a] < self.entrants[b];
        let start = encounter * self.stage.stride();
        let (mut score, mut group) = (Score::default(), start..start + games);
        while group.end <= start + self.stage.stride() {
            for index in group.clone().filter(|index| self.progress.finished.contains(*index)) {
                score.games += 1;
                if let Some(of_lower) = self.progress.half_points(index) {
                    let points = [of_lower, 2 - of_lower].map(u64::from);
                    score.half_points[0] += points[usize::from(!is_lower)];
                    score.half_points[1] += points[usize::from(is_lower)];
                }
            }
            let is_level = score.half_points[0] == score.half_points[1];
            if score.games < group.end - start || !is_level {
                break;
            }
            group = group.end..group.end + 2;
        }
        score
    }
}

fn half_points(met: &Encounter, player: PlayerId) -> u64 {
    met.half_points()[usize::from(met.players[0] != player)]
}

#[derive(Clone, Copy, Default)]
struct Score {
    games: u64,
    half_points: [u64; 2],
}

/// The least number of games of the encounter, whatever the results of unfinished games. The encounter is decided
/// when this is the number of finished games.
fn needed(stage: &Stage, score: Score) -> u64 {
    let games = stage.encounter_games();
    let best = score.half_points[0].max(score.half_points[1]);
    if score.games < games {
        // More than `games` half points are more than half of all there are.
        return if best > games { score.games } else { games.min(score.games + 1 + (games - best) / 2) };
    }
    let extra = match stage.format {
        Format::Knockout { tie: Tie::MoreGames { extra } } => u64::from(extra),
        _ => 0,
    };
    match score.games - games {
        odd if !odd.is_multiple_of(2) => score.games + 1,
        even if score.half_points[0] == score.half_points[1] && even / 2 < extra => score.games + 2,
        _ => score.games,
    }
}

/// The seeds in the order of their seats in round 1 of the full bracket.
fn seed_order(entrants: usize) -> Vec<usize> {
    let full = entrants.next_power_of_two();
    let mut order = vec![0];
    while order.len() < full {
        let last = order.len() * 2 - 1;
        order = order.into_iter().flat_map(|seed| [seed, last - seed]).collect();
    }
    order
}
