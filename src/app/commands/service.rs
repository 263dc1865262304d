//! `renmei service`: what the system starts with the machine. On Linux it prints a unit of systemd.
//!
//! Windows starts `renmei service start NAME COMMAND FILE`, which is `renmei COMMAND FILE` with its output in
//! `NAME.log` beside the configuration. Everything else is done by programs of the system, so that `print` shows all of it.

mod systemd;

use super::{Command, Exit, Failure};
use crate::cli;
use clap::{Args, Subcommand, ValueEnum};
use platform::{service, signals::Signal};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use systemd::{name_of, work, worker::line_file};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples for systemd:
  renmei service print serve league.toml | sudo tee /etc/systemd/system/renmei-league.service
  renmei service print floodgate floodgate.toml --user > ~/.config/systemd/user/renmei-floodgate.service
  renmei service print hall events | sudo tee /etc/systemd/system/renmei-events.service
  renmei service print queue tests --user > ~/.config/systemd/user/renmei-tests.service
Examples for Windows, in a terminal of an administrator:
  renmei service install serve league.toml
  renmei service print floodgate floodgate.toml
  renmei service remove renmei-league")]
pub struct ServiceArgs {
    #[command(subcommand)]
    pub command: ServiceCommand,
}

/// What is done with a service.
#[derive(Clone, Debug, Subcommand)]
pub enum ServiceCommand {
    /// Print a hardened unit of systemd, or the commands with which `install` installs a service of Windows.
    Print(ServiceWork),
    /// Windows: install a service that starts with the machine, and start it now.
    Install(ServiceWork),
    /// Windows: stop a service, and remove it; its files stay.
    Remove {
        /// The name that `install` printed.
        name: String,
    },
    /// Do the work of a service; for the system alone.
    #[command(hide = true)]
    Start {
        /// Name of the service.
        name: String,
        #[command(flatten)]
        work: ServiceWork,
    },
}

/// What a service does.
#[derive(Clone, Debug, Args)]
pub struct ServiceWork {
    /// The command that the service runs.
    #[arg(value_enum)]
    pub service: Service,
    /// Its configuration file; of a hall or a queue, the directory; of a worker, the file with the line to join with.
    pub file: PathBuf,
    /// A unit for a user's service manager, which needs no root (systemd).
    #[arg(long, hide = service::EXIST)]
    pub user: bool,
}

/// A command that runs as a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// `renmei run`.
    Run,
    /// `renmei serve`.
    Serve,
    /// `renmei floodgate`.
    Floodgate,
    /// `renmei worker`.
    Worker,
    /// `renmei hall`.
    Hall,
    /// `renmei queue`; with systemd, that of a user.
    Queue,
}

/// Exit codes after which a service is not started again: the configuration is wrong, the event is stopped, halted, or over,
/// or the manager does not want this worker.
const FINAL: [i32; 7] = [
    Exit::Wrong as i32,
    Exit::Stopped as i32,
    Exit::Halted as i32,
    Exit::Refused as i32,
    Exit::H1 as i32,
    Exit::H0 as i32,
    Exit::ByFaults as i32,
];

/// Installs, removes or prints a service, or does its work: `perform` does that of another command.
pub fn service(args: &ServiceArgs, perform: fn(Command) -> Exit) -> Result<Exit, Failure> {
    if !service::EXIST {
        return match &args.command {
            ServiceCommand::Print(work) => systemd::print(work),
            _ => Err(Failure::Usage(
                "a service of this kind needs Windows; `renmei service print` prints a unit of systemd"
                    .to_owned(),
            )),
        };
    }
    match &args.command {
        ServiceCommand::Print(work) => {
            let start = start_step(&name_of(&work.file));
            Steps::of(work)?.0.iter().chain([&start]).for_each(|step| out_line!("{}", step.text()));
            Ok(Exit::Done)
        }
        ServiceCommand::Install(work) => {
            Steps::of(work)?.take()?;
            let name = name_of(&work.file);
            begin(&name, &work.file)?;
            err_line!("installed: {name}; `renmei service remove {name}` removes it");
            Ok(Exit::Done)
        }
        ServiceCommand::Remove { name } => {
            let stop = Step::wished(["sc.exe", "stop", name]);
            Steps(vec![stop, Step::needed(["sc.exe", "delete", name])]).take()?;
            Ok(Exit::Done)
        }
        ServiceCommand::Start { name, work } => serve(name, work, perform),
    }
}

