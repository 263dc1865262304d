//! The life of the fork server: it forks guardians, and ends what a killed one leaves behind.
//!
//! The server is the nearest ancestor that adopts, so that the orphans of a guardian are its children when it has waited for
//! the guardian: there is no moment at which they are nobody's. It has the line of each guardian, too, on which the program
//! hears when nothing of the engine is left. When the program is gone, the guardians end their engines, and the server ends
//! after them.

use super::{super::errand::News, super::tree, Ends, receive};
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        signal::{SigSet, Signal, kill},
        signalfd::{SfdFlags, SignalFd},
        socket::{MsgFlags, send},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{ForkResult, Pid, fork, getpid, setsid},
};
use std::{
    collections::HashMap,
    io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::net::UnixStream,
    },
};

/// Milliseconds in which the guardians of a program that is gone end their engines.
const FAREWELL: u16 = 10_000;

pub(super) struct Watch {
    /// `None` when the program is gone.
    socket: Option<OwnedFd>,
    deaths: SignalFd,
    /// The lines of the guardians that live.
    guardians: HashMap<Pid, UnixStream>,
    /// The lines of those that were killed, while something of their engines lives.
    bereft: Vec<UnixStream>,
}

impl Watch {
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        let mut children = SigSet::empty();
        children.add(Signal::SIGCHLD);
        let deaths = SignalFd::with_flags(&children, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { socket: Some(socket), deaths, guardians: HashMap::new(), bereft: vec![] })
    }

    /// Returns in each guardian, with its ends, and in the server when nobody is left.
    pub fn keep(mut self) -> io::Result<Option<Ends>> {
        while self.socket.is_some() || !self.guardians.is_empty() || !self.bereft.is_empty() {
            let (asked, died) = self.wait();
            if died {
                while let Ok(Some(_)) = self.deaths.read_signal() {}
                self.reap();
            }
            match self.socket.as_ref().filter(|_| asked).map(receive) {
                None => {}
                Some(Ok(Some(ends))) => {
                    if let Some(ends) = self.fork(ends)? {
                        return Ok(Some(ends));
                    }
                }
                Some(Ok(None) | Err(_)) => self.take_leave(),
            }
            self.end_orphans();
        }
        Ok(None)
    }

    /// Waits for a request, or its end, and for the death of a child. Guardians of a program that is gone are killed when
    /// they take too long: an engine may have stopped its own.
    fn wait(&self) -> (bool, bool) {
        let mut fds = vec![PollFd::new(self.deaths.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.socket.iter().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)));
        let patience = if self.socket.is_some() { PollTimeout::NONE } else { PollTimeout::from(FAREWELL) };
        if let Ok(0) = poll(&mut fds, patience) {
            self.guardians.keys().for_each(|guardian| _ = kill(*guardian, Signal::SIGKILL));
        }
        let is_ready = |at: usize| fds.get(at).is_some_and(|fd| fd.any().unwrap_or(true));
        (is_ready(1), is_ready(0))
    }

    /// The program is gone: each guardian has heard it, unless it was stopped.
    fn take_leave(&mut self) {
        self.socket = None;
        self.guardians.keys().for_each(|guardian| _ = kill(*guardian, Signal::SIGCONT));
    }

    /// Forks a guardian; returns its ends in the guardian itself.
    #[allow(unsafe_code)]
    fn fork(&mut self, ends: Ends) -> io::Result<Option<Ends>> {
        let line = ends[0].try_clone();
        // SAFETY: this process has one thread.
        let forked = line.and_then(|line| Ok((unsafe { fork()? }, line)));
        let answer = match forked {
            Ok((ForkResult::Child, _)) => {
                setsid()?;
                return Ok(Some(ends));
            }
            Ok((ForkResult::Parent { child }, line)) => {
                self.guardians.insert(child, line.into());
                child.as_raw()
            }
            Err(error) => -error.raw_os_error().unwrap_or(nix::libc::EIO),
        };
        if let Some(socket) = &self.socket {
            let _gone = send(socket.as_raw_fd(), &answer.to_le_bytes(), MsgFlags::MSG_NOSIGNAL);
        }
        Ok(None)
    }

    /// Takes note of the children that have died. A guardian that ended by itself has left nothing behind.
    fn reap(&mut self) {
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            let Some(pid) = status.pid() else { return };
            let line = self.guardians.remove(&pid);
            if !matches!(status, WaitStatus::Exited(_, 0)) {
                self.bereft.extend(line);
            }
        }
    }

    /// Kills the children that are no guardians. Those of a process that dies become children of the server, which hears of
    /// the death; nobody is left when it has none.
    fn end_orphans(&mut self) {
        if self.bereft.is_empty() {
            return;
        }
        let own = getpid().as_raw();
        let children = tree::all().into_iter().filter(|(_, stat)| stat.parent == own);
        let orphans =
            children.map(|(pid, _)| Pid::from_raw(pid)).filter(|pid| !self.guardians.contains_key(pid));
        let orphans: Vec<Pid> = orphans.collect();
        orphans.iter().for_each(|orphan| _ = kill(*orphan, Signal::SIGKILL));
        if orphans.is_empty() {
            for line in self.bereft.drain(..) {
                let _nobody_listens = News::Cleared.send(&mut &line);
            }
        }
    }
}
