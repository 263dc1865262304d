//! Tie-breaks: the rules that rank players who are level in score.
//!
//! In the formulas, an opponent is counted once for each encounter with it, and a score is the points of `[scoring]`, byes
//! included.

use super::{Encounter, Progress, Tally, Wdl};
use crate::{
    schedule::mixed,
    scoring::Scoring,
    stage::{Format, Stage},
};
use referee::{
    Color,
    ids::PlayerId,
    points::{Points, decimals},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::collections::BTreeMap;

/// A rule that ranks players who are level in score. Its name in a configuration and in JSON is [`TieBreak::key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum TieBreak {
    /// The sum of the opponents' scores; also called Solkoff, or sum of opponents' scores (SOS).
    Buchholz,
    /// The sum of the opponents' Buchholz scores (SOSOS).
    Sosos,
    /// Buchholz without the highest and the lowest opponent.
    Median,
    /// The sum of the scores of the opponents who were beaten, without the highest and the lowest of them. An opponent is
    /// beaten who scored less in the encounter.
    MedianOfBeaten,
    /// The sum over all games of the player's points times the opponent's score.
    SonnebornBerger,
    /// The score against the players who are level so far; no value for a player who is level with nobody.
    DirectEncounter,
    /// Games won; a game that the opponent forfeited is one, a bye is none.
    Wins,
    /// Games won as white.
    WinsAsWhite,
    /// The sum of the scores after each round; no value in a format without rounds.
    Progressive,
    /// The declared rating of the player; no value for a player without one.
    Rating,
    /// The place in the order of entry, the lower the better: in the first stage that of the list of players, in a later one the
    /// rank in the stage before.
    Seed,
    /// A lot drawn from the event's seed, the lower the better.
    Lot,
}

impl TieBreak {
    /// All tie-breaks.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The tie-breaks of a format where an event names none, in their order.
    pub fn of(format: Format) -> &'static [Self] {
        match format {
            Format::Knockout { .. } => &[],
            Format::Swiss { .. } => &[Self::Buchholz, Self::SonnebornBerger, Self::DirectEncounter],
            Format::RoundRobin { .. }
            | Format::Gauntlet { .. }
            | Format::Random { .. }
            | Format::Information { .. }
            | Format::Sprt { .. }
            | Format::Precision { .. } => &[Self::SonnebornBerger, Self::DirectEncounter],
        }
    }

    /// Its name in a configuration and in JSON.
    pub fn key(self) -> &'static str {
        self.into()
    }

    /// Its English name, as the heading of a column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Buchholz => "Buchholz",
            Self::Sosos => "SOSOS",
            Self::Median => "median",
            Self::MedianOfBeaten => "median of beaten",
            Self::SonnebornBerger => "Sonneborn-Berger",
            Self::DirectEncounter => "direct",
            Self::Wins => "wins",
            Self::WinsAsWhite => "white wins",
            Self::Progressive => "progressive",
            Self::Rating => "rating",
            Self::Seed => "seed",
            Self::Lot => "lot",
        }
    }

    /// A value of [`Row::tie_breaks`](super::Row::tie_breaks) as text; `-` for none.
    pub fn text(self, value: Option<i64>) -> String {
        let Some(value) = value else { return "-".to_owned() };
        match self.unit() {
            Unit::Count => value.to_string(),
            Unit::Place => (-value).to_string(),
            Unit::Decimals { places, shown } => decimals(value, places, shown),
        }
    }

    /// A value as a decimal number.
    fn number(self, value: i64) -> f64 {
        match self.unit() {
            Unit::Count => value as f64,
            Unit::Place => -value as f64,
            Unit::Decimals { places, .. } => value as f64 / f64::from(10_u32.pow(places)),
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Wins | Self::WinsAsWhite | Self::Rating => Unit::Count,
            Self::Seed | Self::Lot => Unit::Place,
            Self::SonnebornBerger => Unit::Decimals { places: 6, shown: 2 },
            Self::Buchholz
            | Self::Sosos
            | Self::Median
            | Self::MedianOfBeaten
            | Self::DirectEncounter
            | Self::Progressive => Unit::Decimals { places: 3, shown: 1 },
        }
    }
}