/// Does the work of a service, for the system.
fn serve(name: &str, work: &ServiceWork, perform: fn(Command) -> Exit) -> Result<Exit, Failure> {
    let failed = |what: String, e: std::io::Error| Failure::Other(format!("{what}: {e}"));
    let file = std::path::absolute(&work.file).map_err(|e| failed(work.file.display().to_string(), e))?;
    let work = ServiceWork { service: work.service, file, user: false };
    let directory = directory(&work.file).to_owned();
    // What a client gives up, it loses: its game may end. The others continue what is broken off.
    let stop = if work.service == Service::Floodgate { Signal::Interrupt } else { Signal::Terminate };
    let described =
        service::Service { name: name.to_owned(), log: log(name, &directory), stop, final_codes: &FINAL };
    let words = words(name, &work);
    // Whatever fails here is printed to the log of the service, which has no other place for words.
    let work = move || match command_of(&directory, &words) {
        Ok(command) => perform(command) as i32,
        Err(failure) => {
            err_line!("renmei: {failure}");
            Exit::from(&failure) as i32
        }
    };
    service::serve(described, work).map_err(|e| failed(format!("the service `{name}`"), e))?;
    Ok(Exit::Done)
}

/// Goes to the directory to which paths of the configuration are relative; the command of the work.
fn command_of(directory: &Path, words: &[String]) -> Result<Command, Failure> {
    let entered = std::env::set_current_dir(directory);
    entered.map_err(|e| Failure::Other(format!("{}: {e}", directory.display())))?;
    Ok(cli::parse_words(words).map_err(|fault| Failure::Usage(fault.to_string()))?.command)
}

/// The file to which a service prints.
fn log(name: &str, directory: &Path) -> PathBuf {
    directory.join(format!("{name}.log"))
}

/// Starts a service that was installed just now, and waits until it runs.
fn begin(name: &str, file: &Path) -> Result<(), Failure> {
    let asked = start_step(name).take();
    let log = log(name, directory(file));
    let begun = judge(name, &log, service::await_start(name));
    let faults: Vec<_> = [asked, begun].into_iter().filter_map(Result::err).collect();
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Failure::Other(format!(
            "the service `{name}` is installed and does not run: {}",
            faults.join("; ")
        ))),
    }
}

/// Why a service that was started does not run, and where more of it is found.
fn judge(name: &str, log: &Path, start: std::io::Result<service::Start>) -> Result<(), String> {
    match start {
        Ok(service::Start::Done) => Ok(()),
        Ok(service::Start::Pending) => {
            Err(format!("it is still starting after half a minute; `sc.exe query {name}` prints its state"))
        }
        Err(fault) => Err(format!(
            "it ended at once: {fault}; the reason is in `{}`, or, if that cannot be written, in the event log of applications",
            log.display()
        )),
    }
}

/// What starts an installed service.
fn start_step(name: &str) -> Step {
    Step::needed(["sc.exe", "start", name])
}

/// The command line of the work.
fn words(name: &str, work: &ServiceWork) -> Vec<String> {
    let command = work.service.to_possible_value();
    let command = command.as_ref().map_or("", |value| value.get_name());
    let file = work.file.display().to_string();
    let words: Vec<String> = match work.service {
        Service::Worker => {
            let state = directory(&work.file).join(name).display().to_string();
            vec!["--join-file".to_owned(), file, "--state".to_owned(), state]
        }
        Service::Queue | Service::Hall => vec![file],
        Service::Run | Service::Serve | Service::Floodgate => vec![file, "--no-dashboard".to_owned()],
    };
    ["renmei".to_owned(), command.to_owned()].into_iter().chain(words).collect()
}

/// Where a configuration is; a queue is a directory itself, and a bare name is in the current one.
fn directory(file: &Path) -> &Path {
    let parent = if file.is_dir() { Some(file) } else { file.parent() };
    parent.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A program of the system with its arguments.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    words: Vec<String>,
    /// False if the service does without it.
    needed: bool,
}

impl Step {
    fn needed<const N: usize>(words: [&str; N]) -> Self {
        Self { words: words.map(str::to_owned).into(), needed: true }
    }

    fn wished<const N: usize>(words: [&str; N]) -> Self {
        Self { needed: false, ..Self::needed(words) }
    }

    /// The step as it is typed.
    fn text(&self) -> String {
        let quoted = |word: &String| match word.contains([' ', '"']) || word.is_empty() {
            true => format!("\"{}\"", word.replace('"', "\\\"")),
            false => word.clone(),
        };
        self.words.iter().map(quoted).collect::<Vec<_>>().join(" ")
    }

