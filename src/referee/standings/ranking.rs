//! The ranking of a stage.

use super::{Bracket, Progress, Tally, Wdl};
use crate::{
    ids::PlayerId,
    stage::{Format, Stage},
};
use serde::{Serialize, Serializer};
use std::cmp::{Ordering, Reverse};

/// A rule that ranks players who are level in score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The sum of the scores of the opponents met, one for each encounter. A bye counts as an opponent with the
    /// player's own score, as FIDE's virtual opponent does.
    Buchholz,
    /// The sum over all games of the player's result times the opponent's score; a bye as in [`Self::Buchholz`].
    SonnebornBerger,
    /// The score against the players who are level so far; no value for a player who is level with nobody.
    DirectEncounter,
}

impl TieBreak {
    /// All tie-breaks.
    pub const ALL: [Self; 3] = [Self::Buchholz, Self::SonnebornBerger, Self::DirectEncounter];

    /// The tie-breaks of a format in their order.
    #[must_use]
    pub fn of(format: Format) -> &'static [Self] {
        match format {
            Format::Knockout { .. } => &[],
            Format::Swiss { .. } => &Self::ALL,
            _ => &[Self::SonnebornBerger, Self::DirectEncounter],
        }
    }

    /// Its English name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Buchholz => "Buchholz",
            Self::SonnebornBerger => "Sonneborn-Berger",
            Self::DirectEncounter => "direct",
        }
    }

    /// Its key in JSON.
    fn key(self) -> &'static str {
        match self {
            Self::Buchholz => "buchholz",
            Self::SonnebornBerger => "sonneborn_berger",
            Self::DirectEncounter => "direct",
        }
    }

    /// A value of [`Row::tie_breaks`] in points, as text; `-` for none.
    #[must_use]
    pub fn text(self, value: Option<u64>) -> String {
        let Some(value) = value else { return "-".to_owned() };
        match self {
            Self::Buchholz | Self::DirectEncounter => format!("{:.1}", value as f64 / 2.0),
            Self::SonnebornBerger => format!("{:.2}", value as f64 / 4.0),
        }
    }

    /// The value of every player of the event, given the group of level players that each belongs to.
    fn values(
        self,
        entrants: &[PlayerId],
        tally: &Tally,
        progress: &Progress,
        groups: &[Option<usize>],
    ) -> Vec<Option<u64>> {
        let score = |player: PlayerId| tally.players[player.index()].half_points();
        match self {
            Self::Buchholz => known(buchholz(progress, tally, score)),
            Self::SonnebornBerger => known(sonneborn_berger(entrants, tally, score)),
            Self::DirectEncounter => {
                groups.iter().zip(direct(groups, tally)).map(|(group, sum)| group.and(Some(sum))).collect()
            }
        }
    }
}

/// A line of a stage's table: ranked by score and the tie-breaks of the format, in a knock-out by the round reached.
/// Players who are still level keep the order of entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The place, from 1.
    pub rank: u32,
    /// The player.
    pub player: PlayerId,
    /// The games of the stage that count.
    pub games: Wdl,
    /// Twice the score in the stage, byes included.
    pub half_points: u64,
    /// The tie-breaks of the format in their order, in halves of a point, Sonneborn-Berger in quarters. In JSON each
    /// tie-break is a key of the row, `null` where it has no value.
    #[serde(flatten, serialize_with = "by_key")]
    pub tie_breaks: Vec<(TieBreak, Option<u64>)>,
    /// The knock-out round that the player reached, from 1; for the winner, the number of rounds plus 1.
    pub round: Option<u32>,
}

impl Row {
    /// The value of a tie-break; `None` where the format does not use it.
    #[must_use]
    pub fn tie_break(&self, wanted: TieBreak) -> Option<u64> {
        value(&self.tie_breaks, wanted)
    }

