//! The operator's door to a running event: a socket beside the database, with a line of JSON for each request and
//! for each answer. It only carries requests to [`Operations`]; a page may be another door.
//!
//! Only the user who plays the event, and root, may come in: the socket is made with mode 0600, and the system says who
//! has connected. Lines, clients and waits are bounded, and no thread of a game ever works here.

use arena::operations::{
    Operations,
    request::{Answer, Request},
};
use journal::{EventSummary, Store, StoreError};
use platform::{
    account::User,
    door::{self, DoorError, Listener, Stream},
};
use std::{
    io::{self, BufRead, BufReader, Write},
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
/// Most time until a client has its turn.
const TURN: Duration = Duration::from_secs(10);

/// The socket of an event in a database, beside the file, wherever a link to it lies. Those of later events than the first end
/// with their numbers.
fn path_of(database: &Path, event: Option<&str>) -> Result<PathBuf, StoreError> {
    let events = if database.exists() { Store::read(database)?.events()? } else { vec![] };
    let is_meant = |known: &&EventSummary| known.id.0 > 1 && event == Some(&*known.name);
    let number = events.iter().find(is_meant).map(|event| format!("-{}", event.id.0));
    let target = if database.is_symlink() { database.canonicalize().ok() } else { None };
    let end = format!("-admin{}", number.unwrap_or_default());
    Ok(platform::files::beside(target.as_deref().unwrap_or(database), &end))
}

/// The open door. Dropping it closes it and removes the socket.
#[derive(Debug)]
pub(crate) struct Door {
    door: door::Door,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Why an event has no door.
#[derive(Debug, thiserror::Error)]
#[error("`renmei admin` cannot reach this event: `{}` {fault}", path.display())]
pub(crate) struct NoDoor {
    path: PathBuf,
    fault: DoorError,
}

impl Door {
    /// Opens the door beside a database. A socket that a dead process has left is replaced.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(database: &Path, event: &str, operations: Operations) -> Result<Self, NoDoor> {
        let path = path_of(database, Some(event)).map_err(|error| {
            let fault = DoorError::Name(io::Error::other(error));
            NoDoor { path: database.to_owned(), fault }
        })?;
        Self::at(&path, event, operations, TURN).map_err(|fault| NoDoor { path, fault })
    }

    fn at(path: &Path, event: &str, operations: Operations, turn: Duration) -> Result<Self, DoorError> {
        let (listener, door) = Listener::open(path)?;
        let stop = Arc::<AtomicBool>::default();
        let stopped = stop.clone();
        let event = Arc::<str>::from(event);
        let work = move || serve(&listener, &event, &operations, (turn, &stopped));
        let thread = thread::Builder::new().name("operator".to_owned()).spawn(work)?;
        Ok(Self { door, stop, thread: Some(thread) })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // The thread waits for a client: the door sends a last one. Without it the thread ends with the process.
        let woken = self.door.close();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            let _panic_printed = thread.join();
        }
    }
}

/// Connects to the door of an event in a database, without a name to that of the first one, if it is that of a process that
/// may play it.
///
/// # Errors
/// When there is no door, or somebody else may have made it.
pub fn connect(database: &Path, event: Option<&str>) -> io::Result<Stream> {
    door::connect(&path_of(database, event).map_err(io::Error::other)?, database)
}

fn serve(
    listener: &Listener,
    event: &Arc<str>,
    operations: &Operations,
    (turn, stop): (Duration, &AtomicBool),
) {
    // One for this thread, and one for each client.
    let clients = Arc::new(());
    loop {
        let client = listener.accept();
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let Ok(client) = client else {
            // The system has no descriptor for it.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let (until, is_full) = (Instant::now() + turn, || Arc::strong_count(&clients) > CLIENTS);
        while is_full() && Instant::now() < until && !stop.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(10));
        }
        if is_full() {
            let why = "too many operators at once: this order was not taken; give it again in a moment";
            let _gone = send(&client, &Answer::refused(why));
            continue;
        }
        let (event, operations, place) = (event.clone(), operations.clone(), clients.clone());
        let work = move || {
            let _place = place;
            let _gone = converse(&client, &event, &operations);
        };
        let _out_of_threads = thread::Builder::new().name("operator".to_owned()).spawn(work);
    }
}

