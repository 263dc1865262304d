//! Referee.
pub mod rating;
pub mod sprt;
