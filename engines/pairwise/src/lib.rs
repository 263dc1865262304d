//! The parts of `renmei-pairwise`: a CPU engine whose whole knowledge of shogi is relations of two pieces.
//!
//! Read [`evaluation`] first: what a position is worth, and how that is kept up to date from move to move.
//! Then [`search`], [`time`] and [`engine`], which is what USI sees. [`learn`] is where the knowledge comes
//! from, [`mod@bench`] measures; [`opening_book`] makes and asks opening books. [`program`] is the command line.
//!
//! The package `renmei` builds the program from `src/main.rs`, so that installing it installs its engines; it also
//! runs `tests/usi.rs`, which needs the program.

pub mod bench;
pub mod engine;
pub mod evaluation;
pub mod learn;
pub mod program;
pub mod search;
pub mod time;
