//! A hardened unit of systemd that keeps an event, a host, or an engine on a server running.

mod hardening;
pub mod work;
pub mod worker;

use super::{Service, ServiceWork};
use crate::commands::{Exit, Failure, queue};
use clap::ValueEnum as _;
use platform::{account::User, files::exposure};
use std::{fmt::Write as _, path::Path, time::Duration};
use work::Work;

/// Checks the configuration and prints its unit.
pub fn print(args: &ServiceWork) -> Result<Exit, Failure> {
    if args.service == Service::Worker {
        out!("{}", worker::unit(args)?);
        return Ok(Exit::Done);
    }
    let work = work(args)?;
    let failed = |what: &str, e: std::io::Error| Failure::Other(format!("{what}: {e}"));
    let program = std::env::current_exe().map_err(|e| failed("the path of this program", e))?;
    let file = args.file.canonicalize().map_err(|e| failed(&args.file.display().to_string(), e))?;
    let unit = Unit {
        service: args.service,
        event: work.event,
        program: text(&program)?,
        directory: text(if file.is_dir() { &file } else { file.parent().unwrap_or(Path::new("/")) })?,
        path: std::env::var("PATH").unwrap_or_default(),
        account: if args.user { Account::Caller } else { account(&file, &program, &work.database) },
        database: text(&work.database)?,
        writes: work.writes.iter().map(|path| text(path)).collect::<Result<_, _>>()?,
        longest_game: work.longest_game,
        file: text(&file)?,
    };
    out!("{}", unit.text());
    Ok(Exit::Done)
}

/// What the service does, if it can be one.
pub fn work(args: &ServiceWork) -> Result<Work, Failure> {
    if args.service != Service::Queue {
        return work::read(args.service, &args.file).map_err(Failure::Config);
    }
    let database = queue::existing(&args.file)?;
    if !args.user {
        let why = "a queue builds commits with the compilers and in the cache of its user: add `--user`";
        return Err(Failure::Usage(why.to_owned()));
    }
    let database =
        database.canonicalize().map_err(|e| Failure::Other(format!("{}: {e}", database.display())))?;
    Ok(Work::of_queue(database))
}

/// Whose rights the service has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Account {
    /// Those of the user whose service manager starts it.
    Caller,
    /// Those of the configuration's owner, who can write beside it.
    Owner(String),
    /// Those of a user that exists while the service runs, who keeps its database in a directory of its own.
    Dynamic,
    /// Root's, unless somebody writes a user into the unit.
    Unnamed,
}

/// The owner of the configuration; if that is root, a dynamic user where one can read everything it needs.
fn account(file: &Path, program: &Path, database: &Path) -> Account {
    let Ok(owner) = User::owner_of(file) else { return Account::Unnamed };
    if !owner.is_administrator() {
        return Account::Owner(owner.name().unwrap_or_else(|| owner.to_string()));
    }
    let private = |path: &Path| hardening::HIDDEN.iter().any(|place| path.starts_with(place));
    let is_open = exposure(file).is_ok_and(|exposure| exposure.everybody_reads);
    let readable = is_open && [file, program].into_iter().all(readable_by_all);
    // A database that is there already belongs to somebody.
    match readable && ![file, program].into_iter().any(private) && !database.exists() {
        true => Account::Dynamic,
        false => Account::Unnamed,
    }
}

/// True if everybody may enter all directories of a path.
fn readable_by_all(path: &Path) -> bool {
    let open = |directory: &Path| exposure(directory).is_ok_and(|exposure| exposure.everybody_enters);
    path.ancestors().skip(1).all(open)
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control)).map(str::to_owned);
    text.ok_or_else(|| Failure::Other(format!("`{}` cannot be written in a unit", path.display())))
}

struct Unit {
    service: Service,
    event: String,
    program: String,
    file: String,
    directory: String,
    path: String,
    account: Account,
    database: String,
    /// Directories that the service writes to.
    writes: Vec<String>,
    longest_game: Duration,
}

impl Unit {
    fn text(&self) -> String {
        let mut text = self.head();
        text += &self.unit();
        text += &self.process();
        text += &ending(self.longest_game);
        text += hardening::LIMITS;
        if self.account != Account::Caller {
            text += &self.hardening();
        }
        let target = if self.account == Account::Caller { "default.target" } else { "multi-user.target" };
        let _never_fails = write!(text, "\n[Install]\nWantedBy={target}\n");
        text
    }

    fn name(&self) -> String {
        name_of(Path::new(&self.file))
    }

    /// Instructions for installation.
    fn head(&self) -> String {
        let (place, switch) = match self.account {
            Account::Caller => ("~/.config/systemd/user", " --user"),
            _ => ("/etc/systemd/system", ""),
        };
        let name = self.name();
        let mut text = format!(
            "# {place}/{name}.service, then:\n\
             # systemctl{switch} daemon-reload; systemctl{switch} enable --now {name}; journalctl{switch} -fu {name}\n"
        );
        if self.account == Account::Caller {
            text += "# It runs while its user is logged in; `loginctl enable-linger` keeps it running after that.\n";
        }
        text
    }

