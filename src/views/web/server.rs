//! The HTTP side: addresses, connections with their limits and timeouts, and the threads.

use crate::{
    Site, WebError,
    accounts::Office,
    crowd::Crowd,
    desk,
    feed::{self, Bell},
    forwarded,
    gate::{self, Gate},
    hall::{self, Rooms},
    layout,
    limits::{Asker, Limits, Peer, Place},
    origins, pages,
    questions::Questions,
    refusals::{self, Refusal},
    relay::Relay,
    site::{ASKER, Shared},
    turns::yield_to_games,
    visitor::language,
};
use arena::boards::LiveBoards;
use axum::{
    Router,
    body::Body,
    extract::{DefaultBodyLimit, Request},
    http::{StatusCode, header},
    middleware,
    response::Response,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use journal::Reader;
use parking_lot::RwLock;
use plan::{HttpConfig, http::Delay};
use platform::account;
use rustls::ServerConfig;
use std::{
    net::{SocketAddr, TcpListener as StdListener},
    path::PathBuf,
    sync::{Arc, LazyLock, atomic::AtomicBool},
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
};
use tokio_rustls::TlsAcceptor;
use words::{Language, Phrase};

/// Longest wait for the head of a request, and for the next request of a connection.
const HEAD: Duration = Duration::from_secs(15);
/// Longest time of an answer until its first byte: engines may have to start first, and this machine may be busy.
const ANSWER: Duration = Duration::from_secs(180);
/// Time after which a connection ends that takes nothing of what was sent.
const DEAF: Duration = Duration::from_secs(30);
/// Longest head of a request, in bytes.
const HEAD_SIZE: usize = 16 * 1024;
/// Largest body of a request, in bytes.
const BODY_SIZE: usize = 16 * 1024;

/// Most threads that wait for the database or compute hashes.
const THREADS: usize = 8;
/// The same on a desk.
const THREADS_OF_DESK: usize = 64;
/// Most of a request that is read before its connection is refused, in bytes, and how long that may take.
const GLANCE: (usize, Duration) = (1024, Duration::from_secs(1));

/// What is shown, and to whom.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Addresses, limits, delay.
    pub config: HttpConfig,
    /// The database.
    pub database: PathBuf,
    /// Name of the event in it. It may be created later.
    pub event: String,
    /// The path that the pages are below: empty where the event is alone at its address.
    pub base: String,
    /// What those who ask may cost.
    pub crowd: Crowd,
    /// Further entries of the navigation: path and words.
    pub places: Vec<(&'static str, Phrase)>,
    /// Where the pages speak TLS.
    pub secure: Option<Secure>,
    /// The office of the arbiter's pages, where there are any.
    pub office: Option<Office>,
    /// Games that other machines play now, where any may. They are shown where viewers see what happens at once.
    pub boards: Option<Arc<LiveBoards>>,
}

/// Where the pages speak TLS, and what they show there.
#[derive(Clone)]
pub struct Secure {
    /// Addresses.
    pub listen: Vec<SocketAddr>,
    /// The certificate for the next connection.
    pub in_use: Certificate,
}

/// Looks up the certificate in use.
pub type Certificate = Arc<dyn Fn() -> Arc<ServerConfig> + Send + Sync>;

impl std::fmt::Debug for Secure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secure").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// A socket that listens, and its certificate if it speaks TLS.
pub(crate) type Listening = (StdListener, Option<Certificate>);

/// The pages of an event alone at its address. Dropping it ends them.
#[derive(Debug)]
pub struct Server {
    // The last frame is made before the connections end.
    pages: Pages,
    port: Port,
}

impl Server {
    /// Listens and serves. `further` are pages of other rooms.
    ///
    /// # Errors
    /// When an address is taken, or a thread cannot be started.
    pub fn open(
        setup: Setup,
        further: impl FnOnce(&Site) -> Router<Site> + Send + 'static,
    ) -> Result<Self, WebError> {
        let listeners = listeners(&setup.config, setup.secure.as_ref())?;
        let limits = limits(&setup.config);
        let pages = Pages::open(setup, further)?;
        let (searched, inbox) = mpsc::unbounded_channel();
        pages.search(&searched);
        let door = Door { limits, front: Front::Event(pages.room.clone()), gate: None };
        Ok(Self { pages, port: Port::open(listeners, door, inbox)? })
    }

    /// Addresses that the pages are on, and those by TLS.
    pub fn addresses(&self) -> (&[SocketAddr], &[SocketAddr]) {
        (&self.port.addresses, &self.port.secure)
    }

    /// A reader of the event's journal, which never waits.
    pub fn reader(&self) -> Reader {
        self.pages.reader()
    }
}

/// The pages of an event, wherever they are served: what is shown, and the thread that follows the event. Dropping it ends
/// the thread.
#[derive(Debug)]
pub struct Pages {
    pub(crate) room: Room,
    bell: Arc<Bell>,
    feed: Option<JoinHandle<()>>,
    /// Ends the preparation of searches when it is dropped.
    open: watch::Sender<()>,
}

/// The way to the pages of an event.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub site: Site,
    /// Made for the first request: a hall of hundreds of events that are over is asked for few of them.
    router: Arc<LazyLock<Router, MakeRouter>>,
    pub office: Option<Office>,
}

