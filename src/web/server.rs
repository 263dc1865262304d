//! The HTTP side: addresses, connections with their limits and timeouts, and the threads.

use crate::{
    Site, WebError, desk,
    feed::{self, Bell},
    forwarded, layout,
    limits::{Limits, Peer, Refusal},
    pages,
    relay::Relay,
    site::Shared,
};
use arena::boards::LiveBoards;
use axum::{
    Router,
    body::Body,
    extract::{DefaultBodyLimit, Request},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use journal::Reader;
use plan::{HttpConfig, http::Delay};
use rustls::ServerConfig;
use std::{
    net::{SocketAddr, TcpListener as StdListener},
    path::PathBuf,
    sync::{
        Arc, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_rustls::TlsAcceptor;

/// Longest wait for the head of a request, and for the next request of a connection.
const HEAD: Duration = Duration::from_secs(15);
/// Longest time of an answer until its first byte.
const ANSWER: Duration = Duration::from_secs(20);
/// Time after which a connection ends that takes nothing of what was sent.
const DEAF: Duration = Duration::from_secs(30);
/// Longest head of a request, in bytes.
const HEAD_SIZE: usize = 16 * 1024;
/// Largest body of a request, in bytes.
const BODY_SIZE: usize = 16 * 1024;

/// What is shown, and to whom.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Addresses, limits, delay.
    pub config: HttpConfig,
    /// The database.
    pub database: PathBuf,
    /// Name of the event in it. It may be created later.
    pub event: String,
    /// Further entries of the navigation: path, words in English and in Japanese.
    pub places: Vec<(&'static str, &'static str, &'static str)>,
    /// Where the pages speak TLS.
    pub secure: Option<Secure>,
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
type Port = (StdListener, Option<Certificate>);

/// The pages of an event. Dropping it ends them.
#[derive(Debug)]
pub struct Server {
    site: Site,
    addresses: Vec<SocketAddr>,
    secure: Vec<SocketAddr>,
    bell: Arc<Bell>,
    over: Arc<AtomicBool>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Listens and serves. `further` are pages of other rooms.
    ///
    /// # Errors
    /// When an address is taken, or a thread cannot be started.
    pub fn open(setup: Setup, further: impl FnOnce(&Site) -> Router<Site>) -> Result<Self, WebError> {
        let plain = setup.config.listen.iter().map(|address| Ok((bind(*address)?, None)));
        let secure = setup.secure.iter().flat_map(|secure| {
            secure.listen.iter().map(|address| Ok((bind(*address)?, Some(secure.in_use.clone()))))
        });
        let listeners = plain.chain(secure).collect::<Result<Vec<Port>, WebError>>()?;
        let of = |is_secure: bool| {
            let those = listeners.iter().filter(move |(_, tls)| tls.is_some() == is_secure);
            those.filter_map(|(listener, _)| listener.local_addr().ok()).collect()
        };
        let (addresses, secure) = (of(false), of(true));
        rsshogi::board::init();
        let (questions, asked) = desk::queue();
        let site = Site(Arc::new(Shared {
            live: RwLock::default(),
            has_machines: AtomicBool::new(false),
            relay: Relay::new(journal::now().unsigned_abs()),
            questions,
            now: Default::default(),
            boards: setup.boards.filter(|_| setup.config.delay == Delay::None),
            database: setup.database,
            event: setup.event,
            places: pages::PLACES.into_iter().chain(setup.places).collect(),
            config: setup.config,
        }));
        site.0.boards.iter().for_each(|boards| boards.watch());
        let limits = Limits::new(
            site.config().viewers,
            site.config().viewers_per_address,
            site.config().trusted_proxies.clone(),
        );
        let router = pages::routes()
            .merge(further(&site))
            .layer(DefaultBodyLimit::max(BODY_SIZE))
            .layer(axum::middleware::map_response(layout::with_headers))
            .with_state(site.clone());
        let (stop, stopped) = watch::channel(false);
        let http = thread::Builder::new().name("web".to_owned()).spawn(move || {
            yield_to_games();
            serve(listeners, &router, &limits, stopped);
        })?;
        let (bell, over) = (Arc::new(Bell::default()), Arc::new(AtomicBool::new(false)));
        let desk = desk::open(site.clone(), asked, over.clone())?;
        let (shown, rung) = (site.clone(), bell.clone());
        let feed = thread::Builder::new().name("web-feed".to_owned()).spawn(move || {
            yield_to_games();
            feed::follow(&shown, &rung);
        })?;
        Ok(Self { site, addresses, secure, bell, over, stop, threads: vec![feed, desk, http] })
    }

    /// Addresses that the pages are on.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Addresses that the pages are on by TLS.
    #[must_use]
    pub fn secure_addresses(&self) -> &[SocketAddr] {
        &self.secure
    }

    /// The handle of the pages.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// A reader of the event's journal, which never waits.
    #[must_use]
    pub fn reader(&self) -> Reader {
        let (bell, site) = (self.bell.clone(), self.site.clone());
        let watched = move || site.0.relay.viewers() > 0;
        Reader::new("web", move |_| bell.ring()).while_hasty(watched)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.bell.stop();
        self.over.store(true, Ordering::Release);
        // The last frame is made before the connections end.
        if !self.threads.is_empty() {
            let _panic_printed = self.threads.remove(0).join();
        }
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            let _panic_printed = thread.join();
        }
    }
}

/// Lowers the priority of this thread: games come first. Only Linux has a niceness for each thread.
pub fn yield_to_games() {
    #[cfg(target_os = "linux")]
    let _refused = rustix::process::setpriority_process(None, 10);
}

fn bind(address: SocketAddr) -> Result<StdListener, WebError> {
    let bound = StdListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|source| WebError::Listen { address, source })
}

fn serve(listeners: Vec<Port>, router: &Router, limits: &Arc<Limits>, mut stopped: watch::Receiver<bool>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!("no pages: {error}"),
    };
    runtime.block_on(async {
        for (listener, tls) in listeners {
            match TcpListener::from_std(listener) {
                Ok(listener) => _ = tokio::spawn(accept(listener, tls, router.clone(), limits.clone())),
                Err(error) => tracing::error!("no pages: {error}"),
            }
        }
        let _gone = stopped.wait_for(|stopped| *stopped).await;
        // What was sent last is written.
        tokio::time::sleep(Duration::from_millis(100)).await;
    });
    runtime.shutdown_timeout(Duration::from_millis(200));
}

async fn accept(listener: TcpListener, tls: Option<Certificate>, router: Router, limits: Arc<Limits>) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                let peer = Peer { address: address.ip(), is_secure: tls.is_some() };
                // The certificate as it is now: its files may have changed.
                let tls = tls.as_ref().map(|in_use| in_use());
                tokio::spawn(connection(stream, tls, peer, router.clone(), limits.clone()));
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
    peer: Peer,
    router: Router,
    limits: Arc<Limits>,
) {
    let _place = match limits.enter(peer) {
        Ok(place) => place,
        // Words would be none over TLS before a handshake, which costs more than hanging up.
        Err(_) if peer.is_secure => return,
        Err(refusal) => return refuse(stream, refusal).await,
    };
    let _slower = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    let _kept = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(DEAF));
    let Some(tls) = tls else { return speak(stream, peer, router, limits).await };
    match tokio::time::timeout(HEAD, TlsAcceptor::from(tls).accept(stream)).await {
        Ok(Ok(stream)) => speak(stream, peer, router, limits).await,
        Ok(Err(error)) => tracing::debug!("no TLS with {}: {error}", peer.address),
        Err(_) => tracing::debug!("no TLS with {}: the handshake took too long", peer.address),
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    router: Router,
    limits: Arc<Limits>,
) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        answer(request.map(Body::new), peer, router.clone(), limits.clone())
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.await {
        tracing::debug!("a connection of {} ended: {error}", peer.address);
    }
}

