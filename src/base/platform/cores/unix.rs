//! Unix without affinities.

use super::Load;
use std::{collections::BTreeMap, convert::Infallible, io, thread};

pub(super) type Held = Infallible;

pub(super) fn usable() -> Vec<usize> {
    (0..thread::available_parallelism().map_or(1, usize::from)).collect()
}

pub(super) fn pin_thread(_threads: &[usize]) -> io::Result<()> {
    Err(crate::unanswered("how a thread is pinned to a core"))
}

pub(super) fn siblings(_thread: usize) -> Vec<usize> {
    vec![]
}

pub(super) fn governors() -> Option<Vec<String>> {
    None
}

pub(super) fn load() -> Option<BTreeMap<usize, Load>> {
    None
}

pub(super) fn hold(_name: &str) -> Option<Held> {
    None
}
