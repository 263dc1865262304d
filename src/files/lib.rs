//! Files of the program: private, and never made through a foreign link.
//!
//! A database, its log and its records may lie in a directory that others can write to. A file whose name the program
//! chooses itself, beside a database or in a directory of records or logs, is therefore opened without following a
//! symbolic link: whoever planted it would choose where the program writes. A path that a user names on the command line
//! is the user's own affair: links in it are followed, `/dev/stdout` is one.
//! Files in the directory of an untrusted engine are read through [`Foreign`].
//!
//! [`keep_private`] sets the umask of the program, so that what it makes is readable by its user alone. What a user asks
//! for to show it to others, a page or an export, gets the mode of the user's own umask ([`create_shared`]), and so does
//! whatever a program makes that is started here ([`give_users_umask`]).

mod foreign;
mod umask;

pub use foreign::Foreign;
pub use umask::{create_shared, give_users_umask, keep_private, share};

use nix::{
    errno::Errno,
    fcntl::{AtFlags, OFlag, openat, renameat},
    libc,
    sys::stat::{Mode, fchmod, mkdirat},
    unistd::{UnlinkatFlags, unlinkat},
};
use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Component, Path},
};

/// The permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Access {
    /// The user that the program runs as.
    #[default]
    Private,
    /// Whoever the user's umask lets read it.
    Shared,
    /// Everybody on the machine, whatever the umask: a web server.
    Everybody,
}

impl Access {
    /// The mode of what would have the mode `all` without a umask.
    pub(crate) fn mode(self, all: u32) -> Mode {
        match self {
            Self::Private => Mode::from_bits_truncate(all & 0o700),
            Self::Shared => umask::mode(all),
            Self::Everybody => Mode::from_bits_truncate(all & 0o755),
        }
    }
}

/// Creates a file under a name of the program's own choice, or empties the one that is there.
///
/// # Errors
/// When the name is a link or no regular file, or the file cannot be written.
pub fn create(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    file.set_len(0)?;
    Ok(file)
}

/// Opens a file under a name of the program's own choice for reading and writing; creates it if missing.
///
/// # Errors
/// When the name is a link or no regular file, or the file cannot be written.
pub fn open(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK, a planted FIFO would block the program.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    regular(options.open(path).map_err(named)?)
}

/// Opens a file under a name of the program's own choice for reading.
///
/// # Errors
/// When the name is a link or no regular file, or the file cannot be read.
pub fn read(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    regular(OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(named)?)
}

/// Creates a file that must not exist yet.
///
/// # Errors
/// When anything has that name, or the file cannot be written.
pub fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Refuses a symbolic link under a name of the program's own choice, for files that another library opens.
///
/// # Errors
/// When the name is a link.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(link()),
        _ => Ok(()),
    }
}

/// Writes a file in one piece at `path` below `root`, and makes the directories on the way. No link below `root` is
/// followed, and readers see the file complete or not at all.
///
/// # Errors
/// When a name on the way is a link, or the file cannot be written.
pub fn write_below(root: &Path, path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let (directory, name) = (path.parent().unwrap_or(Path::new("")), path.file_name());
    let name = name.ok_or_else(|| io::Error::other("a path without the name of a file"))?;
    create_directory(root, access)?;
    let mut at = OwnedFd::from(File::open(root)?);
    for component in directory.components() {
        let Component::Normal(component) = component else {
            return Err(io::Error::other("a path that leaves its directory"));
        };
        at = enter(&at, component, access)?;
    }
    let mut unfinished = OsStr::new(".").to_owned();
    unfinished.push(name);
    unfinished.push(".tmp");
    match unlinkat(&at, unfinished.as_os_str(), UnlinkatFlags::NoRemoveDir) {
        // Left by a process that was killed.
        Ok(()) | Err(Errno::ENOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut file = File::from(openat(&at, unfinished.as_os_str(), flags, Mode::from_bits_truncate(0o600))?);
    let written =
        fchmod(&file, access.mode(0o666)).map_err(io::Error::from).and_then(|()| file.write_all(bytes));
    // A full disk leaves no partial file behind.
    written.inspect_err(|_| {
        let _if_it_can_be = unlinkat(&at, unfinished.as_os_str(), UnlinkatFlags::NoRemoveDir);
    })?;
    Ok(renameat(&at, unfinished.as_os_str(), &at, name)?)
}

/// Makes a directory that a user has named, and those above it; what exists keeps its mode.
///
/// # Errors
/// When a directory cannot be made.
pub fn create_directory(path: &Path, access: Access) -> io::Result<()> {
    let missing: Vec<_> =
        path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(path)?;
    let mode = access.mode(0o777).bits();
    missing.into_iter().try_for_each(|path| fs::set_permissions(path, fs::Permissions::from_mode(mode)))
}

/// Opens a directory of a directory, and makes it if missing.
fn enter(at: &impl AsFd, name: &OsStr, access: Access) -> io::Result<OwnedFd> {
    let made = match mkdirat(at, name, Mode::from_bits_truncate(0o700)) {
        Ok(()) => true,
        Err(Errno::EEXIST) => false,
        Err(error) => return Err(error.into()),
    };
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let is_link = || {
        let found = nix::sys::stat::fstatat(at, name, AtFlags::AT_SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| found.st_mode & libc::S_IFMT == libc::S_IFLNK)
    };
    let opened = openat(at, name, flags, Mode::empty());
    let directory = opened.map_err(|error| if is_link() { link() } else { error.into() })?;
    if made {
        fchmod(&directory, access.mode(0o777))?;
    }
    Ok(directory)
}

/// Refuses what is not a file of its own: a device, a FIFO, or a further name of some other file.
fn regular(file: File) -> io::Result<File> {
    let found = file.metadata()?;
    match () {
        () if !found.is_file() => Err(io::Error::other("it is not a regular file, and is not used")),
        () if found.nlink() > 1 => Err(io::Error::other(
            "the file has a second name elsewhere (a hard link), which is not allowed here; remove it",
        )),
        () => Ok(file),
    }
}

fn named(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(libc::ELOOP) { link() } else { error }
}

fn link() -> io::Error {
    io::Error::other("it is a symbolic link, which is not followed here; remove it")
}

#[cfg(test)]
mod tests;
