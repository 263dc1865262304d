//! The parts of `renmei-pairwise`: a CPU engine whose whole knowledge of shogi is relations of two pieces.
//!
//! Read [`evaluation`] first: what a position is worth, and how that is kept up to date from move to
//! move; then [`search`], [`time`] and at last [`engine`], which is what USI sees. [`book`] makes and asks opening
//! books, [`bench`] measures.

pub mod bench;
pub mod book;
pub mod engine;
pub mod evaluation;
pub mod search;
pub mod time;
