//! Unix: process groups and signals.

use super::Order;
use nix::{
    sys::{
        signal::{SigSet, Signal, kill, killpg},
        stat::{Mode, umask},
    },
    unistd::{Pid, setsid},
};
use std::{
    io,
    os::unix::process::CommandExt,
    process::{Child, Command},
};

/// The shell.
pub const SHELL: &str = "/bin/sh";
/// Characters that shells take as they are, besides letters and digits.
pub(super) const PLAIN: &str = "_-./=:,+@%";
/// Directories of engines that may not be on the path: Debian's.
pub const GAMES: &[&str] = &["/usr/games"];
/// Directories of servers that are on the path of administrators alone.
pub const SERVERS: &[&str] = &["/usr/sbin", "/usr/local/sbin", "/usr/local/bin"];

pub(super) fn shell(text: &str) -> Command {
    let mut shell = Command::new(SHELL);
    shell.args(["-c", text]);
    shell
}

pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

pub(super) fn order(process: u32, order: Order) -> io::Result<()> {
    let signal = match order {
        Order::Reload => Signal::SIGHUP,
        Order::End => Signal::SIGTERM,
        Order::Kill => Signal::SIGKILL,
    };
    Ok(kill(number(process)?, signal)?)
}

fn number(process: u32) -> io::Result<Pid> {
    let number = i32::try_from(process).ok().filter(|number| *number > 0);
    number.map(Pid::from_raw).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[derive(Debug)]
pub(super) struct Group(Pid);

impl Group {
    pub(super) fn kill(&self) {
        let _gone = killpg(self.0, Signal::SIGKILL);
    }
}

pub(super) fn start(command: &mut Command) -> io::Result<(Child, Group)> {
    let child = command.process_group(0).spawn()?;
    let group = Group(number(child.id())?);
    Ok((child, group))
}

/// Nothing is held: the kernel knows what is tied.
#[derive(Debug)]
pub(super) struct Tie;

#[allow(unsafe_code)]
pub(super) fn start_tied(command: &mut Command) -> io::Result<(Child, Tie)> {
    #[cfg(target_os = "linux")]
    let manager = nix::unistd::getpid();
    // SAFETY: only async-signal-safe system calls, and no allocation, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            SigSet::empty().thread_set_mask()?;
            // Ctrl-C is for this program, which ends the other last.
            setsid()?;
            umask(Mode::from_bits_truncate(0o077));
            #[cfg(target_os = "linux")]
            {
                nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
                if nix::unistd::getppid() != manager {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
            }
            Ok(())
        });
    }
    Ok((command.spawn()?, Tie))
}
