//! The guardian of an engine: a small process between this program and the engine, which ends everything that the
//! engine has started.
//!
//! The guardian is a copy of this program, executed anew under another name ([`init`], `fork_server.rs`). It adopts whatever the engine
//! leaves behind (`PR_SET_CHILD_SUBREAPER`), also what called `setsid` or forked twice, so that its own descendants are
//! those of the engine and nothing else. It ends them all when the engine ends, when it is told to, and when its line
//! to this program breaks, because this program was killed. Lines of USI do not pass through it: the engine has inherited
//! the pipes, and the guardian has closed them.

mod errand;
mod fork_server;
mod group;
pub(super) mod orphans;
mod rest;
mod tree;
mod usage;

pub(super) use errand::{Errand, News};
pub(super) use fork_server::Ends;
use group::Group;
pub(super) use group::{Group as ControlGroup, is_available as has_groups};
pub(super) use tree::inside;
pub(super) use usage::{OWN, is_visible};

use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        memfd::{MFdFlags, memfd_create},
        prctl::{set_child_subreaper, set_pdeathsig},
        resource::{Resource, getrlimit, setrlimit},
        signal::{SigSet, Signal, killpg},
        signalfd::{SfdFlags, SignalFd},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{Pid, setsid},
};
use rest::Rest;
use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read, Seek, Write},
    os::{
        fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd},
        unix::{
            net::UnixStream,
            process::{CommandExt, ExitStatusExt},
        },
    },
    process::{Child, Command, ExitCode, ExitStatus},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use tree::Tree;
use usage::Usage;

/// Name of a guardian in a list of processes.
pub(super) const NAME: &str = "renmei-guardian";
/// Time between two looks at what a limited engine uses.
const GLANCE: Duration = Duration::from_millis(100);

/// Most processes and threads of the user of a limited engine.
const PROCESSES: u64 = 4096;
/// Most descriptors of each process of a limited engine.
const DESCRIPTORS: u64 = 4096;

/// Whether engines of this program get guardians.
static ENABLED: AtomicBool = AtomicBool::new(false);

/// Makes this process a fork server if it was executed as one. Returns in each guardian after the end of its engine, and in
/// the server after that of the program that executed it.
/// Otherwise gives every further engine of this program a guardian.
#[allow(unsafe_code)]
pub(in super::super::super) fn init() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    if arguments.next().as_deref() != Some(OsStr::new(NAME)) {
        ENABLED.store(true, Ordering::Relaxed);
        return None;
    }
    let socket = arguments.next().and_then(|number| number.to_str()?.parse::<RawFd>().ok());
    // SAFETY: the program that executed this one left it the descriptor, and nothing else here owns it.
    let socket = socket.map(|number| unsafe { OwnedFd::from_raw_fd(number) });
    let forked = socket.ok_or(io::ErrorKind::InvalidInput.into()).and_then(fork_server::serve);
    Some(match forked.and_then(|ends| ends.map_or(Ok(()), serve)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

pub(super) fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// The life of a guardian.
fn serve([line, stdin, stdout, stderr]: Ends) -> io::Result<()> {
    let line = UnixStream::from(line);
    set_child_subreaper(true)?;
    let errand = Errand::receive(&mut &line)?;
    let mut guarded = match start(&errand, [stdin, stdout, stderr]) {
        Ok(child) => Guarded::new(&child, line, errand.group.clone().map(Group)),
        Err(error) => return News::Failed(error.raw_os_error().unwrap_or_default()).send(&mut &line),
    };
    let watched = guarded.watch(&errand);
    guarded.end_all();
    guarded.group.iter().for_each(Group::remove);
    watched.and_then(|()| News::Cleared.send(&mut &guarded.line))
}

/// Starts the engine: on its cores, in a session of its own and so without a terminal, with no descriptors but its three
/// pipes, of which the guardian keeps none.
#[allow(unsafe_code)]
fn start(errand: &Errand, [stdin, stdout, stderr]: [OwnedFd; 3]) -> io::Result<Child> {
    let [program, arguments @ ..] = &errand.arguments[..] else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    errand.take_cores()?;
    let mut command = Command::new(program);
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    let filter = match &errand.filter[..] {
        [] => None,
        bytes => Some(file_in_memory(bytes)?),
    };
    let filter = filter.as_ref().map(AsRawFd::as_raw_fd);
    if let Some(filter) = filter {
        command.args(["--seccomp", &filter.to_string()]);
    }
    if errand.own_environment {
        command.env_clear();
    }
    for name in &errand.hidden {
        command.env_remove(name);
    }
    command.args(arguments).envs(errand.environment.iter().map(|(key, value)| (key, value)));
    if let Some(directory) = &errand.directory {
        command.current_dir(directory);
    }
    let door = errand.group.clone().map(|path| Group(path).door()).transpose()?;
    let (guardian, user, memory) = (nix::unistd::getpid(), errand.user, errand.memory);
    // SAFETY: only async-signal-safe system calls, and no allocation, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            SigSet::empty().thread_set_mask()?;
            if let Some(door) = &door {
                nix::unistd::write(door, b"0")?;
            }
            setsid()?;
            keep_signals_inside();
            if let Some(user) = user {
                become_user(user)?; // before the next, which is lost with a change of user
            }
            if memory > 0 {
                limit(memory)?;
            }
            set_pdeathsig(Signal::SIGKILL)?;
            if nix::unistd::getppid() != guardian {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            close_others_at_exec()?;
            if let Some(filter) = filter {
                pass_on(filter)?;
            }
            Ok(())
        });
    }
    command.spawn()
}

