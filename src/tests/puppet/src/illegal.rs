//! Generators of illegal moves that break one rule each.

use rsshogi::board::Position;
use rsshogi::types::{Bitboard, Color, HandPiece, Move, PieceType, Rank, Square};

/// The rule to break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Illegal {
    Nifu,
    Uchifuzume,
    InCheck,
    DeadPiece,
    BadPromotion,
    NotHand,
    Occupied,
    NoPiece,
    OwnPiece,
    OpponentPiece,
    Unreachable,
}

impl Illegal {
    /// The modes that play illegal moves, by name.
    pub const NAMES: &[(&str, Self)] = &[
        ("nifu", Self::Nifu),
        ("uchifuzume", Self::Uchifuzume),
        ("incheck", Self::InCheck),
        ("deadpiece", Self::DeadPiece),
        ("badpromotion", Self::BadPromotion),
        ("nothand", Self::NotHand),
        ("occupied", Self::Occupied),
        ("nopiece", Self::NoPiece),
        ("ownpiece", Self::OwnPiece),
        ("opponentpiece", Self::OpponentPiece),
        ("unreachable", Self::Unreachable),
    ];

    /// All moves of `position` that break this rule and, where possible, no other.
    pub fn moves(self, position: &Position) -> Vec<Move> {
        // In check, nearly every move is illegal already because it does not evade the check.
        if position.is_in_check() && self != Self::InCheck {
            return Vec::new();
        }
        let board = Board(position);
        match self {
            Self::Nifu => board.nifu(),
            Self::Uchifuzume => board.uchifuzume(),
            Self::InCheck => board.in_check(),
            Self::DeadPiece => board.dead_pieces(),
            Self::BadPromotion => board.bad_promotions(),
            Self::NotHand => board.drops(|held, empty| !held && empty).collect(),
            Self::Occupied => board.drops(|held, empty| held && !empty).collect(),
            Self::NoPiece => board.pairs(|from, to| board.is_empty(from) && !board.is_mine(to)).collect(),
            Self::OwnPiece => {
                let captures_own = |from, to| board.is_mine(to) && board.reaches(board.mover(), from, to);
                board.pairs(captures_own).collect()
            }
            Self::OpponentPiece => board.opponents_moves(),
            Self::Unreachable => {
                let jumps = |from, to| {
                    board.is_mine(from) && !board.is_mine(to) && !board.reaches(board.mover(), from, to)
                };
                board.pairs(jumps).collect()
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Board<'a>(&'a Position);

impl Board<'_> {
    fn mover(self) -> Color {
        self.0.turn()
    }

    fn is_empty(self, square: Square) -> bool {
        self.0.is_square_empty(square)
    }

    fn is_mine(self, square: Square) -> bool {
        !self.is_empty(square) && self.0.piece_on(square).color() == self.mover()
    }

    fn reaches(self, color: Color, from: Square, to: Square) -> bool {
        self.0.attackers_to_color_current(color, to).test(from)
    }

    /// True if a piece of this type would have no further move from `square`.
    fn is_dead(self, piece: PieceType, square: Square) -> bool {
        let square = if self.mover() == Color::Black { square } else { square.flip() };
        match piece {
            PieceType::PAWN | PieceType::LANCE => square.rank() == Rank::RANK_1,
            PieceType::KNIGHT => [Rank::RANK_1, Rank::RANK_2].contains(&square.rank()),
            _ => false,
        }
    }

    fn is_nifu(self, piece: PieceType, square: Square) -> bool {
        piece == PieceType::PAWN && self.0.has_pawn_on_file(self.mover(), square.file())
    }

    fn hand(self) -> impl Iterator<Item = (PieceType, bool)> {
        let hand = self.0.hand(self.mover());
        HandPiece::iter().map(move |piece| (piece.to_piece_type(), hand.count(piece) > 0))
    }

    /// Board moves without promotion between the pairs of squares that pass `wanted`.
    fn pairs(self, wanted: impl Fn(Square, Square) -> bool) -> impl Iterator<Item = Move> {
        let all = Square::iter().flat_map(|from| Square::iter().map(move |to| (from, to)));
        all.filter(move |&(from, to)| from != to && wanted(from, to)).map(|(from, to)| Move::normal(from, to))
    }

    /// Pseudo-legal board moves without promotion.
    fn steps(self) -> impl Iterator<Item = Move> {
        self.pairs(move |from, to| {
            self.is_mine(from) && !self.is_mine(to) && self.reaches(self.mover(), from, to)
        })
    }

    /// Drops that pass `wanted` (whether the piece is held, whether the square is empty) and break no other
    /// rule.
    fn drops(self, wanted: impl Fn(bool, bool) -> bool) -> impl Iterator<Item = Move> {
        let all = self.hand().flat_map(|(piece, held)| Square::iter().map(move |to| (piece, held, to)));
        all.filter(move |&(_, held, to)| wanted(held, self.is_empty(to)))
            .filter(move |&(piece, _, to)| !self.is_dead(piece, to) && !self.is_nifu(piece, to))
            .map(|(piece, _, to)| Move::drop(piece, to))
    }

    fn pawn_drops(self) -> impl Iterator<Item = Square> {
        let held = self.0.hand(self.mover()).count(HandPiece::PAWN) > 0;
        let free = move |&to: &Square| held && self.is_empty(to) && !self.is_dead(PieceType::PAWN, to);
        Square::iter().filter(free)
    }

    fn nifu(self) -> Vec<Move> {
        let second = self.pawn_drops().filter(|&to| self.is_nifu(PieceType::PAWN, to));
        second.map(|to| Move::drop(PieceType::PAWN, to)).collect()
    }

    fn uchifuzume(self) -> Vec<Move> {
        // With check, nifu and dead squares excluded, uchifuzume is the only rule that can forbid a pawn drop.
        self.pawn_drops()
            .filter(|&to| !self.is_nifu(PieceType::PAWN, to))
            .map(|to| Move::drop(PieceType::PAWN, to))
            .filter(|&mv| !self.0.is_legal_move(mv))
            .collect()
    }

    fn in_check(self) -> Vec<Move> {
        // Pieces that must promote are excluded, so an illegal step can only be one that leaves the king in
        // check.
        let piece = |mv: &Move| self.0.piece_on(mv.from_sq()).piece_type();
        self.steps()
            .filter(|mv| !self.is_dead(piece(mv), mv.to_sq()))
            .filter(|&mv| !self.0.is_legal_move(mv))
            .collect()
    }

    fn dead_pieces(self) -> Vec<Move> {
        let unpromoted = self.steps().filter(|mv| {
            let piece = self.0.piece_on(mv.from_sq()).piece_type();
            let promoted = Move::promotion(mv.from_sq(), mv.to_sq());
            self.is_dead(piece, mv.to_sq()) && self.0.is_legal_move(promoted)
        });
        let held = self.hand().filter(|&(_, held)| held);
        let dropped = held.flat_map(|(piece, _)| Square::iter().map(move |to| (piece, to)));
        let dead = |&(piece, to): &(PieceType, Square)| {
            self.is_empty(to) && self.is_dead(piece, to) && !self.is_nifu(piece, to)
        };
        unpromoted.chain(dropped.filter(dead).map(|(piece, to)| Move::drop(piece, to))).collect()
    }

    fn bad_promotions(self) -> Vec<Move> {
        let zone = Bitboard::promotion_zone(self.mover());
        self.steps()
            .filter(|mv| !zone.test(mv.from_sq()) && !zone.test(mv.to_sq()))
            .filter(|mv| self.0.piece_on(mv.from_sq()).piece_type().is_promotable())
            .filter(|&mv| self.0.is_legal_move(mv))
            .map(|mv| Move::promotion(mv.from_sq(), mv.to_sq()))
            .collect()
    }

    fn opponents_moves(self) -> Vec<Move> {
        let theirs = |square| !self.is_empty(square) && !self.is_mine(square);
        let opponent = self.mover().flip();
        let steps = self.pairs(|from, to| theirs(from) && !theirs(to) && self.reaches(opponent, from, to));
        steps.collect()
    }
}

#[cfg(test)]
mod tests {
    use rsshogi::board::{hirate_position, position_from_sfen};

    use super::*;

    fn moves(kind: Illegal, sfen: &str) -> Vec<String> {
        let position = position_from_sfen(sfen).unwrap();
        let moves = kind.moves(&position);
        assert!(moves.iter().all(|&mv| !position.is_legal_move(mv)), "{kind:?}: {moves:?}");
        moves.iter().map(Move::to_string).collect()
    }

    #[test]
    fn the_first_position_offers_these_faults_and_not_the_others() {
        let position = hirate_position();
        let offered: Vec<&str> = Illegal::NAMES
            .iter()
            .filter(|(_, kind)| !kind.moves(&position).is_empty())
            .map(|&(name, _)| name)
            .collect();
        let expected = ["badpromotion", "nothand", "nopiece", "ownpiece", "opponentpiece", "unreachable"];
        assert_eq!(offered, expected);
    }

    #[test]
    fn a_second_pawn_goes_only_on_a_file_with_one() {
        let nifu = moves(Illegal::Nifu, "4k4/9/9/9/9/9/4P4/9/4K4 b P 1");
        assert_eq!(nifu, ["P*5b", "P*5c", "P*5d", "P*5e", "P*5f", "P*5h"]);
    }

    #[test]
    fn a_pawn_drop_mates_where_that_is_forbidden() {
        assert_eq!(moves(Illegal::Uchifuzume, "7nk/9/7G1/9/9/9/9/9/4K4 b P 1"), ["P*1b"]);
        assert_eq!(moves(Illegal::Uchifuzume, "8k/9/7G1/9/9/9/9/9/4K4 b P 1"), [""; 0]);
        assert_eq!(moves(Illegal::Uchifuzume, "4k4/9/9/9/9/9/1g7/9/KN7 w p 1"), ["P*9h"]);
    }

    #[test]
    fn a_king_is_left_in_check_by_staying_or_by_unpinning() {
        let pinned = moves(Illegal::InCheck, "4k4/4r4/9/9/9/9/9/4G4/4K4 b - 1");
        assert!(pinned.contains(&"5h4h".to_owned()) && !pinned.contains(&"5h5g".to_owned()));
        let checked = moves(Illegal::InCheck, "4k4/9/9/9/9/9/9/4r4/P3K4 b - 1");
        assert!(checked.contains(&"9i9h".to_owned()) && !checked.contains(&"5i5h".to_owned()));
    }

    #[test]
    fn pieces_that_could_never_move_again_are_moved_or_dropped() {
        let dead = moves(Illegal::DeadPiece, "4k4/P8/N8/9/9/9/9/9/4K4 b L 1");
        for text in ["9b9a", "9c8a", "L*1a"] {
            assert!(dead.contains(&text.to_owned()), "{text}: {dead:?}");
        }
        assert!(moves(Illegal::DeadPiece, "4k4/9/9/9/9/9/9/p8/4K4 w - 1").contains(&"9h9i".to_owned()));
    }

    #[test]
    fn drops_need_the_piece_and_the_square() {
        let sfen = "4k4/9/9/9/9/9/9/9/4K4 b G 1";
        assert_eq!(moves(Illegal::Occupied, sfen), ["G*5a", "G*5i"]);
        let without = moves(Illegal::NotHand, sfen);
        assert!(without.contains(&"R*5e".to_owned()) && !without.iter().any(|mv| mv.starts_with('G')));
    }

    #[test]
    fn in_check_only_the_check_is_a_fault() {
        let sfen = "4k4/9/9/9/9/9/9/4r4/P3K4 b GP 1";
        assert_eq!(moves(Illegal::Occupied, sfen), [""; 0]);
    }
}
