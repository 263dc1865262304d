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
pub(crate) struct Stat {
    /// Its parent.
    pub parent: i32,
    /// Its session.
    pub session: i32,
    /// Its threads.
    pub threads: u64,
    /// Whether it is stopped, or has ended.
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
pub(crate) fn all() -> HashMap<i32, Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let line = fs::read(entry.path().join("stat")).ok()?;
            Some((pid, Stat::parse(&String::from_utf8_lossy(&line))?))
        })
        .collect()
}

/// The first process below a sandbox that is not the sandbox's own.
pub(crate) fn inside(pid: i32) -> i32 {
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
pub(crate) struct Tree(HashMap<i32, Stat>);

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

    /// Sends a signal to all of them.
    pub fn signal(&self, signal: Signal) {
        for &pid in self.0.keys() {
            let _gone = kill(Pid::from_raw(pid), signal);
        }
    }

    /// Whether none of them runs.
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
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
