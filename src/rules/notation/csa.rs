//! CSA notation of moves and boards, which the server protocol and CSA files share, and the lines of the protocol.
//!
//! Reference: the CSA standard record format, <http://www2.computer-shogi.org/protocol/record_v22.html>.

pub mod game_name;
pub mod names;
pub mod summary;
pub mod wire;

use rsshogi::board::{BoardArray, Position, PositionState};
use rsshogi::types::{Color, File, Hand, HandPiece, Move, Piece, PieceType, Rank, Square};

/// Two-letter piece names with their types.
const PIECES: [(&str, PieceType); 14] = [
    ("FU", PieceType::PAWN),
    ("KY", PieceType::LANCE),
    ("KE", PieceType::KNIGHT),
    ("GI", PieceType::SILVER),
    ("KI", PieceType::GOLD),
    ("KA", PieceType::BISHOP),
    ("HI", PieceType::ROOK),
    ("OU", PieceType::KING),
    ("TO", PieceType::PRO_PAWN),
    ("NY", PieceType::PRO_LANCE),
    ("NK", PieceType::PRO_KNIGHT),
    ("NG", PieceType::PRO_SILVER),
    ("UM", PieceType::HORSE),
    ("RY", PieceType::DRAGON),
];

/// Writes a move, such as `+7776FU`; `None` if the position has no piece for it.
pub fn move_to_csa(position: &Position, mv: Move) -> Option<String> {
    if !mv.is_normal() {
        return None;
    }
    position.move32_from_move(mv).to_csa()
}

/// Reads a move with its sign, such as `+7776FU`. The piece must be the mover's, with its name after the move;
/// legality is not checked.
pub fn move_from_csa(position: &Position, text: &str) -> Option<Move> {
    let mv = position.move_from_csa(text);
    // rsshogi accepts drops of promoted pieces and moves without a sign; servers do not.
    (mv.is_normal() && mv.to_csa().as_deref() == Some(text)).then(|| mv.to_move())
}

/// The move between the squares that a text names, without a promotion, which may break the rules.
pub(crate) fn squares(text: &str) -> Option<Move> {
    let [(Some(to), name)] = listed(text.get(3..)?).ok()?[..] else { return None };
    match listed(&format!("{}{name}", text.get(1..3)?)).ok()?[..] {
        [(Some(from), _)] => Some(Move::normal(from, to)),
        _ => Some(Move::drop(piece_named(name)?, to)),
    }
}

