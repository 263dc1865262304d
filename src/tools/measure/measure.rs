//! Resources used by one process, without its children: CPU time and memory.

use crate::cores::Pinned;
use anyhow::{Context, Result};
use nix::{
    sys::wait::{Id, WaitPidFlag, WaitStatus, waitid},
    unistd::Pid,
};
use platform::{cores::usable, usage::resident};
use std::{
    fs,
    process::{Child, Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

/// Interval between two samples of memory.
const SAMPLE: Duration = Duration::from_millis(10);
/// Unit of times in /proc/PID/stat (USER_HZ): 100 Hz on every architecture supported by Rust on Linux.
const TICK: Duration = Duration::from_millis(10);

/// Resources used by a process.
#[derive(Debug)]
pub struct Usage {
    pub status: ExitStatus,
    /// Wall time from start to end.
    pub wall: Duration,
    /// User and system time of all threads, without children.
    pub cpu: Duration,
    /// Peak memory (VmHWM) in KiB.
    pub peak: u64,
    /// Samples of resident memory (VmRSS) from start to end, in KiB.
    resident: Vec<u64>,
}

impl Usage {
    /// Resident memory in KiB after that many quarters of the time.
    pub fn resident_after(&self, quarters: usize) -> u64 {
        let last = self.resident.len().saturating_sub(1);
        self.resident.get(last * quarters / 4).copied().unwrap_or(0)
    }
}

/// Runs a command, with its children, on the given cores, and samples it from the others, if any.
pub fn measured(command: &mut Command, on: &[usize]) -> Result<Usage> {
    let others: Vec<usize> = usable().into_iter().filter(|core| !on.contains(core)).collect();
    let begun = Instant::now();
    let child = {
        let _pinned = Pinned::to(on)?;
        let program = command.get_program().to_string_lossy().into_owned();
        command.spawn().with_context(|| format!("`{program}` could not be started"))?
    };
    let _aside = if others.is_empty() { None } else { Some(Pinned::to(&others)?) };
    watch(child, begun)
}

fn watch(mut child: Child, begun: Instant) -> Result<Usage> {
    let (mut peak, mut samples) = (0, Vec::new());
    while is_running(&child)? {
        if let Some(memory) = resident(child.id()) {
            peak = memory.peak;
            samples.push(memory.now);
        }
        thread::sleep(SAMPLE);
    }
    let wall = begun.elapsed();
    // A zombie's times in /proc are complete until it is reaped.
    let cpu =
        own_time(&fs::read_to_string(format!("/proc/{}/stat", child.id()))?).context("no times in /proc")?;
    Ok(Usage { status: child.wait()?, wall, cpu, peak, resident: samples })
}

fn is_running(child: &Child) -> Result<bool> {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    let pid = Pid::from_raw(child.id().cast_signed());
    Ok(waitid(Id::Pid(pid), flags)? == WaitStatus::StillAlive)
}

/// User and system time (fields 14 and 15) of a line of /proc/PID/stat. The second field, the name, may contain
/// anything, parentheses and blanks included.
pub fn own_time(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11);
    let ticks = times.next()?.parse::<u32>().ok()? + times.next()?.parse::<u32>().ok()?;
    Some(TICK * ticks)
}

/// Nearest-rank percentile; `sorted` is ascending.
pub fn percentile(sorted: &[i64], percent: usize) -> i64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_after_any_process_name() {
        let stat = "42 (a ) b (c) S 1 42 42 0 -1 4194560 100 200 0 0 120 30 999 888 20 0 1 0 5";
        assert_eq!(own_time(stat), Some(Duration::from_millis(1500)));
        assert_eq!(own_time("nonsense"), None);
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let hundred: Vec<i64> = (1..=100).collect();
        assert_eq!([50, 99, 100].map(|percent| percentile(&hundred, percent)), [50, 99, 100]);
        assert_eq!([percentile(&[7], 50), percentile(&[], 99)], [7, 0]);
    }

    #[test]
    fn a_process_is_charged_its_own_time_but_not_its_childrens() {
        let on = usable();
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let own = measured(Command::new("sh").args(["-c", busy]), &on).unwrap();
        let childs =
            measured(Command::new("sh").args(["-c", &format!("sh -c '{busy}'; true")]), &on).unwrap();
        assert!(own.status.success() && childs.status.success());
        assert!(own.cpu > childs.cpu, "own {:?}, a child's {:?}", own.cpu, childs.cpu);
        assert!(own.peak > 0 && own.peak >= own.resident_after(2));
    }
}
