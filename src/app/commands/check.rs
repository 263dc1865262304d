//! `renmei check`: what would go wrong with an engine in an event.

use super::{Exit, Failure, doctor::shown, pretty, values::one_of};
use ::check::{CheckError, GoForm, Row};
use clap::Args;
use std::path::PathBuf;

/// Forms of `go` that `check` can leave out.
const GO_FORMS: [(&str, GoForm, &str); 5] = [
    ("nodes", GoForm::Nodes, "`go nodes`"),
    ("depth", GoForm::Depth, "`go depth`"),
    ("movetime", GoForm::Movetime, "`go movetime`"),
    ("increment", GoForm::Increment, "`go` with `binc` and `winc`"),
    ("ponder", GoForm::Ponder, "`go ponder`"),
];

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Options of `check` stand before the engine's command; what follows the command goes to the engine.

Examples:
  renmei check fairy-stockfish
  renmei check --option LimitDepth=4 gpsusi --num-cpus 1")]
pub struct CheckArgs {
    /// The engine's program.
    pub command: PathBuf,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
    /// Set an option before the checks: NAME=VALUE.
    #[arg(long, value_name = "NAME=VALUE")]
    pub option: Vec<String>,
    /// Another machine that the engine is started on, as `ssh` takes it; its program and directory are paths there.
    #[arg(long, value_name = "HOST", conflicts_with = "sandbox")]
    pub host: Option<String>,
    /// The program `ssh` for --host, with options that stand before the host.
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "host")]
    pub ssh_command: String,
    /// Directory that the engine runs in; by default its own if its program is given as a path.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// File of positions to ask for moves in (SFEN lines); by default the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub positions: Option<PathBuf>,
    /// A form of `go` to leave out because the engine does not support it. May be repeated.
    #[arg(long, value_parser = one_of(&GO_FORMS), value_name = "FORM")]
    pub skip: Vec<GoForm>,
    /// Time limit of `isready`.
    #[arg(long, default_value = "120s", value_name = "TIME")]
    pub ready: String,
    /// Examine it in a strict sandbox, as with `sandbox = "strict"`.
    #[arg(long)]
    pub sandbox: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

impl From<&CheckArgs> for ::check::Request {
    fn from(from: &CheckArgs) -> Self {
        let CheckArgs { command, args, host, dir, option, positions, skip, ready, .. } = from.clone();
        let ssh_command = from.ssh_command.split_whitespace().map(str::to_owned).collect();
        let sandbox = if from.sandbox { plan::Sandbox::Strict } else { plan::Sandbox::Default };
        Self { command, args, host, ssh_command, dir, option, positions, skip, ready, sandbox }
    }
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
