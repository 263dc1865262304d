//! Where a connection waits until it is known who comes and how it speaks: for the line of a reverse proxy, and for the
//! handshake of TLS.
//!
//! It works on a thread of its own, at lower priority: a handshake costs as much as hundreds of lines, and whoever begins
//! thousands of them delays other handshakes and nobody else. Who waits here has no place at the host yet; places here
//! are few, are shared fairly between addresses, and are lost after a few seconds.

use super::{
    certificates::Certificates,
    channel::{Carried, Channel},
    game_threads::yield_to_games,
    listener::part,
    places::{Places, TakenPlace},
    visits::Visits,
};
use arena::actor_thread::ActorThread;
use notation::proxy;
use parking_lot::Mutex;
use plan::serve::{Limits, Proxies};
use rustls::ServerConnection;
use std::{
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};
use tokio::{io::AsyncReadExt, net::TcpStream, time::timeout};
use tokio_util::sync::CancellationToken;

/// Connections in the vestibule at once, and of one address: enough for a room whose players all begin at once.
const WAITING: [usize; 2] = [128, 32];
/// Connections of proxies at once that have not said for whom they are.
const UNNAMED: usize = 64;
/// Descriptors that the vestibule needs at most.
pub const DESCRIPTORS: usize = WAITING[0] + WAITING[0] / 16 + UNNAMED;
/// How long a proxy has to say it.
const PROXY: Duration = Duration::from_secs(5);
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// What a client hears whose address is banned.
pub const BANNED: &str = "the operator has banned your address";
/// What one hears that finds no place here, or loses it.
pub const CROWDED: &str = "too many connections wait to be let in; try again later";
/// What one hears whose proxy does not speak for it.
const NOT_NAMED: &str = "the proxy does not say from where you come";
/// Why a handshake that takes too long ends.
const TOO_SLOW: &str = "the handshake took too long";
/// What is sent in place of a line to a client that begins with TLS: a fatal alert, `access_denied`. A handshake only to refuse it would cost too much.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 49];
/// Least time between two lines for the operator about a proxy that is set up wrongly.
const SILENCE: Duration = Duration::from_secs(60);

/// Which addresses may come in, and which of them speak for others.
#[derive(Clone)]
pub struct Gatekeeper {
    /// Proxies that say where a client comes from.
    pub proxies: Arc<Proxies>,
    /// Whether an address may not come in.
    pub bans: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
    /// Where the operator hears of those who are turned away.
    pub visits: Visits,
}

impl Gatekeeper {
    /// True if an address may not come in.
    pub fn bans(&self, address: IpAddr) -> bool {
        (self.bans)(address)
    }

    /// Says to a connection why it is closed, and to the operator once a minute. `begins_with_tls`: it has not shaken hands yet.
    pub fn turn_away(&self, network: &ActorThread, channel: Channel, why: &str, begins_with_tls: bool) {
        self.visits.turned_away(why, tokio::time::Instant::now());
        match begins_with_tls {
            true => part(network, channel, &ALERT),
            false => part(network, channel, format!("##[ERROR] {why}\n").as_bytes()),
        }
    }
}

/// How many may wait for their names to be known.
pub fn limits() -> Limits {
    let [connections, connections_per_address] = WAITING;
    Limits { connections, connections_per_address, ..Limits::default() }
}

/// The vestibule. Dropping it sends away who is in it.
#[derive(Debug)]
pub struct Vestibule {
    thread: ActorThread,
    places: Arc<Places>,
    unnamed: Arc<AtomicUsize>,
    /// When the operator was last told of a proxy that does not say for whom it connects.
    told: Mutex<Option<Instant>>,
    stop: CancellationToken,
}

/// Somebody who has come through.
pub struct Arrival {
    /// The channel.
    pub channel: Carried,
    /// Where the client comes from.
    pub address: IpAddr,
}

