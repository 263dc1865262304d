//! Accepts connections, within the limits.

use super::{connection::attend, context::HostContext};
use plan::serve::Limits;
use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long connections may take to be closed at the end.
const FAREWELL: Duration = Duration::from_secs(3);
/// Pause after the system refused to accept a connection.
const REFUSED: Duration = Duration::from_millis(50);

/// The connections of a host.
pub struct Connections {
    context: HostContext,
    counts: Arc<Counts>,
    tasks: TaskTracker,
}

impl Connections {
    /// No connections yet.
    #[must_use]
    pub fn new(context: HostContext) -> Self {
        Self { context, counts: Arc::default(), tasks: TaskTracker::new() }
    }

    /// Accepts connections until `stop`.
    pub fn listen(&self, listener: TcpListener, stop: &CancellationToken) {
        let accepting = accept(listener, self.context.clone(), self.counts.clone(), self.tasks.clone());
        self.tasks.spawn(stop.clone().run_until_cancelled_owned(accepting));
    }

    /// Waits until the connections are closed. Those that have not logged in are left behind.
    pub async fn close(self) {
        self.tasks.close();
        let _strangers_stay_behind = tokio::time::timeout(FAREWELL, self.tasks.wait()).await;
    }
}

async fn accept(listener: TcpListener, context: HostContext, counts: Arc<Counts>, tasks: TaskTracker) {
    loop {
        let Ok((socket, peer)) = listener.accept().await else {
            tokio::time::sleep(REFUSED).await;
            continue;
        };
        let Some(counted) = Counts::enter(&counts, peer.ip(), &context.limits) else { continue };
        if prepare(&socket).is_ok() {
            let context = context.clone();
            tasks.spawn(async move {
                let _counted = counted;
                attend(socket, context).await;
            });
        }
    }
}

/// Makes moves go out at once, and lets the system find out about a dead peer.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let keepalive = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(60))
        .with_interval(Duration::from_secs(10))
        .with_retries(6);
    socket2::SockRef::from(socket).set_tcp_keepalive(&keepalive)
}

/// Open connections by address.
#[derive(Debug, Default)]
struct Counts(Mutex<HashMap<IpAddr, usize>>);

/// A connection that counts until this is dropped.
struct Counted {
    counts: Arc<Counts>,
    address: IpAddr,
}

impl Counts {
    fn enter(counts: &Arc<Self>, address: IpAddr, limits: &Limits) -> Option<Counted> {
        let mut known = counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let total: usize = known.values().sum();
        let here = known.entry(address).or_default();
        if total >= limits.connections || *here >= limits.connections_per_address {
            return None;
        }
        *here += 1;
        Some(Counted { counts: counts.clone(), address })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut known = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(here) = known.get_mut(&self.address) {
            *here -= 1;
            if *here == 0 {
                known.remove(&self.address);
            }
        }
    }
}
