//! `renmei worker`: a machine that plays games of an event.

use super::{Exit, Failure, values::at_least_one};
use arena::Shutdown;
use clap::{Args, ValueEnum};
use event::{aloud, listen};
use machines::MachineError;
use machines::hub::{HubError, Token};
use machines::work::{Ended, REMEMBERED, WorkerOptions, work};
use platform::files;
use std::{
    env,
    io::{self, BufRead},
    path::{Path, PathBuf},
};

#[derive(Clone, Debug, Args)]
pub struct WorkerArgs {
    /// The line that the manager prints: nats+tls://HOST:PORT#TOKEN. It is a secret, and what is typed here is seen by everybody on this machine;
    /// without it RENMEI_JOIN is read, or else what this worker joined last.
    pub line: Option<Token>,
    /// A file that holds the line; `-`: standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "line")]
    pub join_file: Option<PathBuf>,
    /// Name of this machine in the event [default: the name of the host].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Pairs of games at once [default: as many as the cores carry].
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub slots: Option<usize>,
    /// The directory for the key of this machine, for answers that the manager has not taken yet, and for engines that it
    /// was sent [default: `renmei/worker-NAME` in the directory for the state of programs].
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Play even if the engines need more cores than the machine has.
    #[arg(long)]
    pub oversubscribe: bool,
    /// `strict`: play only in events that have every engine in a strict sandbox, with nothing on this machine to write to.
    #[arg(long, value_name = "KIND")]
    pub sandbox: Option<SandboxArg>,
}

/// What a worker insists on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SandboxArg {
    /// Whatever the event has.
    Default,
    /// A strict sandbox.
    Strict,
}

/// Version of what a manager and its workers speak.
pub const PROTOCOL: Option<u32> = Some(machines::messages::PROTOCOL);
/// The variable for the line to join with.
const VARIABLE: &str = "RENMEI_JOIN";
/// Longest line to join with, in bytes.
const LONGEST: u64 = 4096;

/// Plays games of an event that another machine manages.
pub fn worker(args: &WorkerArgs) -> Result<Exit, Failure> {
    let shutdown = Shutdown::default();
    let name = args.name.clone().unwrap_or_else(host_name);
    let state = match &args.state {
        Some(state) => state.clone(),
        None => state_directory()?.join(format!("worker-{}", notation::file_name(&name))),
    };
    let token = line(args, &state)?;
    let options = WorkerOptions {
        name,
        slots: args.slots,
        state,
        oversubscribe: args.oversubscribe,
        strict: args.sandbox == Some(SandboxArg::Strict),
        session: machines::new_session(),
    };
    listen(&shutdown)?;
    ended(work(&token, &options, &shutdown, &aloud()))
}

/// How a worker ended, as an exit code.
fn ended(ended: Result<Ended, MachineError>) -> Result<Exit, Failure> {
    match ended {
        Ok(Ended::Over) => Ok(Exit::Done),
        Ok(Ended::Stopped) => Ok(Exit::Stopped),
        Ok(Ended::Refused(why)) => {
            err_line!("renmei: {why}");
            Ok(Exit::Refused)
        }
        Err(why) => Err(Failure::Other(why.to_string())),
    }
}

/// The line to join with: as it was typed, from a file, from the environment, or the one that was joined last.
fn line(args: &WorkerArgs, state: &Path) -> Result<Token, Failure> {
    if let Some(line) = &args.line {
        return Ok(line.clone());
    }
    let remembered = state.join(REMEMBERED);
    let (place, text) = match (&args.join_file, env::var(VARIABLE)) {
        (Some(file), _) if file.as_os_str() == "-" => ("standard input".to_owned(), read_line(io::stdin())),
        (Some(file), _) => (format!("`{}`", file.display()), files::typed(file).and_then(read_line)),
        (None, Ok(line)) => (VARIABLE.to_owned(), Ok(line)),
        (None, Err(_)) if !remembered.exists() => {
            return Err(Failure::Usage(format!(
                "say what to join, as the manager prints it: in `--join-file FILE` (`-`: standard input), in {VARIABLE}, or \
                 as an argument; `{}` knows of no event yet",
                state.display()
            )));
        }
        (None, Err(_)) => {
            (format!("`{}`", remembered.display()), files::regular(&remembered).and_then(read_line))
        }
    };
    let text = text.map_err(|why| Failure::Usage(format!("{place}: {why}")))?;
    text.trim().parse().map_err(|why| Failure::Usage(format!("{place}: {why}")))
}

/// The first line of a file, of which more than a line of ours is not read.
fn read_line(file: impl io::Read) -> io::Result<String> {
    let mut line = String::new();
    io::BufReader::new(file.take(LONGEST)).read_line(&mut line)?;
    Ok(line)
}

/// Whether a text begins with a line to join with.
pub(super) fn check_line(text: &str) -> Result<(), HubError> {
    let line = text.lines().next().unwrap_or_default();
    line.trim().parse::<Token>().map(drop)
}

/// The name of the host in the letters that the name of a machine may have.
fn host_name() -> String {
    let name = platform::usage::host_name().unwrap_or_default();
    let plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let name: String = name.trim().trim_start_matches(['.', '-']).chars().filter(plain).take(32).collect();
    if name.is_empty() { "machine".to_owned() } else { name }
}

/// The directory for the state of programs (XDG Base Directory Specification).
fn state_directory() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    // Windows has neither.
    let state = state.or_else(|| absolute("LOCALAPPDATA"));
    state.map(|state| state.join("renmei")).ok_or_else(|| {
        Failure::Usage(
            "neither XDG_STATE_HOME nor HOME is set: say where answers are kept with `--state DIR`"
                .to_owned(),
        )
    })
}
