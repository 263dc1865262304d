//! `cargo xtask test`: one build of all programs and tests, and one run of the tests.

use crate::{
    left_out::LeftOut,
    suite::{Done, Step, has_subcommand, summary, take_all, verdict, workspace},
};
use anyhow::{Context, Result};
use std::{
    process::{Command, ExitCode, Stdio},
    time::Duration,
};
use xtask::{args::Flags, engines, workspace::root};

/// Part of the name of every test that needs the oracles: such a test is ignored and stands in a module of this name.
const ORACLES: &str = "oracles::";
/// Directory of the oracles, relative to the root of the repository.
const SHARED: &str = "../shared";
/// Tests in whose environment this variable is set build no programs: the first step has built them all.
const BUILT: &str = "RENMEI_BUILT";
/// If this variable is `1`, a run without the oracles fails.
const REQUIRE_SHARED: &str = "RENMEI_REQUIRE_SHARED";
/// Libraries whose unit tests start processes or open sockets; `--quick` leaves them out.
const WITH_PROCESSES: [&str; 8] =
    ["check", "client", "event", "host", "laboratory", "machines", "seat", "measure"];

/// Runs the tests: of everything, or with `--quick` of the libraries that need neither processes nor sockets.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let done = if flags.has("--quick") { take_all(quick())? } else { whole()? };
    print!("{}", summary(&done));
    Ok(verdict(&done))
}

/// Every test, with what the machine lacks named at the end.
pub fn whole() -> Result<Vec<Done>> {
    engines::install_missing();
    let left_out = LeftOut::begin()?;
    let oracles = root().join(SHARED).is_dir();
    let mut done =
        take_all(steps(Runner::installed(), oracles).into_iter().map(|step| left_out.noted(step)))?;
    let tests = count_oracle_tests()?;
    done.extend(oracles_fault(oracles, tests, requires_shared()));
    print!("{}", left_out.summary());
    if !oracles {
        println!("left out: {tests} tests of the oracles, because `{SHARED}` does not exist");
    }
    Ok(done)
}

/// The runner of tests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// cargo-nextest: names slow tests while they run.
    Nextest,
    Cargo,
}

impl Runner {
    fn installed() -> Self {
        if has_subcommand("nextest") { Self::Nextest } else { Self::Cargo }
    }

    /// A run of these targets; of ignored tests whose name contains `ignored`, if given.
    fn run(self, targets: &[&str], ignored: Option<&str>) -> Command {
        let mut command = match self {
            Self::Nextest => workspace(&["nextest", "run"], &["--no-fail-fast"]),
            Self::Cargo => workspace(&["test"], &["--no-fail-fast"]),
        };
        // Tests compare what a user reads, in English, whatever the language of whoever runs them.
        command.args(targets).env(BUILT, "1").env("LC_ALL", "C");
        match (self, ignored) {
            (_, None) => &mut command,
            (Self::Nextest, Some(name)) => command.args(["--run-ignored", "only", name]),
            (Self::Cargo, Some(name)) => command.args(["--", "--ignored", name]),
        };
        command
    }
}

/// Targets of the whole run: unit tests and end-to-end tests, but no examples and no benchmarks. Unlike `--lib` and
/// `--bins`, this word leaves out the targets of which a `Cargo.toml` says that they have no tests.
const TARGETS: [&str; 1] = ["--tests"];
/// What the build adds to them: tests of one crate start programs of another, which a test run does not build.
const PROGRAMS: &str = "--bins";

fn steps(runner: Runner, oracles: bool) -> Vec<Step> {
    let tests = Step::new("tests", runner.run(&TARGETS, None));
    let oracle_tests = || Step::new("oracles", runner.run(&TARGETS, Some(ORACLES)));
    [Some(build()), Some(tests), oracles.then(oracle_tests)].into_iter().flatten().collect()
}

/// The build of all programs and tests.
pub fn build() -> Step {
    Step::new("build", workspace(&["build", PROGRAMS], &TARGETS))
}

/// A run of all tests under nextest, with further words for it.
pub fn runs_of(more: &[&str]) -> Command {
    Runner::Nextest.run(&[&TARGETS[..], more].concat(), None)
}

/// What nextest selects the tests that start processes by: end-to-end tests, and unit tests of some libraries.
pub fn processes_filter() -> String {
    let libraries: String = WITH_PROCESSES.iter().map(|name| format!(" | package({name})")).collect();
    format!("(package(renmei) & kind(test)){libraries}")
}

/// Unit tests of the libraries without processes and sockets.
fn quick() -> Vec<Step> {
    let mut command = Runner::installed().run(&["--lib"], None);
    command.args(WITH_PROCESSES.iter().flat_map(|name| ["--exclude", name]));
    vec![Step::new("quick tests", command)]
}

fn requires_shared() -> bool {
    std::env::var_os(REQUIRE_SHARED).is_some_and(|value| value == "1")
}

/// Number of tests of the oracles; they must have been built.
fn count_oracle_tests() -> Result<usize> {
    let mut list = workspace(&["test", "--quiet"], &TARGETS);
    list.args(["--", "--ignored", "--list", ORACLES]);
    let listed = list.stderr(Stdio::null()).output().context("`cargo` could not be started")?;
    Ok(String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.ends_with(": test")).count())
}

/// A failed step if the oracles are required but absent, or if their step found no test to run.
fn oracles_fault(oracles: bool, tests: usize, required: bool) -> Option<Done> {
    let missing = !oracles && required;
    let vacuous = oracles && tests == 0;
    (missing || vacuous).then_some(Done { name: "oracles there", passed: false, took: Duration::ZERO })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_selection_of_packages_and_targets_serves_the_build_and_every_run() {
        for runner in [Runner::Cargo, Runner::Nextest] {
            let steps = steps(runner, true);
            assert_eq!(steps.iter().map(|step| step.name).collect::<Vec<_>>(), ["build", "tests", "oracles"]);
            for step in &steps {
                let words: Vec<_> = step.command.get_args().collect();
                let selected = ["--workspace", "--exclude", "renmei-deep", "--tests"];
                assert!(selected.iter().all(|word| words.iter().any(|given| given == word)), "{words:?}");
            }
        }
    }

    #[test]
    fn required_oracles_that_are_absent_and_oracles_without_a_test_fail_the_run() {
        let fails = |oracles, tests, required| oracles_fault(oracles, tests, required).is_some();
        assert!(fails(false, 12, true) && fails(true, 0, false));
        assert!(!fails(false, 12, false) && !fails(true, 12, true));
    }
}
