//! The library of `renmei-pairwise`: a CPU engine with alpha-beta search and an evaluation by relations of two
//! pieces.
//!
//! Read [`evaluation`] first, with its incremental updates, then [`search`], [`time`] and [`engine`] (the USI
//! interface). [`learn`] trains the evaluation, [`quiet`] lends it to other searches, [`mate`] answers `go mate`, [`mod@bench`] measures speed, [`scale`] weighs relations; [`opening_book`] makes and uses
//! opening books. [`program`] is the command line.
//!
//! The package `renmei` builds the program from `src/main.rs`, so that installing it installs its engines; it
//! also runs `tests/usi.rs`, which needs the program.

pub mod bench;
pub mod engine;
pub mod evaluation;
pub mod learn;
pub mod mate;
pub mod program;
pub mod quiet;
pub mod scale;
pub mod search;
pub mod time;

/// The error of a command, which the program only prints.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;
