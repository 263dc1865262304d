//! What the record of an imported game holds beside the game: comments and variations.

use crate::entry::GameId;

/// Comments and variations of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotations {
    /// The game.
    pub game: GameId,
    /// The comments, in the order of their lines and plies.
    pub comments: Vec<Comment>,
    /// The variations, numbered from 1; each follows the line that it branches off.
    pub variations: Vec<Variation>,
}

/// A comment on a move, on the start or on the ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The line of play: 0 is the game, `n` its `n`-th variation.
    pub line: u32,
    /// The move, numbered as those of the game; the number before the first move of the game is its start, the one after
    /// the last move of a line its ending.
    pub ply: u32,
    /// The comment; lines are separated by `\n`.
    pub text: String,
}

/// A line of play that branches off the game or off another variation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// The line that it branches off.
    pub parent: u32,
    /// The number of its first move.
    pub ply: u32,
    /// Its moves in USI, separated by blanks.
    pub moves: String,
    /// Times, scores, expected lines and the ending, as JSON; empty where nothing of this is known.
    pub details: String,
}

impl Annotations {
    /// True if there are neither comments nor variations.
    pub fn is_empty(&self) -> bool {
        self.comments.is_empty() && self.variations.is_empty()
    }
}
