//! Floor 1: what a game, a match and a rating are.
//!
//! Nothing here reads a clock, a file, a socket or a source of randomness: time, text and seeds come in as
//! arguments, so that every rule is tested without waiting for anything.

pub mod adjudicate;
pub mod clock;
mod color;
pub mod event;
pub mod game;
pub mod history;
pub mod legality;
pub mod opening;
mod outcome;
pub mod rating;
pub mod rules;
pub mod schedule;
pub mod sink;
pub mod sprt;
pub mod standings;
pub mod usage;

pub use color::Color;
pub use outcome::{AbortBy, DrawBy, Foul, Outcome, WinBy};
