//! Code shared by `cargo xtask` and the measurements. Few dependencies, because it is compiled before everything else.

pub mod args;
pub mod cross;
pub mod engines;
pub mod processes;
pub mod running;
pub mod workspace;
