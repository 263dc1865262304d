//! `renmei doctor`: what this machine has and lacks for events.

use super::{Exit, Failure, pretty};
use ::check::Row;
use clap::Args;
use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// The directory of an event's configuration, where its database is written.
    #[arg(default_value = ".")]
    pub directory: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Checks this machine before an event.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    let progress: fn(&Row) = if args.json { |_| () } else { shown };
    let report = ::check::machine(&args.directory, progress);
    if args.json {
        out_line!("{}", pretty(&report)?);
    }
    Ok(if report.passed { Exit::Done } else { Exit::Faults })
}

/// Prints a row as it is found; where stdout is no terminal, stderr shows the progress.
pub(super) fn shown(row: &Row) {
    out_line!("{row}");
    if !io::stdout().is_terminal() && io::stderr().is_terminal() {
        err_line!("{}", row.line());
    }
}
