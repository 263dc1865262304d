//! The strict sandbox: an engine that nobody trusts, in namespaces of its own.
//!
//! `bubblewrap` makes them, as root or as any user: its processes see no others, no network, all files read-only, a
//! `/tmp`, `/run` and `/dev/shm` of its own, and a filter of system calls. Where this program is root the engine is not. Its guardian looks after its
//! memory and its threads. What cannot be had refuses the start: a strict sandbox is never less than strict.

mod filter;

use crate::guardian::{self, Errand};
use plan::EnginePlan;
use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The user that an engine becomes where this program is root: `nobody`.
const NOBODY: u32 = 65534;
/// Most processes and threads of an engine.
const THREADS: u64 = 1024;
/// Bytes of each directory of its own that an engine may write to, kept in memory.
const PRIVATE: &str = "67108864";
/// Directories that the engine has for its own.
const OWN: [&str; 3] = ["/tmp", "/run", "/dev/shm"];

/// What a guardian needs to know to start an engine in a strict sandbox.
///
/// # Errors
/// Why there is none, as a lowercase fragment.
pub(crate) fn errand(engine: &EnginePlan) -> Result<Errand, String> {
    let directory = match &engine.directory {
        Some(directory) => directory.clone(),
        None => env::current_dir().map_err(|error| format!("the current directory: {error}"))?,
    };
    let directory = directory.canonicalize().unwrap_or(directory);
    let mut arguments = vec![wrapper()?.into_os_string()];
    arguments.extend(base());
    for path in shown(engine, &directory) {
        arguments.extend(["--ro-bind".into(), path.clone(), path]);
    }
    for path in &engine.sandbox.write {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone()).into_os_string();
        arguments.extend(["--bind".into(), path.clone(), path]);
    }
    arguments.extend(["--chdir".into(), directory.into_os_string(), "--".into()]);
    arguments.push(engine.command.clone().into_os_string());
    arguments.extend(engine.args.iter().map(Into::into));
    Ok(Errand {
        user: nix::unistd::geteuid().is_root().then_some(NOBODY),
        memory: engine.sandbox.memory_mb,
        threads: THREADS,
        filter: filter::bytes()?,
        directory: None,
        environment: engine.environment.iter().map(|(key, value)| (key.into(), value.into())).collect(),
        arguments,
    })
}

/// The namespaces and the files of every sandbox.
fn base() -> Vec<OsString> {
    let mut words = vec!["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"];
    words.extend(["--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    for own in OWN {
        words.extend(["--size", PRIVATE, "--tmpfs", own]);
    }
    words.extend(["--remount-ro", "/dev"]);
    words.into_iter().map(OsString::from).collect()
}

/// Paths of the engine that lie in a directory which it has for its own, and are shown there nevertheless.
fn shown(engine: &EnginePlan, directory: &Path) -> Vec<OsString> {
    let program = engine.command.canonicalize().unwrap_or_else(|_| engine.command.clone());
    let named = engine.command.parent().map(Path::to_path_buf);
    let beside = program.parent().map(Path::to_path_buf);
    let is_hidden = |path: &PathBuf| OWN.iter().any(|own| path.starts_with(own) && path != Path::new(own));
    let mut paths: Vec<PathBuf> =
        [named, beside, Some(directory.to_owned())].into_iter().flatten().filter(is_hidden).collect();
    paths.sort();
    paths.dedup();
    paths.into_iter().map(PathBuf::into_os_string).collect()
}

/// The program that makes the namespaces.
fn wrapper() -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|directory| directory.join("bwrap")).find(|file| file.is_file());
    found.ok_or_else(|| {
        "`sandbox = \"strict\"` needs `bwrap`, which is not on PATH: install `bubblewrap` (`apt-get install bubblewrap`), \
         or take `sandbox` out if you trust the engine"
            .to_owned()
    })
}

/// Whether this machine has what a strict sandbox needs; tries it with `true` in place of an engine.
///
/// # Errors
/// What is missing, and what to do, as a lowercase fragment.
pub fn available() -> Result<(), String> {
    let wrapper = wrapper()?;
    let filter = filter::bytes()?;
    let filter =
        guardian::file_in_memory(&filter).map_err(|error| format!("a filter of system calls: {error}"))?;
    let mut command = Command::new(&wrapper);
    command.args(["--seccomp", "0"]).stdin(Stdio::from(filter));
    command.args(base()).args(["--", "true"]);
    if nix::unistd::geteuid().is_root() {
        use std::os::unix::process::CommandExt;
        command.uid(NOBODY).gid(NOBODY);
    }
    let tried =
        command.output().map_err(|error| format!("`{}` cannot be run: {error}", wrapper.display()))?;
    if tried.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
    let hint = match fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") {
        Ok(on) if on.trim() == "1" => "; AppArmor keeps user namespaces from it: it needs a profile",
        _ => "; it needs user namespaces and a `/proc` of its own, which containers often refuse",
    };
    Err(format!("`sandbox = \"strict\"` cannot be had on this machine: {said}{hint}"))
}
