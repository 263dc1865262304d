//! From a bare machine to a first league. Only what the league needs is compiled before it, and only what thinks is
//! optimized; the programs for daily use are built afterwards.

use crate::libtorch::{self, Wish};
use anyhow::Result;
use std::{
    process::{Command, ExitCode},
    thread,
    time::Instant,
};
use xtask::{
    engines,
    workspace::{self, DEEP, first, release, root},
};

/// Processor seconds of the first build.
const FIRST_SECONDS: u64 = 480;
/// Processor seconds of a release build of the manager with every feature and its engines.
const MANAGER_SECONDS: u64 = 1700;
/// Processor seconds of a release build of renmei-deep and its dependencies.
const DEEP_SECONDS: u64 = 520;

/// Installs engines, builds, plays the league, then builds the programs for daily use and renmei-deep on the half of
/// libtorch that is wished for. The exit code is the league's.
pub fn run(wish: Wish) -> Result<ExitCode> {
    let begun = Instant::now();
    step(1, "installing engines from Debian packages, where permitted");
    engines::install_missing();
    step(2, &format!("compiling the manager and two engines: {}", estimate(FIRST_SECONDS)));
    // Without optional features, and with a profile of its own.
    workspace::build(&["--profile", "first", "--package", "renmei", "--bins", "--no-default-features"])?;
    step(3, "playing configs/quickstart.toml: one to two minutes; standings follow at the end");
    let mut league = Command::new(first("renmei"));
    league.args(["run", "configs/quickstart.toml"]).current_dir(root());
    let status = workspace::run(&mut league)?;
    if !status.success() {
        return Ok(status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .map_or(ExitCode::FAILURE, ExitCode::from));
    }
    eprintln!("\nstandings after {} s", begun.elapsed().as_secs());
    let page = "report configs/quickstart.db --html quickstart.html";
    eprintln!("the games as a web page: {} {page}", first("renmei").display());
    build_for_daily_use(wish);
    Ok(ExitCode::SUCCESS)
}

/// Builds what the first league did without. A failure leaves the first league's programs as they are.
fn build_for_daily_use(wish: Wish) {
    step(4, &format!("compiling renmei for daily use, optimized and whole: {}", estimate(MANAGER_SECONDS)));
    eprintln!("the league is over; Ctrl-C skips what follows");
    match workspace::build(&workspace::MANAGER) {
        Ok(()) => eprintln!("ready: {}", release("renmei").display()),
        Err(fault) => eprintln!("continuing with the programs of the first league: {fault}"),
    }
    let time = estimate(DEEP_SECONDS);
    step(5, &format!("fetching libtorch if it is missing, compiling renmei-deep: {time}"));
    build_deep(wish);
}

fn build_deep(wish: Wish) {
    if !libtorch::fetch_missing(wish) {
        return;
    }
    match workspace::build(&["--release", "--package", DEEP]) {
        Ok(()) => eprintln!("renmei-deep is built: {} run configs/deep.toml", release("renmei").display()),
        Err(fault) => eprintln!(
            "continuing without renmei-deep: {fault}; your own libtorch (LIBTORCH) must be version 2.11"
        ),
    }
}

fn step(number: u32, what: &str) {
    eprintln!("\n[{number}/5] {what}");
}

/// Estimated build time on this machine; compilers rarely keep more than four cores busy.
fn estimate(seconds: u64) -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let minutes = seconds.div_ceil(60 * (cores.min(4) as u64));
    format!("about {minutes} min on {cores} cores, the first time")
}
