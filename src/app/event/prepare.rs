//! The steps from a plan to its open event.

use crate::{Failure, aloud, signals};
use arena::{
    Say, Shutdown,
    dispatcher::RunError,
    identity::{Engine, Identifier},
    preflight::{self, Findings},
};
use laboratory::{Built, Cache, NotBuilt, Surroundings, build_engines};
use plan::{EnginePlan, LogPlan, Plan};
use records::openings;
use referee::{number::number, opening::Opening, rules::Rules};
use seat::usi::Handshake;
use std::{fs, io};

/// Hears signals from now on.
///
/// # Errors
/// When the system has no thread or handler for them.
pub fn listen(shutdown: &Shutdown) -> Result<(), Failure> {
    signals::listen(shutdown.clone(), || ()).map_err(|e| Failure::Other(format!("signals: {e}")))
}

/// Builds the engines that have a source and no program yet; `shutdown` ends a build.
///
/// # Errors
/// All engines that cannot be built.
pub fn build(plan: &mut Plan, cache: &Cache, shutdown: &Shutdown, say: &Say) -> Result<Vec<Built>, NotBuilt> {
    let stopped = || shutdown.is_finishing();
    build_engines(plan, cache, &Surroundings { say: &|line: &str| say(line), stopped: &stopped })
}

/// The openings of a plan, in the order of its files.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn openings(plan: &Plan) -> Result<Vec<Opening>, Failure> {
    let openings = plan.openings.as_ref().map(openings::load).transpose();
    let openings = openings.map_err(|faults| Failure::Usage(faults.to_string()))?.unwrap_or_default();
    match past_the_limit(&openings, &plan.rules) {
        Some((fault, true)) => Err(Failure::Usage(fault)),
        _ => Ok(openings),
    }
}

/// Openings that leave no move: each of their games would be drawn by the limit after one ply. True with all openings, so
/// that no other game is left.
pub(crate) fn past_the_limit(openings: &[Opening], rules: &Rules) -> Option<(String, bool)> {
    let most = rules.max_moves?;
    let (at, plies) = openings.iter().map(Opening::plies).enumerate().find(|(_, plies)| *plies >= most)?;
    let count = openings.iter().filter(|opening| opening.plies() >= most).count();
    let fault = format!(
        "{count} of {} leave no move of the {most} in `rules.max_moves` (`--max-moves`), in which the moves before the \
         start count, so that their games are drawn after one ply: line {} begins after {plies}; raise the limit, or cut the \
         lines with `openings.plies` (`--plies`)",
        number(openings.len(), "opening line"),
        at + 1
    );
    Some((fault, count == openings.len()))
}

/// Has every engine of a plan do once what it does in a game.
///
/// # Errors
/// When an engine has a fault.
pub fn look(plan: &Plan) -> Result<Findings, Failure> {
    sound(preflight::look(plan, &aloud()))
}

/// What a look has found, if no engine has a fault.
///
/// # Errors
/// When an engine has a fault.
pub(crate) fn sound(found: io::Result<Findings>) -> Result<Findings, Failure> {
    let found = found.map_err(|e| RunError::Io("the look at the engines".to_owned(), e))?;
    if found.faults.is_empty() { Ok(found) } else { Err(RunError::Engines(found.faults).into()) }
}

/// What keeps an engine from playing: faults of its options, or why it does not start.
pub(crate) fn faults_of(engine: &EnginePlan) -> Result<Vec<String>, Failure> {
    let looked = preflight::look_at(engine, &aloud()).map_err(|e| Failure::Other(e.to_string()))?;
    Ok(looked.unwrap_or_else(|fault| vec![fault.to_string()]))
}

/// The identities of the engines that play now.
///
/// # Errors
/// All engines whose files cannot be read.
pub(crate) fn identify(plan: &Plan, shown: &[Handshake], say: &Say) -> Result<Vec<Engine>, RunError> {
    let say = |line: &str| say(line);
    let mut identifier = Identifier::new(&plan.database, &say);
    let found =
        preflight::started_here(plan).zip(shown).map(|(engine, shown)| identifier.identify(engine, shown));
    let (engines, faults): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
    match faults.is_empty() {
        true => Ok(engines.into_iter().flatten().collect()),
        false => {
            let faults = faults.into_iter().filter_map(|found| Some(found.err()?.to_string()));
            Err(RunError::Engines(faults.collect()))
        }
    }
}

/// Makes the directory of the log, so that one that takes no files is found before anything is begun.
pub(crate) fn check_log(log: &LogPlan) -> Result<(), Failure> {
    let Some(directory) = log.directory() else { return Ok(()) };
    let probe = directory.join(".renmei-log");
    let tried = fs::create_dir_all(directory)
        .and_then(|()| platform::files::create(&probe).map(drop))
        .and_then(|()| fs::remove_file(&probe));
    tried.map_err(|error| {
        Failure::Usage(format!("--log {}: no file can be written there: {error}", directory.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_that_leave_no_move_are_named_and_refused_where_there_is_no_other() {
        let rules = |most| Rules { max_moves: most, ..Rules::default() };
        let short = Opening::of_usi(referee::opening::EVEN, "7g7f 3c3d").unwrap();
        let late = Opening { start: referee::opening::EVEN.replace(" - 1", " - 300"), moves: vec![] };
        assert_eq!((short.plies(), late.plies()), (2, 299));
        let both = [short, late];
        assert_eq!(past_the_limit(&both, &rules(Some(300))), None);
        assert_eq!(past_the_limit(&both, &rules(None)), None);
        let (fault, is_all) = past_the_limit(&both, &rules(Some(256))).unwrap();
        assert!(!is_all, "games can begin from the other one");
        assert!(fault.starts_with("1 of 2 opening lines leave no move of the 256"), "{fault}");
        assert!(fault.contains("line 2 begins after 299;"), "{fault}");
        assert!(past_the_limit(&both, &rules(Some(2))).is_some_and(|(_, is_all)| is_all));
    }
}
