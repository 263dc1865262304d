//! Unix: the time of this process and the name of the machine.

use nix::{
    time::{ClockId, clock_gettime},
    unistd::gethostname,
};
use std::{io, time::Duration};

pub(in crate::usage) fn processor_time() -> io::Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into())
}

pub(in crate::usage) fn host_name() -> Option<String> {
    gethostname().ok()?.into_string().ok()
}
