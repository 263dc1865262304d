//! The line to a server: bytes to lines with the instant they were read at, keep-alive, and the end of a line that
//! is dead without saying so.
//!
//! A blank line goes out after so much silence on both sides. A server that has ever answered one and leaves two
//! unanswered is gone, though the connection stands: that is how a half-open link is found out within three
//! intervals. Of servers that answer none, the system's own keep-alive has to tell.

use referee::sink::Way;
use seat::lines::Lines;
use seat::transcript::Transcript;
use std::{
    collections::VecDeque,
    io,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep_until, timeout},
};

/// How long a server may leave unread what is sent to it.
const UNREAD: Duration = Duration::from_secs(20);
/// How long what is sent may stay unacknowledged by the other machine.
const UNACKNOWLEDGED: Duration = Duration::from_secs(90);

/// Why there is no line to the server any more.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// No connection.
    #[error("no connection to {0}: {1}")]
    Connect(String, io::Error),
    /// It took too long.
    #[error("no connection to {0} within {1:?}")]
    Slow(String, Duration),
    /// The server has closed it.
    #[error("the server closed the connection")]
    Closed,
    /// It broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    /// The server does not read.
    #[error("the server has not read for {UNREAD:?}")]
    Unread,
    /// Keep-alives stay unanswered.
    #[error("the server has been silent for {0:?}, and left {1} keep-alives unanswered")]
    Silent(Duration, u32),
}

/// A line to a server.
pub struct Link {
    stream: TcpStream,
    lines: Lines,
    /// Lines of the last read that nobody has asked for: nothing is read before they are taken.
    queue: VecDeque<(Vec<u8>, Instant)>,
    keep_alive: Duration,
    /// When something was last heard, and when last said.
    heard: Instant,
    said: Instant,
    /// Keep-alives since something was last heard.
    unanswered: u32,
    /// The server answers keep-alives.
    answers: bool,
    /// They make sense: the server knows who we are.
    pings: bool,
    /// Keeps what is said, while a game is on.
    transcript: Option<Transcript>,
}

impl Link {
    /// Connects; what was said is sent at once, and the system watches the connection.
    ///
    /// # Errors
    /// When there is no connection within `patience`.
    pub async fn connect(
        host: &str,
        port: u16,
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

    /// From now on silence is broken: before the login a blank line would be a wrong password.
    pub fn keep_alive(&mut self) {
        self.pings = true;
    }

    /// From now on every line is kept, until [`forget`](Self::forget).
    pub fn keep(&mut self, transcript: Transcript) {
        self.transcript = Some(transcript);
    }

    /// Nothing more is kept.
    pub fn forget(&mut self) {
        self.transcript = None;
    }

    /// Sends whole lines.
    ///
    /// # Errors
    /// When the line is dead.
    pub async fn say(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.said = Instant::now();
        if let Some(transcript) = &mut self.transcript {
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines.for_each(|line| transcript.line(self.said, Way::Sent, line));
        }
        match timeout(UNREAD, self.stream.write_all(bytes)).await {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(LinkError::Unread),
        }
    }

    /// The next line that is not blank, and when it was read. May be given up and asked again.
    ///
    /// # Errors
    /// When the line is dead.
    pub async fn line(&mut self) -> Result<(Vec<u8>, Instant), LinkError> {
        loop {
            if let Some((line, at)) = self.queue.pop_front() {
                self.transcript.iter_mut().for_each(|transcript| transcript.line(at, Way::Received, &line));
                return Ok((line, at));
            }
            let due = self.said.max(self.heard) + self.keep_alive;
            let read = tokio::select! { biased;
                read = self.stream.read(&mut self.lines.chunk) => read?,
                () = sleep_until(due.into()), if self.pings => {
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

/// A move waits for nothing; a peer that is gone without a word is found out.
fn prepare(stream: &TcpStream, keep_alive: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let probes = socket2::TcpKeepalive::new()
        .with_time(keep_alive.max(Duration::from_secs(1)))
        .with_interval(Duration::from_secs(10))
        .with_retries(6);
    let socket = socket2::SockRef::from(stream);
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    socket.set_tcp_keepalive(&probes)
}
