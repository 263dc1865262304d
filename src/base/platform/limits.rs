//! How much a stranger may ask for: budgets that refill, and counts within a time. Both are bounded themselves.

mod bucket;
mod counts;

pub use bucket::{Bucket, SharedBucket};
pub use counts::Counts;
