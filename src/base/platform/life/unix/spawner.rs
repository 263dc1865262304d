//! The thread that starts the processes of all engines.
//!
//! An engine is to be killed when this program dies, and the kernel ties that to the *thread* that forked the engine
//! (`PR_SET_PDEATHSIG`): the thread must outlive every engine. It is therefore started with the first engine and
//! lives as long as the program. A fork also holds its thread up until the child has executed the engine; a thread on
//! which games are played has no time for that.

use parking_lot::Mutex;
use std::{
    io,
    sync::mpsc::{self, Receiver, Sender},
    thread,
};
use tokio::{process::Child, runtime::Handle, sync::oneshot};

/// Requests to the thread, once it runs.
static REQUESTS: Mutex<Option<Sender<Request>>> = Mutex::new(None);

struct Request {
    start: Box<dyn FnOnce() -> io::Result<Child> + Send>,
    /// The runtime on which the pipes of the child are read and its end is awaited.
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// Has the thread start a process, without blocking that of the caller.
///
/// # Errors
/// Those of `start`.
pub(super) async fn start(start: impl FnOnce() -> io::Result<Child> + Send + 'static) -> io::Result<Child> {
    let gone = || io::Error::other("the thread that starts engines is gone");
    let (answer, started) = oneshot::channel();
    let request = Request { start: Box::new(start), runtime: Handle::current(), answer };
    requests()?.send(request).map_err(|_| gone())?;
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
    super::own::take_cores_of_program();
    while let Ok(Request { start, runtime, answer }) = inbox.recv() {
        let _runtime = runtime.enter();
        // If the caller is gone, the child is dropped here, which kills it, or ends its guardian.
        let _caller_gone = answer.send(start());
    }
}
