//! What games mean together: schedules, standings, tie-breaks. Ratings and sequential tests are those of [`rating`].
//!
//! Nothing here reads a clock, a file, a socket or a source of randomness: time, text and seeds come in as
//! arguments, so that every rule is tested without waiting for anything.

pub mod fault_limit;
pub mod schedule;
pub mod scoring;
pub mod stage;
pub mod standings;
