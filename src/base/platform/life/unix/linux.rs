//! Linux: every engine has a guardian, which ends what the engine has started.

mod guardian;
mod sandbox;

pub(super) use crate::proc::{peak_kib, threads};
pub(in super::super) use guardian::init;
pub(in super::super) use sandbox::{available as sandbox_available, counting as sandbox_counting};

use super::{
    super::{Ending, Program},
    Child, Command, Exit, Pipes, Tree, log_end, spawn_alone, spawner,
};
use guardian::{
    ControlGroup, Errand, News,
    orphans::{self, Guardian},
};
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    sys::{
        prctl::set_pdeathsig,
        signal::{Signal, kill, killpg},
    },
    unistd::{Pid, getpid, getppid, setsid},
};
use std::{
    io::{self, Write},
    os::unix::net::UnixStream as StdUnixStream,
    process::ExitStatus,
    time::Duration,
};
use tokio::{
    io::AsyncReadExt,
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::oneshot,
};

/// Most time for a new guardian to read its errand.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a program: behind a guardian, where this program has them.
pub(in super::super) async fn spawn(program: &Program) -> io::Result<Child> {
    match (guardian::is_enabled(), &program.strict) {
        (true, _) => spawn_guarded(program).await,
        (false, None) => spawn_alone(program).await,
        (false, Some(_)) => {
            Err(io::Error::other("`sandbox = \"strict\"` needs a guardian, which this program has not"))
        }
    }
}

/// Starts a program behind a guardian. A fork server that was killed shows at the next start, which has another; a guardian
/// that was killed before it could start its engine is no fault of the engine.
async fn spawn_guarded(program: &Program) -> io::Result<Child> {
    match try_spawn(program).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => try_spawn(program).await,
        other => other,
    }
}

async fn try_spawn(program: &Program) -> io::Result<Child> {
    core_set(&program.cores)?;
    let (ours, theirs) = StdUnixStream::pair()?;
    let (pipes, [stdin, stdout, stderr]) = Pipes::new()?;
    let errand = errand(program)?;
    let control = errand.group.clone().map(ControlGroup);
    let (errand, line) = (errand.encoded(), ours.try_clone()?);
    let start = move || {
        let guardian = orphans::guardian(&[theirs.into(), stdin, stdout, stderr])?;
        line.set_write_timeout(Some(PATIENCE))?;
        (&line).write_all(&errand).inspect_err(|_| orphans::forget(guardian))?;
        io::Result::Ok(guardian)
    };
    let started = spawner::start(start).await;
    let guardian = started.inspect_err(|_| control.iter().for_each(ControlGroup::remove))?;
    ours.set_nonblocking(true)?;
    let (mut news, line) = UnixStream::from_std(ours)?.into_split();
    let started = match next_news(&mut news).await {
        Some(News::Started(pid)) => Ok(Pid::from_raw(pid)),
        Some(News::Failed(error)) => Err(io::Error::from_raw_os_error(error)),
        _ => Err(io::Error::new(io::ErrorKind::ConnectionReset, "its guardian ended before it was started")),
    };
    let teller =
        Teller { name: program.name.clone(), pid: *started.as_ref().unwrap_or(&guardian.pid), tell: None };
    let exit = watch(teller, news, guardian, control.clone());
    let wrapped = program.strict.is_some();
    let guarded = Guarded { engine: started?, guardian, line, wrapped, control };
    pipes.child(program, exit, Tree::Guarded(guarded))
}

/// Has a task of its own await the end of an engine and of what it has started.
fn watch(mut teller: Teller, news: OwnedReadHalf, guardian: Guardian, control: Option<ControlGroup>) -> Exit {
    let ((tell, told), (clear, cleared)) = (oneshot::channel(), oneshot::channel());
    teller.tell = Some(tell);
    tokio::task::spawn(async move {
        await_end(news, guardian, teller).await;
        if let Some(control) = control {
            // Only where the guardian was killed is there anything to remove.
            let _panicked = tokio::task::spawn_blocking(move || control.remove()).await;
        }
        let _nobody_asks = clear.send(());
    });
    Exit::with_tree(told, cleared)
}

/// Tells the end of an engine, once.
struct Teller {
    name: String,
    pid: Pid,
    tell: Option<oneshot::Sender<Ending>>,
}

impl Teller {
    fn tell(&mut self, ending: Ending) {
        if let Some(tell) = self.tell.take() {
            log_end(&self.name, self.pid, &ending);
            let _nobody_asks = tell.send(ending);
        }
    }
}

