//! The descendants of a process, as the kernel shows them.

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    collections::{HashMap, HashSet},
    fs,
};

/// A process as `/proc/PID/stat` has it (proc(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Stat {
    /// Its parent.
    pub parent: i32,
    /// Its session.
    pub session: i32,
    /// Its threads.
    pub threads: u64,
    /// True if it is stopped, or has ended.
    pub rests: bool,
}

impl Stat {
    /// Reads the line; the name of the program, in parentheses, may contain anything.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.rsplit_once(") ")?.1.split_ascii_whitespace().collect();
        Some(Self {
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            threads: fields.get(17)?.parse().ok()?,
            rests: ["T", "t", "Z", "X"].contains(fields.first()?),
        })
    }
}

/// All processes that can be seen.
pub(in super::super) fn all() -> HashMap<i32, Stat> {
    numbers("/proc").filter_map(|pid| Some((pid, stat(pid)?))).collect()
}

/// The numbers of processes or threads that a directory lists.
fn numbers(directory: &str) -> impl Iterator<Item = i32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn stat(pid: i32) -> Option<Stat> {
    Stat::parse(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?))
}

/// The children of a process: each of its threads may have some.
fn children(pid: i32) -> Vec<i32> {
    let tasks = format!("/proc/{pid}/task");
    let lines =
        numbers(&tasks).filter_map(|thread| fs::read_to_string(format!("{tasks}/{thread}/children")).ok());
    let lines: String = lines.collect();
    lines.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The first process below a sandbox that is not the sandbox's own.
pub(in super::super) fn inside(pid: i32) -> i32 {
    let read = |pid: i32, file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let mut pid = pid;
    while read(pid, "comm").trim_end() == "bwrap" {
        let children = read(pid, &format!("task/{pid}/children"));
        match children.split_ascii_whitespace().next().and_then(|child| child.parse().ok()) {
            Some(child) => pid = child,
            None => break,
        }
    }
    pid
}

/// The descendants of a process.
#[derive(Debug)]
pub(in super::super) struct Tree(HashMap<i32, Stat>);

impl Tree {
    /// Those of this process, itself left out.
    pub fn of_this_process() -> Self {
        let (mut left, mut found) = (all(), HashMap::new());
        let mut parents = HashSet::from([nix::unistd::getpid().as_raw()]);
        while !parents.is_empty() {
            let children: HashMap<_, _> = left.extract_if(|_, stat| parents.contains(&stat.parent)).collect();
            parents = children.keys().copied().collect();
            found.extend(children);
        }
        Self(found)
    }

    /// Those of this process, from parent to child: quicker where a computer has thousands of processes, but one whose
    /// parent ends meanwhile may be missing. All of them where the kernel does not show children.
    pub fn of_this_process_at_a_glance() -> Self {
        let own = nix::unistd::getpid().as_raw();
        let (mut left, mut found) = (children(own), HashMap::new());
        if fs::metadata(format!("/proc/{own}/task/{own}/children")).is_err() {
            return Self::of_this_process();
        }
        while let Some(pid) = left.pop() {
            if let Some(stat) = stat(pid)
                && found.insert(pid, stat).is_none()
            {
                left.extend(children(pid));
            }
        }
        Self(found)
    }

    /// Sends a signal to all of them.
    pub fn signal(&self, signal: Signal) {
        for &pid in self.0.keys() {
            let _gone = kill(Pid::from_raw(pid), signal);
        }
    }

    /// True if none of them runs.
    pub fn rests(&self) -> bool {
        self.0.values().all(|stat| stat.rests)
    }

    /// Their numbers.
    pub fn pids(&self) -> impl Iterator<Item = i32> {
        self.0.keys().copied()
    }

    /// Their threads.
    pub fn threads(&self) -> u64 {
        self.0.values().map(|stat| stat.threads).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_strange_name_is_read_and_children_are_found() {
        let line = "12 (a) (b) S 7 12 3 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 5 0 100 1000 77 1 1 1";
        assert_eq!(Stat::parse(line), Some(Stat { parent: 7, session: 3, threads: 5, rests: false }));
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let tree = Tree::of_this_process();
        assert!(tree.0.contains_key(&child.id().cast_signed()), "{tree:?}");
        assert!(tree.threads() >= 1);
        assert!(Tree::of_this_process_at_a_glance().0.contains_key(&child.id().cast_signed()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
