//! The manager's side: the server of the event.

use crate::hub::{
    HubError, Member, Subjects, Token, WorkerId,
    connect::Call,
    directory::Directory,
    door::{self, Door, Order, SharedMembers},
    keys::Keys,
    members::Members,
    server::{Server, Setup},
    subjects::MANAGER_INBOX,
    token::ServerAddress,
};
use async_nats::Client;
use parking_lot::Mutex;
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::{mpsc, oneshot};

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
    pub event: String,
    /// The program, unless it is to be searched on the path.
    pub program: Option<PathBuf>,
}

/// The hub of an event, as its manager has it. Dropping it ends a server of its own.
pub struct Hub {
    /// The manager's connection. It is made again by itself.
    pub client: Client,
    /// What a worker joins with.
    pub token: Token,
    /// The event's subjects.
    pub subjects: Subjects,
    /// Process of the server at its first start.
    pub process: Option<i32>,
    members: SharedMembers,
    notices: mpsc::Receiver<String>,
    orders: mpsc::Sender<Order>,
}

impl Hub {
    /// The directory of the hub of a database: `FILE-hub`.
    pub fn beside(database: &Path) -> PathBuf {
        platform::files::beside(database, "-hub")
    }

    /// Starts a server and connects to it.
    ///
    /// # Errors
    /// When there is no nats-server, its port is taken, its directory cannot be used, or it does not start.
    pub async fn start(options: ServerOptions) -> Result<Self, HubError> {
        let directory = Directory::take(&options.directory)?;
        let keys = Keys::of(&directory)?;
        let members = Arc::new(Mutex::new(Members::of(&directory)?));
        let (notices_in, notices) = mpsc::channel(NOTICES);
        let mut door = Door {
            directory,
            keys,
            event: options.event.clone(),
            listen: options.listen,
            here: ServerAddress::of(SocketAddr::new(reachable(options.listen.ip()), 0)),
            members: members.clone(),
            notices: notices_in,
        };
        door.configure()?;
        let root = door.directory.root().to_path_buf();
        let setup = Setup { program: options.program, directory: root, listen: options.listen };
        let server = Server::start(&door.directory, setup, door.notices.clone()).await?;
        // When it is started again, workers look for it at the same port.
        door.listen.set_port(server.port);
        door.configure()?;
        let host = own_address(options.listen.ip()).to_string();
        let token = Token::new((&host, server.port), door.keys.join_secret(), door.keys.certificate)?;
        door.here = ServerAddress::of(SocketAddr::new(reachable(options.listen.ip()), server.port));
        let call = || Call {
            server: &door.here,
            user: door.keys.manager(),
            certificate: door.keys.certificate,
            inbox: MANAGER_INBOX,
            name: "manager",
        };
        let (client, _) = call().connect().await?;
        // Apart, so that a flood of requests to join holds up nothing else.
        let (doorway, _) = call().connect().await?;
        let requests = door::subscribe(&doorway).await?;
        let subjects = Subjects::of(&options.event);
        let (orders, orders_out) = mpsc::channel(16);
        let process = server.process();
        tokio::spawn(door.run(server, doorway, requests, orders_out));
        Ok(Self { client, token, subjects, members, notices, orders, process })
    }

    /// Workers that were let in, also at an earlier start.
    pub fn members(&self) -> Vec<Member> {
        self.members.lock().list().to_vec()
    }

    /// The name of a worker that was let in, as it is now, whatever the worker calls itself; `None` for any other.
    pub fn name_of(&self, worker: &WorkerId) -> Option<String> {
        let members = self.members.lock();
        members.list().iter().find(|member| member.id == *worker).map(|member| member.name.clone())
    }

    /// The next line for the operator. Nothing is lost when this future is dropped.
    pub async fn next_notice(&mut self) -> String {
        match self.notices.recv().await {
            Some(notice) => notice,
            None => std::future::pending().await,
        }
    }

    /// Sends a worker away: its connection is broken, and its key opens the door no more, until it is readmitted.
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
        let (done, answer) = oneshot::channel();
        let gone = || HubError::Reload("the hub is closed".to_owned());
        self.orders.send(Order::SetExpelled(worker.clone(), expelled, done)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Ends the server, after what was written to it has left.
    pub async fn close(self) {
        let _gone = self.client.flush().await;
        let (done, closed) = oneshot::channel();
        let _gone = self.orders.send(Order::Close(done)).await;
        let _gone = closed.await;
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