type MakeRouter = Box<dyn FnOnce() -> Router + Send>;

impl Room {
    pub(crate) fn new(
        site: Site,
        office: Option<Office>,
        further: impl FnOnce(&Site) -> Router<Site> + Send + 'static,
    ) -> Self {
        let own = site.clone();
        let make: MakeRouter = Box::new(move || router(&own, further(&own)));
        Self { site, router: Arc::new(LazyLock::new(make)), office }
    }
}

/// A site whose searches are prepared for as long as its pages are open.
pub(crate) type Searched = (Site, watch::Receiver<()>);

impl Pages {
    /// Follows an event. `further` are pages of other rooms.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn open(
        setup: Setup,
        further: impl FnOnce(&Site) -> Router<Site> + Send + 'static,
    ) -> Result<Self, WebError> {
        rsshogi::board::init();
        let office = setup.office.clone();
        let site = site(setup);
        site.0.boards.iter().for_each(|boards| boards.watch());
        let bell = Arc::new(Bell::default());
        let (shown, rung) = (site.clone(), bell.clone());
        let feed = thread::Builder::new().name("web-feed".to_owned()).spawn(move || {
            yield_to_games();
            feed::follow(&shown, &rung);
        })?;
        let room = Room::new(site, office, further);
        Ok(Self { room, bell, feed: Some(feed), open: watch::channel(()).0 })
    }

    /// A reader of the event's journal, which never waits.
    pub fn reader(&self) -> Reader {
        let (bell, site) = (self.bell.clone(), self.room.site.clone());
        let watched = move || site.0.relay.viewers() > 0;
        Reader::new("web", move |_| bell.ring()).while_hasty(watched)
    }

    /// Has the searches of the pages prepared.
    pub(crate) fn search(&self, searched: &mpsc::UnboundedSender<Searched>) {
        let _port_is_closed = searched.send((self.room.site.clone(), self.open.subscribe()));
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.bell.stop();
        if let Some(feed) = self.feed.take() {
            let _panic_printed = feed.join();
        }
    }
}

/// The addresses that pages are on, and the thread that serves them. Dropping it ends the connections.
#[derive(Debug)]
pub(crate) struct Port {
    pub addresses: Vec<SocketAddr>,
    pub secure: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Port {
    pub(crate) fn open(
        listeners: Vec<Listening>,
        door: Door,
        searched: mpsc::UnboundedReceiver<Searched>,
    ) -> Result<Self, WebError> {
        let of = |is_secure: bool| {
            let those = listeners.iter().filter(move |(_, tls)| tls.is_some() == is_secure);
            those.filter_map(|(listener, _)| listener.local_addr().ok()).collect()
        };
        let (addresses, secure) = (of(false), of(true));
        let (stop, stopped) = watch::channel(false);
        let thread = thread::Builder::new().name("web".to_owned()).spawn(move || {
            yield_to_games();
            serve(listeners, &door, searched, stopped);
        })?;
        Ok(Self { addresses, secure, stop, thread: Some(thread) })
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            let _panic_printed = thread.join();
        }
    }
}

