//! The calls of Windows for jobs, threads and memory: the one place that is `unsafe`.

#![allow(unsafe_code)]

use crate::windows::{job::Job, made, memory_of, size_of_one};
use std::{
    io,
    os::windows::io::{AsRawHandle, BorrowedHandle, OwnedHandle},
};
use windows_sys::Win32::System::{
    Diagnostics::{
        Debug::{GetErrorMode, SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SetErrorMode},
        ToolHelp::{CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next},
    },
    JobObjects::{
        JOB_OBJECT_LIMIT_AFFINITY, JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
        JOB_OBJECT_LIMIT_PRIORITY_CLASS,
    },
    Threading::{
        CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, CREATE_SUSPENDED, GetCurrentProcess, GetPriorityClass,
        OpenThread, PROCESS_POWER_THROTTLING_CURRENT_VERSION, PROCESS_POWER_THROTTLING_EXECUTION_SPEED,
        PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION, PROCESS_POWER_THROTTLING_STATE,
        ProcessPowerThrottling, ResumeThread, SetProcessInformation, THREAD_SUSPEND_RESUME,
    },
};

#[link(name = "winmm")]
unsafe extern "system" {
    fn timeBeginPeriod(milliseconds: u32) -> u32;
}

/// Has timers of this process wake up to 1 ms late instead of 15.6 ms, also while none of its windows is visible, in which
/// case Windows 11 takes it away. A system that refuses this wakes them as it always did.
pub(super) fn ask_for_fine_timers() {
    let throttling = PROCESS_POWER_THROTTLING_STATE {
        Version: PROCESS_POWER_THROTTLING_CURRENT_VERSION,
        ControlMask: PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION
            | PROCESS_POWER_THROTTLING_EXECUTION_SPEED,
        StateMask: 0,
    };
    // SAFETY: the structure is the one that is asked for, with its size; the handle of this process needs no closing.
    unsafe {
        let _refused = timeBeginPeriod(1);
        let _unknown = SetProcessInformation(
            GetCurrentProcess(),
            ProcessPowerThrottling,
            (&raw const throttling).cast(),
            size_of_one::<PROCESS_POWER_THROTTLING_STATE>(),
        );
    }
}

/// How an engine is created: no window and no console of ours, so that Ctrl-C there is not its; and not running yet.
pub(super) const FLAGS: u32 = CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP | CREATE_SUSPENDED;
/// A job whose processes run on these cores, or on those of this program if there are none, never before this program (its
/// priority class), and end at an exception instead of asking the user.
pub(super) fn job(cores: &[usize]) -> io::Result<Job> {
    let mask = mask(cores)?;
    Job::new(|basic| {
        basic.LimitFlags |= JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION | JOB_OBJECT_LIMIT_PRIORITY_CLASS;
        // SAFETY: the handle of this process is always valid.
        basic.PriorityClass = unsafe { GetPriorityClass(GetCurrentProcess()) };
        if !cores.is_empty() {
            basic.LimitFlags |= JOB_OBJECT_LIMIT_AFFINITY;
            basic.Affinity = mask;
        }
    })
}

/// Cores as a mask of the first processor group.
fn mask(cores: &[usize]) -> io::Result<usize> {
    cores.iter().try_fold(0, |mask, &core| {
        let bit = u32::try_from(core).ok().and_then(|core| 1_usize.checked_shl(core));
        let text =
            || format!("Windows binds an engine to the first {} cores only, not to core {core}", usize::BITS);
        Ok(mask | bit.ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, text()))?)
    })
}

/// A handle of a process that stays open beside that of its child.
pub(super) fn handle(child: &tokio::process::Child) -> io::Result<OwnedHandle> {
    let handle = child.raw_handle().ok_or_else(|| io::Error::other("the new process has ended"))?;
    // SAFETY: the handle is open as long as the child, which outlives the copy made here.
    unsafe { BorrowedHandle::borrow_raw(handle) }.try_clone_to_owned()
}

/// Lets a process run that was created to wait.
pub(super) fn resume(process: u32) -> io::Result<()> {
    for thread in thread_ids(process)? {
        // SAFETY: the handle is open, and has the right.
        let before =
            unsafe { ResumeThread(made(OpenThread(THREAD_SUSPEND_RESUME, 0, thread))?.as_raw_handle()) };
        if before == u32::MAX {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Threads of a process.
pub(super) fn threads(process: u32) -> Option<u32> {
    let threads = u32::try_from(thread_ids(process).ok()?.len()).ok()?;
    (threads > 0).then_some(threads)
}

fn thread_ids(process: u32) -> io::Result<Vec<u32>> {
    let mut ids = Vec::new();
    // SAFETY: a valid handle of a new snapshot is ours; the entry says how long it is, and has only numbers.
    unsafe {
        let all = made(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0))?;
        let mut entry = THREADENTRY32 { dwSize: size_of_one::<THREADENTRY32>(), ..THREADENTRY32::default() };
        let mut is_one = Thread32First(all.as_raw_handle(), &raw mut entry);
        while is_one != 0 {
            if entry.th32OwnerProcessID == process {
                ids.push(entry.th32ThreadID);
            }
            is_one = Thread32Next(all.as_raw_handle(), &raw mut entry);
        }
    }
    Ok(ids)
}

/// Most memory that a process has had in RAM, in KiB.
pub(super) fn largest_working_set_kib(process: &OwnedHandle) -> Option<u64> {
    let counters = memory_of(process).ok()?;
    Some(counters.PeakWorkingSetSize as u64 / 1024).filter(|&kib| kib > 0)
}

/// Engines inherit this: where a DLL is missing, a box would wait for somebody to press a button.
pub(super) fn show_no_error_boxes() {
    // SAFETY: it changes a number of this process.
    unsafe { SetErrorMode(GetErrorMode() | SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX) };
}
