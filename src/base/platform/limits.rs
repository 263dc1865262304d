//! How much a stranger may ask for: budgets that refill, and counts within a time. Both are bounded themselves.

mod bucket;
mod budgets;
mod counts;
mod origin;

pub use bucket::{Bucket, SharedBucket};
pub use budgets::Budgets;
pub use counts::Counts;
pub use origin::Origin;
