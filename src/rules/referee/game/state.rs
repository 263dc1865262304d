//! The state of a game, whoever rules it: the board, its history, the clocks, and how far the game has come.

use super::{
    setup::{Setup, SetupError},
    talk::{Order, Output},
};
use crate::{
    Color, Outcome, WinBy,
    clock::{Budget, Clock},
    distinct::moves_hash,
    history::{History, Repetition, forget},
    ids::GameId,
    legality::foul,
    rules::Rules,
};
use rating::mix::mix;
use rsshogi::{
    board::{Position, position_from_sfen},
    types::{Move, Move32},
};

/// How far a game has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Preparing { ready: [bool; 2] },
    Running,
    Over(Outcome),
}

/// The state that every ruling reads and changes.
pub(super) struct GameState {
    pub id: GameId,
    pub rules: Rules,
    pub position: Position,
    history: History,
    pub clocks: [Clock; 2],
    seed: u64,
    /// The argument of USI's `position`, grown move by move.
    line: String,
    /// The last move on the board.
    last: Option<Move>,
    pub phase: Phase,
}

impl GameState {
    /// The state before the players are ready, with the opening on the board; each of its moves is shown when it is there,
    /// with its place among them.
    pub fn new(setup: &Setup, mut played: impl FnMut(&Self, usize)) -> Result<Self, SetupError> {
        rsshogi::board::init();
        let mut position = position_from_sfen(&setup.start)
            .map_err(|e| SetupError::Start(setup.start.clone(), e.to_string()))?;
        position.init_stack();
        position.set_entering_king_rule(setup.rules.entering_king_rule());
        let mut state = Self {
            id: setup.game,
            rules: setup.rules,
            history: History::new(&position, setup.rules.count_start_position),
            clocks: setup.times.map(Clock::new),
            seed: setup.seed,
            line: position_argument(&setup.start, &position),
            position,
            last: None,
            phase: Phase::Preparing { ready: [false; 2] },
        };
        for (i, &mv) in setup.opening.iter().enumerate() {
            if let Some(foul) = foul(&state.position, mv) {
                return Err(SetupError::Opening(i + 1, mv.to_usi(), WinBy::IllegalMove(foul).name()));
            }
            state.apply(mv);
            played(&state, i);
        }
        Ok(state)
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        self.position.turn().into()
    }

    /// Plies on the board, the opening's and those before the start position included.
    pub fn plies(&self) -> u32 {
        u32::from(self.position.game_ply()).saturating_sub(1)
    }

    /// Puts a legal move on the board.
    pub fn apply(&mut self, mv: Move) -> Option<Repetition> {
        let piece = self.position.moved_piece_after_move(mv);
        self.position.apply_move32(Move32::from_move_with_piece(mv, piece));
        forget(&mut self.position);
        if self.last.is_none() {
            self.line.push_str(" moves");
        }
        self.line.push(' ');
        push_usi(&mut self.line, mv);
        self.last = Some(mv);
        self.history.push(&self.position)
    }

    /// What the game consists of so far, to be compared with others.
    pub fn moves_hash(&self) -> u64 {
        let (start, moves) = self.line.split_once(" moves ").unwrap_or((&self.line, ""));
        moves_hash(start.strip_prefix("sfen ").unwrap_or(start), moves.split_ascii_whitespace())
    }

    /// The budget of `color` with both clocks as they stand.
    pub fn budget(&self, color: Color) -> Budget {
        Budget::new(&self.clocks, color, mix(self.seed ^ u64::from(self.plies())))
    }

    /// The order that asks the side to move for its move, with this budget.
    pub fn question(&self, budget: Budget) -> Order {
        Order::Go { position: self.line.clone(), last: self.last, budget }
    }

    /// Ends the game and tells both seats.
    pub fn end(&mut self, outcome: Outcome, reason: String) -> Vec<Output> {
        self.phase = Phase::Over(outcome);
        let orders = Color::BOTH.map(|color| Output::Tell(color, Order::Over(outcome)));
        orders.into_iter().chain([Output::Ended(outcome, reason)]).collect()
    }
}

/// `startpos` for the even start, as some engines know their opening book only by it.
fn position_argument(start: &str, position: &Position) -> String {
    const EVEN: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    if position.to_sfen(None) == EVEN { "startpos".to_owned() } else { format!("sfen {start}") }
}

/// Appends a move in USI without building a string for it: once per ply of every game.
fn push_usi(line: &mut String, mv: Move) {
    let square = |line: &mut String, sq: rsshogi::types::Square| {
        line.push(char::from(b'1' + sq.file().raw().unsigned_abs()));
        line.push(char::from(b'a' + sq.rank().raw().unsigned_abs()));
    };
    if mv.is_drop() {
        line.push_str(&mv.to_usi());
        return;
    }
    square(line, mv.from_sq());
    square(line, mv.to_sq());
    if mv.is_promotion() {
        line.push('+');
    }
}
