//! Policy labels: the index of a move in the network's policy output, from the view of the side to move.

use rsshogi::{
    board::Position,
    labels::policy::MoveLabel,
    types::{Color, Move, PieceType, Square},
};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Directional labels of the moves of Black and of White by their raw form: a search asks for some eighty for every position.
static DIRECTIONAL: LazyLock<[Vec<u16>; 2]> =
    LazyLock::new(|| [Color::BLACK, Color::WHITE].map(directional_labels));
/// The entry of what is no move.
const NO_LABEL: u16 = u16::MAX;

fn directional_labels(side: Color) -> Vec<u16> {
    let squares = || (0..Square::COUNT as i8).map(Square::new);
    let on_board = squares()
        .flat_map(|to| squares().flat_map(move |from| [Move::normal(from, to), Move::promotion(from, to)]));
    let pieces = (PieceType::PAWN.raw()..=PieceType::GOLD.raw()).map(PieceType::new);
    let drops = pieces.flat_map(|piece| squares().map(move |to| Move::drop(piece, to)));
    let mut labels = vec![NO_LABEL; 1 << 16];
    for mv in on_board.chain(drops) {
        let label = MoveLabel::from_move(mv, side).map_or(NO_LABEL, MoveLabel::raw);
        labels[usize::from(mv.raw())] = label;
    }
    labels
}

/// A set of labels. White's moves are encoded on the rotated board, so that both sides share the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// 2,187 labels: 27 ways (10 directions, the same 10 with promotion, 7 drops) to reach each of 81 squares.
    /// No two legal moves of a position share one.
    Directional,
    /// 1,134 labels, as in optim-shogi: the kind of piece after the move (14) and its square (81). Moves of two
    /// pieces of a kind to one square share a label, and so do a move and a drop.
    KindAndSquare,
}

impl Labels {
    /// Number of ways to reach a square: policy planes.
    pub const fn ways(self) -> usize {
        match self {
            Self::Directional => 27,
            Self::KindAndSquare => 14,
        }
    }

    /// Number of labels.
    pub const fn count(self) -> usize {
        self.ways() * Square::COUNT
    }

    /// The label of a move of the side to move, below [`count`](Self::count); `None` for a resignation and the
    /// like.
    pub fn label(self, position: &Position, mv: Move) -> Option<u16> {
        match self {
            Self::Directional => {
                let label = DIRECTIONAL[position.turn().to_index()][usize::from(mv.raw())];
                (label != NO_LABEL).then_some(label)
            }
            Self::KindAndSquare if mv.is_normal() => kind_and_square(position, mv),
            Self::KindAndSquare => None,
        }
    }

    /// The label of the move mirrored left to right.
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

/// The index of a kind of piece, 0 to 13, in the order pawn, lance, knight, silver, bishop, rook, gold, king,
/// promoted pawn, lance, knight and silver, horse, dragon.
pub(crate) fn kind_index(kind: PieceType) -> Option<usize> {
    (PieceType::PAWN.raw()..=PieceType::DRAGON.raw()).contains(&kind.raw()).then(|| kind.to_index() - 1)
}

#[cfg(test)]
mod tests;
