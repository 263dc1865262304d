//! What the kernel counts of an engine's process: its peak of memory, its threads.

use crate::guardian::ControlGroup;
use std::{fs, time::Duration};
use tokio::time::Instant;

/// Least time between two questions to the kernel.
const PAUSE: Duration = Duration::from_secs(5);

/// The peak of one engine's processes, one after another.
#[derive(Debug, Default)]
pub struct Peak {
    told: u64,
    asked: Option<Instant>,
}

impl Peak {
    /// The peak of a process in KiB, if it is time to ask and it has grown by a sixteenth since it was told. Processes
    /// that it started itself count only where all of them have a control group.
    pub fn news(&mut self, pid: i32, group: Option<&ControlGroup>, now: Instant) -> Option<u64> {
        if self.asked.is_some_and(|asked| now.saturating_duration_since(asked) < PAUSE) {
            return None;
        }
        self.asked = Some(now);
        let own = || high_water(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?);
        let kib = group.and_then(ControlGroup::peak).or_else(own)?;
        if kib <= self.told + self.told / 16 {
            return None;
        }
        self.told = kib;
        Some(kib)
    }
}

/// Threads of a process.
pub fn threads(pid: i32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    field(&status, "Threads:")?.try_into().ok()
}

/// Most memory that a process has held, in KiB.
fn high_water(status: &str) -> Option<u64> {
    field(status, "VmHWM:")
}

/// A number of `/proc/PID/status` (proc(5)).
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_told_when_it_is_asked_for_and_has_grown() {
        let own = i32::try_from(std::process::id()).unwrap();
        let (mut peak, begin) = (Peak::default(), Instant::now());
        assert!(peak.news(own, None, begin).unwrap() > 100);
        assert_eq!(peak.news(own, None, begin + PAUSE / 2), None, "asked too soon");
        peak.told = u64::MAX / 2;
        assert_eq!(peak.news(own, None, begin + 2 * PAUSE), None, "it has not grown");
        assert_eq!(high_water("Name:\tx\nVmHWM:\t    5120 kB\nVmRSS:\t    4096 kB\n"), Some(5120));
    }
}
