//! Everything that Renmei asks of an operating system, with one side for each system: Linux, other Unix systems, Windows.
//!
//! No other crate has `cfg(target_os)`, names a file below `/proc`, or depends on a crate of one system. An answer that a
//! side cannot give is absent (`Option`, or an error that names the system), never a zero.

pub mod life;
