//! From a bare machine to a first league; only what the league needs is compiled before it.

use crate::libtorch::{self, Wish};
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

/// CPU seconds of a release build of the manager and its two engines, from scratch.
const BUILD_SECONDS: u64 = 360;
/// CPU seconds of a release build of renmei-deep and its dependencies.
const DEEP_SECONDS: u64 = 240;

/// Installs engines, builds, plays the league, then builds renmei-deep on the half of libtorch that is wished for. The
/// exit code is the league's.
///
/// # Errors
/// When the build fails or the league cannot be started.
pub fn run(wish: Wish) -> Result<ExitCode> {
    let begun = Instant::now();
    step(1, "installing engines from Debian packages, where permitted");
    engines::install_missing();
    step(2, &format!("compiling the manager and two engines: {}", estimate(BUILD_SECONDS)));
    workspace::build_first()?;
    step(3, "playing configs/quickstart.toml: one to two minutes; standings follow at the end");
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
        "the games as a web page: {} report configs/quickstart.db --html quickstart.html",
        renmei.display()
    );
    let time = estimate(DEEP_SECONDS);
    step(4, &format!("fetching libtorch if it is missing, compiling renmei-deep: {time}"));
    eprintln!("everything else is ready; Ctrl-C skips this step");
    build_deep(wish);
    Ok(ExitCode::SUCCESS)
}

fn build_deep(wish: Wish) {
    if !libtorch::fetch_missing(wish) {
        return;
    }
    match workspace::build_deep() {
        Ok(()) => eprintln!("renmei-deep is built: {} run configs/deep.toml", release("renmei").display()),
        Err(fault) => eprintln!(
            "continuing without renmei-deep: {fault}; your own libtorch (LIBTORCH) must be version 2.11"
        ),
    }
}

fn step(number: u32, what: &str) {
    eprintln!("\n[{number}/4] {what}");
}

/// Estimated build time on this machine; compilers rarely keep more than four cores busy.
fn estimate(seconds: u64) -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let minutes = seconds.div_ceil(60 * (cores.min(4) as u64));
    format!("about {minutes} min on {cores} cores, the first time")
}