/// What a value is counted in.
#[derive(Clone, Copy)]
enum Unit {
    /// Whole numbers.
    Count,
    /// Places, as negative numbers, so that the greater value is the better one.
    Place,
    /// Parts of a point, of which ten to the power of `places` are one, shown with `shown` decimals or more.
    Decimals { places: u32, shown: usize },
}

impl Serialize for TieBreak {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.key())
    }
}

impl<'de> Deserialize<'de> for TieBreak {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let key = String::deserialize(from)?;
        let known = Self::ALL.iter().copied().find(|known| known.key() == key);
        known.ok_or_else(|| D::Error::custom(format!("`{key}` is not a tie-break")))
    }
}

/// The rules of the tables of an event: what games are worth, and what ranks players who are level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RankingRules {
    /// What games and byes are worth.
    pub scoring: Scoring,
    /// The tie-breaks in their order; `None`: those of each stage's format.
    pub tie_breaks: Option<Vec<TieBreak>>,
    /// True if a bye counts as an opponent with the player's own score in tie-breaks that are made of opponents' scores; else
    /// it adds nothing to them.
    pub bye_is_opponent: bool,
    /// The seed that lots are drawn from.
    #[serde(skip)]
    pub seed: u64,
    /// The declared ratings by player.
    #[serde(skip)]
    pub ratings: Vec<Option<u32>>,
    /// True if nobody plays for points: in an open league, on a foreign server, in records that were read in.
    #[serde(skip)]
    pub open: bool,
}

impl Default for RankingRules {
    fn default() -> Self {
        Self {
            scoring: Scoring::default(),
            tie_breaks: None,
            bye_is_opponent: true,
            seed: 0,
            ratings: vec![],
            open: false,
        }
    }
}

impl RankingRules {
    /// True if they are those of an event that says nothing of them; lots and ratings do not matter then.
    pub fn is_usual(&self) -> bool {
        Self { seed: 0, ratings: vec![], open: false, ..self.clone() } == Self::default()
    }

    /// True if declared ratings are among the tie-breaks.
    pub fn ranks_by_rating(&self) -> bool {
        self.tie_breaks.iter().flatten().any(|tie_break| *tie_break == TieBreak::Rating)
    }

    /// True if points decide who wins an event of these stages. Elo does where there are none to win: in an open league, and
    /// in a test of strength, whose players have unequally many games or opponents.
    pub fn by_points(&self, stages: &[Stage]) -> bool {
        let is_test =
            |stage: &Stage| matches!(stage.format, Format::Gauntlet { .. } | Format::Information { .. });
        !self.open && (stages.len() > 1 || !self.is_usual() || !stages.iter().any(is_test))
    }

    /// The tie-breaks of a stage of this format, in their order. A knock-out has none.
    pub fn of(&self, format: Format) -> &[TieBreak] {
        match (&self.tie_breaks, format) {
            (Some(order), Format::Knockout { .. }) => &order[..0],
            (Some(order), _) => order,
            (None, _) => TieBreak::of(format),
        }
    }
}

/// What the tie-breaks of a stage are computed from.
pub(super) struct Field<'a> {
    entrants: &'a [PlayerId],
    tally: &'a Tally,
    progress: &'a Progress,
    rules: &'a RankingRules,
    /// Points that arbiters have taken.
    pub penalties: &'a BTreeMap<PlayerId, Points>,
    /// The scores by player, less the penalties.
    pub scores: Vec<Points>,
    /// Two players who met, and in how many encounters.
    meetings: Vec<(Encounter, u64)>,
    /// The last round in which an encounter was played, where there are rounds.
    rounds: Option<u64>,
}

impl<'a> Field<'a> {
    pub fn new(
        stage: &Stage,
        entrants: &'a [PlayerId],
        tally: &'a Tally,
        progress: &'a Progress,
        rules: &'a RankingRules,
        penalties: &'a BTreeMap<PlayerId, Points>,
    ) -> Self {
        let penalty = |player: usize| penalties.get(&PlayerId::at(player)).copied().unwrap_or_default();
        let records = tally.players.iter().enumerate();
        let scores = records.map(|(at, record)| rules.scoring.record(record) - penalty(at)).collect();
        let is_swiss = matches!(stage.format, Format::Swiss { .. });
        let meetings = match is_swiss {
            true => progress.encounters.values().map(|encounter| (*encounter, 1)).collect(),
            false => met(tally, stage.encounter_games()),
        };
        let rounds = is_swiss.then_some(u64::from(progress.round));
        Self { entrants, tally, progress, rules, penalties, scores, meetings, rounds }
    }

