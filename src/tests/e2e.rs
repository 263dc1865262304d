//! End to end: the real binary, real child processes, real databases. Faults are played by `renmei-puppet`.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

mod admin;
mod attribution;
mod checks;
mod commands;
mod deep;
mod desk;
mod directory;
mod disk;
mod door;
mod events;
mod explain;
mod faults;
mod formats;
mod growth;
mod habits;
mod halts;
mod handover;
mod hostile_text;
mod identity;
mod isolation;
mod joining;
mod judge;
mod laboratory;
mod ledger;
mod logs;
mod look;
#[cfg(feature = "machines")]
mod machines;
mod names;
mod notify;
mod ponder;
mod precision;
mod private;
mod progress;
mod queue;
mod records;
mod refusals;
mod report;
mod resume;
mod screen;
mod starts;
mod tuning;
mod verify;
