//! From a bare machine to a first league.

use crate::{engines, libtorch, workspace};
use anyhow::Result;
use std::process::{Command, ExitCode};

/// Installs, builds, plays; the exit code is the league's.
///
/// # Errors
/// When the build fails or the league cannot be started.
pub fn run() -> Result<ExitCode> {
    engines::install_missing();
    workspace::build_release(false)?;
    if libtorch::fetch_missing()
        && let Err(fault) = workspace::build_deep()
    {
        eprintln!(
            "going on without renmei-deep: {fault}; a libtorch of your own (LIBTORCH) has to be version 2.11"
        );
    }
    let mut league = Command::new(workspace::release("renmei"));
    league.args(["run", "configs/quickstart.toml"]).current_dir(workspace::root());
    let status = workspace::run(&mut league)?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
