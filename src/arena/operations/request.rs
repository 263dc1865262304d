//! What an operator asks for, and what is answered: as one line of JSON each at the socket.

use serde::{Deserialize, Serialize};

/// How the answer ends to whoever drops a machine a second time.
pub const DROPPED_BEFORE: &str = "was dropped before";

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
    /// What to do.
    pub command: Command,
}

/// A command of the operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// Shows players, games, bans and mutes.
    List,
    /// No new game begins.
    Pause,
    /// New games begin again.
    Resume,
    /// Ends the connections of a player.
    Kick {
        /// The name.
        name: String,
    },
    /// Keeps a name or a network out.
    Ban {
        /// Who.
        whom: String,
    },
    /// Ends a ban.
    Unban {
        /// Who.
        whom: String,
    },
    /// Nobody hears the player any more.
    Mute {
        /// The name.
        name: String,
    },
    /// The player is heard again.
    Unmute {
        /// The name.
        name: String,
    },
    /// Deletes a buoy.
    DeleteBuoy {
        /// The name of its games.
        name: String,
    },
    /// Tells everybody something.
    Announce {
        /// What.
        text: String,
    },
    /// Admits only players who have played in the event.
    CloseRegistration,
    /// Admits new players again.
    OpenRegistration,
    /// Ends a running game, which is played on from its position.
    Adjourn {
        /// The game.
        game: u64,
        /// Whether it waits for [`Command::PlayOn`] or [`Command::Replay`].
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hold: bool,
    },
    /// Plays an adjourned game on that waits.
    PlayOn {
        /// The game.
        game: u64,
    },
    /// Gives a game a result.
    Rule {
        /// The game.
        game: u64,
        /// The result.
        result: RuledResult,
    },
    /// A game that is over does not count any more, or an adjourned one waits; it is played again from its opening.
    Replay {
        /// The game.
        game: u64,
    },
    /// Gives two players of an open league who wait for the same game that game now.
    Pair {
        /// The name of black.
        black: String,
        /// The name of white.
        white: String,
    },
    /// Asks for another result of a game that is over; the reason says why.
    Appeal {
        /// The game.
        game: u64,
    },
    /// Decides on an appeal.
    Answer {
        /// The number of the appeal's operation.
        appeal: u64,
        /// The decision.
        decision: Decision,
    },
    /// Gives the place of an entrant to another who logs in.
    Swap {
        /// The name of the entrant.
        out: String,
        /// The name of the substitute.
        substitute: String,
    },
    /// A machine gets no more games.
    DropMachine {
        /// Its name.
        machine: String,
    },
    /// A machine that was dropped may join again.
    ReadmitMachine {
        /// Its name.
        machine: String,
    },
    /// Takes an operation back.
    Undo {
        /// The number of the operation.
        number: u64,
    },
}

/// The result that a game is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuledResult {
    /// Black wins.
    Black,
    /// White wins.
    White,
    /// A draw.
    Draw,
    /// The game does not count, and is not played again.
    Void,
}

/// The decision on an appeal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The result stands.
    Dismissed,
    /// The appeal was right, and what follows from it is ordered otherwise.
    Upheld,
    /// The appeal was right: the game is played again.
    Replay,
    /// The appeal was right: the game has this result.
    #[serde(untagged)]
    Ruled(RuledResult),
}

/// The answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Whether it was done.
    pub ok: bool,
    /// What was done, or why it was not.
    pub text: String,
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
    /// Whether no new game begins.
    pub paused: bool,
    /// Whether only players who have played before may log in.
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
    #[must_use]
    pub fn refused(why: impl Into<String>) -> Self {
        Self { text: why.into(), ..Self::default() }
    }
}
