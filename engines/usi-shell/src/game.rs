//! The position to search, with the moves that led to it.

use rsshogi::board::{self, Position, ValidationIssue};
use rsshogi::types::Move32;

use crate::path::Path;

/// A parsed `position` line: start position, moves and current position.
#[derive(Clone)]
pub struct Game {
    start: Position,
    moves: Vec<Move32>,
    position: Position,
}

/// Why a `position` line was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// The line starts with neither `startpos` nor `sfen`.
    #[error("position line needs `startpos` or `sfen`")]
    Syntax,
    /// The SFEN cannot be read.
    #[error("unreadable sfen `{sfen}`: {reason}")]
    Sfen {
        /// The SFEN as sent.
        sfen: String,
        /// The parser's message.
        reason: String,
    },
    /// The position cannot occur in a game (two unpromoted pawns on a file, a king that can be captured, ...).
    #[error("impossible position `{sfen}`: {reason}")]
    Impossible {
        /// The SFEN as sent.
        sfen: String,
        /// The violated rule.
        reason: String,
    },
    /// A move of the list is illegal.
    #[error("illegal move `{text}` at move {number} of the position line")]
    Move {
        /// The move as sent.
        text: String,
        /// Its index in the list, from 1.
        number: usize,
    },
}

impl Game {
    /// The start position of even games.
    pub fn startpos() -> Self {
        Self::from_position(board::hirate_position())
    }

    fn from_position(mut start: Position) -> Self {
        start.init_stack();
        Self { position: start.clone(), start, moves: Vec::new() }
    }

    /// Parses `position [startpos | sfen S] [moves M..]` and plays the moves, checking each.
    ///
    /// # Errors
    /// When the line is malformed, the position impossible, or a move illegal.
    pub fn parse(line: &str) -> Result<Self, PositionError> {
        let mut words = line.split_ascii_whitespace().peekable();
        words.next_if_eq(&"position");
        let mut game = match words.next() {
            Some("startpos") => Self::startpos(),
            Some("sfen") => {
                let fields: Vec<&str> =
                    std::iter::from_fn(|| words.next_if(|&word| word != "moves")).collect();
                Self::from_sfen(&fields.join(" "))?
            }
            _ => return Err(PositionError::Syntax),
        };
        if words.next_if_eq(&"moves").is_none() && words.peek().is_some() {
            return Err(PositionError::Syntax);
        }
        for (index, text) in words.enumerate() {
            game.play(text)
                .ok_or_else(|| PositionError::Move { text: text.to_owned(), number: index + 1 })?;
        }
        Ok(game)
    }

    /// The position of an SFEN, without history. Its last field, the ply, may be missing.
    ///
    /// # Errors
    /// When the SFEN is malformed or the position impossible. The king of the side to move may be missing, as
    /// in mate problems.
    pub fn from_sfen(sfen: &str) -> Result<Self, PositionError> {
        let fields: Vec<&str> = sfen.split_ascii_whitespace().collect();
        let ply = if fields.len() == 3 { " 1" } else { "" };
        let position = board::position_from_sfen(&(fields.join(" ") + ply))
            .map_err(|fault| PositionError::Sfen { sfen: sfen.to_owned(), reason: fault.to_string() })?;
        match impossibility(&position) {
            Some(reason) => Err(PositionError::Impossible { sfen: sfen.to_owned(), reason }),
            None => Ok(Self::from_position(position)),
        }
    }

    /// Plays a move in USI notation. Returns `None`, without a change, if it is illegal.
    pub fn play(&mut self, text: &str) -> Option<Move32> {
        let mv = self.position.move32_from_usi(text).filter(|mv| mv.to_move().is_normal())?;
        self.position.try_apply_move32(mv).ok()?;
        self.moves.push(mv);
        Some(mv)
    }

    /// The current position. Its state stack holds the whole game, so clones detect repetitions.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The start position of the line.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The moves played since [`start`](Self::start).
    pub fn moves(&self) -> &[Move32] {
        &self.moves
    }

