//! Game records in and out of a database: `renmei export`, `renmei import` and `renmei import --verify`.
//!
//! Out: each game becomes a neutral [`GameRecord`](notation::record::GameRecord) and is spelled in the format asked
//! for. In: each record becomes the events of a game played elsewhere, so that standings, views, reports and export
//! treat it as any other.
//!
//! # Endings
//!
//! | in the database | in a record | in words (a comment on the last move) |
//! |---|---|---|
//! | `mate`, `resignation`, `time` | the side to move is mated, resigns, oversteps | |
//! | `declaration` | the side to move declares | by the try rule, where the winner moved last |
//! | `illegal-move:..`, `illegal-declaration` | the loser's foul | which foul it was |
//! | `perpetual-check` | perpetual check | |
//! | `default` | win or loss by default | |
//! | `disconnection`, `adjudication` | a resignation if the loser is to move, else its foul | always |
//! | `sennichite`, `max-moves`, `impasse` | the same | |
//! | `draw-adjudication` | a draw | |
//! | `server` | interrupted | |
//! | `stopped`, `not-started` | interrupted | always |
//!
//! The words are `renmei: black wins by disconnection` and are understood on the way back. A record that
//! just stops ended as the rules have it if they do (mate, repetition); else, and with an ending that is none of these,
//! it comes in as `server`: it is kept, but does not count.
//!
//! # What is kept
//!
//! Names, event, place, dates, time control, moves, times, scores, expected lines and endings come back as they went
//! out, as far as the format can say them. Comments are not kept. Dates are in UTC. Moves at the beginning without
//! time and score are taken for an opening if later moves have a time. PSV and hcpe hold only moves with a score, of
//! games with a result: what no engine judged teaches nothing.

mod ending;
mod export;
mod files;
mod game;
mod import;
pub mod openings;
#[cfg(test)]
mod tests;
mod verify;

pub use export::{Export, ExportReport, event, export};
pub use files::FileFault;
pub use import::{Import, ImportReport, import};
pub use verify::Finding;

use journal::StoreError;
use notation::record::Format;
use plan::StoredPlanError;
use std::{io, path::PathBuf, sync::Arc};

/// Why nothing was written, or read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordsError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database holds no event at all.
    #[error("database `{}` holds no event", .0.display())]
    NoEvent(PathBuf),
    /// No event has that name.
    #[error("there is no event `{name}` in `{}`; it holds {known}", db.display())]
    UnknownEvent {
        /// The name asked for.
        name: String,
        /// The database.
        db: PathBuf,
        /// The names there are.
        known: String,
    },
    /// The stored plan of an event.
    #[error("the stored plan of `{event}` cannot be read: {source}")]
    Plan {
        /// The event.
        event: String,
        /// What is wrong with it.
        source: StoredPlanError,
    },
    /// Games are played under this name, not imported.
    #[error("event `{0}` was played by this program; name another one with --event for games from elsewhere")]
    PlayedHere(String),
    /// Not a number nor a range of them.
    #[error("`{0}` names no game; write `7` or `10-20`")]
    Selection(String),
    /// The event has no such game.
    #[error("event `{0}` has no game {1}")]
    NoGame(String, u64),
    /// Many games in a format that has one a file.
    #[error("{format} holds one game a file and these are {games}: name a directory with `--output DIR/`")]
    OneGameAFile {
        /// The format.
        format: &'static str,
        /// How many were asked for.
        games: usize,
    },
    /// A game that the format cannot hold.
    #[error("game {game}: {reason}")]
    Game {
        /// Its number.
        game: u64,
        /// What is wrong.
        reason: String,
    },
    /// More names than an event can have players.
    #[error("these records name {0} players; an event has at most 65535")]
    TooManyPlayers(usize),
    /// A file that cannot be written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's account.
        source: Arc<io::Error>,
    },
}

impl RecordsError {
    fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source: Arc::new(source) }
    }
}

/// How many games a file of a format may hold, and how they follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    /// One.
    Single,
    /// Any number, one after the other.
    Plain,
    /// Any number, with this between them.
    Between(&'static str),
}

/// The extension of a format's files, and how games of it follow each other in a file.
fn joined(format: Format) -> (&'static str, Joint) {
    match format {
        Format::Csa | Format::Csa3 => ("csa", Joint::Between("/\n")),
        Format::Kif => ("kif", Joint::Single),
        Format::Kifu => ("kifu", Joint::Single),
        Format::Ki2 => ("ki2", Joint::Single),
        Format::Ki2u => ("ki2u", Joint::Single),
        Format::Jkf => ("jkf", Joint::Single),
        Format::Usi => ("usi", Joint::Plain),
        Format::Usen => ("usen", Joint::Plain),
        Format::Psv => ("psv", Joint::Plain),
        Format::Hcpe => ("hcpe", Joint::Plain),
    }
}
