//! Windows: the console.

use crate::windows::done;
use std::{
    fs::File,
    io,
    os::windows::io::{AsRawHandle, IntoRawHandle, OwnedHandle},
    time::Duration,
};
use windows_sys::Win32::{
    Foundation::{CloseHandle, HANDLE, WAIT_FAILED},
    Globalization::GetUserDefaultUILanguage,
    System::{
        Console::{
            ENABLE_ECHO_INPUT, GetConsoleMode, GetConsoleProcessList, GetStdHandle, STD_ERROR_HANDLE,
            SetConsoleMode, SetStdHandle,
        },
        Threading::WaitForSingleObject,
    },
};

/// Waits until there is input at the console, or for `patience`. Returns whether the console is gone.
#[allow(unsafe_code)]
pub fn hangs_up(patience: Duration) -> bool {
    let patience = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX - 1);
    // SAFETY: the call has no conditions; a handle that is closed is an error.
    unsafe { WaitForSingleObject(io::stdin().as_raw_handle(), patience) == WAIT_FAILED }
}

/// True if the system has opened a console for this program alone, because somebody has clicked on it.
#[allow(unsafe_code)]
pub fn is_own_console() -> bool {
    let mut programs = [0; 2];
    // SAFETY: the list has room for two numbers, as is said.
    unsafe { GetConsoleProcessList(programs.as_mut_ptr(), 2) == 1 }
}

/// `ja` where Windows speaks Japanese to this user.
#[allow(unsafe_code)]
pub(super) fn system_locale() -> &'static str {
    // SAFETY: the call has no conditions.
    let language = unsafe { GetUserDefaultUILanguage() };
    // The lower ten bits are the language; the others are its country.
    if language & 0x3ff == 0x11 { "ja" } else { "" }
}

/// The console at stdin without echo, until dropped.
#[derive(Debug)]
pub struct Hidden(u32);

impl Hidden {
    /// Takes the echo away.
    ///
    /// # Errors
    /// When stdin is no console.
    #[allow(unsafe_code)]
    pub fn new() -> io::Result<Self> {
        let (console, mut before) = (io::stdin().as_raw_handle(), 0);
        // SAFETY: the number lives until after the call; a handle of something else is an error.
        done(unsafe { GetConsoleMode(console, &mut before) })?;
        // SAFETY: as above.
        done(unsafe { SetConsoleMode(console, before & !ENABLE_ECHO_INPUT) })?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the call has no conditions; a handle that is closed is an error.
        let _console_gone = unsafe { SetConsoleMode(io::stdin().as_raw_handle(), self.0) };
    }
}

/// The stderr that was there before.
#[derive(Debug)]
pub struct Stderr {
    before: isize,
    pipe: isize,
}

impl Stderr {
    /// Puts it back; the end of the pipe that was read comes with it.
    #[allow(unsafe_code)]
    pub fn put_back(self) {
        // SAFETY: the handle of the pipe is this value's alone once it is no standard handle.
        unsafe {
            SetStdHandle(STD_ERROR_HANDLE, self.before as HANDLE);
            CloseHandle(self.pipe as HANDLE);
        }
    }
}

/// Lets stderr lead into a pipe. Returns what can be read of it, and the stderr that was there before.
///
/// # Errors
/// When the system has no pipe.
#[allow(unsafe_code)]
pub fn catch_stderr() -> io::Result<(File, Stderr)> {
    let (read, write) = io::pipe()?;
    // SAFETY: the call has no conditions.
    let before = unsafe { GetStdHandle(STD_ERROR_HANDLE) };
    let pipe = OwnedHandle::from(write).into_raw_handle();
    // SAFETY: the handle is open until it is put back.
    done(unsafe { SetStdHandle(STD_ERROR_HANDLE, pipe) })?;
    let stderr = Stderr { before: before as isize, pipe: pipe as isize };
    Ok((File::from(OwnedHandle::from(read)), stderr))
}

/// There is no journal of a unit.
pub fn is_journal() -> bool {
    false
}
