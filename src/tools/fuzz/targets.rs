//! The targets, one file for each kind of input.

pub mod books;
pub mod browsers;
pub mod configurations;
pub mod csa;
pub mod databases;
pub mod file_lists;
#[cfg(not(test))]
pub mod habits;
pub mod lines;
pub mod machines;
pub mod managers;
pub mod packs;
pub mod params;
pub mod positions;
pub mod proxies;
pub mod records;
pub mod requests;
pub mod suites;
pub mod usi;

use std::borrow::Cow;

/// An input as text, as our readers of lines decode it.
fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}
