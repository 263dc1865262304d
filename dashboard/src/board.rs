//! Boards, pieces and moves in words.

use referee::{
    Color,
    running::{RunningGame, play},
};
use rsshogi::{
    board::Position,
    types::{HandPiece, Move, PieceType, Square},
};

/// A position and the move that led to it.
#[derive(Clone)]
pub struct Board {
    /// The position.
    pub position: Position,
    /// The last move.
    pub last: Option<Move>,
}

/// The order of pieces in a hand.
const HAND: [PieceType; 7] = [
    PieceType::ROOK,
    PieceType::BISHOP,
    PieceType::GOLD,
    PieceType::SILVER,
    PieceType::KNIGHT,
    PieceType::LANCE,
    PieceType::PAWN,
];

impl Board {
    /// The board of a game after so many plies.
    pub fn of(game: &RunningGame, plies: usize) -> Self {
        let last = plies.min(game.plies.len()).checked_sub(1).map(|at| game.plies[at].mv);
        Self { position: game.position_at(plies), last }
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        Color::from(self.position.turn())
    }

    /// Makes a move; returns false, and leaves the board as it is, if it is not legal.
    pub fn play(&mut self, mv: Move) -> bool {
        let is_legal = play(&mut self.position, mv);
        self.last = if is_legal { Some(mv) } else { self.last };
        is_legal
    }

    /// The pieces in a hand with their numbers, big ones first.
    pub fn hand(&self, color: Color) -> impl Iterator<Item = (PieceType, u32)> + '_ {
        let hand = self.position.hand(color.into());
        let count = move |piece| HandPiece::from_piece_type(piece).map_or(0, |held| hand.count(held));
        HAND.into_iter().map(move |piece| (piece, count(piece))).filter(|&(_, count)| count > 0)
    }

    /// A legal move in Japanese notation with its origin: `☗７六歩(77)`.
    pub fn spell(&self, mv: Move) -> String {
        let (mark, to) = (self.turn().sign(), mv.to_sq());
        let place = match self.last {
            Some(last) if last.to_sq() == to => "同　".to_owned(),
            _ => {
                let (file, rank) = numbers(to);
                format!("{}{}", FILES[file - 1], RANKS[rank - 1])
            }
        };
        if let Some(piece) = mv.dropped_piece() {
            return format!("{mark}{place}{}打", kanji(piece, self.turn()));
        }
        let name = kanji(self.position.piece_on(mv.from_sq()).piece_type(), self.turn());
        let turned = if mv.is_promotion() { "成" } else { "" };
        let (file, rank) = numbers(mv.from_sq());
        format!("{mark}{place}{name}{turned}({file}{rank})")
    }
}

/// Files in Japanese notation.
const FILES: [char; 9] = ['１', '２', '３', '４', '５', '６', '７', '８', '９'];

/// Ranks in Japanese notation.
pub const RANKS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];

/// File and rank of a square, from 1.
fn numbers(square: Square) -> (usize, usize) {
    (square.to_index() / 9 + 1, square.to_index() % 9 + 1)
}

/// The name of a piece in one kanji.
pub fn kanji(piece: PieceType, color: Color) -> char {
    match piece {
        PieceType::ROOK => '飛',
        PieceType::DRAGON => '龍',
        PieceType::BISHOP => '角',
        PieceType::HORSE => '馬',
        PieceType::GOLD => '金',
        PieceType::SILVER => '銀',
        PieceType::PRO_SILVER => '全',
        PieceType::KNIGHT => '桂',
        PieceType::PRO_KNIGHT => '圭',
        PieceType::LANCE => '香',
        PieceType::PRO_LANCE => '杏',
        PieceType::PAWN => '歩',
        PieceType::PRO_PAWN => 'と',
        _ if color == Color::Black => '玉',
        _ => '王',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::opening::EVEN;

    fn usi(text: &str) -> Move {
        Move::from_usi(text).unwrap()
    }

    fn after(moves: &str) -> Board {
        rsshogi::board::init();
        let mut board = Board { position: Position::from_sfen(EVEN).unwrap(), last: None };
        moves.split(' ').for_each(|text| assert!(board.play(usi(text)), "{text}"));
        board
    }

    #[test]
    fn a_taken_piece_goes_to_the_hand_and_a_drop_takes_it_out() {
        let board = after("7g7f 3c3d 8h2b+ 3a2b");
        assert_eq!(board.hand(Color::Black).collect::<Vec<_>>(), [(PieceType::BISHOP, 1)]);
        assert_eq!(board.hand(Color::White).collect::<Vec<_>>(), [(PieceType::BISHOP, 1)]);
        let board = after("7g7f 3c3d 8h2b+ 3a2b B*5e");
        assert_eq!(board.hand(Color::Black).count(), 0);
        let dropped = board.position.piece_on(Square::from_usi("5e").unwrap());
        assert_eq!(kanji(dropped.piece_type(), Color::Black), '角');
    }

    #[test]
    fn moves_are_spelled_as_japanese_records_do() {
        assert_eq!(after("7g7f 3c3d").spell(usi("8h2b+")), "☗２二角成(88)");
        assert_eq!(after("7g7f 3c3d 8h2b+").spell(usi("3a2b")), "☖同　銀(31)");
        assert_eq!(after("7g7f 3c3d 8h2b+ 3a2b").spell(usi("B*5e")), "☗５五角打");
    }

    #[test]
    fn a_move_that_is_not_legal_leaves_the_board_as_it_is() {
        let mut board = after("7g7f 3c3d");
        let before = board.position.to_sfen(None);
        for text in ["5e5d", "P*5e", "7f7e+", "8h8g"] {
            assert!(!board.play(usi(text)), "{text}");
        }
        assert_eq!((board.position.to_sfen(None), board.last), (before, Some(usi("3c3d"))));
    }
}