    /// Compares score and tie-breaks, the better first.
    fn compare(&self, other: &Self) -> Ordering {
        let [own, others] = [self, other].map(|row| row.tie_breaks.iter().map(|(_, value)| value));
        (other.half_points.cmp(&self.half_points)).then_with(|| others.cmp(own))
    }
}

fn value(tie_breaks: &[(TieBreak, Option<u64>)], wanted: TieBreak) -> Option<u64> {
    tie_breaks.iter().find(|(tie_break, _)| *tie_break == wanted).and_then(|(_, value)| *value)
}

fn by_key<S: Serializer>(tie_breaks: &[(TieBreak, Option<u64>)], serializer: S) -> Result<S::Ok, S::Error> {
    let entry = |tie_break: TieBreak| (tie_break.key(), value(tie_breaks, tie_break));
    serializer.collect_map(TieBreak::ALL.map(entry))
}

pub(super) fn ranking(stage: &Stage, entrants: &[PlayerId], tally: &Tally, progress: &Progress) -> Vec<Row> {
    let mut rows: Vec<Row> = entrants.iter().map(|&player| plain_row(player, tally)).collect();
    match stage.format {
        Format::Knockout { .. } => by_round(&mut rows, stage, entrants, progress),
        _ => by_score(&mut rows, TieBreak::of(stage.format), entrants, tally, progress),
    }
    rows.iter_mut().zip(1..).for_each(|(row, rank)| row.rank = rank);
    rows
}

fn plain_row(player: PlayerId, tally: &Tally) -> Row {
    let record = &tally.players[player.index()];
    Row {
        rank: 0,
        player,
        games: record.games(),
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
    rows.sort_by_key(|row| Reverse(row.round));
}

fn by_score(rows: &mut [Row], order: &[TieBreak], entrants: &[PlayerId], tally: &Tally, progress: &Progress) {
    rows.sort_by(Row::compare);
    for &tie_break in order {
        let groups = level_groups(rows, tally.players.len());
        let values = tie_break.values(entrants, tally, progress, &groups);
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

fn known(sums: Vec<u64>) -> Vec<Option<u64>> {
    sums.into_iter().map(Some).collect()
}

/// Sums by player over the games of an event: every pair that met is looked at once, since a field may be large.
fn sums(tally: &Tally, mut add: impl FnMut(&mut [u64], PlayerId, PlayerId, u64)) -> Vec<u64> {
    let mut sums = vec![0; tally.players.len()];
    for (&(black, white), met) in &tally.met {
        add(&mut sums, black, white, met.half_points());
        add(&mut sums, white, black, met.reversed().half_points());
    }
    sums
}

fn buchholz(progress: &Progress, tally: &Tally, score: impl Fn(PlayerId) -> u64) -> Vec<u64> {
    let mut sums = vec![0; tally.players.len()];
    for encounter in progress.encounters.values() {
        let [a, b] = encounter.players;
        sums[a.index()] += score(b);
        sums[b.index()] += score(a);
    }
    progress.byes.keys().for_each(|(_, player)| sums[player.index()] += score(*player));
    sums
}

fn sonneborn_berger(entrants: &[PlayerId], tally: &Tally, score: impl Fn(PlayerId) -> u64) -> Vec<u64> {
    let mut enters = vec![false; tally.players.len()];
    entrants.iter().for_each(|player| enters[player.index()] = true);
    let mut sums = sums(tally, |sums, player, opponent, half_points| {
        if enters[opponent.index()] {
            sums[player.index()] += half_points * score(opponent);
        }
    });
    for &player in entrants {
        sums[player.index()] += tally.players[player.index()].bye_half_points * score(player);
    }
    sums
}

/// Half points of each player in games against players of its own group.
fn direct(group_of: &[Option<usize>], tally: &Tally) -> Vec<u64> {
    sums(tally, |sums, player, opponent, half_points| {
        let [own, other] = [player, opponent].map(|player| group_of[player.index()]);
        if own.is_some() && own == other {
            sums[player.index()] += half_points;
        }
    })
}
