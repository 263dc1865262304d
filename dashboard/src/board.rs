//! A board for display. It does not check legality, because the moves come from the referee.

use referee::Color;

/// A piece on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Letter in SFEN, in upper case.
    pub letter: u8,
    /// Whether the piece is promoted.
    pub promoted: bool,
    /// The owner.
    pub color: Color,
}

/// A square: file and rank, both 1 to 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Square {
    /// File, 1 on black's right.
    pub file: u8,
    /// Rank, 1 farthest from black.
    pub rank: u8,
}

/// Pieces on squares and in hands, the side to move, and the last move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    squares: [Option<Piece>; 81],
    hands: [[u8; 7]; 2],
    /// The side to move.
    pub turn: Color,
    /// Origin (`None` for a drop) and target of the last move.
    pub last: Option<(Option<Square>, Square)>,
}

/// The order of pieces in a hand.
pub const HAND: [u8; 7] = *b"RBGSNLP";

impl Board {
    /// No piece at all, black to move.
    #[must_use]
    pub fn empty() -> Self {
        Self { squares: [None; 81], hands: [[0; 7]; 2], turn: Color::Black, last: None }
    }

    /// Reads a position in SFEN; `None` if the text is not a position.
    #[must_use]
    pub fn from_sfen(sfen: &str) -> Option<Self> {
        let mut words = sfen.split_whitespace();
        let (placed, turn) = (words.next()?, words.next()?);
        let turn = if turn == "w" { Color::White } else { Color::Black };
        let mut board = Self { turn, ..Self::empty() };
        board.place(placed)?;
        board.fill_hands(words.next().unwrap_or("-"))?;
        Some(board)
    }

    fn place(&mut self, placed: &str) -> Option<()> {
        for (rank, row) in placed.split('/').enumerate() {
            let (mut column, mut promoted) = (0, false);
            for letter in row.bytes() {
                match letter {
                    b'+' => promoted = true,
                    b'1'..=b'9' => column += usize::from(letter - b'0'),
                    _ => {
                        let piece = Piece { promoted, ..Piece::from_letter(letter)? };
                        *self.squares.get_mut(9 * rank + column).filter(|_| column < 9)? = Some(piece);
                        (column, promoted) = (column + 1, false);
                    }
                }
            }
        }
        Some(())
    }

    fn fill_hands(&mut self, hands: &str) -> Option<()> {
        let mut count = 0_u8;
        for letter in hands.bytes().filter(|&b| b != b'-') {
            match letter {
                b'0'..=b'9' => count = count.saturating_mul(10).saturating_add(letter - b'0'),
                _ => {
                    let piece = Piece::from_letter(letter)?;
                    *self.in_hand(piece.color, piece.letter)? += count.max(1);
                    count = 0;
                }
            }
        }
        Some(())
    }

    fn in_hand(&mut self, color: Color, letter: u8) -> Option<&mut u8> {
        let at = HAND.iter().position(|&piece| piece == letter)?;
        Some(&mut self.hands[color.index()][at])
    }

    /// The piece on a square.
    #[must_use]
    pub fn at(&self, square: Square) -> Option<Piece> {
        self.squares[square.index()]
    }

    /// The letters of the pieces in a hand with their counts, big ones first.
    pub fn hand(&self, color: Color) -> impl Iterator<Item = (u8, u8)> + '_ {
        HAND.into_iter().zip(self.hands[color.index()]).filter(|&(_, count)| count > 0)
    }

    /// Makes a move given in USI; `None` if it is no move on this board, which then stays unchanged.
    pub fn apply(&mut self, usi: &str) -> Option<()> {
        let Parsed { from, to, drop, promotes } = Parsed::from(usi)?;
        let moved = match (from, drop) {
            (Some(from), _) => {
                let piece = self.at(from)?;
                self.squares[from.index()] = None;
                Piece { promoted: piece.promoted || promotes, ..piece }
            }
            (None, letter) => {
                let (letter, color) = (letter?, self.turn);
                let held = self.in_hand(color, letter)?;
                *held = held.saturating_sub(1);
                Piece { letter, promoted: false, color }
            }
        };
        if let Some(taken) = self.squares[to.index()].replace(moved)
            && let Some(held) = self.in_hand(moved.color, taken.letter)
        {
            *held = held.saturating_add(1);
        }
        self.turn = !moved.color;
        self.last = Some((from, to));
        Some(())
    }

    /// A USI move in Japanese notation with its origin: `☗７六歩(77)`.
    #[must_use]
    pub fn spell(&self, usi: &str) -> Option<String> {
        let Parsed { from, to, drop, promotes } = Parsed::from(usi)?;
        let piece = match from {
            Some(from) => self.at(from)?,
            None => Piece { letter: drop?, promoted: false, color: self.turn },
        };
        let mark = if piece.color == Color::Black { '☗' } else { '☖' };
        let place = match self.last {
            Some((_, last)) if last == to => "同　".to_owned(),
            _ => format!("{}{}", FILES[usize::from(to.file) - 1], RANKS[usize::from(to.rank) - 1]),
        };
        let name = piece.kanji();
        let turned = if promotes { "成" } else { "" };
        let origin = from.map_or_else(|| "打".to_owned(), |from| format!("({}{})", from.file, from.rank));
        Some(format!("{mark}{place}{name}{turned}{origin}"))
    }
}