    fn scoring(&self) -> &Scoring {
        &self.rules.scoring
    }

    fn zero(&self) -> Vec<Points> {
        vec![Points::ZERO; self.tally.players.len()]
    }

    /// The value of every player, given the group of level players that each belongs to.
    pub fn values(&self, tie_break: TieBreak, groups: &[Option<usize>]) -> Vec<Option<i64>> {
        let known = |points: Vec<Points>| points.into_iter().map(|p| Some(p.in_thousandths())).collect();
        let count = |of: fn(&super::Record) -> u64| {
            self.tally.players.iter().map(|record| i64::try_from(of(record)).ok()).collect()
        };
        match tie_break {
            TieBreak::Buchholz => known(self.buchholz()),
            TieBreak::Sosos => known(self.sum_of_opponents(&self.buchholz())),
            TieBreak::Median => known(self.median(|_| true, self.rules.bye_is_opponent)),
            TieBreak::MedianOfBeaten => known(self.median(|[own, other]| own > other, false)),
            TieBreak::SonnebornBerger => self.sonneborn_berger(),
            TieBreak::DirectEncounter => {
                let direct = self.direct(groups);
                groups.iter().zip(direct).map(|(group, sum)| group.map(|_| sum.in_thousandths())).collect()
            }
            TieBreak::Wins => count(|record| record.games().wins),
            TieBreak::WinsAsWhite => count(|record| record.white.wins),
            TieBreak::Progressive => self.progressive(),
            TieBreak::Rating => {
                let declared = |at| self.rules.ratings.get(at).copied().flatten().map(i64::from);
                (0..self.tally.players.len()).map(declared).collect()
            }
            TieBreak::Seed => self.places(|seat, _| seat as u64),
            TieBreak::Lot => self.places(|_, player| mixed(self.rules.seed, u64::from(player.0))),
        }
    }

    /// The sum of a value of the opponents.
    fn sum_of_opponents(&self, of: &[Points]) -> Vec<Points> {
        let mut sums = self.zero();
        for (encounter, times) in &self.meetings {
            let [a, b] = encounter.players.map(PlayerId::index);
            sums[a] += of[b] * *times;
            sums[b] += of[a] * *times;
        }
        sums
    }

    fn buchholz(&self) -> Vec<Points> {
        let mut sums = self.sum_of_opponents(&self.scores);
        if self.rules.bye_is_opponent {
            self.progress
                .byes
                .keys()
                .for_each(|(_, player)| sums[player.index()] += self.scores[player.index()]);
        }
        sums
    }

    /// The sum of the scores of the opponents that `is_counted` by both scores of an encounter, the player's own first, without
    /// the highest and the lowest of them.
    fn median(&self, is_counted: fn([Points; 2]) -> bool, with_byes: bool) -> Vec<Points> {
        let mut opponents = vec![vec![]; self.tally.players.len()];
        for (encounter, times) in &self.meetings {
            let [a, b] = encounter.players.map(PlayerId::index);
            let [own, other] = encounter.points(self.scoring());
            for (player, opponent, points) in [(a, b, [own, other]), (b, a, [other, own])] {
                let counted = if is_counted(points) { *times } else { 0 };
                opponents[player].extend((0..counted).map(|_| self.scores[opponent]));
            }
        }
        if with_byes {
            let byes = self.progress.byes.keys().map(|(_, player)| player.index());
            byes.for_each(|player| opponents[player].push(self.scores[player]));
        }
        let without_ends = |mut scores: Vec<Points>| {
            scores.sort();
            scores.get(1..scores.len().saturating_sub(1)).unwrap_or_default().iter().copied().sum()
        };
        opponents.into_iter().map(without_ends).collect()
    }

