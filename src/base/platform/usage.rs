//! What the system counts: processes with their memory and processor time, the memory of the machine, its name.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`members`] of a group | the process group, by `/proc` | `None` | the process and its descendants, as far as their parents live (Toolhelp) |
//! | [`Member::cpu`], in ticks of [`TICK`] | 10 ms | | 15.625 ms |
//! | [`Member::memory`] | resident (`VmRSS`) | | working set |
//! | [`resident`] memory of a process | `/proc/PID/status` | `None` | `GetProcessMemoryInfo` |
//! | [`memory`] of the machine | `/proc/meminfo` | `None` | `GlobalMemoryStatusEx` |
//! | [`threads`] of a process, [`is_ready`] | `/proc/PID/task/*/schedstat` | `None` | `None` |
//! | [`limits`] of memory | the control groups of this process | none | none |
//! | [`processor_time`] of this process | `clock_gettime` | `clock_gettime` | `GetProcessTimes` |
//! | [`start`] of a process | ticks since the boot | `None` | intervals of 100 ns since 1601 |
//! | [`command_line`] | `/proc/PID/cmdline` | `None` | `None` |
//! | [`host_name`] | `gethostname` | `gethostname` | `GetComputerNameExW` |

#[cfg_attr(target_os = "linux", path = "usage/linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "usage/unix.rs")]
#[cfg_attr(windows, path = "usage/windows.rs")]
mod side;

use std::{ffi::OsString, io, time::Duration};

/// Unit in which the system counts the processor time of other processes.
pub const TICK: Duration = side::TICK;

/// A living process of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The number of the process.
    pub pid: u32,
    /// Name of its program, as the system stores it.
    pub name: String,
    /// Processor time that it has used, its own and the system's for it; `None` if it may not be asked.
    pub cpu: Option<Duration>,
    /// Bytes of memory that it occupies; `None` if it may not be asked.
    pub memory: Option<u64>,
}

/// Memory that can be used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// All of it, in bytes.
    pub total: u64,
    /// What can still be had of it without swapping, in bytes; `None` if the system does not tell.
    pub free: Option<u64>,
}

impl Memory {
    /// True if at least half of it is known to be free.
    pub fn is_plentiful(&self) -> bool {
        self.free.is_some_and(|free| free >= self.total / 2)
    }
}

/// The living members of a process group, by the number of its first process; those that have ended but were not waited for
/// are left out. `None` where the system does not list processes.
pub fn members(group: i32) -> Option<Vec<Member>> {
    side::members(group)
}

/// Memory of a process group in bytes; `None` where the system does not list processes, or tells of no member's memory.
pub fn memory_of(group: i32) -> Option<u64> {
    sum(members(group)?, |member| member.memory)
}

/// Processor time of the living members of a process group; `None` where the system does not list processes, or tells of
/// no member's time.
pub fn cpu_of(group: i32) -> Option<Duration> {
    sum(members(group)?, |member| member.cpu)
}

/// Processor time that the living members of a process group have used, and that their threads have waited for: as much
/// on a busy machine as on an idle one. `None` as for [`cpu_of`].
pub fn wanted_by(group: i32) -> Option<Duration> {
    let waited = |pid| threads(pid).unwrap_or_default().iter().map(|thread| thread.queued).sum::<Duration>();
    sum(members(group)?, |member| Some(member.cpu? + waited(member.pid)))
}

/// The sum of what is known of members; `None` if there are some and nothing is known of any.
fn sum<T: std::iter::Sum>(members: Vec<Member>, of: impl Fn(&Member) -> Option<T>) -> Option<T> {
    let is_known = members.is_empty() || members.iter().any(|member| of(member).is_some());
    is_known.then(|| members.iter().filter_map(&of).sum())
}

/// What a living thread has had of the processors since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number.
    pub id: u32,
    /// Time on a processor.
    pub ran: Duration,
    /// Time in which it could have run, but waited for a processor. It grows when a wait is over.
    pub queued: Duration,
}

