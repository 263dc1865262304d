//! The library behind `renmei-deep`: a network on libtorch that looks at shogi positions, and its training.
//!
//! Read in this order: [`planes`] and [`labels`] say what a network sees and how it names moves, [`network`] what it
//! is made of, [`evaluator`] how a search asks it; [`train`] makes one from games, [`label`] asks a stronger engine
//! about positions first, and [`mod@bench`] measures.

pub mod bench;
pub mod evaluator;
pub mod label;
pub mod labels;
pub mod network;
pub mod planes;
pub mod player;
mod plot;
pub mod search;
pub mod time;
pub mod time_model;
pub mod train;
pub mod usi;