/// A file that exists only in memory and is read from its beginning; whatever is executed does not have it.
pub(super) fn file_in_memory(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create(c"renmei", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// The program that is executed has this descriptor too.
#[allow(unsafe_code)]
pub(super) fn pass_on(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: it changes a flag of a descriptor that stays open until the program is executed.
    nix::errno::Errno::result(unsafe { nix::libc::fcntl(descriptor, nix::libc::F_SETFD, 0) })?;
    Ok(())
}

/// Keeps signals of the engine among its own processes, so that it cannot end its opponent, its guardian or this
/// program. Needs Landlock of Linux 6.12 and the right to restrict itself without giving up programs that change their
/// user (`sudo`, `nvidia-modprobe`): root. Elsewhere `sandbox = "strict"` does it.
#[allow(unsafe_code)]
fn keep_signals_inside() {
    /// `struct landlock_ruleset_attr` with `LANDLOCK_SCOPE_SIGNAL`.
    const SIGNALS: [u64; 3] = [0, 0, 1 << 1];
    // SAFETY: the kernel reads the three numbers, and no memory of this process changes.
    unsafe {
        let attributes = SIGNALS.as_ptr();
        let ruleset = nix::libc::syscall(
            nix::libc::SYS_landlock_create_ruleset,
            attributes,
            size_of_val(&SIGNALS),
            0_u32,
        );
        if ruleset >= 0 {
            let _right_or_not = nix::libc::syscall(nix::libc::SYS_landlock_restrict_self, ruleset, 0_u32);
            nix::libc::close(ruleset as i32);
        }
    }
}

/// Limits each process, for what happens between two looks of the guardian.
fn limit(memory: u64) -> io::Result<()> {
    let bytes = memory.saturating_mul(1024 * 1024);
    for (resource, most) in [
        (Resource::RLIMIT_DATA, bytes),
        (Resource::RLIMIT_NPROC, PROCESSES),
        (Resource::RLIMIT_NOFILE, DESCRIPTORS),
        (Resource::RLIMIT_CORE, 0),
    ] {
        let (_, hard) = getrlimit(resource)?;
        setrlimit(resource, most.min(hard), most.min(hard))?;
    }
    Ok(())
}

/// A guardian that waits for the processor behind hundreds of processes of its engine could not stop them. Needs the right
/// of root; elsewhere a guardian has the share of its session.
#[allow(unsafe_code)]
fn come_first() {
    // SAFETY: it changes a number of this process.
    let _right_or_not = unsafe { nix::libc::setpriority(nix::libc::PRIO_PROCESS, 0, -10) };
}

/// Gives up the rights of root.
fn become_user(user: u32) -> io::Result<()> {
    nix::unistd::setgroups(&[])?;
    nix::unistd::setgid(nix::unistd::Gid::from_raw(user))?;
    nix::unistd::setuid(nix::unistd::Uid::from_raw(user))?;
    Ok(())
}

/// Whatever this program inherited is not passed on.
#[allow(unsafe_code)]
fn close_others_at_exec() -> io::Result<()> {
    // SAFETY: it changes flags of descriptors, which stay open until the engine is executed.
    let done = unsafe {
        nix::libc::syscall(nix::libc::SYS_close_range, 3_u32, u32::MAX, nix::libc::CLOSE_RANGE_CLOEXEC)
    };
    // Linux before 5.11 has no such call; then descriptors that were inherited by this program are.
    match nix::errno::Errno::result(done) {
        Ok(_) | Err(nix::errno::Errno::ENOSYS | nix::errno::Errno::EINVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// An engine under guard.
struct Guarded {
    engine: Pid,
    line: UnixStream,
    /// Its control group; `None` where the guardian counts.
    group: Option<Group>,
    /// True if the end of the engine itself was told.
    ended: bool,
    rest: Rest,
}

impl Guarded {
    fn new(child: &Child, line: UnixStream, group: Option<Group>) -> Self {
        let engine = Pid::from_raw(child.id().cast_signed());
        Self { engine, line, group, ended: false, rest: Rest::default() }
    }

    /// Returns when everything is to end: the engine has, or the program that asked for it.
    fn watch(&mut self, errand: &Errand) -> io::Result<()> {
        News::Started(self.engine.as_raw()).send(&mut &self.line)?;
        come_first();
        let mut children = SigSet::empty();
        children.add(Signal::SIGCHLD);
        let deaths = SignalFd::with_flags(&children, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let mut looked = Instant::now();
        while !self.ended {
            let rest = GLANCE.saturating_sub(looked.elapsed());
            let patience = if errand.is_limited() {
                // Rounded up, so that a wait is never followed by another one of nothing.
                PollTimeout::from(rest.as_millis() as u16 + 1)
            } else {
                PollTimeout::NONE
            };
            let mut fds = [
                PollFd::new(self.line.as_fd(), PollFlags::POLLIN),
                PollFd::new(deaths.as_fd(), PollFlags::POLLIN),
            ];
            let _interrupted = poll(&mut fds, patience);
            let [told, died] = fds.map(|fd| fd.any().unwrap_or(true));
            if died {
                while let Ok(Some(_)) = deaths.read_signal() {}
            }
            self.reap();
            if told && !self.obey() {
                return Ok(());
            }
            // Not at each order: an engine that moves at once is stopped and continued thousands of times a second.
            if errand.is_limited() && looked.elapsed() >= GLANCE {
                looked = Instant::now();
                if let Some(news) = self.excess(errand) {
                    return news.send(&mut &self.line);
                }
            }
        }
        Ok(())
    }

    /// What the engine does or has beyond its limits.
    fn excess(&mut self, errand: &Errand) -> Option<News> {
        let tree = Tree::of_this_process();
        let broken = self.rest.is_broken(&tree);
        let mut usage = Usage::of(&tree);
        if let Some(group) = &self.group {
            // The kernel counts these.
            (usage.kib, usage.threads) = (0, 0);
            if let Some(news) = group.excess() {
                return Some(news);
            }
        }
        errand.excess(&usage).or(broken.then_some(News::NoRest))
    }

    /// Passes signals on; false when everything is to end. An order to stop or to run is for all descendants.
    fn obey(&mut self) -> bool {
        let mut signals = [0; 16];
        let bytes = self.line.read(&mut signals).unwrap_or(0);
        for &number in &signals[..bytes] {
            match Signal::try_from(i32::from(number)) {
                Ok(Signal::SIGKILL) | Err(_) => return false,
                Ok(Signal::SIGSTOP) => self.rest.begin(),
                Ok(Signal::SIGCONT) => self.rest.end(),
                Ok(signal) if !self.ended => _ = killpg(self.engine, signal),
                Ok(_) => {}
            }
        }
        bytes > 0
    }

    /// Takes note of those that have died; false when nobody is left.
    fn reap(&mut self) -> bool {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => return true,
                Ok(status) => self.note(status),
                Err(nix::errno::Errno::EINTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn note(&mut self, status: WaitStatus) {
        if status.pid() != Some(self.engine) || self.ended {
            return;
        }
        self.ended = true;
        let raw = match status {
            WaitStatus::Exited(_, code) => code << 8,
            WaitStatus::Signaled(_, signal, dumped) => signal as i32 | if dumped { 0x80 } else { 0 },
            _ => 0,
        };
        if let Some(news) = self.group.as_ref().and_then(Group::excess) {
            let _nobody_listens = news.send(&mut &self.line);
        }
        let _nobody_listens = News::Ended(ExitStatus::from_raw(raw)).send(&mut &self.line);
    }

    /// Kills all descendants. The children of a process that dies become those of the guardian, so that nobody is left
    /// when it has no child any more.
    fn end_all(&mut self) {
        while self.reap() {
            Tree::of_this_process().signal(Signal::SIGKILL);
            // A process that the kernel does not let die is waited for, but not at full speed.
            let _slept = poll(&mut [], PollTimeout::from(1_u8));
        }
    }
}
