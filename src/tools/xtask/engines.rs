//! Programs from Debian packages. They are optional; leagues and tests cover more with them.

use crate::workspace;
use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Programs and their Debian packages: engines, what makes their strict sandbox, and what many machines talk through.
const ENGINES: [(&str, &str); 4] = [
    ("fairy-stockfish", "fairy-stockfish"),
    ("gpsusi", "gpsshogi"),
    ("bwrap", "bubblewrap"),
    ("nats-server", "nats-server"),
];
/// Debian's directories for games, which is often not on the PATH of root and services, and for servers, which is not on
/// that of plain users.
const FURTHER: [&str; 2] = ["/usr/games", "/usr/sbin"];

/// Installs missing engines if that is possible without a prompt; prints one sentence about any that stay missing.
/// Returns whether all engines are available.
pub fn install_missing() -> bool {
    install(&ENGINES)
}

/// True if all of these programs are installed.
pub fn are_there(programs: &[(&'static str, &'static str)]) -> bool {
    missing(programs).is_empty()
}

/// The same for any programs with their Debian packages.
pub fn install(programs: &[(&'static str, &'static str)]) -> bool {
    let packages = missing(programs);
    if packages.is_empty() {
        return true;
    }
    let Some(administrator) = administrator() else {
        report_missing(&packages, "installing them needs the right to run apt-get");
        return false;
    };
    eprintln!("installing {}", packages.join(" and "));
    // A fresh container has no package lists; elsewhere, updating them would only take time.
    let installed = apt_get(administrator, "install", &packages)
        || (apt_get(administrator, "update", &[]) && apt_get(administrator, "install", &packages));
    let packages = missing(programs);
    if !packages.is_empty() {
        let why = if installed {
            "the packages do not contain the programs"
        } else {
            "apt-get could not install them"
        };
        report_missing(&packages, why);
    }
    packages.is_empty()
}

fn report_missing(packages: &[&str], why: &str) {
    eprintln!("continuing without the Debian packages {}: {why}", packages.join(" and "));
}

fn missing(programs: &[(&'static str, &'static str)]) -> Vec<&'static str> {
    programs.iter().filter(|(program, _)| find(program).is_none()).map(|(_, package)| *package).collect()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&path).chain(FURTHER.map(PathBuf::from));
    places.map(|place| place.join(program)).find(|file| file.is_file())
}

/// Command before `apt-get` that gives the rights to install: empty for root, `None` without rights.
fn administrator() -> Option<&'static [&'static str]> {
    find("apt-get")?;
    let root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if root {
        return Some(&[]);
    }
    let may = Command::new("sudo").args(["-n", "true"]).stderr(Stdio::null()).status();
    may.is_ok_and(|status| status.success()).then_some(&["sudo", "-n"])
}

fn apt_get(administrator: &[&str], action: &str, packages: &[&str]) -> bool {
    let words: Vec<&str> =
        [administrator, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", action]]
            .concat()
            .into_iter()
            .chain((action == "install").then_some(["-y", "--no-install-recommends"]).into_iter().flatten())
            .chain(packages.iter().copied())
            .collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
    workspace::run(&mut command).is_ok_and(|status| status.success())
}
