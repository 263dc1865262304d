//! The manager's side: a server of the event's own, or somebody else's.

use crate::{
    EventId, ForeignServer, HubError, HubNotice, Member, MemberNames, Signer, Subjects, Token, WorkerId,
    connect::{Call, User},
    depot::Depot,
    directory::Directory,
    door::{self, Door, Order, SharedMembers},
    keys::Keys,
    members::Members,
    server::{Server, Setup},
    subjects::MANAGER_INBOX,
    token::{Entrance, ServerAddress},
};
use async_nats::Client;
use parking_lot::Mutex;
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::{mpsc, oneshot};

/// What the server of an event may keep on the disk: files and results.
const STORE_BYTES: u64 = 64 << 30;
/// What files may take of it.
const FILE_BYTES: i64 = 32 << 30;
/// Notices that may wait to be read.
const NOTICES: usize = 64;

/// How an event's own server is started.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Directory of the hub: [`Hub::beside`] the database.
    pub directory: PathBuf,
    /// Where it listens. Port 0: one that is free.
    pub listen: SocketAddr,
    /// The event.
    pub event: EventId,
    /// Host in the line to join with, where workers know this machine by another name than its own address.
    pub host: Option<String>,
    /// The program, unless it is to be searched on the path.
    pub program: Option<PathBuf>,
}

/// How somebody else's server is used.
#[derive(Clone, Debug)]
pub struct ForeignOptions {
    /// Directory of the hub: [`Hub::beside`] the database. The key that signs jobs lies there.
    pub directory: PathBuf,
    /// The server.
    pub server: ForeignServer,
    /// A file with credentials, `.creds`.
    pub credentials: Option<PathBuf>,
    /// The event.
    pub event: EventId,
}

/// The hub of an event, as its manager has it. Dropping it ends a server of its own.
pub struct Hub {
    client: Client,
    token: Token,
    signer: Arc<Signer>,
    subjects: Subjects,
    depot: Depot,
    members: SharedMembers,
    notices: mpsc::Receiver<HubNotice>,
    kind: Kind,
}

enum Kind {
    Own { orders: mpsc::Sender<Order>, process: Option<i32>, version: String },
    // The lock of the directory is held as long as the hub.
    Foreign { _directory: Directory },
}

impl Hub {
    /// The directory of the hub of a database: `FILE-hub`.
    #[must_use]
    pub fn beside(database: &Path) -> PathBuf {
        let mut name = database.as_os_str().to_owned();
        name.push("-hub");
        name.into()
    }

    /// Starts a server and connects to it.
    ///
    /// # Errors
    /// When there is no nats-server, its port is taken, its directory cannot be used, or it does not start.
    pub async fn start(options: ServerOptions) -> Result<Self, HubError> {
        let directory = Directory::take(&options.directory)?;
        let keys = Keys::of(&directory)?;
        let members = Arc::new(Mutex::new(Members::of(&directory)?));
        let signer = Arc::new(Signer::from_seed(keys.jobs()));
        let (notices_in, notices) = mpsc::channel(NOTICES);
        let (restarts_in, restarts) = mpsc::channel(1);
        let mut door = Door {
            directory,
            keys,
            event: options.event,
            listen: options.listen,
            here: ServerAddress::pinned(SocketAddr::new(reachable(options.listen.ip()), 0)),
            store_bytes: STORE_BYTES,
            members: members.clone(),
            notices: notices_in,
            restarts: restarts_in,
            signer: signer.clone(),
        };
        door.configure()?;
        let root = door.directory.root().to_path_buf();
        let setup = Setup { program: options.program, directory: root, listen: options.listen };
        let server = Server::start(&door.directory, setup).await?;
        // When it is started again, workers look for it at the same port.
        door.listen.set_port(server.port);
        door.configure()?;
        let entrance = Entrance { secret: door.keys.join_secret(), certificate: door.keys.certificate };
        let host = options.host.unwrap_or_else(|| own_address(options.listen.ip()).to_string());
        let token = Token::own((&host, server.port), options.event, signer.key(), entrance)?;
        door.here = ServerAddress::pinned(SocketAddr::new(reachable(options.listen.ip()), server.port));
        let call = || Call {
            server: &door.here,
            user: User::Key(door.keys.manager()),
            certificate: Some(door.keys.certificate),
            inbox: MANAGER_INBOX,
            name: "manager",
        };
        let (client, _) = call().connect().await?;
        // Apart, so that whoever floods the door holds up nothing else.
        let (doorway, _) = call().connect().await?;
        let requests = door::subscribe(&doorway).await?;
        let subjects = Subjects::of(options.event);
        let depot = Depot::new(client.clone(), subjects, Some(FILE_BYTES), restarts).await?;
        let (orders, orders_out) = mpsc::channel(16);
        let (process, version) = (server.process(), server.version.clone());
        tokio::spawn(door.run(server, doorway, requests, orders_out));
        let kind = Kind::Own { orders, process, version };
        Ok(Self { client, token, signer, subjects, depot, members, notices, kind })
    }

