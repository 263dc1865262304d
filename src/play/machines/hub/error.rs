//! What may go wrong at the door.

use crate::hub::WorkerId;
use std::{io, path::PathBuf, time::Duration};

/// Why an event has no hub, or a worker is not let in.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// No server is installed.
    #[error("nats-server is not on the path: apt install nats-server")]
    NoServer,
    /// The program that is called nats-server cannot be started.
    #[error("nats-server could not be started: {0}")]
    Start(#[source] io::Error),
    /// Somebody else listens there.
    #[error("the address {0} is in use by another program: choose another port with --hub HOST:PORT")]
    PortTaken(String),
    /// This machine has no such address, or its user may not listen there.
    #[error("nats-server cannot listen on {listen}: {says}")]
    Listen {
        /// Where it should have listened.
        listen: String,
        /// What the server said.
        says: String,
    },
    /// A directory or a file of the hub.
    #[error("the directory of the hub cannot be used: {}: {}", .0.display(), .1)]
    Directory(PathBuf, #[source] io::Error),
    /// A second manager of the same database.
    #[error("another renmei uses {}: end it first", .0.display())]
    InUse(PathBuf),
    /// The server of a manager that was killed does not go.
    #[error("the nats-server of an earlier renmei, process {0}, does not end: kill it")]
    Leftover(i32),
    /// It ended before it was ready.
    #[error("nats-server ended at its start; its last lines: {0}")]
    Ended(String),
    /// It neither started nor ended.
    #[error("nats-server was not ready within {} s; its last lines: {}", .0.as_secs(), .1)]
    NotReady(Duration, String),
    /// A new user was not accepted.
    #[error("nats-server did not take over its new users: {0}")]
    Reload(String),
    /// Keys that were made at an earlier start cannot be used.
    #[error("the file {} is damaged: delete the directory it lies in, and every worker joins with a new line", .0.display())]
    Keys(PathBuf),
    /// The certificate could not be made.
    #[error("no certificate could be made: {0}")]
    Certificate(String),
    /// A line to join with that is none.
    #[error("this is no line to join with: {0}")]
    Token(&'static str),
    /// A name that a worker may not have.
    #[error("the name `{}` of a worker needs 1 to 32 letters, digits, `-`, `_` or `.`: choose one with --name", .0.escape_debug())]
    Name(String),
    /// The same name twice on one machine.
    #[error("another worker runs here as `{0}` for this event: give this one a name of its own with --name")]
    NameInUse(String),
    /// The server does not answer, or something on the way does not let through.
    #[error("no connection to {address}: {cause}")]
    Connect {
        /// Where to.
        address: String,
        /// Why not.
        cause: String,
    },
    /// The server's certificate is another one.
    #[error(
        "the server at {0} is not the one of this line: its certificate is another; ask for the line that the manager prints now"
    )]
    OtherServer(String),
    /// The server does not know the secret of the token, or the key of this worker.
    #[error("the server at {0} does not accept this line: ask for the line that the manager prints now")]
    Refused(String),
    /// The manager answers, and does not let this worker in.
    #[error("the manager does not let this worker in: {0}")]
    NotAdmitted(String),
    /// The manager does not answer.
    #[error("the server at {0} is there, but no manager answers: is the event being played?")]
    NoManager(String),
    /// Nobody of that identity is known.
    #[error("there is no worker {0}")]
    NoWorker(WorkerId),
}

/// Why a file did not get where it is needed.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// A file or a directory here.
    #[error("{}: {}", .0.display(), .1)]
    Io(PathBuf, #[source] io::Error),
    /// More than may be sent.
    #[error("{} has {bytes} bytes; at most {most} are sent to workers", path.display())]
    TooLarge {
        /// The file or the directory.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// More files than may be sent.
    #[error("the directory {} has more than {} files; name the one that the engine needs", .0.display(), .1)]
    TooMany(PathBuf, usize),
    /// Something that is neither a file nor a directory, a link out of the directory, or a name that is no text.
    #[error("{} cannot be sent to workers: {}", .0.display(), .1)]
    Kind(PathBuf, &'static str),
    /// It was written to while it was read.
    #[error("{} was altered while it was sent to workers: start again when it is complete", .0.display())]
    Altered(PathBuf),
    /// The manager has no such file.
    #[error("the manager has no file {0}")]
    Missing(String),
    /// What came is something else.
    #[error("the file {0} arrived as something else, and was thrown away")]
    Corrupt(String),
    /// A list of files that nobody of us has made.
    #[error("the list of files {0} is not used: {1}")]
    List(String, &'static str),
    /// The manager, its server, or the way to them.
    #[error("a file could not be fetched: {0}")]
    Fetch(String),
    /// The cache is full of files that are in use.
    #[error("the cache {} has no room for {bytes} bytes more: all that is in it is in use, or the limit of {most} bytes is too low", path.display())]
    CacheFull {
        /// The cache.
        path: PathBuf,
        /// What is needed.
        bytes: u64,
        /// The limit.
        most: u64,
    },
}
/// What a manager says to a worker that it may let in later.
pub(crate) const TRY_AGAIN: &str = "try again";

impl HubError {
    /// True if the manager does not want this worker, or its line is none any more: asking again would get the same answer.
    pub fn is_for_good(&self) -> bool {
        match self {
            Self::NotAdmitted(why) => !why.contains(TRY_AGAIN),
            Self::Refused { .. } => true,
            _ => false,
        }
    }
}
