//! USEN: a game as one word of a URL.
//!
//! `START~PLY.MOVES.END`, then branches likewise. START is an SFEN without its move number (`/` as `_`, blank as
//! `.`, `+` as `z`), empty for the even game. A move is three base-36 digits of `(from * 81 + to) * 2 + promotes`
//! with squares counted along ranks from 1a; a drop comes from 81 and up.

use rsshogi::board::STARTPOS_SFEN;
use rsshogi::types::{Move, PieceType, Square};

use super::lines::position_of;
use super::replay::Replay;
use super::{Ending, GameRecord, RecordFault};
use crate::csa::square;

/// Hand pieces with their numbers beyond 81.
const DROPS: [(PieceType, u32); 7] = [
    (PieceType::GOLD, 9),
    (PieceType::PAWN, 10),
    (PieceType::LANCE, 11),
    (PieceType::KNIGHT, 12),
    (PieceType::SILVER, 13),
    (PieceType::BISHOP, 14),
    (PieceType::ROOK, 15),
];

/// True if a line looks like USEN.
pub(super) fn is_usen(line: &str) -> bool {
    line.split_once('~').is_some_and(|(start, game)| {
        start.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
            && game.starts_with(|c: char| c.is_ascii_digit())
            && game.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'~'))
    })
}

pub(super) fn read(lines: &[String]) -> Result<Vec<GameRecord>, RecordFault> {
    let games = lines.iter().enumerate().map(|(index, line)| (index + 1, line.trim()));
    games.filter(|(_, line)| !line.is_empty()).map(|(at, line)| game(line, at)).collect()
}

fn game(line: &str, at: usize) -> Result<GameRecord, RecordFault> {
    let fault = |reason: String| RecordFault::new(at, reason);
    let mut sections = line.split('~');
    let start = sections.next().unwrap_or_default();
    let sfen = if start.is_empty() {
        STARTPOS_SFEN.to_owned()
    } else {
        format!("{} 1", start.replace('_', "/").replace('.', " ").replace('z', "+"))
    };
    let mut replay = Replay::new(position_of(&sfen, at)?, GameRecord::default());
    let mut main = sections.next().unwrap_or_default().split('.').skip(1);
    let moves = main.next().unwrap_or_default();
    for code in moves.as_bytes().chunks(3) {
        let mv = move_of(code)
            .ok_or_else(|| fault(format!("`{}` is not a move", String::from_utf8_lossy(code))))?;
        replay.push(mv, at)?;
    }
    match main.next().unwrap_or_default() {
        "" => {}
        "r" => replay.end(Ending::Resign)?,
        "t" => replay.end(Ending::TimeUp)?,
        "j" => replay.end(Ending::Impasse)?,
        "p" => replay.end(Ending::Interrupted)?,
        other => replay.end(Ending::unknown(other))?,
    }
    replay.finish()
}

fn move_of(code: &[u8]) -> Option<Move> {
    let number =
        u32::from_str_radix(std::str::from_utf8(code).ok().filter(|code| code.len() == 3)?, 36).ok()?;
    let (promotes, to, from) = (number % 2 == 1, square_of(number / 2 % 81)?, number / 2 / 81);
    match (from.checked_sub(81), promotes) {
        (Some(drop), false) => {
            DROPS.iter().find(|(_, number)| *number == drop).map(|(piece, _)| Move::drop(*piece, to))
        }
        (Some(_), true) => None,
        (None, false) => Some(Move::normal(square_of(from)?, to)),
        (None, true) => Some(Move::promotion(square_of(from)?, to)),
    }
}

fn square_of(number: u32) -> Option<Square> {
    square((number % 9 + 1) as u8, (number / 9 + 1) as u8)
}

fn number_of(square: Square) -> u32 {
    (i32::from(square.rank().raw()) * 9 + i32::from(square.file().raw())) as u32
}

pub(super) fn write(record: &GameRecord) -> Result<String, RecordFault> {
    let mut moves = String::new();
    record.replayed(|_, _, ply| {
        let from = match ply.mv.dropped_piece() {
            Some(piece) => {
                81 + DROPS.iter().find(|(kind, _)| *kind == piece).map_or(0, |(_, number)| *number)
            }
            None => number_of(ply.mv.from_sq()),
        };
        let number = (from * 81 + number_of(ply.mv.to_sq())) * 2 + u32::from(ply.mv.is_promotion());
        moves.extend(
            [number / 1296, number / 36 % 36, number % 36]
                .map(|digit| char::from_digit(digit, 36).unwrap_or('0')),
        );
    })?;
    let start = if record.start == STARTPOS_SFEN {
        String::new()
    } else {
        let without_number = record.start.split_whitespace().take(3).collect::<Vec<_>>().join(".");
        without_number.replace('/', "_").replace('+', "z")
    };
    let end = match &record.ending {
        None => "",
        Some(Ending::Resign | Ending::Mate) => "r",
        Some(Ending::TimeUp) => "t",
        Some(ending) if ending.is_draw() => "j",
        Some(_) => "p",
    };
    Ok(format!("{start}~0.{moves}.{end}\n"))
}
