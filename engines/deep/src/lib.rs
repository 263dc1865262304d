//! The library behind `renmei-deep`: a USI engine with a neural network on libtorch, and its training.
//!
//! Read in this order: [`planes`] and [`labels`] define input and output of a network, [`network`] its layers,
//! [`evaluator`] its use by a search; [`train`] trains one from games, [`label`] labels positions with a
//! stronger engine beforehand, and [`mod@bench`] measures speed.

pub mod bench;
pub mod evaluator;
pub mod label;
pub mod labels;
pub mod network;
pub mod planes;
pub mod player;
mod samples;
pub mod search;
pub mod time;
pub mod train;
pub mod usi;
