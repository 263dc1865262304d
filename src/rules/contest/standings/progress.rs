//! Progress of a stage.

use super::{Ranges, Sequence, TestCounts, Wdl};
use crate::fault_limit::is_faulted;
use crate::{scoring::Scoring, stage::Stage};
use referee::{
    Color, Outcome,
    distinct::{Distinct, GameKey},
    ids::PlayerId,
    pairing::Pairing,
    points::Points,
};
use std::collections::{BTreeMap, BTreeSet};

/// An encounter of a Swiss or knock-out stage, as far as it has been played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encounter {
    /// The players, lower id first; figures of both are in the same order.
    pub players: [PlayerId; 2],
    /// The games of the first player as black, from its side.
    pub as_black: Wdl,
    /// The games of the first player as white, from its side.
    pub as_white: Wdl,
    /// Games left out, without a score for either player.
    pub left_out: u64,
    /// Games that each player won by default.
    pub defaults: [u64; 2],
}

impl Encounter {
    pub fn new(players: [PlayerId; 2]) -> Self {
        Self { players, as_black: Wdl::default(), as_white: Wdl::default(), left_out: 0, defaults: [0; 2] }
    }

    pub fn games(&self) -> u64 {
        self.as_black.games() + self.as_white.games() + self.left_out
    }

    /// True if at least one game was played.
    pub fn was_played(&self) -> bool {
        self.games() > self.left_out + self.defaults.iter().sum::<u64>()
    }

    /// Games as black.
    pub fn blacks(&self) -> [u64; 2] {
        [self.as_black.games(), self.as_white.games()]
    }

    /// Twice the score, whatever the event's scoring is.
    pub fn half_points(&self) -> [u64; 2] {
        let games = self.as_black + self.as_white;
        [games.half_points(), games.reversed().half_points()]
    }

    pub fn points(&self, scoring: &Scoring) -> [Points; 2] {
        [
            scoring.games(Color::Black, self.as_black) + scoring.games(Color::White, self.as_white),
            scoring.games(Color::Black, self.as_white.reversed())
                + scoring.games(Color::White, self.as_black.reversed()),
        ]
    }

    /// The count that a game belongs to, by its black player and black's half points.
    fn count(&mut self, black: PlayerId, half_points: u8) -> &mut u64 {
        match black == self.players[0] {
            true => self.as_black.of(half_points),
            false => self.as_white.of(2 - half_points),
        }
    }

    /// The count that a game belongs to if it was won by default.
    fn default(&mut self, pairing: &Pairing, outcome: Outcome) -> Option<&mut u64> {
        let Outcome::Win { winner, by } = outcome else { return None };
        if !by.is_default() {
            return None;
        }
        let winner = [pairing.black, pairing.white][winner.index()];
        self.defaults.get_mut(usize::from(winner != self.players[0]))
    }
}

/// A game of a pair that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Half {
    /// Twice the score of the player with the lower id.
    pub half_points: u8,
    /// True if a fault of the loser ended it.
    pub faulted: bool,
    /// True if it repeats no earlier game move for move.
    pub is_new: bool,
    /// True if its pair is evidence, or will be as far as this game is concerned.
    pub in_new_pair: bool,
    /// What it consists of, where its moves are known.
    pub key: Option<GameKey>,
    /// The hash of its moves, until its pair is complete.
    pub moves: Option<u64>,
    /// True if both games of its pair have the same moves.
    pub is_alike: bool,
    /// True if the player with the lower id has black.
    pub lower_is_black: bool,
    /// The opening that both games of the pair begin from.
    pub opening: u64,
}

impl Half {
    /// Twice the score of black.
    pub fn black_half_points(self) -> u8 {
        if self.lower_is_black { self.half_points } else { 2 - self.half_points }
    }
}

/// A pair of which both games count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    /// Twice the score of the player with the lower id in either game, the worse one first.
    pub games: [u8; 2],
    /// Twice the score of black in both games; `None` if one player had black twice.
    pub of_black: Option<u8>,
    /// True if a fault ended a game.
    pub is_faulted: bool,
    /// True if none of its games is in another pair that is evidence: such a game would count twice.
    pub is_new: bool,
    /// True if both games have the same moves.
    pub is_alike: bool,
}

impl Pair {
    /// Twice the score of the player with the lower id.
    pub fn half_points(self) -> u8 {
        self.games[0] + self.games[1]
    }
}

impl From<[Half; 2]> for Pair {
    fn from([one, other]: [Half; 2]) -> Self {
        let is_swapped = one.lower_is_black != other.lower_is_black;
        Self {
            games: [one.half_points.min(other.half_points), one.half_points.max(other.half_points)],
            of_black: is_swapped.then(|| one.black_half_points() + other.black_half_points()),
            is_faulted: one.faulted || other.faulted,
            is_new: one.in_new_pair && other.in_new_pair,
            is_alike: one.is_alike && other.is_alike,
        }
    }
}

