//! The descendants of a process, as the kernel shows them.

use crate::proc::{Stat, children, numbers};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    collections::{HashMap, HashSet},
    fs,
};

/// All processes that can be seen.
pub(in super::super) fn all() -> HashMap<i32, Stat> {
    numbers("/proc").filter_map(|pid| Some((pid, Stat::of(pid)?))).collect()
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
            if let Some(stat) = Stat::of(pid)
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
        self.0.values().all(Stat::rests)
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
    fn the_children_of_this_process_are_found() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let tree = Tree::of_this_process();
        assert!(tree.0.contains_key(&child.id().cast_signed()), "{tree:?}");
        assert!(tree.threads() >= 1);
        assert!(Tree::of_this_process_at_a_glance().0.contains_key(&child.id().cast_signed()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
