//! The process that guardians are forked from: this program, executed anew once, with one thread and little memory.
//!
//! A fork of the manager copies the tables of all its memory and closes hundreds of descriptors, and an execution anew
//! links the whole program again: 4 ms of processor time an engine, most of what a short game costs. A fork of the server
//! costs a tenth, and guardians share its memory.
//!
//! The server is asked over a socket that carries the descriptors of a guardian, and answers with its process. It adopts
//! what a killed guardian leaves behind and ends it ([`watch`]).

mod watch;

use super::NAME;
use crate::files::give_users_umask;
use nix::{
    cmsg_space,
    errno::Errno,
    sched::{sched_getaffinity, sched_setaffinity},
    sys::{
        prctl::{set_child_subreaper, set_name},
        signal::SigSet,
        socket::{
            AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recv, recvmsg,
            sendmsg, setsockopt, socketpair, sockopt,
        },
        time::{TimeVal, TimeValLike},
    },
    unistd::{Pid, getppid, setsid},
};
use std::{
    io::{self, IoSlice, IoSliceMut},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
        unix::process::CommandExt,
    },
    process::{Child, Command, Stdio},
};
use watch::Watch;

/// Seconds in which the server answers.
const PATIENCE: i64 = 10;

/// A guardian's line to the program, then stdin, stdout and stderr of its engine.
pub(in super::super) type Ends = [OwnedFd; 4];

/// The server, as seen by the program. Dropped, it ends.
#[derive(Debug)]
pub(super) struct ForkServer {
    socket: OwnedFd,
    process: Child,
}

impl ForkServer {
    /// Executes this program anew as a fork server. It leaves the terminal, and its umask is the user's, as that of all
    /// engines.
    #[allow(unsafe_code)]
    pub fn start() -> io::Result<Self> {
        let kind = SockType::SeqPacket;
        let (socket, theirs) = socketpair(AddressFamily::Unix, kind, None, SockFlag::SOCK_CLOEXEC)?;
        setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::seconds(PATIENCE))?;
        setsockopt(&socket, sockopt::SendTimeout, &TimeVal::seconds(PATIENCE))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0(NAME).arg(theirs.as_raw_fd().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        give_users_umask(&mut command);
        let descriptor = theirs.as_raw_fd();
        // SAFETY: only async-signal-safe system calls, and no allocation, between fork and exec.
        unsafe {
            command.pre_exec(move || {
                setsid()?;
                super::pass_on(descriptor)
            });
        }
        Ok(Self { socket, process: command.spawn()? })
    }

    /// The process of the server.
    pub fn id(&self) -> i32 {
        self.process.id().cast_signed()
    }

    /// Has the server fork a guardian.
    pub fn fork(&self, ends: &Ends) -> io::Result<Pid> {
        let socket = self.socket.as_raw_fd();
        let descriptors = ends.each_ref().map(AsRawFd::as_raw_fd);
        let rights = [ControlMessage::ScmRights(&descriptors)];
        sendmsg::<()>(socket, &[IoSlice::new(b"f")], &rights, MsgFlags::MSG_NOSIGNAL, None).map_err(gone)?;
        let mut answer = [0; 4];
        if recv(socket, &mut answer, MsgFlags::empty()).map_err(gone)? < answer.len() {
            return Err(gone(Errno::EPIPE));
        }
        match i32::from_le_bytes(answer) {
            pid @ 1.. => Ok(Pid::from_raw(pid)),
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }
}

/// A server that was killed, or that does not answer because it was stopped.
fn gone(error: Errno) -> io::Error {
    match error {
        Errno::EPIPE | Errno::ECONNRESET | Errno::EAGAIN => io::ErrorKind::ConnectionReset.into(),
        other => other.into(),
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        let _ended = (self.process.kill(), self.process.wait());
    }
}

/// The life of the server. Returns in each guardian, with its ends, and in the server when the program that asks is gone
/// and nothing is left of its engines.
///
/// # Errors
/// When the socket is none.
pub(super) fn serve(socket: OwnedFd) -> io::Result<Option<Ends>> {
    let _only_a_name = set_name(c"renmei-guardian");
    // Whoever asks a whole group to end means the engines and the manager.
    SigSet::all().thread_block()?;
    // The thread that started the server may be pinned; the first thread of the program never is.
    if let Ok(cores) = sched_getaffinity(getppid()) {
        let _inherited_ones_stay = sched_setaffinity(Pid::from_raw(0), &cores);
    }
    set_child_subreaper(true)?;
    Watch::new(socket)?.keep()
}

/// The next request; `None` when the program that asks is gone.
#[allow(unsafe_code)]
fn receive(socket: &OwnedFd) -> io::Result<Option<Ends>> {
    let (mut byte, mut space) = ([0], cmsg_space!([RawFd; 4]));
    let mut buffers = [IoSliceMut::new(&mut byte)];
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut buffers, Some(&mut space), flags)?;
    let Some(ControlMessageOwned::ScmRights(descriptors)) = message.cmsgs()?.next() else { return Ok(None) };
    // SAFETY: the kernel has just made these descriptors for this process.
    let ends: Vec<_> = descriptors.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).collect();
    Ok(ends.try_into().ok())
}
