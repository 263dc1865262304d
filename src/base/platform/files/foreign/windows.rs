//! Windows: a file is opened, and then the system says where it is; nothing can move it in between.

use super::outside;
use crate::windows;
use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io,
    os::windows::{ffi::OsStringExt, fs::OpenOptionsExt, io::AsRawHandle},
    path::{Component, Path, PathBuf},
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, GetFinalPathNameByHandleW, VOLUME_NAME_DOS,
};

/// The directory that a path begins at, as the system spells it.
pub(super) fn top(path: &Path) -> io::Result<PathBuf> {
    let start = |component: &Component<'_>| matches!(component, Component::Prefix(_) | Component::RootDir);
    let top: PathBuf = path.components().take_while(start).collect();
    top.canonicalize()
}

/// A path as the system spells it: names have no case, and a second, short form.
pub(super) fn spelled(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

pub(super) fn open(root: &Path, rest: &Path) -> io::Result<File> {
    Ok(beneath(root, rest)?.0)
}

pub(super) fn real(root: &Path, rest: &Path) -> io::Result<PathBuf> {
    Ok(beneath(root, rest)?.1)
}

fn beneath(root: &Path, rest: &Path) -> io::Result<(File, PathBuf)> {
    let path = if rest.as_os_str().is_empty() { root.to_owned() } else { root.join(rest) };
    // A directory is opened with this flag alone.
    let file = OpenOptions::new().read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)?;
    let place = place(&file)?;
    if place.starts_with(root.canonicalize()?) { Ok((file, place)) } else { Err(outside()) }
}

/// The path of an open file, without links.
#[allow(unsafe_code)]
fn place(file: &File) -> io::Result<PathBuf> {
    let mut text = vec![0; windows::LONGEST_PATH];
    let room = u32::try_from(text.len()).map_err(io::Error::other)?;
    // SAFETY: the handle is open, and the system writes at most `room` units.
    let units =
        unsafe { GetFinalPathNameByHandleW(file.as_raw_handle(), text.as_mut_ptr(), room, VOLUME_NAME_DOS) };
    match usize::try_from(units).map_err(io::Error::other)? {
        0 => Err(io::Error::last_os_error()),
        units => {
            let text = text.get(..units).ok_or_else(|| io::Error::other("its path is too long"))?;
            Ok(OsString::from_wide(text).into())
        }
    }
}
