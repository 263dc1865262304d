//! Accepts connections, within the limits.

use super::{
    certificates::Certificates,
    connection::attend,
    context::HostContext,
    game_threads::yield_to_games,
    places::Places,
    socket,
    vestibule::{Arrival, Vestibule},
};
use arena::actor_thread::ActorThread;
use std::{io, net::IpAddr, sync::Arc, time::Duration};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// How long connections may take to be closed at the end.
const FAREWELL: Duration = Duration::from_secs(3);
/// Pause after the system refused to accept a connection.
const REFUSED: Duration = Duration::from_millis(50);

/// A socket that listens for clients, and how they speak there.
#[derive(Debug)]
pub struct Port {
    listener: std::net::TcpListener,
    tls: Option<Arc<Certificates>>,
}

impl Port {
    /// A port where clients speak as they are.
    #[must_use]
    pub fn plain(listener: std::net::TcpListener) -> Self {
        Self { listener, tls: None }
    }

    /// A port where clients speak TLS.
    #[must_use]
    pub fn encrypted(listener: std::net::TcpListener, certificates: Arc<Certificates>) -> Self {
        Self { listener, tls: Some(certificates) }
    }
}

/// The connections of a host.
pub struct Connections {
    context: HostContext,
    places: Arc<Places>,
    network: ActorThread,
    /// Where those wait of whom something has to be found out first.
    vestibule: Arc<Vestibule>,
}

impl Connections {
    /// No connections yet; they are served on the thread that this is called on, which gets a lower priority.
    #[must_use]
    pub fn new(context: HostContext, vestibule: Vestibule) -> Self {
        yield_to_games();
        let (network, vestibule) = (ActorThread::current(), Arc::new(vestibule));
        Self { context, places: Arc::default(), network, vestibule }
    }

    /// Accepts connections until `stop`.
    ///
    /// # Errors
    /// When the system cannot watch the port.
    pub fn listen(&self, port: Port, stop: &CancellationToken) -> io::Result<()> {
        port.listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(port.listener)?;
        port.tls.iter().for_each(|certificates| self.vestibule.watch(certificates.clone()));
        let (context, places, network) = (self.context.clone(), self.places.clone(), self.network.clone());
        let (vestibule, stop) = (self.vestibule.clone(), stop.clone());
        let door = Door { context, places, network, vestibule, tls: port.tls, stop: stop.clone() };
        self.network.start(async move {
            stop.run_until_cancelled(accept(listener, door)).await;
        });
        Ok(())
    }

    /// Waits until the connections are closed. Those that have not logged in are left behind.
    pub async fn close(self) {
        self.vestibule.close();
        self.network.actors.close();
        let _strangers_stay_behind = tokio::time::timeout(FAREWELL, self.network.actors.wait()).await;
    }
}

/// The way of a connection from its port to its place.
#[derive(Clone)]
struct Door {
    context: HostContext,
    places: Arc<Places>,
    network: ActorThread,
    vestibule: Arc<Vestibule>,
    tls: Option<Arc<Certificates>>,
    stop: CancellationToken,
}

async fn accept(listener: TcpListener, door: Door) {
    if let Err(error) = socket::prepare_to_listen(&listener) {
        tracing::warn!(target: "host", %error, "the buffers of connections could not be bounded");
    }
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => door.knocked(socket, peer.ip()),
            Err(_) => tokio::time::sleep(REFUSED).await,
        }
    }
}

impl Door {
    fn knocked(&self, socket: TcpStream, peer: IpAddr) {
        let proxied = self.context.proxies.trusts(peer);
        let is_banned = || self.context.operations.in_force(|in_force| in_force.bans_address(peer));
        if socket::prepare(&socket).is_err() || (!proxied && is_banned()) {
            return;
        }
        if self.tls.is_none() && !proxied {
            return self.enter(super::channel::Channel::plain(socket), peer);
        }
        let Ok(socket) = socket.into_std() else { return };
        let (door, network) = (self.clone(), self.network.clone());
        self.vestibule.enter(
            socket,
            peer,
            self.tls.clone(),
            &self.context,
            move |Arrival { channel, address }| {
                network.run(async move {
                    if let (false, Ok(channel)) = (door.stop.is_cancelled(), channel.arrive()) {
                        door.enter(channel, address);
                    }
                });
            },
        );
    }

    fn enter(&self, channel: super::channel::Channel, address: IpAddr) {
        if let Some(place) = Places::enter(&self.places, address, &self.context.limits) {
            attend(channel, place, self.context.clone(), self.network.clone());
        }
    }
}
