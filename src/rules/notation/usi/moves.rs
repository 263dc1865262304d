//! Moves in USI notation.

use rsshogi::types::{Move, PieceType, Square};

/// Appends a move in USI notation without a temporary string: a `position` line holds the whole game.
pub fn push_move(out: &mut String, mv: Move) {
    match mv.dropped_piece() {
        Some(piece) => {
            out.push(piece_letter(piece));
            out.push('*');
        }
        None => push_square(out, mv.from_sq()),
    }
    push_square(out, mv.to_sq());
    if mv.is_promotion() {
        out.push('+');
    }
}

fn push_square(out: &mut String, square: Square) {
    out.push(char::from(b'1' + square.file().raw() as u8));
    out.push(char::from(b'a' + square.rank().raw() as u8));
}

const fn piece_letter(piece: PieceType) -> char {
    match piece {
        PieceType::PAWN => 'P',
        PieceType::LANCE => 'L',
        PieceType::KNIGHT => 'N',
        PieceType::SILVER => 'S',
        PieceType::BISHOP => 'B',
        PieceType::ROOK => 'R',
        _ => 'G',
    }
}
