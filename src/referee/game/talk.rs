//! What a game and its seats say to each other.

use crate::{
    Color, Outcome,
    clock::Budget,
    event::{Event, Thought},
    ids::GameId,
};
use rsshogi::types::{Move, Move32};
use std::{fmt, time::Duration};

/// What happens to a game.
#[derive(Clone, Debug)]
pub enum Input {
    /// A seat spoke.
    Reply(Color, Reply),
    /// The alarm of the side to move went off.
    FlagFell,
    /// The event is being stopped.
    Stop,
}

/// What a game wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Tell a seat.
    Tell(Color, Order),
    /// Ask a seat that began anew in the middle of its turn: what has passed of the turn is gone from its time.
    AskAgain(Color, Order),
    /// A seat has a fault that does not end the game; the text says which.
    Fault(Color, String),
    /// Both players are ready: the game begins.
    Started,
    /// Something to be recorded.
    Happened(Event),
    /// The game ended; the text is the referee's reason where the ending does not explain itself.
    Ended(Outcome, String),
}

/// What a seat says.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It is ready for the game.
    Ready,
    /// It does not want the game; heard only before the game begins.
    Rejected {
        /// It said nothing for too long.
        expired: bool,
    },
    /// Its answer to [`Order::Go`].
    Answer(Answer),
    /// What the server says that rules this game; heard only from its seat, and only under
    /// [`super::Authority::Server`].
    Ruled(Ruling),
    /// It is gone: its process or connection ended, or it never became ready. The text says how.
    Gone(String),
}

/// What a server says that rules.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// A move stands, whoever made it.
    Moved(RuledMove),
    /// The game is not played; the text says by whose wish.
    Rejected(String),
    /// The game is over.
    Ended {
        /// How, as far as the server's words tell.
        outcome: Outcome,
        /// The words.
        words: String,
    },
}

/// A move as the server tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledMove {
    /// Who made it.
    pub color: Color,
    /// The move, or what could not be read as one.
    pub said: Said,
    /// The line as it came.
    pub raw: String,
    /// The time charged; `None` where the server does not say it.
    pub charged: Option<Duration>,
    /// The time measured here.
    pub elapsed: Duration,
    /// What is to be kept back from the next turn's time for the way to the server.
    pub lag: Duration,
}

/// An answer, with the time it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What was said.
    pub said: Said,
    /// From the moment the seat was asked to the read that completed the line.
    pub elapsed: Duration,
    /// It wants to think on, expecting a reply: send [`Order::Ponder`] if the game goes on.
    pub ponders: bool,
    /// Its account of the move.
    pub thought: Option<Box<Thought>>,
}

/// What was said.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A move, legal or not.
    Move(Move),
    /// Resignation.
    Resign,
    /// Declaration of a win.
    Win,
    /// Something that is no move; the text as it was.
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

/// What a seat is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Get ready for a game with these colours.
    NewGame {
        /// Which; every reply is marked with it, so that no word of one game is heard in the next.
        game: GameId,
        /// The side the seat plays.
        color: Color,
    },
    /// Your turn.
    Go {
        /// The game so far as the argument of USI's `position`.
        position: String,
        /// The last move on the board, if there is one.
        last: Option<Move>,
        /// The clocks.
        budget: Budget,
    },
    /// Think on, as you wished, with these clocks.
    Ponder(Budget),
    /// Somebody, perhaps you, said this; only for sides that hear everything ([`super::Setup::hears`]).
    Heard(Heard),
    /// Say this to the server that rules; only for its seat.
    Submit(Answer),
    /// The game is over.
    Over(Outcome),
}

/// What was said in a game, as a player in a network has to hear it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Who said it; at the start, the side to move.
    pub color: Color,
    /// What.
    pub word: Word,
    /// The time charged for it.
    pub charged: Duration,
}

/// What can be heard in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Both are ready and the first clock runs.
    Start,
    /// A legal move, with the piece that stands after it.
    Move(Move32),
    /// Resignation.
    Resign,
    /// A declaration, whatever it is worth.
    Declare,
    /// The game is not wanted.
    Reject,
    /// Not ready in time.
    Expire,
}
