//! Comments and variations between a record and the database.

use super::ending::is_mark;
use journal::FullGame;
use notation::record::{self, Ending, GameRecord, Ply, Variation};
use referee::{
    annotations::{self, Annotations, Comment},
    entry::GameId,
};
use rsshogi::{board::Position, types::Move};
use serde::{Deserialize, Serialize};

/// Facts of a variation other than its moves.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    ending: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ending_ms: Option<u32>,
    /// For each move: time in ms, centipawns from black's side, expected line in USI.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moves: Vec<(Option<u32>, Option<i32>, String)>,
}

/// Plies before the first move of a record, as the database counts them.
pub(super) fn plies_before(start: &str) -> u32 {
    Position::from_sfen(start).map_or(0, |it| u32::from(it.game_ply()).saturating_sub(1))
}

/// The comments and variations of a record that becomes a game.
pub(super) fn of(record: &GameRecord, game: GameId) -> Annotations {
    let before = plies_before(&record.start);
    let mut comments = Vec::new();
    let mut add = |line: usize, ply: u32, text: &str| {
        let text = text.lines().filter(|line| !is_mark(line)).collect::<Vec<_>>().join("\n");
        if !text.is_empty() {
            comments.push(Comment { line: count(line), ply, text });
        }
    };
    add(0, before, &record.comment);
    let mut line = |number: usize, first: u32, plies: &[Ply], ending: &str| {
        (first..).zip(plies).for_each(|(at, ply)| add(number, at, &ply.comment));
        add(number, first.saturating_add(count(plies.len())), ending);
    };
    line(0, before + 1, &record.plies, &record.ending_comment);
    for (at, variation) in record.variations.iter().enumerate() {
        line(at + 1, before + count(variation.ply), &variation.plies, &variation.ending_comment);
    }
    let variation = |(at, variation): (usize, &Variation)| annotations::Variation {
        parent: count(variation.parent),
        ply: before + count(variation.ply),
        moves: usi(variation.plies.iter().map(|ply| ply.mv)),
        details: details(variation, record.line(at + 1).side_to_move()),
    };
    let variations = record.variations.iter().enumerate().map(variation).collect();
    Annotations { game, comments, variations }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX / 2)
}

fn usi(moves: impl Iterator<Item = Move>) -> String {
    moves.map(|mv| mv.to_usi()).collect::<Vec<_>>().join(" ")
}

fn details(variation: &Variation, to_move: rsshogi::types::Color) -> String {
    let known = |ply: &Ply| ply.time_ms.is_some() || ply.score.is_some() || !ply.pv.is_empty();
    let details = Details {
        ending: variation.ending.as_ref().map(|ending| ending.word(to_move)),
        ending_ms: variation.ending_time_ms,
        moves: match variation.plies.iter().any(known) {
            true => {
                let of = |ply: &Ply| (ply.time_ms, ply.score, usi(ply.pv.iter().copied()));
                variation.plies.iter().map(of).collect()
            }
            false => vec![],
        },
    };
    match details == Details::default() {
        true => String::new(),
        // A struct of numbers and texts always has a spelling.
        false => serde_json::to_string(&details).unwrap_or_default(),
    }
}

/// Gives a record the stored comments and variations of its game. Annotations that do not fit the moves, as in an altered
/// database, are left out.
pub(super) fn restore(record: &mut GameRecord, annotations: &Annotations) {
    let before = plies_before(&record.start);
    for stored in &annotations.variations {
        let (Ok(parent), Some(ply)) = (usize::try_from(stored.parent), stored.ply.checked_sub(before)) else {
            return;
        };
        let Some(ply) = usize::try_from(ply).ok().filter(|ply| *ply > 0 && parent <= record.variations.len())
        else {
            return;
        };
        record.variations.push(variation(parent, ply, stored));
        let line = record.line(record.variations.len());
        let ending = details_of(stored).ending.map(|word| Ending::from_word(&word, line.side_to_move()));
        // A line that cannot be played would make every export of the game fail.
        if !super::verify::is_playable(&line) {
            record.variations.pop();
            return;
        }
        if let Some(last) = record.variations.last_mut() {
            last.ending = ending;
        }
    }
    for Comment { line, ply, text } in &annotations.comments {
        if let Some(comment) = comment(record, *line, ply.checked_sub(before)) {
            comment.clone_from(text);
        }
    }
}

fn details_of(stored: &annotations::Variation) -> Details {
    serde_json::from_str(&stored.details).unwrap_or_default()
}

fn variation(parent: usize, ply: usize, stored: &annotations::Variation) -> Variation {
    let details = details_of(stored);
    let mut plies: Vec<Ply> =
        stored.moves.split_whitespace().map_while(Move::from_usi).map(Ply::from).collect();
    for (ply, (time_ms, score, pv)) in plies.iter_mut().zip(details.moves) {
        (ply.time_ms, ply.score) = (time_ms, score);
        ply.pv = pv.split_whitespace().map_while(Move::from_usi).collect();
    }
    Variation { parent, ply, plies, ending_time_ms: details.ending_ms, ..Variation::default() }
}

/// A variation of a game as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownVariation {
    /// The line that it branches off: 0 is the game, `n` the `n`-th variation.
    pub parent: usize,
    /// Number of its first move.
    pub ply: u32,
    /// Its moves in Japanese notation.
    pub moves: Vec<String>,
}

/// The variations of a game as they are shown.
pub fn shown_variations(game: &FullGame, annotations: &Annotations) -> Vec<ShownVariation> {
    if annotations.variations.is_empty() {
        return vec![];
    }
    rsshogi::board::init();
    let mut record = super::game::played(game);
    restore(&mut record, annotations);
    let before = plies_before(&record.start);
    let shown = |(at, variation): (usize, &Variation)| ShownVariation {
        parent: variation.parent,
        ply: before + count(variation.ply),
        moves: record::spelled_moves(&record.line(at + 1), variation.ply - 1).unwrap_or_default(),
    };
    record.variations.iter().enumerate().map(shown).collect()
}

/// The place of a comment in a record; `number` counts from the start position, which is 0.
fn comment(record: &mut GameRecord, line: u32, number: Option<u32>) -> Option<&mut String> {
    let number = usize::try_from(number?).ok()?;
    let Some(at) = usize::try_from(line).ok()?.checked_sub(1) else {
        let Some(at) = number.checked_sub(1) else { return Some(&mut record.comment) };
        return match record.plies.len() {
            length if length == at => Some(&mut record.ending_comment),
            _ => record.plies.get_mut(at).map(|ply| &mut ply.comment),
        };
    };
    let Variation { ply, plies, ending_comment, .. } = record.variations.get_mut(at)?;
    let at = number.checked_sub(*ply)?;
    if at == plies.len() { Some(ending_comment) } else { plies.get_mut(at).map(|ply| &mut ply.comment) }
}
