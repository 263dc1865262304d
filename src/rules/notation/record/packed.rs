//! Training positions: PSV (40 bytes) and hcpe (38 bytes), one entry a ply.
//!
//! PSV: packed SFEN, i16 score and i8 result by the side to move, u16 move, u16 ply. hcpe: huffman-coded position,
//! i16 score by the side to move, u16 move, i8 result by colour. Consecutive entries that continue each other are
//! read as one game.

use rsshogi::board::{HuffmanCodedPos, HuffmanCodedPosError, PackedSfenError, Position};
use rsshogi::records::{
    HCPE_ENTRY_BYTES, HcpeGameResult, HuffmanCodedPosAndEval, decode_entry, encode_entry,
};
use rsshogi::types::{Color, Move};
use std::{
    fmt::Display,
    io::{self, BufRead, Read as _},
    ops::ControlFlow,
};

use super::replay::Replay;
use super::{Each, Ending, Flaw, Format, GameRecord, RecordFault};
use crate::csa::checked_position;

const PSV_ENTRY_BYTES: usize = 40;

/// One position of a training file.
struct Entry {
    position: Position,
    mv: Move,
    /// Centipawns, by the side to move.
    score: i16,
    /// `None` for a draw.
    winner: Option<Color>,
    /// The position's number, where the format has one.
    ply: Option<u16>,
}

/// Reads a binary file from its head on; without a hint, the format follows from the length of that and the first entry.
pub(super) fn read(
    bytes: &[u8],
    rest: impl BufRead,
    hint: Option<Format>,
    each: &mut Each<'_>,
) -> ControlFlow<()> {
    let fits = |size: usize, first: fn(&[u8], usize) -> Result<Entry, RecordFault>| {
        bytes.len().is_multiple_of(size) && bytes.get(..size).is_some_and(|entry| first(entry, 1).is_ok())
    };
    let (psv, hcpe) = (fits(PSV_ENTRY_BYTES, psv_entry), fits(HCPE_ENTRY_BYTES, hcpe_entry));
    let all = bytes.chain(rest);
    let games = match hint {
        Some(Format::Hcpe) if hcpe || !psv => games(all, HCPE_ENTRY_BYTES, hcpe_entry, each),
        Some(Format::Psv) if psv || !hcpe => games(all, PSV_ENTRY_BYTES, psv_entry, each),
        _ if psv => games(all, PSV_ENTRY_BYTES, psv_entry, each),
        _ if hcpe => games(all, HCPE_ENTRY_BYTES, hcpe_entry, each),
        _ => Err(RecordFault::new(1, "unknown record format")),
    };
    games.unwrap_or_else(|fault| each(fault.line, Err(fault)))
}

fn games(
    mut file: impl BufRead,
    size: usize,
    read: fn(&[u8], usize) -> Result<Entry, RecordFault>,
    each: &mut Each<'_>,
) -> Result<ControlFlow<()>, RecordFault> {
    let mut open: Option<(usize, Replay)> = None;
    let mut finish =
        |game: Option<(usize, Replay)>| game.into_iter().try_for_each(|(at, game)| each(at, game.finish()));
    let mut bytes = Vec::with_capacity(size);
    for at in 1.. {
        bytes.clear();
        let unread = |error: io::Error| RecordFault::new(at, format!("cannot be read: {error}"));
        if file.by_ref().take(size as u64).read_to_end(&mut bytes).map_err(unread)? == 0 {
            break;
        }
        let entry = read(&bytes, at)?;
        let score = if entry.position.turn() == Color::BLACK {
            i32::from(entry.score)
        } else {
            -i32::from(entry.score)
        };
        let ending = entry.winner.map_or(Ending::Draw, |by| Ending::Won { by });
        let (first, mut replay) = match open.take() {
            Some(game) if continues(&game.1, &entry, &ending) => game,
            game => {
                if finish(game).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                (at, begin(&entry))
            }
        };
        replay.reopen();
        replay.push(entry.mv, at)?;
        replay.score(score);
        replay.end(ending)?;
        open = Some((first, replay));
    }
    Ok(finish(open))
}

/// A game from the position of an entry on. A number of 0, which no SFEN has, stays in the start position.
fn begin(entry: &Entry) -> Replay {
    let mut replay = Replay::new(entry.position.clone(), GameRecord::default());
    if entry.ply == Some(0) {
        replay.record.start = entry.position.to_sfen(Some(0));
    }
    replay
}

fn continues(game: &Replay, next: &Entry, ending: &Ending) -> bool {
    let number = |start: &str| start.rsplit(' ').next().and_then(|number| number.parse::<usize>().ok());
    let expected = number(&game.record.start).map(|first| first + game.len());
    game.ending() == Some(ending)
        && next.ply.is_none_or(|ply| expected == Some(ply.into()))
        && game.position().to_sfen(Some(-1)) == next.position.to_sfen(Some(-1))
}

