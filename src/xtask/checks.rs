//! Runs every check and every test in sequence and prints a summary.

use crate::{browser, libtorch};
use anyhow::{Context, Result};
use std::{
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};
use xtask::{
    args::Flags,
    engines,
    workspace::{DEEP, cargo, root, run as run_command},
};

/// The test target that needs Debian's engines.
const REAL_ENGINES: &str = "real_engines";

/// Part of the name of every test that needs the oracles: such a test is ignored and stands in a module of this name.
const ORACLES: &str = "oracles::";
/// Directory of the oracles, relative to the root of the repository.
const SHARED: &str = "../shared";
/// If this variable is `1`, a run without the oracles fails.
const REQUIRE_SHARED: &str = "RENMEI_REQUIRE_SHARED";

/// Optional equipment of the machine.
#[derive(Clone, Copy)]
struct Machine {
    /// Debian's engines are installed.
    engines: bool,
    /// libtorch is available, so [`DEEP`] can be built.
    libtorch: bool,
    /// The oracles are available.
    oracles: bool,
    /// There is a browser with everything that its tests need.
    browser: bool,
}

struct Step {
    name: &'static str,
    command: Command,
}

struct Done {
    name: &'static str,
    passed: bool,
    took: Duration,
}

/// Runs all steps, even after a failure, so that one run reports every failure.
///
/// # Errors
/// When cargo cannot be started, or flags contradict each other.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let fast = flags.has("--fast");
    let wish = libtorch::Wish::of(flags)?;
    let begun = Instant::now();
    add_component("rustfmt");
    add_component("clippy");
    let oracles = !fast && root().join(SHARED).is_dir();
    let machine = if fast {
        Machine { engines: false, libtorch: libtorch::is_there(), oracles, browser: false }
    } else {
        Machine {
            engines: engines::install_missing(),
            libtorch: libtorch::fetch_missing(wish),
            oracles,
            browser: browser::installed().is_some(),
        }
    };
    let mut done = steps(fast, machine).into_iter().map(Step::take).collect::<Result<Vec<_>>>()?;
    let oracle_tests = if fast { 0 } else { count_oracle_tests(machine)? };
    done.extend(oracles_fault(fast, machine, oracle_tests, requires_shared()));
    print!("{}", summary(&done, begun.elapsed()));
    if !fast && !machine.engines {
        println!("  not run: tests with real engines, because the engines are not installed");
    }
    if !fast && !machine.browser {
        println!(
            "  not run: tests of the pages in a browser (`cargo xtask browser` installs what they need)"
        );
    }
    if !fast && !machine.oracles {
        println!("  not run: {oracle_tests} tests of the oracles, because `{SHARED}` does not exist");
    }
    if !machine.libtorch {
        println!("  left out: {DEEP}, because libtorch is missing (`cargo xtask libtorch` fetches it)");
    }
    Ok(if done.iter().all(|step| step.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn requires_shared() -> bool {
    std::env::var_os(REQUIRE_SHARED).is_some_and(|value| value == "1")
}

/// Number of tests of the oracles; they must have been built.
fn count_oracle_tests(machine: Machine) -> Result<usize> {
    let mut list = cargo(["test", "--quiet", "--tests"]);
    list.args(scope(machine)).args(["--", "--ignored", "--list", ORACLES]);
    let listed = list.stderr(Stdio::null()).output().context("`cargo` could not be started")?;
    Ok(String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.ends_with(": test")).count())
}

/// A failed step if the oracles are required but absent, or if their step found no test to run.
fn oracles_fault(fast: bool, machine: Machine, tests: usize, required: bool) -> Option<Done> {
    let missing = !machine.oracles && required;
    let vacuous = machine.oracles && tests == 0;
    let fault = !fast && (missing || vacuous);
    fault.then_some(Done { name: "oracles there", passed: false, took: Duration::ZERO })
}

/// Packages to build and test: all, but [`DEEP`] only with libtorch.
fn scope(machine: Machine) -> &'static [&'static str] {
    if machine.libtorch { &["--workspace"] } else { &["--workspace", "--exclude", DEEP] }
}

