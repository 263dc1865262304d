//! A configuration file as a whole: an event, or an open league.

use crate::{
    Plan, ServeConfig,
    engines::Engines,
    environment::Environment,
    event,
    fault::Faults,
    games,
    keys::ROOT,
    reader::{self, Table},
    serve,
};
use std::path::Path;

/// What a configuration file describes.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// An event, for `renmei run` and `renmei serve`.
    Event {
        /// The event.
        plan: Box<Plan>,
        /// Its network side, where the file has `[serve]`.
        serve: Option<Box<ServeConfig>>,
    },
    /// An open league, for `renmei serve`: the file has `[serve]`, but neither `[event]` nor `[[engines]]`.
    League(Box<ServeConfig>),
}

impl Document {
    /// Reads and checks a configuration file.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn load(path: &Path) -> Result<Self, Faults> {
        reader::read_file(path, |text, environment| Self::parse(text, Some(path), environment))
    }

    /// Reads and checks a configuration. Without a `file` faults name the key alone, as suits a configuration that
    /// was put together from a command line.
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(text: &str, file: Option<&Path>, environment: &Environment) -> Result<Self, Faults> {
        reader::read(text, file, environment, &ROOT, |root| {
            if root.has("serve") && !root.has("event") && !root.has("engines") {
                Self::League(Box::new(serve::league(root)))
            } else {
                Self::Event { plan: Box::new(plan(root)), serve: serve::of_event(root).map(Box::new) }
            }
        })
    }
}

impl Plan {
    /// Reads and checks the configuration of an event; see [`Document::parse`].
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(text: &str, file: Option<&Path>, environment: &Environment) -> Result<Self, Faults> {
        reader::read(text, file, environment, &ROOT, |root| {
            serve::of_event(root);
            plan(root)
        })
    }
}

fn plan(root: &Table<'_>) -> Plan {
    let engines = Engines::read(root);
    let rules = games::rules(root);
    let adjudication = games::adjudication(root);
    let openings = games::openings(root, &rules);
    event::plan(root, engines, rules, adjudication, openings)
}
