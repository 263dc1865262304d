//! Unix: descriptors and terminal attributes.

use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        stat::{FileStat, fstat},
        termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr},
    },
    unistd::dup2_stderr,
};
use std::{
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

/// Waits until there is input at the terminal that stdout is, or for `patience`. Returns whether the terminal is gone.
pub fn hangs_up(patience: Duration) -> bool {
    let stdout = io::stdout();
    let mut screen = [PollFd::new(stdout.as_fd(), PollFlags::POLLIN)];
    let lost = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
    let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::ZERO);
    poll(&mut screen, patience).is_ok() && screen[0].revents().is_some_and(|events| events.intersects(lost))
}

/// True if the system has opened a console for this program alone, because somebody has clicked on it.
pub fn is_own_console() -> bool {
    false
}

/// The environment alone names a locale.
pub(super) fn system_locale() -> &'static str {
    ""
}

/// The terminal at stdin without echo, until dropped.
#[derive(Debug)]
pub struct Hidden(Termios);

impl Hidden {
    /// Takes the echo away.
    ///
    /// # Errors
    /// When stdin is no terminal.
    pub fn new() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &silent)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _terminal_gone = tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &self.0);
    }
}

/// The stderr that was there before.
#[derive(Debug)]
pub struct Stderr(OwnedFd);

impl Stderr {
    /// Puts it back; the end of the pipe that was read comes with it.
    pub fn put_back(self) {
        let _failed = dup2_stderr(self.0);
    }
}

/// Lets stderr lead into a pipe. Returns what can be read of it, and the stderr that was there before.
///
/// # Errors
/// When the system has no pipe.
pub fn catch_stderr() -> io::Result<(File, Stderr)> {
    let (read, write) = pipe()?;
    let kept = io::stderr().as_fd().try_clone_to_owned()?;
    dup2_stderr(write)?;
    Ok((File::from(read), Stderr(kept)))
}

#[cfg(target_os = "linux")]
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)?)
}

#[cfg(not(target_os = "linux"))]
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((read.into(), write.into()))
}

/// True if stdout or stderr is the journal of a unit, which many may read (`JOURNAL_STREAM`, systemd.exec(5)).
pub fn is_journal() -> bool {
    let journal = std::env::var("JOURNAL_STREAM").unwrap_or_default();
    let is_it = |stream: nix::Result<FileStat>| {
        stream.is_ok_and(|found| journal == format!("{}:{}", found.st_dev, found.st_ino))
    };
    is_it(fstat(io::stdout())) || is_it(fstat(io::stderr()))
}
