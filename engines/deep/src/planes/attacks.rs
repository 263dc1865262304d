//! Number of attackers of each square.

use super::bits;
use rsshogi::{
    board::{
        Bitboard, GOLD_ATTACKS, KING_ATTACKS, KNIGHT_ATTACKS, PAWN_ATTACKS, Position, SILVER_ATTACKS,
        attack_tables::{bishop_attacks, lance_attacks, rook_attacks},
    },
    types::{Color, Piece, PieceType, Square},
};

/// The squares attacked by at least one, two and three pieces of a side.
pub(super) fn counted(position: &Position, side: Color) -> [u128; 3] {
    let occupied = position.pieces();
    let mut at_least = [0u128; 3];
    for square in position.pieces_by_color(side).iter() {
        let attacked = bits(attacks(position.piece_on(square), square, side, occupied));
        at_least[2] |= at_least[1] & attacked;
        at_least[1] |= at_least[0] & attacked;
        at_least[0] |= attacked;
    }
    at_least
}

fn attacks(piece: Piece, square: Square, side: Color, occupied: Bitboard) -> Bitboard {
    let towards = side.to_index();
    match piece.piece_type() {
        PieceType::PAWN => PAWN_ATTACKS[square][towards],
        PieceType::LANCE => lance_attacks(square, occupied, side),
        PieceType::KNIGHT => KNIGHT_ATTACKS[square][towards],
        PieceType::SILVER => SILVER_ATTACKS[square][towards],
        PieceType::BISHOP => bishop_attacks(square, occupied),
        PieceType::ROOK => rook_attacks(square, occupied),
        PieceType::KING => KING_ATTACKS[square],
        PieceType::HORSE => bishop_attacks(square, occupied) | KING_ATTACKS[square],
        PieceType::DRAGON => rook_attacks(square, occupied) | KING_ATTACKS[square],
        _ => GOLD_ATTACKS[square][towards],
    }
}
