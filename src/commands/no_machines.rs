//! A renmei that was built without the feature `machines`: it says so where another one would let machines play.

use super::{Exit, Failure};
use crate::cli::{PlayingArgs, WorkerArgs};
use arena::{Say, boards::LiveBoards, desk::RemoteDesk, dispatcher::OpenEvent};
use plan::Plan;
use std::sync::Arc;

const LACKS: &str = "this renmei was built without the feature `machines`: build it with its default features to let machines play together";

/// The address of a server, which is not looked at.
pub type ForeignServer = String;
/// A line to join with, which is not looked at.
pub type Line = String;

/// No desk.
///
/// # Errors
/// When one is wanted.
pub(super) fn desk(
    _plan: &Plan,
    _event: &OpenEvent<'_>,
    args: &PlayingArgs,
    _boards: Arc<LiveBoards>,
    _say: &Say,
) -> Result<Option<Box<dyn RemoteDesk>>, Failure> {
    match args.hub.is_some() || args.workers.is_some() {
        true => Err(Failure::Usage(LACKS.to_owned())),
        false => Ok(None),
    }
}

/// The flag by which other machines may join; here each is refused when the event begins.
pub(super) fn flag(args: &PlayingArgs) -> Option<&'static str> {
    args.hub.as_ref().map(|_| "--hub").or(args.workers.as_ref().map(|_| "--workers"))
}

/// No worker.
///
/// # Errors
/// Always.
pub fn worker(_args: &WorkerArgs) -> Result<Exit, Failure> {
    Err(Failure::Usage(LACKS.to_owned()))
}

/// Whether a text is a line to join with: nobody knows.
///
/// # Errors
/// Never.
pub(super) fn check_line(_text: &str) -> Result<(), String> {
    Ok(())
}
