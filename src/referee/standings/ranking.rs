//! The ranking of a stage.

use super::{Bracket, Progress, Tally, Wdl};
use crate::{
    ids::PlayerId,
    stage::{Format, Stage},
};
use serde::Serialize;
use std::cmp::Reverse;

/// A line of a stage's table.
///
/// Swiss: score, Buchholz, Sonneborn-Berger, direct encounter. Round robin, gauntlet and SPRT: score,
/// Sonneborn-Berger, direct encounter. Knock-out: the round reached. Players who are still level keep the order of
/// entry. A tie-break that the format does not use is `None`.
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
    /// Twice the sum of the scores of the opponents met, one for each encounter. A bye counts as an opponent with the
    /// player's own score, as FIDE's virtual opponent does.
    pub buchholz: Option<u64>,
    /// Four times the sum over all games of what the player scored times the score of the opponent; a bye as in
    /// `buchholz`.
    pub sonneborn_berger: Option<u64>,
    /// Twice the score against the players who are level so far.
    pub direct: Option<u64>,
    /// The knock-out round that the player reached, from 1; for the winner, the number of rounds plus 1.
    pub round: Option<u32>,
}

pub(super) fn ranking(stage: &Stage, entrants: &[PlayerId], tally: &Tally, progress: &Progress) -> Vec<Row> {
    let mut rows: Vec<Row> = entrants.iter().map(|&player| plain_row(player, tally)).collect();
    match stage.format {
        Format::Knockout { .. } => by_round(&mut rows, stage, entrants, progress),
        Format::Swiss { .. } => by_tie_breaks(&mut rows, entrants, tally, Some(progress)),
        _ => by_tie_breaks(&mut rows, entrants, tally, None),
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
        buchholz: None,
        sonneborn_berger: None,
        direct: None,
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

fn by_tie_breaks(rows: &mut [Row], entrants: &[PlayerId], tally: &Tally, swiss: Option<&Progress>) {
    let score = |player: PlayerId| tally.players[player.index()].half_points();
    let buchholz = swiss.map(|progress| buchholz(progress, tally, score));
    let sonneborn_berger = sonneborn_berger(entrants, tally, score);
    for row in rows.iter_mut() {
        let player = row.player.index();
        row.buchholz = buchholz.as_ref().map(|sums| sums[player]);
        row.sonneborn_berger = Some(sonneborn_berger[player]);
    }
    let level = |row: &Row| (row.half_points, row.buchholz, row.sonneborn_berger);
    rows.sort_by_key(|row| Reverse(level(row)));
    let groups = rows.chunk_by_mut(|a, b| level(a) == level(b)).filter(|group| group.len() > 1);
    let mut group_of = vec![None; tally.players.len()];
    let groups: Vec<&mut [Row]> = groups.collect();
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|row| group_of[row.player.index()] = Some(number));
    }
    let direct = direct(&group_of, tally);
    for group in groups {
        group.iter_mut().for_each(|row| row.direct = Some(direct[row.player.index()]));
        group.sort_by_key(|row| Reverse(row.direct));
    }
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
