//! Wishes of the system and of the person at the terminal that this program ends or pauses.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`Signal::Interrupt`] | SIGINT (Ctrl-C) | as Linux | Ctrl-C |
//! | [`Signal::Terminate`] | SIGTERM | as Linux | Ctrl-Break |
//! | [`Signal::HangUp`] | SIGHUP | as Linux | the console is closed, the user logs off, the machine is shut down: the system ends the program 5 s later |
//! | suspension ([`flag_suspension`], [`suspend`]) | SIGTSTP (Ctrl-Z) | as Linux | none |

#[cfg_attr(unix, path = "signals/unix.rs")]
#[cfg_attr(windows, path = "signals/windows.rs")]
mod side;

#[cfg(windows)]
pub(crate) use side::dispatch;
pub use side::{Signals, can_suspend, end_by, flag_end, flag_suspension, interrupt, suspend};

/// A wish that this program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Of the person at the terminal, who may mean a part of it.
    Interrupt,
    /// Of the system, or of a service manager.
    Terminate,
    /// Its terminal is gone.
    HangUp,
}

impl Signal {
    /// The number that POSIX gives it.
    pub fn number(self) -> i32 {
        match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}