/// A game that has started and has no result that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Open {
    /// Attempts so far, which is the number of the next one.
    pub attempts: u32,
    /// Attempts that were replayed draws.
    pub draws: u32,
    /// Attempts that were lost on time for want of a processor, and replayed.
    pub starved: u32,
    /// The opening that it began from.
    pub opening: u64,
}

/// The progress of a stage, as the schedule needs it.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    stride: u64,
    keeps_encounters: bool,
    pub finished: Ranges,
    pub open: BTreeMap<u64, Open>,
    /// Incomplete pairs, by their number.
    pub halves: BTreeMap<u64, Half>,
    pub encounters: BTreeMap<u64, Encounter>,
    /// Byes by round and player, with twice their score.
    pub byes: BTreeMap<(u32, PlayerId), u8>,
    pub sequence: Option<Sequence>,
    /// The last round of which a game has begun, from 1; 0 before.
    pub round: u32,
    /// The games that count, so that one of them can be taken back.
    scores: Scores,
}

/// Games that count by their index: a [`Half`] without its opening takes nine bytes.
#[derive(Clone, Debug, Default)]
struct Scores(BTreeMap<u64, Chunk>);

/// Sixty-four games: the flags of each, and what it consists of.
#[derive(Clone, Debug)]
struct Chunk {
    flags: [u8; 64],
    keys: [Option<GameKey>; 64],
}

impl Scores {
    fn set(&mut self, index: u64, half: Option<Half>) {
        let byte = half.map_or(0, |half| {
            let flags = [half.is_alike, half.faulted, half.is_new, half.in_new_pair, half.lower_is_black];
            1 + flags.into_iter().fold(half.half_points, |byte, flag| byte << 1 | u8::from(flag))
        });
        let empty = || Chunk { flags: [0; 64], keys: [None; 64] };
        let (chunk, at) = (self.0.entry(index / 64).or_insert_with(empty), (index % 64) as usize);
        (chunk.flags[at], chunk.keys[at]) = (byte, half.and_then(|half| half.key));
    }

    fn get(&self, index: u64, opening: u64) -> Option<Half> {
        let (chunk, at) = (self.0.get(&(index / 64))?, (index % 64) as usize);
        let byte = chunk.flags[at].checked_sub(1)?;
        let [is_alike, faulted, is_new, in_new_pair, lower_is_black] =
            [4, 3, 2, 1, 0].map(|bit| byte >> bit & 1 == 1);
        Some(Half {
            half_points: byte >> 5,
            moves: None,
            is_alike,
            faulted,
            is_new,
            in_new_pair,
            key: chunk.keys[at],
            lower_is_black,
            opening,
        })
    }

    /// The games that consist of one of these.
    fn like(&self, keys: &[GameKey]) -> impl Iterator<Item = (u64, Half)> {
        let places = self.0.iter().flat_map(|(chunk, games)| (64 * chunk..).zip(&games.keys));
        let like = places.filter(|(_, key)| key.is_some_and(|key| keys.contains(&key)));
        like.filter_map(|(index, _)| Some((index, self.get(index, 0)?)))
    }
}

/// A game that was taken back, and the other one of its pair where both counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    /// The game; `None` if it did not count.
    pub game: Option<Half>,
    /// The other game of the pair.
    pub other: Option<Half>,
}

impl Taken {
    /// The pair that was complete.
    pub fn pair(&self) -> Option<Pair> {
        Some([self.game?, self.other?].into())
    }

    /// What both games of the pair consist of.
    pub fn keys(&self) -> [Option<GameKey>; 2] {
        [self.game, self.other].map(|game| game?.key)
    }
}

/// A pair that is complete.
fn pair_of(scores: &Scores, stride: u64, pair: u64) -> Option<Pair> {
    let pairs = stride.div_ceil(2).max(1);
    let first = pair / pairs * stride + 2 * (pair % pairs);
    // What the opening was is of no interest to the counts.
    Some([scores.get(first, 0)?, scores.get(first + 1, 0)?].into())
}

impl Progress {
    pub fn new(stage: &Stage) -> Self {
        Self {
            stride: stage.stride(),
            keeps_encounters: stage.format.follows_results(),
            finished: Ranges::default(),
            open: BTreeMap::new(),
            halves: BTreeMap::new(),
            encounters: BTreeMap::new(),
            byes: BTreeMap::new(),
            sequence: stage.format.is_sequential().then(Sequence::default),
            round: 0,
            scores: Scores::default(),
        }
    }

