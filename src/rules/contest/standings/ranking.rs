//! The ranking of a stage.

use super::{
    Bracket, Progress, Tally, Wdl,
    tie_breaks::{self, Field, RankingRules, TieBreak},
};
use crate::stage::{Format, Stage};
use referee::{ids::PlayerId, points::Points};
use serde::{Serialize, Serializer};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

/// A line of a stage's table: ranked by score and the tie-breaks of the format, in a knock-out by the round reached.
/// Players who are still level share a rank, in the order of entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The place, from 1; players who are level share the best one of theirs.
    pub rank: u32,
    /// The player.
    pub player: PlayerId,
    /// The games of the stage that count.
    pub games: Wdl,
    /// The score in the stage, byes included, less the penalty.
    pub points: Points,
    /// Points that arbiters have taken.
    #[serde(skip_serializing_if = "is_none")]
    pub penalty: Points,
    /// True if an arbiter has disqualified the player: no game or bye of it counts, and it is behind all others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disqualified: bool,
    /// How many players who are level with this one an arbiter has placed below it, less those above it; the last tie-break.
    #[serde(skip_serializing_if = "is_zero")]
    pub placed: i32,
    /// Twice the score as it is where a win is worth a point and a draw half of one, byes included.
    pub half_points: u64,
    /// The tie-breaks of the stage in their order, as [`TieBreak::text`] reads them. In JSON they are decimal numbers by
    /// their names, in points; `null` where there is no value.
    #[serde(serialize_with = "by_key")]
    pub tie_breaks: Vec<(TieBreak, Option<i64>)>,
    /// The knock-out round that the player reached, from 1; for the winner, the number of rounds plus 1.
    pub round: Option<u32>,
}

fn is_none(penalty: &Points) -> bool {
    *penalty == Points::ZERO
}

fn is_zero(placed: &i32) -> bool {
    *placed == 0
}

impl Row {
    /// The value of a tie-break, in thousandths of a point (Sonneborn-Berger: millionths); `None` where the stage does not
    /// use it.
    pub fn tie_break(&self, wanted: TieBreak) -> Option<i64> {
        value(&self.tie_breaks, wanted)
    }

    /// The penalty, if there is one.
    pub fn penalty(&self) -> Option<Points> {
        Some(self.penalty).filter(|penalty| *penalty != Points::ZERO)
    }

    /// Compares score, tie-breaks and places of an arbiter, in a knock-out the rounds reached, the better first.
    fn compare(&self, other: &Self) -> Ordering {
        self.compare_played(other).then_with(|| other.placed.cmp(&self.placed))
    }

    /// The same without the places of an arbiter.
    pub fn compare_played(&self, other: &Self) -> Ordering {
        let [own, others] = [self, other].map(|row| row.tie_breaks.iter().map(|(_, value)| value));
        let points = |row: &Self| if row.round.is_some() { Points::ZERO } else { row.points };
        let out = self.disqualified.cmp(&other.disqualified);
        let rounds = out.then_with(|| other.round.cmp(&self.round));
        let score = rounds.then_with(|| points(other).cmp(&points(self)));
        score.then_with(|| others.cmp(own))
    }
}

/// Ranks from 1 for a list with the best first: what is level with the one before shares its rank.
pub(super) fn shared_ranks<T>(list: &[T], is_level: impl Fn(&T, &T) -> bool) -> Vec<u32> {
    let mut ranks: Vec<u32> = vec![];
    for (at, place) in (0..list.len()).zip(1..) {
        let shared = ranks.last().copied().filter(|_| is_level(&list[at - 1], &list[at]));
        ranks.push(shared.unwrap_or(place));
    }
    ranks
}

fn value(tie_breaks: &[(TieBreak, Option<i64>)], wanted: TieBreak) -> Option<i64> {
    tie_breaks.iter().find(|(tie_break, _)| *tie_break == wanted).and_then(|(_, value)| *value)
}

fn by_key<S: Serializer>(tie_breaks: &[(TieBreak, Option<i64>)], serializer: S) -> Result<S::Ok, S::Error> {
    tie_breaks::in_json(tie_breaks).serialize(serializer)
}

/// What arbiters have decided on a table.
pub(super) struct TableDecisions {
    pub penalties: BTreeMap<PlayerId, Points>,
    pub disqualified: BTreeSet<PlayerId>,
    /// Of level players: who is above whom.
    pub places: BTreeSet<[PlayerId; 2]>,
}

pub(super) fn ranking(
    stage: &Stage,
    entrants: &[PlayerId],
    tally: &Tally,
    progress: &Progress,
    rules: &RankingRules,
    decided: &TableDecisions,
) -> Vec<Row> {
    let field = Field::new(stage, entrants, tally, progress, rules, &decided.penalties);
    let row = |&player| Row {
        disqualified: decided.disqualified.contains(&player),
        ..plain_row(player, tally, &field)
    };
    let mut rows: Vec<Row> = entrants.iter().map(row).collect();
    match stage.format {
        Format::Knockout { .. } => by_round(&mut rows, stage, entrants, progress),
        format => by_score(&mut rows, rules.of(format), &field),
    }
    let groups = level_groups(&rows, field.scores.len());
    for [above, below] in &decided.places {
        let [one, other] = [above, below].map(|player| groups[player.index()]);
        for row in rows.iter_mut().filter(|_| one.is_some() && one == other) {
            row.placed += i32::from(row.player == *above) - i32::from(row.player == *below);
        }
    }
    rows.sort_by(Row::compare);
    let ranks = shared_ranks(&rows, |a, b| a.compare(b).is_eq());
    rows.iter_mut().zip(ranks).for_each(|(row, rank)| row.rank = rank);
    rows
}

fn plain_row(player: PlayerId, tally: &Tally, field: &Field<'_>) -> Row {
    let record = &tally.players[player.index()];
    Row {
        rank: 0,
        player,
        games: record.games(),
        points: field.scores[player.index()],
        penalty: field.penalties.get(&player).copied().unwrap_or_default(),
        disqualified: false,
        placed: 0,
        half_points: record.half_points(),
        tie_breaks: vec![],
        round: None,
    }
}

fn by_round(rows: &mut [Row], stage: &Stage, entrants: &[PlayerId], progress: &Progress) {
    let reached = Bracket::new(stage, entrants, progress).rounds_reached();
    for (row, round) in rows.iter_mut().zip(reached) {
        row.round = Some(round);
    }
    rows.sort_by(Row::compare);
}

fn by_score(rows: &mut [Row], order: &[TieBreak], field: &Field<'_>) {
    rows.sort_by(Row::compare);
    for &tie_break in order {
        let values = field.values(tie_break, &level_groups(rows, field.scores.len()));
        for row in rows.iter_mut() {
            row.tie_breaks.push((tie_break, values[row.player.index()]));
        }
        rows.sort_by(Row::compare);
    }
}

/// The group of level players that each player belongs to; `None` for a player who is level with nobody.
fn level_groups(rows: &[Row], players: usize) -> Vec<Option<usize>> {
    let mut group_of = vec![None; players];
    let groups = rows.chunk_by(|a, b| a.compare(b).is_eq()).filter(|group| group.len() > 1);
    for (number, group) in groups.enumerate() {
        group.iter().for_each(|row| group_of[row.player.index()] = Some(number));
    }
    group_of
}