/// The handle of the pages, before anything was read.
fn site(setup: Setup) -> Site {
    Site(Arc::new(Shared {
        live: RwLock::default(),
        has_machines: AtomicBool::new(false),
        relay: Relay::new(journal::now().unsigned_abs()),
        questions: Questions::of(&setup.crowd),
        boards: setup.boards.filter(|_| setup.config.delay == Delay::None),
        database: setup.database,
        event: setup.event,
        base: setup.base,
        places: pages::PLACES.into_iter().chain(setup.places).collect(),
        config: setup.config,
    }))
}

/// Everything that a connection needs.
#[derive(Clone)]
pub(crate) struct Door {
    pub limits: Arc<Limits>,
    pub front: Front,
    /// What keeps everybody out but the owner of a desk.
    pub gate: Option<Arc<Gate>>,
}

/// What is behind an address.
#[derive(Clone)]
pub(crate) enum Front {
    /// One event.
    Event(Room),
    /// Many events, each below a path of its own.
    Hall(Arc<Rooms>),
}

/// The way of a request: the pages that it asks for, and who works there.
struct Destination {
    router: Router,
    office: Option<Office>,
}

impl Front {
    /// Leads a request to its pages, which see a path as if they were alone.
    fn lead(&self, request: &mut Request) -> Destination {
        let room = match self {
            Self::Event(room) => Ok(room.clone()),
            Self::Hall(rooms) => {
                let around = rooms.around(request.uri().path(), language(request.headers()));
                request.extensions_mut().insert(around);
                rooms.enter(request.uri_mut()).ok_or_else(|| rooms.lobby())
            }
        };
        match room {
            Ok(Room { router, office, .. }) => {
                Destination { router: LazyLock::force(&router).clone(), office }
            }
            Err(lobby) => Destination { router: lobby, office: None },
        }
    }
}

/// The limits of all who come to an address.
pub(crate) fn limits(config: &HttpConfig) -> Arc<Limits> {
    let files = account::files(4 * config.viewers as u64);
    Limits::new(viewers(config.viewers, files), config.viewers_per_address, config.trusted_proxies.clone())
}

/// Viewers who may be connected where so many files may be open: they get a quarter of them, so that games begin and the
/// database is written, whoever watches.
fn viewers(wanted: usize, files: Option<u64>) -> usize {
    files.map_or(wanted, |files| wanted.min(usize::try_from(files / 4).unwrap_or(usize::MAX)).max(1))
}

/// All pages of a site, those of other rooms included.
fn router(site: &Site, further: Router<Site>) -> Router {
    let dress = middleware::from_fn_with_state(site.clone(), layout::dress);
    let routes = pages::routes().merge(further).layer(dress).layer(DefaultBodyLimit::max(BODY_SIZE));
    routes.with_state(site.clone())
}

/// Listens on all addresses of a configuration.
pub(crate) fn listeners(config: &HttpConfig, secure: Option<&Secure>) -> Result<Vec<Listening>, WebError> {
    let plain = config.listen.iter().map(|address| Ok((bind(*address)?, None)));
    let secure = secure.into_iter().flat_map(|secure| {
        secure.listen.iter().map(|address| Ok((bind(*address)?, Some(secure.in_use.clone()))))
    });
    plain.chain(secure).collect()
}

fn bind(address: SocketAddr) -> Result<StdListener, WebError> {
    let bound = StdListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|source| WebError::Listen { address, source })
}

