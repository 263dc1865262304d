//! The priority of threads.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`yield_by`] | niceness of the thread | error: niceness is the whole process's | below normal, or lowest from 10 on |

use std::io;

/// Lowers the priority of the calling thread by so many steps of niceness.
///
/// # Errors
/// When the system refuses it, or has no priority of a thread.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn yield_by(niceness: u8) -> io::Result<()> {
    use nix::{errno::Errno, libc};
    // Engines would inherit the priority for good.
    crate::life::keep_priority()?;
    // SAFETY: the call has no conditions; 0 is this thread.
    Errno::result(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, niceness.into()) })?;
    Ok(())
}

/// Lowers the priority of the calling thread by so many steps of niceness.
///
/// # Errors
/// Always: niceness is the whole process's.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn yield_by(_niceness: u8) -> io::Result<()> {
    Err(crate::unanswered("the priority of a thread"))
}

/// Lowers the priority of the calling thread, as if by so many steps of niceness.
///
/// # Errors
/// When the system refuses it.
#[cfg(windows)]
#[allow(unsafe_code)]
pub fn yield_by(niceness: u8) -> io::Result<()> {
    use windows_sys::Win32::System::Threading::{
        GetCurrentThread, SetThreadPriority, THREAD_PRIORITY_BELOW_NORMAL, THREAD_PRIORITY_LOWEST,
    };
    let priority = if niceness < 10 { THREAD_PRIORITY_BELOW_NORMAL } else { THREAD_PRIORITY_LOWEST };
    // SAFETY: the handle of this thread needs no closing.
    crate::windows::done(unsafe { SetThreadPriority(GetCurrentThread(), priority) })
}
