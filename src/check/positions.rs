//! The positions an engine is asked about, and what each of them asks for.

use referee::{WinBy, legality};
use rsshogi::{
    board::{self, Position},
    mate::solve_mate_in_one,
    types::{EnteringKingRule, Move},
};

/// The positions this program carries; `kifu/check.sfen` says how they were made.
pub const CARRIED: &str = include_str!("../../kifu/check.sfen");

/// A position with its spelling.
#[derive(Clone)]
pub struct Spot {
    /// What stands behind the word `position`.
    pub line: String,
    /// The position it leads to.
    pub position: Position,
}

/// What a position asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No legal move and in check.
    Mated,
    /// No legal move and not in check: lost all the same.
    Stalemated,
    /// The side to move may declare (27-point rule).
    Declarable,
    /// There is a mate in one.
    MateInOne,
    /// Any legal move will do.
    Ordinary,
}

/// What an answer is worth in a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// A legal move.
    Legal(Move),
    /// `resign`
    Resigned,
    /// `win`, with the right to it.
    Declared,
    /// It loses the game; why.
    Lost(String),
}

impl Spot {
    /// Reads `startpos`, an SFEN, or either with `moves M..` behind it; the word `position` may lead.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        board::init();
        let text = text.trim().trim_start_matches("position ").trim_start();
        let (start, moves) = text.split_once(" moves").unwrap_or((text, ""));
        let sfen = start.trim().trim_start_matches("sfen ").trim();
        let mut position = match sfen {
            "startpos" => board::hirate_position(),
            sfen => board::position_from_sfen(&with_ply(sfen)).map_err(|error| error.to_string())?,
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
    ///
    /// # Errors
    /// When the move is illegal.
    pub fn after(&self, mv: &str) -> Result<Self, String> {
        let mut next = self.clone();
        play(&mut next.position, mv)?;
        next.line += if self.line.contains(" moves ") { " " } else { " moves " };
        next.line += mv;
        Ok(next)
    }

    /// What it asks for.
    #[must_use]
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

    /// What the word behind `bestmove` is worth here.
    #[must_use]
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

/// The positions of a text: one a line, `#` begins a comment.
///
/// # Errors
/// The number of the line that is no position, and why.
pub fn read(text: &str) -> Result<Vec<Spot>, (usize, String)> {
    let lines = text.lines().enumerate().map(|(i, line)| (i, line.split('#').next().unwrap_or_default()));
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(i, line)| Spot::read(line).map_err(|reason| (i + 1, reason)))
        .collect()
}

fn with_ply(sfen: &str) -> String {
    let lacks_ply = sfen.split_ascii_whitespace().count() == 3;
    if lacks_ply { format!("{sfen} 1") } else { sfen.to_owned() }
}

fn play(position: &mut Position, word: &str) -> Result<(), String> {
    let illegal = || format!("`{word}` is not legal here");
    let mv = position.move32_from_usi(word).filter(|mv| mv.to_move().is_normal()).ok_or_else(illegal)?;
    position.try_apply_move32(mv).map_err(|_| illegal())
}

#[cfg(test)]
#[path = "positions_tests.rs"]
mod tests;