    fn take(&self) -> Result<(), String> {
        let Some((program, arguments)) = self.words.split_first() else { return Ok(()) };
        let ended = std::process::Command::new(program).args(arguments).output();
        let output = ended.map_err(|e| format!("`{program}`: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        Err(format!("`{}` failed ({}) {}", self.text(), output.status, said.trim()).trim_end().to_owned())
    }
}

/// Everything that installs a service.
#[derive(Debug)]
struct Steps(Vec<Step>);

impl Steps {
    /// Checks the configuration, and plans its service.
    fn of(work: &ServiceWork) -> Result<Self, Failure> {
        let failed = |what: &str, e: std::io::Error| Failure::Other(format!("{what}: {e}"));
        let program = std::env::current_exe().map_err(|e| failed("the path of this program", e))?;
        let file =
            std::path::absolute(&work.file).map_err(|e| failed(&work.file.display().to_string(), e))?;
        let mut writes = BTreeSet::from([directory(&file).to_owned()]);
        if work.service == Service::Worker {
            line_file(&file)?;
        } else {
            let args = ServiceWork { service: work.service, file: file.clone(), user: true };
            writes.extend(
                self::work(&args)?.writes.into_iter().filter_map(|path| std::path::absolute(path).ok()),
            );
        }
        Ok(Self::planned(&program, &ServiceWork { service: work.service, file, user: false }, &writes))
    }

    fn planned(program: &Path, work: &ServiceWork, writes: &BTreeSet<PathBuf>) -> Self {
        let name = name_of(&work.file);
        // An account without a password that has no rights but those that it is given here.
        let account = format!("NT SERVICE\\{name}");
        let kind = work.service.to_possible_value();
        let kind = kind.as_ref().map_or("", |value| value.get_name());
        let line =
            format!("\"{}\" service start {name} {kind} \"{}\"", program.display(), work.file.display());
        let shown = format!("Renmei: {kind} {}", work.file.display());
        let mut create = Step::needed(["sc.exe", "create", &name]);
        for (key, value) in
            [("binPath=", line.as_str()), ("start=", "auto"), ("obj=", &account), ("DisplayName=", &shown)]
        {
            create.words.extend([key.to_owned(), value.to_owned()]);
        }
        let grant = |path: &Path, rights: &str| {
            let path = path.display().to_string();
            Step::wished(["icacls.exe", &path, "/grant", &format!("{account}:(OI)(CI){rights}"), "/T", "/Q"])
        };
        let mut steps = vec![create];
        // As after a failure of a systemd unit: ten seconds, and then the same command continues.
        let failure = ["failure", &name, "reset=", "86400", "actions=", "restart/10000"];
        let mut restart = Step::wished(["sc.exe"]);
        restart.words.extend(failure.map(str::to_owned));
        steps.extend([restart, Step::wished(["sc.exe", "failureflag", &name, "1"])]);
        steps.extend(program.parent().map(|place| grant(place, "RX")));
        steps.extend(writes.iter().map(|place| grant(place, "M")));
        Self(steps)
    }

    /// Takes all steps; a failure of a needed one ends them.
    fn take(&self) -> Result<(), Failure> {
        for step in &self.0 {
            match step.take() {
                Err(why) if step.needed => return Err(Failure::Other(why)),
                Err(why) => err_line!("{why}; continuing without it"),
                Ok(()) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(service: Service) -> Vec<String> {
        let work = ServiceWork { service, file: "/srv/my league/league.toml".into(), user: false };
        let writes = BTreeSet::from([PathBuf::from("/srv/my league")]);
        Steps::planned(Path::new("/opt/renmei dir/renmei"), &work, &writes).0.iter().map(Step::text).collect()
    }

    #[test]
    fn a_service_has_an_account_of_its_own_and_writes_beside_its_configuration() {
        let steps = planned(Service::Serve);
        assert_eq!(
            steps[0],
            r#"sc.exe create renmei-league binPath= "\"/opt/renmei dir/renmei\" service start renmei-league serve \"/srv/my league/league.toml\"" start= auto obj= "NT SERVICE\renmei-league" DisplayName= "Renmei: serve /srv/my league/league.toml""#
        );
        assert!(steps.contains(
            &r#"icacls.exe "/srv/my league" /grant "NT SERVICE\renmei-league:(OI)(CI)M" /T /Q"#.to_owned()
        ));
        assert_eq!(start_step("renmei-league").text(), "sc.exe start renmei-league");
    }

    #[test]
    fn a_service_that_is_still_starting_is_told_from_one_that_ended() {
        let judged = |start| judge("renmei-league", Path::new("renmei-league.log"), start);
        assert_eq!(judged(Ok(service::Start::Done)), Ok(()));
        assert_eq!(
            judged(Ok(service::Start::Pending)).unwrap_err(),
            "it is still starting after half a minute; `sc.exe query renmei-league` prints its state"
        );
        let ended = judged(Err(std::io::Error::other("exit code 2"))).unwrap_err();
        assert!(
            ended.starts_with("it ended at once: exit code 2; the reason is in `renmei-league.log`"),
            "{ended}"
        );
    }

    #[test]
    fn the_command_of_a_service_is_one_of_this_program() {
        for service in Service::value_variants() {
            let work = ServiceWork { service: *service, file: "/srv/league.toml".into(), user: false };
            let words = words("renmei-league", &work);
            let parsed = cli::parse_words(&words);
            let is_known = cfg!(feature = "machines") || *service != Service::Worker;
            assert!(parsed.is_ok() || !is_known, "{words:?}: {parsed:?}");
        }
    }
}
