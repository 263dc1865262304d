//! Settings of an examination, from its arguments.

use super::{
    CheckError, GoForm,
    positions::{self, Spot},
};
use plan::{EnginePlan, Environment, Sandbox, SandboxPlan, SeatLimits, time_text};
use platform::files;
use referee::clock::TimeControl;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Arguments of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The engine's program.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// The host that it is started on, as `ssh` takes it; `None`: this machine.
    pub host: Option<String>,
    /// The program `ssh` with its options; empty: `ssh`.
    pub ssh_command: Vec<String>,
    /// The directory it runs in; `None`: its own if `command` is a path, else that of this program.
    pub dir: Option<PathBuf>,
    /// Options to set before the checks, as `NAME=VALUE`.
    pub option: Vec<String>,
    /// A file of positions (SFEN lines); `None`: the built-in ones.
    pub positions: Option<PathBuf>,
    /// Forms of `go` to leave out.
    pub skip: Vec<GoForm>,
    /// Time limit of `isready`, such as `120s`.
    pub ready: String,
    /// The sandbox to examine it in.
    pub sandbox: Sandbox,
}

impl Request {
    /// A check of a program with default settings.
    pub fn new(command: impl Into<PathBuf>) -> Self {
        Self { command: command.into(), ready: "120s".to_owned(), ..Self::default() }
    }
}

/// Checked arguments.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The engine and its time limits.
    pub plan: EnginePlan,
    /// Positions to ask for moves in.
    pub spots: Vec<Spot>,
    /// Forms of `go` to leave out.
    pub skip: Vec<GoForm>,
}

impl Settings {
    /// Reads the arguments and the files that they name.
    pub fn of(args: &Request) -> Result<Self, CheckError> {
        if args.command.extension().is_some_and(|kind| kind == "toml") && args.command.is_file() {
            return Err(CheckError::Configuration(args.command.clone()));
        }
        let ready = time_text::duration(&args.ready)?;
        if let Some(host) = &args.host {
            plan::check_hosts(std::slice::from_ref(host))?;
        }
        let command = match args.host {
            Some(_) => args.command.clone(),
            None => program(&args.command),
        };
        let plan = EnginePlan {
            name: args.command.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            directory: directory(args, &command)?,
            directory_by_default: args.dir.is_none(),
            host: args.host.clone(),
            ssh_command: args.ssh_command.clone(),
            command,
            args: args.args.clone(),
            options: args.option.iter().map(|text| option(text)).collect::<Result<_, _>>()?,
            time: TimeControl { byoyomi: Duration::from_secs(1), ..TimeControl::default() },
            margin_given: true,
            limits: SeatLimits { ready, ..SeatLimits::default() },
            cores: 1.0,
            sandbox: SandboxPlan { kind: args.sandbox, ..SandboxPlan::default() },
            ..EnginePlan::default()
        };
        Ok(Self { plan, spots: spots(args.positions.as_deref())?, skip: args.skip.clone() })
    }
}

fn spots(file: Option<&Path>) -> Result<Vec<Spot>, CheckError> {
    let name = file.unwrap_or(Path::new("kifu/check.sfen")).to_path_buf();
    let text = match file {
        None => positions::CARRIED.to_owned(),
        Some(file) => files::typed_contents(file, files::SMALL)
            .and_then(files::utf8)
            .map_err(|source| CheckError::File(name.clone(), source))?,
    };
    positions::read(&text).map_err(|(line, fault)| CheckError::Position { path: name, line, fault })
}

fn option(text: &str) -> Result<(String, String), CheckError> {
    let (name, value) = text.split_once('=').ok_or_else(|| CheckError::Option(text.to_owned()))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// The directory that the engine runs in, by the rule for events.
fn directory(args: &Request, command: &Path) -> Result<Option<PathBuf>, CheckError> {
    match &args.dir {
        // The host knows its directories.
        Some(dir) if args.host.is_some() => Ok(Some(dir.clone())),
        Some(dir) if dir.is_dir() => Ok(std::path::absolute(dir).ok()),
        Some(dir) => Err(CheckError::Directory(dir.clone())),
        None if is_bare(&args.command) => Ok(None),
        None => Ok(command.parent().map(Path::to_path_buf)),
    }
}

/// True for a name to be searched on the path.
fn is_bare(command: &Path) -> bool {
    !plan::is_path(&command.to_string_lossy())
}

/// Resolves the program: a path becomes absolute, because the engine runs in another directory. A bare name that is not
/// on the path is also searched where events search it: in `/usr/games` and beside this program.
fn program(command: &Path) -> PathBuf {
    if !is_bare(command) {
        return std::path::absolute(command).unwrap_or_else(|_| command.to_path_buf());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).any(|directory| directory.join(command).is_file());
    let search = Environment::here(Path::new("")).map(|here| here.search).unwrap_or_default();
    let found = search.iter().map(|directory| directory.join(command)).find(|file| file.is_file());
    found.filter(|_| !on_path).unwrap_or_else(|| command.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_beside_this_one_is_found_by_its_name() {
        let beside = std::env::current_exe().unwrap();
        assert_eq!(program(Path::new(beside.file_name().unwrap())), beside);
        assert_eq!(program(Path::new("./elsewhere")), std::env::current_dir().unwrap().join("elsewhere"));
    }

    #[test]
    fn a_configuration_is_not_taken_for_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("league.toml");
        std::fs::write(&file, "[event]").unwrap();
        let error = Settings::of(&Request::new(&file)).unwrap_err();
        assert!(matches!(&error, CheckError::Configuration(path) if *path == file), "{error}");
        assert!(Settings::of(&Request::new(folder.path().join("engine.toml"))).is_ok(), "no such file");
    }

    #[test]
    fn the_limit_of_isready_is_a_duration() {
        let ready = |text: &str| {
            Settings::of(&Request { ready: text.to_owned(), ..Request::new("x") })
                .map(|it| it.plan.limits.ready)
        };
        for (text, seconds) in [("120s", 120.0), ("500ms", 0.5), ("2m", 120.0)] {
            assert_eq!(ready(text).unwrap(), Duration::from_secs_f64(seconds), "{text}");
        }
        for text in ["", "s", "12", "12d", "99999999999999999999s"] {
            assert!(matches!(ready(text), Err(CheckError::Duration(_))), "{text}");
        }
    }

    #[test]
    fn an_option_may_have_blanks_and_equal_signs() {
        assert_eq!(option("Skill Level=5").unwrap(), ("Skill Level".to_owned(), "5".to_owned()));
        assert_eq!(option("Args=a=b").unwrap().1, "a=b");
        assert_eq!(option("Hash").unwrap_err().to_string(), "`--option Hash` is not NAME=VALUE");
    }
}