    /// What tables are made of, without the encounters and the byes of some players.
    pub fn without(&self, out: &BTreeSet<PlayerId>) -> Self {
        let (mut encounters, mut byes) = (self.encounters.clone(), self.byes.clone());
        encounters.retain(|_, encounter| !encounter.players.iter().any(|player| out.contains(player)));
        byes.retain(|(_, player), _| !out.contains(player));
        Self {
            finished: Ranges::default(),
            open: BTreeMap::new(),
            halves: BTreeMap::new(),
            sequence: None,
            scores: Scores::default(),
            encounters,
            byes,
            ..*self
        }
    }

    pub fn start(&mut self, pairing: &Pairing) {
        self.round = self.round.max(pairing.round);
        if !self.finished.contains(pairing.index) {
            let open = self.open.entry(pairing.index).or_default();
            open.attempts = open.attempts.max(pairing.attempt.saturating_add(1));
            open.opening = pairing.opening;
        }
    }

    /// Records a game that will be played again; `replayed` is its outcome if it was played to its end.
    pub fn reopen(&mut self, pairing: &Pairing, replayed: Option<Outcome>) {
        self.start(pairing);
        if let (Some(open), Some(outcome)) = (self.open.get_mut(&pairing.index), replayed) {
            let count = match outcome {
                Outcome::Draw { .. } => &mut open.draws,
                _ => &mut open.starved,
            };
            *count += 1;
        }
    }

    /// Records a game that is left out for good; `due` receives the counts of a sequential test that waited for it.
    pub fn leave_out(&mut self, pairing: &Pairing, due: &mut Vec<TestCounts>) {
        self.finished.insert(pairing.index);
        self.open.remove(&pairing.index);
        if let Some(sequence) = &mut self.sequence {
            sequence.leave_out(pairing.pair, due);
        }
        if self.keeps_encounters {
            self.encounter(pairing).left_out += 1;
        }
    }

    /// Records a game that counts and repeats no earlier one, or does. Returns the pair when it is complete.
    pub fn finish(
        &mut self,
        pairing: &Pairing,
        outcome: Outcome,
        (key, is_new): (Option<GameKey>, bool),
        moves: Option<u64>,
        distinct: &mut Distinct,
    ) -> Option<Pair> {
        let black = outcome.black_half_points()?;
        self.round = self.round.max(pairing.round);
        self.finished.insert(pairing.index);
        self.open.remove(&pairing.index);
        if self.keeps_encounters {
            self.meet(pairing, black, outcome);
        }
        let lower_is_black = pairing.black < pairing.white;
        let half = Half {
            half_points: if lower_is_black { black } else { 2 - black },
            faulted: is_faulted(outcome),
            is_new,
            in_new_pair: is_new,
            key,
            moves,
            is_alike: false,
            lower_is_black,
            opening: pairing.opening,
        };
        if let Some(sequence) = &mut self.sequence {
            sequence.add_game(half);
        }
        self.scores.set(pairing.index, Some(half));
        self.complete(pairing, half, distinct)
    }

    /// Twice the score of the player with the lower id in the game of that index; `None` if it does not count.
    pub fn half_points(&self, index: u64) -> Option<u8> {
        self.scores.get(index, 0).map(|half| half.half_points)
    }

    /// True if the game at this place counts and repeats no earlier one.
    pub fn is_new(&self, pairing: &Pairing) -> bool {
        self.scores.get(pairing.index, pairing.opening).is_some_and(|half| half.is_new)
    }

    /// Takes back a game that was finished or left out.
    pub fn take_back(&mut self, pairing: &Pairing, outcome: Outcome) -> Taken {
        self.finished.remove(pairing.index);
        let Some(black) = outcome.black_half_points() else {
            if self.keeps_encounters {
                let encounter = self.encounter(pairing);
                encounter.left_out = encounter.left_out.saturating_sub(1);
            }
            let partner = self.partner(pairing.index);
            let is_left_out =
                |index: u64| self.finished.contains(index) && self.scores.get(index, 0).is_none();
            if !partner.is_some_and(is_left_out) {
                self.take_pair_back(pairing.pair);
            }
            return Taken::default();
        };
        if self.keeps_encounters {
            self.part(pairing, outcome, black);
        }
        let Some(mine) = self.scores.get(pairing.index, pairing.opening) else { return Taken::default() };
        let other = self.partner(pairing.index).and_then(|index| self.scores.get(index, pairing.opening));
        if let Some(sequence) = &mut self.sequence {
            sequence.take_game_back(mine);
        }
        if other.is_some() {
            self.take_pair_back(pairing.pair);
        }
        self.scores.set(pairing.index, None);
        // Of the moves of a whole pair only that they are the same is known.
        let alike = mine.is_alike.then_some(0);
        let moves = match other {
            Some(other) => {
                self.halves.insert(pairing.pair, Half { moves: alike, ..other });
                alike
            }
            None => self.halves.remove(&pairing.pair).and_then(|half| half.moves),
        };
        Taken { game: Some(Half { moves, ..mine }), other }
    }

