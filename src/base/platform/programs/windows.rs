//! Windows: jobs.

use super::Order;
use crate::windows::{done, opened};
use std::{
    ffi::OsString,
    io,
    os::windows::{ffi::OsStringExt, io::AsRawHandle, process::CommandExt},
    path::PathBuf,
    process::{Child, Command},
};
use windows_sys::Win32::System::{
    Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent},
    SystemInformation::GetSystemDirectoryW,
    Threading::{CREATE_NEW_PROCESS_GROUP, PROCESS_TERMINATE, TerminateProcess},
};

/// The shell.
pub const SHELL: &str = "cmd.exe";
/// Characters that both shells take as they are, besides letters and digits.
pub(super) const PLAIN: &str = r"_-./\=:+";
/// Engines are on the path or beside this program: a directory of Unix would be one of the current disk, where every user may
/// put a program.
pub const GAMES: &[&str] = &[];
/// As [`GAMES`].
pub const SERVERS: &[&str] = &[];

/// Both shells have double quotes alone in common, and programs read `\"` as a quote. (What is left to each shell: `%NAME%`,
/// and `$` in PowerShell.)
pub(super) fn quoted(word: &str) -> String {
    let mut quoted = String::from('"');
    let mut backslashes = 0;
    for letter in word.chars() {
        if letter == '"' {
            // Those before a quote are doubled, as programs halve them there.
            quoted.extend(std::iter::repeat_n('\\', backslashes + 1));
        }
        backslashes = if letter == '\\' { backslashes + 1 } else { 0 };
        quoted.push(letter);
    }
    quoted.extend(std::iter::repeat_n('\\', backslashes));
    quoted + "\""
}

pub(super) fn shell(text: &str) -> Command {
    // Beside this program, where downloads may lie, somebody may have put another.
    let mut shell = Command::new(system_directory().unwrap_or_default().join(SHELL));
    // The shell takes the quotes around the whole away, and no others (/S).
    shell.raw_arg(format!("/D /S /C \"{text}\""));
    shell
}

/// The directory of the system's own programs; `None` if the system does not tell.
#[allow(unsafe_code)]
fn system_directory() -> Option<PathBuf> {
    let mut name = [0_u16; 260]; // MAX_PATH
    // SAFETY: the system writes at most as many units as there is room for, and says how many it has written.
    let units = unsafe { GetSystemDirectoryW(name.as_mut_ptr(), u32::try_from(name.len()).ok()?) };
    let written = name.get(..usize::try_from(units).ok()?).filter(|name| !name.is_empty())?;
    Some(OsString::from_wide(written).into())
}

#[allow(unsafe_code)]
pub(super) fn order(process: u32, order: Order) -> io::Result<()> {
    match order {
        Order::Reload => return Err(crate::unanswered("how a program is asked to read its configuration")),
        // Each program leads a group of its own (`start`); one with another console, or without one, is not asked.
        // SAFETY: the call has no conditions.
        Order::End => return done(unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, process) }),
        Order::Kill => {}
    }
    let process = opened(process, PROCESS_TERMINATE)?;
    // SAFETY: the handle is open, and has the right.
    done(unsafe { TerminateProcess(process.as_raw_handle(), 1) })
}

/// A job. What is in it ends when its last handle is closed, which the system does for a process that has died.
pub(super) use crate::windows::job::Job as Group;

/// The job of a program.
pub(super) type Tie = Group;

/// What a program starts before it is in its job, in the first moments of its life, is not in the job.
pub(super) fn start(command: &mut Command) -> io::Result<(Child, Group)> {
    let group = Group::new(|_| {})?;
    let mut child = command.creation_flags(CREATE_NEW_PROCESS_GROUP).spawn()?;
    if let (Err(error), Ok(None)) = (group.take(&child), child.try_wait()) {
        let _gone = (child.kill(), child.wait());
        return Err(error);
    }
    Ok((child, group))
}

pub(super) fn start_tied(command: &mut Command) -> io::Result<(Child, Tie)> {
    start(command)
}
