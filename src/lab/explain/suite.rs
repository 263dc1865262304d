//! Suites of positions: the EPD of chess with SFEN in place of FEN and moves in USI.
//!
//! ```text
//! # comment
//! lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 bm 7g7f 2g2f; am 5i5h; id "game 12, ply 1";
//! ```
//!
//! An opcode is a word, its operands, and `;`. `bm` lists moves of which an engine has to find one, `am` moves that it has
//! to avoid, `id` names the position; all others are kept and not read. A leading word `sfen` is passed over.

use referee::Color;
use rsshogi::{
    board::{Position, SfenError},
    types::Move,
};
use serde::Serialize;
use std::fmt;

/// Most positions of a suite.
const MAX_POSITIONS: usize = 100_000;

/// A position and what is asked of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Task {
    /// The position as SFEN, with its move number.
    pub sfen: String,
    /// Moves in USI of which one has to be found; empty: any move that is not to be avoided.
    pub best: Vec<String>,
    /// Moves in USI to avoid.
    pub avoid: Vec<String>,
    /// Name of the position; may be empty.
    pub id: String,
    /// Further opcodes with their operands.
    pub more: Vec<(String, String)>,
}

/// A line that is no position with opcodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct SuiteFault {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub fault: TaskFault,
}

/// What is wrong with a line of a suite.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskFault {
    /// The suite ends without one.
    #[error("no position")]
    Nothing,
    /// The suite is too long.
    #[error("more than {MAX_POSITIONS} positions")]
    TooMany,
    /// The position is not SFEN.
    #[error("`{0}` is no position: {1}")]
    Position(String, SfenError),
    /// Quotes without an end.
    #[error("a quotation mark is not closed")]
    Quotes,
    /// A task that every move passes.
    #[error("neither `bm` nor `am` says which moves are right or wrong")]
    NoAim,
    /// An opcode without its moves.
    #[error("an opcode `bm` or `am` without a move")]
    NoMoves,
    /// A word that is no move.
    #[error("`{0}` is no move in USI")]
    NoMove(String),
    /// A move that cannot be played.
    #[error("move `{0}` is not legal in the position")]
    Illegal(String),
}

/// Reads a suite.
///
/// # Errors
/// The first line that cannot be read; a file without a position, or with more than 100,000.
pub fn read(text: &str) -> Result<Vec<Task>, SuiteFault> {
    let mut tasks = vec![];
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fault = |fault| SuiteFault { line: at + 1, fault };
        tasks.push(task(line).map_err(fault)?);
        if tasks.len() > MAX_POSITIONS {
            return Err(fault(TaskFault::TooMany));
        }
    }
    if tasks.is_empty() { Err(SuiteFault { line: 1, fault: TaskFault::Nothing }) } else { Ok(tasks) }
}

fn task(line: &str) -> Result<Task, TaskFault> {
    let line = line.strip_prefix("sfen ").unwrap_or(line).trim_start();
    let (sfen, rest) = position(line)?;
    let mut task = Task { sfen, ..Task::default() };
    for operation in operations(rest)? {
        let (code, operands) = operation.split_once(char::is_whitespace).unwrap_or((operation, ""));
        let operands = operands.trim();
        match code {
            "bm" => task.best = moves(operands, &task.sfen)?,
            "am" => task.avoid = moves(operands, &task.sfen)?,
            "id" => task.id = operands.trim_matches('"').to_owned(),
            _ => task.more.push((code.to_owned(), operands.to_owned())),
        }
    }
    if task.best.is_empty() && task.avoid.is_empty() { Err(TaskFault::NoAim) } else { Ok(task) }
}

/// The SFEN at the start of a line, and the rest of the line. The move number may be missing, as in EPD.
fn position(line: &str) -> Result<(String, &str), TaskFault> {
    let mut rest = line;
    let mut word = || {
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let before = rest;
        rest = behind.trim_start();
        (word, before)
    };
    let (board, turn, hands) = (word().0, word().0, word().0);
    let (number, before) = word();
    let (number, rest) = match number.parse::<u16>() {
        Ok(number) => (number.max(1), rest),
        Err(_) => (1, before),
    };
    let sfen = format!("{board} {turn} {hands} {number}");
    set_up(&sfen)?;
    Ok((sfen, rest))
}

fn set_up(sfen: &str) -> Result<Position, TaskFault> {
    Position::from_sfen(sfen).map_err(|why| TaskFault::Position(sfen.to_owned(), why))
}

/// The operations, each without its `;`. A `;` between quotes ends none.
fn operations(text: &str) -> Result<Vec<&str>, TaskFault> {
    let (mut operations, mut from, mut is_quoted) = (vec![], 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            ';' if !is_quoted => {
                operations.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    if is_quoted {
        return Err(TaskFault::Quotes);
    }
    // The last `;` is often forgotten.
    operations.push(text[from..].trim());
    operations.retain(|operation| !operation.is_empty());
    Ok(operations)
}

fn moves(operands: &str, sfen: &str) -> Result<Vec<String>, TaskFault> {
    let position = set_up(sfen)?;
    let legal = |word: &str| {
        let mv = Move::from_usi(word).filter(|mv| mv.is_normal());
        match mv {
            Some(mv) if position.is_legal_move(mv) => Ok(mv.to_usi()),
            Some(_) => Err(TaskFault::Illegal(word.to_owned())),
            None => Err(TaskFault::NoMove(word.to_owned())),
        }
    };
    let moves: Vec<String> = operands.split_whitespace().map(legal).collect::<Result<_, _>>()?;
    if moves.is_empty() { Err(TaskFault::NoMoves) } else { Ok(moves) }
}

impl Task {
    /// True if a move passes.
    pub fn passes(&self, mv: &str) -> bool {
        let is_among = |moves: &[String]| moves.iter().any(|known| known == mv);
        (self.best.is_empty() || is_among(&self.best)) && !is_among(&self.avoid)
    }
}

/// A line of a suite.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sfen)?;
        for (code, moves) in [("bm", &self.best), ("am", &self.avoid)] {
            if !moves.is_empty() {
                write!(f, " {code} {};", moves.join(" "))?;
            }
        }
        if !self.id.is_empty() {
            write!(f, " id \"{}\";", plain(&self.id))?;
        }
        self.more.iter().try_for_each(|(code, operands)| write!(f, " {code} {operands};"))
    }
}

/// The side to move of an SFEN.
pub fn mover(sfen: &str) -> Color {
    if sfen.split_whitespace().nth(1) == Some("w") { Color::White } else { Color::Black }
}

/// Text that may stand between quotation marks on one line.
pub fn plain(text: &str) -> String {
    notation::printable(text.as_bytes()).replace('"', "'")
}

#[cfg(test)]
#[path = "suite_tests.rs"]
mod tests;
