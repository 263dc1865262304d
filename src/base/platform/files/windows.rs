//! Windows: access lists and reparse points.
//!
//! What is not private takes the access list of its directory. A user's profile is closed to other users by itself.

use super::{Access, Exposure, Identity, Stamp, link, refused, unfinished};
use crate::windows::{self, Attributes, wide};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::windows::{
        fs::{MetadataExt, OpenOptionsExt},
        io::{AsRawHandle, FromRawHandle},
    },
    path::{Component, Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};
use windows_sys::Win32::{
    Foundation::{
        ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, GENERIC_READ, GENERIC_WRITE, INVALID_HANDLE_VALUE,
    },
    Storage::FileSystem::{
        BY_HANDLE_FILE_INFORMATION, CREATE_NEW, CreateDirectoryW, CreateFileW, FILE_ATTRIBUTE_NORMAL,
        FILE_ATTRIBUTE_REPARSE_POINT, FILE_BASIC_INFO, FILE_FLAG_BACKUP_SEMANTICS,
        FILE_FLAG_OPEN_REPARSE_POINT, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FileBasicInfo,
        GetFileInformationByHandle, GetFileInformationByHandleEx, GetLogicalDrives, OPEN_ALWAYS,
    },
};

/// Errors for a file that somebody has open.
const HELD: [i32; 2] = [ERROR_ACCESS_DENIED.cast_signed(), ERROR_SHARING_VIOLATION.cast_signed()];
/// Longest wait for a file to be closed.
const READERS: Duration = Duration::from_secs(2);

/// Nothing to do: a file takes the access list of its directory, or is made with one of its own.
pub fn keep_private() {}

/// Nothing to do: there is no umask.
pub fn give_users_umask(_command: &mut Command) {}

/// The disks that have a letter.
#[allow(unsafe_code)]
pub fn drives() -> Vec<PathBuf> {
    // SAFETY: the system takes nothing, and answers with a bit for each letter.
    let known = unsafe { GetLogicalDrives() };
    let letters = ('A'..='Z').enumerate().filter(|(place, _)| known >> place & 1 == 1);
    letters.map(|(_, letter)| format!("{letter}:\\").into()).collect()
}

/// Creates a file with the access list of its directory.
///
/// # Errors
/// When the file cannot be written.
pub fn create_shared(path: &Path) -> io::Result<File> {
    File::create(path)
}

/// Gives a file the access list of its directory.
///
/// # Errors
/// When its list cannot be changed.
pub fn share(file: &File) -> io::Result<()> {
    windows::inherit_rights(file)
}

/// Opens a file under a name of the program's own choice for reading and writing; creates it if missing.
///
/// # Errors
/// When the name is a link or no regular file, or the file cannot be written.
pub fn open(path: &Path) -> io::Result<File> {
    regular(make(path, OPEN_ALWAYS, Access::Private)?)
}

/// Opens a file under a name of the program's own choice for reading.
///
/// # Errors
/// When the name is a link or no regular file, or the file cannot be read.
pub fn read(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?)
}

/// Opens a file for reading that may have several names, but is no link.
///
/// # Errors
/// When the name is a link or no regular file, or the file cannot be read.
pub fn read_linked(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
    plain(&file, 1)?;
    Ok(file)
}

/// Opens a file. A named pipe is opened at once, or not at all.
pub(super) fn at_once(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Creates a file that must not exist yet.
///
/// # Errors
/// When anything has that name, or the file cannot be written.
pub fn create_new(path: &Path) -> io::Result<File> {
    make(path, CREATE_NEW, Access::Private)
}

/// Opens a file for reading and writing that has an access list of its own if it is private.
#[allow(unsafe_code)]
fn make(path: &Path, how: u32, access: Access) -> io::Result<File> {
    let (name, private) = (wide(path.as_os_str()), Attributes::private()?);
    let attributes = if access == Access::Private { private.as_ptr() } else { std::ptr::null() };
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    let flags = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT;
    // SAFETY: the name ends with a zero, and the attributes live until after the call.
    let handle = unsafe {
        CreateFileW(
            name.as_ptr(),
            GENERIC_READ | GENERIC_WRITE,
            share,
            attributes,
            how,
            flags,
            std::ptr::null_mut(),
        )
    };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle was opened here, and nothing else has it.
    Ok(unsafe { File::from_raw_handle(handle) })
}

/// Writes a file in one piece at `path` below `root`, and makes the directories on the way. Readers see the file complete
/// or not at all. A directory on the way that is a link is refused; one that becomes a link meanwhile is not noticed.
///
/// # Errors
/// When a name on the way is a link, or the file cannot be written.
pub fn write_below(root: &Path, path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let (directory, name) = (path.parent().unwrap_or(Path::new("")), path.file_name());
    let name = name.ok_or_else(|| io::Error::other("a path without the name of a file"))?;
    create_directory(root, access)?;
    let mut at = root.to_path_buf();
    for component in directory.components() {
        let Component::Normal(component) = component else {
            return Err(io::Error::other("a path that leaves its directory"));
        };
        at.push(component);
        make_directory(&at, access)?;
        super::refuse_link(&at)?;
    }
    let unfinished = at.join(unfinished(name));
    match fs::remove_file(&unfinished) {
        // Left by a process that was killed.
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = make(&unfinished, CREATE_NEW, access)?;
    let written = file.write_all(bytes);
    // An open file keeps its name.
    drop(file);
    written.and_then(|()| replace(&unfinished, &at.join(name))).inspect_err(|_| {
        let _if_it_can_be = fs::remove_file(&unfinished);
    })
}

/// Gives a file the name of another. One that somebody has open, to read it or to look for viruses, is replaced once it is closed.
fn replace(new: &Path, old: &Path) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match fs::rename(new, old) {
            Err(error)
                if error.raw_os_error().is_some_and(|code| HELD.contains(&code))
                    && begun.elapsed() < READERS =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            renamed => return renamed,
        }
    }
}

