//! Linux: `/proc` (proc(5)) and control groups.

use super::{Member, Memory};
use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

#[path = "clock.rs"]
mod clock;
pub(super) use clock::{host_name, processor_time};

/// Clock ticks per second in `/proc`: USER_HZ, 100 on every Linux (proc(5)).
const TICKS: u64 = 100;
pub(super) const TICK: Duration = Duration::from_millis(1000 / TICKS);

/// A line of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    name: String,
    group: i32,
    cpu: Duration,
    /// Ticks since the boot.
    start: u64,
}

pub(super) fn members(group: i32) -> Option<Vec<Member>> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let member = |pid| {
        let stat = stat(pid).filter(|stat| stat.group == group)?;
        Some(Member { pid, name: stat.name, cpu: Some(stat.cpu), memory: resident(pid) })
    };
    Some(pids.filter_map(member).collect())
}

pub(super) fn memory() -> Option<Memory> {
    meminfo(&fs::read_to_string("/proc/meminfo").ok()?)
}

pub(super) fn limits() -> Vec<Memory> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = |group: &Path| {
        let group = Path::new("/sys/fs/cgroup").join(group);
        // No limit is told as a word, or not at all.
        let total = number(group.join("memory.max"))?;
        let free = number(group.join("memory.current")).map(|used| total.saturating_sub(used));
        Some(Memory { total, free })
    };
    Path::new(own).ancestors().filter_map(limit).collect()
}

pub(super) fn start(pid: u32) -> Option<u64> {
    Some(stat(pid)?.start)
}

pub(super) fn queued(pid: u32) -> Option<Vec<(u32, Duration)>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let queued = threads.filter_map(|entry| {
        let thread = entry.file_name().to_str()?.parse().ok()?;
        // Nanoseconds on a processor, nanoseconds waiting for one, time slices.
        let stat = fs::read_to_string(entry.path().join("schedstat")).ok()?;
        Some((thread, Duration::from_nanos(stat.split_ascii_whitespace().nth(1)?.parse().ok()?)))
    });
    Some(queued.collect())
}

pub(super) fn command_line(pid: u32) -> Option<Vec<OsString>> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(line.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned()).collect())
}

fn stat(pid: u32) -> Option<Stat> {
    parsed(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses `/proc/PID/stat`: `pid (name) state ppid pgrp ...`; the name may contain blanks and parentheses. `None` for a
/// process that has ended.
fn parsed(stat: &str) -> Option<Stat> {
    let (head, tail) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    let is_alive = !matches!(*fields.first()?, "Z" | "X");
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let found = Stat {
        name: head.split_once('(')?.1.to_owned(),
        group: fields.get(2)?.parse().ok()?,
        cpu: Duration::from_millis((number(11)? + number(12)?) * (1000 / TICKS)),
        start: number(19)?,
    };
    is_alive.then_some(found)
}

fn resident(pid: u32) -> Option<u64> {
    kibibytes(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmRSS:")
}

fn meminfo(text: &str) -> Option<Memory> {
    Some(Memory { total: kibibytes(text, "MemTotal:")?, free: Some(kibibytes(text, "MemAvailable:")?) })
}

/// A line like `VmRSS:  1234 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "42 (my (odd) engine) S 1 40 40 0 -1 4194560 90 0 0 0 250 50 0 0 20 0 1 0 100 8192 100";

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let name = "my (odd) engine".to_owned();
        assert_eq!(parsed(STAT), Some(Stat { name, group: 40, cpu: Duration::from_secs(3), start: 100 }));
    }

    #[test]
    fn zombies_and_lines_that_are_cut_are_no_processes() {
        assert_eq!(parsed(&STAT.replace(") S ", ") Z ")), None);
        assert_eq!(parsed("42 (cut"), None);
    }

    #[test]
    fn this_process_is_found_with_its_memory() {
        let group = nix::unistd::getpgrp().as_raw();
        let members = super::super::members(group).unwrap();
        assert!(members.iter().any(|member| member.pid == std::process::id()));
        assert!(super::super::memory_of(group) > Some(0));
        let line = command_line(std::process::id()).unwrap();
        assert_eq!(line[0], std::env::args_os().next().unwrap());
        assert!(start(std::process::id()).is_some());
    }

    #[test]
    fn what_this_process_computes_is_wanted_however_busy_the_machine_is() {
        let group = nix::unistd::getpgrp().as_raw();
        let before = super::super::wanted_by(group).unwrap();
        let enough = processor_time().unwrap() + TICK * 6;
        while processor_time().unwrap() < enough {}
        assert!(super::super::wanted_by(group).unwrap() >= before + TICK * 4);
    }

    #[test]
    fn memory_is_known_only_where_both_numbers_are() {
        let text = "MemTotal:  1000 kB\nMemFree:  10 kB\nMemAvailable:  500 kB\n";
        assert_eq!(meminfo(text), Some(Memory { total: 1_024_000, free: Some(512_000) }));
        assert_eq!((meminfo(""), meminfo("MemTotal: 1000 kB\n")), (None, None));
        assert!(memory().is_some());
    }
}