fn errand(program: &Program) -> io::Result<Errand> {
    if let Some(strict) = &program.strict {
        return sandbox::errand(program, strict).map_err(io::Error::other);
    }
    let file = program.file.clone().into_os_string();
    Ok(Errand {
        directory: program.directory.clone(),
        environment: program.environment.clone(),
        hidden: program.hidden.iter().map(Into::into).collect(),
        cores: program.cores.clone(),
        arguments: std::iter::once(file).chain(program.arguments.iter().cloned()).collect(),
        ..Errand::default()
    })
}

/// Waits for the end of an engine and of everything that it has started: the guardian reports it, or the fork server where the
/// guardian was killed.
async fn await_end(mut news: OwnedReadHalf, guardian: Guardian, mut teller: Teller) {
    let (mut excess, mut is_cleared) = (None, false);
    let ending = |excess: Option<&'static str>, status: Option<ExitStatus>| {
        excess.map_or_else(|| super::ending(status), Ending::Excess)
    };
    while let Some(news) = next_news(&mut news).await {
        match news {
            News::Ended(status) => teller.tell(ending(excess, Some(status))),
            News::Started(_) => {}
            News::Failed(_) | News::Cleared => {
                is_cleared = true;
                break;
            }
            beyond => excess = excess.or(excess_text(beyond)),
        }
    }
    orphans::forget(guardian);
    teller.tell(ending(excess, None));
    if !is_cleared {
        let _panicked = tokio::task::spawn_blocking(move || orphans::end(guardian)).await;
    }
}

/// What an engine did beyond its limits.
fn excess_text(news: News) -> Option<&'static str> {
    match news {
        News::TooMuchMemory => Some("had more memory than `sandbox_memory_mb` allows"),
        News::TooManyThreads => Some("had more processes and threads than a strict sandbox allows"),
        News::TooManyFiles => Some("had more files than a strict sandbox allows"),
        News::NoRest => Some("computed while its opponent was to move"),
        News::Started(_) | News::Failed(_) | News::Ended(_) | News::Cleared => None,
    }
}

async fn next_news(line: &mut OwnedReadHalf) -> Option<News> {
    let mut bytes = [0; News::LENGTH];
    line.read_exact(&mut bytes).await.ok()?;
    News::parse(bytes)
}

/// An engine and all its descendants, behind a guardian.
#[derive(Debug)]
pub(in super::super) struct Guarded {
    engine: Pid,
    guardian: Guardian,
    /// The line to the guardian; closed, it ends everything.
    line: OwnedWriteHalf,
    /// True if the process is that of a sandbox, and the engine runs below it.
    wrapped: bool,
    /// The control group of the engine, where it has one.
    control: Option<ControlGroup>,
}

impl Guarded {
    /// The process of the engine.
    pub fn id(&self) -> Pid {
        if self.wrapped { Pid::from_raw(guardian::inside(self.engine.as_raw())) } else { self.engine }
    }

    /// Has the guardian pass a signal on, or end everything. A guardian that is gone has ended everything.
    pub fn signal(&self, signal: Signal) {
        let _gone = self.line.try_write(&[signal as u8]);
    }

    /// Ends an engine that may have stopped its guardian, and whoever stands in for it. As long as its end was not told, its
    /// number is its own.
    pub fn strike(&self) {
        let Guardian { pid, server } = self.guardian;
        let _gone = [pid, server].map(|stopped| kill(stopped, Signal::SIGCONT));
        let _gone = killpg(self.engine, Signal::SIGKILL);
    }

    /// Most memory of the control group in KiB, where the engine has one.
    pub fn peak_of_group(&self) -> Option<u64> {
        self.control.as_ref().and_then(ControlGroup::peak)
    }
}

/// What the child does between fork and exec: it leaves the terminal, ties its life to that of the thread that forks it,
/// and so to this program's, which may be killed outright; and it takes its cores.
#[allow(unsafe_code)]
pub(super) fn before_exec(command: &mut Command, cores: &[usize]) -> io::Result<()> {
    let (set, pinned) = (core_set(cores)?, !cores.is_empty());
    let parent = getpid();
    // SAFETY: only async-signal-safe system calls, and no allocation, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            set_pdeathsig(Signal::SIGKILL)?;
            if getppid() != parent {
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

/// Cores as the system takes them.
fn core_set(cores: &[usize]) -> io::Result<CpuSet> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core)?;
    }
    Ok(set)
}

/// A child inherits the cores of the thread that forks it, which inherited those of the thread that wanted the first
/// engine. That one may be pinned; the first thread of the program never is.
pub(super) fn take_cores_of_program() {
    if let Ok(cores) = sched_getaffinity(getpid()) {
        let _inherited_ones_stay = sched_setaffinity(Pid::from_raw(0), &cores);
    }
}

#[cfg(test)]
mod tests;
