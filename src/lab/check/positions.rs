//! Positions for the questions, and the answers that are correct in each.

use referee::{WinBy, legality};
use rsshogi::{
    board::{self, Position, SfenError},
    mate::solve_mate_in_one,
    types::{EnteringKingRule, Move},
};

/// The built-in positions; `kifu/check.sfen` describes their origin.
pub const CARRIED: &str = include_str!("../../../kifu/check.sfen");

/// Middle-game positions; the file names their origin.
const MIDDLE_GAMES: &str = include_str!("../../../kifu/middlegames.sfen");

/// Why a text is no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpotFault {
    /// The start is not SFEN.
    #[error(transparent)]
    Sfen(#[from] SfenError),
    /// A move that cannot be played.
    #[error("`{0}` is not legal here")]
    Illegal(String),
}

/// A position with its spelling.
#[derive(Clone)]
pub struct Spot {
    /// Argument of the `position` command.
    pub line: String,
    pub position: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Mated,
    /// No legal move without check; lost as well.
    Stalemated,
    /// The side to move may declare (27-point rule).
    Declarable,
    /// The side to move can mate in one.
    MateInOne,
    Ordinary,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    Legal(Move),
    Resigned,
    /// `win`, with the right to declare.
    Declared,
    /// An answer that loses the game; the reason.
    Lost(String),
}

impl Spot {
    /// Reads `startpos` or an SFEN, optionally followed by `moves M...`; the word `position` may precede it.
    pub fn read(text: &str) -> Result<Self, SpotFault> {
        board::init();
        let text = text.trim().trim_start_matches("position ").trim_start();
        let (start, moves) = text.split_once(" moves").unwrap_or((text, ""));
        let sfen = start.trim().trim_start_matches("sfen ").trim();
        let mut position = match sfen {
            "startpos" => board::hirate_position(),
            sfen => board::position_from_sfen(&with_ply(sfen))?,
        };
        position.init_stack();
        for word in moves.split_ascii_whitespace() {
            play(&mut position, word)?;
        }
        position.set_entering_king_rule(EnteringKingRule::Point27Handicap);
        let start = if sfen == "startpos" { sfen.to_owned() } else { format!("sfen {}", with_ply(sfen)) };
        let moves = moves.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let line = if moves.is_empty() { start } else { format!("{start} moves {moves}") };
        Ok(Self { line, position })
    }

    /// The position after one more move.
    pub fn after(&self, mv: &str) -> Result<Self, SpotFault> {
        let mut next = self.clone();
        play(&mut next.position, mv)?;
        next.line += if self.line.contains(" moves ") { " " } else { " moves " };
        next.line += mv;
        Ok(next)
    }

    pub fn kind(&self) -> Kind {
        let position = &self.position;
        match () {
            () if position.is_mated() && position.checkers().is_empty() => Kind::Stalemated,
            () if position.is_mated() => Kind::Mated,
            () if position.evaluate_declaration().can_declare => Kind::Declarable,
            () if solve_mate_in_one(position).is_some() => Kind::MateInOne,
            () => Kind::Ordinary,
        }
    }

    /// Judges the word after `bestmove`.
    pub fn judge(&self, word: &str) -> Judged {
        match word {
            "resign" => Judged::Resigned,
            "win" if self.position.evaluate_declaration().can_declare => Judged::Declared,
            "win" => Judged::Lost("`win` without the right to declare".to_owned()),
            word => match Move::from_usi(word).filter(|mv| mv.is_normal()) {
                None => Judged::Lost(format!("`{word}` is not a move")),
                Some(mv) => match legality::foul(&self.position, mv) {
                    None => Judged::Legal(mv),
                    Some(foul) => Judged::Lost(format!("`{word}`: {}", WinBy::IllegalMove(foul).name())),
                },
            },
        }
    }
}

impl std::fmt::Debug for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Spot").field(&self.line).finish()
    }
}

/// Reads one position per line; `#` begins a comment.
pub fn read(text: &str) -> Result<Vec<Spot>, (usize, SpotFault)> {
    let lines = text.lines().enumerate().map(|(i, line)| (i, line.split('#').next().unwrap_or_default()));
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(i, line)| Spot::read(line).map_err(|reason| (i + 1, reason)))
        .collect()
}

/// A cycle of middle-game positions.
pub struct MiddleGames {
    spots: Vec<Spot>,
    next: usize,
}

impl MiddleGames {
    pub fn new() -> Result<Self, SpotFault> {
        let spots = read(MIDDLE_GAMES).map_err(|(_, fault)| fault)?;
        Ok(Self { spots, next: 0 })
    }

    /// The next position, not yet taken.
    pub fn peek(&self) -> Option<&Spot> {
        self.spots.get(self.next % self.spots.len().max(1))
    }

    pub fn next(&mut self) -> Option<Spot> {
        let spot = self.peek().cloned();
        self.next += 1;
        spot
    }
}

fn with_ply(sfen: &str) -> String {
    let lacks_ply = sfen.split_ascii_whitespace().count() == 3;
    if lacks_ply { format!("{sfen} 1") } else { sfen.to_owned() }
}

fn play(position: &mut Position, word: &str) -> Result<(), SpotFault> {
    let illegal = || SpotFault::Illegal(word.to_owned());
    let mv = position.move32_from_usi(word).filter(|mv| mv.to_move().is_normal()).ok_or_else(illegal)?;
    position.try_apply_move32(mv).map_err(|_| illegal())
}

#[cfg(test)]
#[path = "positions_tests.rs"]
mod tests;
