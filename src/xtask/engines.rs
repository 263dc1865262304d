//! The engines that Debian has: nothing needs them, leagues and tests are better with them.

use crate::workspace;
use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Programs and the Debian packages they are in.
const ENGINES: [(&str, &str); 2] = [("fairy-stockfish", "fairy-stockfish"), ("gpsusi", "gpsshogi")];
/// Where Debian puts games; the PATH of root and of services often lacks it.
const GAMES: &str = "/usr/games";

/// Installs the engines that are missing, where that is possible without a question. Says in one sentence what could
/// not be had; returns whether all of them are there.
pub fn install_missing() -> bool {
    let packages = missing();
    if packages.is_empty() {
        return true;
    }
    let Some(administrator) = administrator() else {
        say_missing(&packages, "they can be installed by whoever may run apt-get");
        return false;
    };
    eprintln!("installing {}", packages.join(" and "));
    // A fresh container has no lists of packages; fresh lists elsewhere would only take time.
    let installed = apt_get(administrator, "install", &packages)
        || (apt_get(administrator, "update", &[]) && apt_get(administrator, "install", &packages));
    let packages = missing();
    if !packages.is_empty() {
        let why =
            if installed { "the packages do not bring the programs" } else { "apt-get could not get them" };
        say_missing(&packages, why);
    }
    packages.is_empty()
}

fn say_missing(packages: &[&str], why: &str) {
    eprintln!("going on without the Debian packages {}: {why}", packages.join(" and "));
}

fn missing() -> Vec<&'static str> {
    ENGINES.iter().filter(|(program, _)| find(program).is_none()).map(|(_, package)| *package).collect()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&path).chain([PathBuf::from(GAMES)]);
    places.map(|place| place.join(program)).find(|file| file.is_file())
}

/// The words before `apt-get` with which it may install: none for root; `None` if we may not.
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
