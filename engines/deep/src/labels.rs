//! Names for moves that a network can answer with: one number for each kind of move to each square, seen by the
//! player to move.

use rsshogi::{
    board::Position,
    labels::policy::MoveLabel,
    types::{Color, Move, PieceType, Square},
};
use serde::{Deserialize, Serialize};

/// A set of labels. White's moves are named as if the board were turned, so that both players share one set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// 2,187 labels: 27 ways (10 directions, the same 10 with promotion, 7 drops) to reach each of 81 squares. No two
    /// legal moves of a position share one.
    Directional,
    /// 1,134 labels: the 14 kinds of piece that stand on each of 81 squares after the move, as optim-shogi had them.
    /// Two like pieces that reach one square share a label, and so do a move and a drop.
    KindAndSquare,
}

impl Labels {
    /// How many ways there are to reach a square.
    pub const fn ways(self) -> usize {
        match self {
            Self::Directional => 27,
            Self::KindAndSquare => 14,
        }
    }

    /// How many labels there are.
    pub const fn count(self) -> usize {
        self.ways() * Square::COUNT
    }

    /// The label of a move of the player to move, below [`count`](Self::count); `None` for what is no move on the
    /// board, such as a resignation.
    pub fn label(self, position: &Position, mv: Move) -> Option<u16> {
        match self {
            Self::Directional => MoveLabel::from_move(mv, position.turn()).map(MoveLabel::raw),
            Self::KindAndSquare if mv.is_normal() => kind_and_square(position, mv),
            Self::KindAndSquare => None,
        }
    }

    /// The label of the same move where left and right are exchanged.
    pub fn mirrored(self, label: u16) -> u16 {
        match self {
            Self::Directional => MoveLabel::from_raw(label).map_or(label, |label| label.mirror_file().raw()),
            Self::KindAndSquare => {
                let (kind, square) = (label / 81, label % 81);
                kind * 81 + (8 - square / 9) * 9 + square % 9
            }
        }
    }
}

fn kind_and_square(position: &Position, mv: Move) -> Option<u16> {
    let to = if position.turn() == Color::WHITE { mv.to_sq().flip() } else { mv.to_sq() };
    let kind = position.moved_piece_after_move(mv).piece_type();
    Some(kind_index(kind)? as u16 * 81 + to.raw() as u16)
}

/// The place of a kind of piece among the 14, in the order pawn, lance, knight, silver, bishop, rook, gold, king,
/// promoted pawn, lance, knight and silver, horse, dragon.
pub(crate) fn kind_index(kind: PieceType) -> Option<usize> {
    (PieceType::PAWN.raw()..=PieceType::DRAGON.raw()).contains(&kind.raw()).then(|| kind.to_index() - 1)
}

#[cfg(test)]
mod tests;
