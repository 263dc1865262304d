//! Checks the dependencies against `.deny.toml`: licences, sources, bans, and known vulnerabilities if their database
//! can be fetched.

use crate::suite::has_subcommand;
use anyhow::Result;
use std::process::{Command, ExitCode, Stdio};
use xtask::workspace::{cargo, run as run_command};

/// Checks that work offline once the dependencies are fetched.
const OFFLINE: [&str; 3] = ["licenses", "bans", "sources"];

/// Runs cargo-deny; if it is missing, prints how to install it.
pub fn run() -> Result<ExitCode> {
    if !has_subcommand("deny") {
        eprintln!("not checked: cargo-deny is not installed (`cargo install cargo-deny --locked`)");
        return Ok(ExitCode::SUCCESS);
    }
    let kept = run_command(&mut check(&OFFLINE))?.success();
    let safe = if fetches_advisories()? {
        run_command(&mut check(&["advisories"]))?.success()
    } else {
        eprintln!("not checked: advisories, because their database cannot be reached");
        true
    };
    Ok(if kept && safe { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// True if the database of advisories can be fetched.
fn fetches_advisories() -> Result<bool> {
    let mut fetch = deny();
    fetch.args(["fetch", "db"]).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(run_command(&mut fetch)?.success())
}

fn check(checks: &[&str]) -> Command {
    let mut command = deny();
    command.arg("check").args(checks);
    command
}

/// cargo-deny for the whole workspace; its default members leave out the engine that needs libtorch.
fn deny() -> Command {
    cargo(["deny", "--workspace", "--locked", "--config", ".deny.toml"])
}