/// The position block: `P1` to `P9`, the hands, and the side to move, a line each.
pub fn position_lines(position: &Position) -> String {
    let mut out = String::new();
    for rank in 1..=9 {
        out.push('P');
        out.push(char::from(b'0' + rank));
        for file in (1..=9).rev() {
            out.push_str(&square(file, rank).map_or_else(String::new, |at| cell(position.piece_on(at))));
        }
        out.push('\n');
    }
    for (color, label) in [(Color::BLACK, "P+"), (Color::WHITE, "P-")] {
        let hand = position.hand(color);
        let mut line = label.to_owned();
        for (name, kind) in &PIECES[..7] {
            let count = HandPiece::from_piece_type(*kind).map_or(0, |piece| hand.count(piece));
            (0..count).for_each(|_| line.extend(["00", name]));
        }
        if line.len() > label.len() {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out.push_str(if position.turn() == Color::BLACK { "+\n" } else { "-\n" });
    out
}

fn cell(piece: Piece) -> String {
    let name = PIECES.iter().find(|(_, kind)| !piece.is_empty() && *kind == piece.piece_type());
    let sign = if piece.color() == Color::BLACK { '+' } else { '-' };
    name.map_or_else(|| " * ".to_owned(), |(name, _)| format!("{sign}{name}"))
}

fn piece_named(name: &str) -> Option<PieceType> {
    PIECES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// The square of a file and a rank, each from 1 to 9.
pub(crate) fn square(file: u8, rank: u8) -> Option<Square> {
    let on_board = (1..=9).contains(&file) && (1..=9).contains(&rank);
    on_board.then(|| Square::from_file_rank(File::new(file as i8 - 1), Rank::new(rank as i8 - 1)))
}

/// Gathers the lines of a position block (`PI..`, `P1` to `P9`, `P+..`, `P-..`).
#[derive(Clone, Debug)]
pub struct PositionBlock {
    state: PositionState,
    seen: bool,
}

impl Default for PositionBlock {
    fn default() -> Self {
        Self { state: empty_state(), seen: false }
    }
}

impl PositionBlock {
    /// Adds a line that starts with `P`.
    ///
    /// # Errors
    /// A description of the fault in the line.
    pub fn line(&mut self, line: &str) -> Result<(), &'static str> {
        self.seen = true;
        let line = line.trim_end();
        let rest = line.get(2..).ok_or("position line without content")?;
        match line.as_bytes()[1] {
            b'I' => self.even(rest),
            rank @ b'1'..=b'9' => self.row(rank - b'0', rest),
            b'+' => self.pieces(Color::BLACK, rest),
            b'-' => self.pieces(Color::WHITE, rest),
            _ => Err("unknown position line"),
        }
    }

    /// The position with this side to move; the even start if no line was added.
    ///
    /// # Errors
    /// The reason why no game can start from it.
    pub fn finish(mut self, turn: Color) -> Result<Position, &'static str> {
        if !self.seen {
            self.even("")?;
        }
        self.state.side_to_move = turn;
        checked_position(&self.state)
    }

    // `PI82HI22KA`: the even game less the listed squares.
    fn even(&mut self, removed: &str) -> Result<(), &'static str> {
        let even = Position::from_sfen(rsshogi::board::STARTPOS_SFEN).map_err(|_| "no even position")?;
        self.state.board = rsshogi::board::generate_position_state(&even).board;
        for (at, kind) in listed(removed)? {
            let at = at.ok_or("a removed piece has no square")?;
            if Some(self.state.board.get(at).piece_type()) != piece_named(kind) {
                return Err("a removed piece does not stand there");
            }
            self.state.board.set(at, Piece::NONE);
        }
        Ok(())
    }

    // Cells are found by their marks, because mail and web pages collapse the blanks of ` * `.
    fn row(&mut self, rank: u8, cells: &str) -> Result<(), &'static str> {
        let mut chars = cells.chars().filter(|c| !c.is_whitespace());
        for file in (1..=9).rev() {
            let at = square(file, rank).ok_or("row off the board")?;
            let color = match chars.next().ok_or("row with fewer than nine cells")? {
                '*' => continue,
                '+' => Color::BLACK,
                '-' => Color::WHITE,
                _ => return Err("cell that is neither `*`, `+` nor `-`"),
            };
            let name: String = chars.by_ref().take(2).collect();
            let kind = piece_named(&name).ok_or("unknown piece in a row")?;
            self.state.board.set(at, Piece::from_parts(color, kind));
        }
        if chars.next().is_some() { Err("row with more than nine cells") } else { Ok(()) }
    }

    // `P+63FU00KI`, `P-00AL`.
    fn pieces(&mut self, color: Color, list: &str) -> Result<(), &'static str> {
        for (at, name) in listed(list)? {
            if name == "AL" {
                self.rest_to_hand(color)?;
                continue;
            }
            let kind = piece_named(name).ok_or("unknown piece in a list")?;
            match at {
                Some(at) => self.state.board.set(at, Piece::from_parts(color, kind)),
                None => add_to_hand(&mut self.state, color, kind, 1)?,
            }
        }
        Ok(())
    }

    // `00AL`: every piece of the set that is not placed yet, kings excepted.
    fn rest_to_hand(&mut self, color: Color) -> Result<(), &'static str> {
        for (index, kind) in HAND_KINDS.into_iter().enumerate() {
            let left = SET[index].saturating_sub(count_of(&self.state, kind));
            add_to_hand(&mut self.state, color, kind, left)?;
        }
        Ok(())
    }
}

/// An empty board with empty hands.
pub(crate) fn empty_state() -> PositionState {
    let (board, hands) = (BoardArray::empty(), [Hand::ZERO; Color::COUNT]);
    PositionState { board, hands, side_to_move: Color::BLACK, ply: 1 }
}

/// Adds pieces to a hand.
pub(crate) fn add_to_hand(
    state: &mut PositionState,
    color: Color,
    kind: PieceType,
    count: u32,
) -> Result<(), &'static str> {
    let piece = HandPiece::from_piece_type(kind).ok_or("piece that cannot be held")?;
    let hand = &mut state.hands[color.to_index()];
    *hand = hand.checked_add(piece, count).ok_or("too many pieces in hand")?;
    Ok(())
}

type Listed<'a> = (Option<Square>, &'a str);

fn listed(list: &str) -> Result<Vec<Listed<'_>>, &'static str> {
    let list = list.trim();
    if !list.is_ascii() || !list.len().is_multiple_of(4) {
        return Err("piece list that is not in fours");
    }
    let digit = |at: usize| list.as_bytes()[at].wrapping_sub(b'0');
    (0..list.len())
        .step_by(4)
        .map(|at| match (digit(at), digit(at + 1)) {
            (0, 0) => Ok((None, &list[at + 2..at + 4])),
            (file, rank) => {
                let at_square = square(file, rank).ok_or("square off the board in a list")?;
                Ok((Some(at_square), &list[at + 2..at + 4]))
            }
        })
        .collect()
}

const HAND_KINDS: [PieceType; 7] = [
    PieceType::PAWN,
    PieceType::LANCE,
    PieceType::KNIGHT,
    PieceType::SILVER,
    PieceType::GOLD,
    PieceType::BISHOP,
    PieceType::ROOK,
];
/// Number of each of [`HAND_KINDS`] in a set of pieces.
const SET: [u32; 7] = [18, 4, 4, 4, 4, 2, 2];

