//! The two sides of a game.

use serde::{Deserialize, Serialize};
use std::ops::Not;

/// A side: black (sente) moves first from the even start, white (gote) in a handicap game.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, strum::Display,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Color {
    /// Sente, `b` in SFEN, `+` in CSA.
    #[default]
    Black,
    /// Gote, `w` in SFEN, `-` in CSA.
    White,
}

impl Color {
    /// Both sides, black first.
    pub const BOTH: [Self; 2] = [Self::Black, Self::White];

    /// 0 for black, 1 for white: the index into a `[T; 2]` kept by side.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The mark of the side beside its player's name, its moves and its mates.
    pub const fn sign(self) -> char {
        match self {
            Self::Black => '☗',
            Self::White => '☖',
        }
    }
}

impl Not for Color {
    type Output = Self;
    fn not(self) -> Self {
        match self {
            Self::Black => Self::White,
            Self::White => Self::Black,
        }
    }
}

impl From<rsshogi::types::Color> for Color {
    fn from(color: rsshogi::types::Color) -> Self {
        if color == rsshogi::types::Color::BLACK { Self::Black } else { Self::White }
    }
}

impl From<Color> for rsshogi::types::Color {
    fn from(color: Color) -> Self {
        match color {
            Color::Black => Self::BLACK,
            Color::White => Self::WHITE,
        }
    }
}
