//! Unix: a socket in the file system.

use super::{DoorError, User, is_trusted};
use crate::files::Identity;
use nix::unistd::Uid;
use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt, MetadataExt},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
};

/// A connection.
pub type Stream = UnixStream;

/// The side of a door where connections come in.
#[derive(Debug)]
pub struct Listener(UnixListener);

/// The name of a door. It stays until it is closed.
#[derive(Debug)]
pub struct Door {
    path: PathBuf,
    /// The socket, so that nobody else's is removed.
    identity: Identity,
}

impl Listener {
    /// Opens a door. A socket that a dead process has left is replaced.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(path: &Path) -> Result<(Self, Door), DoorError> {
        make_room(path)?;
        let listener = listen(path)?;
        let identity = Identity::at(path)?;
        Ok((Self(listener), Door { path: path.to_owned(), identity }))
    }

    /// Waits for a connection.
    ///
    /// # Errors
    /// When the system has no descriptor for it.
    pub fn accept(&self) -> io::Result<Stream> {
        Ok(self.0.accept()?.0)
    }
}

impl Door {
    /// Removes the door, and wakes the thread that waits for a connection by a last one; whether it was woken.
    pub fn close(&self) -> bool {
        let is_ours = Identity::at(&self.path).is_ok_and(|found| found == self.identity);
        let woken = is_ours && UnixStream::connect(&self.path).is_ok();
        if is_ours {
            let _gone_already = fs::remove_file(&self.path);
        }
        woken
    }
}

/// Removes a socket that nobody listens at any more; anything else stays and is a fault.
fn make_room(path: &Path) -> Result<(), DoorError> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if found.file_type().is_symlink() {
        return Err(DoorError::Link);
    }
    if !found.file_type().is_socket() {
        return Err(DoorError::NotASocket);
    }
    if UnixStream::connect(path).is_ok() {
        return Err(DoorError::Taken);
    }
    fs::remove_file(path).map_err(DoorError::Leftover)
}

/// A socket that nobody else can connect to at any time: its mode is set before it has a name.
#[cfg(target_os = "linux")]
fn listen(path: &Path) -> io::Result<UnixListener> {
    use nix::sys::{
        socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket},
        stat::{Mode, fchmod},
    };
    use std::os::fd::AsRawFd;
    /// Most connections that wait until they are accepted.
    const BACKLOG: i32 = 8;
    let made = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    fchmod(&made, Mode::S_IRUSR | Mode::S_IWUSR)?;
    bind(made.as_raw_fd(), &UnixAddr::new(path)?)?;
    listen(&made, Backlog::new(BACKLOG)?)?;
    Ok(made.into())
}

/// A socket that only its user can connect to: the program's umask closes it until its mode does.
#[cfg(not(target_os = "linux"))]
fn listen(path: &Path) -> io::Result<UnixListener> {
    use std::os::unix::fs::PermissionsExt;
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Connects to a door, if a process has opened it that the user of this one trusts: its own, root's, or for root that of
/// the owner of `beside`.
///
/// # Errors
/// When there is no door, or somebody else may have made it.
pub fn connect(path: &Path, beside: &Path) -> io::Result<Stream> {
    let (knocks, owner) = (User::own()?, User::owner_of(beside).ok());
    let refused = |why: String| io::Error::other(format!("`{}` {why}", path.display()));
    let check = |what: &str, user: &User| match is_trusted(user, &knocks, owner.as_ref()) {
        true => Ok(()),
        false => {
            let name = user.name().unwrap_or_else(|| format!("user {user}"));
            Err(refused(format!("{what} `{name}`, who does not play the event: nothing was sent to it")))
        }
    };
    let found = fs::symlink_metadata(path)?;
    if found.file_type().is_symlink() {
        return Err(refused("is a link, which could lead anywhere: nothing was sent to it".to_owned()));
    }
    check("belongs to", &User(Uid::from_raw(found.uid())))?;
    if found.mode() & 0o077 != 0 {
        return Err(refused("is open to others, as no event makes it: nothing was sent to it".to_owned()));
    }
    let stream = UnixStream::connect(path)?;
    check("is answered by", &peer(&stream)?)?;
    Ok(stream)
}

/// The user at the other end of a connection.
///
/// # Errors
/// When the system does not tell.
#[cfg(target_os = "linux")]
pub fn peer(stream: &Stream) -> io::Result<User> {
    use nix::sys::socket::{UnixCredentials, getsockopt, sockopt::PeerCredentials};
    let peer: UnixCredentials = getsockopt(stream, PeerCredentials)?;
    Ok(User(Uid::from_raw(peer.uid())))
}

/// The user at the other end of a connection.
///
/// # Errors
/// When the system does not tell.
#[cfg(not(target_os = "linux"))]
pub fn peer(stream: &Stream) -> io::Result<User> {
    Ok(User(nix::unistd::getpeereid(stream)?.0))
}
