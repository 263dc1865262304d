//! A TCP proxy that is as bad as a test wants it.

use std::{collections::VecDeque, io, net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinSet,
    time::Instant,
};

/// Bytes that are read at once, and pieces that are on their way in each direction: a slow line holds up its sender.
const PIECE: usize = 16 * 1024;
const ON_THE_WAY: usize = 256;

/// A line between two machines, on this one. Dropping it breaks all connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    line: watch::Sender<Line>,
    task: tokio::task::JoinHandle<()>,
}

/// How a line is.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// How long a byte takes each way.
    delay: Duration,
    /// True if nothing gets through, though no connection breaks.
    stalled: bool,
    /// How often all connections were broken.
    cuts: u64,
}

impl Proxy {
    /// A line to an address, at a free port of this machine.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn to(target: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (line, watched) = watch::channel(Line::default());
        let task = tokio::spawn(accept(listener, target, watched));
        Ok(Self { address, line, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every byte takes so long from now on, each way.
    pub fn delay(&self, delay: Duration) {
        self.line.send_modify(|line| line.delay = delay);
    }

    /// Nothing gets through, though no connection breaks.
    pub fn stall(&self) {
        self.line.send_modify(|line| line.stalled = true);
    }

    /// What was held up gets through.
    pub fn resume(&self) {
        self.line.send_modify(|line| line.stalled = false);
    }

    /// Breaks all connections; new ones may be made.
    pub fn cut(&self) {
        self.line.send_modify(|line| line.cuts += 1);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, target: SocketAddr, line: watch::Receiver<Line>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Ok((client, _)) = listener.accept() => {
                let line = line.clone();
                connections.spawn(async move {
                    // Whoever connects to nothing sees its connection end.
                    if let Ok(server) = TcpStream::connect(target).await {
                        join(client, server, line).await;
                    }
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn join(client: TcpStream, server: TcpStream, mut line: watch::Receiver<Line>) {
    let _slower_at_worst = (client.set_nodelay(true), server.set_nodelay(true));
    let cuts = line.borrow().cuts;
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let up = carry(from_client, to_server, line.clone());
    let down = carry(from_server, to_client, line.clone());
    tokio::select! {
        _ = line.wait_for(|line| line.cuts != cuts) => {}
        _ended = async { tokio::join!(up, down) } => {}
    }
}

/// Carries bytes one way until they end.
async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut line: watch::Receiver<Line>,
) -> io::Result<()> {
    let mut on_the_way: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    let mut ended = false;
    let mut buffer = vec![0; PIECE];
    loop {
        let now = *line.borrow_and_update();
        let arrival = on_the_way.front().map(|(sent, _)| *sent + now.delay);
        let may_arrive = arrival.is_some() && !now.stalled;
        if ended && on_the_way.is_empty() {
            return to.shutdown().await;
        }
        tokio::select! {
            () = tokio::time::sleep_until(arrival.unwrap_or_else(Instant::now)), if may_arrive => {
                if let Some((_, bytes)) = on_the_way.pop_front() {
                    to.write_all(&bytes).await?;
                }
            }
            read = from.read(&mut buffer), if !ended && on_the_way.len() < ON_THE_WAY => match read? {
                0 => ended = true,
                read => on_the_way.push_back((Instant::now(), buffer[..read].to_vec())),
            },
            _changed = line.changed() => {}
        }
    }
}
