//! The stream of entries of an event, in the order in which they happened.
//!
//! Standings, ratings, sequential tests, the dashboard and resumed runs are all computed from these entries, live or
//! replayed from the database. No other counters exist.

pub use crate::ids::{GameId, PlayerId};

use crate::{
    Color, Outcome, clock::TimeControl, evaluation::Evaluation, operation::Operation, pairing::Pairing,
};
use rsshogi::types::Move;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// An entry with its wall-clock time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamped {
    /// Milliseconds since 1970-01-01 UTC.
    pub at: i64,
    /// The entry.
    #[serde(flatten)]
    pub entry: Entry,
}

/// One entry of the stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Entry {
    /// The event opened. This is the first entry; it is repeated when the event is resumed.
    Opened(Opened),
    /// A player came while the event is open, under the next number.
    Entered {
        /// The player.
        player: PlayerId,
        /// The player's name.
        name: String,
    },
    /// A player is known by another name from now on.
    Renamed {
        /// The player.
        player: PlayerId,
        /// The player's new name.
        name: String,
    },
    /// A game began: both players were ready and the first clock runs.
    GameStarted(GameStarted),
    /// A legal move was made.
    Moved(Moved),
    /// A game ended.
    GameEnded(GameEnded),
    /// A player has no opponent in a round.
    Bye {
        /// The stage of the event, from 0.
        stage: u8,
        /// The round, from 1.
        round: u32,
        /// The player without an opponent.
        player: PlayerId,
        /// Twice the score of the bye.
        half_points: u8,
    },
    /// A fault of an engine outside a game, or a notice for the operator.
    Fault {
        /// The player at fault, if known.
        player: Option<PlayerId>,
        /// The fault in a sentence, with the last lines of the engine's stderr.
        text: String,
    },
    /// The peak memory of an engine rose well above the last recorded peak.
    Memory {
        /// The player of the engine.
        player: PlayerId,
        /// Peak memory of one process, in KiB.
        kib: u64,
    },
    /// The judge of the event looked at a position of a game. No game waits for it, and nothing follows from it.
    Judged(Judged),
    /// A sequential test reached a verdict; games that still run will be finished.
    Verdict {
        /// `H0`, `H1`, or [`BY_FAULTS`](crate::sprt::BY_FAULTS); [`PRECISE`](crate::precision::PRECISE) where Elo is
        /// known well enough.
        verdict: String,
        /// Log-likelihood ratio when the test stopped.
        llr: f64,
        /// Complete pairs that the ratio is computed from, in schedule order.
        pairs: u64,
    },
    /// The operator did something.
    Operator(Box<Operation>),
    /// The event is over: every scheduled game was played, or the sequential test has a verdict.
    Closed,
}

/// The opening of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The event's name.
    pub name: String,
    /// The players' names, by [`PlayerId`].
    pub players: Vec<String>,
    /// The format in words, as reports print it.
    pub format: String,
    /// True if a new run resumes the event.
    pub resumed: bool,
}

/// The start of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameStarted {
    /// The game.
    pub game: GameId,
    /// Place in the schedule: players, colours, round, pair, opening.
    pub pairing: Pairing,
    /// The start position as SFEN; the moves of the opening follow it.
    pub start: String,
    /// The opening's moves in USI, separated by blanks; they are not played by the engines.
    pub opening: String,
    /// The time controls, black first. Absent where the configuration of the event sets them; players of an open
    /// league choose their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Box<[TimeControl; 2]>>,
}

/// A move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The game.
    pub game: GameId,
    /// Number of the ply, from 1, moves of the opening included.
    pub ply: u32,
    /// The side that moved.
    pub color: Color,
    /// The move.
    #[serde(with = "usi_move")]
    pub mv: Move,
    /// Time charged to the mover, in ms.
    #[serde(rename = "charged_ms", with = "millis")]
    pub charged: Duration,
    /// Time measured, from the write of `go` to the read of `bestmove`, in ms with decimals.
    #[serde(rename = "elapsed_ms", with = "millis")]
    pub elapsed: Duration,
    /// Main time the mover has left, in ms.
    #[serde(rename = "left_ms", with = "millis")]
    pub left: Duration,
    /// The last `info` of the engine before the move.
    pub thought: Option<Box<Thought>>,
}

impl Moved {
    /// The evaluation that the mover gave with it.
    pub fn score(&self) -> Option<Score> {
        self.thought.as_ref().and_then(|thought| thought.score)
    }
}

/// What the judge, a neutral engine, says of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The game.
    pub game: GameId,
    /// Plies before the position, those of the opening included.
    pub ply: u32,
    /// The side to move there.
    pub color: Color,
    /// Evaluation from its side.
    pub score: Score,
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
}

impl Judged {
    /// The evaluation from black's side.
    pub fn evaluation(&self) -> Evaluation {
        Evaluation::of(self.score, self.color)
    }
}

/// The last `info` that an engine printed before its move.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thought {
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Selective depth in plies.
    pub seldepth: Option<u32>,
    /// Evaluation from the mover's side.
    pub score: Option<Score>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes a second.
    pub nps: Option<u64>,
    /// Thinking time by the engine's own count, in ms.
    pub time: Option<u64>,
    /// Principal variation as it was printed.
    pub pv: Option<String>,
}

/// An evaluation from the mover's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// Centipawns.
    Cp(i32),
    /// Mate in so many plies, zero or negative when the mover is mated; `i32::MAX` or `-i32::MAX` for an unknown
    /// length.
    Mate(i32),
}

/// How the text of a fault begins that ends no game by itself: a habit of an engine, named before the first game.
pub const WARNING: &str = "warning: ";

impl Score {
    /// The same evaluation for the opponent.
    #[must_use]
    pub fn of_the_other_side(self) -> Self {
        match self {
            Self::Cp(cp) => Self::Cp(cp.saturating_neg()),
            Self::Mate(plies) => Self::Mate(plies.saturating_neg()),
        }
    }
}

/// The end of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameEnded {
    /// The game.
    pub game: GameId,
    /// Place in the schedule.
    pub pairing: Pairing,
    /// The ending.
    pub outcome: Outcome,
    /// Plies on the board, the opening's included.
    pub plies: u32,
    /// Evidence for disputes: the raw line, the exit status, the last lines of stderr and of the protocol. Empty for
    /// endings that explain themselves.
    pub evidence: String,
    /// True if the game was a draw that is played again and therefore does not count.
    pub replayed: bool,
    /// What [`moves_hash`](crate::distinct::moves_hash) makes of its start and its moves; `None` where there are none to
    /// compare, as in a game that never began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves_hash: Option<u64>,
}

impl GameEnded {
    /// The end of a game that counts, without evidence and of unknown moves.
    pub fn new(game: GameId, pairing: Pairing, outcome: Outcome, plies: u32) -> Self {
        Self { game, pairing, outcome, plies, evidence: String::new(), replayed: false, moves_hash: None }
    }
}

mod usi_move {
    use super::Move;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(mv: &Move, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&mv.to_usi())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Move, D::Error> {
        let text = String::deserialize(from)?;
        Move::from_usi(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a move in USI")))
    }
}

mod millis {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::time::Duration;

    pub fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(time.as_micros() as f64 / 1000.0)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let ms = f64::deserialize(from)?;
        Duration::try_from_secs_f64(ms / 1000.0).map_err(D::Error::custom)
    }
}