fn steps(fast: bool, machine: Machine) -> Vec<Step> {
    let all = |command: &str, rest: &[&str]| {
        let mut cargo = cargo([command]);
        cargo.args(scope(machine)).args(rest);
        cargo
    };
    let mut docs = all("doc", &["--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-Dwarnings");
    // With the features of the steps before, or half of the workspace would be built anew.
    let mut real = all("test", &["--test", REAL_ENGINES]);
    real.env("RENMEI_REQUIRE_ENGINES", "1");
    let options =
        ["--lib", "--features", "pairwise/tune,pairwise/parts", "--", "search::tuned", "search::parts"];
    let mut pages = all("test", &["--test", "browser", "--", "--ignored", "--test-threads", "2"]);
    pages.envs(browser::installed().map(|modules| (browser::MODULES, modules)));
    let steps = [
        (true, "format", cargo(["fmt", "--all", "--check"])),
        (true, "clippy", all("clippy", &["--all-targets", "--", "-D", "warnings"])),
        (!fast, "docs", docs),
        // Tests of one crate start programs of another, which `cargo test` does not build.
        (true, "programs", all("build", &["--bins"])),
        (true, "tests", all("test", &["--no-fail-fast"])),
        (!fast, "options", all("test", &options)),
        (machine.oracles, "oracles", all("test", &["--no-fail-fast", "--tests", "--", "--ignored", ORACLES])),
        (machine.engines, "real engines", real),
        (machine.browser, "browser", pages),
    ];
    steps
        .into_iter()
        .filter(|(wanted, ..)| *wanted)
        .map(|(_, name, command)| Step { name, command })
        .collect()
}

impl Step {
    fn take(mut self) -> Result<Done> {
        println!("\n== {}", self.name);
        let begun = Instant::now();
        let passed = run_command(&mut self.command)?.success();
        Ok(Done { name: self.name, passed, took: begun.elapsed() })
    }
}

/// Toolchains with the minimal profile lack the formatter and the linter.
fn add_component(component: &'static str) {
    let tool = if component == "rustfmt" { "fmt" } else { component };
    let mut probe = cargo([tool, "--version"]);
    let there = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        // If this fails, the step that needs the component reports it.
        let _ = Command::new("rustup").args(["component", "add", component]).status();
    }
}

fn summary(done: &[Done], total: Duration) -> String {
    let mut text = String::from("\n");
    for step in done {
        let verdict = if step.passed { "ok" } else { "FAILED" };
        text += &format!("  {:<14} {verdict:<6} {:>7.1} s\n", step.name, step.took.as_secs_f64());
    }
    let failed = done.iter().filter(|step| !step.passed).count();
    let verdict = if failed == 0 { "all passed".to_owned() } else { format!("{failed} FAILED") };
    text + &format!("{} steps in {:.0} s, {verdict}\n", done.len(), total.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(name: &'static str, passed: bool) -> Done {
        Done { name, passed, took: Duration::from_millis(1500) }
    }

    #[test]
    fn the_summary_ends_with_what_failed() {
        let text = summary(&[done("format", true), done("tests", false)], Duration::from_secs(3));
        assert!(text.contains("tests          FAILED     1.5 s"), "{text}");
        assert!(text.ends_with("2 steps in 3 s, 1 FAILED\n"), "{text}");
    }

    const BARE: Machine = Machine { engines: false, libtorch: true, oracles: false, browser: false };

    fn names(fast: bool, machine: Machine) -> Vec<&'static str> {
        steps(fast, machine).iter().map(|step| step.name).collect()
    }

    #[test]
    fn fast_leaves_out_docs_oracles_and_real_engines() {
        assert_eq!(names(true, BARE), ["format", "clippy", "programs", "tests"]);
        let all = Machine { engines: true, oracles: true, browser: true, ..BARE };
        assert_eq!(
            names(false, all),
            [
                "format",
                "clippy",
                "docs",
                "programs",
                "tests",
                "options",
                "oracles",
                "real engines",
                "browser"
            ]
        );
        assert_eq!(names(false, BARE), ["format", "clippy", "docs", "programs", "tests", "options"]);
    }

    #[test]
    fn without_libtorch_every_step_excludes_the_engine_that_needs_it() {
        let excluding_deep = |libtorch| {
            let steps = steps(false, Machine { libtorch, oracles: true, ..BARE });
            let words = |step: &Step| step.command.get_args().map(|word| word.to_owned()).collect::<Vec<_>>();
            let around = |step: &&Step| words(step).windows(2).any(|two| two == ["--exclude", DEEP]);
            steps.iter().filter(around).map(|step| step.name).collect::<Vec<_>>()
        };
        assert_eq!(excluding_deep(false), ["clippy", "docs", "programs", "tests", "options", "oracles"]);
        assert_eq!(excluding_deep(true), [""; 0]);
    }

    #[test]
    fn required_oracles_that_are_absent_and_oracles_without_a_test_fail_the_run() {
        let there = Machine { oracles: true, ..BARE };
        let fails = |fast, machine, tests, required| oracles_fault(fast, machine, tests, required).is_some();
        assert!(fails(false, BARE, 12, true) && fails(false, there, 0, false));
        assert!(!fails(false, BARE, 12, false) && !fails(false, there, 12, true));
        assert!(!fails(true, BARE, 0, true), "a fast run does not need them");
    }
}
