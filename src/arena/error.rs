//! Why an event cannot be played.

use journal::StoreError;
use referee::{entry::GameId, schedule::size::SizeFault, sprt::SprtError};
use std::io;

/// The ways to play on with something else than before.
pub(crate) const WAYS: &str = "`--name NAME` plays it as another event, `--db FILE` in another database, and `--fresh` \
     from its beginning, with what was played kept under another name";

/// Why an event cannot be played, or played on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration is not the one the event was begun with.
    #[error("`{name}` was begun with another configuration, and its games would not be comparable:\n  {}\n  take the change back; or {WAYS}", changes.join("\n  "))]
    Changed {
        /// The event.
        name: String,
        /// What changed.
        changes: Vec<String>,
    },
    /// The engines are not those that played before.
    #[error("{}:\n  {}\n  bring back what played before; let the new build join under another name (`replaces`, in a round robin or a gauntlet); or {WAYS}", other_builds(name, *complete), changes.join("\n  "))]
    Replaced {
        /// The event.
        name: String,
        /// What changed.
        changes: Vec<String>,
        /// True if all its games were played.
        complete: bool,
    },
    /// Engines that cannot join the event.
    #[error("`{name}` was begun without {engines}: {why}; take them out of its file, or {WAYS}")]
    Joining {
        /// The event.
        name: String,
        /// The names of the engines.
        engines: String,
        /// The reason.
        why: String,
    },
    /// The event has gone beyond the size that it is given.
    #[error("`{name}` cannot become smaller than what was played of it: {fault}")]
    Size {
        /// The event.
        name: String,
        /// What it needs.
        fault: SizeFault,
    },
    /// Engines that cannot play, before anything was started.
    #[error("{}", .0.join("\n"))]
    Engines(Vec<String>),
    /// An opening that leaves the rules, found only when it was to be played.
    #[error("game {0:?} cannot be set up: {1}")]
    Setup(GameId, String),
    /// A file or a thread.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// The sequential test.
    #[error("the sequential test: {0}")]
    Sprt(#[from] SprtError),
}

fn other_builds(name: &str, complete: bool) -> String {
    match complete {
        true => {
            format!("`{name}` is complete, and its standings are not those of the engines that are here now")
        }
        false => format!(
            "`{name}` was played by other engines than those that are here now, and one Elo must not mix both"
        ),
    }
}
