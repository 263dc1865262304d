//! An engine's process: started in a group of its own, never outliving this program, ended in stages.

use crate::spawner;
use nix::{
    sched::{CpuSet, sched_setaffinity},
    sys::{
        prctl::set_pdeathsig,
        signal::{Signal, killpg},
    },
    unistd::Pid,
};
use plan::EnginePlan;
use std::{
    future::Future,
    io,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
    time::Duration,
};
use tokio::{
    io::AsyncRead,
    net::unix::pipe,
    process::{ChildStderr, Command},
    sync::oneshot,
    time::timeout,
};

/// A running engine. Its pipes are those of a process, except in tests, where a script stands in for the engine.
#[derive(Debug)]
pub struct Process<I = pipe::Sender, O = pipe::Receiver> {
    /// Its stdin; `None` once it is closed.
    pub stdin: Option<I>,
    /// Its stdout.
    pub stdout: O,
    /// Its stderr, until it is taken to be read.
    pub stderr: Option<ChildStderr>,
    /// Its end.
    pub exit: Exit,
    pub(crate) group: Group,
}

/// The end of a pipe that an engine reads from; writes never block.
pub trait Input {
    /// Writes what fits, and returns how many bytes that were.
    ///
    /// # Errors
    /// `WouldBlock` when nothing fits; others when the engine has closed its end.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Resolves when more fits.
    fn writable(&self) -> impl Future<Output = ()> + Send;
}

/// The end of a pipe that an engine writes to.
pub trait Output: AsyncRead + Unpin {
    /// Reads what is there now.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is there.
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize>;
}

impl Input for pipe::Sender {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        pipe::Sender::try_write(self, bytes)
    }

    async fn writable(&self) {
        // An error shows at the next write.
        let _error = pipe::Sender::writable(self).await;
    }
}

impl Output for pipe::Receiver {
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        pipe::Receiver::try_read(self, buffer)
    }
}

/// Starts engines.
pub(crate) trait Launcher {
    /// The engine's stdin.
    type Input: Input;
    /// The engine's stdout.
    type Output: Output;

    /// Starts an engine on the cores given, see [`spawn`].
    async fn launch(
        &self,
        engine: &EnginePlan,
        cores: &[usize],
    ) -> io::Result<Process<Self::Input, Self::Output>>;
}

/// Starts engines as processes of the operating system.
#[derive(Debug)]
pub(crate) struct System;

impl Launcher for System {
    type Input = pipe::Sender;
    type Output = pipe::Receiver;

    async fn launch(&self, engine: &EnginePlan, cores: &[usize]) -> io::Result<Process> {
        spawn(engine, cores).await
    }
}

/// The process group that an engine leads.
#[derive(Debug)]
pub(crate) enum Group {
    /// A group of processes.
    Processes(Pid),
    /// A script that is told of signals.
    #[cfg(test)]
    Script(tokio::sync::mpsc::UnboundedSender<Signal>),
}

impl Group {
    fn signal(&self, signal: Signal) {
        match self {
            Self::Processes(group) => drop(killpg(*group, signal)),
            #[cfg(test)]
            Self::Script(signals) => drop(signals.send(signal)),
        }
    }

    fn number(&self) -> i32 {
        match self {
            Self::Processes(group) => group.as_raw(),
            #[cfg(test)]
            Self::Script(_) => nix::unistd::getpid().as_raw(),
        }
    }
}

/// The end of a process; it can be awaited again and again.
#[derive(Debug)]
pub struct Exit {
    told: oneshot::Receiver<Option<ExitStatus>>,
    status: Option<Option<ExitStatus>>,
}

impl Exit {
    pub(crate) fn new(told: oneshot::Receiver<Option<ExitStatus>>) -> Self {
        Self { told, status: None }
    }

    /// Resolves when the process has ended.
    pub async fn happened(&mut self) {
        if self.status.is_none() {
            self.status = Some((&mut self.told).await.ok().flatten());
        }
    }
}

