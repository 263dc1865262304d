//! What a position is worth: material and the relations of every two pieces (KK, KP and PP).
//!
//! [`Weights`] are the knowledge, [`Accumulator`] the sums for one position. A search keeps one accumulator
//! for each ply: [`Weights::accumulate`] at the root, [`Weights::advance`] before each move is made, the
//! parent's again after it is taken back; a null move changes nothing. [`Weights::value`] then reads the
//! value off in a few operations.

mod piece;

use std::{io, path::Path, path::PathBuf};

use rsshogi::board::Position;
use rsshogi::types::{Color, HandPiece, Move32, Piece};

pub use piece::{hand_value, piece_value};

/// What the evaluation knows. Large; one is shared by all threads.
#[derive(Clone, Debug, Default)]
pub struct Weights {}

/// The sums for one position, to be brought up to date by each move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulator {
    material: i32,
}

/// Why there are no weights.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The file cannot be opened or read.
    #[error("evaluation file `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's account.
        source: io::Error,
    },
    /// The bytes are no weights.
    #[error("{0}")]
    Malformed(&'static str),
}

impl Weights {
    /// Knows what pieces are worth, and nothing else.
    pub fn material() -> Self {
        Self {}
    }

    /// The weights that are part of the program.
    pub fn embedded() -> Self {
        Self::material()
    }

    /// What the option `EvalFile` names: nothing or `default` the embedded weights, `material` only the
    /// value of pieces, all else a file.
    ///
    /// # Errors
    /// When the file is missing or holds no weights.
    pub fn choose(name: &str) -> Result<Self, WeightsError> {
        match name {
            "" | "default" => Ok(Self::embedded()),
            "material" => Ok(Self::material()),
            path => Self::load(Path::new(path)),
        }
    }

    /// Reads a weights file.
    ///
    /// # Errors
    /// When it is missing or holds no weights.
    pub fn load(path: &Path) -> Result<Self, WeightsError> {
        std::fs::read(path).map_err(|source| WeightsError::Unreadable { path: path.to_owned(), source })?;
        Err(WeightsError::Malformed("not yet"))
    }

    /// The sums of `position`, from nothing.
    pub fn accumulate(&self, position: &Position) -> Accumulator {
        let board = position.board_array();
        let on_board: i32 = board.iter().map(|(_, piece)| signed(piece)).sum();
        let in_hand = |color: Color| {
            let hand = position.hand(color);
            HandPiece::iter()
                .map(|kind| hand.count(kind).cast_signed() * hand_value(kind.to_piece_type()))
                .sum::<i32>()
        };
        Accumulator { material: on_board + in_hand(Color::BLACK) - in_hand(Color::WHITE) }
    }

    /// The sums after the legal move `mv`. To be called before the move is made: `position` is the one
    /// that `accumulator` belongs to.
    pub fn advance(&self, accumulator: &Accumulator, position: &Position, mv: Move32) -> Accumulator {
        if mv.is_drop() {
            return *accumulator;
        }
        let sign = if position.turn() == Color::BLACK { 1 } else { -1 };
        let captured = position.piece_on(mv.to_sq());
        let mut gain = 0;
        if !captured.is_empty() {
            let kind = captured.piece_type();
            gain += piece_value(kind) + hand_value(kind.demote());
        }
        if mv.is_promotion() {
            let kind = position.piece_on(mv.from_sq()).piece_type();
            gain += piece_value(kind.promote()) - piece_value(kind);
        }
        Accumulator { material: accumulator.material + sign * gain }
    }

    /// The value of `position` for the side to move, in centipawns (an unpromoted pawn is about 100).
    pub fn value(&self, accumulator: &Accumulator, position: &Position) -> i32 {
        if position.turn() == Color::BLACK { accumulator.material } else { -accumulator.material }
    }
}

fn signed(piece: Piece) -> i32 {
    match piece {
        Piece::NONE => 0,
        piece if piece.color() == Color::BLACK => piece_value(piece.piece_type()),
        piece => -piece_value(piece.piece_type()),
    }
}
