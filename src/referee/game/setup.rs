//! What a game is set up from.

use crate::{Color, adjudicate::Adjudication, clock::TimeControl, ids::GameId, rules::Rules};
use rsshogi::types::Move;
use std::time::Duration;

/// What a game starts from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Which game it is.
    pub game: GameId,
    /// Its rules.
    pub rules: Rules,
    /// When scores end it.
    pub adjudication: Adjudication,
    /// Both players' time, black first.
    pub times: [TimeControl; 2],
    /// The start position as SFEN.
    pub start: String,
    /// Moves already on the board when the players begin.
    pub opening: Vec<Move>,
    /// The sides, black first, that are told all that is said with the time charged for it ([`Order::Heard`]).
    pub hears: [bool; 2],
    /// Whether a side may turn the game down; else it loses by default.
    pub may_reject: bool,
}

/// Why a game cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The start position is not SFEN.
    #[error("start position `{0}` cannot be read: {1}")]
    Start(String, String),
    /// The opening leaves the rules.
    #[error("move {0} of the opening, `{1}`, is illegal: {2}")]
    Opening(usize, String, &'static str),
}

/// Who rules a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authority {
    /// The referee of this program.
    #[default]
    Here,
    /// A server, whose seat stands for the opponent's.
    Server(ServerRuled),
}

/// What a game on a server is played by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRuled {
    /// The side the server's seat stands for; the other is ours.
    pub server: Color,
    /// Main time left, black first: a game that goes on has used up some of it.
    pub left: [Duration; 2],
    /// What is kept back from our time at first for the way to the server; each ruling says it anew.
    pub lag: Duration,
    /// A win that can be declared is declared without asking our side's seat.
    pub declares: bool,
    /// How often our side's seat may begin anew after it was gone; then we resign.
    pub restarts: u32,
}
