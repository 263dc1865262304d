//! Unix: pipes, process groups and signals. What only Linux has is in `linux.rs`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
mod spawner;

#[cfg(target_os = "linux")]
use linux as own;
#[cfg(not(target_os = "linux"))]
use other as own;

pub(super) use own::{init, sandbox_available, sandbox_counting, spawn};
#[cfg(target_os = "linux")]
pub(crate) use spawner::begin as keep_priority;
pub(super) use tokio::net::unix::pipe::{Receiver as Reader, Sender as Writer};

use super::{Child, Ending, Exit, Order, Program};
use crate::files::give_users_umask;
use nix::{
    errno::Errno,
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use std::{
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    process::{ExitStatus, Stdio},
};
use tokio::{
    process::{Child as Process, Command},
    sync::oneshot,
};

/// Starts a program as a child of this one.
async fn spawn_alone(program: &Program) -> io::Result<Child> {
    let mut command = Command::new(&program.file);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in program.hidden {
        command.env_remove(name);
    }
    command
        .args(&program.arguments)
        .envs(program.environment.iter().map(|(key, value)| (key, value)))
        .kill_on_drop(true);
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    own::before_exec(&mut command, &program.cores)?;
    give_users_umask(command.as_std_mut());
    let mut child = spawner::start(move || command.spawn()).await?;
    let group = id(&child)?;
    let pipes = Pipes::of(&mut child)?;
    let (tell, told) = oneshot::channel();
    // A task of its own awaits the end, so that the loop of the reader does not poll the process at every line.
    let name = program.name.clone();
    tokio::task::spawn(async move {
        let ending = ending(child.wait().await.ok());
        log_end(&name, group, &ending);
        let _nobody_asks = tell.send(ending);
    });
    pipes.child(program, Exit::new(told), Tree::Group(group))
}

fn id(child: &Process) -> io::Result<Pid> {
    let id = child.id().ok_or_else(|| io::Error::other("the new process has ended"))?;
    Ok(Pid::from_raw(i32::try_from(id).map_err(io::Error::other)?))
}

fn log_end(name: &str, pid: Pid, ending: &Ending) {
    tracing::debug!(target: "seat", pid = pid.as_raw(), engine = ?name, how = %ending, "engine ended");
}

/// The pipes of a new process.
struct Pipes {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

impl Pipes {
    /// New pipes, and the ends of a process: its stdin, stdout and stderr.
    #[cfg(target_os = "linux")]
    fn new() -> io::Result<(Self, [OwnedFd; 3])> {
        let pipe = || nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC);
        let [(their_stdin, stdin), (stdout, their_stdout), (stderr, their_stderr)] =
            [pipe()?, pipe()?, pipe()?];
        Ok((Self { stdin, stdout, stderr }, [their_stdin, their_stdout, their_stderr]))
    }

    fn of(child: &mut Process) -> io::Result<Self> {
        let taken = || io::Error::other("the new process has no pipes");
        let stdin = child.stdin.take().ok_or_else(taken)?.into_owned_fd()?;
        let stdout = child.stdout.take().ok_or_else(taken)?.into_owned_fd()?;
        let stderr = child.stderr.take().ok_or_else(taken)?.into_owned_fd()?;
        Ok(Self { stdin, stdout, stderr })
    }

    fn child(self, program: &Program, exit: Exit, tree: Tree) -> io::Result<Child> {
        tracing::debug!(target: "seat", pid = tree.id(), engine = ?program.name, program = ?program.file, "engine started");
        Ok(Child {
            stdin: super::Writer(Writer::from_owned_fd(self.stdin)?),
            stdout: super::Reader(Reader::from_owned_fd(self.stdout)?),
            stderr: super::Reader(Reader::from_owned_fd(self.stderr)?),
            exit,
            tree: super::Tree(tree),
        })
    }
}

/// An engine with what it has started.
#[derive(Debug)]
pub(super) enum Tree {
    /// A group of processes.
    Group(Pid),
    /// An engine and all its descendants, behind a guardian.
    #[cfg(target_os = "linux")]
    Guarded(own::Guarded),
}

impl Tree {
    pub fn id(&self) -> u32 {
        let pid = match self {
            Self::Group(group) => *group,
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => guarded.id(),
        };
        pid.as_raw().cast_unsigned()
    }

    pub fn order(&self, order: Order) -> io::Result<()> {
        let signal = match order {
            Order::Rest => Signal::SIGSTOP,
            Order::Resume => Signal::SIGCONT,
            Order::Leave => Signal::SIGTERM,
            Order::Kill => Signal::SIGKILL,
        };
        match self {
            // macOS answers EPERM for a group of which only zombies are left.
            Self::Group(group) => match killpg(*group, signal) {
                Ok(()) | Err(Errno::ESRCH | Errno::EPERM) => Ok(()),
                Err(error) => Err(error.into()),
            },
            #[cfg(target_os = "linux")]
            Self::Guarded(guarded) => {
                guarded.signal(signal);
                Ok(())
            }
        }
    }

    pub fn kill(&self, _has_ended: bool) {
        #[cfg(target_os = "linux")]
        if let (Self::Guarded(guarded), false) = (self, _has_ended) {
            guarded.strike();
        }
        let _gone = self.order(Order::Kill);
    }

    pub fn peak_kib(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        if let Self::Guarded(guarded) = self
            && let Some(peak) = guarded.peak_of_group()
        {
            return Some(peak);
        }
        own::peak_kib(self.id())
    }

    pub fn threads(&self) -> Option<u32> {
        own::threads(self.id())
    }
}

/// On Unix the end of a pipe is no error.
pub(super) fn or_end<T>(read: io::Result<T>, _end: T) -> io::Result<T> {
    read
}

fn ending(status: Option<ExitStatus>) -> Ending {
    let Some(status) = status else { return Ending::Unknown };
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => {
            let name = Signal::try_from(signal).map_or("an unknown signal", Signal::as_str);
            Ending::Signal { name, dumped: status.core_dumped() }
        }
        (None, None) => Ending::Unknown,
    }
}
