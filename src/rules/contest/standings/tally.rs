//! Counts of results.

use super::progress::Pair;
use crate::scoring::Scoring;
use referee::{
    Color, Outcome, WinBy,
    ids::PlayerId,
    pairing::Pairing,
    points::Points,
    rating::{self, Numbers, Trinomial},
};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// Games by their result, from one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wdl {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

impl Wdl {
    /// Games that count.
    pub fn games(self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Twice the score.
    pub fn half_points(self) -> u64 {
        2 * self.wins + self.draws
    }

    /// The score over the games, from 0 to 1; `None` without games.
    pub fn score(self) -> Option<f64> {
        (self.games() > 0).then(|| self.half_points() as f64 / 2.0 / self.games() as f64)
    }

    /// The same games from the other side.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { wins: self.losses, draws: self.draws, losses: self.wins }
    }

    pub(crate) fn of(&mut self, half_points: u8) -> &mut u64 {
        match half_points {
            0 => &mut self.losses,
            1 => &mut self.draws,
            _ => &mut self.wins,
        }
    }
}

impl std::ops::Add for Wdl {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            wins: self.wins + other.wins,
            draws: self.draws + other.draws,
            losses: self.losses + other.losses,
        }
    }
}

/// Endings by their cause, in the words of [`Outcome::cause`].
pub type Causes = BTreeMap<&'static str, u64>;

/// Results of one player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Games as black.
    pub black: Wdl,
    /// Games as white.
    pub white: Wdl,
    /// Games won, by cause.
    pub won_by: Causes,
    /// Games lost, by cause: `time`, `disconnection` ...
    pub lost_by: Causes,
    /// Games drawn, by cause.
    pub drawn_by: Causes,
    /// Games that the player resigned because of a fault of its engine; its server knows the resignation alone.
    #[serde(skip_serializing_if = "is_zero")]
    pub gave_up: u64,
    /// Endings that do not count, by cause: aborted games, and draws that were played again.
    pub uncounted: Causes,
    /// Rounds without an opponent.
    pub byes: u32,
    /// Twice the score of those rounds.
    pub bye_half_points: u64,
}

impl Record {
    /// The games of both colours.
    pub fn games(&self) -> Wdl {
        self.black + self.white
    }

    /// Twice the score, byes included.
    pub fn half_points(&self) -> u64 {
        self.games().half_points() + self.bye_half_points
    }

    /// Games lost by faults: time, a lost process or connection, an illegal move; resigned because of one included.
    pub fn faults(&self) -> u64 {
        let lost = WinBy::ALL.iter().filter(|by| by.is_fault()).map(|by| self.lost(by.name()));
        lost.sum::<u64>() + self.gave_up
    }

    /// Games lost by `cause`.
    pub fn lost(&self, cause: &str) -> u64 {
        self.lost_by.get(cause).copied().unwrap_or(0)
    }

    fn count(&mut self, color: Color, outcome: Outcome, step: impl Fn(&mut u64) + Copy) {
        let Some(half_points) = outcome.half_points(color) else { return };
        step(match color {
            Color::Black => self.black.of(half_points),
            Color::White => self.white.of(half_points),
        });
        let causes = match half_points {
            0 => &mut self.lost_by,
            1 => &mut self.drawn_by,
            _ => &mut self.won_by,
        };
        count_in(causes, outcome.cause(), step);
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn count_in<K: Ord + Copy>(counts: &mut BTreeMap<K, u64>, key: K, step: impl Fn(&mut u64)) {
    let count = counts.entry(key).or_default();
    step(count);
    if *count == 0 {
        counts.remove(&key);
    }
}

/// Counts one more.
fn up(count: &mut u64) {
    *count += 1;
}

/// Takes back one that was counted.
fn down(count: &mut u64) {
    *count = count.saturating_sub(1);
}

/// A kind of ending: black, white, and the outcome with whether it counts.
type Ending = (PlayerId, PlayerId, (Outcome, bool));

/// Colour-swapped pairs of games by the half points of the tested side: `[LL, LD, WL + DD, WD, WW]`.
pub type Pentanomial = [u64; 5];

/// The counts of an event, or of one of its stages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// By [`PlayerId`].
    pub players: Vec<Record>,
    /// By (black, white), from black's side; pairs that have not met are absent. Serialized as a list.
    #[serde(serialize_with = "crosstable")]
    pub met: BTreeMap<(PlayerId, PlayerId), Wdl>,
    /// How often games ended.
    #[serde(skip)]
    endings: BTreeMap<Ending, u64>,
    /// What the games tell of strength: the one count of it, which every statistic reads.
    pub evidence: Evidence,
}

/// Games and pairs that are evidence: those that repeat no earlier game move for move.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Distinct games by (black, white), from black's side. Serialized as a list.
    #[serde(serialize_with = "crosstable")]
    pub met: BTreeMap<(PlayerId, PlayerId), Wdl>,
    /// Complete colour-swapped pairs of distinct games, by (lower id, higher id); the lower id is the tested side.
    /// Serialized as a list.
    #[serde(serialize_with = "pentanomials")]
    pub pairs: BTreeMap<(PlayerId, PlayerId), Pentanomial>,
    /// The same pairs by the half points of black in both games.
    #[serde(skip)]
    pub(super) pairs_of_black: BTreeMap<(PlayerId, PlayerId), Pentanomial>,
    /// Those pairs of which both games have the same moves, by (lower id, higher id).
    #[serde(skip)]
    alike: BTreeMap<(PlayerId, PlayerId), u64>,
    /// Games that belong to no pair, by (lower id, higher id): those of encounters of one game, and the last of an odd number.
    #[serde(skip)]
    single: BTreeMap<(PlayerId, PlayerId), u64>,
}

