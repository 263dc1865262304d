//! An engine's process: started in a group of its own, never outliving this program, ended in stages.

use crate::{
    guardian::{self, ControlGroup, Errand, News, orphans},
    sandbox, spawner,
};
use nix::{
    fcntl::{FcntlArg, FdFlag, fcntl},
    sched::{CpuSet, sched_setaffinity},
    sys::{
        prctl::set_pdeathsig,
        signal::{Signal, kill, killpg},
    },
    unistd::{Pid, setsid},
};
use plan::{EnginePlan, Sandbox};
use platform::files;
use std::{
    future::Future,
    io,
    os::{
        fd::{AsRawFd, BorrowedFd, OwnedFd},
        unix::{net::UnixStream as StdUnixStream, process::ExitStatusExt},
    },
    process::{ExitStatus, Stdio},
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf, pipe},
    },
    process::{Child, ChildStderr, Command},
    sync::oneshot,
    time::timeout,
};

/// Most time for a guardian to end what an engine has started, before the game goes on without it.
const CLEARING: Duration = Duration::from_secs(5);

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
    /// An engine and all its descendants, behind a guardian.
    Guarded {
        /// The engine.
        engine: Pid,
        /// Its guardian.
        guardian: Pid,
        /// The line to the guardian; closed, it ends everything.
        line: OwnedWriteHalf,
        /// Whether the process is that of a sandbox, and the engine runs below it.
        wrapped: bool,
        /// The control group of the engine, where it has one.
        control: Option<ControlGroup>,
    },
    /// A script that is told of signals.
    #[cfg(test)]
    Script(tokio::sync::mpsc::UnboundedSender<Signal>),
}

impl Group {
    fn signal(&self, signal: Signal) {
        match self {
            Self::Processes(group) => drop(killpg(*group, signal)),
            Self::Guarded { line, .. } => drop(line.try_write(&[signal as u8])),
            #[cfg(test)]
            Self::Script(signals) => drop(signals.send(signal)),
        }
    }

