//! Windows: the processors of the first group, which are 64 at most.

use super::Load;
use crate::windows::{done, made, size_of_one, wide};
use std::{collections::BTreeMap, ffi::OsStr, io, os::windows::io::OwnedHandle, ptr::null, thread};
use windows_sys::{
    Wdk::System::SystemInformation::{NtQuerySystemInformation, SystemProcessorPerformanceInformation},
    Win32::{
        Foundation::{ERROR_ALREADY_EXISTS, GetLastError},
        System::{
            SystemInformation::{
                GetLogicalProcessorInformation, RelationProcessorCore, SYSTEM_LOGICAL_PROCESSOR_INFORMATION,
            },
            Threading::{
                CreateMutexW, GetCurrentProcess, GetCurrentThread, GetProcessAffinityMask,
                SetThreadAffinityMask,
            },
            WindowsProgramming::SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION,
        },
    },
};

pub(super) type Held = OwnedHandle;

#[allow(unsafe_code)]
pub(super) fn usable() -> Vec<usize> {
    let (mut own, mut all) = (0, 0);
    // SAFETY: the handle of this process needs no closing.
    match done(unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut own, &mut all) }) {
        Ok(()) => listed(own),
        Err(_) => (0..thread::available_parallelism().map_or(1, usize::from)).collect(),
    }
}

fn listed(mask: usize) -> Vec<usize> {
    (0..64).filter(|thread| mask >> thread & 1 == 1).collect()
}

#[allow(unsafe_code)]
pub(super) fn pin_thread(threads: &[usize]) -> io::Result<()> {
    let bit = |thread: &usize| u32::try_from(*thread).ok().and_then(|thread| 1_usize.checked_shl(thread));
    let mask = threads.iter().try_fold(0, |mask, thread| Some(mask | bit(thread)?));
    let mask = mask.ok_or_else(|| io::Error::other("only the first 64 processors can be had"))?;
    // SAFETY: the handle of this thread needs no closing.
    match unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) } {
        0 => Err(io::Error::last_os_error()),
        _before => Ok(()),
    }
}

#[allow(unsafe_code)]
pub(super) fn siblings(thread: usize) -> Vec<usize> {
    let mut cores = [SYSTEM_LOGICAL_PROCESSOR_INFORMATION::default(); 512];
    let Ok(mut bytes) = u32::try_from(size_of_val(&cores)) else { return vec![] };
    // SAFETY: the system writes at most `bytes` bytes, and says how many it has written.
    if unsafe { GetLogicalProcessorInformation(cores.as_mut_ptr(), &mut bytes) } == 0 {
        return vec![];
    }
    let is_core = |found: &&SYSTEM_LOGICAL_PROCESSOR_INFORMATION| found.Relationship == RelationProcessorCore;
    let mut cores = cores.iter().filter(is_core).map(|core| listed(core.ProcessorMask));
    cores.find(|core| core.contains(&thread)).unwrap_or_default()
}

pub(super) fn governors() -> Option<Vec<String>> {
    None
}

#[allow(unsafe_code)]
pub(super) fn load() -> Option<BTreeMap<usize, Load>> {
    let mut threads = [SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION::default(); 64];
    let (room, mut bytes) = (u32::try_from(size_of_val(&threads)).ok()?, 0);
    // SAFETY: the system writes at most `room` bytes, and says how many it has written.
    let status = unsafe {
        NtQuerySystemInformation(
            SystemProcessorPerformanceInformation,
            threads.as_mut_ptr().cast(),
            room,
            &mut bytes,
        )
    };
    let count = bytes / size_of_one::<SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION>();
    let known = threads.get(..usize::try_from(count).ok()?).filter(|_| status >= 0)?;
    let load = |thread: &SYSTEM_PROCESSOR_PERFORMANCE_INFORMATION| {
        // The time of the kernel contains that of being idle.
        let all = thread.KernelTime.saturating_add(thread.UserTime).cast_unsigned();
        Load { work: all.saturating_sub(thread.IdleTime.cast_unsigned()), all }
    };
    Some(known.iter().map(load).enumerate().collect())
}

#[allow(unsafe_code)]
pub(super) fn hold(name: &str) -> Option<Held> {
    let name = wide(OsStr::new(&format!("Global\\{name}")));
    // SAFETY: the name ends with a zero; a handle that is not null is open, and closed by `OwnedHandle`.
    unsafe {
        let mutex = CreateMutexW(null(), 0, name.as_ptr());
        let is_new = GetLastError() != ERROR_ALREADY_EXISTS;
        made(mutex).ok().filter(|_| is_new)
    }
}
