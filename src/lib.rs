//! Renmei: tournament and match-server infrastructure for computer shogi.

pub mod bus;
pub mod check;
pub mod cli;
pub mod plan;
pub mod play;
pub mod run;
pub mod seat;