/// Makes a directory that a user has named, and those above it; what exists keeps its access list.
///
/// # Errors
/// When a directory cannot be made.
pub fn create_directory(path: &Path, access: Access) -> io::Result<()> {
    if access != Access::Private {
        return fs::create_dir_all(path);
    }
    let missing: Vec<_> =
        path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    missing.into_iter().rev().try_for_each(|path| make_directory(path, access))
}

/// Makes a directory if it is missing.
#[allow(unsafe_code)]
fn make_directory(path: &Path, access: Access) -> io::Result<()> {
    let (name, private) = (wide(path.as_os_str()), Attributes::private()?);
    let attributes = if access == Access::Private { private.as_ptr() } else { std::ptr::null() };
    // SAFETY: the name ends with a zero, and the attributes live until after the call.
    match unsafe { CreateDirectoryW(name.as_ptr(), attributes) } {
        0 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            error => Err(error),
        },
        _ => Ok(()),
    }
}

/// Lets nobody write to a file.
///
/// # Errors
/// When its attributes cannot be changed.
pub fn seal(file: &File, _executable: bool) -> io::Result<()> {
    let mut rights = file.metadata()?.permissions();
    rights.set_readonly(true);
    file.set_permissions(rights)
}

/// True if a file may be executed, by the ending of its name.
pub fn is_executable(path: &Path, _data: &fs::Metadata) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| ["exe", "com", "bat", "cmd"].contains(&ending.as_str()))
}

/// For whom a file is open.
///
/// # Errors
/// Always: access lists are not evaluated.
pub fn exposure(_path: &Path) -> io::Result<Exposure> {
    Err(crate::unanswered("who may use a file"))
}

/// Takes a file away from every user but its owner, administrators and the system.
///
/// # Errors
/// When its access list cannot be changed.
pub fn close_to_others(path: &Path) -> io::Result<()> {
    windows::make_private(path)
}

/// Refuses a directory of another user, and closes one of the own user to all others but administrators and the system.
///
/// # Errors
/// When it is a link or no directory, belongs to another user, or cannot be closed.
pub fn owner_alone(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(io::Error::other("it is no directory"));
    }
    if !windows::is_own(path)? {
        return Err(io::Error::other(
            "it belongs to another user, who could replace what is in it: name a directory of your own",
        ));
    }
    windows::make_private(path)
}

/// Makes a symbolic link to a path. Windows lets developers and administrators make one.
///
/// # Errors
/// When the link cannot be made.
pub fn symlink(to: &Path, link: &Path) -> io::Result<()> {
    let target = link.parent().unwrap_or(Path::new("")).join(to);
    match target.is_dir() {
        true => std::os::windows::fs::symlink_dir(to, link),
        false => std::os::windows::fs::symlink_file(to, link),
    }
}

/// Nothing to do: the journal of the file system keeps the names in a directory in order.
///
/// # Errors
/// None.
pub fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn stamp(file: &File) -> io::Result<Stamp> {
    let data = information(file)?;
    let basic = basic(file)?;
    Ok(Stamp {
        identity: Identity {
            device: data.dwVolumeSerialNumber.into(),
            number: joined(data.nFileIndexHigh, data.nFileIndexLow),
        },
        bytes: joined(data.nFileSizeHigh, data.nFileSizeLow),
        rights: data.dwFileAttributes,
        modified: (basic.LastWriteTime, 0),
        changed: (basic.ChangeTime, 0),
    })
}

pub(super) fn stamp_at(path: &Path) -> io::Result<Stamp> {
    stamp(&glance(path, FILE_FLAG_BACKUP_SEMANTICS)?)
}

pub(super) fn identity_at(path: &Path) -> io::Result<Identity> {
    Ok(stamp(&glance(path, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)?)?.identity)
}

pub(super) fn refuse_second_name(path: &Path) -> io::Result<()> {
    regular(glance(path, FILE_FLAG_BACKUP_SEMANTICS)?).map(drop)
}

/// Opens a file or a directory to ask about it, without the right to read it.
fn glance(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new().access_mode(0).custom_flags(flags).open(path)
}

fn joined(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[allow(unsafe_code)]
fn information(file: &File) -> io::Result<BY_HANDLE_FILE_INFORMATION> {
    let mut data = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure is the one that is asked for.
    windows::done(unsafe { GetFileInformationByHandle(file.as_raw_handle(), &mut data) })?;
    Ok(data)
}

#[allow(unsafe_code)]
fn basic(file: &File) -> io::Result<FILE_BASIC_INFO> {
    let mut data = FILE_BASIC_INFO::default();
    let (at, bytes) = ((&raw mut data).cast(), windows::size_of_one::<FILE_BASIC_INFO>());
    // SAFETY: the handle is open, and the structure is the one that is asked for, with its size.
    windows::done(unsafe { GetFileInformationByHandleEx(file.as_raw_handle(), FileBasicInfo, at, bytes) })?;
    Ok(data)
}

/// Refuses a link, a device, or a further name of some other file.
fn regular(file: File) -> io::Result<File> {
    let names = information(&file)?.nNumberOfLinks;
    plain(&file, names.into())?;
    Ok(file)
}

fn plain(file: &File, names: u64) -> io::Result<()> {
    let found = file.metadata()?;
    if found.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        return Err(link());
    }
    refused(found.is_file(), names)
}
