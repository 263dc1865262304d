//! The thread that starts the processes of all engines, or has their guardians forked.
//!
//! An engine is to be killed when this program dies, and the kernel ties that to the *thread* that forked the engine
//! (`PR_SET_PDEATHSIG`): the thread must outlive every engine. A process inherits the priority of the thread that forks it,
//! too. The thread is therefore started with the first engine, or before another lowers its priority, and lives as long as
//! the program. A fork also holds its thread up until the child has executed the engine; a thread on which games are played
//! has no time for that.

use parking_lot::Mutex;
use std::{
    io,
    sync::mpsc::{self, Receiver, Sender},
    thread,
};
use tokio::{runtime::Handle, sync::oneshot};

/// Requests to the thread, once it runs.
static REQUESTS: Mutex<Option<Sender<Request>>> = Mutex::new(None);

type Request = Box<dyn FnOnce() + Send>;

/// Has the thread start a process, without blocking that of the caller, on whose runtime its pipes are read.
///
/// # Errors
/// Those of `start`.
pub(super) async fn start<T: Send + 'static>(
    start: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let gone = || io::Error::other("the thread that starts engines is gone");
    let (answer, started) = oneshot::channel();
    let runtime = Handle::current();
    let request = move || {
        let _runtime = runtime.enter();
        // If the caller is gone, the child is dropped here, which kills it, or ends its guardian.
        let _caller_gone = answer.send(start());
    };
    requests()?.send(Box::new(request)).map_err(|_| gone())?;
    started.await.map_err(|_| gone())?
}

/// Begins the thread, unless it runs.
#[cfg(target_os = "linux")]
pub(crate) fn begin() -> io::Result<()> {
    requests().map(drop)
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
    super::own::take_cores_of_program();
    while let Ok(request) = inbox.recv() {
        request();
    }
}
