//! Renmei: tournament and match-server infrastructure for computer shogi.

pub mod plan;
pub mod store;
