//! Linux: `/proc` (proc(5)) and control groups.

use super::{Member, Memory, Resident, Thread};
use crate::proc::{Stat, children, field, numbers, status};
use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

#[path = "clock.rs"]
mod clock;
pub(super) use crate::proc::TICK;
pub(super) use clock::{host_name, processor_time};

pub(super) fn members(group: i32) -> Option<Vec<Member>> {
    fs::metadata("/proc/self").ok()?;
    let member = |pid: i32| {
        let pid = pid.cast_unsigned();
        let stat = alive(pid).filter(|stat| stat.group == group)?;
        let memory = status(pid).and_then(|status| field(&status, "VmRSS:")?.checked_mul(1024));
        Some(Member { pid, name: stat.name, cpu: Some(stat.cpu), memory })
    };
    Some(numbers("/proc").filter_map(member).collect())
}

/// A process that has not ended.
fn alive(pid: u32) -> Option<Stat> {
    Stat::of(pid).filter(|stat| !stat.has_ended())
}

pub(super) fn resident(pid: u32) -> Option<Resident> {
    let status = status(pid)?;
    Some(Resident { now: field(&status, "VmRSS:")?, peak: field(&status, "VmHWM:")? })
}

pub(super) fn memory() -> Option<Memory> {
    meminfo(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn meminfo(text: &str) -> Option<Memory> {
    let bytes = |name| field(text, name)?.checked_mul(1024);
    Some(Memory { total: bytes("MemTotal:")?, free: Some(bytes("MemAvailable:")?) })
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
    Some(alive(pid)?.start)
}

pub(super) fn threads(pid: u32) -> Option<Vec<Thread>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let thread = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        // Nanoseconds on a processor, nanoseconds waiting for one, time slices.
        let stat = fs::read_to_string(entry.path().join("schedstat")).ok()?;
        let mut times =
            stat.split_ascii_whitespace().map_while(|word| word.parse().ok().map(Duration::from_nanos));
        Some(Thread { id, ran: times.next()?, queued: times.next()? })
    };
    Some(threads.filter_map(thread).collect())
}

pub(super) fn is_ready(pid: u32) -> bool {
    let task = format!("/proc/{pid}/task");
    numbers(&task)
        .any(|thread| Stat::of(format_args!("{pid}/task/{thread}")).is_some_and(|stat| stat.is_ready()))
}

pub(super) fn family(pid: u32) -> Vec<u32> {
    let (mut found, mut at) = (vec![pid], 0);
    while let Some(&parent) = found.get(at) {
        let new = children(parent.cast_signed()).into_iter().map(i32::cast_unsigned);
        let new: Vec<u32> = new.filter(|child| !found.contains(child)).collect();
        found.extend(new);
        at += 1;
    }
    found
}

pub(super) fn command_line(pid: u32) -> Option<Vec<OsString>> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(line.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
