//! The thread that starts the processes of all engines.
//!
//! An engine is to be killed when this program dies, and the kernel ties that to the *thread* that forked the engine
//! (`PR_SET_PDEATHSIG`): the thread must outlive every engine. It is therefore started with the first engine and
//! lives as long as the program. A fork also holds its thread up until the child has executed the engine; a thread on
//! which games are played has no time for that.

use crate::guardian::orphans;
use nix::{
    sched::{sched_getaffinity, sched_setaffinity},
    unistd::{Pid, getpid},
};
use parking_lot::Mutex;
use std::{
    io::{self, Write},
    os::unix::net::UnixStream,
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::Duration,
};
use tokio::{
    process::{Child, Command},
    runtime::Handle,
    sync::oneshot,
};

/// Most time for a new guardian to read its errand.
const PATIENCE: Duration = Duration::from_secs(10);

/// Requests to the thread, once it runs.
static REQUESTS: Mutex<Option<Sender<Request>>> = Mutex::new(None);

struct Request {
    command: Command,
    /// What the child is told, and on which line.
    errand: Option<(UnixStream, Vec<u8>)>,
    /// The runtime on which the pipes of the child are read and its end is awaited.
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// Starts a process without blocking the thread of the caller. A guardian receives an errand on its line.
///
/// # Errors
/// When the program cannot be started.
pub async fn spawn(command: Command, errand: Option<(UnixStream, Vec<u8>)>) -> io::Result<Child> {
    let gone = || io::Error::other("the thread that starts engines is gone");
    let (answer, started) = oneshot::channel();
    requests()?.send(Request { command, errand, runtime: Handle::current(), answer }).map_err(|_| gone())?;
    started.await.map_err(|_| gone())?
}

fn requests() -> io::Result<Sender<Request>> {
    let mut requests = REQUESTS.lock();
    if let Some(requests) = &*requests {
        return Ok(requests.clone());
    }
    let (sender, inbox) = mpsc::channel();
    thread::Builder::new().name("spawner".to_owned()).spawn(move || serve(&inbox))?;
    Ok(requests.insert(sender).clone())
}

fn serve(inbox: &Receiver<Request>) {
    take_cores_of_program();
    while let Ok(Request { mut command, errand, runtime, answer }) = inbox.recv() {
        let _runtime = runtime.enter();
        let started = match errand {
            None => command.spawn(),
            Some((line, errand)) => orphans::guardian(&mut command).and_then(|child| {
                line.set_write_timeout(Some(PATIENCE))?;
                (&line).write_all(&errand)?;
                Ok(child)
            }),
        };
        // If the caller is gone, the child is dropped here, which kills it, or ends its guardian.
        let _caller_gone = answer.send(started);
    }
}

/// A child inherits the cores of this thread, which inherited those of the thread that wanted the first engine. That
/// one may be pinned; the first thread of the program never is.
fn take_cores_of_program() {
    if let Ok(cores) = sched_getaffinity(getpid()) {
        let _inherited_ones_stay = sched_setaffinity(Pid::from_raw(0), &cores);
    }
}
