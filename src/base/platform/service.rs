//! A program that the system starts without anybody who has logged in.
//!
//! | | Linux, other Unix | Windows |
//! |---|---|---|
//! | [`serve`] | error: there a service is a program like any other | the service control manager; what is printed goes to a file |
//! | the log cannot be opened | | the service stops with the error as its code; the reason is in the event log |
//! | [`await_start`] | error | asks the service control manager |
//! | a stop of the service | | the signal that was chosen |
//! | a shutdown of the machine | | [`Signal::Terminate`] |

#[cfg_attr(unix, path = "service/unix.rs")]
#[cfg_attr(windows, path = "service/windows.rs")]
mod side;

use crate::signals::Signal;
use std::{io, path::PathBuf};

/// True if the system has services of this kind.
pub const EXIST: bool = cfg!(windows);

/// A service, as its process knows it.
#[derive(Debug)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// The file to which everything is appended that the program prints: a service has no terminal.
    pub log: PathBuf,
    /// What the program hears when the service is stopped.
    pub stop: Signal,
    /// Exit codes after which it must not be started again, besides 0.
    pub final_codes: &'static [i32],
}

/// Does the work of a service, and returns its exit code. The process must have been started by the system as this service.
/// The work is done only if what it prints can be written to the log.
///
/// # Errors
/// When it was not, or the system has no services of this kind.
pub fn serve(service: Service, work: impl FnOnce() -> i32 + Send + 'static) -> io::Result<i32> {
    side::serve(service, Box::new(work))
}

/// Where the start of a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The service is still starting.
    Pending,
    /// It runs, or has done its work.
    Done,
}

/// Waits, half a minute at most, until a service that is being started runs.
///
/// # Errors
/// With the code that it ended with instead, or when the system knows no such service.
pub fn await_start(name: &str) -> io::Result<Start> {
    side::await_start(name)
}
