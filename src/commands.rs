//! The commands: each takes its arguments, does its work and returns an exit code.

mod account;
mod ad_hoc;
mod admin;
mod analyze;
mod attribute;
mod bisect;
mod calculator;
mod descriptors;
mod explain;
mod floodgate;
mod hall;
mod init;
mod laboratory;
mod ledger;
mod log;
#[cfg_attr(not(feature = "machines"), path = "commands/no_machines.rs")]
pub mod machines;
mod manual;
mod pack;
mod pages;
mod play;
mod prospect;
mod prune;
mod queue;
mod report;
mod rerun;
mod serve;
mod service;
mod suite;
mod systemd;
mod tune;
mod verify;
mod version;

pub use account::account;
pub use ad_hoc::ad_hoc;
pub use admin::admin;
pub use analyze::analyze;
pub use attribute::attribute;
pub use bisect::bisect;
pub use calculator::sprt;
pub use event::{Exit, Failure, OpenScreen, find_event, pretty};
pub use explain::explain;
pub use floodgate::floodgate;
pub use hall::hall;
pub use init::init;
pub use laboratory::{cache, test};
pub use ledger::ledger;
pub use log::log;
pub use machines::worker;
pub use manual::manual;
pub use pack::pack;
pub use pages::web;
pub use play::run;
pub use prune::prune;
pub use queue::queue;
pub use report::report;
pub use rerun::rerun;
pub use serve::serve;
pub use service::service;
pub use suite::suite;
pub use systemd::systemd;
pub use tune::tune;
pub use verify::verify;
pub use version::version;

use crate::cli::{self, CheckArgs, DoctorArgs, ExportArgs, ImportArgs};
use check::{CheckError, Row};
use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

/// The database of a command: the one that is named, else the only one in the current directory, or the newest of several.
pub(crate) fn database(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let found = journal::databases_in(Path::new("."));
    let newest = found.first().ok_or_else(|| {
        Failure::Usage(
            "this directory has no database (*.db); name one, as in `renmei report league.db`".to_owned(),
        )
    })?;
    if found.len() > 1 {
        err_line!(
            "`{}`, the newest of {} databases here; name another one to see it",
            newest.display(),
            found.len()
        );
    }
    Ok(newest.clone())
}

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    clap_complete::generate(shell, &mut cli::command(), "renmei", &mut io::stdout());
    Ok(Exit::Done)
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

/// Checks an engine before an event.
pub fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let progress: fn(&Row) = if args.json { |row| err_line!("{}", row.line()) } else { shown };
    let report = ::check::check(&args.into(), progress).map_err(|error| match error {
        CheckError::Start { .. } | CheckError::Runtime(_) => Failure::Other(error.to_string()),
        _ => Failure::Usage(error.to_string()),
    })?;
    match args.json {
        false => out!("{report}"),
        true => out_line!("{}", pretty(&report)?),
    }
    Ok(if report.passed() { Exit::Done } else { Exit::Faults })
}

/// Prints a row as it is found; where stdout is no terminal, a line on the terminal tells how far the check is.
fn shown(row: &Row) {
    out_line!("{row}");
    if !io::stdout().is_terminal() && io::stderr().is_terminal() {
        err_line!("{}", row.line());
    }
}

/// Exports games as records.
pub fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let report = records::export(&args.into())?;
    report.left_out.iter().for_each(|left| err_line!("{left}"));
    err_line!("{report}");
    Ok(Exit::Done)
}

/// Imports records into a database, and verifies them if requested.
pub fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let report = records::import(&args.into())?;
    match args.json {
        false => out!("{report}"),
        true => out_line!("{}", pretty(&report)?),
    }
    Ok(match report.exit_code() {
        0 => Exit::Done,
        20 => Exit::Faults,
        _ => Exit::Failed,
    })
}
