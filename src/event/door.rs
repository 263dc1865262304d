//! The operator's door to a running event: a Unix socket beside the database, with a line of JSON for each request and
//! for each answer. It only carries requests to [`Operations`]; a page may be another door.
//!
//! Only the user who plays the event, and root, may come in: the socket is made with mode 0600, and the system says who
//! has connected. Lines, clients and waits are bounded, and no thread of a game ever works here.

use arena::operations::{
    Operations,
    request::{Answer, Request},
};
use nix::{
    sys::{
        socket::{
            AddressFamily, Backlog, SockFlag, SockType, UnixAddr, UnixCredentials, bind, getsockopt, listen,
            socket, sockopt::PeerCredentials,
        },
        stat::{Mode, fchmod},
    },
    unistd::{Uid, User, geteuid},
};
use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    os::{
        fd::AsRawFd,
        unix::{
            fs::{FileTypeExt, MetadataExt},
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Most bytes of a request.
pub const LINE: usize = 16 * 1024;
/// Most clients at once.
const CLIENTS: usize = 8;
/// Most time for the next request to come, and for an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(30);

/// The socket of the event in a database.
#[must_use]
pub fn path_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-admin");
    name.into()
}

/// The open door. Dropping it closes it and removes the socket.
#[derive(Debug)]
pub(crate) struct Door {
    path: PathBuf,
    /// The number of the socket's file, so that nobody else's is removed.
    inode: u64,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Door {
    /// Opens the door beside a database. A socket that a dead process has left is replaced.
    ///
    /// # Errors
    /// A fragment that says why it cannot be opened.
    pub fn open(database: &Path, operations: Operations) -> Result<Self, String> {
        let path = path_of(database);
        let fault =
            |why: String| format!("`renmei admin` cannot reach this event: `{}` {why}", path.display());
        make_room(&path).map_err(fault)?;
        let failed = |error: io::Error| fault(format!("cannot be made: {error}"));
        let listener = listen_at(&path).map_err(failed)?;
        let inode = fs::symlink_metadata(&path).map_err(failed)?.ino();
        let stop = Arc::<AtomicBool>::default();
        let stopped = stop.clone();
        let work = move || serve(&listener, &operations, &stopped);
        let thread = thread::Builder::new().name("operator".to_owned()).spawn(work).map_err(failed)?;
        Ok(Self { path, inode, stop, thread: Some(thread) })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let is_ours = fs::symlink_metadata(&self.path).is_ok_and(|file| file.ino() == self.inode);
        // The thread waits for a client: this is the last one. Without it the thread ends with the process.
        let woken = is_ours && UnixStream::connect(&self.path).is_ok();
        if is_ours {
            let _gone_already = fs::remove_file(&self.path);
        }
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            let _panic_printed = thread.join();
        }
    }
}

/// Removes a socket that nobody listens at any more; anything else stays and is a fault.
fn make_room(path: &Path) -> Result<(), String> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if found.file_type().is_symlink() {
        return Err("is a link, which could lead anywhere: remove it".to_owned());
    }
    if !found.file_type().is_socket() {
        return Err("is not a socket: move it away".to_owned());
    }
    if UnixStream::connect(path).is_ok() {
        return Err("belongs to another event that is played in this database".to_owned());
    }
    fs::remove_file(path)
        .map_err(|error| format!("is left from a dead process and cannot be removed: {error}"))
}

/// Connects to the door of the event in a database, if it is that of a process that may play it.
///
/// # Errors
/// When there is no door, or somebody else may have made it.
pub fn connect(database: &Path) -> io::Result<UnixStream> {
    let (path, asks) = (path_of(database), geteuid());
    let owner = fs::metadata(database).map(|file| Uid::from_raw(file.uid())).ok();
    let refused = |why: String| io::Error::other(format!("`{}` {why}", path.display()));
    let check = |what: &str, uid: u32| match is_trusted(Uid::from_raw(uid), asks, owner) {
        true => Ok(()),
        false => {
            let known = User::from_uid(Uid::from_raw(uid)).ok().flatten();
            let name = known.map_or_else(|| format!("user {uid}"), |user| user.name);
            Err(refused(format!("{what} `{name}`, who does not play the event: nothing was sent to it")))
        }
    };
    let found = fs::symlink_metadata(&path)?;
    if found.file_type().is_symlink() {
        return Err(refused("is a link, which could lead anywhere: nothing was sent to it".to_owned()));
    }
    check("belongs to", found.uid())?;
    if found.mode() & 0o077 != 0 {
        return Err(refused("is open to others, as no event makes it: nothing was sent to it".to_owned()));
    }
    let stream = UnixStream::connect(&path)?;
    let peer: UnixCredentials = getsockopt(&stream, PeerCredentials)?;
    check("is answered by", peer.uid())?;
    Ok(stream)
}

