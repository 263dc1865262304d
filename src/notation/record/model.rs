//! The neutral record that every format is read into and written from.

use rsshogi::board::STARTPOS_SFEN;
use rsshogi::types::{Color, Move};
use thiserror::Error;

use super::Ending;

/// A game record: start position, moves, players, ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The start position as SFEN, with its move number.
    pub start: String,
    /// The moves of the main line.
    pub plies: Vec<Ply>,
    /// Black's name.
    pub black: Option<String>,
    /// White's name.
    pub white: Option<String>,
    /// Name of the event.
    pub event: Option<String>,
    /// Site of the game.
    pub site: Option<String>,
    /// When the game started, as the file spells it (usually `YYYY/MM/DD HH:MM:SS`).
    pub started: Option<String>,
    /// When the game ended, likewise.
    pub ended: Option<String>,
    /// The time control: `main+byoyomi+increment` in seconds if understood, otherwise the text of the file.
    pub time_control: Option<String>,
    /// Comment on the start position, lines separated by `\n`.
    pub comment: String,
    /// How the game ended; `None` if the record has none.
    pub ending: Option<Ending>,
    /// Time used before the ending, in milliseconds (for a resignation, say).
    pub ending_time_ms: Option<u32>,
}

/// A move of the main line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    /// The move.
    pub mv: Move,
    /// Time used for it, in milliseconds.
    pub time_ms: Option<u32>,
    /// The mover's evaluation in centipawns from black's side, mates as about ±100000, as on floodgate.
    pub score: Option<i32>,
    /// The line expected after the move, from the opponent's reply on.
    pub pv: Vec<Move>,
    /// Comment on the move, lines separated by `\n`.
    pub comment: String,
}

impl Default for GameRecord {
    fn default() -> Self {
        Self {
            start: STARTPOS_SFEN.to_owned(),
            plies: Vec::new(),
            black: None,
            white: None,
            event: None,
            site: None,
            started: None,
            ended: None,
            time_control: None,
            comment: String::new(),
            ending: None,
            ending_time_ms: None,
        }
    }
}

impl From<Move> for Ply {
    fn from(mv: Move) -> Self {
        Self { mv, time_ms: None, score: None, pv: Vec::new(), comment: String::new() }
    }
}

impl GameRecord {
    /// The side to move after the last move.
    pub fn side_to_move(&self) -> Color {
        let white_starts = self.start.split_whitespace().nth(1) == Some("w");
        if white_starts == self.plies.len().is_multiple_of(2) { Color::WHITE } else { Color::BLACK }
    }

    /// The winner; `None` for draws and unfinished games.
    pub fn winner(&self) -> Option<Color> {
        self.ending.as_ref()?.winner(self.side_to_move())
    }

    /// The moves in USI notation, separated by blanks.
    pub fn usi_moves(&self) -> String {
        let mut out = String::new();
        for ply in &self.plies {
            if !out.is_empty() {
                out.push(' ');
            }
            crate::usi::push_move(&mut out, ply.mv);
        }
        out
    }
}

/// A file format of game records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// CSA 2.2, written as UTF-8 (it is ASCII but for names and comments).
    Csa,
    /// CSA 3.0 with its encoding line and milliseconds.
    Csa3,
    /// KIF in CP932.
    Kif,
    /// KIF in UTF-8.
    Kifu,
    /// KI2 in CP932.
    Ki2,
    /// KI2 in UTF-8.
    Ki2u,
    /// JSON Kifu Format.
    Jkf,
    /// One game a line: `startpos moves ..`, `sfen .. moves ..`.
    Usi,
    /// URL-safe SFEN-Extended Notation, one game a line.
    Usen,
    /// YaneuraOu's packed positions, 40 bytes a ply.
    Psv,
    /// Apery's huffman-coded positions with evaluation, 38 bytes a ply.
    Hcpe,
}

impl Format {
    /// The format of a file extension, ignoring case.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "csa" => Self::Csa,
            "kif" => Self::Kif,
            "kifu" => Self::Kifu,
            "ki2" => Self::Ki2,
            "ki2u" => Self::Ki2u,
            "jkf" | "json" => Self::Jkf,
            "usi" | "sfen" => Self::Usi,
            "usen" => Self::Usen,
            "psv" => Self::Psv,
            "hcpe" => Self::Hcpe,
            _ => return None,
        })
    }
}

/// A fault in a record.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {reason}")]
pub struct RecordFault {
    /// The line at fault, from 1. In a binary format, and when a record is written, the entry or ply at fault.
    pub line: usize,
    /// Description of the fault.
    pub reason: String,
}

impl RecordFault {
    pub(crate) fn new(line: usize, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into() }
    }
}
