//! The parts of `renmei-pairwise`: a CPU engine whose whole knowledge of shogi is relations of two pieces.
//!
//! Read [`evaluation`] first: what a position is worth, and how that is kept up to date from move to move.

pub mod evaluation;
