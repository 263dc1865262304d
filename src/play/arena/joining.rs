//! Engines that join an event while it is played, or take the place of one that plays in it.
//!
//! The event's file is the truth: an engine joins by being added to its end. The operator's `reload` has the running
//! process read the file again, and a later run reads it anyway: both find the newcomers by the same comparison of the
//! file with the database ([`crate::resume`]), and record each by an operation, in one transaction with what plays. Where
//! that was not stored, the engine has not joined, and is found again.

use crate::{cores::EngineFacts, identity::Engine};
use contest::schedule::Format;
use plan::{EnginePlan, Plan};
use platform::account::User;
use referee::identity::Identity;
use words::Message;

/// An engine that is ready to join an event.
#[derive(Debug)]
pub struct Newcomer {
    /// The engine.
    pub engine: EnginePlan,
    /// What it is.
    pub identity: Engine,
    /// The cores that it needs.
    pub facts: EngineFacts,
    /// Its part of the fingerprint of the event, as JSON.
    pub configuration: String,
}

/// The file of a running event.
pub trait EventFile: Send + Sync {
    /// The engines that the file has and the event has not, each tried; empty if there are none.
    ///
    /// # Errors
    /// Why the event cannot go on by the file, or why an engine cannot play.
    fn newcomers(&self) -> Result<Vec<Newcomer>, Message>;
}

/// The name by which this program's own user gives orders.
pub(crate) fn own_name() -> String {
    User::own().ok().and_then(|user| user.name()).unwrap_or_else(|| "renmei".to_owned())
}

/// Why no engine can join the event of a plan after its start; `has_begun`: a game was begun.
#[must_use]
pub fn forbidden(plan: &Plan, has_begun: bool) -> Option<&'static str> {
    let [stage] = &*plan.stages else {
        return Some(
            "an event of several stages takes no engine after its start, as later stages follow from earlier ones: begin another event",
        );
    };
    match stage.format {
        _ if plan.tune.is_some() => Some("a tuning has one engine"),
        Format::Sprt { .. } | Format::Precision { .. } => {
            Some("a sequential test has two players: a new build is tested in an event of its own")
        }
        _ if stage.entrants.is_some() => Some("the number of its players is fixed by `entrants`"),
        _ if !has_begun => None,
        Format::Knockout { .. } => Some(
            "the bracket of a knock-out is drawn at its start: the engine can play in the next event alone",
        ),
        Format::Swiss { .. } => Some(
            "a Swiss takes engines before its first round; a later one is in the file from the beginning, withdrawn until it comes",
        ),
        Format::Information { .. } => {
            Some("the encounters of `format = \"information\"` are computed for the players of its start")
        }
        _ => None,
    }
}

/// Why an engine of a plan cannot join, by what the file says of it; `known` are those that play in the event.
pub(crate) fn misplaced(engine: &EnginePlan, known: &[EnginePlan]) -> Option<String> {
    let name = &engine.name;
    if engine.remote {
        return Some(format!("`{name}` logs in over the network, and the entrants are those of the start"));
    }
    let out = engine.replaces.as_ref()?;
    match known.iter().find(|known| known.name == *out) {
        None => Some(format!("`{name}` replaces `{out}`, which has not joined the event")),
        Some(known) if known.remote => Some(format!(
            "`{out}`, which `{name}` replaces, logs in over the network: `renmei admin swap` gives its place to another"
        )),
        Some(_) => None,
    }
}

/// Why an engine cannot join that has shown what it is; `known` are those that play in the event, with what they were last.
pub(crate) fn double(engine: &EnginePlan, new: Option<&Engine>, known: &[Known<'_>]) -> Option<String> {
    let name = &engine.name;
    let is_same = |known: &&Known<'_>| {
        let build = new.zip(known.identity).is_some_and(|(new, identity)| {
            new.identity.hash.is_some()
                && identity.hash == new.identity.hash
                && new.changes_since(identity).is_empty()
        });
        build && setup(known.engine) == setup(engine)
    };
    let twin = known.iter().find(is_same)?;
    let other = &twin.engine.name;
    Some(format!(
        "`{name}` is the build that plays as `{other}`, with the same options: its games are games of `{other}`"
    ))
}

/// A player of the event.
pub(crate) struct Known<'a> {
    pub engine: &'a EnginePlan,
    /// What it was last, if that was recorded.
    pub identity: Option<&'a Identity>,
}

/// What distinguishes two players of one build.
fn setup(engine: &EnginePlan) -> impl PartialEq + '_ {
    let EnginePlan { args, options, environment, ponder, time, clocks, .. } = engine;
    (args, options, environment, *ponder, time, clocks)
}
