//! Accepts connections, within the limits.

use super::{connection::attend, context::HostContext, places::Places, requests::yield_to_games, socket};
use arena::actor_thread::ActorThread;
use std::{sync::Arc, time::Duration};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long connections may take to be closed at the end.
const FAREWELL: Duration = Duration::from_secs(3);
/// Pause after the system refused to accept a connection.
const REFUSED: Duration = Duration::from_millis(50);

/// The connections of a host.
pub struct Connections {
    context: HostContext,
    places: Arc<Places>,
    network: ActorThread,
}

impl Connections {
    /// No connections yet; they are served on the thread that this is called on, which gets a lower priority.
    #[must_use]
    pub fn new(context: HostContext) -> Self {
        yield_to_games();
        Self { context, places: Arc::default(), network: ActorThread::current() }
    }

    /// Accepts connections until `stop`.
    pub fn listen(&self, listener: TcpListener, stop: &CancellationToken) {
        let accepting = accept(listener, self.context.clone(), self.places.clone(), self.network.clone());
        let stop = stop.clone();
        self.network.start(async move {
            stop.run_until_cancelled(accepting).await;
        });
    }

    /// Waits until the connections are closed. Those that have not logged in are left behind.
    pub async fn close(self) {
        self.network.actors.close();
        let _strangers_stay_behind = tokio::time::timeout(FAREWELL, self.network.actors.wait()).await;
    }
}

async fn accept(listener: TcpListener, context: HostContext, places: Arc<Places>, network: ActorThread) {
    if let Err(error) = socket::prepare_to_listen(&listener) {
        tracing::warn!(target: "host", %error, "the buffers of connections could not be bounded");
    }
    loop {
        let Ok((socket, peer)) = listener.accept().await else {
            tokio::time::sleep(REFUSED).await;
            continue;
        };
        if context.operations.bans_address(peer.ip()) {
            continue;
        }
        let Some(place) = Places::enter(&places, peer.ip(), &context.limits) else { continue };
        if socket::prepare(&socket).is_ok() {
            attend(socket, place, context.clone(), network.clone());
        }
    }
}
