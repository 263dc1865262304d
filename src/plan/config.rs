//! The configuration: TOML text to a checked [`Plan`], or everything that is wrong with it at once.
//!
//! Each key stands once in `keys` with its type, default and meaning; the reader checks values by this list and
//! `reference` prints it. The readers of the tables (`event`, `engines`, `games`, `time`) note every
//! fault and go on with a stand-in, so that one look at the answer mends the whole file.

pub mod built_in;
pub(crate) mod engines;
mod environment;
mod event;
mod fault;
mod fingerprint;
mod games;
pub(crate) mod keys;
pub(crate) mod reader;
mod reference;
#[cfg(test)]
mod tests;
mod time;
pub mod time_text;

pub use environment::Environment;
pub use fault::{Fault, Faults};
pub use fingerprint::Fingerprint;
pub use reference::reference;
pub use time::contradictions;

use crate::Plan;
use keys::Section;
use reader::{Context, Table};
use std::{cell::RefCell, fs, path::Path};
use toml::de::DeTable;

/// Reads and checks a configuration file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(path: &Path) -> Result<Plan, Faults> {
    let unreadable = |error: std::io::Error| Faults::of_file(path, format!("cannot be read: {error}"));
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let environment = Environment::here(path.parent().unwrap_or(path)).map_err(unreadable)?;
    parse(&text, Some(path), &environment)
}

/// Reads and checks a configuration. Without a `file` faults are told by key alone, as suits a configuration that was
/// put together from a command line.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse(text: &str, file: Option<&Path>, environment: &Environment) -> Result<Plan, Faults> {
    read(text, file, environment, &keys::ROOT, plan)
}

/// Reads a document whose top level has the keys of `section`; what is wrong with it is noted in its tables.
///
/// # Errors
/// Everything that is wrong with it.
pub(crate) fn read<T>(
    text: &str,
    file: Option<&Path>,
    environment: &Environment,
    section: &'static Section,
    meaning: impl FnOnce(&Table<'_>) -> T,
) -> Result<T, Faults> {
    let context = Context { file, text, environment, faults: RefCell::default() };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = error.span().unwrap_or_default();
        let key = if error.message() == "duplicate key" { &text[span.clone()] } else { "" };
        context.fault(span.start, key, error.message());
    }
    // What a broken line does to the keys after it is no fault of theirs.
    if let Some(faults) = Faults::found(context.faults.take()) {
        return Err(faults);
    }
    let root = Table::root(&context, section, document.get_ref());
    let meant = meaning(&root);
    root.refuse_unknown();
    Faults::found(context.faults.take()).map_or(Ok(meant), Err)
}

fn plan(root: &Table<'_>) -> Plan {
    let engines = engines::Engines::read(root);
    let rules = games::rules(root);
    let adjudication = games::adjudication(root);
    let openings = games::openings(root, &rules);
    root.has("serve"); // read by the league: `renmei serve`
    event::plan(root, engines, rules, adjudication, openings)
}
