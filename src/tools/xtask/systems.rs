//! `cargo xtask windows`: the programs built for Windows in the cross root, and tried there under Wine.
//!
//! Wine answers as Windows does, but with the clocks, the disk and the scheduler of Linux. What passes here may still fail
//! on a real Windows; what fails here is a fault, of ours or of Wine.

mod events;
mod network;
mod wine;

use crate::suite::{Done, attempt, summary, verdict};
use anyhow::{Context, Result, ensure};
use std::process::ExitCode;
use wine::Wine;
use xtask::{args::Flags, cross::CrossRoot, workspace};

/// The target: the one of which Debian has the linker and the system's import libraries.
pub const TRIPLE: &str = "x86_64-pc-windows-gnu";
/// Packages whose unit tests need no other program, and no habits of Unix.
const TESTED: [&str; 4] = ["platform", "notation", "journal", "words"];

/// What is tried, in this order.
const TRIALS: [(&str, Trial); 6] = [
    ("league", events::league),
    ("kills", events::kills),
    ("operator", events::operator),
    ("habits", events::habits),
    ("hosted", network::hosted),
    ("service", events::service),
];

type Trial = fn(&Wine) -> Result<String>;

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
    let taken = take_all(&root, only, !flags.has("--no-build"))?;
    print!("{}", summary(&taken));
    Ok(verdict(&taken))
}

/// The build, the libraries' tests and the trials; only the one that is named, if one is.
///
/// # Errors
/// When a directory or a process cannot be made.
pub fn take_all(root: &CrossRoot, only: Option<&str>, builds: bool) -> Result<Vec<Done>> {
    let mut taken = vec![];
    if builds {
        taken.push(take("build", || build(root)));
    }
    if only.is_none_or(|only| only == "tests") {
        taken.push(take("tests", || tests(root)));
    }
    if taken.iter().all(|done| done.passed) {
        let wine = Wine::new(root)?;
        let wanted = TRIALS.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
        taken.extend(wanted.map(|(name, trial)| take(name, || trial(&wine))));
    }
    Ok(taken)
}

fn take(name: &'static str, trial: impl FnOnce() -> Result<String>) -> Done {
    attempt("Windows", name, trial)
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

fn build(root: &CrossRoot) -> Result<String> {
    root.fetch()?;
    let built = workspace::run(cargo(root, "build").args(["--package", "renmei", "--bins"]))?.success();
    ensure!(built, "the build for {TRIPLE} failed");
    Ok(TRIPLE.to_owned())
}

fn tests(root: &CrossRoot) -> Result<String> {
    let mut test = cargo(root, "test");
    test.args(["--no-fail-fast", "--lib", "--test", "life"]);
    test.args(TESTED.iter().flat_map(|name| ["--package", name]));
    let unit = workspace::run(&mut test).context("cargo")?.success();
    ensure!(unit, "unit tests failed under Wine");
    Ok(format!("unit tests of {} libraries, the life of engines", TESTED.len()))
}
