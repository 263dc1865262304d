//! The loser of an encounter is out.
//!
//! "Why was I paired so": the bracket is seeded by the order of entry (in a later stage: the ranking of the stage
//! before), 1 against the last, 2 against the last but one ..., so that the first and the second can meet only in the
//! final; when the number of players is no power of two, the top seeds have a bye in round 1, which is recorded and
//! earns no score. Who has black in the first game of an encounter is drawn by lot from the event's seed; colours then
//! alternate. An encounter is begun as soon as both its players are known, whatever the rest of the round does, and
//! ends as soon as it is decided: a game is begun only when no result of those on the boards could make it needless.

use super::{Stage, Step, Table, Tie, lot, pick};
use crate::{
    event::PlayerId,
    standings::{Encounter, Progress, Ranges},
};

/// Encounters of the full bracket; some of round 1 may have one player only.
pub(super) fn encounters(entrants: usize) -> u64 {
    entrants.next_power_of_two() as u64 - 1
}

/// A seat of the bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
    /// Not decided yet.
    Open,
    /// There is no player for it.
    Empty,
    /// The entrant with this index.
    Taken(usize),
}

/// A knock-out stage as far as it is decided, resolved from the results.
pub(crate) struct Bracket<'a> {
    entrants: &'a [PlayerId],
    stage: &'a Stage,
    progress: &'a Progress,
    /// By encounter: round by round, table by table.
    seats: Vec<[Seat; 2]>,
}

impl<'a> Bracket<'a> {
    /// Plays the results through the bracket.
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

    /// The round each entrant got to, from 1; one more than there are rounds for the winner of the final.
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

    /// The players who are in round 2 without an opponent in round 1.
    pub(super) fn byes(&self) -> impl Iterator<Item = PlayerId> + '_ {
        self.seats.iter().filter_map(|seats| match seats {
            [Seat::Taken(seed), Seat::Empty] | [Seat::Empty, Seat::Taken(seed)] => Some(self.entrants[*seed]),
            _ => None,
        })
    }

    /// The game to be played next.
    pub(super) fn step(&self, issued: &Ranges) -> Step {
        let stride = self.stage.stride();
        let mut playable = (0_u64..).zip(&self.seats).filter_map(|(encounter, seats)| {
            let [Seat::Taken(a), Seat::Taken(b)] = *seats else { return None };
            let start = encounter * stride;
            let needed = needed(self.stage, self.score(encounter, a, b));
            pick(start..start + needed, issued, self.progress)
        });
        match playable.next() {
            Some(index) => Step::Play(index),
            None if self.is_over() => Step::Over,
            None => Step::Wait,
        }
    }

    /// Who sits where in an encounter that has both its players.
    pub(super) fn table(&self, encounter: u64, seed: u64) -> Option<Table<usize>> {
        let at = usize::try_from(encounter).ok()?;
        let [Seat::Taken(a), Seat::Taken(b)] = *self.seats.get(at)? else { return None };
        let (black, white) = if lot(seed, encounter) { (a, b) } else { (b, a) };
        Some(Table { round: self.round(at), black, white })
    }

    fn is_over(&self) -> bool {
        self.seats.len().checked_sub(1).is_none_or(|last| self.winner(last) != Seat::Open)
    }

    fn round(&self, encounter: usize) -> u32 {
        let left = self.seats.len() - encounter;
        (self.seats.len() + 1).ilog2() - left.ilog2()
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

    /// The score of entrants `a` and `b` in their encounter.
    fn score(&self, encounter: u64, a: usize, b: usize) -> Score {
        let Some(met) = self.progress.encounters.get(&encounter) else { return Score::default() };
        let of = |seed: usize| half_points(met, self.entrants[seed]);
        Score { games: met.games(), half_points: [of(a), of(b)] }
    }
}

fn half_points(met: &Encounter, player: PlayerId) -> u64 {
    met.half_points[usize::from(met.players[0] != player)]
}

#[derive(Clone, Copy, Default)]
struct Score {
    games: u64,
    half_points: [u64; 2],
}

/// How many games the encounter will have at least, whatever those that are not finished bring. It is decided when
/// that is the number of games finished.
fn needed(stage: &Stage, score: Score) -> u64 {
    let games = stage.encounter_games();
    let best = score.half_points[0].max(score.half_points[1]);
    if score.games < games {
        // More than `games` half points are more than half of all there are.
        return if best > games { score.games } else { games.min(score.games + 1 + (games - best) / 2) };
    }
    let extra = match stage.format {
        super::Format::Knockout { tie: Tie::MoreGames { extra } } => u64::from(extra),
        _ => 0,
    };
    match score.games - games {
        odd if !odd.is_multiple_of(2) => score.games + 1,
        even if score.half_points[0] == score.half_points[1] && even / 2 < extra => score.games + 2,
        _ => score.games,
    }
}

/// The seeds by their seats in round 1, from the top of the bracket; the list is the full bracket's.
fn seed_order(entrants: usize) -> Vec<usize> {
    let full = entrants.next_power_of_two();
    let mut order = vec![0];
    while order.len() < full {
        let last = order.len() * 2 - 1;
        order = order.into_iter().flat_map(|seed| [seed, last - seed]).collect();
    }
    order
}
