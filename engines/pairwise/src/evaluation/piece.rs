//! Initial piece values.

use rsshogi::types::PieceType;

/// Value of a piece on the board in centipawns; 0 for a king. Also used for static exchange evaluation and move
/// ordering.
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

/// Value of a piece in hand in centipawns. It must not exceed the value on the board, or the engine would avoid
/// drops.
pub const fn hand_value(kind: PieceType) -> i32 {
    piece_value(kind)
}
