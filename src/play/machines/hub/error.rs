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
    #[error("the address {listen} is in use by another program: choose another port with --hub HOST:PORT")]
    PortTaken {
        /// Where it should have listened.
        listen: String,
    },
    /// This machine has no such address, or its user may not listen there.
    #[error("nats-server cannot listen on {listen}: {says}")]
    Listen {
        /// Where it should have listened.
        listen: String,
        /// What the server said.
        says: String,
    },
    /// A directory or a file of the hub.
    #[error("the directory of the hub cannot be used: {}: {source}", path.display())]
    Directory {
        /// The directory or the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A second manager of the same database.
    #[error("another renmei uses {}: end it first", path.display())]
    InUse {
        /// The directory of the hub.
        path: PathBuf,
    },
    /// The server of a manager that was killed does not go.
    #[error("the nats-server of an earlier renmei, process {pid}, does not end: kill it")]
    Leftover {
        /// Its process.
        pid: i32,
    },
    /// It ended before it was ready.
    #[error("nats-server ended at its start; its last lines: {last_lines}")]
    Ended {
        /// What it said last.
        last_lines: String,
    },
    /// It neither started nor ended.
    #[error("nats-server was not ready within {} s; its last lines: {last_lines}", after.as_secs())]
    NotReady {
        /// How long it had.
        after: Duration,
        /// What it said last.
        last_lines: String,
    },
    /// A new user was not accepted.
    #[error("nats-server did not take over its new users: {0}")]
    Reload(String),
    /// Keys that were made at an earlier start cannot be used.
    #[error("the file {} is damaged: delete the directory it lies in, and every worker joins with a new line", path.display())]
    Keys {
        /// The file.
        path: PathBuf,
    },
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
    #[error(
        "another worker runs here as `{name}` for this event: give this one a name of its own with --name"
    )]
    NameInUse {
        /// The name.
        name: String,
    },
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
        "the server at {address} is not the one of this line: its certificate is another; ask for the line that the manager prints now"
    )]
    OtherServer {
        /// Where to.
        address: String,
    },
    /// The server does not know the secret of the token, or the key of this worker.
    #[error(
        "the server at {address} does not accept this line: ask for the line that the manager prints now"
    )]
    Refused {
        /// Where to.
        address: String,
    },
    /// The manager answers, and does not let this worker in.
    #[error("the manager does not let this worker in: {0}")]
    NotAdmitted(String),
    /// The manager does not answer.
    #[error("the server at {address} is there, but no manager answers: is the event being played?")]
    NoManager {
        /// Where to.
        address: String,
    },
    /// Nobody of that identity is known.
    #[error("there is no worker {0}")]
    NoWorker(WorkerId),
}

/// Why a file did not get where it is needed.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// A file or a directory here.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
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
    #[error("the directory {} has more than {most} files; name the one that the engine needs", path.display())]
    TooMany {
        /// The directory.
        path: PathBuf,
        /// The limit.
        most: usize,
    },
    /// Something that is neither a file nor a directory, a link out of the directory, or a name that is no text.
    #[error("{} cannot be sent to workers: {why}", path.display())]
    Kind {
        /// What it is.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// It was written to while it was read.
    #[error("{} was altered while it was sent to workers: start again when it is complete", path.display())]
    Altered {
        /// The file.
        path: PathBuf,
    },
    /// The manager has no such file.
    #[error("the manager has no file {sha256}")]
    Missing {
        /// Its hash.
        sha256: String,
    },
    /// What came is something else.
    #[error("the file {sha256} arrived as something else, and was thrown away")]
    Corrupt {
        /// Its hash.
        sha256: String,
    },
    /// A list of files that nobody of us has made.
    #[error("the list of files {sha256} is not used: {why}")]
    List {
        /// Its hash.
        sha256: String,
        /// Why not.
        why: &'static str,
    },
    /// The manager, its server, or the way to them.
    #[error("a file could not be fetched: {cause}")]
    Fetch {
        /// Why not.
        cause: String,
    },
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
