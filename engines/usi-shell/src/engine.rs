//! The trait an engine implements.

use std::error::Error;
use std::fmt::{self, Display};
use std::sync::Arc;

use rsshogi::board::Position;
use rsshogi::types::{Move, Move32};

use crate::game::Game;
use crate::limits::{Clock, Limits};
use crate::options::{OptionSpec, Options};
use crate::output::{self, Output};

/// A shogi engine. All its methods are called in sequence on one dedicated thread.
pub trait Engine: Send + 'static {
    /// Answers `id name`.
    fn name(&self) -> String;

    /// Answers `id author`.
    fn author(&self) -> String;

    /// The options to declare, in display order. The shell adds `NetworkDelay` and `TimePolicy`.
    fn options(&self) -> Vec<OptionSpec> {
        Vec::new()
    }

    /// Called after each accepted `setoption`, even if the value did not change, and when a button is pressed.
    /// Expensive work belongs in [`ready`](Self::ready).
    fn set_option(&mut self, _name: &str, _options: &Options) {}

    /// Prepares for play: loads files, allocates tables. Called at each `isready`, that is before each game,
    /// and before a first `go` without a preceding `isready`.
    ///
    /// # Errors
    /// When the engine cannot play. The reason is printed, and the process ends.
    fn ready(&mut self, _options: &Options, _out: &Output) -> Result<(), NotReady> {
        Ok(())
    }

    /// Discards the state of the last game. Called at `usinewgame`.
    fn new_game(&mut self) {}

    /// Chooses a move. Must return soon after [`Clock::is_stopped`] turns true.
    fn think(&mut self, game: &Game, search: &Search, out: &Output) -> BestMove;

    /// Searches for a mate. Called at `go mate`.
    fn solve_mate(&mut self, _game: &Game, _search: &Search, _out: &Output) -> Checkmate {
        Checkmate::NotImplemented
    }

    /// Called at `gameover`.
    fn game_over(&mut self, _result: GameResult) {}
}

/// Why an engine cannot play: a missing file, too little memory.
pub type NotReady = Box<dyn Error + Send + Sync>;

/// The conditions of one search.
#[derive(Clone)]
pub struct Search {
    /// The parsed `go` line.
    pub limits: Limits,
    /// The running clock of this search.
    pub clock: Clock,
    /// The current option values.
    pub options: Arc<Options>,
}

/// The answer to `go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BestMove {
    /// Plays a move.
    Play {
        /// The move; a `Move32` converts into it.
        mv: Move,
        /// The expected reply, for pondering.
        ponder: Option<Move>,
    },
    /// Resigns.
    Resign,
    /// Declares a win by entering king.
    Win,
}

impl BestMove {
    /// Plays `mv` without a move to ponder on.
    pub fn play(mv: impl Into<Move>) -> Self {
        Self::Play { mv: mv.into(), ponder: None }
    }

    /// A winning declaration if the rule in force allows one: `bestmove win`, or under the try rule the king's move to its
    /// target square.
    pub fn declaration(position: &Position) -> Option<Self> {
        match position.declaration_win_move() {
            Move32::MOVE_WIN => Some(Self::Win),
            mv if mv.is_normal() => Some(Self::play(mv)),
            _ => None,
        }
    }

    /// The move, if one is played.
    pub fn mv(&self) -> Option<Move> {
        match *self {
            Self::Play { mv, .. } => Some(mv),
            Self::Resign | Self::Win => None,
        }
    }
}

impl Display for BestMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Play { mv, ponder: None } => write!(f, "bestmove {mv}"),
            Self::Play { mv, ponder: Some(ponder) } => write!(f, "bestmove {mv} ponder {ponder}"),
            Self::Resign => f.write_str("bestmove resign"),
            Self::Win => f.write_str("bestmove win"),
        }
    }
}

/// The answer to `go mate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkmate {
    /// The mating line.
    Moves(Vec<Move>),
    /// There is no mate.
    NoMate,
    /// No mate was found within the time limit.
    Timeout,
    /// This engine does not solve mates.
    NotImplemented,
}

impl Display for Checkmate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moves(moves) => write!(f, "checkmate {}", output::join(moves)),
            Self::NoMate => f.write_str("checkmate nomate"),
            Self::Timeout => f.write_str("checkmate timeout"),
            Self::NotImplemented => f.write_str("checkmate notimplemented"),
        }
    }
}

/// The result of a game for this engine, from `gameover`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameResult {
    /// This engine won.
    Win,
    /// This engine lost.
    Lose,
    /// The game was drawn.
    Draw,
    /// The `gameover` line names no known result.
    Unknown,
}
