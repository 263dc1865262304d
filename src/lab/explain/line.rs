//! A game as the explanation reads it: positions by number, and what its players reported.

use journal::FullGame;
use referee::{Color, Outcome, entry::Moved, evaluation::Evaluation, history::forget, rules::Rules};
use rsshogi::{
    board::Position,
    types::{Move, Move32},
};
use std::fmt::Write as _;

/// Most moves of a game that is read.
const MAX_MOVES: usize = 4096;

/// What a player reported of a move of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// Number of the position that it leads to: 1 for the first move of the game, its opening included.
    pub at: usize,
    /// The mover.
    pub color: Color,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Its evaluation, from black's side.
    pub evaluation: Option<Evaluation>,
}

impl Own {
    /// True if the move was searched, as far as the player said: a move of a book has neither nodes nor depth.
    pub fn is_searched(&self) -> bool {
        self.nodes.is_some_and(|nodes| nodes > 0) || self.depth.is_some_and(|depth| depth > 0)
    }
}

/// A game. Position 0 is its start, position `n` that after `n` moves, those of the opening included.
#[derive(Clone, Debug)]
pub struct Line {
    /// Names of black and white.
    pub names: [String; 2],
    /// The ending.
    pub outcome: Option<Outcome>,
    /// What the players reported of their moves, in order.
    pub own: Vec<Own>,
    /// Moves of the opening, which no player chose.
    pub opening: usize,
    argument: String,
    moves: Vec<Move>,
    /// The positions, each as SFEN and with the side to move.
    positions: Vec<(String, Color)>,
    /// Position in which the side to move could have declared a win and did not, the first for each side.
    undeclared: [Option<usize>; 2],
    /// The number of the first move, as people count: not 1 where the start position says so.
    first: u32,
}

/// A stored game whose moves are not those of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// It never began.
    #[error("it has no moves")]
    Empty,
    /// Its start is no position.
    #[error("its start is no position")]
    Start,
    /// A move is not legal.
    #[error("move {0} is not legal")]
    Illegal(usize),
    /// It is too long.
    #[error("it has more than {MAX_MOVES} moves")]
    Long,
}

impl Line {
    /// Reads a stored game.
    ///
    /// # Errors
    /// When the moves are dropped or are no game.
    pub fn of(game: &FullGame, rules: &Rules) -> Result<Self, LineFault> {
        let start = game.row.start.clone().ok_or(LineFault::Empty)?;
        let opening = game.row.opening.as_deref().unwrap_or_default();
        let opening: Vec<Move> = opening.split_whitespace().filter_map(Move::from_usi).collect();
        let played = game.moves.iter().map(|(_, moved)| moved.mv);
        let moves: Vec<Move> = opening.iter().copied().chain(played).collect();
        let mut line = Self::replayed(&start, moves, rules)?;
        line.names = [game.row.black.clone(), game.row.white.clone()];
        (line.outcome, line.opening) = (game.row.outcome, opening.len());
        let own = game.moves.iter().enumerate();
        line.own = own.map(|(at, (_, moved))| own_of(opening.len() + at + 1, moved)).collect();
        if let Some((_, moved)) = game.moves.first() {
            line.first = moved.ply.saturating_sub(u32::try_from(opening.len()).unwrap_or(0)).max(1);
        }
        Ok(line)
    }

    /// The game of a start position and moves.
    ///
    /// # Errors
    /// When there are no moves, or one of them is not legal.
    pub fn replayed(start: &str, moves: Vec<Move>, rules: &Rules) -> Result<Self, LineFault> {
        if moves.is_empty() {
            return Err(LineFault::Empty);
        }
        if moves.len() > MAX_MOVES {
            return Err(LineFault::Long);
        }
        let mut position = Position::from_sfen(start).map_err(|_| LineFault::Start)?;
        position.set_entering_king_rule(rules.entering_king_rule());
        let mut positions = vec![seen(&position)];
        let mut undeclared = [None; 2];
        for (at, &mv) in moves.iter().enumerate() {
            if position.declaration_win_move() != Move32::MOVE_NONE && !is_try(&position, mv) {
                undeclared[Color::from(position.turn()).index()].get_or_insert(at);
            }
            if !position.is_legal_move(mv) {
                return Err(LineFault::Illegal(at + 1));
            }
            let mv = position.move32_from_move(mv);
            position.apply_move32(mv);
            forget(&mut position);
            positions.push(seen(&position));
        }
        if position.declaration_win_move() == Move32::MOVE_WIN {
            undeclared[Color::from(position.turn()).index()].get_or_insert(moves.len());
        }
        let first = u32::from(Position::from_sfen(start).map_err(|_| LineFault::Start)?.game_ply()).max(1);
        Ok(Self {
            names: Default::default(),
            outcome: None,
            own: vec![],
            opening: 0,
            argument: argument(start),
            moves,
            positions,
            undeclared,
            first,
        })
    }

    /// Number of moves.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// The move that leads to a position, in USI; `None` for position 0 and beyond the end.
    pub fn to(&self, at: usize) -> Option<String> {
        self.moves.get(at.checked_sub(1)?).map(|mv| mv.to_usi())
    }

    /// The side to move in a position.
    pub fn mover(&self, at: usize) -> Color {
        self.positions.get(at).map_or(Color::Black, |position| position.1)
    }

    /// A position as SFEN, with its move number.
    pub fn sfen(&self, at: usize) -> &str {
        self.positions.get(at).map_or("", |position| position.0.as_str())
    }

    /// The argument of USI `position` for a position: the whole game up to there, so that engines see repetitions.
    pub fn position(&self, at: usize) -> String {
        let mut text = self.argument.clone();
        for (index, mv) in self.moves.iter().take(at).enumerate() {
            let joint = if index == 0 { " moves " } else { " " };
            let _in_memory = write!(text, "{joint}{}", mv.to_usi());
        }
        text
    }

    /// The number of the move that leads to a position, as records count.
    pub fn ply(&self, at: usize) -> u32 {
        (self.first + u32::try_from(at).unwrap_or(u32::MAX - self.first)).saturating_sub(1)
    }

    /// The first position in which a side could have declared a win and did not.
    pub fn undeclared(&self, color: Color) -> Option<usize> {
        self.undeclared[color.index()]
    }
}

fn own_of(at: usize, moved: &Moved) -> Own {
    let thought = moved.thought.as_deref();
    Own {
        at,
        color: moved.color,
        nodes: thought.and_then(|thought| thought.nodes),
        depth: thought.and_then(|thought| thought.depth),
        evaluation: Evaluation::of_move(moved),
    }
}

fn seen(position: &Position) -> (String, Color) {
    (position.to_sfen(Some(i32::from(position.game_ply()).max(1))), Color::from(position.turn()))
}

/// True if the move is the winning one of the try rule.
fn is_try(position: &Position, mv: Move) -> bool {
    position.declaration_win_move() == position.move32_from_move(mv)
}

/// `startpos` for the even start, as some engines know their opening book only by it.
fn argument(start: &str) -> String {
    const EVEN: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    if start == EVEN { "startpos".to_owned() } else { format!("sfen {start}") }
}