    fn number(&self) -> i32 {
        match self {
            Self::Guarded { engine, wrapped: true, .. } => guardian::inside(engine.as_raw()),
            Self::Processes(group) | Self::Guarded { engine: group, .. } => group.as_raw(),
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
    /// Resolves when everything else that the engine started has ended, too, or is given up.
    cleared: Option<oneshot::Receiver<()>>,
    /// What it did beyond its limits.
    excess: Arc<OnceLock<&'static str>>,
}

impl Exit {
    pub(crate) fn new(told: oneshot::Receiver<Option<ExitStatus>>) -> Self {
        Self { told, status: None, cleared: None, excess: Arc::default() }
    }

    /// Resolves when the process has ended.
    pub async fn happened(&mut self) {
        if self.status.is_none() {
            self.status = Some((&mut self.told).await.ok().flatten());
        }
    }

    /// Resolves when the process and everything that it started have ended.
    async fn of_all(&mut self) {
        self.happened().await;
        if let Some(cleared) = self.cleared.take() {
            let _given_up = cleared.await;
        }
    }
}

/// Starts an engine on the cores given; without any, on all that this program may use. The fork happens on a thread of
/// its own.
///
/// # Errors
/// When the program cannot be started.
pub async fn spawn(engine: &EnginePlan, cores: &[usize]) -> io::Result<Process> {
    match guardian::is_enabled() {
        true => spawn_guarded(engine, cores).await,
        false => spawn_alone(engine, cores).await,
    }
}

/// Starts an engine as a child of this program.
async fn spawn_alone(engine: &EnginePlan, cores: &[usize]) -> io::Result<Process> {
    if engine.sandbox.kind == Sandbox::Strict {
        return Err(io::Error::other("`sandbox = \"strict\"` needs a guardian, which this program has not"));
    }
    let mut command = piped(&engine.command);
    command
        .args(&engine.args)
        .envs(engine.environment.iter().map(|(key, value)| (key, value)))
        .kill_on_drop(true);
    if let Some(directory) = &engine.directory {
        command.current_dir(directory);
    }
    before_exec(&mut command, cores)?;
    files::give_users_umask(command.as_std_mut());
    let mut child = spawner::spawn(command, None).await?;
    let group = id(&child)?;
    let pipes = Pipes::of(&mut child)?;
    let (tell, exit) = oneshot::channel();
    // A task of its own awaits the end, so that the loop of the reader does not poll the process at every line.
    let name = engine.name.clone();
    tokio::task::spawn(async move {
        let status = child.wait().await.ok();
        tell_end(&name, group, status);
        let _nobody_asks = tell.send(status);
    });
    pipes.process(engine, Exit::new(exit), Group::Processes(group))
}

/// Starts an engine behind a guardian.
async fn spawn_guarded(engine: &EnginePlan, cores: &[usize]) -> io::Result<Process> {
    let (ours, theirs) = StdUnixStream::pair()?;
    let mut command = piped("/proc/self/exe".as_ref());
    command.arg0(guardian::NAME).arg(theirs.as_raw_fd().to_string());
    before_guardian(&mut command, cores, theirs.into())?;
    files::give_users_umask(command.as_std_mut());
    let errand = errand(engine)?;
    let control = errand.group.clone().map(ControlGroup);
    let (left, errand) = (control.clone(), errand.encoded());
    let spawned = spawner::spawn(command, Some((ours.try_clone()?, errand))).await;
    let mut child = spawned.inspect_err(|_| control.iter().for_each(ControlGroup::remove))?;
    let (guardian, pipes) = (id(&child)?, Pipes::of(&mut child)?);
    ours.set_nonblocking(true)?;
    let (mut news, line) = UnixStream::from_std(ours)?.into_split();
    let started = match next_news(&mut news).await {
        Some(News::Started(pid)) => Ok(Pid::from_raw(pid)),
        Some(News::Failed(error)) => Err(io::Error::from_raw_os_error(error)),
        _ => Err(io::Error::other("its guardian ended before it was started")),
    };
    let ((tell, told), (clear, cleared)) = (oneshot::channel(), oneshot::channel());
    let exit = Exit { cleared: Some(cleared), ..Exit::new(told) };
    let excess = exit.excess.clone();
    let wrapped = engine.sandbox.kind == Sandbox::Strict;
    let (name, pid) = (engine.name.clone(), *started.as_ref().unwrap_or(&guardian));
    tokio::task::spawn(async move {
        let mut tell = Some(tell);
        let tell = |status: Option<ExitStatus>| {
            if let Some(tell) = tell.take() {
                tell_end(&name, pid, status);
                let _nobody_asks = tell.send(status);
            }
        };
        await_end(news, child, guardian, &excess, tell).await;
        if let Some(control) = left {
            // Only where the guardian was killed is there anything to remove.
            let _panicked = tokio::task::spawn_blocking(move || control.remove()).await;
        }
        let _nobody_asks = clear.send(());
    });
    pipes.process(engine, exit, Group::Guarded { engine: started?, guardian, line, wrapped, control })
}

fn errand(engine: &EnginePlan) -> io::Result<Errand> {
    if engine.sandbox.kind == Sandbox::Strict {
        return sandbox::errand(engine).map_err(io::Error::other);
    }
    let program = engine.command.clone().into_os_string();
    Ok(Errand {
        directory: engine.directory.clone(),
        environment: engine.environment.iter().map(|(key, value)| (key.into(), value.into())).collect(),
        arguments: std::iter::once(program).chain(engine.args.iter().map(Into::into)).collect(),
        ..Errand::default()
    })
}

/// Waits for the end of an engine, and of its guardian, who has ended everything else by then.
async fn await_end(
    mut news: OwnedReadHalf,
    mut child: Child,
    guardian: Pid,
    excess: &OnceLock<&'static str>,
    mut tell: impl FnMut(Option<ExitStatus>),
) {
    while let Some(news) = next_news(&mut news).await {
        match news {
            News::Ended(status) => tell(Some(status)),
            News::TooMuchMemory => _ = excess.set("had more memory than `sandbox_memory_mb` allows"),
            News::TooManyThreads => {
                _ = excess.set("had more processes and threads than a strict sandbox allows")
            }
            News::TooManyFiles => _ = excess.set("had more files than a strict sandbox allows"),
            News::NoRest => _ = excess.set("computed while its opponent was to move"),
            News::Started(_) | News::Failed(_) => {}
        }
    }
    let Ok(ended) = timeout(CLEARING, child.wait()).await else { return };
    let ended = ended.ok();
    tell(ended);
    orphans::forget(guardian.as_raw());
    if ended.is_none_or(|status| status.signal().is_some()) {
        let _panicked = tokio::task::spawn_blocking(orphans::end).await;
    }
}

async fn next_news(line: &mut OwnedReadHalf) -> Option<News> {
    let mut bytes = [0; News::LENGTH];
    line.read_exact(&mut bytes).await.ok()?;
    News::parse(bytes)
}

/// A command whose three standard streams are pipes.
fn piped(program: &std::path::Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn id(child: &Child) -> io::Result<Pid> {
    let id = child.id().ok_or_else(|| io::Error::other("the new process has ended"))?;
    Ok(Pid::from_raw(i32::try_from(id).map_err(io::Error::other)?))
}

fn tell_end(name: &str, pid: Pid, status: Option<ExitStatus>) {
    tracing::debug!(target: "seat", pid = pid.as_raw(), engine = ?name, how = ending_text(status), "engine ended");
}

/// The pipes of a new process.
struct Pipes {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: Option<ChildStderr>,
}

impl Pipes {
    fn of(child: &mut Child) -> io::Result<Self> {
        let taken = || io::Error::other("the new process has no pipes");
        let stdin = child.stdin.take().ok_or_else(taken)?.into_owned_fd()?;
        let stdout = child.stdout.take().ok_or_else(taken)?.into_owned_fd()?;
        Ok(Self { stdin, stdout, stderr: child.stderr.take() })
    }

    fn process(self, engine: &EnginePlan, exit: Exit, group: Group) -> io::Result<Process> {
        tracing::debug!(target: "seat", pid = group.number(), engine = ?engine.name, program = ?engine.command, "engine started");
        Ok(Process {
            stdin: Some(pipe::Sender::from_owned_fd(self.stdin)?),
            stdout: pipe::Receiver::from_owned_fd(self.stdout)?,
            stderr: self.stderr,
            exit,
            group,
        })
    }
}

/// What the child does between fork and exec: it leaves the terminal, ties its life to that of the thread that forks it,
/// and so to this program's, which may be killed outright; and it takes its cores.
#[allow(unsafe_code)]
fn before_exec(command: &mut Command, cores: &[usize]) -> io::Result<()> {
    let (set, pinned) = core_set(cores)?;
    let parent = nix::unistd::getpid();
    // SAFETY: only async-signal-safe system calls, and no allocation, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
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

/// What a guardian does between fork and exec: it leaves the terminal, keeps its line, and takes the cores of its engine.
/// Its life is not tied to that of this program: the line tells it of the end, and it has work to do then.
#[allow(unsafe_code)]
fn before_guardian(command: &mut Command, cores: &[usize], line: OwnedFd) -> io::Result<()> {
    let (set, pinned) = core_set(cores)?;
    // SAFETY: only async-signal-safe system calls, and no allocation, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            if pinned {
                sched_setaffinity(Pid::from_raw(0), &set)?;
            }
            let line = BorrowedFd::borrow_raw(line.as_raw_fd());
            fcntl(line, FcntlArg::F_SETFD(FdFlag::empty()))?;
            Ok(())
        });
    }
    Ok(())
}

