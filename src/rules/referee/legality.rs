//! The rule that an illegal move breaks.

use crate::Foul;
use rsshogi::{
    board::Position,
    types::{HandPiece, Move, PieceType},
};

/// The foul that `mv` commits in `position`; `None` for a legal move.
///
/// If a move breaks several rules, the most obvious one is named: a missing piece before an occupied square, nifu
/// before uchifuzume, and a king left in check only if nothing else is wrong.
pub fn foul(position: &Position, mv: Move) -> Option<Foul> {
    if !mv.is_normal() {
        return Some(Foul::Unreadable);
    }
    if position.is_legal_move(mv) {
        return None;
    }
    Some(match mv.dropped_piece() {
        Some(piece) => drop_foul(position, mv, piece),
        None => board_foul(position, mv),
    })
}

fn drop_foul(position: &Position, mv: Move, piece: PieceType) -> Foul {
    let us = position.turn();
    let to = mv.to_sq();
    let in_hand = HandPiece::from_piece_type(piece).is_some_and(|p| position.hand(us).count(p) > 0);
    if !in_hand {
        Foul::NotInHand
    } else if !position.is_square_empty(to) {
        Foul::DropOnPiece
    } else if piece == PieceType::PAWN && position.has_pawn_on_file(us, to.file()) {
        Foul::Nifu
    } else if is_dead_end(position, mv, piece) {
        Foul::DeadPiece
    } else if gold_would_do(position, mv) {
        Foul::Uchifuzume
    } else {
        Foul::KingLeftInCheck
    }
}

fn board_foul(position: &Position, mv: Move) -> Foul {
    let us = position.turn();
    let (from, to) = (mv.from_sq(), mv.to_sq());
    let piece = position.piece_on(from);
    let target = position.piece_on(to);
    if piece.is_empty() {
        return Foul::NoPiece;
    } else if piece.color() != us {
        return Foul::OpponentsPiece;
    } else if !target.is_empty() && target.color() == us {
        return Foul::OwnPieceOnTarget;
    }
    let plain = Move::normal(from, to);
    let reaches = reaches(position, plain) || reaches(position, Move::promotion(from, to));
    let promotes_badly = mv.is_promotion() && !reaches_exactly(position, mv);
    match () {
        () if !reaches => Foul::Unreachable,
        () if promotes_badly => Foul::BadPromotion,
        () if is_dead_end(position, mv, piece.piece_type()) => Foul::DeadPiece,
        () => Foul::KingLeftInCheck,
    }
}

/// True if the piece can make the move if the safety of its own king is ignored.
fn reaches(position: &Position, mv: Move) -> bool {
    if position.piece_on(mv.from_sq()).piece_type() == PieceType::KING {
        return !mv.is_promotion() && mv.from_sq().distance(mv.to_sq()) <= 1;
    }
    without_king(position).is_some_and(|bare| bare.is_legal_move(mv))
}

fn reaches_exactly(position: &Position, mv: Move) -> bool {
    reaches(position, mv)
}

/// The position without the mover's king, in which no move leaves it in check.
fn without_king(position: &Position) -> Option<Position> {
    let sfen = position.to_sfen(None);
    let (board, rest) = sfen.split_once(' ')?;
    let king = if crate::Color::from(position.turn()) == crate::Color::Black { 'K' } else { 'k' };
    Position::from_sfen(&format!("{} {rest}", board.replace(king, "1"))).ok()
}

/// True if a gold could be dropped there. If so, the pawn drop is illegal only because it mates.
fn gold_would_do(position: &Position, mv: Move) -> bool {
    let sfen = position.to_sfen(None);
    let mut fields = sfen.split(' ');
    let (Some(board), Some(turn)) = (fields.next(), fields.next()) else { return false };
    let hand = if turn == "b" { "G" } else { "g" };
    let gold = Move::drop(PieceType::GOLD, mv.to_sq());
    Position::from_sfen(&format!("{board} {turn} {hand} 1"))
        .is_ok_and(|with_gold| with_gold.is_legal_move(gold))
}

