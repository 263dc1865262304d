//! The rules of one game, and the stream of entries that tells what happens. What games mean together, schedules and
//! standings, is the matter of the crate `contest`.
//!
//! Nothing here reads a clock, a file, a socket or a source of randomness: time, text and seeds come in as
//! arguments, so that every rule is tested without waiting for anything.

pub mod adjudicate;
pub mod annotations;
pub mod clock;
mod color;
pub mod distinct;
pub mod entry;
pub mod evaluation;
pub mod game;
pub mod history;
pub mod identity;
pub mod ids;
pub mod lease;
pub mod legality;
pub mod number;
pub mod opening;
pub mod operation;
mod outcome;
pub mod pairing;
pub mod points;
pub mod reason;
pub mod rules;
pub mod running;
pub mod sink;
pub mod usage;

pub use color::Color;
pub use rating::{self, precision, sprt};

pub use outcome::{AbortBy, DrawBy, Foul, Outcome, WinBy};