impl Vestibule {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has none.
    pub fn start() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stop = CancellationToken::new();
        let (sender, receiver) = mpsc::channel();
        let stopped = stop.clone();
        thread::Builder::new().name("vestibule".to_owned()).spawn(move || {
            yield_to_games();
            runtime.block_on(async {
                let _nobody_waits = sender.send(ActorThread::current());
                stopped.cancelled().await;
            });
        })?;
        let thread = receiver.recv().map_err(io::Error::other)?;
        let (places, unnamed, told) = (Arc::default(), Arc::default(), Mutex::default());
        Ok(Self { thread, places, unnamed, told, stop })
    }

    /// Sends away who is in it.
    pub fn close(&self) {
        self.stop.cancel();
    }

    /// Keeps looking at the files of the certificate.
    pub fn watch(&self, certificates: Arc<Certificates>) {
        self.thread.run(certificates.watch());
    }

    /// Takes in a connection; `arrived` gets it when it is known who comes.
    pub fn enter(
        self: &Arc<Self>,
        socket: std::net::TcpStream,
        peer: IpAddr,
        tls: Option<Arc<Certificates>>,
        gatekeeper: &Gatekeeper,
        arrived: impl FnOnce(Arrival) + Send + 'static,
    ) {
        let proxied = gatekeeper.proxies.trusts(peer);
        let unnamed = proxied.then(|| Unnamed::enter(&self.unnamed));
        let (this, gatekeeper) = (self.clone(), gatekeeper.clone());
        self.thread.run(async move {
            let Ok(mut socket) = TcpStream::from_std(socket) else { return };
            let admitted = this.admit(&mut socket, (peer, unnamed), tls.is_some(), &gatekeeper).await;
            let (address, place) = match admitted {
                Ok(admitted) => admitted,
                Err(why) => {
                    return gatekeeper.turn_away(&this.thread, Channel::plain(socket), why, tls.is_some());
                }
            };
            let channel = match tls.zip(place) {
                Some((certificates, place)) => shake_hands(socket, &place, &certificates, &gatekeeper).await,
                None => Some(Channel::plain(socket)),
            };
            if let Some(channel) = channel.and_then(|channel| channel.depart().ok()) {
                arrived(Arrival { channel, address });
            }
        });
    }

    /// Who comes, with a place for the handshake where TLS is spoken; or why it is turned away.
    async fn admit(
        &self,
        socket: &mut TcpStream,
        (peer, unnamed): (IpAddr, Option<Option<Unnamed>>),
        is_secure: bool,
        gatekeeper: &Gatekeeper,
    ) -> Result<(IpAddr, Option<TakenPlace>), &'static str> {
        let address = match unnamed {
            None => peer,
            Some(None) => return Err(CROWDED),
            Some(Some(_place)) => self.named(socket, peer).await?,
        };
        if gatekeeper.bans(address) {
            return Err(BANNED);
        }
        let place = is_secure.then(|| Places::enter(&self.places, address, &limits()));
        Ok((address, place.transpose().map_err(|_full| CROWDED)?))
    }

    /// The address of the client for whom a proxy connects, its own where it speaks for itself; or why it is not known.
    async fn named(&self, socket: &mut TcpStream, proxy: IpAddr) -> Result<IpAddr, &'static str> {
        let header = timeout(PROXY, header(socket)).await;
        let is_left = matches!(&header, Ok(Err(error)) if error.kind() != io::ErrorKind::InvalidData);
        match header {
            Ok(Ok(client)) => return Ok(client.unwrap_or(proxy)),
            _ if is_left => {}
            _ => self.tell(proxy),
        }
        Err(NOT_NAMED)
    }

    fn tell(&self, proxy: IpAddr) {
        let mut told = self.told.lock();
        if told.is_none_or(|told| told.elapsed() >= SILENCE) {
            *told = Some(Instant::now());
            tracing::warn!(
                target: "tls",
                "{proxy} is one of `trusted_proxies`, but does not begin with a line of the PROXY protocol, and is \
                 refused: set the proxy up for it (haproxy: `send-proxy`, nginx: `proxy_protocol on`)"
            );
        }
    }
}

/// Exchanges the handshake. A client that takes too long, or gives way to another, hears that nothing follows.
async fn shake_hands(
    socket: TcpStream,
    taken: &TakenPlace,
    certificates: &Certificates,
    gatekeeper: &Gatekeeper,
) -> Option<Channel> {
    let tls = ServerConnection::new(certificates.in_use()).ok()?;
    let mut channel = Channel::encrypted(socket, tls);
    let shaken = tokio::select! { biased;
        shaken = timeout(HANDSHAKE, channel.shake_hands()) => shaken.map_err(|_| TOO_SLOW),
        () = taken.place.gives_way() => Err(CROWDED),
    };
    match shaken {
        Ok(Ok(())) => return Some(channel),
        Ok(Err(error)) => {
            tracing::debug!(target: "tls", address = %taken.place.address, %error, "no TLS handshake");
        }
        Err(why) => {
            gatekeeper.visits.turned_away(why, tokio::time::Instant::now());
            channel.say_goodbye();
        }
    }
    None
}

impl Drop for Vestibule {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Reads the header of a proxy, and not a byte more.
async fn header(socket: &mut TcpStream) -> io::Result<Option<IpAddr>> {
    let wrong = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut bytes = vec![];
    loop {
        let from = bytes.len();
        match proxy::missing(&bytes).map_err(wrong)? {
            0 => return proxy::client(&bytes).map_err(wrong),
            more => bytes.resize(from + more, 0),
        }
        socket.read_exact(&mut bytes[from..]).await?;
    }
}

/// A proxy that has not said for whom it connects; dropping it makes room for another.
struct Unnamed(Arc<AtomicUsize>);

impl Unnamed {
    fn enter(all: &Arc<AtomicUsize>) -> Option<Self> {
        let unnamed = Self(all.clone());
        (all.fetch_add(1, Ordering::Relaxed) < UNNAMED).then_some(unnamed)
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
