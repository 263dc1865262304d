//! USI lines: one game a line, with or without `position`, a start and `moves`.

use rsshogi::board::{Position, STARTPOS_SFEN, parse_sfen};
use rsshogi::types::Move;
use std::{borrow::Cow, fmt::Display, ops::ControlFlow};

use super::replay::Replay;
use super::{Each, Ending, GameRecord, RecordFault, within_bound};
use crate::csa::checked_position;

/// True if a line looks like a game or a position in USI notation.
pub(super) fn is_usi(line: &str) -> bool {
    let line = &*with_blanks(line);
    let (start, moves) = split(line);
    match (start, moves.split_whitespace().next()) {
        (Start::Even, None) => !line.is_empty(),
        (Start::Sfen(sfen), _) => {
            parse_sfen(sfen).is_ok() || line.starts_with("sfen") || line.starts_with("position")
        }
        (Start::Even, Some(first)) => line.starts_with(['p', 's']) || Move::from_usi(first).is_some(),
    }
}

enum Start<'a> {
    Even,
    Sfen(&'a str),
}

fn split(line: &str) -> (Start<'_>, &str) {
    let line = without(line, "position").unwrap_or(line);
    if let Some(rest) = without(line, "startpos") {
        return (Start::Even, without(rest, "moves").unwrap_or(rest));
    }
    let sfen = without(line, "sfen").unwrap_or(line);
    let mut marks = sfen.match_indices("moves").map(|(at, _)| sfen.split_at(at));
    match marks
        .find_map(|(start, moves)| Some((start, without(moves, "moves").filter(|_| ends_a_word(start))?)))
    {
        Some(("", moves)) => (Start::Even, moves),
        Some((sfen, moves)) => (Start::Sfen(sfen.trim()), moves),
        None if sfen.contains('/') => (Start::Sfen(sfen), ""),
        None => (Start::Even, line),
    }
}

/// The text after a word at the start of a line; `None` if the line begins with another word.
fn without<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

fn ends_a_word(text: &str) -> bool {
    text.is_empty() || text.ends_with(char::is_whitespace)
}

pub(super) fn read(lines: &mut dyn Iterator<Item = String>, each: &mut Each<'_>) -> ControlFlow<()> {
    (1..).zip(lines).try_for_each(|(at, line)| match line.trim() {
        "" => ControlFlow::Continue(()),
        line if line.starts_with('#') => ControlFlow::Continue(()),
        line => each(at, within_bound(line.len(), at).and_then(|()| game(line, at))),
    })
}

/// A line with its blanks, for which a position in a URL has `_`.
fn with_blanks(line: &str) -> Cow<'_, str> {
    if line.contains('/') { line.replace('_', " ").into() } else { line.into() }
}

fn game(line: &str, at: usize) -> Result<GameRecord, RecordFault> {
    let line = &*with_blanks(line);
    let (start, moves) = split(line);
    let sfen = match start {
        Start::Even => STARTPOS_SFEN,
        Start::Sfen(sfen) => sfen,
    };
    let mut replay = Replay::new(position_of(sfen, at)?, GameRecord::default());
    for word in moves.split_whitespace() {
        match (ending(word, &replay), Move::from_usi(word).filter(|mv| mv.is_normal())) {
            (Some(ending), _) => replay.end(ending)?,
            (None, Some(mv)) => replay.push(mv, at)?,
            (None, None) => return Err(RecordFault::new(at, format!("`{word}` is not a move"))),
        }
    }
    replay.finish()
}

/// The ending of a word in place of a move, as ShogiGUI has them behind the moves. Its `win` is that of the side to move,
/// by a declaration or otherwise.
fn ending(word: &str, replay: &Replay) -> Option<Ending> {
    Some(match word {
        "resign" => Ending::Resign,
        "win" => Ending::Won { by: replay.position().turn() },
        "rep_draw" => Ending::Sennichite,
        "draw" => Ending::Draw,
        "timeout" => Ending::TimeUp,
        "break" => Ending::Interrupted,
        _ => return None,
    })
}

/// The position of an SFEN that a game can start from.
pub(super) fn position_of(sfen: &str, line: usize) -> Result<Position, RecordFault> {
    let fault = |why: &dyn Display| RecordFault::new(line, format!("position `{sfen}`: {why}"));
    let state = parse_sfen(sfen).map_err(|why| fault(&why))?;
    checked_position(&state).map_err(|why| fault(&why))
}

pub(super) fn write(record: &GameRecord) -> Result<String, RecordFault> {
    record.replayed(|_, _, _| {})?;
    let start =
        if record.start == STARTPOS_SFEN { "startpos".to_owned() } else { format!("sfen {}", record.start) };
    let moves = record.usi_moves();
    Ok(if moves.is_empty() { format!("{start}\n") } else { format!("{start} moves {moves}\n") })
}
