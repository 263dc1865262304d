//! The strict sandbox: for an engine that nobody trusts.

use super::system;

/// Whether this machine has what a strict sandbox needs. Linux tries it with `cat` in place of an engine; other systems
/// have none.
///
/// # Errors
/// What is missing, and what to do, as a lowercase fragment.
pub fn available() -> Result<(), String> {
    system::sandbox_available()
}

/// Who counts what a strict engine holds on this machine, as a sentence for the log.
#[must_use]
pub fn counting() -> &'static str {
    system::sandbox_counting()
}
