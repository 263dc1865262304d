//! The parts of `renmei-pairwise`: a CPU engine whose whole knowledge of shogi is relations of two pieces.
//!
//! Read [`evaluation`] first: what a position is worth, and how that is kept up to date from move to move. [`learn`] is
//! where the knowledge comes from.

pub mod evaluation;
pub mod learn;
