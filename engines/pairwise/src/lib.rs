//! The parts of `renmei-pairwise`: a CPU engine whose whole knowledge of shogi is relations of two pieces.
//!
//! Read [`evaluation`] first: what a position is worth, and how that is kept up to date from move to move.
//! Then [`search`], [`time`] and [`engine`], which is what USI sees. [`learn`] is where the knowledge comes
//! from, [`mod@bench`] measures; [`opening_book`] makes and asks opening books.

pub mod bench;
pub mod engine;
pub mod evaluation;
pub mod learn;
pub mod search;
pub mod time;
