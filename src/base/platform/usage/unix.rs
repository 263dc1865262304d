//! Unix without `/proc`: nothing is known of other processes.

use super::{Member, Memory, Resident, Thread};
use std::{ffi::OsString, time::Duration};

#[path = "clock.rs"]
mod clock;
pub(super) use clock::{host_name, processor_time};

/// No other process is asked.
pub(super) const TICK: Duration = Duration::from_millis(10);

pub(super) fn members(_group: i32) -> Option<Vec<Member>> {
    None
}

pub(super) fn resident(_pid: u32) -> Option<Resident> {
    None
}

pub(super) fn memory() -> Option<Memory> {
    None
}

pub(super) fn limits() -> Vec<Memory> {
    vec![]
}

pub(super) fn start(_pid: u32) -> Option<u64> {
    None
}

pub(super) fn threads(_pid: u32) -> Option<Vec<Thread>> {
    None
}

pub(super) fn is_ready(_pid: u32) -> bool {
    false
}

pub(super) fn family(pid: u32) -> Vec<u32> {
    vec![pid]
}

pub(super) fn command_line(_pid: u32) -> Option<Vec<OsString>> {
    None
}