/// Whether a user may play the event that another asks about: the same user, or root; for root, the owner of the database.
fn is_trusted(plays: Uid, asks: Uid, owner: Option<Uid>) -> bool {
    plays == asks || plays.is_root() || (asks.is_root() && Some(plays) == owner)
}

/// A socket that nobody else can connect to at any time: its mode is set before it has a name.
fn listen_at(path: &Path) -> io::Result<UnixListener> {
    let made = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    fchmod(&made, Mode::S_IRUSR | Mode::S_IWUSR)?;
    bind(made.as_raw_fd(), &UnixAddr::new(path)?)?;
    listen(&made, Backlog::new(CLIENTS as i32)?)?;
    Ok(made.into())
}

fn serve(listener: &UnixListener, operations: &Operations, stop: &AtomicBool) {
    // One for this thread, and one for each client.
    let clients = Arc::new(());
    for client in listener.incoming() {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let Ok(client) = client else {
            // The system has no descriptor for it.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if Arc::strong_count(&clients) > CLIENTS {
            let _gone = tell(&client, &Answer::refused("too many operators at once: ask again in a moment"));
            continue;
        }
        let (operations, place) = (operations.clone(), clients.clone());
        let work = move || {
            let _place = place;
            let _gone = converse(&client, &operations);
        };
        let _out_of_threads = thread::Builder::new().name("operator".to_owned()).spawn(work);
    }
}

/// Answers one request after the other.
fn converse(client: &UnixStream, operations: &Operations) -> io::Result<()> {
    client.set_write_timeout(Some(PATIENCE))?;
    let user = match user_of(client)? {
        Ok(user) => user,
        Err(why) => return tell(client, &Answer::refused(why)),
    };
    let mut lines = BufReader::new(client);
    while let Some(line) = next_line(&mut lines)? {
        let answer = match serde_json::from_slice::<Request>(&line) {
            Ok(request) => operations.carry_out(&user, &request).map_err(|why| why.to_string()),
            Err(error) => Err(format!("this is not a request in JSON: {error}")),
        };
        let answer = answer.unwrap_or_else(Answer::refused);
        tell(client, &answer)?;
    }
    Ok(())
}

/// The name of the user at the other end, as the system knows it; or why that user may not come in.
fn user_of(client: &UnixStream) -> io::Result<Result<String, String>> {
    let peer: UnixCredentials = getsockopt(client, PeerCredentials)?;
    let uid = Uid::from_raw(peer.uid());
    if uid != geteuid() && !uid.is_root() {
        return Ok(Err("only the user who plays the event, and root, may do this".to_owned()));
    }
    let known = User::from_uid(uid).ok().flatten();
    Ok(Ok(known.map_or_else(|| format!("user {uid}"), |user| user.name)))
}

/// The next line; `None` at the end. Too long a line, and a client that takes too long, are errors.
fn next_line(lines: &mut BufReader<&UnixStream>) -> io::Result<Option<Vec<u8>>> {
    let (until, mut line) = (Instant::now() + PATIENCE, vec![]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        lines.get_ref().set_read_timeout(Some(left))?;
        let bytes = lines.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(bytes.len());
        line.extend_from_slice(&bytes[..taken]);
        lines.consume(end.map_or(taken, |end| end + 1));
        if line.len() > LINE {
            tell(lines.get_ref(), &Answer::refused(format!("a request has at most {LINE} bytes")))?;
            return Err(io::ErrorKind::InvalidData.into());
        }
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

fn tell(mut client: &UnixStream, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer).map_err(io::Error::other)?;
    line.push(b'\n');
    client.write_all(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_believes_nobody_but_the_player_of_the_event() {
        let [root, mori, kawa] = [0, 1000, 1001].map(Uid::from_raw);
        assert!(is_trusted(mori, mori, Some(mori)) && is_trusted(root, mori, Some(mori)));
        assert!(is_trusted(mori, root, Some(mori)), "root asks the event of a user");
        assert!(!is_trusted(kawa, mori, Some(mori)) && !is_trusted(kawa, mori, Some(kawa)));
        assert!(!is_trusted(kawa, root, Some(mori)) && !is_trusted(kawa, root, None));
    }
}
