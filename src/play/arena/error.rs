//! Why an event cannot be played.

use contest::schedule::size::SizeFault;
use journal::StoreError;
use referee::{entry::GameId, game::SetupError, sprt::SprtError};
use seat::{far::FarError, sandbox::SandboxError, usi::LookFault};
use std::io;

/// The ways to play on with something else than before.
pub(crate) const WAYS: &str = "another `name` (`--name NAME`) plays it as another event, another `database` (`--db FILE`) \
     in that one, and `--fresh` from its beginning, with what was played kept under another name";

/// Why a game was not played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplayed {
    /// It cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A fault of this program.
    #[error("its task ended by a panic")]
    Panicked,
    /// The thread of its worker has ended.
    #[error("its worker is gone")]
    NoWorker,
    /// This machine lacks what an engine needs to start; the game is played again.
    #[error("{0}; then the same command plays on")]
    Lack(String),
}

/// Why an engine cannot play: before the start of an event, or at the look of a machine.
#[derive(Debug, thiserror::Error)]
#[error("engine `{engine}` cannot play{place}: {fault}", place = host.as_ref().map(|host| format!(" on the host `{host}`")).unwrap_or_default())]
pub struct CannotPlay {
    /// The engine.
    pub engine: String,
    /// Its host, if that is another one.
    pub host: Option<String>,
    /// What is wrong.
    pub fault: PlayFault,
}

/// What keeps an engine from playing.
#[derive(Debug, thiserror::Error)]
pub enum PlayFault {
    /// Its sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// Its answers.
    #[error("{}", .0.to_string().trim_end())]
    Look(#[from] LookFault),
}

/// Why an engine cannot be identified by its files.
#[derive(Debug, thiserror::Error)]
#[error("engine `{engine}`: {fault}")]
pub struct IdentityError {
    /// The engine.
    pub engine: String,
    /// What is wrong.
    pub fault: IdentityFault,
}

/// What is wrong with the files of an engine.
#[derive(Debug, thiserror::Error)]
pub enum IdentityFault {
    /// Its host does not say.
    #[error(transparent)]
    Host(#[from] FarError),
    /// An argument or an option names a directory that is not read.
    #[error(
        "{whence} names the directory `{directory}`, which {why}: leave it out with `identity.ignore = [{shown:?}]`, and list the files that count in `identity.files`"
    )]
    Directory {
        /// What names it.
        whence: String,
        /// The directory.
        directory: String,
        /// The directory as the plan would name it.
        shown: String,
        /// Why it is not read.
        why: NotRead,
    },
    /// A pattern of the plan that stands for no file.
    #[error("`identity.files` names `{pattern}`, {why} in {directory}")]
    Listed {
        /// The pattern.
        pattern: String,
        /// The directory of the engine.
        directory: String,
        /// Why there is no file.
        why: NoFile,
    },
}

/// Why a directory is not read at every start.
#[derive(Debug, thiserror::Error)]
pub enum NotRead {
    /// The system refuses it.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Too many files.
    #[error("holds more than {0} files")]
    Files(usize),
    /// Too large files.
    #[error("holds more than {0} GB")]
    Gigabytes(u64),
}

/// Why a pattern stands for no file.
#[derive(Debug, thiserror::Error)]
pub enum NoFile {
    /// Nothing has its name.
    #[error("which is not there")]
    Absent,
    /// No file fits.
    #[error("which no file has")]
    Unmatched,
    /// Its directory is not read.
    #[error("whose directory {0}")]
    NotRead(#[from] NotRead),
}

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
    #[error("`{0}` cannot become smaller than what was played of it: {1}; `--fresh` begins it anew")]
    Size(String, SizeFault),
    /// Engines that cannot play, before anything was started.
    #[error("{}", .0.join("\n"))]
    Engines(Vec<String>),
    /// An opening that leaves the rules, found only when it was to be played.
    #[error("game {} cannot be set up: {}", .0.0, .1)]
    Setup(GameId, Unplayed),
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