/// Starts an engine on the cores given; without any, on all that this program may use. The fork happens on a thread of
/// its own.
///
/// # Errors
/// When the program cannot be started.
pub async fn spawn(engine: &EnginePlan, cores: &[usize]) -> io::Result<Process> {
    let mut command = Command::new(&engine.command);
    command
        .args(&engine.args)
        .envs(engine.environment.iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(directory) = &engine.directory {
        command.current_dir(directory);
    }
    before_exec(&mut command, cores)?;
    files::give_users_umask(command.as_std_mut());
    let mut child = spawner::spawn(command).await?;
    let taken = || io::Error::other("the new process has no pipes");
    let stdin = child.stdin.take().ok_or_else(taken)?.into_owned_fd()?;
    let stdout = child.stdout.take().ok_or_else(taken)?.into_owned_fd()?;
    let stderr = child.stderr.take();
    let group = Pid::from_raw(i32::try_from(child.id().ok_or_else(taken)?).map_err(io::Error::other)?);
    tracing::debug!(target: "seat", pid = group.as_raw(), engine = ?engine.name, program = ?engine.command, "engine started");
    let (tell, exit) = oneshot::channel();
    let name = engine.name.clone();
    // A task of its own awaits the end, so that the loop of the reader does not poll the process at every line.
    tokio::task::spawn(async move {
        let status = child.wait().await.ok();
        tracing::debug!(target: "seat", pid = group.as_raw(), engine = ?name, how = ending_text(status), "engine ended");
        let _nobody_asks = tell.send(status);
    });
    Ok(Process {
        stdin: Some(pipe::Sender::from_owned_fd(stdin)?),
        stdout: pipe::Receiver::from_owned_fd(stdout)?,
        stderr,
        exit: Exit::new(exit),
        group: Group::Processes(group),
    })
}

/// What the child does between fork and exec: it ties its life to that of the thread that forks it, and so to this
/// program's, which may be killed outright; and it takes its cores.
#[allow(unsafe_code)]
fn before_exec(command: &mut Command, cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core)?;
    }
    let pinned = !cores.is_empty();
    let parent = nix::unistd::getpid();
    // SAFETY: only async-signal-safe system calls, and no allocation, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            set_pdeathsig(Signal::SIGKILL)?;
            if nix::unistd::getppid() != parent {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if pinned {
                sched_setaffinity(Pid::from_raw(0), &set)?;
            }
            Ok(())
        });
    }
    Ok(())
}

impl<I, O> Process<I, O> {
    /// How the process ended, or that it has not within `patience`.
    pub async fn ending(&mut self, patience: Duration) -> String {
        match timeout(patience, self.exit.happened()).await {
            Ok(()) => ending_text(self.exit.status.flatten()),
            Err(_) => "it closed its output and runs on".to_owned(),
        }
    }

    /// The process group it leads.
    #[must_use]
    pub fn group(&self) -> i32 {
        self.group.number()
    }

    /// Sends a signal to the whole group; a group that is gone is no error.
    pub fn signal(&self, signal: Signal) {
        self.group.signal(signal);
    }

    /// Ends the process and everything it started: waits for it to leave by itself after `quit`, then sends SIGTERM, then
    /// SIGKILL. False if it had to be killed.
    pub async fn end(mut self, quit: Duration, terminate: Duration) -> bool {
        self.stdin = None; // end of input: engines that do not know `quit` leave now
        if timeout(quit, self.exit.happened()).await.is_err() {
            self.signal(Signal::SIGTERM);
            if timeout(terminate, self.exit.happened()).await.is_err() {
                self.signal(Signal::SIGKILL);
                self.exit.happened().await;
                return false;
            }
        }
        true
    }

    /// Ends the process at once.
    pub async fn kill(mut self) {
        self.signal(Signal::SIGKILL);
        self.exit.happened().await;
    }
}

impl<I, O> Drop for Process<I, O> {
    /// Kills what the engine started.
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

fn ending_text(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "it ended".to_owned() };
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with code {code}"),
        (None, Some(signal)) => {
            let name = Signal::try_from(signal).map_or("an unknown signal", Signal::as_str);
            format!("it was killed by {name}{}", if status.core_dumped() { " (core dumped)" } else { "" })
        }
        (None, None) => "it ended".to_owned(),
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
