//! Job objects.

#![allow(unsafe_code)]

use super::{done, made, size_of_one};
use std::{
    io,
    os::windows::io::{AsHandle, AsRawHandle, OwnedHandle},
    ptr::{from_mut, null, null_mut},
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_BASIC_LIMIT_INFORMATION,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JOBOBJECTINFOCLASS, JobObjectBasicAccountingInformation,
    JobObjectExtendedLimitInformation, QueryInformationJobObject, SetInformationJobObject,
    TerminateJobObject,
};

/// Exit code of processes that [`Job::kill`] has ended.
pub(crate) const KILLED: i32 = 1;

/// Processes, and all that they start. Closed by this program or with its end, it ends them.
#[derive(Debug)]
pub(crate) struct Job(OwnedHandle);

impl Job {
    /// A job with these limits besides.
    pub fn new(limit: impl FnOnce(&mut JOBOBJECT_BASIC_LIMIT_INFORMATION)) -> io::Result<Self> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        limit(&mut limits.BasicLimitInformation);
        // SAFETY: both arguments of the first call may be null; the structure is given with its size.
        unsafe {
            let job = Self(made(CreateJobObjectW(null(), null()))?);
            done(SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of_one::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
            ))?;
            Ok(job)
        }
    }

    /// Takes a process in.
    pub fn take(&self, process: &impl AsHandle) -> io::Result<()> {
        // SAFETY: both handles are open.
        done(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process.as_handle().as_raw_handle()) })
    }

    /// Begins to end all processes.
    pub fn kill(&self) {
        // SAFETY: the handle is open, and has the right.
        let _has_none = unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED.cast_unsigned()) };
    }

    /// Processes that are left.
    pub fn processes(&self) -> io::Result<u32> {
        let counts: JOBOBJECT_BASIC_ACCOUNTING_INFORMATION = self.ask(JobObjectBasicAccountingInformation)?;
        Ok(counts.ActiveProcesses)
    }

    /// Most memory that its processes have committed together, in KiB; `None` where jobs do not count it.
    pub fn peak_kib(&self) -> Option<u64> {
        let limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION =
            self.ask(JobObjectExtendedLimitInformation).ok()?;
        // A process without any memory has not been.
        Some(limits.PeakJobMemoryUsed as u64 / 1024).filter(|&kib| kib > 0)
    }

    /// What a class of information has as its structure; `T` is that structure.
    fn ask<T: Default + Copy>(&self, class: JOBOBJECTINFOCLASS) -> io::Result<T> {
        let (mut answer, bytes) = (T::default(), size_of_one::<T>());
        // SAFETY: the system writes at most as many bytes as the structure has; every class asked for here has plain
        // numbers in it.
        done(unsafe {
            let to = from_mut(&mut answer).cast();
            QueryInformationJobObject(self.0.as_raw_handle(), class, to, bytes, null_mut())
        })?;
        Ok(answer)
    }
}
