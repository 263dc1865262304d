//! Input planes of a network, each of 9x9 cells; planes of zeros and ones are packed to bits.
//!
//! They are from the view of the side to move: for White the board is rotated by 180 degrees and the colours
//! are swapped. The index of a cell is `9 * (file - 1) + (rank - 1)` on the board so rotated, as in the labels.
//! Planes that are equal in all positions (rank and file planes) are not packed but added when planes are
//! expanded.

mod attacks;
mod expand;

use crate::labels::kind_index;
use rsshogi::{
    board::Position,
    types::{Bitboard, Color, Hand, HandPiece, PieceType},
};
use serde::{Deserialize, Serialize};

pub(crate) use expand::{constants, replace, unpack_on_device};

/// Bytes of a packed bit plane: 81 bits, padded.
pub(crate) const BOARD_BYTES: usize = 11;
/// Planes of pieces on the board: 14 kinds of the side to move, then 14 of the opponent.
const PIECES: usize = 28;
/// Planes of attacked squares: by at least 1, 2 and 3 pieces, of the side to move and then of the opponent.
const ATTACKS: usize = 6;
/// Pieces in hand in optim-shogi's order, with the maximum number of each.
const HANDS: [(HandPiece, usize); 7] = [
    (HandPiece::PAWN, 18),
    (HandPiece::LANCE, 4),
    (HandPiece::KNIGHT, 4),
    (HandPiece::SILVER, 4),
    (HandPiece::GOLD, 4),
    (HandPiece::BISHOP, 2),
    (HandPiece::ROOK, 2),
];
/// Maximum number of pawns in hand in the `joint` planes.
const PAWNS_SHOWN: usize = 8;

/// A set of input planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// 95 planes: pieces on the board (28), squares attacked by at least 1, 2, 3 pieces of each side (6),
    /// pieces in hand with one plane per count reached, pawns up to 8 (2 x 28), check (1), earlier occurrences
    /// of the position in the game: at least one, two, three (3), ones (1).
    Joint,
    /// Nene-shogi's 61 planes: pieces on the board (28), pieces in hand by kind, each plane filled with the
    /// count (2 x 7), one plane per rank (9) and file (9), ones (1).
    Nene,
    /// optim-shogi's 104 planes: pieces on the board (28), pieces in hand with one plane per count reached,
    /// pawns up to 18 (2 x 38).
    Optim,
}

/// The packed planes of a position: [`Features::boards`] planes of 11 bytes each, then one byte for each of the
/// [`Features::fills`] planes with a constant value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Packed(pub(crate) Box<[u8]>);

impl Features {
    /// Total number of planes.
    pub const fn planes(self) -> usize {
        self.boards() + self.fills() + self.constant_planes()
    }

    /// Number of bit planes that depend on the position.
    pub const fn boards(self) -> usize {
        match self {
            Self::Joint => PIECES + ATTACKS,
            Self::Nene | Self::Optim => PIECES,
        }
    }

    /// Number of planes filled with a number that depends on the position.
    pub const fn fills(self) -> usize {
        match self {
            Self::Joint => 2 * 28 + 1 + 3,
            Self::Nene => 2 * 7,
            Self::Optim => 2 * 38,
        }
    }

    /// Number of planes that are equal in every position; they come last.
    pub const fn constant_planes(self) -> usize {
        match self {
            Self::Joint => 1,
            Self::Nene => 9 + 9 + 1,
            Self::Optim => 0,
        }
    }

    /// Bytes of a packed position.
    pub const fn packed_len(self) -> usize {
        self.boards() * BOARD_BYTES + self.fills()
    }

    /// Packs a position. `seen` is the number of earlier occurrences in its game, which the position does not
    /// contain.
    pub fn pack(self, position: &Position, seen: u8) -> Packed {
        self.pack_view(position, seen, false)
    }

    /// Packs a position, mirrored left to right if wanted: its moves then have the mirrored labels.
    pub fn pack_view(self, position: &Position, seen: u8, mirror: bool) -> Packed {
        let mut packer = Packer {
            bytes: vec![0; self.packed_len()].into_boxed_slice(),
            end: 0,
            turned: position.turn() == Color::WHITE,
            mirror,
        };
        let sides = [position.turn(), position.turn().flip()];
        packer.pieces(position, sides);
        match self {
            Self::Joint => {
                sides
                    .map(|side| attacks::counted(position, side))
                    .iter()
                    .flatten()
                    .for_each(|&b| packer.board(b));
                sides.iter().for_each(|&side| packer.counts(position.hand(side), PAWNS_SHOWN));
                packer.fill(position.is_in_check());
                (1..=3).for_each(|times| packer.fill(seen >= times));
            }
            Self::Nene => sides.iter().for_each(|&side| packer.amounts(position.hand(side))),
            Self::Optim => sides.iter().for_each(|&side| packer.counts(position.hand(side), 18)),
        }
        Packed(packer.bytes)
    }
}

struct Packer {
    /// Zeros behind `end`.
    bytes: Box<[u8]>,
    end: usize,
    turned: bool,
    mirror: bool,
}

impl Packer {
    fn pieces(&mut self, position: &Position, sides: [Color; 2]) {
        for side in sides {
            for kind in kinds() {
                self.board(bits(position.pieces_for(kind, side)));
            }
        }
    }

    fn board(&mut self, bits: u128) {
        let bits = if self.turned { turned(bits) } else { bits };
        let bits = if self.mirror { mirrored(bits) } else { bits };
        self.next(BOARD_BYTES).copy_from_slice(&bits.to_le_bytes()[..BOARD_BYTES]);
    }

    /// The next bytes to write.
    fn next(&mut self, count: usize) -> &mut [u8] {
        let begin = self.end;
        self.end += count;
        &mut self.bytes[begin..self.end]
    }

    fn fill(&mut self, set: bool) {
        self.next(1)[0] = u8::from(set);
    }

    fn counts(&mut self, hand: Hand, most_pawns: usize) {
        for (piece, most) in HANDS {
            let held = hand.count(piece) as usize;
            let shown = if piece == HandPiece::PAWN { most_pawns } else { most };
            self.next(shown)[..held.min(shown)].fill(1);
        }
    }

    fn amounts(&mut self, hand: Hand) {
        HandPiece::iter().for_each(|piece| self.next(1)[0] = hand.count(piece) as u8);
    }
}

fn kinds() -> impl Iterator<Item = PieceType> {
    (PieceType::PAWN.raw()..=PieceType::DRAGON.raw())
        .map(PieceType::new)
        .filter(|&kind| kind_index(kind).is_some())
}

/// The board rotated by 180 degrees: cell 0 becomes cell 80.
fn turned(bits: u128) -> u128 {
    bits.reverse_bits() >> (128 - 81)
}

/// The board mirrored: file 1 becomes file 9.
fn mirrored(bits: u128) -> u128 {
    (0..9).fold(0, |board, file| board | ((bits >> (9 * file)) & 0x1ff) << (9 * (8 - file)))
}

/// A set of squares as bits.
fn bits(board: Bitboard) -> u128 {
    board.packed_bits()
}

#[cfg(test)]
mod tests;
