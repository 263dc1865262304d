//! Renmei.
fn main() {}
