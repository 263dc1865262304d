//! Renmei: tournament and match-server infrastructure for computer shogi.

#[macro_use]
pub mod say;

pub mod bus;
pub mod check;
pub mod cli;
pub mod commands;
pub mod config;
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