/// Answers one request after the other.
fn converse(client: &Stream, event: &str, operations: &Operations) -> io::Result<()> {
    client.set_write_timeout(Some(PATIENCE))?;
    let Some(user) = user_of(client)? else {
        return send(client, &Answer::refused("only the user who plays the event, and root, may do this"));
    };
    let mut lines = BufReader::new(client);
    while let Some(line) = next_line(&mut lines)? {
        let answer = match serde_json::from_slice::<Request>(&line) {
            // Numbers of games mean something else in every event of a database.
            Ok(Request { event: Some(other), .. }) if other != event => {
                Err(format!("this process plays the event `{event}`, not `{other}`"))
            }
            Ok(request) => operations.carry_out(&user, &request).map_err(|why| why.to_string()),
            Err(error) => Err(format!("this is not a request in JSON: {error}")),
        };
        let answer = answer.unwrap_or_else(Answer::refused);
        send(client, &Answer { event: Some(event.to_owned()), ..answer })?;
    }
    Ok(())
}

/// The name of the user at the other end, as the system knows it; `None` if that user may not come in.
fn user_of(client: &Stream) -> io::Result<Option<String>> {
    let user = door::peer(client)?;
    if user != User::own()? && !user.is_administrator() {
        return Ok(None);
    }
    Ok(Some(user.name().unwrap_or_else(|| format!("user {user}"))))
}

/// The next line; `None` at the end. Too long a line, and a client that takes too long, are errors.
fn next_line(lines: &mut BufReader<&Stream>) -> io::Result<Option<Vec<u8>>> {
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
            send(lines.get_ref(), &Answer::refused(format!("a request has at most {LINE} bytes")))?;
            return Err(io::ErrorKind::InvalidData.into());
        }
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

fn send(mut client: &Stream, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer).map_err(io::Error::other)?;
    line.push(b'\n');
    client.write_all(&line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena::operations::command::Command;
    use journal::{EventHead, Journal};
    use referee::operation::InForce;

    fn asked(stream: &Stream, event: Option<&str>) -> Answer {
        let event = event.map(str::to_owned);
        let request = Request { named: None, reason: None, event, command: Command::Pause };
        let mut line = serde_json::to_vec(&request).unwrap();
        line.push(b'\n');
        { stream }.write_all(&line).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    #[test]
    fn an_order_waits_until_another_client_goes_where_all_places_are_taken() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("cup.db");
        let head = EventHead { name: "cup", kind: "run", plan: "{}", fingerprint: "{}" };
        let opening = Journal::open(&database, &head).unwrap();
        let operations = Operations::new(InForce::default(), opening.sink());
        let _journal = opening.start(vec![operations.reader()], || ()).unwrap();
        // A client that is silent goes by itself before so long a turn is over.
        let path = path_of(&database, Some("cup")).unwrap();
        let _door = Door::at(&path, "cup", operations.clone(), 100 * PATIENCE).unwrap();
        let mut idle: Vec<_> = (0..CLIENTS).map(|_| connect(&database, None).unwrap()).collect();
        let last = connect(&database, None).unwrap();
        let answer = thread::scope(|scope| {
            let asking = scope.spawn(|| asked(&last, Some("cup")));
            drop(idle.pop());
            asking.join().unwrap()
        });
        assert!(answer.ok && operations.is_paused(), "{answer:?}");
    }

    #[test]
    fn each_event_of_a_database_has_a_door_of_its_own_and_takes_no_order_for_another() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("both.db");
        let events = ["p", "q"].map(|name| {
            let head = EventHead { name, kind: "run", plan: "{}", fingerprint: "{}" };
            let opening = Journal::open(&database, &head).unwrap();
            let operations = Operations::new(InForce::default(), opening.sink());
            let journal = opening.start(vec![operations.reader()], || ()).unwrap();
            let door = Door::open(&database, name, operations.clone()).unwrap();
            (operations, door, journal)
        });
        let paused = || [0, 1].map(|event: usize| events[event].0.is_paused());
        #[cfg(unix)]
        {
            let link = dir.path().join("link.db");
            std::os::unix::fs::symlink(&database, &link).unwrap();
            let [of_the_link, of_the_file] =
                [link, database.canonicalize().unwrap()].map(|path| path_of(&path, Some("q")).unwrap());
            assert_eq!(of_the_link, of_the_file, "a link leads to it as well");
        }
        let refused = asked(&connect(&database, Some("p")).unwrap(), Some("q"));
        assert!(!refused.ok && refused.text.contains("`p`, not `q`"), "{refused:?}");
        assert_eq!((refused.event.as_deref(), paused()), (Some("p"), [false, false]));
        for (event, are_paused) in [("q", [false, true]), ("p", [true, true])] {
            let done = asked(&connect(&database, Some(event)).unwrap(), Some(event));
            assert_eq!((done.ok, done.event.as_deref(), paused()), (true, Some(event), are_paused));
        }
    }
}
