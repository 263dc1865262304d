//! What `cargo xtask` and the measurements share. It depends on next to nothing: it is compiled before anything else.

pub mod args;
pub mod engines;
pub mod workspace;