/// Files in Japanese notation.
pub const FILES: [char; 9] = ['１', '２', '３', '４', '５', '６', '７', '８', '９'];

/// Ranks in Japanese notation.
pub const RANKS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];

impl Square {
    fn from_usi(text: &[u8]) -> Option<Self> {
        match *text {
            [file @ b'1'..=b'9', rank @ b'a'..=b'i'] => {
                Some(Self { file: file - b'0', rank: rank - b'a' + 1 })
            }
            _ => None,
        }
    }

    fn index(self) -> usize {
        9 * (usize::from(self.rank) - 1) + 9 - usize::from(self.file)
    }
}

impl Piece {
    fn from_letter(letter: u8) -> Option<Self> {
        let color = if letter.is_ascii_uppercase() { Color::Black } else { Color::White };
        let letter = letter.to_ascii_uppercase();
        (letter == b'K' || HAND.contains(&letter)).then_some(Self { letter, promoted: false, color })
    }

    /// The name in one kanji.
    #[must_use]
    pub fn kanji(self) -> char {
        match (self.letter, self.promoted) {
            (b'R', false) => '飛',
            (b'R', true) => '龍',
            (b'B', false) => '角',
            (b'B', true) => '馬',
            (b'G', _) => '金',
            (b'S', false) => '銀',
            (b'S', true) => '全',
            (b'N', false) => '桂',
            (b'N', true) => '圭',
            (b'L', false) => '香',
            (b'L', true) => '杏',
            (b'P', false) => '歩',
            (b'P', true) => 'と',
            _ if self.color == Color::Black => '玉',
            _ => '王',
        }
    }

    /// The letter in SFEN: upper case for black, with a plus if promoted.
    #[must_use]
    pub fn ascii(self) -> String {
        let letter = char::from(match self.color {
            Color::Black => self.letter,
            Color::White => self.letter.to_ascii_lowercase(),
        });
        format!("{}{letter}", if self.promoted { "+" } else { " " })
    }
}

struct Parsed {
    from: Option<Square>,
    to: Square,
    drop: Option<u8>,
    promotes: bool,
}

impl Parsed {
    fn from(usi: &str) -> Option<Self> {
        let (usi, promotes) = match usi.strip_suffix('+') {
            Some(usi) => (usi.as_bytes(), true),
            None => (usi.as_bytes(), false),
        };
        let (first, second) = usi.split_at_checked(2)?;
        let to = Square::from_usi(second)?;
        match first {
            [letter, b'*'] => Some(Self { from: None, to, drop: Some(*letter), promotes: false }),
            _ => Some(Self { from: Some(Square::from_usi(first)?), to, drop: None, promotes }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::opening::EVEN;

    fn after(moves: &str) -> Board {
        let mut board = Board::from_sfen(EVEN).unwrap();
        moves.split(' ').for_each(|usi| board.apply(usi).unwrap());
        board
    }

    #[test]
    fn a_taken_piece_goes_to_the_hand_and_a_drop_takes_it_out() {
        let board = after("7g7f 3c3d 8h2b+ 3a2b");
        assert_eq!(board.hand(Color::Black).collect::<Vec<_>>(), [(b'B', 1)]);
        assert_eq!(board.hand(Color::White).collect::<Vec<_>>(), [(b'B', 1)]);
        let board = after("7g7f 3c3d 8h2b+ 3a2b B*5e");
        assert_eq!(board.hand(Color::Black).count(), 0);
        assert_eq!(board.at(Square { file: 5, rank: 5 }).map(Piece::kanji), Some('角'));
    }

    #[test]
    fn moves_are_spelled_as_japanese_records_do() {
        let board = after("7g7f 3c3d");
        assert_eq!(board.spell("8h2b+").as_deref(), Some("☗２二角成(88)"));
        let board = after("7g7f 3c3d 8h2b+");
        assert_eq!(board.spell("3a2b").as_deref(), Some("☖同　銀(31)"));
        let board = after("7g7f 3c3d 8h2b+ 3a2b");
        assert_eq!(board.spell("B*5e").as_deref(), Some("☗５五角打"));
    }

    #[test]
    fn text_that_is_no_position_or_move_is_refused() {
        for sfen in ["", "9/9", "x w", "lnsgkgsnlp/9/9/9/9/9/9/9/9 b -"] {
            let board = Board::from_sfen(sfen);
            assert!(board.is_none() || sfen == "9/9", "{sfen}: {board:?}");
        }
        let mut board = Board::from_sfen(EVEN).unwrap();
        for usi in ["", "7g", "7z7f", "5e5d", "resign", "K*5e", "\u{1b}[2J", "日本語"] {
            assert_eq!(board.apply(usi), None, "{usi}");
        }
        assert_eq!(board, Board::from_sfen(EVEN).unwrap());
    }
}
