//! `renmei worker` of a renmei that was built without the feature `machines`.

use super::{Exit, Failure};
use crate::cli::WorkerArgs;
use std::convert::Infallible;

/// A line to join with, unread.
pub type Line = String;

/// Nothing is spoken with other machines.
pub const PROTOCOL: Option<u32> = None;

/// No worker.
pub fn worker(_args: &WorkerArgs) -> Result<Exit, Failure> {
    Err(Failure::Usage(event::machines::LACKS.to_owned()))
}

/// Accepts every text as a line to join with.
pub(super) fn check_line(_text: &str) -> Result<(), Infallible> {
    Ok(())
}