    /// Lets a game that repeated this one, which does not count any more, be evidence in its stead.
    pub fn renew(&mut self, key: GameKey) -> Option<Half> {
        let (index, half) = self.scores.like(&[key]).find(|(_, half)| !half.is_new)?;
        let half = Half { is_new: true, ..half };
        self.scores.set(index, Some(half));
        let pair = self.pair_number(index);
        self.halves.entry(pair).and_modify(|half| half.is_new |= half.key == Some(key));
        if let Some(sequence) = &mut self.sequence {
            sequence.add_game(half);
        }
        Some(half)
    }

    /// Lets complete pairs with one of these games, whose own pair is complete no more, be evidence in its stead.
    pub fn renew_pairs(
        &mut self,
        keys: &[GameKey],
        distinct: &mut Distinct,
        due: &mut Vec<TestCounts>,
    ) -> Vec<Pair> {
        let mut renewed = vec![];
        for (index, _) in self.scores.like(keys).collect::<Vec<_>>() {
            let Some(partner) = self.partner(index) else { continue };
            let [Some(one), Some(other)] = [index, partner].map(|at| self.scores.get(at, 0)) else {
                continue;
            };
            let games = [one, other].map(|game| (game.key, game.in_new_pair));
            if one.in_new_pair || !distinct.is_new_pair(games) {
                continue;
            }
            let number = self.pair_number(index);
            self.take_pair_back(number);
            let games = [one, other].map(|game| Half { in_new_pair: true, ..game });
            for (at, game) in [index, partner].into_iter().zip(games) {
                self.scores.set(at, Some(game));
            }
            if let Some(sequence) = &mut self.sequence {
                sequence.add_pair(number, games.into(), due);
            }
            renewed.push(games.into());
        }
        renewed
    }

    /// The number of the pair that the game at this index belongs to.
    fn pair_number(&self, index: u64) -> u64 {
        index / self.stride * self.stride.div_ceil(2).max(1) + index % self.stride / 2
    }

    fn take_pair_back(&mut self, pair: u64) {
        if let Some(sequence) = &mut self.sequence {
            sequence.take_pair_back(pair, |pair| pair_of(&self.scores, self.stride, pair));
        }
    }

    /// The other game of the pair that the game at this index belongs to.
    pub fn partner(&self, index: u64) -> Option<u64> {
        let game = index % self.stride;
        (game ^ 1 < self.stride).then_some(index - game + (game ^ 1))
    }

    /// The last game of an encounter of odd length has no partner and is not kept.
    fn complete(&mut self, pairing: &Pairing, half: Half, distinct: &mut Distinct) -> Option<Pair> {
        let partner = self.partner(pairing.index)?;
        let Some(other) = self.halves.remove(&pairing.pair) else {
            self.halves.insert(pairing.pair, half);
            return None;
        };
        let in_new_pair = distinct.is_new_pair([other, half].map(|game| (game.key, game.in_new_pair)));
        let is_alike = half.moves.is_some() && half.moves == other.moves;
        let [other, half] = [other, half].map(|game| Half { in_new_pair, is_alike, ..game });
        self.scores.set(partner, Some(other));
        self.scores.set(pairing.index, Some(half));
        Some([other, half].into())
    }

    fn part(&mut self, pairing: &Pairing, outcome: Outcome, black_half_points: u8) {
        let encounter = self.encounter(pairing);
        encounter.default(pairing, outcome).into_iter().for_each(|wins| *wins = wins.saturating_sub(1));
        let count = encounter.count(pairing.black, black_half_points);
        *count = count.saturating_sub(1);
        if encounter.games() == 0 {
            self.encounters.remove(&(pairing.index / self.stride));
        }
    }

    fn encounter(&mut self, pairing: &Pairing) -> &mut Encounter {
        let (black, white) = (pairing.black, pairing.white);
        let players = [black.min(white), black.max(white)];
        self.encounters.entry(pairing.index / self.stride).or_insert_with(|| Encounter::new(players))
    }

    fn meet(&mut self, pairing: &Pairing, black_half_points: u8, outcome: Outcome) {
        let encounter = self.encounter(pairing);
        *encounter.count(pairing.black, black_half_points) += 1;
        encounter.default(pairing, outcome).into_iter().for_each(|wins| *wins += 1);
    }
}
