//! Run.
pub mod worker;