/// The living threads of a process. `None` where the system does not count their time.
pub fn threads(pid: u32) -> Option<Vec<Thread>> {
    side::threads(pid)
}

/// True if a thread of a process runs, or waits for a processor.
pub fn is_ready(pid: u32) -> bool {
    side::is_ready(pid)
}

/// A process and its living descendants; the process alone where the system does not tell.
pub fn family(pid: u32) -> Vec<u32> {
    side::family(pid)
}

/// The longest time that one thread waited for a processor between two calls of [`threads`].
pub fn waited(before: &[Thread], now: &[Thread]) -> Duration {
    let earlier = |id: u32| before.iter().find(|thread| thread.id == id).map(|thread| thread.queued);
    let since = |thread: &Thread| thread.queued.saturating_sub(earlier(thread.id).unwrap_or_default());
    now.iter().map(since).max().unwrap_or_default()
}

/// Resident memory of a process, in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// What it occupies now.
    pub now: u64,
    /// The most that it has occupied.
    pub peak: u64,
}

/// The resident memory of a living process; `None` where the system does not tell.
pub fn resident(pid: u32) -> Option<Resident> {
    side::resident(pid)
}

/// The memory of the machine; `None` where the system does not tell.
pub fn memory() -> Option<Memory> {
    side::memory()
}

/// The limits of memory that this process has below that of the machine, as of a container or a unit.
pub fn limits() -> Vec<Memory> {
    side::limits()
}

/// Processor time of this process, all threads together.
///
/// # Errors
/// When the system does not tell.
pub fn processor_time() -> io::Result<Duration> {
    side::processor_time()
}

/// When a living process was started, as the system counts time: together with its number, that is one process alone.
/// `None` for a process that has ended, also if it was not waited for, and where the system does not tell.
pub fn start(pid: u32) -> Option<u64> {
    side::start(pid)
}

/// The command line of a process, its program first; `None` where there is no such process or the system does not tell.
pub fn command_line(pid: u32) -> Option<Vec<OsString>> {
    side::command_line(pid)
}

/// The name of this machine; `None` if it has none.
pub fn host_name() -> Option<String> {
    let name = side::host_name()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_zero() {
        let member = |memory| Member { pid: 1, name: String::new(), cpu: None, memory };
        assert_eq!(
            sum(vec![member(Some(2)), member(None), member(Some(3))], |member| member.memory),
            Some(5)
        );
        assert_eq!(sum(vec![member(None)], |member| member.memory), None);
        assert_eq!(sum(vec![], |member| member.memory), Some(0), "a group that has ended");
        assert!(Memory { total: 1000, free: Some(500) }.is_plentiful());
        assert!(!Memory { total: 1000, free: Some(499) }.is_plentiful());
        assert!(!Memory { total: 1000, free: None }.is_plentiful());
    }

    #[test]
    fn the_longest_wait_of_a_thread_counts_from_the_first_look_or_from_its_birth() {
        let ms = Duration::from_millis;
        let thread = |id, queued| Thread { id, ran: ms(7), queued: ms(queued) };
        let before = [thread(1, 50), thread(2, 400)];
        assert_eq!(waited(&before, &[thread(1, 90), thread(2, 410), thread(3, 30)]), ms(40));
        assert_eq!(waited(&before, &[thread(3, 60), thread(1, 50)]), ms(60));
        assert_eq!(waited(&before, &[]), ms(0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_of_this_process_have_waited_for_a_processor_for_some_time() {
        let own = std::process::id();
        let threads = threads(own).unwrap();
        assert!(threads.iter().any(|thread| thread.id == own && !thread.ran.is_zero()), "{threads:?}");
        assert!(is_ready(own) && !is_ready(u32::MAX), "this thread runs");
        assert!(resident(own).is_some_and(|own| own.now > 100 && own.peak >= own.now));
        assert_eq!(resident(u32::MAX), None);
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        assert!(family(own).starts_with(&[own]) && family(own).contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn this_machine_has_a_name_and_this_process_uses_time() {
        assert!(host_name().is_some());
        assert!(!processor_time().unwrap().is_zero());
    }
}