fn serve(
    listeners: Vec<Listening>,
    door: &Door,
    mut searched: mpsc::UnboundedReceiver<Searched>,
    mut stopped: watch::Receiver<bool>,
) {
    // Whoever asks waits for a turn; this bounds the threads of those who need none, such as arbiters who are logged in.
    // The owner of a desk has forms that wait for engines, and other pages meanwhile.
    let threads = if door.gate.is_some() { THREADS_OF_DESK } else { THREADS };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = match runtime.enable_all().max_blocking_threads(threads).thread_name("web-store").build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!("no pages: {error}"),
    };
    runtime.block_on(async {
        tokio::spawn(async move {
            while let Some((site, open)) = searched.recv().await {
                tokio::spawn(prepare(site, open));
            }
        });
        for (listener, tls) in listeners {
            match TcpListener::from_std(listener) {
                Ok(listener) => {
                    let _fewer_at_once = platform::network::queue_arrivals(&listener);
                    tokio::spawn(accept(listener, tls, door.clone()));
                }
                Err(error) => tracing::error!("no pages: {error}"),
            }
        }
        let _gone = stopped.wait_for(|stopped| *stopped).await;
        // What was sent last is written.
        tokio::time::sleep(Duration::from_millis(100)).await;
    });
    runtime.shutdown_timeout(Duration::from_millis(200));
}

/// Prepares the searches of a site for as long as its pages are open.
async fn prepare(site: Site, mut open: watch::Receiver<()>) {
    tokio::select! {
        () = desk::prepare(site) => {}
        _closed = open.changed() => {}
    }
}

async fn accept(listener: TcpListener, tls: Option<Certificate>, door: Door) {
    let local = listener.local_addr().ok();
    let port = local.map_or(0, |address| address.port());
    // By TLS no other site's name leads here: it has no certificate for it.
    let is_private = tls.is_none() && local.is_some_and(origins::is_private);
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                let peer = Peer { address: address.ip(), is_secure: tls.is_some(), port };
                // The certificate as it is now: its files may have changed.
                let tls = tls.as_ref().map(|in_use| in_use());
                tokio::spawn(connection(
                    stream,
                    tls,
                    (peer, is_private, [Some(address), local]),
                    door.clone(),
                ));
            }
            // Without descriptors: those who are connected go on, and the next try is soon.
            Err(error) => {
                tracing::warn!("a browser could not connect: {error}");
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

async fn connection(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    (peer, is_private, ends): (Peer, bool, [Option<SocketAddr>; 2]),
    door: Door,
) {
    let place = match door.limits.enter(peer) {
        Ok(place) => Arc::new(place),
        // Words would be none over TLS before a handshake, which costs more than hanging up.
        Err(_) if peer.is_secure => return,
        Err(why) => return refuse(stream, why.into()).await,
    };
    // The tables of the system may be long: the other pages go on meanwhile.
    if let ([Some(address), local], Some(_)) = (ends, &door.gate)
        && tokio::task::spawn_blocking(move || gate::is_of_another_user(address, local)).await.unwrap_or(true)
    {
        return tracing::warn!("a program of another user of this machine was turned away from the desk");
    }
    let _slower = stream.set_nodelay(true);
    let _kept = platform::network::give_up_after(&stream, DEAF);
    let guest = Guest { peer, is_private, place: place.clone() };
    tokio::select! {
        () = converse(stream, tls, guest, door) => {}
        () = place.gives_way() => tracing::debug!("a connection of {} gave way to a newcomer", peer.address),
    }
}

/// The other end of a connection, and what it may see.
#[derive(Clone)]
struct Guest {
    peer: Peer,
    /// True if the pages are for this machine alone.
    is_private: bool,
    place: Arc<Place>,
}

async fn converse(stream: TcpStream, tls: Option<Arc<ServerConfig>>, guest: Guest, door: Door) {
    let address = guest.peer.address;
    let Some(tls) = tls else { return speak(stream, guest, door).await };
    match tokio::time::timeout(HEAD, TlsAcceptor::from(tls).accept(stream)).await {
        Ok(Ok(stream)) => speak(stream, guest, door).await,
        Ok(Err(error)) => tracing::debug!("no TLS with {address}: {error}"),
        Err(_) => tracing::debug!("no TLS with {address}: the handshake took too long"),
    }
}

async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, guest: Guest, door: Door) {
    let address = guest.peer.address;
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (guest, door) = (guest.clone(), door.clone());
        async move { Ok::<_, std::convert::Infallible>(answer(request.map(Body::new), &guest, door).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.await {
        tracing::debug!("a connection of {address} ended: {error}");
    }
}

/// Answers a request, also where it is refused: with the headers of every answer, and to programs in JSON.
async fn answer(mut request: Request, guest: &Guest, door: Door) -> Response {
    let stopped = door.gate.as_ref().and_then(|gate| gate.stops(&request, guest.peer));
    let way = door.front.lead(&mut request);
    let for_programs = refusals::is_for_programs(request.uri().path());
    let proxied = door.limits.proxies.trusts(guest.peer.address);
    let is_private = guest.is_private && !proxied;
    let language = if for_programs { Language::English } else { language(request.headers()) };
    let answered = match is_private && !origins::names_this_machine(request.headers()) {
        true => Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, Language::asked_by_another_name)),
        false => match stopped {
            Some(answer) => Ok(answer),
            None => serve_guest(request, guest, door, way).await,
        },
    };
    let answered = answered.unwrap_or_else(|refusal| refusal.in_text(language));
    let answered = if for_programs { refusals::in_json(answered).await } else { answered };
    let mut answered = layout::with_headers(answered);
    if is_private {
        answered.headers_mut().remove(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    }
    answered
}

async fn serve_guest(
    mut request: Request,
    guest: &Guest,
    door: Door,
    way: Destination,
) -> Result<Response, Refusal> {
    use hyper::service::Service as _;
    let peer = forwarded::client(guest.peer, request.headers(), &door.limits.proxies);
    let login = way.office.as_ref().and_then(|office| office.login(request.headers()));
    // Whoever has come through the gate of a desk is its owner, and keeps a place among any number of silent connections.
    guest.place.asks_for(peer, login.is_some() || door.gate.is_some())?;
    // Files are kept by browsers and cost nothing. A login has a budget of its own, so that a flood from its address does
    // not keep the arbiter from working.
    let path = request.uri().path();
    let stranger = || Asker::Address(peer.origin(), path.starts_with("/arbiter"));
    let asker = login.map_or_else(stranger, Asker::Login);
    // Whoever is behind the gate of a desk is its owner.
    let is_counted = !path.starts_with("/static/") && door.gate.is_none();
    if is_counted && !door.limits.may_ask(asker) {
        return Err(Refusal::too_many(Language::too_many_requests).after(5));
    }
    request.extensions_mut().insert(peer);
    door.gate.iter().for_each(|_| _ = request.extensions_mut().insert(hall::Owner));
    let answered = ASKER.scope(peer.origin(), TowerToHyperService::new(way.router).call(request));
    match tokio::time::timeout(ANSWER, answered).await {
        Ok(Ok(response)) => Ok(response),
        Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, Language::request_took_too_long)),
    }
}

