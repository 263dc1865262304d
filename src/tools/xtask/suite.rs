//! A sequence of steps that all run, and a summary of them.

use crate::limit;
use anyhow::Result;
use std::{
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};
use xtask::workspace::{DEEP, cargo};

/// A step: a name and the command that passes if it exits with 0.
pub struct Step {
    /// Name in the summary.
    pub name: &'static str,
    pub command: Command,
}

/// A step that was taken.
pub struct Done {
    /// Name in the summary.
    pub name: &'static str,
    /// True if the step passed.
    pub passed: bool,
    /// Wall time.
    pub took: Duration,
}

impl Step {
    /// A step that runs cargo.
    pub fn new(name: &'static str, command: Command) -> Self {
        Self { name, command }
    }

    /// Runs the command.
    pub fn take(mut self) -> Result<Done> {
        println!("\n== {}", self.name);
        let begun = Instant::now();
        let passed = limit::run(&mut self.command)?;
        Ok(Done { name: self.name, passed, took: begun.elapsed() })
    }
}

/// Takes all steps, even after a failure, so that one run reports every failure.
pub fn take_all(steps: impl IntoIterator<Item = Step>) -> Result<Vec<Done>> {
    steps.into_iter().map(Step::take).collect()
}

/// Takes a trial, which is named with the system that it is of, and prints how it ended, with something worth knowing of it.
pub fn attempt(system: &str, name: &'static str, trial: impl FnOnce() -> Result<String>) -> Done {
    println!("\n== {system}: {name}");
    let begun = Instant::now();
    let ended = trial();
    match &ended {
        Ok(words) => println!("{name}: {words}"),
        Err(fault) => println!("{name} FAILED: {fault:#}"),
    }
    Done { name, passed: ended.is_ok(), took: begun.elapsed() }
}

/// A cargo command for every package but [`DEEP`], which needs libtorch. Commands of one selection share one build.
pub fn workspace(command: &[&str], rest: &[&str]) -> Command {
    let mut cargo = cargo([]);
    cargo.args(command).args(["--workspace", "--exclude", DEEP]).args(rest);
    cargo
}

/// True if cargo has this subcommand.
pub fn has_subcommand(name: &str) -> bool {
    let probe = cargo([name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

/// Success if every step passed.
pub fn verdict(done: &[Done]) -> ExitCode {
    if done.iter().all(|step| step.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Many steps as one.
pub fn as_one(name: &'static str, done: &[Done]) -> Done {
    Done { name, passed: done.iter().all(|step| step.passed), took: done.iter().map(|step| step.took).sum() }
}

/// A line for each step, and one for all.
pub fn summary(done: &[Done]) -> String {
    let mut text = String::from("\n");
    for step in done {
        let verdict = if step.passed { "ok" } else { "FAILED" };
        text += &format!("  {:<14} {verdict:<6} {:>7.1} s\n", step.name, step.took.as_secs_f64());
    }
    let failed = done.iter().filter(|step| !step.passed).count();
    let verdict = if failed == 0 { "all passed".to_owned() } else { format!("{failed} FAILED") };
    let total: Duration = done.iter().map(|step| step.took).sum();
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
        let text = summary(&[done("format", true), done("tests", false)]);
        assert!(text.contains("tests          FAILED     1.5 s"), "{text}");
        assert!(text.ends_with("2 steps in 3 s, 1 FAILED\n"), "{text}");
    }
}
