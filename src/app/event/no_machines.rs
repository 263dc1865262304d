//! A renmei that was built without the feature `machines` refuses what would let machines play.

use crate::{Failure, Sharing};
use arena::{Say, boards::LiveBoards, desk::RemoteDesk, dispatcher::OpenEvent};
use plan::Plan;
use std::sync::Arc;

/// Why no machine can play games of an event.
pub const LACKS: &str = "this renmei was built without the feature `machines`: build it with its default features to let machines play together";

/// No desk.
///
/// # Errors
/// When one is wanted.
pub(crate) fn desk(
    _plan: &Plan,
    _event: &OpenEvent<'_>,
    sharing: &Sharing,
    _boards: Arc<LiveBoards>,
    _say: &Say,
) -> Result<Option<Box<dyn RemoteDesk>>, Failure> {
    match sharing.hub {
        Some(_) => Err(Failure::Usage(LACKS.to_owned())),
        None => Ok(None),
    }
}
