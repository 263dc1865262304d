//! A door to this process for other processes of its user: each connection comes with the identity of its other end.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | the door | a socket in the file system | as Linux | a named pipe whose name is made of the path |
//! | who may knock | the owner: mode 0600 before it has a name | the owner: made under the umask, then mode 0600 | the owner, administrators and the system, by its access list |
//! | [`peer`] | `SO_PEERCRED` | `getpeereid` | the user of the process at the other end |
//! | left by a dead process | replaced | replaced | gone with the process |
//! | timeouts of [`Stream`] | yes | yes | yes, by overlapped calls |

#[cfg_attr(unix, path = "door/unix.rs")]
#[cfg_attr(windows, path = "door/windows.rs")]
mod side;

pub use side::{Door, Listener, Stream, connect, peer};

use crate::account::User;
use std::io;

/// Why a door cannot be opened: what follows its path.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// A link lies there.
    #[error("is a link, which could lead anywhere: remove it")]
    Link,
    /// A file lies there.
    #[error("is not a socket: move it away")]
    NotASocket,
    /// Another process has opened it.
    #[error("belongs to another process that plays in this database")]
    Taken,
    /// A dead process has left it.
    #[error("is left from a dead process and cannot be removed: {0}")]
    Leftover(#[source] io::Error),
    /// Its path names no pipe.
    #[error("cannot be named: {0}")]
    Name(#[source] io::Error),
    /// The system refuses it.
    #[error("cannot be made: {0}")]
    Make(#[from] io::Error),
}

/// True if a user may have opened the door that another knocks at: the same user, or an administrator; for an
/// administrator, the owner of the file beside the door.
fn is_trusted(opened: &User, knocks: &User, owner: Option<&User>) -> bool {
    opened == knocks || opened.is_administrator() || (knocks.is_administrator() && Some(opened) == owner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{BufRead, BufReader, Read, Write},
        thread,
        time::Duration,
    };

    #[cfg(unix)]
    #[test]
    fn nobody_is_believed_but_the_user_of_the_door() {
        let [root, mori, kawa] = [0, 1000, 1001].map(|number| User(nix::unistd::Uid::from_raw(number)));
        assert!(is_trusted(&mori, &mori, Some(&mori)) && is_trusted(&root, &mori, Some(&mori)));
        assert!(is_trusted(&mori, &root, Some(&mori)), "root knocks at the door of a user");
        assert!(!is_trusted(&kawa, &mori, Some(&mori)) && !is_trusted(&kawa, &mori, Some(&kawa)));
        assert!(!is_trusted(&kawa, &root, Some(&mori)) && !is_trusted(&kawa, &root, None));
    }

    #[test]
    fn both_ends_of_a_door_know_each_other() {
        let place = tempfile::tempdir().unwrap();
        let (path, beside) = (place.path().join("league.db-admin"), place.path().join("league.db"));
        std::fs::write(&beside, "").unwrap();
        assert!(connect(&path, &beside).is_err());
        let (listener, door) = Listener::open(&path).unwrap();
        let serve = move || {
            let client = listener.accept().unwrap();
            let user = peer(&client).unwrap();
            let mut line = String::new();
            BufReader::new(&client).read_line(&mut line).unwrap();
            (&client).write_all(line.to_uppercase().as_bytes()).unwrap();
            client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            let silence = (&client).read(&mut [0; 8]).unwrap_err().kind();
            listener.accept().unwrap();
            (user, silence)
        };
        let server = thread::spawn(serve);
        let client = connect(&path, &beside).unwrap();
        (&client).write_all(b"status\n").unwrap();
        let mut answer = String::new();
        BufReader::new(&client).read_line(&mut answer).unwrap();
        assert_eq!(answer, "STATUS\n");
        assert!(door.close());
        let (user, silence) = server.join().unwrap();
        assert_eq!(user, User::own().unwrap());
        assert!([std::io::ErrorKind::TimedOut, std::io::ErrorKind::WouldBlock].contains(&silence));
        assert!(connect(&path, &beside).is_err(), "the door is closed");
    }
}
