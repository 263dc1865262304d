//! `cargo xtask windows`: the programs built for Windows in the cross root, and tried there under Wine.
//!
//! Wine answers as Windows does, but with the clocks, the disk and the scheduler of Linux. What passes here may still fail
//! on a real Windows; what fails here is a fault, of ours or of Wine.

mod events;
mod network;
mod wine;

use crate::suite::{Done, summary, verdict};
use anyhow::{Context, Result, ensure};
use std::{process::ExitCode, time::Instant};
use wine::Wine;
use xtask::{args::Flags, cross::CrossRoot, workspace};

/// The target: the one of which Debian has the linker and the system's import libraries.
pub const TRIPLE: &str = "x86_64-pc-windows-gnu";
/// Packages whose unit tests need no other program, and no habits of Unix.
const TESTED: [&str; 5] = ["platform", "limits", "notation", "journal", "words"];

/// What is tried, in this order.
const TRIALS: [(&str, Trial); 9] = [
    ("league", events::league),
    ("kills", events::kills),
    ("sprt", events::sprt),
    ("operator", events::operator),
    ("habits", events::habits),
    ("hosted", network::hosted),
    ("pages", network::pages),
    ("worker", network::worker),
    ("service", events::service),
];

type Trial = fn(&Wine) -> Result<Outcome>;

/// How a trial that did not fail has ended.
#[derive(Debug)]
pub enum Outcome {
    /// As it should; something worth knowing of it.
    Passed(String),
    /// Something is missing on this machine.
    LeftOut(String),
}

/// Builds, runs the libraries' tests, and takes every trial, or the one that is named. Without a cross root nothing is done.
///
/// # Errors
/// When a directory or a process cannot be made.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let root = match CrossRoot::open() {
        Ok(root) => root,
        Err(why) => {
            println!("left out: Windows: {why:#}");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let only = flags.text("--only");
    let known = only.is_none_or(|only| only == "tests" || TRIALS.iter().any(|(name, _)| *name == only));
    ensure!(known, "no such trial: `{}`", only.unwrap_or_default());
    let mut taken = vec![];
    if !flags.has("--no-build") {
        taken.push(take("build", || build(&root)));
    }
    if only.is_none_or(|only| only == "tests") {
        taken.push(take("tests", || tests(&root)));
    }
    if taken.iter().all(|done| done.passed) {
        let wine = Wine::new(&root)?;
        let wanted = TRIALS.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
        taken.extend(wanted.map(|(name, trial)| take(name, || trial(&wine))));
    }
    print!("{}", summary(&taken));
    Ok(verdict(&taken))
}

fn take(name: &'static str, trial: impl FnOnce() -> Result<Outcome>) -> Done {
    println!("\n== Windows: {name}");
    let begun = Instant::now();
    let passed = match trial() {
        Ok(Outcome::Passed(words)) => {
            println!("{name}: {words}");
            true
        }
        Ok(Outcome::LeftOut(why)) => {
            println!("left out: {name}: {why}");
            true
        }
        Err(fault) => {
            println!("{name} FAILED: {fault:#}");
            false
        }
    };
    Done { name, passed, took: begun.elapsed() }
}

/// A command of cargo for Windows. Debug information would only make its linker slow.
fn cargo(root: &CrossRoot, command: &str) -> std::process::Command {
    let mut cargo = root.command("cargo");
    // Without `test`, which cargo adds where it is needed: programs and tests share their dependencies.
    cargo.args([command, "-Zbuild-std=std,panic_unwind", "--target", TRIPLE]);
    cargo.env("CARGO_INCREMENTAL", "0");
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
    cargo.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", "wine");
    cargo
}

fn build(root: &CrossRoot) -> Result<Outcome> {
    let mut fetch = workspace::cargo(["fetch", "--quiet", "--locked", "--target", TRIPLE]);
    let fetched = workspace::run(&mut fetch)?.success();
    ensure!(fetched, "dependencies of Windows could not be fetched");
    let built = workspace::run(cargo(root, "build").args(["--package", "renmei", "--bins"]))?.success();
    ensure!(built, "the build for {TRIPLE} failed");
    Ok(Outcome::Passed(TRIPLE.to_owned()))
}

fn tests(root: &CrossRoot) -> Result<Outcome> {
    let mut test = cargo(root, "test");
    test.args(["--no-fail-fast", "--lib"]);
    test.args(TESTED.iter().flat_map(|name| ["--package", name]));
    let unit = workspace::run(&mut test).context("cargo")?.success();
    ensure!(unit, "unit tests failed under Wine");
    Ok(Outcome::Passed(format!("unit tests of {} libraries", TESTED.len())))
}
