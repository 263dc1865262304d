//! Accepts connections, within the limits.

use super::{
    certificates::Certificates,
    channel::{Carried, Channel},
    connection::attend,
    context::HostContext,
    game_threads::yield_to_games,
    places::Places,
    socket,
    vestibule::{Arrival, BANNED, Gatekeeper, Vestibule},
};
use arena::actor_thread::ActorThread;
use std::{io, net::IpAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

/// How long connections may take to be closed at the end.
const FAREWELL: Duration = Duration::from_secs(3);
/// Connections at once that have no place and are waited for while they read why, and how long they have. To the others it is
/// written, too, and they are closed at once.
static PARTING: Semaphore = Semaphore::const_new(64);
const READS: Duration = Duration::from_secs(2);
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
    pub fn plain(listener: std::net::TcpListener) -> Self {
        Self { listener, tls: None }
    }

    /// A port where clients speak TLS.
    pub fn encrypted(listener: std::net::TcpListener, certificates: Arc<Certificates>) -> Self {
        Self { listener, tls: Some(certificates) }
    }
}

/// The way of connections from their ports to whoever serves them.
pub struct Connections {
    network: ActorThread,
    /// Where those wait of whom something has to be found out first.
    vestibule: Arc<Vestibule>,
    gatekeeper: Gatekeeper,
    enter: Enter,
}

/// What becomes of a connection that has come in, on the thread of the network.
pub type Enter = Arc<dyn Fn(Channel, IpAddr) + Send + Sync>;

impl Connections {
    /// No connections yet; they are served on the thread that this is called on, which gets a lower priority.
    pub fn new(gatekeeper: Gatekeeper, vestibule: Vestibule, network: ActorThread, enter: Enter) -> Self {
        yield_to_games();
        Self { network, vestibule: Arc::new(vestibule), gatekeeper, enter }
    }

    /// The connections of a host.
    pub fn of(threshold: Threshold, vestibule: Vestibule) -> Self {
        let (gatekeeper, network) = (threshold.context.gatekeeper(), threshold.network.clone());
        let enter = move |channel, address| threshold.enter(channel, address, vec![]);
        Self::new(gatekeeper, vestibule, network, Arc::new(enter))
    }

    /// Accepts connections until `stop`.
    ///
    /// # Errors
    /// When the system cannot watch the port.
    pub fn listen(&self, port: Port, stop: &CancellationToken) -> io::Result<()> {
        port.listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(port.listener)?;
        port.tls.iter().for_each(|certificates| self.vestibule.watch(certificates.clone()));
        let (network, vestibule) = (self.network.clone(), self.vestibule.clone());
        let (gatekeeper, enter, stop) = (self.gatekeeper.clone(), self.enter.clone(), stop.clone());
        let door = Door { network, vestibule, gatekeeper, enter, tls: port.tls, stop: stop.clone() };
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

/// The entrance to a host, for connections that came in by a port of its own or by one that several hosts share.
#[derive(Clone, Debug)]
pub struct Threshold {
    context: HostContext,
    places: Arc<Places>,
    network: ActorThread,
}

impl Threshold {
    /// The entrance to a host whose network is the thread that this is called on.
    pub fn new(context: HostContext) -> Self {
        Self { context, places: Arc::default(), network: ActorThread::current() }
    }

    /// The host.
    pub fn host(&self) -> &HostContext {
        &self.context
    }

    /// Takes in a connection of which these bytes were read, from any thread, unless its address is banned here.
    pub fn pass(&self, channel: Carried, address: IpAddr, heard: Vec<u8>) {
        let (this, gatekeeper) = (self.clone(), self.context.gatekeeper());
        self.network.run(async move {
            match channel.arrive() {
                Ok(channel) if gatekeeper.bans(address) => {
                    gatekeeper.turn_away(&this.network, channel, BANNED, false);
                }
                Ok(channel) => this.enter(channel, address, heard),
                Err(_gone) => {}
            }
        });
    }

    fn enter(&self, channel: Channel, address: IpAddr, heard: Vec<u8>) {
        match Places::enter(&self.places, address, &self.context.limits) {
            Ok(place) => attend(channel, heard, place, self.context.clone(), self.network.clone()),
            Err(full) => {
                self.context.gatekeeper().turn_away(&self.network, channel, &full.to_string(), false);
            }
        }
    }
}

/// Tells a connection in these bytes why it is closed.
pub fn part(network: &ActorThread, mut channel: Channel, last: &[u8]) {
    let Ok(permit) = PARTING.try_acquire() else {
        let _not_written = channel.try_write(last);
        return channel.say_goodbye();
    };
    let last = last.to_vec();
    network.run(async move {
        let _reads_nothing = tokio::time::timeout(READS, channel.part(&last)).await;
        drop(permit);
    });
}

/// A port, and where it leads.
#[derive(Clone)]
struct Door {
    network: ActorThread,
    vestibule: Arc<Vestibule>,
    gatekeeper: Gatekeeper,
    enter: Enter,
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
        let proxied = self.gatekeeper.proxies.trusts(peer);
        if socket::prepare(&socket).is_err() {
            return;
        }
        if !proxied && self.gatekeeper.bans(peer) {
            let channel = Channel::plain(socket);
            return self.gatekeeper.turn_away(&self.network, channel, BANNED, self.tls.is_some());
        }
        if self.tls.is_none() && !proxied {
            return (self.enter)(Channel::plain(socket), peer);
        }
        let Ok(socket) = socket.into_std() else { return };
        let (door, network) = (self.clone(), self.network.clone());
        let arrived = move |Arrival { channel, address }| {
            network.run(async move {
                if let (false, Ok(channel)) = (door.stop.is_cancelled(), channel.arrive()) {
                    (door.enter)(channel, address);
                }
            });
        };
        self.vestibule.enter(socket, peer, self.tls.clone(), &self.gatekeeper, arrived);
    }
}
