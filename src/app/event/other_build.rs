//! Events that need another build of renmei-pairwise than the one for play: which one, and how it is made.

use crate::{Failure, prepare::faults_of};
use plan::{EnginePlan, Plan};

/// What makes a renmei-pairwise with the options of a feature; empty for every other engine.
pub(crate) fn hint(engine: &EnginePlan, feature: &str) -> String {
    match engine.command.file_name().is_some_and(|name| name == "renmei-pairwise") {
        true => format!(
            "\n  this renmei-pairwise is the one for play, which has no such options; in Renmei's repository \
             `cargo build --release --bin renmei-pairwise --features {feature}` builds one that has them, for `command`"
        ),
        false => String::new(),
    }
}

/// Refuses a league of builds whose engine lacks options of their parts, before each of the builds is started.
///
/// # Errors
/// The options that are missing, each once, or why the engine cannot play.
pub(crate) fn refuse_missing_parts(plan: &Plan) -> Result<(), Failure> {
    let Some(first) = plan.engines.iter().find(|engine| engine.source.is_none()) else { return Ok(()) };
    let mut probe = first.clone();
    let same = |engine: &&EnginePlan| engine.command == first.command && engine.source.is_none();
    for (name, value) in plan.engines.iter().filter(same).flat_map(|engine| &engine.options) {
        if !probe.options.iter().any(|(known, _)| known == name) {
            probe.options.push((name.clone(), value.clone()));
        }
    }
    let faults = faults_of(&probe)?;
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Failure::Usage(format!("{}{}", faults.join("\n"), hint(first, "pairwise/parts")))),
    }
}
