//! Unix without `openat2`: a path is walked one name at a time, and no link in the directory is followed.

use super::outside;
use nix::{
    errno::Errno,
    fcntl::{OFlag, openat},
    sys::stat::Mode,
};
use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
};

pub(super) fn top(_path: &Path) -> io::Result<PathBuf> {
    Ok(PathBuf::from("/"))
}

pub(super) fn spelled(path: PathBuf) -> PathBuf {
    path
}

pub(super) fn open(root: &Path, rest: &Path) -> io::Result<File> {
    let mut at = OwnedFd::from(File::open(root)?);
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    for component in rest.components() {
        let Component::Normal(name) = component else { return Err(outside()) };
        at = openat(&at, name, flags, Mode::empty()).map_err(|error| match error {
            Errno::ELOOP => outside(),
            error => error.into(),
        })?;
    }
    Ok(at.into())
}

pub(super) fn real(root: &Path, rest: &Path) -> io::Result<PathBuf> {
    open(root, rest)?;
    Ok(root.join(rest))
}
