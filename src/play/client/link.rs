//! The connection to a server: bytes to lines with the instants at which they were read, keep-alive, and the detection
//! of dead connections.
//!
//! After an interval of silence on both sides the client sends a blank line. A server that has ever answered one and
//! leaves two unanswered is gone, though the connection stands: so a half-open connection is detected within three
//! intervals. For servers that answer none, the keep-alive of the operating system has to do.

use super::tls;
use plan::client::Trust;
use platform::network;
use referee::sink::Direction;
use seat::lines::Lines;
use seat::transcript::Transcript;
use std::{collections::VecDeque, io, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep_until, timeout},
};
use tokio_rustls::client::TlsStream;

/// Longest time that the server may not read.
const UNREAD: Duration = Duration::from_secs(20);
/// Time for the server to confirm our logout.
const FAREWELL: Duration = Duration::from_secs(2);
/// Longest time that sent data may stay unacknowledged.
const UNACKNOWLEDGED: Duration = Duration::from_secs(90);

/// The connection to the server failed.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The connection could not be made.
    #[error("no connection to {0}: {1}")]
    Connect(String, io::Error),
    /// The connection could not be made in time.
    #[error("no connection to {0} within {1:?}")]
    Slow(String, Duration),
    /// The server does not speak TLS, or not as it should.
    #[error("no TLS with {0}: {1}")]
    Tls(String, #[source] super::tls::TlsError),
    /// The server has closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    /// The server does not read.
    #[error("the server has not read for {UNREAD:?}")]
    Unread,
    /// Keep-alives stay unanswered.
    #[error("the server has been silent for {0:?}, and left {1} keep-alives unanswered")]
    Silent(Duration, u32),
}

/// The bytes of a connection.
enum Stream {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Cancel-safe.
    async fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(into).await,
            Self::Encrypted(stream) => stream.read(into).await,
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Encrypted(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }
}

/// A connection to a server.
pub struct Link {
    stream: Stream,
    lines: Lines,
    /// Lines of the last read that were not taken yet; nothing is read before they are.
    queue: VecDeque<(Vec<u8>, Instant)>,
    keep_alive: Duration,
    /// Time of the last line received, and of the last one sent.
    heard: Instant,
    said: Instant,
    /// Keep-alives since the last line received.
    unanswered: u32,
    /// True if the server answers keep-alives.
    answers: bool,
    /// True if keep-alives are sent.
    pings: bool,
    /// The transcript of the running game.
    transcript: Option<Transcript>,
}

impl Link {
    /// Connects. Lines go out without delay, and the operating system watches the connection.
    ///
    /// # Errors
    /// When there is no connection within `patience`.
    pub async fn connect(
        host: &str,
        port: u16,
        trust: Option<&Trust>,
        keep_alive: Duration,
        patience: Duration,
    ) -> Result<Self, LinkError> {
        let name = || format!("{host}:{port}");
        let connected = timeout(patience, TcpStream::connect((host, port))).await;
        let stream = match connected {
            Err(_) => return Err(LinkError::Slow(name(), patience)),
            Ok(stream) => stream.map_err(|e| LinkError::Connect(name(), e))?,
        };
        prepare(&stream, keep_alive).map_err(|e| LinkError::Connect(name(), e))?;
        let stream = match trust {
            None => Stream::Plain(stream),
            Some(trust) => match timeout(patience, tls::shake_hands(stream, host, trust)).await {
                Err(_) => return Err(LinkError::Slow(name(), patience)),
                Ok(shaken) => Stream::Encrypted(shaken.map_err(|e| LinkError::Tls(name(), e))?),
            },
        };
        let now = Instant::now();
        Ok(Self {
            stream,
            lines: Lines::default(),
            queue: VecDeque::new(),
            keep_alive,
            heard: now,
            said: now,
            unanswered: 0,
            answers: false,
            pings: false,
            transcript: None,
        })
    }

    /// Sends keep-alives from now on. Before the login a blank line would be a wrong password.
    pub fn keep_alive(&mut self) {
        self.pings = true;
    }

    /// Keeps every line in a transcript, until [`forget`](Self::forget).
    pub fn keep(&mut self, transcript: Transcript) {
        self.transcript = Some(transcript);
    }

    /// Goes on with another connection under the same transcript, beginning with the lines of the offer.
    pub fn replace(&mut self, by: Self, offer: &[(Instant, Vec<u8>)]) {
        let mut transcript = self.transcript.take();
        for (at, line) in offer {
            transcript.iter_mut().for_each(|transcript| transcript.line(*at, Direction::Received, line));
        }
        *self = Self { transcript, ..by };
    }

    /// Closes the transcript.
    pub fn forget(&mut self) {
        self.transcript = None;
    }

    /// Sends whole lines.
    ///
    /// # Errors
    /// When the connection has failed.
    pub async fn say(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.said = Instant::now();
        if let Some(transcript) = &mut self.transcript {
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines.for_each(|line| transcript.line(self.said, Direction::Sent, line));
        }
        match timeout(UNREAD, self.stream.send(bytes)).await {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(LinkError::Unread),
        }
    }

    /// Logs out after the last game, and waits a moment for the server to let us go.
    pub async fn log_out(&mut self) {
        let parting = async {
            self.say(b"LOGOUT\n").await?;
            while self.line().await?.0 != b"LOGOUT:completed" {}
            Ok::<(), LinkError>(())
        };
        // The server may have closed the connection already.
        let _left = timeout(FAREWELL, parting).await;
    }

    /// The next line that is not blank, and the time when it was read. Cancel-safe.
    ///
    /// # Errors
    /// When the connection has failed.
    pub async fn line(&mut self) -> Result<(Vec<u8>, Instant), LinkError> {
        loop {
            if let Some((line, at)) = self.queue.pop_front() {
                self.transcript
                    .iter_mut()
                    .for_each(|transcript| transcript.line(at, Direction::Received, &line));
                return Ok((line, at));
            }
            let due = self.said.max(self.heard) + self.keep_alive;
            let read = tokio::select! { biased;
                read = self.stream.receive(&mut self.lines.chunk) => read?,
                () = sleep_until(due), if self.pings => {
                    self.ping().await?;
                    continue;
                }
            };
            self.take(read)?;
            self.lines.pause().await;
        }
    }

    fn take(&mut self, bytes: usize) -> Result<(), LinkError> {
        if bytes == 0 {
            return Err(LinkError::Closed);
        }
        let now = Instant::now();
        self.heard = now;
        let Self { lines, queue, answers, unanswered, .. } = self;
        lines.feed(bytes, |line| match line {
            [] => *answers |= *unanswered > 0,
            line => queue.push_back((line.to_vec(), now)),
        });
        self.unanswered = 0;
        Ok(())
    }

    async fn ping(&mut self) -> Result<(), LinkError> {
        if self.answers && self.unanswered >= 2 {
            return Err(LinkError::Silent(self.heard.elapsed(), self.unanswered));
        }
        self.unanswered += 1;
        self.say(b"\n").await
    }
}

/// Makes moves go out at once, and lets the system find out about a dead peer.
fn prepare(stream: &TcpStream, keep_alive: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match network::give_up_after(stream, UNACKNOWLEDGED) {
        // The probes find out, later.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        limited => limited?,
    }
    network::probe(stream, keep_alive.max(Duration::from_secs(1)))
}
