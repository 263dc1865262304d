//! The unit of a worker: the line to join with is a credential, which neither `ps` nor the unit shows.

use super::{Account, Failure, ServiceWork, argument, ending, hardening, quoted, specifiers, text};
use crate::commands::worker;
use platform::files;
use std::path::{Path, PathBuf};

/// The name of the service without its ending.
const NAME: &str = "renmei-worker";
/// What a worker's exit codes mean for its service.
const CODES: &str = "\
# A worker goes on by itself when its manager or the server is lost. Exit codes: 2 is a wrong command line, 5 a machine that
# the manager does not want: a restart does not help. 0 is the end of the event, 3 a stop.
Restart=on-failure
RestartSec=10s
RestartPreventExitStatus=2 5
SuccessExitStatus=3
";

/// The unit for a file that holds the line to join with.
pub fn unit(args: &ServiceWork) -> Result<String, Failure> {
    let file = line_file(&args.file)?;
    let program =
        std::env::current_exe().map_err(|e| Failure::Other(format!("the path of this program: {e}")))?;
    let account = if args.user { Account::Caller } else { Account::Dynamic };
    let path = std::env::var("PATH").unwrap_or_default();
    Ok(written(&account, &text(&program)?, &text(&file)?, &path))
}

/// The file with the line to join with, which is one; a warning if others can read it.
pub fn line_file(file: &Path) -> Result<PathBuf, Failure> {
    let shown = file.display();
    let failed = |e: std::io::Error| Failure::Other(format!("{shown}: {e}"));
    let file = file.canonicalize().map_err(failed)?;
    let line = files::contents(&file, files::SMALL).and_then(files::utf8).map_err(failed)?;
    worker::check_line(&line).map_err(|why| Failure::Usage(format!("{shown}: {why}")))?;
    let is_open = files::exposure(&file).map_err(failed)?.beyond_owner;
    if is_open {
        err_line!("others can read `{shown}`, which holds a secret: `chmod 600` takes that away");
    }
    Ok(file)
}

fn written(account: &Account, program: &str, file: &str, path: &str) -> String {
    let by_user = *account == Account::Caller;
    let (place, switch) =
        if by_user { ("~/.config/systemd/user", " --user") } else { ("/etc/systemd/system", "") };
    let mut unit = format!(
        "# {place}/{NAME}.service, then:\n\
         # systemctl{switch} daemon-reload; systemctl{switch} enable --now {NAME}; journalctl{switch} -fu {NAME}\n\
         # Engines that the manager sends lie in its state directory; those that lie here play from there if they are the same.\n\
         \n[Unit]\nDescription=Renmei: worker of an event on another machine\n"
    );
    if !by_user {
        unit += "Wants=network-online.target\nAfter=network-online.target\n";
    }
    unit += "\n[Service]\nType=exec\n";
    if !by_user {
        unit += "DynamicUser=yes\n";
    }
    unit += &format!(
        "StateDirectory={NAME}\nStateDirectoryMode=0700\nWorkingDirectory=%S/{NAME}\n\
         LoadCredential={}\n\
         # Search path for engines, as it was when this unit was written.\n\
         Environment={}\n\
         ExecStart={} worker --join-file ${{CREDENTIALS_DIRECTORY}}/line --state %S/{NAME}\n",
        specifiers(&format!("line:{file}")),
        quoted(&format!("PATH={path}")),
        argument(program),
    );
    unit += CODES;
    unit += &stop();
    unit += hardening::LIMITS;
    if !by_user {
        unit += &hardening::text(&[], &[program]);
    }
    let target = if by_user { "default.target" } else { "multi-user.target" };
    unit + &format!("\n[Install]\nWantedBy={target}\n")
}

/// The rules for a stop: pairs that have begun are finished.
fn stop() -> String {
    let all = ending(std::time::Duration::ZERO);
    let from = all.find("# SIGINT").unwrap_or(0);
    all[from..].replace("a host\n# adjourns them, a client resigns", "a worker\n# gives them back")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNTS: [Account; 2] = [Account::Caller, Account::Dynamic];

    fn of(account: &Account) -> String {
        written(account, "/opt/renmei", "/etc/renmei/100 % secret", "/usr/bin")
    }

    #[test]
    fn the_unit_of_a_worker_shows_no_secret_and_ends_for_good_where_it_is_not_wanted() {
        for account in ACCOUNTS {
            let unit = of(&account);
            let has = |line: &str| assert!(unit.lines().any(|found| found == line), "{line}\n{unit}");
            has("LoadCredential=line:/etc/renmei/100 %% secret");
            has(
                "ExecStart=\"/opt/renmei\" worker --join-file ${CREDENTIALS_DIRECTORY}/line --state %S/renmei-worker",
            );
            has("RestartPreventExitStatus=2 5");
            assert!(unit.contains("KillSignal=SIGTERM") && unit.contains("gives them back"), "{unit}");
        }
    }

    #[test]
    fn systemd_finds_no_fault_in_the_unit_of_a_worker_where_it_is_installed() {
        if std::process::Command::new("systemd-analyze").arg("--version").output().is_err() {
            return eprintln!("not checked: there is no systemd-analyze on this machine");
        }
        let directory = tempfile::tempdir().unwrap();
        for account in ACCOUNTS {
            let file = directory.path().join("renmei-worker-test.service");
            std::fs::write(&file, written(&account, "/bin/true", "/etc/hostname", "/usr/bin")).unwrap();
            let user = (account == Account::Caller).then_some("--user");
            let mut verify = std::process::Command::new("systemd-analyze");
            let output = verify.args(user).args(["verify", "--man=no"]).arg(&file).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let ours: Vec<_> = said.lines().filter(|line| line.contains("renmei-worker-test")).collect();
            assert_eq!(ours, [""; 0], "{said}");
        }
    }
}
