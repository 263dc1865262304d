//! The guardians of this program. What a killed guardian leaves behind is ended by the fork server, and by this program
//! where the server was killed as well.

use super::{
    fork_server::{Ends, ForkServer},
    tree,
};
use nix::{
    sys::{
        prctl::set_child_subreaper,
        signal::{Signal, kill},
        wait::{WaitPidFlag, waitpid},
    },
    unistd::{Pid, getpid, getsid},
};
use parking_lot::Mutex;
use std::{collections::HashSet, io, sync::LazyLock};

/// Started with the first guardian, and again after it was killed. Locked while a guardian is started, so that it is never
/// taken for an orphan.
static SERVER: Mutex<Option<ForkServer>> = Mutex::new(None);
/// The guardians that live.
static GUARDIANS: LazyLock<Mutex<HashSet<i32>>> = LazyLock::new(Mutex::default);

/// A guardian, and the fork server that it comes from.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Guardian {
    pub pid: Pid,
    pub server: Pid,
}

/// Starts a guardian with these ends, on the thread that starts engines: a fork server has its priority and its cores.
///
/// # Errors
/// `ConnectionReset` when the fork server was killed: the next call starts another. Others when this program cannot be
/// executed anew, or has no descriptors or processes left.
pub(in super::super) fn guardian(ends: &Ends) -> io::Result<Guardian> {
    let mut place = SERVER.lock();
    let server = match place.take() {
        Some(server) => server,
        None => {
            set_child_subreaper(true)?;
            ForkServer::start()?
        }
    };
    let (forked, server_pid) = (server.fork(ends), Pid::from_raw(server.id()));
    if !matches!(&forked, Err(error) if error.kind() == io::ErrorKind::ConnectionReset) {
        *place = Some(server);
    }
    let pid = forked?;
    GUARDIANS.lock().insert(pid.as_raw());
    Ok(Guardian { pid, server: server_pid })
}

/// Notes that a guardian has ended.
pub(in super::super) fn forget(guardian: Guardian) {
    GUARDIANS.lock().remove(&guardian.pid.as_raw());
    // It is a child of this program only if the fork server was killed.
    let _not_ours = waitpid(guardian.pid, Some(WaitPidFlag::WNOHANG));
}

/// Ends what this program has adopted: children in a session that is not its own, apart from guardians. Called when a
/// guardian and its server were killed, which only an engine has reason to do.
pub(in super::super) fn end(killed: Guardian) {
    // The lines of a process that dies end before others adopt its children. A server that is dropped is waited for.
    drop(SERVER.lock().take_if(|server| server.id() == killed.server.as_raw()));
    let _adopted = waitpid(killed.pid, None);
    let (own, session) = (getpid(), getsid(None).map(Pid::as_raw));
    loop {
        let server = SERVER.lock();
        let guardians = GUARDIANS.lock();
        let is_known =
            |pid| guardians.contains(&pid) || server.as_ref().is_some_and(|server| server.id() == pid);
        let adopted: Vec<i32> = tree::all()
            .into_iter()
            .filter(|(pid, stat)| {
                stat.parent == own.as_raw() && Ok(stat.session) != session && !is_known(*pid)
            })
            .map(|(pid, _)| pid)
            .collect();
        if adopted.is_empty() {
            return;
        }
        for pid in adopted.into_iter().map(Pid::from_raw) {
            let _gone = kill(pid, Signal::SIGKILL);
            let _later = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
        drop((server, guardians));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
