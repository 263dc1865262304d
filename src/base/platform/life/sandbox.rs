//! The strict sandbox: for an engine that nobody trusts.

use super::system;
use std::{env::consts::ARCH, io};

/// Why no engine gets a strict sandbox here, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Another system than Linux.
    #[error("`sandbox = \"strict\"` cannot be had on this machine: it needs Linux, and this is {0}")]
    System(&'static str),
    /// The program that makes namespaces is missing.
    #[error(
        "`sandbox = \"strict\"` needs `bwrap`, which is not on PATH: install `bubblewrap` (`apt-get install bubblewrap`), or take `sandbox` out if you trust the engine"
    )]
    NoWrapper,
    /// There is no directory to start in.
    #[error("the current directory: {0}")]
    Directory(#[source] io::Error),
    /// The processor is unknown to the filter.
    #[error("no filter of system calls for {ARCH}: {0}")]
    Filter(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The trial could not be carried out.
    #[error("`sandbox = \"strict\"` cannot be had on this machine: {0}")]
    Trial(#[source] io::Error),
    /// The trial failed.
    #[error("`sandbox = \"strict\"` cannot be had on this machine: {said}{hint}")]
    Refused {
        /// What `bwrap` said.
        said: String,
        /// The usual cause.
        hint: &'static str,
    },
    /// No limit can be kept.
    #[error(
        "`sandbox = \"strict\"` cannot be had on this machine: what an engine in it holds cannot be seen from outside (`/proc/PID/root`), so that no limit could be kept; it needs the right to look into processes (CAP_SYS_PTRACE), which containers often refuse"
    )]
    Unseen,
}

/// Whether this machine has what a strict sandbox needs. Linux tries it with `cat` in place of an engine; other systems
/// have none.
///
/// # Errors
/// What is missing, and what to do.
pub fn available() -> Result<(), SandboxError> {
    system::sandbox_available()
}

/// Who counts what a strict engine holds on this machine, as a sentence for the log.
pub fn counting() -> &'static str {
    system::sandbox_counting()
}
