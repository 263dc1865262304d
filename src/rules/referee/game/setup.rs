//! The setup of a game.

use crate::{
    Color, adjudicate::Adjudication, clock::TimeControl, entry::Score, evaluation::ScoreScale, ids::GameId,
    rules::Rules,
};
use rsshogi::types::Move;
use std::time::Duration;

/// The setup of a game.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The game.
    pub game: GameId,
    /// The rules.
    pub rules: Rules,
    /// The adjudication rules.
    pub adjudication: Adjudication,
    /// Scales of the scores that adjudication reads, black's first.
    pub scales: [ScoreScale; 2],
    /// Time controls, black first.
    pub times: [TimeControl; 2],
    /// The start position as SFEN.
    pub start: String,
    /// Moves already on the board when the players begin.
    pub opening: Vec<Move>,
    /// The scores that players gave with the last of these moves, where the game goes on from an adjourned one: adjudication
    /// counts them.
    pub scores: Vec<Option<Score>>,
    /// The sides, black first, that receive every word of the game with the time charged for it
    /// ([`Order::Heard`](super::Order::Heard)).
    pub hears: [bool; 2],
    /// True if a side may turn the game down; if not, it loses by default.
    pub may_reject: bool,
    /// Seed of what is drawn in the game: nodes that are jittered.
    pub seed: u64,
}

impl Setup {
    /// A game from a position by the default rules, without adjudication; a side may turn it down.
    pub fn of(game: GameId, times: [TimeControl; 2], start: &str) -> Self {
        Self {
            game,
            rules: Rules::default(),
            adjudication: Adjudication::default(),
            scales: Default::default(),
            times,
            start: start.to_owned(),
            opening: vec![],
            scores: vec![],
            hears: [false; 2],
            may_reject: true,
            seed: 0,
        }
    }
}

/// A setup that no game can start from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The start position is not SFEN.
    #[error("start position `{0}` cannot be read: {1}")]
    Start(String, String),
    /// A move of the opening is illegal.
    #[error("move {0} of the opening, `{1}`, is illegal: {2}")]
    Opening(usize, String, &'static str),
}

/// The authority that rules a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authority {
    /// The referee of this program.
    #[default]
    Here,
    /// A foreign server; its seat stands for the opponent.
    Server(ServerRuled),
}

/// The terms of a game that a foreign server rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRuled {
    /// The side of the server's seat; the other side is ours.
    pub server: Color,
    /// Main time left, black first; less than the whole when the game is resumed.
    pub left: [Duration; 2],
    /// Time reserved from our clock for the way to the server. It holds until the first ruling; each ruling brings a
    /// new value.
    pub lag: Duration,
    /// True if a declarable win is declared without asking our seat.
    pub declares: bool,
    /// How often our seat may begin anew after its process ended. After that we resign.
    pub restarts: u32,
}