    /// Connects to somebody else's server. Whoever has its credentials is trusted as far as its permissions go: only jobs
    /// are proved to come from this manager.
    ///
    /// # Errors
    /// When it cannot be reached, refuses the credentials, or keeps no streams for them.
    pub async fn connect(options: ForeignOptions) -> Result<Self, HubError> {
        let directory = Directory::take(&options.directory)?;
        let keys = Keys::of(&directory)?;
        let signer = Arc::new(Signer::from_seed(keys.jobs()));
        let ForeignServer { address, password } = options.server;
        let user = user_of(password, options.credentials);
        let call =
            Call { server: &address, user, certificate: None, inbox: "_INBOX", name: "renmei manager" };
        let (client, _) = call.connect().await?;
        let subjects = Subjects::of(options.event);
        let (_never, restarts) = mpsc::channel(1);
        // Somebody else's server has limits of its own; space that is reserved there may be more than it has.
        let depot =
            Depot::new(client.clone(), subjects, None, restarts).await.map_err(|error| match error {
                HubError::NoJetStream { cause, .. } => {
                    HubError::NoJetStream { address: address.to_string(), cause }
                }
                other => other,
            })?;
        let token = Token::foreign(address, options.event, signer.key());
        let (_nothing_is_told, notices) = mpsc::channel(1);
        let members = SharedMembers::default();
        let kind = Kind::Foreign { _directory: directory };
        Ok(Self { client, token, signer, subjects, depot, members, notices, kind })
    }

    /// The manager's connection. It is made again by itself.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What a worker joins with.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// What signs jobs.
    #[must_use]
    pub fn signer(&self) -> &Arc<Signer> {
        &self.signer
    }

    /// The event's subjects.
    #[must_use]
    pub fn subjects(&self) -> Subjects {
        self.subjects
    }

    /// Where files go that workers need.
    #[must_use]
    pub fn depot(&self) -> &Depot {
        &self.depot
    }

    /// Workers that were let in, also at an earlier start; none on somebody else's server.
    #[must_use]
    pub fn members(&self) -> Vec<Member> {
        self.members.lock().list().to_vec()
    }

    /// The names of workers by their keys; `None` on somebody else's server, where whoever has its credentials may use any
    /// name.
    #[must_use]
    pub fn member_names(&self) -> Option<MemberNames> {
        matches!(self.kind, Kind::Own { .. }).then(|| MemberNames(self.members.clone()))
    }

    /// Process of a server of its own at its first start, and its version.
    #[must_use]
    pub fn server(&self) -> Option<(i32, &str)> {
        match &self.kind {
            Kind::Own { process, version, .. } => process.map(|process| (process, version.as_str())),
            Kind::Foreign { .. } => None,
        }
    }

    /// The next thing to tell the operator; never anything on somebody else's server. Nothing is lost when this future is
    /// dropped.
    pub async fn next_notice(&mut self) -> HubNotice {
        match self.notices.recv().await {
            Some(notice) => notice,
            None => std::future::pending().await,
        }
    }

    /// Sends a worker away: its connection is broken, and its key opens the door no more, until it is readmitted. Nobody can
    /// be sent away from somebody else's server.
    ///
    /// # Errors
    /// When there is no such worker, or the server does not take it over.
    pub async fn expel(&self, worker: &WorkerId) -> Result<Member, HubError> {
        self.set_expelled(worker, true).await
    }

    /// Lets a worker come back that was sent away: its key opens the door again.
    ///
    /// # Errors
    /// When there is no such worker, or the server does not take it over.
    pub async fn readmit(&self, worker: &WorkerId) -> Result<Member, HubError> {
        self.set_expelled(worker, false).await
    }

    async fn set_expelled(&self, worker: &WorkerId, expelled: bool) -> Result<Member, HubError> {
        let Kind::Own { orders, .. } = &self.kind else { return Err(HubError::NoWorker(worker.clone())) };
        let (done, answer) = oneshot::channel();
        let gone = || HubError::Reload("the hub is closed".to_owned());
        orders.send(Order::SetExpelled(worker.clone(), expelled, done)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Ends a server of its own, after what was written to it has left.
    pub async fn close(self) {
        let _gone = self.client.flush().await;
        if let Kind::Own { orders, .. } = &self.kind {
            let (done, closed) = oneshot::channel();
            let _gone = orders.send(Order::Close(done)).await;
            let _gone = closed.await;
        }
    }
}

/// Who connects to somebody else's server.
pub(crate) fn user_of(password: Option<crate::connect::Password>, file: Option<PathBuf>) -> User {
    match (file, password) {
        (Some(file), _) => User::File(file),
        (None, Some(password)) => User::Password(password),
        (None, None) => User::Anybody,
    }
}

/// The address at which this machine reaches its own server.
fn reachable(listen: IpAddr) -> IpAddr {
    match listen {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    }
}

/// The address at which others reach it, as far as this machine knows: that of its way out. Nothing is sent.
fn own_address(listen: IpAddr) -> IpAddr {
    if !listen.is_unspecified() {
        return listen;
    }
    let way_out = |from: SocketAddr, to: SocketAddr| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        socket.local_addr().ok().map(|address| address.ip()).filter(|address| !address.is_unspecified())
    };
    // Addresses for documentation: they belong to nobody.
    let v4 = || way_out((Ipv4Addr::UNSPECIFIED, 0).into(), (Ipv4Addr::new(192, 0, 2, 1), 9).into());
    let v6 = || {
        let somewhere = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
        way_out((Ipv6Addr::UNSPECIFIED, 0).into(), (somewhere, 9).into())
    };
    v4().or_else(v6).unwrap_or_else(|| reachable(listen))
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hub({})", self.token)
    }
}
