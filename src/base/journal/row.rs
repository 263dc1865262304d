//! Conversions between the values of an entry and the columns of a row.

use contest::schedule::Pairing;
use referee::{
    Color, Outcome,
    clock::TimeControl,
    entry::{GameId, Moved, PlayerId, Score, Thought},
};
use rsshogi::types::Move;
use rusqlite::{Row, types::Type};
use std::{error::Error, time::Duration};

/// Columns that [`pairing`] reads.
pub(super) const PAIRING: &str =
    "g.number, g.stage, g.index_, g.attempt, g.round, g.pair, g.opening, g.black, g.white";
/// Columns that [`outcome`] reads.
pub(super) const OUTCOME: &str = "g.result, g.cause";
/// Columns that [`moved`] reads.
pub(super) const MOVED: &str = "at, ply, color, move, charged_ms, elapsed_us, left_ms, depth, seldepth, score_cp, \
     mate, nodes, nps, engine_ms, pv";

/// The kinds of entries that have tables, and these tables, keyed by the entry's number in the log.
pub(super) const TABLES: [(&str, &str); 9] = [
    ("opened", "runs"),
    ("entered", "entered"),
    ("renamed", "renamed"),
    ("bye", "byes"),
    ("fault", "faults"),
    ("memory", "memory"),
    ("verdict", "verdicts"),
    ("operation", "operations"),
    ("closed", "closings"),
];

/// The table of the entries of a kind that has one.
pub(super) fn table_of(kind: &str) -> Option<&'static str> {
    TABLES.iter().find(|(known, _)| *known == kind).map(|(_, table)| *table)
}

/// Saturates at SQLite's largest integer, 2^63 - 1; only an engine's absurd counts reach it.
pub(super) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Error for a column with a value that no entry can have.
pub(super) fn bad(column: usize, what: impl Into<Box<dyn Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, what.into())
}

/// Reads an unsigned number.
pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// Reads an unsigned number or NULL.
fn maybe_unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let value: Option<i64> = row.get(column)?;
    let out_of_range = |value| rusqlite::Error::IntegralValueOutOfRange(column, value);
    value.map(|value| u64::try_from(value).map_err(|_| out_of_range(value))).transpose()
}

/// The game and its place in the schedule, from the columns of [`PAIRING`] starting at `at`.
pub(super) fn pairing(row: &Row<'_>, at: usize) -> rusqlite::Result<(GameId, Pairing)> {
    let pairing = Pairing {
        stage: row.get(at + 1)?,
        index: unsigned(row, at + 2)?,
        attempt: row.get(at + 3)?,
        round: row.get(at + 4)?,
        pair: unsigned(row, at + 5)?,
        opening: unsigned(row, at + 6)?,
        black: PlayerId(row.get(at + 7)?),
        white: PlayerId(row.get(at + 8)?),
    };
    Ok((GameId(unsigned(row, at)?), pairing))
}

/// Time controls of a game whose plan does not have them.
pub(super) fn times(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Box<[TimeControl; 2]>>> {
    row.get_ref(at)?.as_str_or_null()?.map(|json| clocks(json, at)).transpose()
}

/// Time controls of a game from the text of column `at`.
pub(super) fn clocks(json: &str, at: usize) -> rusqlite::Result<Box<[TimeControl; 2]>> {
    serde_json::from_str(json).map_err(|error| bad(at, format!("the clocks of a game: {error}")))
}

/// Value of the column `result`.
pub(super) fn result(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win { winner: Color::Black, .. } => "black",
        Outcome::Win { winner: Color::White, .. } => "white",
        Outcome::Draw { .. } => "draw",
        Outcome::Aborted { .. } => "aborted",
    }
}

/// The outcome, from the columns of [`OUTCOME`]; `None` while the game runs.
pub(super) fn outcome(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Outcome>> {
    let Some(word) = row.get_ref(at)?.as_str_or_null()? else { return Ok(None) };
    let winner = Color::BOTH.into_iter().find(|color| match color {
        Color::Black => word == "black",
        Color::White => word == "white",
    });
    let cause = row.get_ref(at + 1)?.as_str_or_null()?.unwrap_or_default();
    match Outcome::from_cause(cause, winner) {
        Some(outcome) => Ok(Some(outcome)),
        None => Err(bad(at + 1, format!("`{cause}` is not an ending of a game with result `{word}`"))),
    }
}

/// The wall time of a move and the move, from the columns of [`MOVED`].
pub(super) fn moved(row: &Row<'_>, game: GameId) -> rusqlite::Result<(i64, Moved)> {
    let text = row.get_ref(3)?.as_str()?;
    let mv = Move::from_usi(text).ok_or_else(|| bad(3, format!("`{text}` is not a move in USI")))?;
    let white: bool = row.get(2)?;
    let moved = Moved {
        game,
        ply: row.get(1)?,
        color: if white { Color::White } else { Color::Black },
        mv,
        charged: Duration::from_millis(unsigned(row, 4)?),
        elapsed: Duration::from_micros(unsigned(row, 5)?),
        left: Duration::from_millis(unsigned(row, 6)?),
        thought: thought(row)?.map(Box::new),
    };
    Ok((row.get(0)?, moved))
}

fn thought(row: &Row<'_>) -> rusqlite::Result<Option<Thought>> {
    let cp: Option<i32> = row.get(9)?;
    let mate: Option<i32> = row.get(10)?;
    let thought = Thought {
        depth: row.get(7)?,
        seldepth: row.get(8)?,
        score: mate.map(Score::Mate).or(cp.map(Score::Cp)),
        nodes: maybe_unsigned(row, 11)?,
        nps: maybe_unsigned(row, 12)?,
        time: maybe_unsigned(row, 13)?,
        pv: row.get(14)?,
    };
    Ok(Some(thought).filter(|thought| *thought != Thought::default()))
}

/// Writes the move as USI into `text`, replacing its content: [`Move::to_usi`] without its allocations.
pub(super) fn write_usi(mv: Move, text: &mut String) {
    text.clear();
    if !mv.is_normal() {
        text.push_str(&mv.to_usi());
        return;
    }
    match mv.dropped_piece() {
        Some(piece) => {
            let letter = b" PLNSBRG".get(piece.to_index()).copied().unwrap_or(b'?');
            text.push(char::from(letter));
            text.push('*');
        }
        None => push_square(text, mv.from_sq().to_index()),
    }
    push_square(text, mv.to_sq().to_index());
    if mv.is_promotion() {
        text.push('+');
    }
}

/// Square indices run down the files: 0 is 1a, 8 is 1i, 80 is 9i.
fn push_square(text: &mut String, index: usize) {
    let [file, rank] = [index / 9, index % 9].map(|i| u8::try_from(i).unwrap_or(0));
    text.push(char::from(b'1' + file));
    text.push(char::from(b'a' + rank));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_is_spelled_as_rsshogi_spells_it() {
        let mut text = String::new();
        for raw in 0..=u16::MAX {
            let mv = Move::from_raw(raw);
            if mv.is_normal() {
                write_usi(mv, &mut text);
                assert_eq!(text, mv.to_usi());
            }
        }
    }
}
