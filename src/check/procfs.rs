//! An engine's process group in `/proc`: its members, their memory and CPU time.

use std::{fs, time::Duration};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub pid: u32,
    /// Name of its program, as the kernel stores it.
    pub name: String,
    /// CPU time used, user and system.
    pub cpu: Duration,
    pub rss: u64,
}

/// Living members of a process group; zombies are left out.
pub fn members(group: i32) -> Vec<Member> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let member = member(pid, &stat, group)?;
        Some(Member { rss: rss(pid).unwrap_or(0), ..member })
    })
    .collect()
}

/// Resident memory of a process group in bytes.
pub fn memory(group: i32) -> u64 {
    members(group).iter().map(|member| member.rss).sum()
}

pub fn cpu(group: i32) -> Duration {
    members(group).iter().map(|member| member.cpu).sum()
}

/// Clock ticks per second in `/proc`: USER_HZ, 100 on every Linux (proc(5)).
const TICKS: u64 = 100;

/// Parses `/proc/PID/stat`: `pid (name) state ppid pgrp ...`; the name may contain blanks and parentheses (proc(5)).
fn member(pid: u32, stat: &str, group: i32) -> Option<Member> {
    let (head, tail) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    let of_group = fields.get(2)?.parse() == Ok(group) && !matches!(fields[0], "Z" | "X");
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let cpu = Duration::from_millis((ticks(11)? + ticks(12)?) * (1000 / TICKS));
    let name = head.split_once('(')?.1.to_owned();
    of_group.then_some(Member { pid, name, cpu, rss: 0 })
}

fn rss(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "42 (my (odd) engine) S 1 40 40 0 -1 4194560 90 0 0 0 250 50 0 0 20 0 1 0 100 8192 100";

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let member = member(42, STAT, 40).unwrap();
        assert_eq!((member.name.as_str(), member.cpu), ("my (odd) engine", Duration::from_secs(3)));
    }

    #[test]
    fn other_groups_and_zombies_are_left_out() {
        assert_eq!(member(42, STAT, 41), None);
        assert_eq!(member(42, &STAT.replace(") S ", ") Z "), 40), None);
        assert_eq!(member(42, "42 (cut", 40), None);
    }

    #[test]
    fn this_process_is_found_with_its_memory() {
        let group = nix::unistd::getpgrp().as_raw();
        assert!(members(group).iter().any(|member| member.pid == std::process::id()));
        assert!(memory(group) > 0);
    }
}