fn psv_entry(bytes: &[u8], at: usize) -> Result<Entry, RecordFault> {
    let fault = |reason: String| RecordFault::new(at, reason);
    let bytes: [u8; PSV_ENTRY_BYTES] = bytes.try_into().map_err(|_| fault("entry cut short".to_owned()))?;
    let mut packed = [0; 32];
    packed.copy_from_slice(&bytes[..32]);
    let mut position = Position::empty();
    let ply = u16::from_le_bytes([bytes[36], bytes[37]]);
    position
        .set_packed_sfen(&rsshogi::board::PackedSfen::from_bytes(packed), false, ply)
        .map_err(|why| fault(format!("packed position: {why}")))?;
    let turn = position.turn();
    let winner = match bytes[38] as i8 {
        0 => None,
        1 => Some(turn),
        -1 => Some(turn.flip()),
        other => return Err(fault(format!("game result {other}"))),
    };
    let raw = u16::from_le_bytes([bytes[34], bytes[35]]);
    let score = i16::from_le_bytes([bytes[32], bytes[33]]);
    Ok(Entry { ply: Some(ply), ..entry(position, Move::from_raw(raw), score, winner, at)? })
}

fn hcpe_entry(bytes: &[u8], at: usize) -> Result<Entry, RecordFault> {
    let parsed = decode_entry(bytes).map_err(|why| RecordFault::new(at, why.to_string()))?;
    let mut position = Position::empty();
    position
        .set_huffman_coded_pos(&parsed.hcp, 1)
        .map_err(|why| RecordFault::new(at, format!("huffman-coded position: {why}")))?;
    let winner = match parsed.game_result {
        HcpeGameResult::Draw => None,
        HcpeGameResult::BlackWin => Some(Color::BLACK),
        HcpeGameResult::WhiteWin => Some(Color::WHITE),
    };
    entry(position, parsed.best_move16.to_move(), parsed.eval, winner, at)
}

fn entry(
    position: Position,
    mv: Move,
    score: i16,
    winner: Option<Color>,
    at: usize,
) -> Result<Entry, RecordFault> {
    let position = checked_position(&rsshogi::board::generate_position_state(&position))
        .map_err(|reason| RecordFault::new(at, reason))?;
    if super::replay::can_play(&position, mv) {
        Ok(Entry { position, mv, score, winner, ply: None })
    } else {
        Err(RecordFault { line: at, what: Flaw::IllegalLabel })
    }
}

/// The score of a ply from its mover's side, clamped to 16 bits; 0 without a score.
fn relative_score(ply: &super::Ply, mover: Color) -> i16 {
    let score = ply.score.unwrap_or(0).clamp(-i32::from(i16::MAX), i32::from(i16::MAX)) as i16;
    if mover == Color::BLACK { score } else { -score }
}

/// Writes a game with a result; an unfinished game has no label for training.
fn entries<E: Display>(
    record: &GameRecord,
    mut each: impl FnMut(&Position, &super::Ply, i16, Option<Color>) -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, RecordFault> {
    let drawn = record.ending.as_ref().is_some_and(Ending::is_draw);
    let winner = record.winner();
    if winner.is_none() && !drawn {
        return Err(RecordFault::new(record.plies.len().max(1), "a game without a result"));
    }
    let mut out = Ok(Vec::new());
    record.replayed(|position, index, ply| {
        if let Ok(bytes) = &mut out {
            match each(position, ply, relative_score(ply, position.turn()), winner) {
                Ok(entry) => bytes.extend(entry),
                Err(why) => out = Err(RecordFault::new(index + 1, why.to_string())),
            }
        }
    })?;
    out
}

pub(super) fn write_psv(record: &GameRecord) -> Result<Vec<u8>, RecordFault> {
    entries(record, |position, ply, score, winner| {
        let packed = position.try_to_packed_sfen()?;
        let mut out = packed.as_bytes().to_vec();
        out.extend(score.to_le_bytes());
        out.extend(ply.mv.raw().to_le_bytes());
        out.extend(position.game_ply().to_le_bytes());
        let result: i8 = winner.map_or(0, |winner| if winner == position.turn() { 1 } else { -1 });
        out.extend([result as u8, 0]);
        Ok::<_, PackedSfenError>(out)
    })
}

pub(super) fn write_hcpe(record: &GameRecord) -> Result<Vec<u8>, RecordFault> {
    entries(record, |position, ply, score, winner| {
        let hcp: HuffmanCodedPos = position.try_to_huffman_coded_pos()?;
        let result = match winner {
            None => HcpeGameResult::Draw,
            Some(Color::BLACK) => HcpeGameResult::BlackWin,
            Some(_) => HcpeGameResult::WhiteWin,
        };
        let entry = HuffmanCodedPosAndEval::new(hcp, score, ply.mv.to_apery(), result);
        Ok::<_, HuffmanCodedPosError>(encode_entry(&entry).to_vec())
    })
}
