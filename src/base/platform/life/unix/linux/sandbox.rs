//! The strict sandbox: an engine that nobody trusts, in namespaces of its own.
//!
//! `bubblewrap` makes them, as root or as any user: its processes see no others, no network, all files read-only, a
//! `/tmp`, `/run` and `/dev/shm` of its own, no variables of ours but a few, and a filter of system calls. Where this
//! program is root the engine is not. Its guardian looks after its memory, its files and its threads, and stops it while
//! its opponent is to move. What cannot be had refuses the start: a strict sandbox is never less than strict.

mod filter;

use super::{
    super::super::{Program, Strict, sandbox::SandboxError},
    guardian::{self, ControlGroup, Errand, OWN},
};
use crate::proc::children;
use nix::{sys::wait::waitpid, unistd::Pid};
use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, BufRead, BufReader, Write},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The user that an engine becomes where this program is root: `nobody`.
const NOBODY: u32 = 65534;
/// Most processes and threads of an engine, together: those of an engine that thinks on 256 cores, or twice its own cores.
const THREADS: u64 = 512;
/// Most files in the directories that an engine has for its own.
const FILES: u64 = 16_384;
/// Bytes of each directory of its own that an engine may write to, kept in memory.
const PRIVATE: &str = "67108864";
/// Devices that an engine has. `/dev/zero` is none of them: its memory could not be counted.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];
/// Links to its own pipes.
const LINKS: [[&str; 2]; 4] = [
    ["/proc/self/fd", "/dev/fd"],
    ["/proc/self/fd/0", "/dev/stdin"],
    ["/proc/self/fd/1", "/dev/stdout"],
    ["/proc/self/fd/2", "/dev/stderr"],
];
/// Variables of this program that an engine has, too, beside those of the language (`LC_`).
const VARIABLES: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH"];

/// What a guardian needs to know to start an engine in a strict sandbox.
///
/// # Errors
/// Why there is none.
pub(super) fn errand(program: &Program, strict: &Strict) -> Result<Errand, SandboxError> {
    let directory = match &program.directory {
        Some(directory) => directory.clone(),
        None => env::current_dir().map_err(SandboxError::Directory)?,
    };
    let directory = directory.canonicalize().unwrap_or(directory);
    let mut arguments = vec![wrapper()?.into_os_string()];
    arguments.extend(base());
    // What the loader obeys is for the engine, not for the program around it.
    let (loaders, environment): (Vec<_>, Vec<_>) =
        environment(program, env::vars_os()).into_iter().partition(|(name, _)| is_loaders(name));
    for (name, value) in loaders {
        arguments.extend(["--setenv".into(), name, value]);
    }
    for path in shown(program, &directory) {
        arguments.extend(["--ro-bind".into(), path.clone(), path]);
    }
    for path in &strict.writable {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone()).into_os_string();
        arguments.extend(["--bind".into(), path.clone(), path]);
    }
    arguments.extend(["--chdir".into(), directory.into_os_string(), "--".into()]);
    arguments.push(program.file.clone().into_os_string());
    arguments.extend(program.arguments.iter().cloned());
    let threads = THREADS.max(strict.threads);
    Ok(Errand {
        user: nix::unistd::geteuid().is_root().then_some(NOBODY),
        memory: strict.memory_mb,
        threads,
        files: FILES,
        own_environment: true,
        filter: filter::bytes()?,
        group: ControlGroup::new(strict.memory_mb, threads).map(|group| group.0),
        cores: program.cores.clone(),
        environment,
        arguments,
        ..Errand::default()
    })
}

/// The namespaces and the files of every sandbox.
fn base() -> Vec<OsString> {
    let mut words = vec!["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"];
    words.extend(["--cap-drop", "ALL", "--ro-bind", "/", "/", "--tmpfs", "/dev", "--proc", "/proc"]);
    for device in DEVICES {
        words.extend(["--dev-bind", device, device]);
    }
    for [to, link] in LINKS {
        words.extend(["--symlink", to, link]);
    }
    for own in OWN {
        words.extend(["--size", PRIVATE, "--tmpfs", own]);
    }
    words.extend(["--remount-ro", "/dev"]);
    words.into_iter().map(OsString::from).collect()
}

/// The variables of an engine: those that the plan gives it, and a few of this program.
fn environment(
    program: &Program,
    ours: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let is_shared = |name: &OsString| {
        name.to_str().is_some_and(|name| VARIABLES.contains(&name) || name.starts_with("LC_"))
    };
    let given = &program.environment;
    let is_given = |name: &OsString| given.iter().any(|(given, _)| name == given);
    ours.filter(|(name, _)| is_shared(name) && !is_given(name)).chain(given.iter().cloned()).collect()
}

