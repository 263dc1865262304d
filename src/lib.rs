//! Renmei: tournament and match-server infrastructure for computer shogi.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "Renmei runs on Linux only: it ties engines to its life by prctl, pins them by sched_setaffinity and reads /proc; \
     on Windows it runs in WSL 2, on macOS in a Linux container"
);

#[macro_use]
pub mod say;

pub mod bus;
pub mod check;
pub mod cli;
pub mod commands;
pub mod config;
pub mod diagnostics;
pub mod floodgate;
pub mod league;
pub mod openings;
pub mod plan;
pub mod play;
pub mod pulse;
pub mod records;
pub mod report;
pub mod run;
pub mod seat;
pub mod store;
