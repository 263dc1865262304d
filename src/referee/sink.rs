//! Where games and seats report what happens, and the records that are kept beside the entries of an event.

use crate::{
    color::Color,
    entry::{Entry, GameId, PlayerId},
    identity::Identity,
};
use std::fmt;

/// Receives what happens in an event, in order. A journal is one; a test may be another.
pub trait Sink: fmt::Debug + Send + Sync {
    /// Takes an entry that happened now.
    fn happened(&self, entry: Entry);

    /// Takes a record that is kept beside the entries.
    fn keep(&self, record: SideRecord);
}

/// A record that no schedule, clock or rating depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideRecord {
    /// The name by which the players know a game.
    Named(GameId, String),
    /// A piece of the transcript of a game.
    Transcript(TranscriptPiece),
    /// A buoy, as it is from now on.
    Buoy(Buoy),
    /// The buoy of this name is deleted.
    NoBuoy(String),
    /// What plays as this player in the current run: the last [`Opened`](crate::entry::Opened).
    Identified(PlayerId, Box<Identity>),
}

/// Moves that the games of a name start from (`%%SETBUOY` of the CSA server protocol).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buoy {
    /// The name of the games.
    pub name: String,
    /// The moves, in CSA notation.
    pub moves: Vec<String>,
    /// The player who set it.
    pub owner: String,
    /// Games that may still start from it.
    pub left: i64,
}

/// The direction of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the other side.
    Received,
    /// To the other side.
    Sent,
}

/// Consecutive lines of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptPiece {
    /// The game.
    pub game: GameId,
    /// The player whose line it is.
    pub color: Color,
    /// Number of the piece in the transcript, from 0.
    pub part: u32,
    /// Time of its first line, in ms since 1970-01-01 UTC.
    pub at: i64,
    /// For each line: microseconds since `at`, `<` (received) or `>` (sent), the bytes unchanged, LF.
    pub lines: Vec<u8>,
}

/// A line of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptLine {
    /// Microseconds since 1970-01-01 UTC.
    pub at: i64,
    /// The player whose line it is.
    pub color: Color,
    /// The direction.
    pub way: Way,
    /// The bytes, without the end of the line.
    pub bytes: Vec<u8>,
}

impl TranscriptPiece {
    /// Its lines; malformed ones are skipped.
    pub fn lines(&self) -> impl Iterator<Item = TranscriptLine> {
        self.lines.split(|b| *b == b'\n').filter_map(|line| {
            let (micros, rest) = line.split_at(line.iter().position(|b| *b == b' ')?);
            let way = match rest.get(1)? {
                b'<' => Way::Received,
                _ => Way::Sent,
            };
            let micros: i64 = str::from_utf8(micros).ok()?.parse().ok()?;
            let at = self.at.saturating_mul(1000).saturating_add(micros);
            Some(TranscriptLine { at, color: self.color, way, bytes: rest.get(3..)?.to_vec() })
        })
    }
}
