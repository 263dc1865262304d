//! `renmei man`: the manual pages, for packages.

use super::{Exit, Failure};
use crate::cli;
use clap::Args;
use std::{
    io,
    path::{Path, PathBuf},
};

#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// The directory; it is made if it is missing.
    pub directory: PathBuf,
}

/// Writes a manual page of each command into a directory.
pub fn manual(args: &ManArgs) -> Result<Exit, Failure> {
    std::fs::create_dir_all(&args.directory)
        .and_then(|()| write(&mut cli::command(), &args.directory))
        .map_err(|e| Failure::Other(format!("`{}` cannot be written: {e}", args.directory.display())))?;
    Ok(Exit::Done)
}

fn write(command: &mut clap::Command, directory: &Path) -> io::Result<()> {
    // Pages of commands carry the version, and are named as in `renmei-run`.
    command.build();
    clap_mangen::generate_to(command.clone(), directory)
}
