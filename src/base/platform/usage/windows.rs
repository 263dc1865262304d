//! Windows: Toolhelp lists processes; each is asked by a handle.

use super::{Member, Memory, Resident, Thread};
use crate::windows::{self, done, made, size_of_one};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    io,
    os::windows::io::{AsRawHandle, OwnedHandle},
    time::Duration,
};
use windows_sys::Win32::{
    Foundation::{FILETIME, WAIT_TIMEOUT},
    System::{
        Diagnostics::ToolHelp::{
            CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
        },
        SystemInformation::{
            ComputerNamePhysicalDnsHostname, GetComputerNameExW, GlobalMemoryStatusEx, MEMORYSTATUSEX,
        },
        Threading::{
            GetCurrentProcessId, GetProcessTimes, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE,
            WaitForSingleObject,
        },
    },
};

/// Times are counted at the interrupts of the clock, 64 in a second.
pub(super) const TICK: Duration = Duration::from_micros(15_625);

/// Units of the longest name of a machine.
const LONGEST_NAME: usize = 256;

pub(super) fn members(group: i32) -> Option<Vec<Member>> {
    let mut of_group = BTreeSet::from([u32::try_from(group).ok()?]);
    let all = processes()?;
    // A process is listed before those that it starts only as a rule.
    loop {
        let known = of_group.len();
        of_group.extend(
            all.iter()
                .filter(|(_, parent, _)| of_group.contains(parent))
                .map(|(pid, ..)| *pid)
                .collect::<Vec<_>>(),
        );
        if of_group.len() == known {
            break;
        }
    }
    let member = |(pid, _, name): (u32, u32, String)| {
        let process = opened(pid);
        let cpu = process.as_ref().and_then(times).map(|times| times.used);
        Member { pid, name, cpu, memory: process.as_ref().and_then(working_set) }
    };
    Some(all.into_iter().filter(|(pid, ..)| of_group.contains(pid)).map(member).collect())
}

/// The number, the parent and the name of each process.
#[allow(unsafe_code)]
fn processes() -> Option<Vec<(u32, u32, String)>> {
    let mut entry = PROCESSENTRY32W { dwSize: size_of_one::<PROCESSENTRY32W>(), ..Default::default() };
    let mut all = vec![];
    // SAFETY: the snapshot is closed by `OwnedHandle`, and the structure tells its size.
    unsafe {
        let snapshot = made(CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0)).ok()?;
        let mut more = Process32FirstW(snapshot.as_raw_handle(), &mut entry);
        while more != 0 {
            let units = entry.szExeFile.iter().take_while(|unit| **unit != 0).count();
            let name = String::from_utf16_lossy(&entry.szExeFile[..units]);
            all.push((entry.th32ProcessID, entry.th32ParentProcessID, name));
            more = Process32NextW(snapshot.as_raw_handle(), &mut entry);
        }
    }
    Some(all)
}

fn opened(pid: u32) -> Option<OwnedHandle> {
    windows::opened(pid, PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE).ok()
}

/// The times of a process.
struct Times {
    start: u64,
    used: Duration,
}

#[allow(unsafe_code)]
fn times(process: &OwnedHandle) -> Option<Times> {
    let [mut start, mut end, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is open, and the structures are those that are asked for.
    done(unsafe { GetProcessTimes(process.as_raw_handle(), &mut start, &mut end, &mut kernel, &mut user) })
        .ok()?;
    let used = intervals(kernel).saturating_add(intervals(user));
    Some(Times { start: intervals(start), used: Duration::from_nanos(used.saturating_mul(100)) })
}

/// Intervals of 100 ns.
fn intervals(time: FILETIME) -> u64 {
    u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
}

fn working_set(process: &OwnedHandle) -> Option<u64> {
    u64::try_from(windows::memory_of(process).ok()?.WorkingSetSize).ok()
}

pub(super) fn resident(pid: u32) -> Option<Resident> {
    let counters = windows::memory_of(&opened(pid)?).ok()?;
    let kib = |bytes: usize| bytes as u64 / 1024;
    Some(Resident { now: kib(counters.WorkingSetSize), peak: kib(counters.PeakWorkingSetSize) })
}

#[allow(unsafe_code)]
pub(super) fn memory() -> Option<Memory> {
    let mut status = MEMORYSTATUSEX { dwLength: size_of_one::<MEMORYSTATUSEX>(), ..Default::default() };
    // SAFETY: the structure tells its size.
    done(unsafe { GlobalMemoryStatusEx(&mut status) }).ok()?;
    Some(Memory { total: status.ullTotalPhys, free: Some(status.ullAvailPhys) })
}

pub(super) fn limits() -> Vec<Memory> {
    vec![]
}

#[allow(unsafe_code)]
pub(super) fn processor_time() -> io::Result<Duration> {
    // SAFETY: the call has no conditions.
    let times = opened(unsafe { GetCurrentProcessId() }).as_ref().and_then(times);
    times.map(|times| times.used).ok_or_else(io::Error::last_os_error)
}

#[allow(unsafe_code)]
pub(super) fn start(pid: u32) -> Option<u64> {
    let process = opened(pid)?;
    // SAFETY: the handle is open. A process that has ended is signalled.
    let is_alive = unsafe { WaitForSingleObject(process.as_raw_handle(), 0) } == WAIT_TIMEOUT;
    is_alive.then(|| times(&process)).flatten().map(|times| times.start)
}

pub(super) fn threads(_pid: u32) -> Option<Vec<Thread>> {
    None
}

pub(super) fn is_ready(_pid: u32) -> bool {
    false
}

pub(super) fn family(pid: u32) -> Vec<u32> {
    vec![pid]
}

pub(super) fn command_line(_pid: u32) -> Option<Vec<OsString>> {
    None
}

#[allow(unsafe_code)]
pub(super) fn host_name() -> Option<String> {
    let mut name = [0; LONGEST_NAME];
    let mut units = u32::try_from(name.len()).ok()?;
    // SAFETY: the system writes at most `units` units, and says how many it has written.
    done(unsafe { GetComputerNameExW(ComputerNamePhysicalDnsHostname, name.as_mut_ptr(), &mut units) })
        .ok()?;
    String::from_utf16(name.get(..usize::try_from(units).ok()?)?).ok()
}
