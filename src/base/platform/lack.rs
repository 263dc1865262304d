//! Errors that say nothing of what was to be opened or started: this program, its user or this machine has run out of
//! something.
//!
//! | what has run out | Linux, other Unix | Windows |
//! |---|---|---|
//! | open files | `EMFILE`, `ENFILE` | `ERROR_TOO_MANY_OPEN_FILES`, `WSAEMFILE` |
//! | processes and threads | `EAGAIN`; a fork server or a guardian that is ended at once | `ERROR_NO_PROC_SLOTS`, `ERROR_MAX_THRDS_REACHED` |
//! | memory | `ENOMEM`, `ENOBUFS` | memory, resources, quota or paging file (1450, 1454, 1455, 1816, `WSAENOBUFS`) |
//! | room on a disk | `ENOSPC`, `EDQUOT`, `EROFS` | full, beyond the quota, or write-protected |

use std::io::{self, ErrorKind};

/// Codes that the standard library has no kind for, or one with another meaning.
#[cfg(unix)]
const CODES: &[i32] = &[nix::libc::EMFILE, nix::libc::ENFILE, nix::libc::EAGAIN, nix::libc::ENOBUFS];
#[cfg(windows)]
const CODES: &[i32] = &[4, 10_024, 89, 164, 1450, 1454, 1455, 1816, 10_055];
const KINDS: [ErrorKind; 5] = [
    ErrorKind::ConnectionReset,
    ErrorKind::OutOfMemory,
    ErrorKind::StorageFull,
    ErrorKind::QuotaExceeded,
    ErrorKind::ReadOnlyFilesystem,
];

/// True if an error is a lack of this machine, and no fault of what was to be opened or started.
#[must_use]
pub fn is_ours(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| CODES.contains(&code)) || KINDS.contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_lacks_is_told_from_what_is_wrong_with_a_program() {
        // Open files of the process and of all, processes, memory, a disk.
        let ours = if cfg!(windows) { [4, 10_024, 164, 8, 112] } else { [24, 23, 11, 12, 28] };
        // No such file, no right to it, no format of a program, in use, a directory or a bad name.
        let of_the_program = if cfg!(windows) { [2, 5, 193, 32, 123] } else { [2, 13, 8, 26, 21] };
        let errors = |codes: [i32; 5]| codes.map(io::Error::from_raw_os_error);
        for (error, is_lack) in
            errors(ours).into_iter().zip([true; 5]).chain(errors(of_the_program).into_iter().zip([false; 5]))
        {
            assert_eq!(is_ours(&error), is_lack, "{error}");
        }
        assert!(is_ours(&io::Error::new(ErrorKind::ConnectionReset, "its guardian ended")));
        assert!(!is_ours(&io::Error::other("its sandbox cannot be had")));
    }
}
