//! The ranking of a stage.

use super::{Bracket, Encounter, Progress, Tally, Wdl};
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
    for row in rows.iter_mut() {
        row.buchholz = swiss.map(|progress| buchholz(row, progress, score));
        row.sonneborn_berger = Some(sonneborn_berger(row, entrants, tally, score));
    }
    let level = |row: &Row| (row.half_points, row.buchholz, row.sonneborn_berger);
    rows.sort_by_key(|row| Reverse(level(row)));
    for group in rows.chunk_by_mut(|a, b| level(a) == level(b)).filter(|group| group.len() > 1) {
        let players: Vec<PlayerId> = group.iter().map(|row| row.player).collect();
        for row in group.iter_mut() {
            let others = players.iter().filter(|&&other| other != row.player);
            row.direct =
                Some(others.map(|&other| tally.between(row.player, other).half_points()).sum::<u64>());
        }
        group.sort_by_key(|row| Reverse(row.direct));
    }
}

fn buchholz(row: &Row, progress: &Progress, score: impl Fn(PlayerId) -> u64) -> u64 {
    let opponent = |encounter: &Encounter| {
        let [a, b] = encounter.players;
        (a == row.player).then_some(b).or((b == row.player).then_some(a))
    };
    let met: u64 = progress.encounters.values().filter_map(opponent).map(score).sum();
    let byes = progress.byes.keys().filter(|(_, player)| *player == row.player).count();
    met + byes as u64 * row.half_points
}

fn sonneborn_berger(row: &Row, entrants: &[PlayerId], tally: &Tally, score: impl Fn(PlayerId) -> u64) -> u64 {
    let games: u64 = entrants
        .iter()
        .filter(|&&opponent| opponent != row.player)
        .map(|&opponent| tally.between(row.player, opponent).half_points() * score(opponent))
        .sum();
    games + tally.players[row.player.index()].bye_half_points * row.half_points
}
