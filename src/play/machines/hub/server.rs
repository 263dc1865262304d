//! The nats-server of an event: a child of this process, restarted when it ends, and gone when this process is.
//!
//! A thread of its own keeps it alive ([`Supervisor`]); here is what the rest of the program has of it.

use crate::hub::{
    HubError, connect::Call, directory::Directory, leftover, log::LastLines, subjects, supervisor::Supervisor,
};
use async_nats::client::RequestErrorKind;
use parking_lot::{Condvar, Mutex, MutexGuard};
use platform::programs::{Order, SERVERS, order};
use std::{
    env::consts::EXE_SUFFIX,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot, watch};

/// The name of the program.
const PROGRAM: &str = "nats-server";
/// How long it may take to start, with a store to read on a slow disk.
const START: Duration = Duration::from_secs(60);
/// How long it may take to read its configuration again, and to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    reloads: watch::Receiver<Reloads>,
    /// The port of its clients, which it keeps when it is started again.
    pub port: u16,
    thread: Option<thread::JoinHandle<()>>,
}

/// How to start a server.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// The program, unless it is to be searched.
    pub program: Option<PathBuf>,
    pub directory: PathBuf,
    pub listen: SocketAddr,
}

/// What the thread of a server and everybody else know.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Told when the server shall stop.
    pub changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Set from its start until just before its end is awaited: whoever holds the lock may send it a signal.
    pub process: Option<u32>,
    pub stopping: bool,
    pub last_lines: LastLines,
}

/// How often the configuration was read again, and what was wrong the last time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reloads {
    pub count: u64,
    pub fault: Option<String>,
}

impl Server {
    /// Starts it and waits until it takes connections. What an earlier manager has left behind is ended first.
    pub async fn start(
        directory: &Directory,
        setup: Setup,
        notices: mpsc::Sender<String>,
    ) -> Result<Self, HubError> {
        let program = find(setup.program.as_deref())?;
        leftover::end(directory).await?;
        let shared = Arc::new(Shared::default());
        let (first, ready) = oneshot::channel();
        let (reloads_in, reloads) = watch::channel(Reloads::default());
        let supervisor = Supervisor::new(program, setup, shared.clone(), first, reloads_in, notices);
        let spawned = thread::Builder::new().name("hub".to_owned()).spawn(move || supervisor.run());
        let thread = Some(spawned.map_err(HubError::Start)?);
        // Dropping the server on the way out of here ends its process.
        let mut server = Self { shared, reloads, port: 0, thread };
        let last_lines = || server.shared.lock().last_lines.text();
        server.port = match tokio::time::timeout(START, ready).await {
            Ok(Ok(port)) => port?,
            Ok(Err(_)) => return Err(HubError::Ended(last_lines())),
            Err(_) => return Err(HubError::NotReady(START, last_lines())),
        };
        Ok(server)
    }

    /// Has the server read its configuration again, and waits until it has. Where the system has no signal for it, the
    /// server is asked by `call`.
    pub async fn reload(&self, call: Call<'_>) -> Result<(), HubError> {
        let mut reloads = self.reloads.clone();
        let before = reloads.borrow_and_update().count;
        let signalled = self.shared.order(Order::Reload);
        if signalled.is_err_and(|error| error.kind() == io::ErrorKind::Unsupported) {
            ask_to_reload(call).await?;
        }
        let done = reloads.wait_for(|reloads| reloads.count > before);
        match tokio::time::timeout(PATIENCE, done).await {
            Ok(Ok(reloads)) => reloads.fault.clone().map_or(Ok(()), |fault| Err(HubError::Reload(fault))),
            _ => Err(HubError::Reload(format!("no answer within {} s", PATIENCE.as_secs()))),
        }
    }

    /// Process of the server, if it runs.
    pub fn process(&self) -> Option<i32> {
        self.shared.lock().process.map(u32::cast_signed)
    }

    /// Ends it, and waits until it has ended.
    pub async fn stop(mut self) {
        self.shared.stop(Order::End);
        let Some(thread) = self.thread.take() else { return };
        let end = Instant::now() + PATIENCE;
        while !thread.is_finished() && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.shared.stop(Order::Kill);
        let _it_does_not_panic = thread.join();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop(Order::Kill);
        if let Some(thread) = self.thread.take() {
            let _it_does_not_panic = thread.join();
        }
    }
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Gives an order to the server if it runs. An error may mean that it has ended just now; then it is started again.
    fn order(&self, wish: Order) -> io::Result<()> {
        self.lock().process.map_or(Ok(()), |process| order(process, wish))
    }

    fn stop(&self, wish: Order) {
        self.lock().stopping = true;
        self.changed.notify_all();
        // A program without a console cannot ask another one to end on every system.
        if self.order(wish).is_err() {
            let _gone = self.order(Order::Kill);
        }
    }

    pub fn is_stopping(&self) -> bool {
        self.lock().stopping
    }
}

/// Has a server read its configuration again by a message to its own account.
pub(crate) async fn ask_to_reload(call: Call<'_>) -> Result<(), HubError> {
    let (client, _) = call.connect().await?;
    let subject = subjects::reload(&client.server_info().server_id);
    let asked = tokio::time::timeout(PATIENCE, client.request(subject, "".into())).await;
    let failed = |why: String| Err(HubError::Reload(why));
    match asked {
        Ok(Ok(answer)) => refusal(&answer.payload).map_or(Ok(()), failed),
        Ok(Err(error)) if error.kind() == RequestErrorKind::NoResponders => {
            failed("at least version 2.10 of nats-server is needed on this system".to_owned())
        }
        Ok(Err(error)) => failed(error.to_string()),
        Err(_) => failed(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

/// What the server has written of an error into an answer.
fn refusal(answer: &[u8]) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_slice(answer).ok()?;
    let error = answer.get("error")?;
    let text = error.get("description").and_then(serde_json::Value::as_str);
    Some(text.map_or_else(|| error.to_string(), str::to_owned))
}

/// The program: the one that is named, or the first on the path.
fn find(named: Option<&Path>) -> Result<PathBuf, HubError> {
    if let Some(program) = named {
        return Ok(program.to_path_buf());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(SERVERS.iter().map(PathBuf::from));
    let mut programs = directories.map(|directory| directory.join(format!("{PROGRAM}{EXE_SUFFIX}")));
    programs.find(|program| is_program(program)).ok_or(HubError::NoServer)
}

fn is_program(path: &Path) -> bool {
    platform::files::is_program(path)
}
