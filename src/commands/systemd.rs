//! `renmei systemd`: prints a unit that keeps a host, or an engine on a server, running.

use super::{Exit, Failure};
use crate::cli::{Service, SystemdArgs};
use nix::unistd::{Uid, User};
use plan::{Document, client::ClientConfig};
use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Checks the configuration and prints its unit.
///
/// # Errors
/// When the configuration is wrong, or a path cannot be written in a unit.
pub fn systemd(args: &SystemdArgs) -> Result<Exit, Failure> {
    let name = checked(args)?;
    let failed = |what: &str, e: std::io::Error| Failure::Other(format!("{what}: {e}"));
    let program = std::env::current_exe().map_err(|e| failed("the path of this program", e))?;
    let file = args.file.canonicalize().map_err(|e| failed(&args.file.display().to_string(), e))?;
    let unit = Unit {
        service: args.service,
        for_user: args.user,
        event: name,
        program: text(&program)?,
        directory: text(file.parent().unwrap_or(Path::new("/")))?,
        path: std::env::var("PATH").unwrap_or_default(),
        owner: owner(&file),
        file: text(&file)?,
    };
    out!("{}", unit.text());
    Ok(Exit::Done)
}

/// Checks the configuration as the service will read it; returns the name of its event.
fn checked(args: &SystemdArgs) -> Result<String, Failure> {
    if args.service == Service::Floodgate {
        return Ok(ClientConfig::load(&args.file).map_err(Failure::Config)?.name);
    }
    match Document::load(&args.file).map_err(Failure::Config)? {
        Document::Event { plan, .. } => Ok(plan.name),
        Document::League(league) => Ok(league.name),
    }
}

/// The owner of a file, who can write beside it and runs the service; `None` for root.
fn owner(file: &Path) -> Option<String> {
    let uid = fs::metadata(file).ok()?.uid();
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    (uid != 0).then(|| user.map_or_else(|| uid.to_string(), |user| user.name))
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control)).map(str::to_owned);
    text.ok_or_else(|| Failure::Other(format!("`{}` cannot be written in a unit", path.display())))
}

struct Unit {
    service: Service,
    for_user: bool,
    event: String,
    program: String,
    file: String,
    directory: String,
    path: String,
    owner: Option<String>,
}

impl Unit {
    fn text(&self) -> String {
        let mut text = self.head();
        text += &self.unit();
        text += &self.process();
        text += ENDING;
        if !self.for_user {
            text += HARDENING;
        }
        let target = if self.for_user { "default.target" } else { "multi-user.target" };
        let _never_fails = write!(text, "\n[Install]\nWantedBy={target}\n");
        text
    }

    /// Instructions for installation.
    fn head(&self) -> String {
        let stem = PathBuf::from(&self.file);
        let stem = stem.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let stem: String = stem
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
            .collect();
        let (place, switch) = match self.for_user {
            true => ("~/.config/systemd/user", " --user"),
            false => ("/etc/systemd/system", ""),
        };
        let mut text = format!(
            "# {place}/renmei-{stem}.service, then:\n\
             # systemctl{switch} daemon-reload; systemctl{switch} enable --now renmei-{stem}; journalctl{switch} -fu renmei-{stem}\n"
        );
        if self.for_user {
            text += "# It runs while its user is logged in; `loginctl enable-linger` keeps it running after that.\n";
        }
        text
    }

    fn unit(&self) -> String {
        let what = match self.service {
            Service::Serve => "host of",
            Service::Floodgate => "engine on a server, event",
        };
        let event: String = self.event.chars().filter(|c| !c.is_control()).collect();
        let mut text = format!("\n[Unit]\nDescription=Renmei: {what} {}\n", specifiers(&event));
        if !self.for_user {
            text += "Wants=network-online.target\nAfter=network-online.target\n";
        }
        text
    }

    fn process(&self) -> String {
        let command = match self.service {
            Service::Serve => "serve",
            Service::Floodgate => "floodgate",
        };
        let user = match (&self.owner, self.for_user) {
            (_, true) => String::new(),
            (Some(owner), false) => format!("User={}\n", specifiers(owner)),
            (None, false) => {
                "# Engines need no privileges: name a user here who may write to the directory below.\n\
                              # User=\n"
                    .to_owned()
            }
        };
        format!(
            "\n[Service]\nType=exec\n{user}WorkingDirectory={}\n\
             # Search path for engines, as it was when this unit was written.\n\
             Environment={}\n# Environment=RENMEI_LOG=debug\nExecStart={} {command} {} --no-dashboard\n",
            specifiers(&self.directory),
            quoted(&format!("PATH={}", self.path)),
            argument(&self.program),
            argument(&self.file),
        )
    }
}

/// Restart and stop rules, matching the program's exit codes and signals.
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
TimeoutStopSec=15min
# An engine killed by the kernel for its memory loses a game; the service continues.
OOMPolicy=continue
LimitNOFILE=65536
";

/// Hardening that engines tolerate: devices (GPUs), namespaces and writable executable memory stay allowed.
const HARDENING: &str = "\
NoNewPrivileges=yes
ProtectSystem=full
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
";

/// Quotes a word of a command line.
fn argument(text: &str) -> String {
    quoted(text).replace('$', "$$")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", specifiers(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// Escapes percent signs, which begin a specifier everywhere in a unit.
fn specifiers(text: &str) -> String {
    text.replace('%', "%%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_escaped_in_a_unit() {
        assert_eq!(argument("/a b/100%/$x/\"y\"\\"), r#""/a b/100%%/$$x/\"y\"\\""#);
        assert_eq!(quoted("PATH=/a:$b"), "\"PATH=/a:$b\"");
    }
}
