//! Unix: modes, and directories that are entered without following links.

use super::{Access, Exposure, Identity, Stamp, link, named::checked, refused, umask, unfinished};
use nix::{
    errno::Errno,
    fcntl::{AtFlags, FcntlArg, OFlag, fcntl, openat, renameat},
    libc,
    sys::stat::{Mode, fchmod, mkdirat},
    unistd::{UnlinkatFlags, geteuid, unlinkat},
};
use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Component, Path, PathBuf},
};

/// The one place where all paths begin.
pub fn drives() -> Vec<PathBuf> {
    vec!["/".into()]
}

pub use umask::{create_shared, give_users_umask, keep_private, share};

impl Access {
    /// The mode of what would have the mode `all` without a umask.
    pub(super) fn mode(self, all: libc::mode_t) -> Mode {
        match self {
            Self::Private => Mode::from_bits_truncate(all & 0o700),
            Self::Shared => umask::mode(all),
            Self::Everybody => Mode::from_bits_truncate(all & 0o755),
        }
    }
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

/// Opens a file without a wait for whoever is at the other end of a pipe; from then on a pipe is waited for as usual.
pub(super) fn at_once(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let opened = options.custom_flags(libc::O_NONBLOCK).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => io::Error::other("it is a pipe that nobody reads, or a socket"),
        _ => error,
    })?;
    // Files of `/proc` call themselves regular, and may wait.
    if !file.metadata()?.is_file() {
        let flags = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
        fcntl(&file, FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
    }
    Ok(file)
}

/// Creates a file that must not exist yet.
///
/// # Errors
/// When anything has that name, or the file cannot be written.
pub fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
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
    let replaces = nix::sys::stat::fstatat(&at, name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok();
    let unfinished = unfinished(name);
    match unlinkat(&at, unfinished.as_os_str(), UnlinkatFlags::NoRemoveDir) {
        // Left by a process that was killed.
        Ok(()) | Err(Errno::ENOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut file = File::from(openat(&at, unfinished.as_os_str(), flags, Mode::from_bits_truncate(0o600))?);
    let written =
        fchmod(&file, access.mode(0o666)).map_err(io::Error::from).and_then(|()| file.write_all(bytes));
    // What was there before is given up only for what is on the disk, and counts as given up once the name is, too.
    let written = written.and_then(|()| if replaces { file.sync_all() } else { Ok(()) });
    // A full disk leaves no partial file behind.
    written.inspect_err(|_| {
        let _if_it_can_be = unlinkat(&at, unfinished.as_os_str(), UnlinkatFlags::NoRemoveDir);
    })?;
    renameat(&at, unfinished.as_os_str(), &at, name)?;
    if replaces { File::from(at).sync_all() } else { Ok(()) }
}

/// Makes a directory that a user has named, and those above it; what exists keeps its mode.
///
/// # Errors
/// When a directory cannot be made.
pub fn create_directory(path: &Path, access: Access) -> io::Result<()> {
    let missing: Vec<_> =
        path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(path)?;
    #[allow(clippy::useless_conversion, reason = "modes are narrower on some systems")]
    let mode = u32::from(access.mode(0o777).bits());
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

fn regular(file: File) -> io::Result<File> {
    let found = file.metadata()?;
    refused(found.is_file(), found.nlink())?;
    Ok(file)
}

fn named(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(libc::ELOOP) { link() } else { error }
}

/// Opens a file for reading that may have several names, but is no link.
///
/// # Errors
/// When the name is a link or no regular file, or the file cannot be read.
pub fn read_linked(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    checked(OpenOptions::new().read(true).custom_flags(flags).open(path)?)
}

/// Lets a file be read by its owner alone, executed if it is a program, and written by nobody.
///
/// # Errors
/// When its mode cannot be changed.
pub fn seal(file: &File, executable: bool) -> io::Result<()> {
    file.set_permissions(fs::Permissions::from_mode(if executable { 0o500 } else { 0o400 }))
}

/// True if a file may be executed.
pub fn is_executable(_path: &Path, data: &fs::Metadata) -> bool {
    data.permissions().mode() & 0o111 != 0
}

/// For whom a file is open; links are followed.
///
/// # Errors
/// When the file cannot be asked.
pub fn exposure(path: &Path) -> io::Result<Exposure> {
    let mode = fs::metadata(path)?.mode();
    let has = |bits: u32| mode & bits != 0;
    Ok(Exposure {
        everybody_reads: has(0o004),
        everybody_writes: has(0o002),
        everybody_enters: has(0o001),
        beyond_owner: has(0o077),
    })
}

/// Takes a file away from every user but its owner and its group.
///
/// # Errors
/// When its mode cannot be changed.
pub fn close_to_others(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.mode();
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o7770))
}

/// Refuses a directory of another user, and closes one of the own user to all others.
///
/// # Errors
/// When it is a link or no directory, belongs to another user, or cannot be closed.
pub fn owner_alone(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    match () {
        () if !found.is_dir() => Err(io::Error::other("it is no directory")),
        () if found.uid() != geteuid().as_raw() => Err(io::Error::other(
            "it belongs to another user, who could replace what is in it: name a directory of your own",
        )),
        () if found.mode() & 0o077 != 0 => fs::set_permissions(path, fs::Permissions::from_mode(0o700)),
        () => Ok(()),
    }
}

/// Makes a symbolic link to a path.
///
/// # Errors
/// When the link cannot be made.
pub fn symlink(to: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, link)
}

/// Writes the names in a directory to the disk.
///
/// # Errors
/// When they cannot be written.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

pub(super) fn stamp(file: &File) -> io::Result<Stamp> {
    file.metadata().map(|data| stamped(&data))
}

pub(super) fn stamp_at(path: &Path) -> io::Result<Stamp> {
    fs::metadata(path).map(|data| stamped(&data))
}

pub(super) fn identity_at(path: &Path) -> io::Result<Identity> {
    fs::symlink_metadata(path).map(|data| stamped(&data).identity)
}

pub(super) fn refuse_second_name(path: &Path) -> io::Result<()> {
    let found = fs::metadata(path)?;
    refused(found.is_file(), found.nlink())
}

fn stamped(data: &fs::Metadata) -> Stamp {
    Stamp {
        identity: Identity { device: data.dev(), number: data.ino() },
        bytes: data.len(),
        rights: data.mode(),
        modified: (data.mtime(), data.mtime_nsec()),
        changed: (data.ctime(), data.ctime_nsec()),
    }
}
