//! x
pub mod positions;