impl Tally {
    /// The statistics of two players, from the side of the first: of complete pairs where every game belongs to one, so that
    /// a game whose other half is still played changes nothing; else of single games.
    pub fn numbers(&self, player: PlayerId, opponent: PlayerId) -> Numbers {
        let Wdl { wins, draws, losses } = between(&self.evidence.met, player, opponent);
        let single = Trinomial { losses, draws, wins };
        let is_paired = !self.evidence.single.contains_key(&(player.min(opponent), player.max(opponent)));
        let pairs = rating::Pentanomial(self.pentanomial(player, opponent));
        Numbers::from(&if is_paired { pairs.into() } else { single.into() })
    }

    /// Games that count as evidence: those that repeat no earlier one.
    pub fn distinct_games(&self) -> u64 {
        self.evidence.met.values().map(|wdl| wdl.games()).sum()
    }

    /// The distinct games of two players against each other, from the side of the first.
    pub fn distinct_between(&self, player: PlayerId, opponent: PlayerId) -> Wdl {
        between(&self.evidence.met, player, opponent)
    }

    /// Games that count.
    pub fn games(&self) -> u64 {
        self.met.values().map(|wdl| wdl.games()).sum()
    }

    /// The counts without some players, as if their games had not been played.
    pub(super) fn without(&self, out: &BTreeSet<PlayerId>) -> Self {
        let mut left = self.clone();
        let stays = |players: &(PlayerId, PlayerId)| !out.contains(&players.0) && !out.contains(&players.1);
        for (&ending, &games) in
            self.endings.iter().filter(|((black, white, _), _)| !stays(&(*black, *white)))
        {
            left.count_ending(ending, |count| *count -= games);
        }
        for player in out {
            left.players[player.index()] = Record::default();
        }
        left.met.retain(|players, _| stays(players));
        left.evidence.met.retain(|players, _| stays(players));
        left.evidence.pairs.retain(|players, _| stays(players));
        left.evidence.pairs_of_black.retain(|players, _| stays(players));
        left
    }

    pub(super) fn new(players: usize) -> Self {
        Self { players: vec![Record::default(); players], ..Self::default() }
    }

    pub(super) fn grow(&mut self, players: usize) {
        self.players.resize(self.players.len().max(players), Record::default());
    }

    /// Every game that `player` and `opponent` played against each other, from `player`'s side.
    pub fn between(&self, player: PlayerId, opponent: PlayerId) -> Wdl {
        between(&self.met, player, opponent)
    }

    /// The points of `player` in its games against `opponent`.
    pub fn points(&self, scoring: &Scoring, player: PlayerId, opponent: PlayerId) -> Points {
        let met = |black, white| self.met.get(&(black, white)).copied().unwrap_or_default();
        scoring.games(Color::Black, met(player, opponent))
            + scoring.games(Color::White, met(opponent, player).reversed())
    }

    /// The distinct colour-swapped pairs of `player` and `opponent`, from `player`'s side.
    pub fn pentanomial(&self, player: PlayerId, opponent: PlayerId) -> Pentanomial {
        let key = (player.min(opponent), player.max(opponent));
        let mut counts = self.evidence.pairs.get(&key).copied().unwrap_or_default();
        if player > opponent {
            counts.reverse();
        }
        counts
    }

    /// How many of the distinct pairs of two players have the same moves in both games.
    pub fn alike_pairs(&self, player: PlayerId, opponent: PlayerId) -> u64 {
        self.evidence.alike.get(&(player.min(opponent), player.max(opponent))).copied().unwrap_or(0)
    }

    pub(super) fn add(&mut self, pairing: &Pairing, outcome: Outcome, is_new: bool) {
        self.count(pairing, outcome, is_new, up);
    }

    /// Counts a game that belongs to no pair.
    pub(super) fn add_single(&mut self, pairing: &Pairing) {
        let key = (pairing.black.min(pairing.white), pairing.black.max(pairing.white));
        *self.evidence.single.entry(key).or_default() += 1;
    }

