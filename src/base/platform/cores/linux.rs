//! Linux: affinities, `/sys`, `/proc/stat` and abstract sockets.

use super::Load;
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use std::{
    collections::BTreeMap,
    fs, io,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
};

pub(super) type Held = UnixDatagram;

pub(super) fn usable() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect()
}

pub(super) fn pin_thread(threads: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    threads.iter().try_for_each(|&thread| set.set(thread))?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

pub(super) fn siblings(thread: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{thread}/topology/thread_siblings_list");
    fs::read_to_string(path).map(|list| listed(&list)).unwrap_or_default()
}

/// `0,4-6` as the kernel writes it.
fn listed(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

pub(super) fn load() -> Option<BTreeMap<usize, Load>> {
    fs::read_to_string("/proc/stat").ok().map(|stat| parsed(&stat))
}

/// The ticks of each hardware thread in `/proc/stat` (proc(5)).
fn parsed(stat: &str) -> BTreeMap<usize, Load> {
    let line = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let thread = words.next()?.parse().ok()?;
        // user nice system idle iowait irq softirq steal; guests are part of user and nice.
        let ticks: Vec<u64> = words.take(8).filter_map(|word| word.parse().ok()).collect();
        let all: u64 = ticks.iter().sum();
        let idle: u64 = ticks.iter().skip(3).take(2).sum();
        line.as_bytes().get(3).filter(|byte| byte.is_ascii_digit())?;
        Some((thread, Load { work: all - idle, all }))
    };
    stat.lines().filter_map(line).collect()
}

pub(super) fn governors() -> Option<Vec<String>> {
    let path = |thread: usize| format!("/sys/devices/system/cpu/cpu{thread}/cpufreq/scaling_governor");
    let governor = |thread: usize| Some(fs::read_to_string(path(thread)).ok()?.trim().to_owned());
    usable().into_iter().map(governor).collect()
}

pub(super) fn hold(name: &str) -> Option<Held> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ticks_are_read_as_the_kernel_writes_them() {
        assert_eq!(listed("0,4-6\n"), [0, 4, 5, 6]);
        let stat =
            "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 10 100 5 0 0 0 0 0\ncpu1 14 0 10 101 5 0 0 0 0 0\nintr 1\n";
        let (first, second) = (Load { work: 20, all: 125 }, Load { work: 24, all: 130 });
        assert_eq!(parsed(stat), BTreeMap::from([(0, first), (1, second)]));
        assert!(parsed("").is_empty());
    }
}
