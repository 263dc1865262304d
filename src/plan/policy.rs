//! The file of `renmei time --policy`: how an engine divides its time.

use crate::{
    Environment, Faults,
    keys::{
        Fallback::{Is, Needed, Says},
        Kind::{Duration as Time, Integer, Other, Words},
    },
    reader::{self, Table},
    settings::settings,
};
use serde::Deserialize;
use std::{path::Path, time::Duration};

/// Most phases of a policy.
const MOST_PHASES: usize = 32;
/// The longest reserve and floor.
const DAY: Duration = Duration::from_secs(86_400);

/// How the engine divided its time in the games of the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Present {
    /// As `usi-shell` does, by the option `TimePolicy` that the engine had.
    #[default]
    UsiShell,
    /// Nothing is known of it.
    Unknown,
}

settings! {
    /// A division of an engine's time, as `renmei time` reads it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PolicyConfig in "A policy of time", "The file of `renmei time --policy`, see [time](time.md). Every key may be left \
        out; the defaults are what `usi-shell`, and so renmei-pairwise, does. A move is given the main time left over the \
        own moves still to come, and the byoyomi and the increment; the keys of percent apply to that sum.";

    moves: u32 = 60, Integer(1, 1000), "own moves that the main time is to last at the first move; each takes one away";
    least_moves: u32 = 20, Integer(1, 1000), "never fewer own moves than these";
    most: u32 = 20, Integer(1, 100), "percent of the main time left that one move may take at most, besides byoyomi and increment";
    reserve: Duration = (Duration::ZERO) by reserve shown Says("none"), Time { zero: true },
        "main time that is not divided, a day at most";
    floor: Duration = (Duration::ZERO) by floor shown Says("none"), Time { zero: true },
        "time that every move has, within what is left";
    expected: u32 = 100, Integer(1, 1000),
        "percent of the planned time where the opponent has played the reply that the last search expected";
    decided: Option<DecidedPlan> = None by decided shown Says("no score matters"), Other("table"),
        "less or more time where the game seems decided, see `decided`";
    phase: Vec<PhasePlan> = (vec![]) by phases shown Says("all alike"), Other("tables"),
        "less or more time by ply, see `[[phase]]`";
    present: Present = (Present::UsiShell) by present shown Is("\"usi-shell\""), Words(&["usi-shell", "unknown"]),
        "how the engine divided its time in the games: as `usi-shell` does, by the option `TimePolicy` on record, or in an unknown way";
}

settings! {
    /// Less or more time where the game seems decided.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DecidedPlan in "`decided` of a policy", "";

    score: u32 = 0 shown Needed, Integer(0, 100_000),
        "centipawns: the last score is beyond them, in favour of either side";
    share: u32 = 100 shown Needed, Integer(1, 1000), "percent of the planned time";
}

settings! {
    /// Less or more time from a ply on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PhasePlan in "`[[phase]]` of a policy", "In the order of plies; before the first it is 100 percent.";

    from: u32 = 1 shown Needed, Integer(1, 1000), "the first ply";
    share: u32 = 100 shown Needed, Integer(1, 1000), "percent of the planned time";
}

impl PolicyConfig {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read, and every fault of it.
    pub fn load(path: &Path) -> Result<Self, Faults> {
        reader::read_file(path, |text, environment| Self::parse(text, Some(path), environment))
    }

    /// Reads and checks the text of the file.
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(text: &str, file: Option<&Path>, environment: &Environment) -> Result<Self, Faults> {
        reader::read(text, file, environment, &Self::SECTION, Self::read)
    }
}

fn present(table: &Table<'_>) -> Option<Present> {
    Some(table.choice("present"))
}

fn reserve(table: &Table<'_>) -> Option<Duration> {
    within_a_day(table, "reserve")
}

fn floor(table: &Table<'_>) -> Option<Duration> {
    within_a_day(table, "floor")
}

fn within_a_day(table: &Table<'_>, key: &str) -> Option<Duration> {
    let time = table.duration(key)?;
    if time > DAY {
        table.fault(key, "is more than a day");
        return None;
    }
    Some(time)
}

fn decided(root: &Table<'_>) -> Option<Option<DecidedPlan>> {
    let table = root.table("decided", &DecidedPlan::SECTION);
    if !table.is_given() {
        return Some(None);
    }
    table.require("score", "say beyond which score, such as `score = 1500`");
    table.require("share", "say how much of the planned time is used then, such as `share = 50`");
    Some(Some(DecidedPlan::read(&table)))
}

fn phases(root: &Table<'_>) -> Option<Vec<PhasePlan>> {
    let items = root.item("phase")?.elements("tables, each under `[[phase]]`");
    if items.len() > MOST_PHASES {
        root.fault(
            "phase",
            format!("{} phases are too many; a policy has {MOST_PHASES} at most", items.len()),
        );
        return None;
    }
    let mut phases: Vec<PhasePlan> = vec![];
    for table in items.iter().filter_map(|item| item.table(&PhasePlan::SECTION)) {
        table.require("from", "say from which ply on, such as `from = 41`");
        table.require("share", "say how much of the planned time is used then, such as `share = 120`");
        let phase = PhasePlan::read(&table);
        if let Some(last) = phases.last().filter(|last| last.from >= phase.from) {
            table.fault(
                "from",
                format!("{} is not after {}; phases are in the order of plies", phase.from, last.from),
            );
        }
        phases.push(phase);
    }
    Some(phases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PolicyConfig, Vec<String>> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("policy.toml");
        std::fs::write(&path, text).unwrap();
        let place = format!("{}/", directory.path().display());
        PolicyConfig::load(&path)
            .map_err(|faults| faults.iter().map(|fault| fault.to_string().replace(&place, "")).collect())
    }

    #[test]
    fn a_file_without_keys_is_the_default() {
        assert_eq!(read("").unwrap(), PolicyConfig::default());
        assert_eq!(read("present = \"unknown\"").unwrap().present, Present::Unknown);
    }

    #[test]
    fn every_fault_of_a_policy_is_named_with_its_line_and_key() {
        let text = "moves = 0\nleast_move = 15\nreserve = 500\nfloor = \"25h\"\ndecided = { score = 1500 }\n\n\
                    [[phase]]\nfrom = 41\nshare = 120\n[[phase]]\nfrom = 21\nshare = 0\n";
        assert_eq!(
            read(text).unwrap_err(),
            [
                "policy.toml:1:9: moves: 0 is out of range; it must be from 1 to 1000",
                "policy.toml:2:1: least_move: unknown key `least_move`; did you mean `least_moves`?",
                "policy.toml:3:11: reserve: 500 has no unit; write \"500s\" or \"500ms\"",
                "policy.toml:4:9: floor: is more than a day",
                "policy.toml:5:11: decided.share: is missing; say how much of the planned time is used then, such as `share = 50`",
                "policy.toml:11:8: phase[1].from: 21 is not after 41; phases are in the order of plies",
                "policy.toml:12:9: phase[1].share: 0 is out of range; it must be from 1 to 1000",
            ]
        );
    }
}
