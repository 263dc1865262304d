//! Processors: those that this program may use, which of them share a core, how busy they are, and what runs where.
//!
//! A hardware thread is numbered as the system numbers it.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`usable`] | `sched_getaffinity` | as many as may run at once | `GetProcessAffinityMask`: the first 64 |
//! | [`pin_thread`] | `sched_setaffinity`; processes that the thread starts inherit it | error | `SetThreadAffinityMask`; processes do not inherit it |
//! | [`siblings`] | `/sys/devices/system/cpu` | none known | `GetLogicalProcessorInformation` |
//! | [`load`] | `/proc/stat` | `None` | `NtQuerySystemInformation` |
//! | [`governors`] of the frequency | `/sys/devices/system/cpu` | `None` | `None` |
//! | [`Claim`] | an abstract socket | never granted | a named mutex, of all sessions |

#[cfg_attr(target_os = "linux", path = "cores/linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "cores/unix.rs")]
#[cfg_attr(windows, path = "cores/windows.rs")]
mod side;

use std::{collections::BTreeMap, io};

/// What a hardware thread has done since the boot, in a unit of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Time in which it worked.
    pub work: u64,
    /// All time.
    pub all: u64,
}

/// Hardware threads that this program may use; at least one.
pub fn usable() -> Vec<usize> {
    let threads = side::usable();
    if threads.is_empty() { vec![0] } else { threads }
}

/// Lets the calling thread run on these hardware threads alone.
///
/// # Errors
/// When one of them is not there, or the system pins no threads.
pub fn pin_thread(threads: &[usize]) -> io::Result<()> {
    side::pin_thread(threads)
}

/// The hardware threads of the core that a hardware thread belongs to; empty where the system does not tell.
pub fn siblings(thread: usize) -> Vec<usize> {
    side::siblings(thread)
}

/// What each hardware thread has done; `None` where the system does not tell.
pub fn load() -> Option<BTreeMap<usize, Load>> {
    side::load()
}

/// The governor that sets the frequency of each usable hardware thread, by the system's name for it; `None` where the
/// system does not answer, as in most virtual machines.
pub fn governors() -> Option<Vec<String>> {
    side::governors()
}

/// A name that one process of the machine has at a time, of whatever user. The system takes it back when the process
/// dies. Containers with networks of their own do not see each other's names.
#[derive(Debug)]
pub struct Claim {
    _held: side::Held,
}

impl Claim {
    /// Takes a name; `None` if another process has it, or the system has no such names.
    #[must_use]
    pub fn take(name: &str) -> Option<Self> {
        Some(Self { _held: side::hold(name)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_held_by_one_until_it_is_dropped() {
        let name = format!("renmei-claim-test-{}", std::process::id());
        let first = Claim::take(&name);
        assert!(first.is_some() && Claim::take(&name).is_none());
        drop(first);
        assert!(Claim::take(&name).is_some());
    }

    #[test]
    #[cfg_attr(windows, ignore = "what may be used is a fact of the process there, not of its threads")]
    fn a_thread_is_pinned_to_what_it_may_use() {
        let first = usable()[0];
        let pinned = std::thread::spawn(move || {
            pin_thread(&[first]).unwrap();
            usable()
        });
        assert_eq!(pinned.join().unwrap(), [first]);
        assert!(pin_thread(&[usize::MAX]).is_err());
        assert!(load().unwrap().contains_key(&first));
    }
}
