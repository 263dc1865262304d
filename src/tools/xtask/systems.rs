//! `cargo xtask windows` and `cargo xtask arm`: the programs built for another system in the cross root, and tried there.
//!
//! Wine answers as Windows does, but with the clocks, the disk and the scheduler of Linux; the emulator of ARM runs on the
//! kernel of this machine, with its order of memory accesses. What passes here may still fail on the real system; what fails
//! here is a fault, of ours or of the emulator.

mod events;
mod network;
mod place;

use crate::{
    suite::{Done, attempt, summary, verdict},
    target::{self, Target},
};
use anyhow::{Result, ensure};
use place::Place;
use std::process::{Command, ExitCode};
use xtask::{args::Flags, cross::CrossRoot, workspace};

/// A system on which the programs are tried.
pub struct System {
    name: &'static str,
    target: &'static Target,
    /// What enters the root.
    enter: fn(&CrossRoot, &str) -> Command,
    /// The program and the words that run the unit tests.
    tests: (&'static str, &'static [&'static str]),
    /// Packages whose unit tests need no program of another package, and no habits of another system.
    tested: &'static [&'static str],
    /// Words behind them.
    skipped: &'static [&'static str],
    /// What is tried, in this order.
    trials: &'static [(&'static str, Trial)],
}

type Trial = fn(&Place) -> Result<String>;

pub const WINDOWS: System = System {
    name: "Windows",
    target: &target::WINDOWS,
    enter: CrossRoot::command,
    tests: ("cargo", &["test", "--no-fail-fast", "--lib", "--test", "life"]),
    tested: &["platform", "notation", "journal", "words"],
    skipped: &[],
    trials: &[
        ("league", events::league),
        ("kills", events::kills),
        ("operator", events::operator),
        ("habits", events::habits),
        ("hosted", network::hosted),
        ("service", events::service),
    ],
};

pub const ARM: System = System {
    name: "ARM",
    target: &target::ARM,
    enter: CrossRoot::arm,
    tests: ("cargo-zigbuild", &["test", "--no-fail-fast", "--tests"]),
    tested: &["platform", "rating", "referee", "notation", "plan", "journal", "words"],
    // The emulator knows too few options of sockets.
    skipped: &["--", "--skip", "network::tests::a_connection_takes_its_limits_and_hands_out_its_bytes"],
    trials: &[("league", events::league)],
};

/// Builds, runs the libraries' tests, and takes every trial, or the one that is named. Without a cross root nothing is done.
///
/// # Errors
/// When a directory or a process cannot be made.
pub fn run(system: &System, flags: &Flags) -> Result<ExitCode> {
    let root = match CrossRoot::open() {
        Ok(root) => root,
        Err(why) => {
            println!("left out: {}: {why:#}", system.name);
            return Ok(ExitCode::SUCCESS);
        }
    };
    let only = flags.text("--only");
    let is_known = |only| only == "tests" || system.trials.iter().any(|(name, _)| *name == only);
    ensure!(only.is_none_or(is_known), "no such trial: `{}`", only.unwrap_or_default());
    let taken = take_all(system, &root, only, !flags.has("--no-build"))?;
    print!("{}", summary(&taken));
    Ok(verdict(&taken))
}

/// The build, the libraries' tests and the trials; only the one that is named, if one is.
///
/// # Errors
/// When a directory or a process cannot be made.
pub fn take_all(system: &System, root: &CrossRoot, only: Option<&str>, builds: bool) -> Result<Vec<Done>> {
    let take = |name, trial: &dyn Fn() -> Result<String>| attempt(system.name, name, trial);
    let mut taken = vec![];
    if builds {
        taken.push(take("build", &|| build(system, root)));
    }
    if only.is_none_or(|only| only == "tests") {
        taken.push(take("tests", &|| tests(system, root)));
    }
    if taken.iter().all(|done| done.passed) {
        let place = Place::new(system, root)?;
        let wanted = system.trials.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
        taken.extend(wanted.map(|(name, trial)| take(name, &|| trial(&place))));
    }
    Ok(taken)
}

fn build(system: &System, root: &CrossRoot) -> Result<String> {
    root.fetch()?;
    system.target.compile(root, "dev")?;
    Ok(system.target.name.to_owned())
}

fn tests(system: &System, root: &CrossRoot) -> Result<String> {
    let (program, words) = system.tests;
    let mut test = system.target.cargo((system.enter)(root, program), words);
    test.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    test.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", target::WINDOWS.runner);
    test.args(system.tested.iter().flat_map(|name| ["--package", name])).args(system.skipped);
    ensure!(workspace::run(&mut test)?.success(), "unit tests failed on {}", system.name);
    Ok(format!("unit tests of {} libraries", system.tested.len()))
}
