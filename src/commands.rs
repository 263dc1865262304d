//! The commands: each takes its arguments, does its work and returns an exit code.

mod account;
mod ad_hoc;
mod admin;
mod attribute;
mod bisect;
mod calculator;
mod descriptors;
mod disk;
mod floodgate;
mod init;
mod laboratory;
mod log;
#[cfg_attr(not(feature = "machines"), path = "commands/no_machines.rs")]
pub mod machines;
mod operator_door;
mod ordered_lines;
mod other_build;
mod pages;
mod play;
mod prune;
mod queue;
mod report;
mod serve;
mod systemd;
mod tune;
mod tuning;
mod verify;

pub use account::account;
pub use ad_hoc::ad_hoc;
pub use admin::admin;
pub use attribute::attribute;
pub use bisect::bisect;
pub use calculator::sprt;
pub use floodgate::floodgate;
pub use init::init;
pub use laboratory::{cache, test};
pub use log::log;
pub use machines::worker;
pub use pages::web;
pub use play::{OpenScreen, Screen, Showing, run};
pub use prune::prune;
pub use queue::queue;
pub use report::report;
pub use serve::serve;
pub use systemd::systemd;
pub use tune::tune;
pub use verify::verify;

use crate::cli::{self, CheckArgs, ExportArgs, ImportArgs};
use ::laboratory::{LabError, NotBuilt};
use ::report::Report;
use arena::dispatcher::RunError;
use check::{CheckError, Row};
use journal::{EventSummary, StoreError};
use notation::printable_json;
use plan::Faults;
use records::{self, RecordsError};
use serde::Serialize;
use std::{
    io::{self, IsTerminal},
    process::ExitCode,
};

/// How a command exits; see [`crate::cli::EXIT_CODES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// The request failed.
    Failed,
    /// Wrong command line or configuration.
    Wrong,
    /// Stopped before its end.
    Stopped,
    /// Not played to its end, because engines are halted by their faults.
    Halted,
    /// A worker that the manager does not want.
    Refused,
    /// SPRT accepted H1.
    H1,
    /// SPRT accepted H0.
    H0,
    /// SPRT without a verdict, because faults decided.
    ByFaults,
    /// Faults were found.
    Faults,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Wrong => 2,
            Exit::Stopped => 3,
            Exit::Halted => 4,
            Exit::Refused => 5,
            Exit::H1 => 10,
            Exit::H0 => 11,
            Exit::ByFaults => 12,
            Exit::Faults => 20,
        })
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration is wrong.
    #[error("the configuration is wrong:\n{0}")]
    Config(Faults),
    /// The arguments are wrong.
    #[error("{0}")]
    Usage(String),
    /// The event could not be played.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A database error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A fault in the handling of records.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// Engines that could not be built.
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    /// A repository that could not be read.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Any other failure.
    #[error("{0}")]
    Other(String),
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::NotBuilt(NotBuilt(faults)) => {
                let exits: Vec<_> = faults.iter().map(|(_, _, fault)| exit_of(fault)).collect();
                let or = |exit: Self| exits.contains(&exit).then_some(exit);
                or(Self::Stopped).or(or(Self::Failed)).unwrap_or(Self::Wrong)
            }
            Failure::Lab(fault) => exit_of(fault),
            Failure::Config(_)
            | Failure::Usage(_)
            | Failure::Run(
                RunError::Changed { .. }
                | RunError::Replaced { .. }
                | RunError::Size { .. }
                | RunError::Engines(_),
            ) => Self::Wrong,
            _ => Self::Failed,
        }
    }
}

fn exit_of(fault: &LabError) -> Exit {
    match fault {
        LabError::Interrupted => Exit::Stopped,
        LabError::Io { .. } => Exit::Failed,
        LabError::Git { .. }
        | LabError::NoGit(_)
        | LabError::Build { .. }
        | LabError::NoPlace
        | LabError::History(_) => Exit::Wrong,
    }
}

/// Prints a completion script.
///
/// # Errors
/// Never.
pub fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    clap_complete::generate(shell, &mut cli::command(), "renmei", &mut io::stdout());
    Ok(Exit::Done)
}

/// Finds an event by name; without a name, the last one.
///
/// # Errors
/// When there is no such event.
pub fn find_event<'a>(events: &'a [EventSummary], name: Option<&str>) -> Result<&'a EventSummary, Failure> {
    let found = match name {
        Some(name) => events.iter().find(|event| event.name == name),
        None => events.last(),
    };
    found.ok_or_else(|| match name {
        Some(name) => {
            let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
            Failure::Usage(format!(
                "there is no event `{name}` in this database; it has: {}",
                names.join(", ")
            ))
        }
        None => Failure::Usage("this database has no event yet".to_owned()),
    })
}

fn print(report: &Report, json: bool) {
    match (json, serde_json::to_string_pretty(report)) {
        (true, Ok(text)) => out_line!("{}", printable_json(&text)),
        (true, Err(error)) => err_line!("the report cannot be written as JSON: {error}"),
        (false, _) => out!("{report}"),
    }
}

/// Checks an engine before an event.
///
/// # Errors
/// When the engine cannot be started or the arguments are invalid.
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
///
/// # Errors
/// When the games do not exist or the output cannot be written.
pub fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let report = records::export(&args.into())?;
    report.left_out.iter().for_each(|left| err_line!("{left}"));
    err_line!("{report}");
    Ok(Exit::Done)
}

/// Imports records into a database, and verifies them if requested.
///
/// # Errors
/// When the database cannot be written.
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

fn pretty(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::Other(e.to_string()))?;
    Ok(printable_json(&text).into_owned())
}
