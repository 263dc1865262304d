//! The messages between a game, its seats and the shell.

use crate::{
    Color, Outcome,
    clock::Budget,
    entry::{Entry, Thought},
    ids::GameId,
    sink::GameOptions,
};
use rsshogi::types::{Move, Move32};
use std::{fmt, time::Duration};

/// An input of a game.
#[derive(Clone, Debug)]
pub enum Input {
    /// A message of a seat.
    Reply(Color, Reply),
    /// The alarm of the side to move went off.
    FlagFell,
    /// The event is being stopped.
    Stop,
    /// The operator of the event ends the game so, with the reason in words.
    Ruled(Outcome, String),
}

/// An output of a game: an action for the shell.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send an order to a seat.
    Tell(Color, Order),
    /// Ask a seat that began anew in the middle of its turn; the time of the turn so far stays charged.
    AskAgain(Color, Order),
    /// Report a fault of a seat that does not end the game.
    Fault(Color, String),
    /// Both players are ready: the game begins.
    Started,
    /// An entry for the stream.
    Happened(Entry),
    /// The game ended; the text is the reason, empty for endings that explain themselves.
    Ended(Outcome, String),
}

/// A message of a seat.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The seat is ready for the game.
    Ready,
    /// The player turns the game down; valid only before the game begins.
    Rejected {
        /// True if the player did not answer in time.
        expired: bool,
    },
    /// The answer to [`Order::Go`].
    Answer(Answer),
    /// A ruling of the server; valid only from the seat of the server under [`super::Authority::Server`].
    Ruled(Ruling),
    /// The seat is lost: its process or connection ended, or it never became ready. The text gives the cause.
    Gone(String),
    /// This machine lacks what the player's engine needs to start, which is no fault of the player. The text says what.
    Unseated(String),
}

/// A ruling of the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// The server accepts a move of either side.
    Moved(RuledMove),
    /// The game is not played; the text names the side that turned it down.
    Rejected(String),
    /// The game is over.
    Ended {
        /// The ending, as far as the lines of the server name it.
        outcome: Outcome,
        /// The lines of the server.
        words: String,
    },
}

/// A move that the server accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledMove {
    /// The side that moved.
    pub color: Color,
    /// The move, or the text that could not be read as one.
    pub said: Said,
    /// The line as received.
    pub raw: String,
    /// The time charged; `None` if the server does not name it.
    pub charged: Option<Duration>,
    /// The time measured by this program.
    pub elapsed: Duration,
    /// Time reserved from the next turn for the way to the server.
    pub lag: Duration,
    /// Time for which the next turn has been running at the server before the move was read here; zero unless the
    /// connection was lost meanwhile.
    pub passed: Duration,
}

/// An answer with its thinking time.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The content of the answer.
    pub said: Said,
    /// Time from the order to the read that completed the line.
    pub elapsed: Duration,
    /// True if the engine wants to ponder on an expected reply: [`Order::Ponder`] follows if the game goes on.
    pub ponders: bool,
    /// The last `info` before the move.
    pub thought: Option<Box<Thought>>,
}

/// The content of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A move, legal or not.
    Move(Move),
    /// Resignation.
    Resign,
    /// Declaration of a win.
    Win,
    /// Any other text, unchanged.
    Unreadable(String),
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move(mv) => f.write_str(&mv.to_usi()),
            Self::Resign => f.write_str("resign"),
            Self::Win => f.write_str("win"),
            Self::Unreadable(text) => f.write_str(text),
        }
    }
}

/// An order of the game for a seat.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// The engine plays its next games with these options; only for seats of engines, and before [`Order::NewGame`].
    Options(GameOptions),
    /// Get ready for a game.
    NewGame {
        /// The game. Every reply carries it, so that a late reply is not taken for one of the next game.
        game: GameId,
        /// The side of the seat.
        color: Color,
    },
    /// Make a move.
    Go {
        /// The game so far, as the argument of USI `position`.
        position: String,
        /// The last move on the board, if there is one.
        last: Option<Move>,
        /// The time that may be used.
        budget: Budget,
    },
    /// Ponder, as the last answer asked for, with this budget.
    Ponder(Budget),
    /// A word of either side; only for sides that receive everything ([`super::Setup::hears`]).
    Heard(Heard),
    /// Submit this answer to the server; only for the seat of the server.
    Submit(Answer),
    /// The game is over.
    Over(Outcome),
}

/// A word of the game, as a network player receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The side that said it; at the start, the side to move.
    pub color: Color,
    /// The word.
    pub word: Word,
    /// The time charged for it.
    pub charged: Duration,
}

/// A word of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Both sides are ready and the first clock runs.
    Start,
    /// A legal move, with the piece that stands after it.
    Move(Move32),
    /// Resignation.
    Resign,
    /// A declaration, valid or not.
    Declare,
    /// A player turned the game down.
    Reject,
    /// A player did not agree in time.
    Expire,
}
