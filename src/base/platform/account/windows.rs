//! Windows: users have security identifiers.

use crate::windows;
use std::{io, path::Path};

pub(crate) type Id = String;

/// The system, and the administrators as an owner of files (well-known security identifiers).
const ADMINISTRATORS: [&str; 2] = ["S-1-5-18", "S-1-5-32-544"];

pub(super) fn own() -> io::Result<Id> {
    windows::user()
}

pub(super) fn owner_of(path: &Path) -> io::Result<Id> {
    windows::owner(path)
}

pub(super) fn name(user: &Id) -> Option<String> {
    windows::account(user).ok()
}

pub(super) fn is_administrator(user: &Id) -> bool {
    ADMINISTRATORS.contains(&user.as_str())
}

pub(super) fn files(_needed: u64) -> Option<u64> {
    None
}