fn count_of(state: &PositionState, kind: PieceType) -> u32 {
    let on_board =
        state.board.iter().filter(|(_, piece)| !piece.is_empty() && piece.piece_type().demote() == kind);
    let held = HandPiece::from_piece_type(kind)
        .map_or(0, |piece| state.hands.iter().map(|hand| hand.count(piece)).sum());
    on_board.count() as u32 + held
}

/// The position of a state that a game can start from: no more pieces than a set has, one king a side at most, and no
/// king that could be captured at once. (Mate problems have no king of the attacker.)
pub(crate) fn checked_position(state: &PositionState) -> Result<Position, &'static str> {
    if HAND_KINDS.iter().zip(SET).any(|(kind, most)| count_of(state, *kind) > most) {
        return Err("more pieces than a set has");
    }
    let kings = |color| Piece::from_parts(color, PieceType::KING);
    let two_of = |king| state.board.iter().filter(|(_, piece)| *piece == king).count() > 1;
    if two_of(kings(Color::BLACK)) || two_of(kings(Color::WHITE)) {
        return Err("two kings of one side");
    }
    let mut position = Position::empty();
    position.try_set_position_state(state).map_err(|_| "pieces that cannot stand so")?;
    let (us, them) = (position.turn(), position.turn().flip());
    let king = position.king_square(them);
    if !king.is_none() && !position.attackers_to_color(us, king, position.pieces()).is_empty() {
        return Err("the king of the side not to move is in check");
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(lines: &[&str]) -> Result<Position, &'static str> {
        let mut block = PositionBlock::default();
        lines.iter().try_for_each(|line| block.line(line))?;
        block.finish(Color::BLACK)
    }

    fn sfen(lines: &[&str]) -> String {
        block(lines).unwrap().to_sfen(Some(1))
    }

    #[test]
    fn moves_are_spelled_with_the_piece_that_stands_after_them() {
        let position = Position::from_sfen("4k4/6+P2/9/9/9/9/9/2B6/4K4 b P 1").unwrap();
        for (usi, csa) in
            [("7h2c+", "+7823UM"), ("7h2c", "+7823KA"), ("P*5e", "+0055FU"), ("3b3a", "+3231TO")]
        {
            let mv = Move::from_usi(usi).unwrap();
            assert_eq!(move_to_csa(&position, mv).as_deref(), Some(csa));
            assert_eq!(move_from_csa(&position, csa), Some(mv));
        }
    }

    #[test]
    fn a_move_that_is_spelled_wrongly_is_none() {
        let position = Position::from_sfen(rsshogi::board::STARTPOS_SFEN).unwrap();
        for text in
            ["-7776FU", "7776FU", "+7776fu", "+7776KI", "+0055TO", "+5555FU", "+7776FU ", "+００76FU", ""]
        {
            assert_eq!(move_from_csa(&position, text), None, "{text}");
        }
    }

    #[test]
    fn a_position_block_survives_a_round_trip() {
        for start in [
            "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "4k4/1+P7/9/3+r5/9/9/9/9/4K4 w RG2b17p 1",
        ] {
            let position = Position::from_sfen(start).unwrap();
            let mut block = PositionBlock::default();
            position_lines(&position)
                .lines()
                .filter(|line| line.starts_with('P'))
                .for_each(|line| block.line(line).unwrap());
            assert_eq!(block.finish(position.turn()).unwrap().to_sfen(Some(1)), start);
        }
    }

    #[test]
    fn collapsed_blanks_in_a_row_are_understood() {
        let lines = ["P1 * * * * -OU * * * *", "P2*********", "P9 *  *  *  * +OU *  *  *  * ", "P+00KI"];
        assert_eq!(sfen(&lines), "4k4/9/9/9/9/9/9/9/4K4 b G 1");
    }

    #[test]
    fn the_rest_of_the_set_goes_to_one_hand() {
        assert_eq!(sfen(&["P-51OU", "P+59OU00HI", "P-00AL"]), "4k4/9/9/9/9/9/9/9/4K4 b Rr2b4g4s4n4l18p 1");
    }

    #[test]
    fn a_handicap_is_the_even_game_less_the_listed_pieces() {
        assert_eq!(sfen(&["PI82HI22KA"]), "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
        assert_eq!(block(&["PI55HI"]).err(), Some("a removed piece does not stand there"));
    }

    #[test]
    fn an_impossible_position_is_refused_with_its_reason() {
        for (lines, reason) in [
            (&["P1-OU"][..], "row with fewer than nine cells"),
            (&["P1 * * * * * * * * * *"], "row with more than nine cells"),
            (&["P1-XX********"], "unknown piece in a row"),
            (&["P+51OU52OU"], "two kings of one side"),
            (&["P+00HI00HI00HI"], "more pieces than a set has"),
            (&["P-51OU", "P+52KI59OU"], "the king of the side not to move is in check"),
            (&["P+5FU"], "piece list that is not in fours"),
            (&["P+5aFU"], "square off the board in a list"),
            (&["P"], "position line without content"),
        ] {
            assert_eq!(block(lines).err(), Some(reason), "{lines:?}");
        }
    }
}