    /// In millionths of a point.
    fn sonneborn_berger(&self) -> Vec<Option<i64>> {
        let mut enters = vec![false; self.tally.players.len()];
        self.entrants.iter().for_each(|player| enters[player.index()] = true);
        let mut sums = vec![0_i64; self.tally.players.len()];
        let mut add = |player: PlayerId, points: Points, opponent: PlayerId| {
            let product =
                points.in_thousandths().saturating_mul(self.scores[opponent.index()].in_thousandths());
            sums[player.index()] = sums[player.index()].saturating_add(product);
        };
        for (&(black, white), &games) in &self.tally.met {
            if enters[white.index()] {
                add(black, self.scoring().games(Color::Black, games), white);
            }
            if enters[black.index()] {
                add(white, self.scoring().games(Color::White, games.reversed()), black);
            }
        }
        for &player in self.entrants.iter().filter(|_| self.rules.bye_is_opponent) {
            add(player, self.scoring().byes(self.tally.players[player.index()].bye_half_points), player);
        }
        sums.into_iter().map(Some).collect()
    }

    /// Points of each player in games against players of its own group.
    fn direct(&self, group_of: &[Option<usize>]) -> Vec<Points> {
        let mut sums = self.zero();
        for (&(black, white), &games) in &self.tally.met {
            let [own, other] = [black, white].map(|player| group_of[player.index()]);
            if own.is_some() && own == other {
                sums[black.index()] += self.scoring().games(Color::Black, games);
                sums[white.index()] += self.scoring().games(Color::White, games.reversed());
            }
        }
        sums
    }

    /// Points of a round count once for it and for every later one that has begun.
    fn progressive(&self) -> Vec<Option<i64>> {
        let Some(rounds) = self.rounds else { return vec![None; self.tally.players.len()] };
        let mut sums = self.zero();
        let tables = (self.entrants.len() as u64 / 2).max(1);
        for (number, encounter) in &self.progress.encounters {
            let times = rounds.saturating_sub(number / tables);
            for (player, points) in encounter.players.into_iter().zip(encounter.points(self.scoring())) {
                sums[player.index()] += points * times;
            }
        }
        for (&(round, player), &half_points) in &self.progress.byes {
            let times = (rounds + 1).saturating_sub(u64::from(round));
            sums[player.index()] += self.scoring().byes(u64::from(half_points)) * times;
        }
        sums.into_iter().map(|points| Some(points.in_thousandths())).collect()
    }

    /// The places of the entrants, from 1, in the order of a key, as negative numbers.
    fn places(&self, key: impl Fn(usize, PlayerId) -> u64) -> Vec<Option<i64>> {
        let mut order: Vec<(u64, PlayerId)> =
            self.entrants.iter().enumerate().map(|(seat, &player)| (key(seat, player), player)).collect();
        order.sort();
        let mut places = vec![None; self.tally.players.len()];
        for ((_, player), place) in order.into_iter().zip(1..) {
            places[player.index()] = Some(-place);
        }
        places
    }
}

/// The pairs of players who met in a stage without a list of its encounters.
fn met(tally: &Tally, encounter_games: u64) -> Vec<(Encounter, u64)> {
    let mut met: BTreeMap<[PlayerId; 2], Encounter> = BTreeMap::new();
    for (&(black, white), &games) in &tally.met {
        let players = [black.min(white), black.max(white)];
        let encounter = met.entry(players).or_insert_with(|| Encounter::new(players));
        let (own, seen): (&mut Wdl, Wdl) = match black == players[0] {
            true => (&mut encounter.as_black, games),
            false => (&mut encounter.as_white, games.reversed()),
        };
        *own = *own + seen;
    }
    let counted = |encounter: Encounter| (encounter, encounter.games().div_ceil(encounter_games.max(1)));
    met.into_values().map(counted).collect()
}

/// The tie-breaks of a row by their keys, as decimal numbers.
pub(super) fn in_json(tie_breaks: &[(TieBreak, Option<i64>)]) -> BTreeMap<&'static str, Option<f64>> {
    let number = |(tie_break, value): &(TieBreak, Option<i64>)| {
        (tie_break.key(), value.map(|value| tie_break.number(value)))
    };
    tie_breaks.iter().map(number).collect()
}