    fn unit(&self) -> String {
        let what = match self.service {
            Service::Run => "event",
            Service::Serve => "host of",
            Service::Floodgate => "engine on a server, event",
            Service::Worker => "worker",
            Service::Hall => "hall",
            Service::Queue => "queue",
        };
        let event: String = self.event.chars().filter(|c| !c.is_control()).collect();
        let mut text = format!("\n[Unit]\nDescription=Renmei: {what} {}\n", specifiers(&event));
        if self.account != Account::Caller {
            text += "Wants=network-online.target\nAfter=network-online.target\n";
        }
        text
    }

    fn process(&self) -> String {
        let command = self.service.to_possible_value();
        let command = command.as_ref().map_or("", |value| value.get_name());
        let has_dashboard = !matches!(self.service, Service::Queue | Service::Hall);
        let plain = if has_dashboard { " --no-dashboard" } else { "" };
        let user = match &self.account {
            Account::Caller => String::new(),
            Account::Owner(owner) => format!("User={}\n", specifiers(owner)),
            Account::Dynamic => format!(
                "# The configuration is root's: a user that exists only for this service, and a directory of its own for the\n\
                 # database. What else the configuration writes (`records`, `log`) belongs below /var/lib/{0} as well.\n\
                 DynamicUser=yes\nStateDirectory={0}\nStateDirectoryMode=0700\n",
                self.name()
            ),
            Account::Unnamed => {
                "# Engines need no privileges: name a user here who may write to the directory below.\n\
                                 # User=\n"
                    .to_owned()
            }
        };
        let (directory, database) = match self.account {
            Account::Dynamic => {
                let directory = format!("/var/lib/{}", self.name());
                let name =
                    Path::new(&self.database).file_name().map(|name| name.to_string_lossy().into_owned());
                let database = format!("{directory}/{}", name.unwrap_or_else(|| "renmei.db".to_owned()));
                (directory, format!(" --db {}", argument(&database)))
            }
            _ => (self.directory.clone(), String::new()),
        };
        format!(
            "\n[Service]\nType=exec\n{user}WorkingDirectory={}\n\
             # Search path for engines, as it was when this unit was written.\n\
             Environment={}\n# Environment=RENMEI_LOG=debug\nExecStart={} {command} {}{database}{plain}\n",
            specifiers(&directory),
            quoted(&format!("PATH={}", self.path)),
            argument(&self.program),
            argument(&self.file),
        )
    }

    /// The rules of the sandbox around the service, with what depends on its paths.
    fn hardening(&self) -> String {
        let paths = [&self.program, &self.file, &self.directory].into_iter().chain(&self.writes);
        let writes: Vec<_> = self.writes.iter().map(|path| format!("\"-{}\"", escaped(path))).collect();
        let writes = if self.account == Account::Dynamic { vec![] } else { writes };
        hardening::text(&writes, &paths.map(String::as_str).collect::<Vec<_>>())
    }
}

/// The name of the service of a configuration, without its ending.
pub fn name_of(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    format!("renmei-{}", stem.chars().map(plain).collect::<String>())
}

/// Restart and stop rules, matching the program's exit codes and signals.
fn ending(longest_game: Duration) -> String {
    let minutes = longest_game.as_secs().div_ceil(60).clamp(LEAST_STOP, MOST_STOP);
    ENDING.replace("STOP", &format!("{minutes}min"))
}

/// Minutes that running games have at least to end, and at most: a machine that shuts down waits for them.
const LEAST_STOP: u64 = 15;
const MOST_STOP: u64 = 120;

const ENDING: &str = "\
# After an interruption or a reboot the same command resumes. Exit codes: 2 is a wrong configuration, which a restart
# does not fix; 3 is a stop before the end; 10 and 11 are verdicts.
Restart=on-failure
RestartSec=10s
RestartPreventExitStatus=2 4 12
SuccessExitStatus=3 10 11
# SIGINT lets running games end and starts no new ones. SIGTERM breaks off those still running after the timeout: a host
# adjourns them, a client resigns. Only the manager gets the signal: engines that ended first would lose their games.
ExecStop=-/bin/sh -c 'test -z \"$$MAINPID\" || { kill -INT \"$$MAINPID\"; while kill -0 \"$$MAINPID\" 2>/dev/null; do sleep 1; done; }'
KillMode=mixed
KillSignal=SIGTERM
# The longest game by its clocks, as far as the configuration says them.
TimeoutStopSec=STOP
";

/// Quotes a word of a command line.
fn argument(text: &str) -> String {
    quoted(text).replace('$', "$$")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Escapes what ends a quoted word.
fn escaped(text: &str) -> String {
    specifiers(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Escapes percent signs, which begin a specifier everywhere in a unit.
fn specifiers(text: &str) -> String {
    text.replace('%', "%%")
}

#[cfg(test)]
mod tests;
