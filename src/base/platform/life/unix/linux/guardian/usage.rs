//! What the processes of an engine hold, wherever the kernel keeps it.
//!
//! Memory of a process is in its own numbers. What outlives a mapping, and what no process has mapped, is not: files in
//! the directories of a sandbox, sockets and pipes with what waits in them, tables of pages. Sandboxes refuse what cannot
//! be counted at all (`sandbox/filter.rs`).

use super::tree::Tree;
use crate::proc::{field, status};
use nix::sys::statvfs::statvfs;
use std::{fs, os::unix::fs::MetadataExt, path::PathBuf};

/// Directories that an engine in a sandbox has for its own, each a file system in memory.
pub(in super::super) const OWN: [&str; 3] = ["/tmp", "/run", "/dev/shm"];
/// KiB that a socket may hold: what waits in it, with the kernel's own share.
const SOCKET: u64 = 512;
/// KiB that any other descriptor may hold: that of a pipe, once its user has many.
const DESCRIPTOR: u64 = 8;
/// KiB that the kernel has for a thread.
const THREAD: u64 = 32;
/// KiB that the kernel has for the name and the node of a file.
const FILE: u64 = 1;

/// What an engine uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Usage {
    /// Memory in KiB; what several processes share counts for each.
    pub kib: u64,
    /// Threads of all processes.
    pub threads: u64,
    /// Files in its own directories.
    pub files: u64,
}

impl Usage {
    /// What these processes use.
    pub fn of(tree: &Tree) -> Self {
        let mut usage = Self { threads: tree.threads(), ..Self::default() };
        usage.kib += usage.threads * THREAD;
        let mut room = None;
        for pid in tree.pids() {
            let Some(status) = status(pid) else { continue };
            usage.kib += kib(&status) + descriptors(pid) * DESCRIPTOR;
            if room.is_none() && is_inside(&status) {
                room = Room::of(pid);
            }
        }
        let room = room.unwrap_or_default();
        usage.kib += room.kib + room.files * FILE + room.sockets * SOCKET;
        usage.files = room.files;
        usage
    }
}

/// Whether what an engine uses can be seen: a process of its sandbox has to be looked into.
pub(in super::super) fn is_visible(pid: i32) -> bool {
    Room::of(pid).is_some_and(|room| room.seen == OWN.len())
        && fs::read_dir(format!("/proc/{pid}/fd")).is_ok()
}

/// Memory of a process in KiB (`/proc/PID/status`). Pages of files in memory count where the files are.
fn kib(status: &str) -> u64 {
    ["RssAnon:", "RssFile:", "VmSwap:", "VmPTE:"].iter().filter_map(|name| field(status, name)).sum()
}

/// True if a process has a number in a further namespace: it is in the sandbox, not around it.
fn is_inside(status: &str) -> bool {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.is_some_and(|numbers| numbers.split_ascii_whitespace().count() > 1)
}

fn descriptors(pid: i32) -> u64 {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |open| open.count() as u64)
}

/// What all processes of a sandbox share.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    kib: u64,
    files: u64,
    sockets: u64,
    /// How many of its own directories it has already.
    seen: usize,
}

impl Room {
    /// The sandbox of a process; `None` if the process is gone, or may not be looked into.
    fn of(pid: i32) -> Option<Self> {
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        let sockets = fs::read_to_string(format!("/proc/{pid}/net/sockstat")).ok()?;
        let mut room = Self { sockets: field(&sockets, "sockets: used")?, ..Self::default() };
        for own in OWN {
            let inside = root.join(own.trim_start_matches('/'));
            let device = fs::metadata(&inside).ok()?.dev();
            // While the sandbox is being made, the directory is still that of everybody.
            if fs::metadata(own).is_ok_and(|outside| outside.dev() == device) {
                continue;
            }
            let system = statvfs(&inside).ok()?;
            room.kib += (system.blocks() - system.blocks_free()) * system.fragment_size() / 1024;
            room.files += system.files() - system.files_free();
            room.seen += 1;
        }
        Some(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_swapped_out_and_tables_of_pages_count() {
        let status = "Name:\tx\nRssAnon:\t    100 kB\nRssFile:\t      20 kB\nRssShmem:\t    4000 kB\nVmPTE:\t       3 kB\n\
                      VmSwap:\t    500 kB\nNSpid:\t77\t2\n";
        assert_eq!((kib(status), is_inside(status)), (623, true));
        assert_eq!((kib("Name:\tzombie\n"), is_inside("NSpid:\t77\n")), (0, false));
    }

    #[test]
    fn the_descriptors_and_threads_of_a_process_count() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let usage = Usage::of(&Tree::of_this_process());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(usage.threads >= 1 && usage.kib > THREAD, "{usage:?}");
        assert_eq!(usage.files, 0, "what lies in a directory of everybody is not the engine's");
    }
}
