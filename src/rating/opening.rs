//! What opening lines are worth to a match, and which of them comes next.

mod choice;
pub mod worth;

pub use choice::LineChoice;
