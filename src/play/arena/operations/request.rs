//! What an operator asks for, and what is answered: as one line of JSON each at the socket.

use super::command::Command;
use serde::{Deserialize, Serialize};

/// A request of the operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The person, where the system's user name does not say enough.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The event that is meant; without one, that of the process that is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// What to do.
    pub command: Command,
}

/// The answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// True if it was done.
    pub ok: bool,
    /// What was done, or why it was not.
    pub text: String,
    /// The event of the process that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The number of the operation, as it is on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<u64>,
    /// The answer to [`Command::List`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Box<Listed>>,
}

/// What there is to see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// True if no new game begins.
    pub paused: bool,
    /// True if the event is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over: bool,
    /// The players of the event, in the order of entry.
    #[serde(default)]
    pub entrants: Vec<ListedEntrant>,
    /// True if the event has a file that `reload` reads again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_file: bool,
    /// True if only players who have played before may log in.
    pub registration_closed: bool,
    /// The players of the network who are logged in.
    pub players: Vec<ListedPlayer>,
    /// The entrants who are expected over the network, and not logged in.
    #[serde(default)]
    pub absent: Vec<String>,
    /// The running games.
    pub games: Vec<ListedGame>,
    /// The adjourned games that wait for the operator.
    #[serde(default)]
    pub adjourned: Vec<ListedAdjourned>,
    /// The bans.
    pub bans: Vec<ListedBan>,
    /// The names that nobody hears.
    pub mutes: Vec<String>,
    /// The buoys.
    pub buoys: Vec<String>,
    /// The appeals that nobody has decided on.
    #[serde(default)]
    pub appeals: Vec<ListedAppeal>,
    /// The machines that were dropped.
    #[serde(default)]
    pub dropped: Vec<ListedBan>,
    /// The machines that play games of the event.
    #[serde(default)]
    pub machines: Vec<ListedMachine>,
}

/// A player of the event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedEntrant {
    /// The name that it has now.
    pub name: String,
    /// True if it has withdrawn, and not come back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedMachine {
    /// Its name.
    pub name: String,
    /// `here`, `silent`, `left` or `barred`.
    pub state: String,
    /// Pairs that it plays at once, as it says.
    pub slots: u32,
    /// Pairs that it has.
    pub pairs: u32,
    /// For how long it has had the oldest of them.
    pub oldest_seconds: Option<u64>,
    /// Games of it that count.
    pub games: u64,
    /// What was told of it last.
    pub word: String,
}

/// An appeal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedAppeal {
    /// The number of its operation.
    pub operation: u64,
    /// The game.
    pub game: u64,
    /// The person who appeals.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// A player who is logged in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedPlayer {
    /// The name.
    pub name: String,
    /// The address of the connection.
    pub address: String,
    /// What the player does, in the protocol's word.
    pub state: String,
    /// Seconds since something last came or went.
    pub idle_seconds: u64,
    /// How long bytes take to the player and back, in ms, where the system knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ms: Option<f64>,
}

/// A running game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedGame {
    /// Its number.
    pub game: u64,
    /// Black's name.
    pub black: String,
    /// White's name.
    pub white: String,
    /// Plies on the board.
    pub plies: u32,
    /// Main time that black has left, in ms; absent before black's first move.
    pub black_ms: Option<u64>,
    /// The same of white.
    pub white_ms: Option<u64>,
}

/// An adjourned game that waits for the operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedAdjourned {
    /// Its number.
    pub game: u64,
    /// Black's name.
    pub black: String,
    /// White's name.
    pub white: String,
}

/// A ban, or a machine that was dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedBan {
    /// Who.
    pub whom: String,
    /// The number of the operation.
    pub operation: u64,
    /// Who ordered it.
    pub by: String,
    /// Why.
    pub reason: String,
}

impl Answer {
    /// The answer to a request that failed.
    pub fn refused(why: impl Into<String>) -> Self {
        Self { text: why.into(), ..Self::default() }
    }
}
