//! What single pieces are worth before anything is learned.

use rsshogi::types::PieceType;

/// Centipawns for a piece on the board; 0 for a king. For exchanges and move ordering, too.
pub const fn piece_value(kind: PieceType) -> i32 {
    match kind {
        PieceType::PAWN => 100,
        PieceType::LANCE => 300,
        PieceType::KNIGHT => 330,
        PieceType::SILVER => 480,
        PieceType::GOLD => 560,
        PieceType::BISHOP => 750,
        PieceType::ROOK => 900,
        PieceType::PRO_PAWN => 480,
        PieceType::PRO_LANCE | PieceType::PRO_KNIGHT => 490,
        PieceType::PRO_SILVER => 520,
        PieceType::HORSE => 1000,
        PieceType::DRAGON => 1250,
        _ => 0,
    }
}

/// Centipawns for a piece in hand. Not more than on the board: an engine that likes its hand better than
/// its army never drops.
pub const fn hand_value(kind: PieceType) -> i32 {
    piece_value(kind)
}