/// Cores as the system takes them, and whether there are any.
fn core_set(cores: &[usize]) -> io::Result<(CpuSet, bool)> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core)?;
    }
    Ok((set, !cores.is_empty()))
}

impl<I, O> Process<I, O> {
    /// How the process ended, or that it has not within `patience`.
    pub async fn ending(&mut self, patience: Duration) -> String {
        match timeout(patience, self.exit.happened()).await {
            Ok(()) => match self.exit.excess.get() {
                Some(excess) => format!("it was ended, because it {excess}"),
                None => ending_text(self.exit.status.flatten()),
            },
            Err(_) => "it closed its output and runs on".to_owned(),
        }
    }

    /// The process of the engine; without a strict sandbox it leads its process group.
    #[must_use]
    pub fn group(&self) -> i32 {
        self.group.number()
    }

    /// The control group of the engine, where it has one.
    pub(crate) fn control(&self) -> Option<&ControlGroup> {
        match &self.group {
            Group::Guarded { control, .. } => control.as_ref(),
            _ => None,
        }
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
                self.kill().await;
                return false;
            }
        }
        self.signal(Signal::SIGKILL); // what it has left behind
        self.exit.of_all().await;
        true
    }

    /// Ends the process at once.
    pub async fn kill(mut self) {
        if let Group::Guarded { engine, guardian, .. } = &self.group
            && self.exit.status.is_none()
        {
            // An engine may have stopped its guardian. As long as its end was not told, its number is its own.
            let _gone = (kill(*guardian, Signal::SIGCONT), killpg(*engine, Signal::SIGKILL));
        }
        self.signal(Signal::SIGKILL);
        self.exit.of_all().await;
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
