//! Linux: the kernel keeps a path inside of its directory (`openat2`).

use super::outside;
use nix::{
    errno::Errno,
    fcntl::{OFlag, OpenHow, ResolveFlag, openat2},
};
use std::{
    fs::{self, File},
    io,
    os::fd::{AsRawFd, OwnedFd},
    path::{Path, PathBuf},
};

/// Most lookups of one path: the kernel gives a lookup with `..` up whenever anything on the machine is renamed or mounted
/// meanwhile, and leaves it to the caller to ask again (openat2(2), EAGAIN).
const LOOKUPS: usize = 1_000;

pub(super) fn top(_path: &Path) -> io::Result<PathBuf> {
    Ok(PathBuf::from("/"))
}

pub(super) fn spelled(path: PathBuf) -> PathBuf {
    path
}

pub(super) fn open(root: &Path, rest: &Path) -> io::Result<File> {
    Ok(beneath(root, rest, OFlag::O_RDONLY | OFlag::O_NONBLOCK)?.into())
}

pub(super) fn real(root: &Path, rest: &Path) -> io::Result<PathBuf> {
    let found = beneath(root, rest, OFlag::O_PATH)?;
    fs::read_link(format!("/proc/self/fd/{}", found.as_raw_fd()))
}

/// Opens what is below a directory; no link is followed out of it, whatever happens to it meanwhile.
fn beneath(root: &Path, rest: &Path, flags: OFlag) -> io::Result<OwnedFd> {
    if rest.as_os_str().is_empty() {
        return Ok(nix::fcntl::open(root, flags | OFlag::O_CLOEXEC, nix::sys::stat::Mode::empty())?);
    }
    let how = OpenHow::new()
        .flags(flags | OFlag::O_CLOEXEC)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    let root = File::open(root)?;
    let mut lookups = (0..LOOKUPS).map(|_| openat2(&root, rest, how));
    let found = lookups.find(|found| !matches!(found, Err(Errno::EAGAIN)));
    found.unwrap_or(Err(Errno::EAGAIN)).map_err(|error| match error {
        Errno::EXDEV => outside(),
        Errno::ENOSYS => io::Error::other("no link can be kept inside of a directory before Linux 5.6"),
        error => error.into(),
    })
}
