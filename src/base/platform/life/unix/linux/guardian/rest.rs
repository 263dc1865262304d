//! The rest of an engine that nobody trusts while its opponent is to move: all its processes are stopped, so that they
//! take no processor from the opponent.

use super::tree::Tree;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::collections::HashSet;

/// Rounds in which processes are stopped that others have started meanwhile; the rest is left to the next look.
const ROUNDS: usize = 8;
/// How often an engine may be found at work in one rest: a computer that wakes up may show a process so.
const FOUND: usize = 3;

/// Whether an engine rests, and since when it keeps to it.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// The processes that were stopped.
    stopped: HashSet<i32>,
    /// True if it rests.
    is_on: bool,
    /// True if all of it was at rest.
    was_complete: bool,
    /// How often something ran that had been stopped.
    found: usize,
}

impl Rest {
    /// Stops everything.
    pub fn begin(&mut self) {
        *self = Self { is_on: true, ..Self::default() };
        self.stop();
    }

    /// Lets everything run again.
    pub fn end(&mut self) {
        for pid in std::mem::take(self).stopped {
            let _gone = kill(Pid::from_raw(pid), Signal::SIGCONT);
        }
    }

    /// Stops what runs nevertheless; true if the engine has broken its rest again and again.
    pub fn is_broken(&mut self, tree: &Tree) -> bool {
        if !self.is_on || tree.rests() {
            return false;
        }
        self.found += usize::from(self.was_complete);
        tree.signal(Signal::SIGSTOP);
        self.stopped.extend(tree.pids());
        self.stop();
        self.found > FOUND
    }

    fn stop(&mut self) {
        for _ in 0..ROUNDS {
            let tree = Tree::of_this_process_at_a_glance();
            let is_known = tree.pids().all(|pid| self.stopped.contains(&pid));
            if is_known && tree.rests() {
                self.was_complete = true;
                return;
            }
            tree.signal(Signal::SIGSTOP);
            self.stopped.extend(tree.pids());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_at_rest_is_stopped_and_runs_on_afterwards() {
        // The processes of other tests are children of this one, too, and are not to be stopped: only the states are read.
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id().cast_signed();
        let mut rest = Rest { stopped: HashSet::from([pid]), is_on: true, ..Rest::default() };
        kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
        let rests = || super::super::tree::all().get(&pid).is_some_and(|stat| stat.rests());
        while !rests() {
            std::thread::yield_now();
        }
        rest.end();
        while rests() {
            std::thread::yield_now();
        }
        assert!(!rest.is_on);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
