//! What spectators see of a game while it is played.

use referee::{
    Outcome,
    entry::{GameId, GameStarted},
};
use rsshogi::types::Move;
use std::{fmt, time::Duration};

/// Follows games as they are played, before their entries are committed. Called on the thread of the game, so
/// implementations must not block: a queue is the usual one.
pub trait Spectators: fmt::Debug + Send + Sync {
    /// Takes the next sight of a game. A game shows a sight before it tells the players or the journal.
    fn see(&self, sight: Sight);
}

/// Something that spectators of a game see.
#[derive(Clone, Debug)]
pub enum Sight {
    /// The clocks run.
    Started(Box<GameStarted>),
    /// A legal move.
    Moved {
        /// The game.
        game: GameId,
        /// The move.
        mv: Move,
        /// Time charged for it.
        charged: Duration,
    },
    /// A declaration of a win, which the referee has yet to rule on.
    Declared {
        /// The game.
        game: GameId,
        /// Time charged for it.
        charged: Duration,
    },
    /// The game is over.
    Ended {
        /// The game.
        game: GameId,
        /// Its outcome.
        outcome: Outcome,
    },
}
