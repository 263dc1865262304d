//! Where games and seats report what happens, and the records that are kept beside the entries of an event.

use crate::{
    annotations::Annotations,
    color::Color,
    entry::{Entry, GameId, PlayerId},
    identity::Identity,
    lease::{Committed, Lease, MachineState, Repeated},
};
use std::{fmt, sync::Arc, time::Duration};

/// Receives what happens in an event, in order. A journal is one; a test may be another.
pub trait Sink: fmt::Debug + Send + Sync {
    /// Takes an entry that happened now.
    fn happened(&self, entry: Entry);

    /// Takes a record that is kept beside the entries.
    fn keep(&self, record: SideRecord);

    /// Calls `then` as soon as all entries so far are kept for good, and drops it when they cannot be. A sink that keeps
    /// nothing itself calls at once.
    fn when_kept(&self, then: Box<dyn FnOnce() + Send>) {
        then();
    }
}

/// A record that no schedule, clock or rating depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideRecord {
    /// The name by which the players know a game.
    Named(GameId, String),
    /// Times that a server charged for the moves that a game began with, where they are known.
    OpeningTimes(GameId, Vec<Option<Duration>>),
    /// A piece of the transcript of a game.
    Transcript(TranscriptPiece),
    /// A buoy, as it is from now on.
    Buoy(Buoy),
    /// The buoy of this name is deleted.
    NoBuoy(String),
    /// What plays as this player in the current run: the last [`Opened`](crate::entry::Opened).
    Identified(PlayerId, Box<Identity>),
    /// The plan of the event from now on, as JSON.
    Replanned(String),
    /// The key that the trips of the event are made with.
    TripKey(TripKey),
    /// The trip by which an entrant of the event is known from now on.
    Bound(EntrantTrip),
    /// Options that the engine of a side is given for a game.
    Options(GameId, Color, GameOptions),
    /// The speed by which the clocks of all machines of the event are scaled, as JSON.
    Reference(String),
    /// A machine gets the games of a pair.
    Leased(Box<Lease>),
    /// A machine, as it is from now on.
    Machine(Box<MachineState>),
    /// The games of a lease are stored; to be kept with their entries.
    Committed(Box<Committed>),
    /// A pair was played again by another machine, and compared.
    Repeated(Box<Repeated>),
    /// The comments and variations of the record of a game; to be kept with the game's entries.
    Annotated(Box<Annotations>),
}

/// USI options that an engine is given for one game, beside those of its plan: names and values.
pub type GameOptions = Arc<[(String, String)]>;

/// The random key of a host that turns secrets of players into trips. Who has it can try secrets without asking the host.
#[derive(Clone, PartialEq, Eq)]
pub struct TripKey(pub [u8; 32]);

impl fmt::Debug for TripKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TripKey(..)")
    }
}

/// The trip of an entrant's first login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrantTrip {
    /// The entrant's name.
    pub name: String,
    /// The trip.
    pub trip: String,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum Direction {
    /// From the other side.
    Received,
    /// To the other side.
    Sent,
    /// From the other side's stderr.
    Stderr,
    /// A remark of this program, about lines that are not there.
    Remark,
}

impl Direction {
    /// The mark before a line.
    pub fn mark(self) -> char {
        match self {
            Self::Received => '<',
            Self::Sent => '>',
            Self::Stderr => '!',
            Self::Remark => '#',
        }
    }

    /// The direction of this mark.
    pub fn of(mark: char) -> Option<Self> {
        <Self as strum::VariantArray>::VARIANTS.iter().copied().find(|way| way.mark() == mark)
    }
}

/// What the lines of a transcript went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A connection of the network.
    Network,
    /// The pipes of an engine that was started here.
    Engine,
}

/// Consecutive lines of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptPiece {
    /// The game.
    pub game: GameId,
    /// The player whose lines they are.
    pub color: Color,
    /// What they went through.
    pub channel: Channel,
    /// Number of the piece in the transcript, from 0.
    pub part: u32,
    /// Time of its first line, in ms since 1970-01-01 UTC.
    pub at: i64,
    /// For each line: microseconds since `at`, the mark of its [`Direction`], the bytes unchanged, LF.
    pub lines: Vec<u8>,
}

/// A line of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptLine {
    /// Microseconds since 1970-01-01 UTC.
    pub at: i64,
    /// The player whose line it is.
    pub color: Color,
    /// What it went through.
    pub channel: Channel,
    /// The direction.
    pub way: Direction,
    /// The bytes, without the end of the line.
    pub bytes: Vec<u8>,
}

impl TranscriptPiece {
    /// Its lines; malformed ones are skipped.
    pub fn lines(&self) -> impl Iterator<Item = TranscriptLine> {
        self.lines.split(|b| *b == b'\n').filter_map(|line| {
            let (micros, rest) = line.split_at(line.iter().position(|b| *b == b' ')?);
            let way = Direction::of(char::from(*rest.get(1)?))?;
            let micros: i64 = str::from_utf8(micros).ok()?.parse().ok()?;
            let at = self.at.saturating_mul(1000).saturating_add(micros);
            let Self { color, channel, .. } = *self;
            Some(TranscriptLine { at, color, channel, way, bytes: rest.get(3..)?.to_vec() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_transcript_have_their_times_directions_and_bytes_and_malformed_ones_are_skipped() {
        let lines = b"7 < +7776FU\n\n1500 > +7776FU,T0 x\nx < a\n9\n9 ? a\n2000 ! \n".to_vec();
        let (game, color, channel) = (GameId(3), Color::White, Channel::Engine);
        let piece = TranscriptPiece { game, color, channel, part: 2, at: 40, lines };
        let read: Vec<_> = piece
            .lines()
            .map(|line| {
                assert_eq!((line.color, line.channel), (color, channel));
                (line.at, line.way, String::from_utf8(line.bytes).unwrap())
            })
            .collect();
        let line = |at, way, bytes: &str| (at, way, bytes.to_owned());
        assert_eq!(
            read,
            [
                line(40_007, Direction::Received, "+7776FU"),
                line(41_500, Direction::Sent, "+7776FU,T0 x"),
                line(42_000, Direction::Stderr, ""),
            ]
        );
    }
}