    /// Takes back a game that belongs to no pair.
    pub(super) fn take_back_single(&mut self, pairing: &Pairing) {
        let key = (pairing.black.min(pairing.white), pairing.black.max(pairing.white));
        self.evidence.single.entry(key).and_modify(down);
        self.evidence.single.retain(|_, games| *games > 0);
    }

    /// Counts a resignation because of a fault.
    pub(super) fn add_given_up(&mut self, player: PlayerId) {
        self.players[player.index()].gave_up += 1;
    }

    /// Takes back a game that counts.
    pub(super) fn take_back(&mut self, pairing: &Pairing, outcome: Outcome, was_new: bool) {
        self.count(pairing, outcome, was_new, down);
        for met in [&mut self.met, &mut self.evidence.met] {
            met.retain(|_, met| met.games() > 0);
        }
    }

    fn count(&mut self, pairing: &Pairing, outcome: Outcome, is_new: bool, step: fn(&mut u64)) {
        let Some(half_points) = outcome.black_half_points() else { return };
        self.count_ending((pairing.black, pairing.white, (outcome, true)), step);
        let key = (pairing.black, pairing.white);
        step(self.met.entry(key).or_default().of(half_points));
        if is_new {
            step(self.evidence.met.entry(key).or_default().of(half_points));
        }
    }

    /// Counts a game that was played before as evidence.
    pub(super) fn add_evidence(&mut self, pairing: &Pairing, black_half_points: u8) {
        up(self.evidence.met.entry((pairing.black, pairing.white)).or_default().of(black_half_points));
    }

    pub(super) fn add_uncounted(&mut self, pairing: &Pairing, outcome: Outcome) {
        self.count_ending((pairing.black, pairing.white, (outcome, false)), up);
    }

    /// Takes back a game that did not count.
    pub(super) fn take_back_uncounted(&mut self, pairing: &Pairing, outcome: Outcome) {
        self.count_ending((pairing.black, pairing.white, (outcome, false)), down);
    }

    fn count_ending(&mut self, ending: Ending, step: impl Fn(&mut u64) + Copy) {
        let (black, white, (outcome, counts)) = ending;
        for (player, color) in [(black, Color::Black), (white, Color::White)] {
            let record = &mut self.players[player.index()];
            match counts {
                true => record.count(color, outcome, step),
                false => count_in(&mut record.uncounted, outcome.cause(), step),
            }
        }
        count_in(&mut self.endings, ending, step);
    }

    pub(super) fn add_pair(&mut self, pairing: &Pairing, pair: Pair) {
        self.evidence.count_pair(pairing, pair, up);
    }

    /// Takes back a pair of which a game does not count any more.
    pub(super) fn take_back_pair(&mut self, pairing: &Pairing, pair: Pair) {
        self.evidence.count_pair(pairing, pair, down);
    }

    pub(super) fn add_bye(&mut self, player: PlayerId, half_points: u8) {
        let record = &mut self.players[player.index()];
        record.byes += 1;
        record.bye_half_points += u64::from(half_points);
    }
}

impl Evidence {
    fn count_pair(&mut self, pairing: &Pairing, pair: Pair, step: fn(&mut u64)) {
        if !pair.is_new {
            return;
        }
        let key = (pairing.black.min(pairing.white), pairing.black.max(pairing.white));
        let counts = self.pairs.entry(key).or_default();
        step(&mut counts[usize::from(pair.half_points())]);
        if *counts == [0; 5] {
            self.pairs.remove(&key);
        }
        if pair.is_alike {
            step(self.alike.entry(key).or_default());
            self.alike.retain(|_, pairs| *pairs > 0);
        }
        if let Some(of_black) = pair.of_black {
            step(&mut self.pairs_of_black.entry(key).or_default()[usize::from(of_black)]);
            self.pairs_of_black.retain(|_, pairs| *pairs != [0; 5]);
        }
    }
}

/// The games of two players against each other, from the side of the first.
fn between(met: &ByPair<Wdl>, player: PlayerId, opponent: PlayerId) -> Wdl {
    let met = |black, white| met.get(&(black, white)).copied().unwrap_or_default();
    met(player, opponent) + met(opponent, player).reversed()
}

type ByPair<T> = BTreeMap<(PlayerId, PlayerId), T>;

fn crosstable<S: Serializer>(met: &ByPair<Wdl>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Cell {
        black: PlayerId,
        white: PlayerId,
        black_wins: u64,
        draws: u64,
        white_wins: u64,
    }
    to.collect_seq(met.iter().map(|(&(black, white), wdl)| Cell {
        black,
        white,
        black_wins: wdl.wins,
        draws: wdl.draws,
        white_wins: wdl.losses,
    }))
}

fn pentanomials<S: Serializer>(pairs: &ByPair<Pentanomial>, to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Cell<'a> {
        tested: PlayerId,
        opponent: PlayerId,
        counts: &'a Pentanomial,
    }
    to.collect_seq(pairs.iter().map(|(&(tested, opponent), counts)| Cell { tested, opponent, counts }))
}
