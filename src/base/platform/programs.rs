//! Programs that this one starts for its own ends: a command of the user, a build, a server. (Engines are in `life`.)
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`shell`] | `/bin/sh -c` | as Linux | `cmd.exe /D /S /C` of the system's directory |
//! | [`quoted`]: a word to be typed | for POSIX shells | as Linux | for `cmd` and PowerShell |
//! | [`GAMES`], [`SERVERS`]: where packages put programs besides the path | directories of Debian | as Linux | none: everybody may make `\usr` on a disk |
//! | [`Group`]: a program and what it starts, ended together | a process group | as Linux | a job |
//! | Ctrl-C at the terminal | does not reach a group | as Linux | does not reach a group |
//! | [`Tied`]: ends with this program | `PR_SET_PDEATHSIG`: with the thread that started it | no | a job that is closed with this process |
//! | [`Order::Reload`] | SIGHUP | as Linux | error `Unsupported` |
//! | [`Order::End`] | SIGTERM | as Linux | Ctrl-Break, if both share a console; else an error |
//! | [`Order::Kill`] | SIGKILL | as Linux | `TerminateProcess` |

#[cfg_attr(unix, path = "programs/unix.rs")]
#[cfg_attr(windows, path = "programs/windows.rs")]
mod side;

use std::{
    io,
    process::{Child, Command},
};

pub use side::{GAMES, SERVERS, SHELL};

/// What a program is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// To read its configuration again.
    Reload,
    /// To end in its own way.
    End,
    /// To be gone at once; it is not asked.
    Kill,
}

/// A text of the user in the shell of the system.
pub fn shell(text: &str) -> Command {
    side::shell(text)
}

/// A word for the command lines that users of the system type.
pub fn quoted(word: &str) -> String {
    if is_plain(word) { word.to_owned() } else { side::quoted(word) }
}

/// True if no shell of the system reads a character of a word as its own.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || side::PLAIN.contains(c))
}

/// Gives an order to a process. The number must be that of a child that was not waited for, or of a process that was
/// recognized by its start ([`crate::usage::start`]).
///
/// # Errors
/// When there is no such process, it is another user's, or the system has no such order.
pub fn order(process: u32, order: Order) -> io::Result<()> {
    side::order(process, order)
}

/// A program and everything that it starts.
#[derive(Debug)]
pub struct Group {
    /// The program.
    pub child: Child,
    group: side::Group,
}

impl Group {
    /// Starts a program in a group of its own.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let (child, group) = side::start(command)?;
        Ok(Self { child, group })
    }

    /// Kills what is left of the group, and waits for the program.
    pub fn end(&mut self) {
        self.group.kill();
        let _reaped = self.child.wait();
    }
}

/// A program that ends with this one, also where this one is killed.
#[derive(Debug)]
pub struct Tied {
    /// The program.
    pub child: Child,
    _tie: side::Tie,
}

impl Tied {
    /// Starts a program with a session of its own and private files. The calling thread has to stay with it: on Linux it
    /// ends with that thread.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let (child, tie) = side::start_tied(command)?;
        Ok(Self { child, _tie: tie })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        process::Stdio,
        time::{Duration, Instant},
    };

    /// A command that takes a minute, by a program that the shell starts.
    const LONG: &str = if cfg!(windows) { "ping -n 60 127.0.0.1 >NUL & exit 0" } else { "sleep 60; exit 0" };
    /// The same in the shell's own process: on Unix only the process itself is tied.
    const ALONE: &str = if cfg!(windows) { LONG } else { "exec sleep 60" };

    #[test]
    fn a_word_is_quoted_as_the_shells_of_the_system_read_it() {
        assert_eq!(quoted("league.toml"), "league.toml");
        let (words, expected): ([_; 3], _) = if cfg!(windows) {
            (
                [r"C:\engines\a.exe", r#"C:\my "own"\"#, ""],
                [r"C:\engines\a.exe", r#""C:\my \"own\"\\""#, r#""""#],
            )
        } else {
            (["$HOME", "it's", ""], ["'$HOME'", r"'it'\''s'", "''"])
        };
        assert_eq!(words.map(quoted), expected);
    }

    #[test]
    fn a_command_of_the_user_has_its_own_exit_code() {
        let mut group = Group::start(shell("exit 3").stdin(Stdio::null())).unwrap();
        assert_eq!(group.child.wait().unwrap().code(), Some(3));
        group.end();
        assert!(Group::start(&mut Command::new("renmei-there-is-no-such-program")).is_err());
    }

    #[test]
    fn a_group_ends_at_once_and_so_does_what_is_tied() {
        let begun = Instant::now();
        let mut group = Group::start(shell(LONG).stdin(Stdio::null())).unwrap();
        let id = group.child.id();
        assert!(crate::usage::start(id).is_some() || cfg!(not(any(target_os = "linux", windows))));
        group.end();
        assert_eq!(crate::usage::start(id), None);
        let mut tied = Tied::start(shell(ALONE).stdin(Stdio::null())).unwrap();
        order(tied.child.id(), Order::Kill).unwrap();
        assert!(!tied.child.wait().unwrap().success());
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
