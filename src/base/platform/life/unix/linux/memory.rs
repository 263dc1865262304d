//! What the kernel counts of one process (`/proc/PID/status`, proc(5)).

use std::fs;

/// Most memory that a process has held, in KiB.
pub(in super::super) fn peak_kib(pid: u32) -> Option<u64> {
    field(&status(pid)?, "VmHWM:")
}

/// Threads of a process.
pub(in super::super) fn threads(pid: u32) -> Option<u32> {
    field(&status(pid)?, "Threads:")?.try_into().ok()
}

fn status(pid: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/status")).ok()
}

/// A number of the file.
pub(super) fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_peak_and_threads_as_long_as_it_lives() {
        let own = std::process::id();
        assert!(peak_kib(own).unwrap() > 100 && threads(own).unwrap() >= 1);
        assert_eq!((peak_kib(u32::MAX), threads(u32::MAX)), (None, None));
        assert_eq!(field("Name:\tx\nVmHWM:\t    5120 kB\nVmRSS:\t    4096 kB\n", "VmHWM:"), Some(5120));
    }
}
