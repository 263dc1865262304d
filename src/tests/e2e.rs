//! End to end: the real binary, real child processes, real databases. Faults are played by `renmei-puppet`.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

mod commands;
mod databases;
mod deep;
mod door;
mod faults;
mod formats;
mod growth;
mod identity;
mod ponder;
mod refusals;
mod report;
mod resume;
mod screen;