/// A pawn or lance on the last rank, a knight on the last two.
fn is_dead_end(position: &Position, mv: Move, piece: PieceType) -> bool {
    if mv.is_promotion() {
        return false;
    }
    let rank = mv.to_sq().rank().raw();
    let from_far_side =
        if crate::Color::from(position.turn()) == crate::Color::Black { rank } else { 8 - rank };
    match piece {
        PieceType::PAWN | PieceType::LANCE => from_far_side == 0,
        PieceType::KNIGHT => from_far_side <= 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(sfen: &str, mv: &str) -> Option<Foul> {
        rsshogi::board::init();
        foul(&Position::from_sfen(sfen).unwrap(), Move::from_usi(mv).unwrap())
    }

    const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

    #[test]
    fn fouls_from_the_start_position_are_distinguished() {
        assert_eq!(named(START, "7g7f"), None);
        assert_eq!(named(START, "5e5d"), Some(Foul::NoPiece));
        assert_eq!(named(START, "3c3d"), Some(Foul::OpponentsPiece));
        assert_eq!(named(START, "8h7g"), Some(Foul::OwnPieceOnTarget));
        assert_eq!(named(START, "7g7e"), Some(Foul::Unreachable));
        assert_eq!(named(START, "2h2c"), Some(Foul::Unreachable), "the own pawn on 2g is in the way");
        assert_eq!(named(START, "7g7f+"), Some(Foul::BadPromotion));
        assert_eq!(named(START, "P*5e"), Some(Foul::NotInHand));
        assert_eq!(named(START, "0000"), Some(Foul::Unreadable));
    }

    #[test]
    fn illegal_drops_are_distinguished() {
        let sfen = "4k4/9/9/9/4P4/9/9/9/4K4 b PNL 1";
        assert_eq!(named(sfen, "P*5d"), Some(Foul::Nifu));
        assert_eq!(named(sfen, "P*4a"), Some(Foul::DeadPiece));
        assert_eq!(named(sfen, "N*4b"), Some(Foul::DeadPiece));
        assert_eq!(named(sfen, "L*4a"), Some(Foul::DeadPiece));
        assert_eq!(named(sfen, "L*5e"), Some(Foul::DropOnPiece));
    }

    #[test]
    fn a_pawn_drop_that_mates_is_uchifuzume() {
        let sfen = "8k/9/8G/9/9/9/9/9/4K4 b PG 1";
        // The king on 1a: a pawn on 1b is guarded by the gold; 2a and 2b are guarded once a second gold stands on 3b.
        let mating = "8k/6G2/8G/9/9/9/9/9/4K4 b P 1";
        assert_eq!(named(mating, "P*1b"), Some(Foul::Uchifuzume));
        assert_eq!(named(sfen, "P*1b"), None, "2a is free");
    }

    #[test]
    fn a_king_left_in_check_is_named_for_moves_and_drops() {
        let pinned = "4r3k/9/9/9/9/9/9/4G4/4K4 b P 1";
        assert_eq!(named(pinned, "5h4h"), Some(Foul::KingLeftInCheck));
        let in_check = "4r3k/9/9/9/9/9/9/9/4K4 b P 1";
        assert_eq!(named(in_check, "P*1e"), Some(Foul::KingLeftInCheck));
        assert_eq!(named(in_check, "5i5h"), Some(Foul::KingLeftInCheck));
        assert_eq!(named(in_check, "P*5e"), None);
    }

    #[test]
    fn a_pawn_that_reaches_the_last_rank_must_promote() {
        let sfen = "k8/4P4/9/9/9/9/9/9/4K4 b - 1";
        assert_eq!(named(sfen, "5b5a"), Some(Foul::DeadPiece));
        assert_eq!(named(sfen, "5b5a+"), None);
    }

    #[test]
    fn white_is_judged_from_its_own_side() {
        let sfen = "4k4/9/9/9/9/9/9/4p4/K8 w - 1";
        assert_eq!(named(sfen, "5h5i"), Some(Foul::DeadPiece));
        assert_eq!(named(sfen, "5a5b"), None);
    }

    #[test]
    fn the_most_obvious_of_several_fouls_is_named() {
        for (sfen, mv, foul) in [
            // A drop: not in hand, then onto a piece, then nifu, then where it could never move, then the king.
            ("4k4/9/9/9/4P4/9/9/9/4K4 b - 1", "P*5e", Foul::NotInHand),
            ("4k4/9/9/9/4P4/9/9/9/4K4 b P 1", "P*5e", Foul::DropOnPiece),
            ("4k4/9/9/9/3P5/9/9/9/4K4 b P 1", "P*6a", Foul::Nifu),
            ("3rk4/9/9/9/9/9/9/9/3K5 b P 1", "P*1a", Foul::DeadPiece),
            ("3rk4/9/9/9/1P7/9/9/9/3K5 b L 1", "L*8d", Foul::KingLeftInCheck), // a lance beside an own pawn is no nifu
            // A move: nothing there, another's, onto an own piece, out of reach, a bad promotion, dead, the king.
            ("3rk4/9/9/9/9/9/9/9/3K5 b - 1", "9i9h", Foul::NoPiece),
            ("3rk4/9/9/9/9/9/9/9/3K5 b - 1", "6a6b", Foul::OpponentsPiece),
            ("3rk4/9/9/9/9/9/9/3G5/3K5 b - 1", "6i6h", Foul::OwnPieceOnTarget),
            ("3rk4/9/9/9/9/9/9/9/3K5 b - 1", "6i6g", Foul::Unreachable),
            ("3rk4/9/9/9/9/9/9/9/3K5 b - 1", "6i5h+", Foul::BadPromotion),
            ("4k4/9/9/9/9/9/9/4G4/4K4 b - 1", "5h5g+", Foul::BadPromotion),
            ("4k4/9/9/9/9/9/S8/9/4K4 b - 1", "9g9f+", Foul::BadPromotion),
            ("3r4k/P8/9/9/9/9/9/9/3K5 b - 1", "9b9a", Foul::DeadPiece),
            ("3r4k/P8/9/9/9/9/9/9/3K5 b - 1", "9b9a+", Foul::KingLeftInCheck),
            ("3r4k/9/9/9/9/9/9/9/3K5 b - 1", "6i6h", Foul::KingLeftInCheck),
        ] {
            assert_eq!(named(sfen, mv), Some(foul), "{sfen}: {mv}");
        }
        for (sfen, mv) in [
            ("3rk4/9/9/9/9/9/9/9/3K5 b - 1", "6i5h"),
            ("3rk4/9/9/9/9/9/9/9/3K5 b P 1", "P*6e"),
            ("3rk4/9/9/9/9/9/9/3G5/3K5 b - 1", "6i5i"),
        ] {
            assert_eq!(named(sfen, mv), None, "{sfen}: {mv}");
        }
    }

    #[test]
    fn pieces_that_could_never_move_again_are_judged_to_the_rank_for_both_sides() {
        for (piece, dead) in [("P", 1), ("L", 1), ("N", 2), ("S", 0), ("G", 0)] {
            for rank in 1..=9_u8 {
                let square = |rank: u8| format!("1{}", char::from(b'a' + rank - 1));
                let foul = |is_dead: bool| is_dead.then_some(Foul::DeadPiece);
                let black = format!("4k4/9/9/9/9/9/9/9/4K4 b {piece} 1");
                assert_eq!(named(&black, &format!("{piece}*{}", square(rank))), foul(rank <= dead));
                let white = format!("4k4/9/9/9/9/9/9/9/4K4 w {} 1", piece.to_lowercase());
                assert_eq!(named(&white, &format!("{piece}*{}", square(rank))), foul(rank >= 10 - dead));
            }
        }
    }
}
