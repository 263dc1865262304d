//! Processes as `/proc` shows them (proc(5)).

use std::{fmt::Display, fs, time::Duration};

/// Clock ticks per second: USER_HZ, 100 on every Linux.
const TICKS: u64 = 100;
/// The unit of processor time.
pub(crate) const TICK: Duration = Duration::from_millis(1000 / TICKS);

/// A line of `/proc/PID/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub name: String,
    /// Its state, a letter.
    state: u8,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    pub cpu: Duration,
    pub threads: u64,
    /// Ticks since the boot.
    pub start: u64,
}

impl Stat {
    /// The process with this number.
    pub fn of(pid: impl Display) -> Option<Self> {
        Self::parse(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?))
    }

    /// Parses `pid (name) state ppid pgrp ...`; the name may contain blanks and parentheses.
    fn parse(line: &str) -> Option<Self> {
        let (head, tail) = line.rsplit_once(") ")?;
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let process = |at: usize| fields.get(at)?.parse::<i32>().ok();
        Some(Self {
            name: head.split_once('(')?.1.to_owned(),
            state: *fields.first()?.as_bytes().first()?,
            parent: process(1)?,
            group: process(2)?,
            session: process(3)?,
            cpu: Duration::from_millis((number(11)? + number(12)?) * (1000 / TICKS)),
            threads: number(17)?,
            start: number(19)?,
        })
    }

    /// True if it has ended and was not waited for.
    pub fn has_ended(&self) -> bool {
        b"ZX".contains(&self.state)
    }

    /// True if it runs, or waits for a processor.
    pub fn is_ready(&self) -> bool {
        self.state == b'R'
    }

    /// True if it is stopped, or has ended.
    pub fn rests(&self) -> bool {
        b"Tt".contains(&self.state) || self.has_ended()
    }
}

/// The numbers of processes or threads that a directory lists.
pub(crate) fn numbers(directory: &str) -> impl Iterator<Item = i32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The children of a process: each of its threads may have some.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    let tasks = format!("/proc/{pid}/task");
    let lines =
        numbers(&tasks).filter_map(|thread| fs::read_to_string(format!("{tasks}/{thread}/children")).ok());
    let lines: String = lines.collect();
    lines.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The lines of `/proc/PID/status`.
pub(crate) fn status(pid: impl Display) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/status")).ok()
}

/// The number in a line like `VmRSS:  1234 kB`.
pub(crate) fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Most memory that a process has held, in KiB.
pub(crate) fn peak_kib(pid: u32) -> Option<u64> {
    field(&status(pid)?, "VmHWM:")
}

/// Threads of a process.
pub(crate) fn threads(pid: u32) -> Option<u32> {
    field(&status(pid)?, "Threads:")?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_strange_name_is_read_and_a_line_that_is_cut_is_none() {
        let line = "42 (my (odd) engine) S 7 40 3 0 -1 4194560 90 0 0 0 250 50 0 0 20 0 5 0 100 8192 100";
        let stat = Stat::parse(line).unwrap();
        assert_eq!(
            (stat.name.as_str(), stat.cpu, stat.start),
            ("my (odd) engine", Duration::from_secs(3), 100)
        );
        assert_eq!((stat.parent, stat.group, stat.session, stat.threads), (7, 40, 3, 5));
        assert!(!stat.rests() && Stat::parse(&line.replace(") S ", ") T ")).unwrap().rests());
        assert!(Stat::parse(&line.replace(") S ", ") Z ")).unwrap().has_ended());
        assert_eq!(Stat::parse("42 (cut"), None);
    }

    #[test]
    fn a_process_has_a_peak_and_threads_as_long_as_it_lives() {
        let own = std::process::id();
        assert!(peak_kib(own).unwrap() > 100 && threads(own).unwrap() >= 1);
        assert_eq!((peak_kib(u32::MAX), threads(u32::MAX)), (None, None));
        assert_eq!(field("Name:\tx\nVmHWM:\t    5120 kB\nVmRSS:\t    4096 kB\n", "VmHWM:"), Some(5120));
    }
}
