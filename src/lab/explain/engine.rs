//! Engines by their command line.

use plan::{EnginePlan, Environment, NoProgram, Sandbox, SeatLimits};
use platform::content::{hex, sha256_of_file};
use seat::sandbox::{self, SandboxError};
use sha2::{Digest, Sha256};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Digits of a digest that are kept.
const DIGITS: usize = 16;

/// An engine cannot be named so.
#[derive(Debug, thiserror::Error)]
pub enum EngineFault {
    /// No command.
    #[error("the command line of the engine is empty")]
    Empty,
    /// The command names no program.
    #[error(transparent)]
    NoProgram(#[from] NoProgram),
    /// The directory is none that programs can be searched from.
    #[error("programs cannot be searched: {0}")]
    Directory(#[from] io::Error),
    /// An option without a value.
    #[error("option `{0}` is not NAME=VALUE")]
    Option(String),
}

/// The engine of a command line: a program and its arguments, separated by blanks. A path with blanks is taken whole if
/// there is such a file. A bare name is searched where events search it.
///
/// # Errors
/// When there is no such program, or an option is not `NAME=VALUE`.
pub fn engine(command: &str, options: &[String]) -> Result<EnginePlan, EngineFault> {
    let (program, args) = words(command)?;
    let file = Environment::here(Path::new(""))?.program(program)?;
    let options = options.iter().map(|text| option(text)).collect::<Result<_, _>>()?;
    let directory = plan::is_path(program).then(|| file.parent().map(Path::to_path_buf)).flatten();
    Ok(EnginePlan {
        name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        command: file,
        args,
        directory,
        directory_by_default: true,
        options,
        cores: 1.0,
        ..EnginePlan::default()
    })
}

/// The engine of a command line as it is started on another host: its program as it was typed, where a relative path begins
/// in the home directory of the user there. `ssh_command` is the program `ssh` with options that stand before the host.
///
/// # Errors
/// Those of [`engine`], whose program is here as well.
pub fn engine_on(
    host: &str,
    ssh_command: &[String],
    command: &str,
    options: &[String],
) -> Result<EnginePlan, EngineFault> {
    let here = engine(command, options)?;
    let program = plan::far_path(words(command)?.0);
    let directory = program.parent().map(Path::to_path_buf).filter(|path| !path.as_os_str().is_empty());
    let (host, ssh_command) = (Some(host.to_owned()), ssh_command.to_vec());
    Ok(EnginePlan { command: program, directory, host, ssh_command, ..here })
}

/// The program and the arguments of a command line.
fn words(command: &str) -> Result<(&str, Vec<String>), EngineFault> {
    let whole = command.trim();
    if Path::new(whole).is_file() {
        return Ok((whole, vec![]));
    }
    let mut words = whole.split_whitespace();
    Ok((words.next().ok_or(EngineFault::Empty)?, words.map(str::to_owned).collect()))
}

fn option(text: &str) -> Result<(String, String), EngineFault> {
    let (name, value) = text.split_once('=').ok_or_else(|| EngineFault::Option(text.to_owned()))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Why an engine of a stored plan is not started again.
#[derive(Debug, thiserror::Error)]
pub enum NotStarted {
    /// A player of the network.
    #[error("it played over the network")]
    Remote,
    /// A record of somebody else.
    #[error("the event has no program of it")]
    NoProgram,
    /// An engine of another machine.
    #[error("it played on the host `{0}`")]
    Host(String),
    /// Its program is not here.
    #[error("its program `{}` cannot be read: {source}", program.display())]
    Unreadable {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Its program is another one.
    #[error("its program `{}` has changed since", .0.display())]
    Changed(PathBuf),
    /// The contents of its program were not stored.
    #[error("the database does not have the contents of its program")]
    Unknown,
    /// It would not be kept from anything.
    #[error("there is no strict sandbox here ({0}); --trust runs it as the event did")]
    NoSandbox(#[from] SandboxError),
}

/// The engine of a stored plan, with its digest, to be started again: only if its program still has the contents on record,
/// `hash`, as SHA-256 in hexadecimal digits. Unless the database is to be trusted it runs in the strict sandbox, without
/// environment variables, time limits and writable files of the plan.
///
/// # Errors
/// Why it is not started.
pub fn of_record(
    mut engine: EnginePlan,
    hash: Option<&str>,
    is_trusted: bool,
) -> Result<(Arc<EnginePlan>, String), NotStarted> {
    if engine.remote {
        return Err(NotStarted::Remote);
    }
    if let Some(host) = &engine.host {
        return Err(NotStarted::Host(host.clone()));
    }
    let program = engine.command.clone();
    let unreadable = |source| NotStarted::Unreadable { program: program.clone(), source };
    let now = sha256_of_file(&program).map_err(unreadable)?;
    match hash {
        Some(hash) if hash == now => {}
        Some(_) => return Err(NotStarted::Changed(program)),
        None => return Err(NotStarted::Unknown),
    }
    if !is_trusted {
        sandbox::available()?;
        engine.environment.clear();
        engine.limits = SeatLimits::default();
        (engine.sandbox.kind, engine.sandbox.write) = (Sandbox::Strict, vec![]);
    }
    let digest = digest(&engine).map_err(unreadable)?;
    Ok((Arc::new(engine), digest))
}

/// A digest of what an engine is: the contents of its program, its arguments and its options. Files that these name are
/// not read.
///
/// # Errors
/// When the program cannot be read.
pub fn digest(engine: &EnginePlan) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(sha256_of_file(&engine.command)?);
    for word in engine.args.iter().chain(engine.options.iter().flat_map(|(name, value)| [name, value])) {
        hash.update((word.len() as u64).to_le_bytes());
        hash.update(word);
    }
    Ok(hex(&hash.finalize()).chars().take(DIGITS).collect())
}