/// True if the loader of programs obeys a variable.
fn is_loaders(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("LD_") || name.starts_with("GLIBC_") || name.starts_with("GCONV_")
}

/// Paths of the engine that lie in a directory which it has for its own, and are shown there nevertheless.
fn shown(program: &Program, directory: &Path) -> Vec<OsString> {
    let file = program.file.canonicalize().unwrap_or_else(|_| program.file.clone());
    let named = program.file.parent().map(Path::to_path_buf);
    let beside = file.parent().map(Path::to_path_buf);
    let is_hidden = |path: &PathBuf| OWN.iter().any(|own| path.starts_with(own) && path != Path::new(own));
    let mut paths: Vec<PathBuf> =
        [named, beside, Some(directory.to_owned())].into_iter().flatten().filter(is_hidden).collect();
    paths.sort();
    paths.dedup();
    paths.into_iter().map(PathBuf::into_os_string).collect()
}

/// The program that makes the namespaces.
fn wrapper() -> Result<PathBuf, SandboxError> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|directory| directory.join("bwrap")).find(|file| file.is_file());
    found.ok_or(SandboxError::NoWrapper)
}

/// Whether this machine has what a strict sandbox needs; tries it with `cat` in place of an engine.
///
/// # Errors
/// What is missing, and what to do.
pub(in super::super::super) fn available() -> Result<(), SandboxError> {
    let mut trial = trial(&wrapper()?)?;
    let answers = answers(&mut trial).map_err(SandboxError::Trial)?;
    let is_visible = answers && guardian::is_visible(guardian::inside(trial.id().cast_signed()));
    let inner = children(trial.id().cast_signed());
    drop(trial.stdin.take());
    let ended = trial.wait_with_output().map_err(SandboxError::Trial)?;
    // `bwrap` ends before the first process of its namespaces, which this program then adopts, if it adopts any.
    inner.into_iter().for_each(|pid| _ = waitpid(Pid::from_raw(pid), None));
    if !answers {
        let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        return Err(SandboxError::Refused { said, hint: hint() });
    }
    is_visible.then_some(()).ok_or(SandboxError::Unseen)
}

/// Who counts what a strict engine holds on this machine, as a sentence for the log.
pub(in super::super::super) fn counting() -> &'static str {
    match guardian::has_groups() {
        true => {
            "the memory and the processes of strict engines are counted by the kernel, in a control group for each"
        }
        false => {
            "the memory and the processes of strict engines are counted by this program: no control groups were delegated to it"
        }
    }
}

/// A sandbox with `cat` in it.
#[allow(unsafe_code)]
fn trial(wrapper: &Path) -> Result<Child, SandboxError> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(wrapper);
    let filter = guardian::file_in_memory(&filter::bytes()?).map_err(SandboxError::Trial)?;
    let descriptor = filter.as_raw_fd();
    command.args(["--seccomp", &descriptor.to_string()]).args(base()).args(["--", "cat"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if nix::unistd::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    // SAFETY: one async-signal-safe system call, and no allocation, between fork and exec.
    unsafe {
        command.pre_exec(move || guardian::pass_on(descriptor));
    }
    command.spawn().map_err(SandboxError::Trial)
}

/// Whether `cat` repeats a line.
fn answers(trial: &mut Child) -> io::Result<bool> {
    let (Some(stdin), Some(stdout)) = (&mut trial.stdin, &mut trial.stdout) else { return Ok(false) };
    let _has_ended = stdin.write_all(b"here\n");
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    Ok(line == "here\n")
}

fn hint() -> &'static str {
    match fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") {
        Ok(on) if on.trim() == "1" => "; AppArmor keeps user namespaces from it: it needs a profile",
        _ => "; it needs user namespaces and a `/proc` of its own, which containers often refuse",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_has_few_variables_of_ours_and_those_of_its_plan() {
        let pair = |(name, value): (&str, &str)| (OsString::from(name), OsString::from(value));
        let environment_given = [("TZ", "Asia/Tokyo"), ("NET", "x")].map(pair).to_vec();
        let program = Program { environment: environment_given, ..Program::default() };
        let ours =
            [("PATH", "/bin"), ("TZ", "UTC"), ("LC_ALL", "C"), ("RENMEI_JOIN", "secret"), ("TOKEN", "t")];
        let has = environment(&program, ours.into_iter().map(pair));
        let expected = [("PATH", "/bin"), ("LC_ALL", "C"), ("TZ", "Asia/Tokyo"), ("NET", "x")];
        assert_eq!(has, expected.map(pair));
    }
}
