//! Why a machine does not play, or an event has no machines.

use crate::hub::{FileFault, HubError};
use crate::worker::Broken;
use arena::IdentityError;
use async_nats::SubscribeError;
use std::{io, path::PathBuf};
use tokio::task::JoinError;

/// Why a machine does not play, or an event has no machines.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The system has nothing to wait with.
    #[error("the system has no event queue: {0}")]
    EventQueue(#[source] io::Error),
    /// The system has no thread, or too few open files for the games.
    #[error("this machine lacks what its games need: {0}")]
    Thread(#[source] io::Error),
    /// The door of an event.
    #[error(transparent)]
    Hub(#[from] HubError),
    /// The connection to the server is closed.
    #[error("the server: {0}")]
    Subscribe(#[from] SubscribeError),
    /// The directory of a worker.
    #[error("`{}`: {}", .0.display(), .1)]
    Directory(PathBuf, #[source] io::Error),
    /// Another worker has locked its directory.
    #[error("another worker uses `{}`: give this one another `--name` or `--state`", .0.display())]
    InUse(PathBuf),
    /// The engines of the event cannot play here.
    #[error("it cannot play: {0}")]
    Unfit(#[from] Unfit),
    /// It played, and cannot go on.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Why the engines of an event cannot play on a machine.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// An engine without a strict sandbox.
    #[error("engine `{0}` is not in a strict sandbox, and this worker was started with `--sandbox strict`")]
    NotStrict(String),
    /// A sandbox with a hole.
    #[error("engine `{0}` may write to `{path}`, and this worker was started with `--sandbox strict`", path = .1.display())]
    Writes(String, PathBuf),
    /// An engine of a third machine.
    #[error("engine `{0}` plays on the host `{1}`, which the manager alone starts it on")]
    OnHost(String, String),
    /// Its files did not come.
    #[error("engine `{0}` cannot be fetched: {1}")]
    NotFetched(String, #[source] FileFault),
    /// Its program is not here.
    #[error("engine `{0}`: there is no program `{path}` on this machine", path = .1.display())]
    NoProgram(String, PathBuf),
    /// The look at the engines has found faults.
    #[error("{}", .0.join("\n"))]
    Faults(Vec<String>),
    /// Its files cannot be identified.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// It is another one.
    #[error("engine `{0}` is not the one of the manager: {changes}", changes = .1.join("; "))]
    OtherEngine(String, Vec<String>),
    /// Too few cores.
    #[error(
        "{slots} pairs at once need {needed} cores, and {cores} can be used here: give it fewer `--slots`, or force it with `--oversubscribe`"
    )]
    Cores {
        /// Pairs at once.
        slots: usize,
        /// Cores that they need.
        needed: f64,
        /// Cores that there are.
        cores: usize,
    },
    /// The system has nothing to wait with, or no means to start an engine.
    #[error("this machine lacks what a look at its engines needs: {0}")]
    EventQueue(#[from] io::Error),
    /// The look ended by a fault of this program.
    #[error(transparent)]
    Panicked(#[from] JoinError),
}
