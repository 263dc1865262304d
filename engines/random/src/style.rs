//! Selection of candidate moves.

use rsshogi::board::Position;
use rsshogi::mate::solve_mate_in_one;
use rsshogi::types::{HandPiece, Move, PieceType, Square};

/// How a move is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Any legal move.
    Uniform,
    /// Mates in one, else gains the most material by a one-ply lookahead; a moved piece whose new square is
    /// attacked counts as lost.
    Greedy,
}

impl Style {
    /// The moves of `legal` with the best value in this style; empty only if `legal` is empty.
    pub fn candidates(self, position: &Position, legal: &[Move]) -> Vec<Move> {
        match self {
            Self::Uniform => legal.to_vec(),
            Self::Greedy => match solve_mate_in_one(position) {
                Some(mate) => vec![mate.to_move()],
                None => greediest(position, legal),
            },
        }
    }
}

fn greediest(position: &Position, legal: &[Move]) -> Vec<Move> {
    let gains: Vec<i32> = legal.iter().map(|&mv| gain(position, mv)).collect();
    let best = gains.iter().max();
    legal.iter().zip(&gains).filter(|&(_, gain)| Some(gain) == best).map(|(&mv, _)| mv).collect()
}

/// Material gained by `mv`, in centipawns, less the moved piece if its new square is attacked.
fn gain(position: &Position, mv: Move) -> i32 {
    let before = position.moved_piece_before_move(mv).piece_type();
    let after = position.moved_piece_after_move(mv).piece_type();
    let captured = position.piece_on(mv.to_sq()).piece_type();
    let at_risk = position.is_attacked_by(mv.to_sq(), position.turn().flip());
    // A captured piece is lost for the opponent and goes unpromoted to our hand.
    let taken = value(captured) + value(captured.demote());
    let lost = if at_risk { value(after) + value(after.demote()) } else { 0 };
    taken + value(after) - value(before) - lost
}

/// Value of a piece in centipawns; the king has none, as each side has one.
fn value(piece_type: PieceType) -> i32 {
    match piece_type {
        PieceType::PAWN => 100,
        PieceType::LANCE => 300,
        PieceType::KNIGHT => 350,
        PieceType::SILVER => 500,
        PieceType::GOLD => 550,
        PieceType::BISHOP => 850,
        PieceType::ROOK => 950,
        PieceType::PRO_PAWN => 450,
        PieceType::PRO_LANCE | PieceType::PRO_KNIGHT => 500,
        PieceType::PRO_SILVER => 550,
        PieceType::HORSE => 1150,
        PieceType::DRAGON => 1300,
        _ => 0,
    }
}

/// Material balance for the side to move, in centipawns, hands included.
pub fn material(position: &Position) -> i32 {
    let on_board: i32 = Square::iter()
        .map(|square| position.piece_on(square))
        .filter(|piece| !piece.is_empty())
        .map(|piece| if piece.color() == position.turn() { 1 } else { -1 } * value(piece.piece_type()))
        .sum();
    let in_hand = |color| -> i32 {
        let hand = position.hand(color);
        HandPiece::iter().map(|piece| hand.count(piece) as i32 * value(piece.to_piece_type())).sum()
    };
    on_board + in_hand(position.turn()) - in_hand(position.turn().flip())
}

#[cfg(test)]
mod tests {
    use rsshogi::board::{MoveList, position_from_sfen};
    use rsshogi::movegen::generate_legal_all;

    use super::*;

    fn greedy(sfen: &str) -> Vec<String> {
        let position = position_from_sfen(sfen).unwrap();
        let mut moves = MoveList::new();
        generate_legal_all(&position, &mut moves);
        Style::Greedy.candidates(&position, moves.as_slice()).iter().map(Move::to_string).collect()
    }

    #[test]
    fn greed_takes_the_more_valuable_piece_and_promotes_on_the_way() {
        assert_eq!(greedy("4k4/9/9/9/9/p7r/9/9/4K3L b - 1"), ["1i1f"]);
        assert_eq!(greedy("4k4/8r/9/9/9/9/9/9/4K3L b - 1"), ["1i1b+"]);
    }

    #[test]
    fn greed_does_not_take_a_guarded_pawn_with_a_rook() {
        assert!(!greedy("4k3l/9/8p/9/9/9/9/9/4K3R b - 1").contains(&"1i1c".to_owned()));
    }

    #[test]
    fn greed_prefers_mate_to_a_rook() {
        assert_eq!(greedy("4k4/9/4G4/9/9/p7r/9/9/4K3L b G 1").len(), 1);
        assert_ne!(greedy("4k4/9/4G4/9/9/p7r/9/9/4K3L b G 1"), ["1i1f"]);
    }

    #[test]
    fn material_counts_boards_and_hands_for_the_mover() {
        let balance = |sfen| material(&position_from_sfen(sfen).unwrap());
        assert_eq!(balance("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"), 0);
        assert_eq!(balance("4k4/9/9/9/9/9/9/9/4K4 b 2Pr 1"), 200 - 950);
        assert_eq!(balance("4k4/9/9/9/9/9/9/9/4K3+R w - 1"), -1300);
    }
}
