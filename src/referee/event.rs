//! What happens in an event, as one ordered stream.
//!
//! Standings, ratings, SPRT, the dashboard and a resumed run all fold these same values, live or replayed from the
//! store: there are no counters beside them.

pub use crate::ids::{GameId, PlayerId};

use crate::{Color, Outcome, clock::TimeControl, pairing::Pairing};
use rsshogi::types::Move;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// An event with the wall-clock time it happened at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamped {
    /// Milliseconds since 1970-01-01 UTC.
    pub at: i64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// The event opened: its first line, written again each time it is resumed, and when players join.
    Opened(Opened),
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
        /// Who.
        player: PlayerId,
        /// Twice the score it earns.
        half_points: u8,
    },
    /// Something went wrong with an engine outside a game, or something a host should know.
    Fault {
        /// Whose fault, when it is known.
        player: Option<PlayerId>,
        /// What happened, in a sentence, with the last lines of its stderr.
        text: String,
    },
    /// A process of an engine has held so much more memory than was told before that it is worth telling.
    Memory {
        /// Whose.
        player: PlayerId,
        /// The most it has held at once, in KiB.
        kib: u64,
    },
    /// A sequential test reached a verdict; games that still run will be finished.
    Verdict {
        /// `H0`, `H1`.
        verdict: String,
        /// Log-likelihood ratio at the stop.
        llr: f64,
        /// Whole pairs it was evaluated on, in schedule order.
        pairs: u64,
    },
    /// The event is over: every game it asked for was played, or its test has its verdict.
    Closed,
}

/// The head of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The event's name.
    pub name: String,
    /// The players' names, by [`PlayerId`].
    pub players: Vec<String>,
    /// The format in words, as reports print it.
    pub format: String,
    /// Whether this is a resumed run. Neither that nor the event's first line: players have joined, and whatever runs
    /// goes on.
    pub resumed: bool,
}

/// The start of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameStarted {
    /// Which.
    pub game: GameId,
    /// Its place in the schedule: players, colours, round, pair, opening.
    pub pairing: Pairing,
    /// The start position as SFEN; the opening's moves lead on from it.
    pub start: String,
    /// The opening's moves in USI, separated by blanks; they are not played by the engines.
    pub opening: String,
    /// The clocks, black's first, where the plan of the event does not know them: players of a league bring theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Box<[TimeControl; 2]>>,
}

/// A move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// In which game.
    pub game: GameId,
    /// The ply it makes, from 1 on, the moves of the opening counted.
    pub ply: u32,
    /// Who moved.
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
    /// What the engine said of the position before it moved.
    pub thought: Option<Box<Thought>>,
}

/// An engine's own account of a move: its last `info`.
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
    /// Time the engine says it took, in ms.
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
    /// Mate in that many plies, zero or negative when the mover is mated; `i32::MAX` and `-i32::MAX` when the length is unknown.
    Mate(i32),
}

impl Score {
    /// The score as centipawns, mates beyond every real evaluation: +-(100000 - plies).
    #[must_use]
    pub fn centipawns(self) -> i32 {
        match self {
            Self::Cp(cp) => cp.clamp(-99_999, 99_999),
            Self::Mate(plies) if plies <= 0 => -100_000 + plies.saturating_neg().min(999),
            Self::Mate(plies) => 100_000 - plies.min(999),
        }
    }
}

/// The end of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameEnded {
    /// Which.
    pub game: GameId,
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// How.
    pub outcome: Outcome,
    /// Plies on the board, the opening's included.
    pub plies: u32,
    /// What a dispute would need: the raw line, exit status, last lines of stderr and of the protocol. Empty for
    /// endings that explain themselves.
    pub evidence: String,
    /// Whether the result counts: a drawn game that is to be replayed does not.
    pub replayed: bool,
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