async fn answer(
    mut request: Request,
    peer: Peer,
    router: Router,
    limits: Arc<Limits>,
) -> Result<Response, std::convert::Infallible> {
    use hyper::service::Service as _;
    let peer = forwarded::client(peer, request.headers(), &limits.proxies);
    // Files are kept by browsers and cost nothing.
    if !request.uri().path().starts_with("/static/") && !limits.may_ask(peer, 1.0) {
        let words = "too many requests from your address; wait a few seconds\n";
        return Ok((StatusCode::TOO_MANY_REQUESTS, [("retry-after", "5")], words).into_response());
    }
    request.extensions_mut().insert(peer);
    let answered = tokio::time::timeout(ANSWER, TowerToHyperService::new(router).call(request)).await;
    Ok(answered.map_or_else(
        |_| (StatusCode::REQUEST_TIMEOUT, "the request took too long\n").into_response(),
        |Ok(response)| response,
    ))
}

/// Tells in a sentence why there is no place, and hangs up.
async fn refuse(mut stream: TcpStream, refusal: Refusal) {
    let words = match refusal {
        Refusal::Full => "all places for viewers are taken; try again later\n",
        Refusal::Address => "too many connections from your address; close other pages of this site\n",
    };
    let length = words.len();
    let text = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 30\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{words}"
    );
    // What the other end has sent is read, or hanging up would overtake the sentence.
    let told = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await?;
        let mut rest = [0; 1024];
        for _ in 0..16 {
            if stream.read(&mut rest).await? == 0 {
                break;
            }
        }
        Ok::<_, std::io::Error>(())
    };
    let _gone = tokio::time::timeout(Duration::from_secs(1), told).await;
}
