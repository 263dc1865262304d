//! Static exchange evaluation: the material result of the captures on one square.

use rsshogi::board::{Bitboard, Position};
use rsshogi::types::{Color, Move32, PieceType, Square};

use crate::evaluation::{hand_value, piece_value};

/// Order in which the pieces of a side capture.
const CHEAPEST_FIRST: [PieceType; 14] = [
    PieceType::PAWN,
    PieceType::LANCE,
    PieceType::KNIGHT,
    PieceType::SILVER,
    PieceType::PRO_PAWN,
    PieceType::PRO_LANCE,
    PieceType::PRO_KNIGHT,
    PieceType::PRO_SILVER,
    PieceType::GOLD,
    PieceType::BISHOP,
    PieceType::ROOK,
    PieceType::HORSE,
    PieceType::DRAGON,
    PieceType::KING,
];

/// Change of the material balance by capturing a piece, in centipawns: the opponent loses it, and the capturer
/// gains it in hand, unpromoted.
pub fn captured_value(kind: PieceType) -> i32 {
    piece_value(kind) + hand_value(kind.demote())
}

/// Immediate material gain of `mv` in centipawns: captured piece plus promotion.
pub fn gain(position: &Position, mv: Move32) -> i32 {
    if mv.is_drop() {
        return 0;
    }
    let taken = position.piece_on(mv.to_sq());
    let taken = if taken.is_empty() { 0 } else { captured_value(taken.piece_type()) };
    let after = mv.piece_after_move().piece_type();
    let promoted = if mv.is_promotion() { piece_value(after) - piece_value(after.demote()) } else { 0 };
    taken + promoted
}

/// True if `mv` followed by the best captures of both sides on its square gains at least `threshold`
/// centipawns.
pub fn exchange_gains(position: &Position, mv: Move32, threshold: i32) -> bool {
    let ahead = gain(position, mv) - threshold;
    if ahead < 0 {
        return false;
    }
    let at_stake = captured_value(mv.piece_after_move().piece_type());
    if ahead >= at_stake {
        return true;
    }
    let mut occupied = position.pieces() | Bitboard::from_square(mv.to_sq());
    if !mv.is_drop() {
        occupied.clear(mv.from_sq());
    }
    goes_well(position, mv.to_sq(), occupied, at_stake - ahead)
}

/// Plays out the captures on `square`, which the mover has just entered; returns whether the mover reaches its
/// threshold. `margin` is the opponent's lead over its own threshold if it captures and is not recaptured.
fn goes_well(position: &Position, square: Square, mut occupied: Bitboard, mut margin: i32) -> bool {
    let us = position.turn();
    let mut side = us;
    let mut well = true;
    loop {
        side = side.flip();
        let attackers = position.attackers_to_color(side, square, occupied) & occupied;
        let Some((from, kind)) = cheapest(position, attackers, side) else { return well };
        if kind == PieceType::KING {
            let guards = position.attackers_to_color(side.flip(), square, occupied) & occupied;
            return if guards.is_empty() { !well } else { well };
        }
        well = !well;
        margin = captured_value(kind) - margin;
        // The side reaches its threshold even if this capturer is lost (the mover must be at least even, the
        // opponent strictly ahead).
        if margin < i32::from(well) {
            return well;
        }
        occupied.clear(from);
    }
}

fn cheapest(position: &Position, attackers: Bitboard, side: Color) -> Option<(Square, PieceType)> {
    if attackers.is_empty() {
        return None;
    }
    CHEAPEST_FIRST.iter().find_map(|&kind| {
        let from = (attackers & position.pieces_for(kind, side)).lsb()?;
        Some((from, kind))
    })
}

#[cfg(test)]
mod tests {
    use rsshogi::board::position_from_sfen;

    use super::*;

    /// The largest threshold for which the exchange succeeds, found by trying thresholds.
    fn value(sfen: &str, mv: &str) -> i32 {
        let position = position_from_sfen(sfen).unwrap();
        let mv = position.move32_from_usi(mv).unwrap();
        (-5000..5000).rev().find(|&threshold| exchange_gains(&position, mv, threshold)).unwrap()
    }

    #[test]
    fn an_unguarded_piece_is_won() {
        assert_eq!(value("4k4/9/9/9/4p4/9/9/9/4R3K b - 1", "5i5e"), 200);
    }

    #[test]
    fn a_guarded_pawn_costs_the_rook_that_takes_it() {
        assert_eq!(value("4k4/9/9/4p4/4p4/9/9/9/4R3K b - 1", "5i5e"), 200 - 1800);
    }

    #[test]
    fn the_cheapest_piece_takes_first_and_the_ones_behind_it_join() {
        // Silver takes pawn, silver takes silver, lance takes silver.
        let sfen = "4k4/9/9/4s4/4p4/5S3/4L4/9/8K b - 1";
        assert_eq!(value(sfen, "4f5e"), 200 - 960 + 960);
        // With a second defending silver, capturing the pawn loses material.
        assert_eq!(value("4k4/9/9/3ss4/4p4/5S3/4L4/9/8K b - 1", "4f5e"), 200 - 960 + 960 - 600);
    }

    #[test]
    fn a_king_does_not_take_what_is_guarded() {
        assert_eq!(value("9/4k4/9/9/9/9/9/4L4/8K b G 1", "G*5c"), 0);
        assert_eq!(value("9/4k4/9/9/9/9/9/9/8K b G 1", "G*5c"), -1120);
    }

    #[test]
    fn promotion_counts() {
        assert_eq!(value("k8/9/9/4P4/9/9/9/9/8K b - 1", "5d5c+"), 380);
        assert_eq!(value("4k4/3g5/9/4P4/9/9/9/9/8K b - 1", "5d5c"), -200);
    }
}