/// Tells in a sentence why there is no place, and hangs up. What the other end has sent is read, or hanging up would
/// overtake the sentence; its first line says whether a program asks.
async fn refuse(mut stream: TcpStream, refusal: Refusal) {
    let mut glance = [0; GLANCE.0];
    let read = tokio::time::timeout(GLANCE.1, stream.read(&mut glance)).await;
    let read = read.ok().and_then(Result::ok).unwrap_or(0);
    let asked = String::from_utf8_lossy(&glance[..read]);
    let path = asked.split(' ').nth(1).unwrap_or_default();
    let path = hall::parted(path).map_or(path, |(_, rest)| rest);
    let text = refusal.raw(refusals::is_for_programs(path));
    let told = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await?;
        for _ in 0..16 {
            if stream.read(&mut glance).await? == 0 {
                break;
            }
        }
        Ok::<_, std::io::Error>(())
    };
    let _gone = tokio::time::timeout(GLANCE.1, told).await;
}

/// The handle of the pages of an event, for tests.
#[cfg(test)]
pub(crate) fn site_of(database: &std::path::Path, event: &str) -> Site {
    let (config, places) = (HttpConfig::default(), vec![]);
    let (database, event) = (database.to_owned(), event.to_owned());
    let (base, crowd) = (String::new(), Crowd::default());
    site(Setup { config, database, event, base, crowd, places, office: None, secure: None, boards: None })
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
