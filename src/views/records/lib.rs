//! Import and export of game records: `renmei export`, `renmei import` and `renmei import --verify`.
//!
//! An export converts each game to a neutral [`GameRecord`](notation::record::GameRecord) and writes that in the
//! requested format. An import converts each record to the entries of a game, so that standings, views, reports and
//! export treat it like any other.
//!
//! # Endings
//!
//! | in the database | in a record | comment on the last move |
//! |---|---|---|
//! | `mate`, `resignation`, `time` | the side to move is mated, resigns, oversteps | |
//! | `declaration` | the side to move declares | by the try rule, where the winner moved last |
//! | `illegal-move:..` | the loser's foul | which foul it was |
//! | `illegal-action` | the loser's foul | always |
//! | `illegal-declaration` | the loser's foul, in CSA a refused declaration | |
//! | `perpetual-check` | perpetual check | |
//! | `default` | win or loss by default | |
//! | `disconnection`, `adjudication`, `ruling` | a resignation if the loser is to move, else its foul | always |
//! | `sennichite`, `max-moves`, `impasse` | the same | |
//! | `draw-adjudication`; `ruling` of a draw | a draw | `ruling` |
//! | `no-result` | none, or that of the imported record: interrupted, a sealed move, .. | |
//! | `server`, `stopped`, `not-started`, `missing`, `annulled` | interrupted | always |
//!
//! The comment reads `renmei: black wins by disconnection`; an import understands it. A record without an ending ends
//! as the rules have it (mate, repetition) if they apply. Otherwise, and with an ending that names neither a winner nor a
//! draw, it is imported as `no-result`: kept and exported, but not counted.
//!
//! # Precision
//!
//! Names, event, place, dates, time control, moves, times, scores, expected lines and endings survive a round trip as
//! far as the format can express them, and so do comments and variations, which the tables `comments` and `variations`
//! keep. Dates are in UTC; a record without a date becomes a game without one. Leading moves without time and score
//! are the opening if later moves have a time. PSV and hcpe hold only positions whose move has a score, of games with
//! a result: they are training data. A mate of unknown length is no score.

mod annotations;
mod ending;
mod export;
mod files;
mod game;
mod import;
pub mod openings;
pub mod pack;
mod recording;
mod results;
#[cfg(test)]
mod tests;
mod verify;

pub use annotations::{ShownVariation, shown_variations};
use export::event;
pub use export::{Export, ExportReport, LeftOut, export, one, record_of};
pub use files::{FileFault, found, read};
pub use import::{FAULTS, Import, ImportReport, MoreFaults, import, import_while};
pub use recording::Recording;
pub use verify::Finding;

use journal::StoreError;
use notation::record::Format;
use plan::StoredPlanError;
use std::{io, path::PathBuf, sync::Arc};

/// Records could not be exported or imported.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RecordsError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database holds no event.
    #[error("database `{}` holds no event", .0.display())]
    NoEvent(PathBuf),
    /// No event has that name.
    #[error("there is no event `{name}` in `{}`; it holds {known}", db.display())]
    UnknownEvent {
        /// The name asked for.
        name: String,
        /// The database.
        db: PathBuf,
        /// Names of its events.
        known: String,
    },
    /// The stored plan of an event.
    #[error("cannot read the stored plan of `{0}`: {1}")]
    Plan(String, #[source] StoredPlanError),
    /// The event was played by this program, so it takes no imported games.
    #[error("event `{0}` was played by this program; choose another event with --event for imported games")]
    PlayedHere(String),
    /// A list of results is an event of its own.
    #[error("the database has an event `{0}` already; choose another name with --event for these results")]
    NameTaken(String),
    /// The rules of their table.
    #[error(transparent)]
    Rules(#[from] plan::Faults),
    /// Rules of a table beside records, whose event has none.
    #[error("`{}`: `--rules` is for a file of results, .tsv or .csv; records with moves have no table of points", .0.display())]
    RulesOfRecords(PathBuf),
    /// Results beside other files.
    #[error("`{}` has results, which are an event of their own; import it alone", .0.display())]
    ResultsAlone(PathBuf),
    /// Neither a game number nor a range.
    #[error("`{0}` is not a game number; write `7` or `10-20`")]
    Selection(String),
    /// The event has no such game.
    #[error("event `{0}` has no game {1}")]
    NoGame(String, u64),
    /// Several games for a format that holds one per file.
    #[error("a .{0} file holds one game, and {1} are selected: name a directory with `--output DIR/`")]
    OneGameAFile(&'static str, usize),
    /// A file for the games of an event whose format holds one game.
    #[error("`{}`: this format holds one game a file; write .csa or .usi, or use `renmei export DATABASE -o DIR/`", .0.display())]
    OneGame(PathBuf),
    /// A game that the format cannot hold.
    #[error("game {0}: {1}")]
    Game(u64, String),
    /// A file that cannot be written.
    #[error("`{}`: {}", .0.display(), .1)]
    Io(PathBuf, #[source] Arc<io::Error>),
}

impl RecordsError {
    fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io(path, Arc::new(source))
    }
}

/// The joining of games in a file of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    /// One game per file.
    Single,
    /// Any number, without a separator.
    Plain,
    /// Any number, with this separator.
    Between(&'static str),
}

impl Joint {
    fn of(format: Format) -> Self {
        match format {
            Format::Csa | Format::Csa3 => Self::Between("/\n"),
            Format::Usi | Format::Psv | Format::Hcpe => Self::Plain,
            Format::Kif | Format::Kifu | Format::Ki2 | Format::Ki2u | Format::Jkf => Self::Single,
        }
    }
}
