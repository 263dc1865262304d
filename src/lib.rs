//! Renmei: tournament and match-server infrastructure for computer shogi.

pub mod config;
pub mod plan;
