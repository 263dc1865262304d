//! Linux: every engine has a guardian, which ends what the engine has started.

mod guardian;
mod memory;
mod sandbox;

pub(in super::super) use guardian::init;
pub(super) use memory::{peak_kib, threads};
pub(in super::super) use sandbox::{available as sandbox_available, counting as sandbox_counting};

use super::{
    super::{Ending, Program},
    Child, Command, Exit, Pipes, Process, Tree, id, log_end, piped, spawn_alone, spawner,
};
use guardian::{ControlGroup, Errand, News, orphans};
use nix::{
    fcntl::{FcntlArg, FdFlag, fcntl},
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    sys::{
        prctl::set_pdeathsig,
        signal::{Signal, kill, killpg},
    },
    unistd::{Pid, getpid, getppid, setsid},
};
use std::{
    io::{self, Write},
    os::{
        fd::{AsRawFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream as StdUnixStream,
    },
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
    time::timeout,
};

/// Most time for a guardian to end what an engine has started, before the game goes on without it.
const CLEARING: Duration = Duration::from_secs(5);
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

/// Starts a program behind a guardian.
async fn spawn_guarded(program: &Program) -> io::Result<Child> {
    let (ours, theirs) = StdUnixStream::pair()?;
    let mut command = piped("/proc/self/exe".as_ref(), program);
    command.arg0(guardian::NAME).arg(theirs.as_raw_fd().to_string());
    before_guardian(&mut command, &program.cores, theirs.into())?;
    program.prepare(&mut command);
    let errand = errand(program)?;
    let control = errand.group.clone().map(ControlGroup);
    let (errand, line) = (errand.encoded(), ours.try_clone()?);
    let spawned = spawner::start(move || {
        let child = orphans::guardian(&mut command)?;
        line.set_write_timeout(Some(PATIENCE))?;
        (&line).write_all(&errand)?;
        Ok(child)
    });
    let mut child = spawned.await.inspect_err(|_| control.iter().for_each(ControlGroup::remove))?;
    let (guardian, pipes) = (id(&child)?, Pipes::of(&mut child)?);
    ours.set_nonblocking(true)?;
    let (mut news, line) = UnixStream::from_std(ours)?.into_split();
    let started = match next_news(&mut news).await {
        Some(News::Started(pid)) => Ok(Pid::from_raw(pid)),
        Some(News::Failed(error)) => Err(io::Error::from_raw_os_error(error)),
        _ => Err(io::Error::other("its guardian ended before it was started")),
    };
    let teller =
        Teller { name: program.name.clone(), pid: *started.as_ref().unwrap_or(&guardian), tell: None };
    let exit = watch(teller, news, child, guardian, control.clone());
    let wrapped = program.strict.is_some();
    let guarded = Guarded { engine: started?, guardian, line, wrapped, control };
    pipes.child(program, exit, Tree::Guarded(guarded))
}

/// Has a task of its own await the end of an engine and of what it has started.
fn watch(
    mut teller: Teller,
    news: OwnedReadHalf,
    child: Process,
    guardian: Pid,
    control: Option<ControlGroup>,
) -> Exit {
    let ((tell, told), (clear, cleared)) = (oneshot::channel(), oneshot::channel());
    teller.tell = Some(tell);
    tokio::task::spawn(async move {
        await_end(news, child, guardian, teller).await;
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
        arguments: std::iter::once(file).chain(program.arguments.iter().cloned()).collect(),
        ..Errand::default()
    })
}

/// Waits for the end of an engine, and of its guardian, who has ended everything else by then.
async fn await_end(mut news: OwnedReadHalf, mut child: Process, guardian: Pid, mut teller: Teller) {
    let mut excess = None;
    let ending = |excess: Option<&'static str>, status: Option<ExitStatus>| {
        excess.map_or_else(|| super::ending(status), Ending::Excess)
    };
    while let Some(news) = next_news(&mut news).await {
        match news {
            News::Ended(status) => teller.tell(ending(excess, Some(status))),
            News::Started(_) | News::Failed(_) => {}
            beyond => excess = excess.or(excess_text(beyond)),
        }
    }
    let Ok(ended) = timeout(CLEARING, child.wait()).await else { return };
    let ended = ended.ok();
    teller.tell(ending(excess, ended));
    orphans::forget(guardian.as_raw());
    if ended.is_none_or(|status| std::os::unix::process::ExitStatusExt::signal(&status).is_some()) {
        let _panicked = tokio::task::spawn_blocking(orphans::end).await;
    }
}

/// What an engine did beyond its limits.
fn excess_text(news: News) -> Option<&'static str> {
    match news {
        News::TooMuchMemory => Some("had more memory than `sandbox_memory_mb` allows"),
        News::TooManyThreads => Some("had more processes and threads than a strict sandbox allows"),
        News::TooManyFiles => Some("had more files than a strict sandbox allows"),
        News::NoRest => Some("computed while its opponent was to move"),
        News::Started(_) | News::Failed(_) | News::Ended(_) => None,
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
    guardian: Pid,
    /// The line to the guardian; closed, it ends everything.
    line: OwnedWriteHalf,
    /// Whether the process is that of a sandbox, and the engine runs below it.
    wrapped: bool,
    /// The control group of the engine, where it has one.
    control: Option<ControlGroup>,
}

impl Guarded {
    /// The process of the engine.
    pub fn id(&self) -> Pid {
        match self.wrapped {
            true => Pid::from_raw(guardian::inside(self.engine.as_raw())),
            false => self.engine,
        }
    }

    /// Has the guardian pass a signal on, or end everything. A guardian that is gone has ended everything.
    pub fn signal(&self, signal: Signal) {
        let _gone = self.line.try_write(&[signal as u8]);
    }

    /// Ends an engine that may have stopped its guardian. As long as its end was not told, its number is its own.
    pub fn strike(&self) {
        let _gone = (kill(self.guardian, Signal::SIGCONT), killpg(self.engine, Signal::SIGKILL));
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
    let (set, pinned) = core_set(cores)?;
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

/// A child inherits the cores of the thread that forks it, which inherited those of the thread that wanted the first
/// engine. That one may be pinned; the first thread of the program never is.
pub(super) fn take_cores_of_program() {
    if let Ok(cores) = sched_getaffinity(getpid()) {
        let _inherited_ones_stay = sched_setaffinity(Pid::from_raw(0), &cores);
    }
}

#[cfg(test)]
mod tests;
