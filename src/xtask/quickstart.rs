//! From a bare machine to a first league: only what the league needs is compiled before it.

use crate::libtorch;
use anyhow::Result;
use std::{
    process::{Command, ExitCode},
    thread,
    time::Instant,
};
use xtask::{
    engines,
    workspace::{self, release, root},
};

/// Processor seconds of a release build of the manager and its two engines, from nothing.
const BUILD_SECONDS: u64 = 360;
/// The same of renmei-deep and of what it is linked with.
const DEEP_SECONDS: u64 = 240;

/// Installs, builds, plays; then builds the engine with a network. The exit code is the league's.
///
/// # Errors
/// When the build fails or the league cannot be started.
pub fn run() -> Result<ExitCode> {
    let begun = Instant::now();
    step(1, "installing the engines that Debian has, where that is allowed");
    engines::install_missing();
    step(2, &format!("compiling the manager and two engines: {}", estimate(BUILD_SECONDS)));
    workspace::build_first()?;
    step(3, "playing configs/quickstart.toml: one to two minutes; the standings come at its end");
    let mut league = Command::new(release("renmei"));
    league.args(["run", "configs/quickstart.toml"]).current_dir(root());
    let status = workspace::run(&mut league)?;
    if !status.success() {
        return Ok(status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .map_or(ExitCode::FAILURE, ExitCode::from));
    }
    eprintln!("\nstandings after {} s", begun.elapsed().as_secs());
    let renmei = release("renmei");
    eprintln!(
        "the games on a page: {} report configs/quickstart.db --html quickstart.html",
        renmei.display()
    );
    let time = estimate(DEEP_SECONDS);
    step(
        4,
        &format!(
            "fetching libtorch (540 MB) if it is not there, compiling the engine with a network: {time}"
        ),
    );
    eprintln!("everything else is ready: Ctrl-C leaves this out");
    build_deep();
    Ok(ExitCode::SUCCESS)
}

fn build_deep() {
    if !libtorch::fetch_missing() {
        return;
    }
    match workspace::build_deep() {
        Ok(()) => eprintln!("renmei-deep is built: {} run configs/deep.toml", release("renmei").display()),
        Err(fault) => eprintln!(
            "going on without renmei-deep: {fault}; a libtorch of your own (LIBTORCH) has to be version 2.11"
        ),
    }
}

fn step(number: u32, what: &str) {
    eprintln!("\n[{number}/4] {what}");
}

/// About how long so many processor seconds are on this machine; compilers keep four cores busy, seldom more.
fn estimate(seconds: u64) -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let minutes = seconds.div_ceil(60 * (cores.min(4) as u64));
    format!("some {minutes} min on {cores} cores, the first time")
}
