//! What is left of an engine whose guardian was killed: this program adopts it and ends it.

use super::tree;
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
use tokio::process::{Child, Command};

/// The guardians that live. Locked while one is started, so that it is never taken for an orphan.
static GUARDIANS: LazyLock<Mutex<HashSet<i32>>> = LazyLock::new(Mutex::default);

/// Starts a guardian.
///
/// # Errors
/// When this program cannot be executed anew.
pub(in super::super) fn guardian(command: &mut Command) -> io::Result<Child> {
    let mut guardians = GUARDIANS.lock();
    set_child_subreaper(true)?;
    let child = command.spawn()?;
    guardians.extend(child.id().map(u32::cast_signed));
    Ok(child)
}

/// Notes that a guardian has ended.
pub(in super::super) fn forget(guardian: i32) {
    GUARDIANS.lock().remove(&guardian);
}

/// Ends what this program has adopted: children in a session that is not its own, apart from guardians. Called when a
/// guardian was killed, which only the engine itself has reason to do.
pub(in super::super) fn end() {
    let (own, session) = (getpid(), getsid(None).map(Pid::as_raw));
    loop {
        let guardians = GUARDIANS.lock();
        let adopted: Vec<i32> = tree::all()
            .into_iter()
            .filter(|(pid, stat)| {
                stat.parent == own.as_raw() && Ok(stat.session) != session && !guardians.contains(pid)
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
        drop(guardians);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