    /// The positions from [`start`](Self::start) to the current one, for a search to extend.
    pub fn path(&self) -> Path {
        let mut position = self.start.clone();
        let mut path = Path::new(&position);
        for &mv in &self.moves {
            // Checked when they were played.
            if position.try_apply_move32(mv).is_ok() {
                path.push(&position);
            }
        }
        path
    }

    /// Number of the next move, from 1: the SFEN's ply plus the moves played since.
    pub fn ply(&self) -> u32 {
        u32::from(self.position.game_ply()).max(1)
    }
}

fn impossibility(position: &Position) -> Option<String> {
    let mover = position.turn();
    let fault = |issue: &ValidationIssue| *issue != ValidationIssue::NoKing(mover);
    if let Some(issue) = position.validate_all().issues().iter().find(|issue| fault(issue)) {
        return Some(issue.to_string());
    }
    let king = position.king_square(mover.flip());
    position.is_attacked_by(king, mover).then(|| "the king of the side not to move can be taken".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: &str) -> String {
        Game::parse(line).err().unwrap().to_string()
    }

    #[test]
    fn moves_are_kept_with_the_position() {
        let game = Game::parse("position startpos moves 7g7f 3c3d 8h2b+").unwrap();
        assert_eq!(game.moves().len(), 3);
        assert_eq!(game.ply(), 4);
        assert_eq!(
            game.position().to_sfen(None),
            "lnsgkgsnl/1r5+B1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL w B 4"
        );
    }

    #[test]
    fn an_sfen_may_lack_its_ply_and_have_moves() {
        let sfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
        assert_eq!(Game::parse(&format!("position sfen {sfen}")).unwrap().ply(), 1);
        assert_eq!(Game::parse(&format!("position sfen {sfen} 9 moves 2g2f")).unwrap().ply(), 10);
    }

    #[test]
    fn an_illegal_move_is_named_with_its_place() {
        assert_eq!(
            fault("position startpos moves 7g7f 7g7f"),
            "illegal move `7g7f` at move 2 of the position line"
        );
        for text in ["resign", "win", "0000", "none", "7g7f7g", "P*5e", "1a0a", "玉"] {
            assert!(fault(&format!("position startpos moves {text}")).starts_with("illegal move"), "{text}");
        }
    }

    #[test]
    fn a_malformed_position_line_is_refused() {
        assert_eq!(fault("position"), "position line needs `startpos` or `sfen`");
        assert_eq!(fault("position startpos 7g7f"), "position line needs `startpos` or `sfen`");
        assert!(fault("position sfen x b - 1").starts_with("unreadable sfen"));
        assert!(fault("position sfen").starts_with("unreadable sfen"));
    }

    #[test]
    fn impossible_positions_are_refused() {
        let refused = |sfen: &str| fault(&format!("position sfen {sfen}"));
        assert!(refused("9/9/9/9/9/9/9/9/9 b - 1").starts_with("impossible position"));
        assert!(refused("4k4/9/9/9/4P4/4P4/9/9/4K4 b - 1").contains("double pawn"));
        assert!(refused("4k4/4R4/9/9/9/9/9/9/4K4 b - 1").contains("can be taken"));
        assert!(Game::from_sfen("4k4/9/4P4/9/9/9/9/9/9 b G 1").is_ok());
    }

    #[test]
    fn no_garbled_line_is_a_panic() {
        let mut rng = crate::SplitMix64::new(5);
        let lines = [
            "position startpos moves 7g7f 3c3d 8h2b+ 3a2b B*4e",
            "position sfen l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1 moves B*5a",
            "position sfen 4k4/9/4P4/9/9/9/9/9/9 b G 65535 moves G*5b",
        ];
        let letters: Vec<char> = "0123456789abcdefghiPpLlNnSsGgBbRrKk+*/ -w".chars().collect();
        for round in 0..20_000 {
            let mut line: Vec<char> = lines[round % 3].chars().collect();
            for _ in 0..=round % 4 {
                let at = rng.next_u64() as usize % line.len();
                line[at] = *rng.choose(&letters).unwrap();
            }
            let _ = Game::parse(&line.into_iter().collect::<String>());
        }
    }
}
