//! Every check and every test, one after the other, and a summary.

use crate::libtorch;
use anyhow::Result;
use std::{
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};
use xtask::{
    args::Flags,
    engines,
    workspace::{DEEP, cargo, run as run_command},
};

/// The test target that plays with the engines of Debian.
const REAL_ENGINES: &str = "real_engines";

/// What the machine has beyond a compiler.
#[derive(Clone, Copy)]
struct Machine {
    /// The engines of Debian are installed.
    engines: bool,
    /// There is a libtorch, so [`DEEP`] can be built.
    libtorch: bool,
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

/// Runs all steps, also after one that failed, so that one run tells everything.
///
/// # Errors
/// When cargo cannot be started.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let fast = flags.has("--fast");
    let begun = Instant::now();
    add_component("rustfmt");
    add_component("clippy");
    let machine = if fast {
        Machine { engines: false, libtorch: libtorch::is_there() }
    } else {
        Machine { engines: engines::install_missing(), libtorch: libtorch::fetch_missing() }
    };
    let done = steps(fast, machine).into_iter().map(Step::take).collect::<Result<Vec<_>>>()?;
    print!("{}", summary(&done, begun.elapsed()));
    if !fast && !machine.engines {
        println!("  not run: the suite with real engines, as they are not installed");
    }
    if !machine.libtorch {
        println!("  left out: {DEEP}, as there is no libtorch (`cargo xtask libtorch` fetches it)");
    }
    Ok(if done.iter().all(|step| step.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn steps(fast: bool, machine: Machine) -> Vec<Step> {
    let scope: &[&str] =
        if machine.libtorch { &["--workspace"] } else { &["--workspace", "--exclude", DEEP] };
    let all = |command: &str, rest: &[&str]| {
        let mut cargo = cargo([command]);
        cargo.args(scope).args(rest);
        cargo
    };
    let mut docs = all("doc", &["--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-Dwarnings");
    let mut real = cargo(["test", "--test", REAL_ENGINES]);
    real.env("RENMEI_REQUIRE_ENGINES", "1");
    let steps = [
        (true, "format", cargo(["fmt", "--all", "--check"])),
        (true, "clippy", all("clippy", &["--all-targets", "--", "-D", "warnings"])),
        (!fast, "docs", docs),
        // Tests of one crate start the programs of another, which `cargo test` alone would not build.
        (true, "programs", all("build", &["--bins"])),
        (true, "tests", all("test", &["--no-fail-fast"])),
        (machine.engines, "real engines", real),
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

/// Toolchains installed with the least profile have no formatter and no linter.
fn add_component(component: &'static str) {
    let tool = if component == "rustfmt" { "fmt" } else { component };
    let mut probe = cargo([tool, "--version"]);
    let there = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        // If this fails too, the step that needs it says so.
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

    #[test]
    fn fast_leaves_out_docs_and_real_engines() {
        let names = |fast, engines| {
            let steps = steps(fast, Machine { engines, libtorch: true });
            steps.iter().map(|step| step.name).collect::<Vec<_>>()
        };
        assert_eq!(names(true, false), ["format", "clippy", "programs", "tests"]);
        assert_eq!(names(false, true), ["format", "clippy", "docs", "programs", "tests", "real engines"]);
    }

    #[test]
    fn without_libtorch_every_step_goes_round_the_engine_that_needs_it() {
        let told = |libtorch| {
            let steps = steps(false, Machine { engines: false, libtorch });
            let words = |step: &Step| step.command.get_args().map(|word| word.to_owned()).collect::<Vec<_>>();
            let around = |step: &&Step| words(step).windows(2).any(|two| two == ["--exclude", DEEP]);
            steps.iter().filter(around).map(|step| step.name).collect::<Vec<_>>()
        };
        assert_eq!(told(false), ["clippy", "docs", "programs", "tests"]);
        assert_eq!(told(true), [""; 0]);
    }
}
