//! Feature indices of pieces: one per piece on a square, one per piece in hand.
//!
//! Kings have none, since their squares select rows of separate tables. Pieces that move like a gold share the
//! gold's indices; their material values are separate. The nth piece of a kind in hand has an index of its own
//! in addition to those of the first n - 1, so that the relations of several pieces in hand are sums.

use rsshogi::types::{Color, Piece, PieceType, Square};

/// Number of indices, rounded up: row length of the tables.
pub const COUNT: usize = 1536;

/// No piece. Its relations are all zero, so it fills unused slots of the piece list.
pub const NONE: u16 = 0;

/// Kinds of pieces on the board: seven unpromoted ones, horse and dragon.
pub const GROUPS: usize = 9;

const HAND: usize = 1;
const HAND_PER_COLOR: usize = 38;
const BOARD: usize = HAND + 2 * HAND_PER_COLOR;
const SQUARES: usize = Square::COUNT;
const END: usize = BOARD + 2 * GROUPS * SQUARES;

/// By `PieceType`: first index of its pieces in hand, and their maximum number.
const IN_HAND: [(usize, usize); 8] = [(0, 0), (0, 18), (18, 4), (22, 4), (26, 4), (34, 2), (36, 2), (30, 4)];

/// The meaning of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// No piece.
    Nowhere,
    /// The `nth` piece (from 1) of a kind in hand; kinds are numbered as in `PieceType`.
    Hand { color: usize, kind: usize, nth: usize },
    /// A piece on the board.
    Board { color: usize, group: usize, square: usize },
}

/// The index of `piece`, not a king, on `square`.
pub const fn board(piece: Piece, square: Square) -> u16 {
    let group = match piece.piece_type() {
        PieceType::HORSE => 7,
        PieceType::DRAGON => 8,
        kind if kind.is_promoted() => PieceType::GOLD.to_index() - 1,
        kind => kind.to_index() - 1,
    };
    board_at(piece.color().to_index(), group, square.to_index())
}

/// The index of the `nth` piece (from 1) of a kind in hand; [`NONE`] where a set has fewer.
pub const fn hand(color: Color, kind: PieceType, nth: u32) -> u16 {
    hand_at(color.to_index(), kind.to_index(), nth as usize)
}

const fn board_at(color: usize, group: usize, square: usize) -> u16 {
    (BOARD + (color * GROUPS + group) * SQUARES + square) as u16
}

const fn hand_at(color: usize, kind: usize, nth: usize) -> u16 {
    let (first, most) = IN_HAND[kind];
    if nth == 0 || nth > most {
        return NONE;
    }
    (HAND + color * HAND_PER_COLOR + first + nth - 1) as u16
}

/// The meaning of `index`.
pub const fn place(index: u16) -> Place {
    let index = index as usize;
    if index < HAND || index >= END {
        return Place::Nowhere;
    }
    if index >= BOARD {
        let (piece, square) = ((index - BOARD) / SQUARES, (index - BOARD) % SQUARES);
        return Place::Board { color: piece / GROUPS, group: piece % GROUPS, square };
    }
    let (color, rest) = ((index - HAND) / HAND_PER_COLOR, (index - HAND) % HAND_PER_COLOR);
    let mut kind = 1;
    while rest < IN_HAND[kind].0 || rest >= IN_HAND[kind].0 + IN_HAND[kind].1 {
        kind += 1;
    }
    Place::Hand { color, kind, nth: rest - IN_HAND[kind].0 + 1 }
}

/// The same piece from the opponent's view: colours swapped, board rotated by 180 degrees.
pub const fn flip(index: u16) -> u16 {
    FLIPPED[index as usize]
}

/// The same piece on the board mirrored left to right.
pub const fn mirror(index: u16) -> u16 {
    MIRRORED[index as usize]
}

/// The square from the opponent's view.
pub const fn flip_square(square: usize) -> usize {
    SQUARES - 1 - square
}

/// The square on the board mirrored left to right.
pub const fn mirror_square(square: usize) -> usize {
    (8 - square / 9) * 9 + square % 9
}

static FLIPPED: [u16; COUNT] = images(true);
static MIRRORED: [u16; COUNT] = images(false);

const fn images(flipped: bool) -> [u16; COUNT] {
    let mut table = [NONE; COUNT];
    let mut index = 0;
    while index < END {
        table[index] = match place(index as u16) {
            Place::Nowhere => NONE,
            Place::Hand { color, kind, nth } => hand_at(if flipped { 1 - color } else { color }, kind, nth),
            Place::Board { color, group, square } => {
                if flipped {
                    board_at(1 - color, group, flip_square(square))
                } else {
                    board_at(color, group, mirror_square(square))
                }
            }
        };
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_one_index_and_every_image_of_an_image_is_the_piece_itself() {
        for index in 1..END as u16 {
            match place(index) {
                Place::Nowhere => panic!("{index} stands for nothing"),
                Place::Hand { color, kind, nth } => assert_eq!(hand_at(color, kind, nth), index),
                Place::Board { color, group, square } => assert_eq!(board_at(color, group, square), index),
            }
            assert_eq!(flip(flip(index)), index);
            assert_eq!(mirror(mirror(index)), index);
            assert_eq!(mirror(flip(index)), flip(mirror(index)));
            assert_ne!(flip(index), index);
        }
        assert!((END..COUNT).all(|index| place(index as u16) == Place::Nowhere));
    }

    #[test]
    fn a_nineteenth_pawn_in_hand_is_nowhere() {
        assert_ne!(hand(Color::BLACK, PieceType::PAWN, 18), NONE);
        assert_eq!(hand(Color::BLACK, PieceType::PAWN, 19), NONE);
        assert_eq!(hand(Color::WHITE, PieceType::ROOK, 3), NONE);
    }

    #[test]
    fn a_tokin_stands_where_a_gold_would() {
        let square = Square::from_index(40);
        assert_eq!(board(Piece::W_PRO_PAWN, square), board(Piece::W_GOLD, square));
        assert_ne!(board(Piece::B_HORSE, square), board(Piece::B_BISHOP, square));
    }
}
