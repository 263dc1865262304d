//! The umask of the program, and that of its user.

use nix::{
    libc,
    sys::stat::{Mode, fchmod, umask},
};
use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::{fs::OpenOptionsExt, process::CommandExt},
    path::Path,
    process::Command,
    sync::OnceLock,
};

/// The umask that the program was started with; unset where the program keeps it.
static USERS: OnceLock<Mode> = OnceLock::new();

/// Makes everything that the program creates from now on readable by its user alone. To be called before threads are
/// started.
pub fn keep_private() {
    let users = umask(Mode::from_bits_truncate(0o077));
    let _called_before = USERS.set(users);
}

/// Starts a program with the user's umask: the files of an engine are not this program's.
#[allow(unsafe_code)]
pub fn give_users_umask(command: &mut Command) {
    let Some(&users) = USERS.get() else { return };
    // SAFETY: between fork and exec there is one async-signal-safe system call, and no allocation.
    unsafe {
        command.pre_exec(move || {
            umask(users);
            Ok(())
        });
    }
}

/// Creates a file with the mode of the user's umask; an existing file keeps its mode.
///
/// # Errors
/// When the file cannot be written.
pub fn create_shared(path: &Path) -> io::Result<File> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => {
            share(&file)?;
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            super::side::at_once(OpenOptions::new().write(true).create(true).truncate(true), path)
        }
        Err(error) => Err(error),
    }
}

/// Gives a file the mode of the user's umask.
///
/// # Errors
/// When its mode cannot be changed.
pub fn share(file: &File) -> io::Result<()> {
    Ok(fchmod(file, mode(0o666))?)
}

/// A mode without the bits of the user's umask.
pub(super) fn mode(all: libc::mode_t) -> Mode {
    let users = USERS.get().copied().unwrap_or(Mode::from_bits_truncate(0o022));
    Mode::from_bits_truncate(all) & !users
}
