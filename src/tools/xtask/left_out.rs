//! The tests that a run left out because the machine lacks their equipment.

use crate::suite::Step;
use anyhow::{Context, Result};
use std::{collections::BTreeMap, fs, path::PathBuf};
use xtask::workspace::target;

/// Environment variable that names the file; `testing::has` appends to it.
const LEFT_OUT: &str = "RENMEI_LEFT_OUT";

/// The file to which the tests of this run append.
pub struct LeftOut(PathBuf);

impl LeftOut {
    /// Begins an empty list.
    pub fn begin() -> Result<Self> {
        let file = target().join("left-out");
        fs::create_dir_all(target())
            .and_then(|()| fs::write(&file, ""))
            .with_context(|| format!("`{}` could not be written", file.display()))?;
        Ok(Self(file))
    }

    /// The step, with its tests appending to this list.
    pub fn noted(&self, mut step: Step) -> Step {
        step.command.env(LEFT_OUT, &self.0);
        step
    }

    /// Counts and names; empty if every test ran.
    pub fn summary(&self) -> String {
        let lines = fs::read_to_string(&self.0).unwrap_or_default();
        let mut tests: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (equipment, test) in lines.lines().filter_map(|line| line.split_once('\t')) {
            tests.entry(equipment).or_default().push(test);
        }
        let part = |(equipment, names): (&str, Vec<&str>)| {
            format!("left out: {} tests need {equipment}\n    {}\n", names.len(), names.join("\n    "))
        };
        tests.into_iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_out_tests_are_counted_and_named_by_what_is_missing() {
        let file = std::env::temp_dir().join(format!("left-out-{}", std::process::id()));
        fs::write(&file, "bwrap\te2e::a\nnats-server\thub::b\nbwrap\te2e::c\n").unwrap();
        let text = LeftOut(file.clone()).summary();
        fs::remove_file(file).unwrap();
        assert_eq!(
            text,
            "left out: 2 tests need bwrap\n    e2e::a\n    e2e::c\n\
             left out: 1 tests need nats-server\n    hub::b\n"
        );
    }
}
