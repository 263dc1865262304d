//! Everything that Renmei asks of an operating system, with one side for each system: Linux, other Unix systems, Windows.
//!
//! No other crate has `cfg(target_os)`, names a file below `/proc`, or depends on a crate of one system. An answer that a
//! side cannot give is absent (`Option`, or an error that names the system), never a zero.

pub mod account;
pub mod content;
pub mod cores;
pub mod disk;
pub mod door;
pub mod files;
pub mod life;
pub mod locks;
pub mod network;
pub mod programs;
pub mod service;
pub mod signals;
pub mod terminal;
pub mod threads;
pub mod usage;
#[cfg(windows)]
mod windows;

/// The error of a question that this system does not answer.
fn unanswered(what: &str) -> std::io::Error {
    let why = format!("{what} is not known on {}", std::env::consts::OS);
    std::io::Error::new(std::io::ErrorKind::Unsupported, why)
}
