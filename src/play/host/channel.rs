//! The way of bytes between a client and its connection: plain, or by TLS over the same socket.
//!
//! TLS is spoken here, between the socket and the lines, and not below the socket: so the kernel's stamps of what arrives
//! are known for encrypted lines as well, and a connection takes its TLS with it from thread to thread.

use super::socket;
use platform::network::Route;
use rustls::ServerConnection;
use std::{
    future::pending,
    io::{self, Read, Write},
    time::Duration,
};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::Instant};

/// Most plain bytes that are encrypted before the client has taken what was encrypted before.
const RECORD: usize = 16 * 1024;
/// Most encrypted bytes in a row that carry no plain one: some whole records. More are a way to keep this thread busy.
const IDLE: usize = 64 * 1024;

/// What comes of waiting for a channel.
#[derive(Debug)]
pub enum Event {
    /// Bytes were read, and for how long they have waited in the kernel; 0 bytes: the end.
    Read(io::Result<(usize, Duration)>),
    /// More can be written.
    Writable,
}

/// A client's socket, with TLS if it is spoken.
#[derive(Debug)]
pub struct Channel {
    socket: TcpStream,
    tls: Option<Box<ServerConnection>>,
    /// When the bytes arrived that were decrypted last.
    arrived: Instant,
    /// Encrypted bytes since the last plain one.
    idle_bytes: usize,
    said_goodbye: bool,
}

/// A channel on its way to another thread: sockets belong to one.
#[derive(Debug)]
pub struct Carried {
    socket: std::net::TcpStream,
    tls: Option<Box<ServerConnection>>,
}

impl Carried {
    /// The channel, on the thread that this is called on.
    ///
    /// # Errors
    /// When the system cannot watch the socket.
    pub fn arrive(self) -> io::Result<Channel> {
        let Self { socket, tls } = self;
        Ok(Channel { tls, ..Channel::plain(TcpStream::from_std(socket)?) })
    }
}

impl Channel {
    /// A plain channel.
    pub fn plain(socket: TcpStream) -> Self {
        Self { socket, tls: None, arrived: Instant::now(), idle_bytes: 0, said_goodbye: false }
    }

    /// A channel whose client has to begin with a TLS handshake.
    pub fn encrypted(socket: TcpStream, tls: ServerConnection) -> Self {
        Self { tls: Some(Box::new(tls)), ..Self::plain(socket) }
    }

    /// Takes the channel off this thread.
    ///
    /// # Errors
    /// When the system does not let it go.
    pub fn depart(self) -> io::Result<Carried> {
        Ok(Carried { socket: self.socket.into_std()?, tls: self.tls })
    }

    /// Exchanges the handshake.
    ///
    /// # Errors
    /// When the client does not speak TLS, refuses the certificate, or leaves.
    pub async fn shake_hands(&mut self) -> io::Result<()> {
        loop {
            while self.owes() {
                match self.write_out() {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.socket.writable().await?,
                    written => written?,
                }
            }
            if self.tls.as_ref().is_none_or(|tls| !tls.is_handshaking()) {
                return Ok(());
            }
            self.socket.readable().await?;
            match self.decrypt() {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
        }
    }

    /// The way to the client, as far as the system knows it.
    pub fn way(&self) -> Option<Route> {
        platform::network::route(&self.socket)
    }

    /// Waits for what is wanted; for ever where nothing is. Cancel-safe.
    pub async fn event(&mut self, into: &mut [u8], listens: bool, writes: bool) -> Event {
        loop {
            if listens && let Some(read) = self.decrypted(into) {
                return Event::Read(read);
            }
            tokio::select! { biased;
                ready = self.socket.readable(), if listens => if let Err(error) = ready {
                    return Event::Read(Err(error));
                },
                _ready_or_broken = self.socket.writable(), if writes => return Event::Writable,
                () = pending(), if !listens && !writes => {}
            }
            match self.receive(into) {
                None => {}
                Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
                Some(read) => return Event::Read(read),
            }
        }
    }

    /// Bytes that are decrypted and not read yet.
    fn decrypted(&mut self, into: &mut [u8]) -> Option<io::Result<(usize, Duration)>> {
        match self.tls.as_mut()?.reader().read(into) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            read => {
                self.idle_bytes = 0;
                Some(read.map(|bytes| (bytes, self.arrived.elapsed())))
            }
        }
    }

    /// Receives what is there; `None` where there may be something to decrypt now.
    fn receive(&mut self, into: &mut [u8]) -> Option<io::Result<(usize, Duration)>> {
        if self.tls.is_none() {
            return Some(socket::try_read(&self.socket, into));
        }
        match self.decrypt() {
            Ok(0) => Some(Ok((0, Duration::ZERO))),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Takes encrypted bytes in; returns how many there were.
    fn decrypt(&mut self) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return Ok(0) };
        let mut from = Stamped { socket: &self.socket, waited: Duration::ZERO };
        let bytes = tls.read_tls(&mut from)?;
        let now = Instant::now();
        self.arrived = now.checked_sub(from.waited).unwrap_or(now);
        self.idle_bytes += bytes;
        if self.idle_bytes > IDLE {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "TLS without contents"));
        }
        if let Err(error) = tls.process_new_packets() {
            // The client is told what was wrong, if it still listens.
            let _gone = self.write_out();
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        Ok(bytes)
    }

    /// Writes what can be written now; returns how many bytes were taken. 0 bytes: something that was taken before went
    /// out.
    ///
    /// # Errors
    /// `WouldBlock` where nothing can be written; others where the connection has failed.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.tls.is_none() {
            return self.socket.try_write(bytes);
        }
        if self.owes() {
            return self.write_out().map(|()| 0);
        }
        let Some(tls) = &mut self.tls else { return Ok(0) };
        let taken = tls.writer().write(&bytes[..bytes.len().min(RECORD)])?;
        match self.write_out() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(taken),
        }
    }

    /// True if bytes that were taken are not written yet.
    pub fn owes(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Tells the client that nothing follows, so that it can tell this end from a cut.
    pub fn say_goodbye(&mut self) {
        if let Some(tls) = &mut self.tls
            && !self.said_goodbye
        {
            self.said_goodbye = true;
            tls.send_close_notify();
            // What cannot be written now is owed.
            let _later = self.write_out();
        }
    }

    /// Writes the bytes, and nothing more.
    pub async fn tell(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() || self.owes() {
            match self.try_write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.event(&mut [], false, true).await;
                }
                Err(_) => return,
            }
            if bytes.is_empty() {
                self.say_goodbye();
            }
        }
    }

    /// Writes the bytes and waits until the client has gone: the system takes back what a client has not read, if its lines
    /// come to a closed socket.
    pub async fn part(mut self, bytes: &[u8]) {
        self.tell(bytes).await;
        let (_gone, mut chunk) = (self.socket.shutdown().await, [0; 512]);
        while let Event::Read(Ok((1.., _))) = self.event(&mut chunk, true, false).await {}
    }

    /// Writes what is encrypted. An error `WouldBlock` says that none of it could be written.
    fn write_out(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let (mut to, mut progress) = (Unstamped(&self.socket), false);
        while tls.wants_write() {
            match tls.write_tls(&mut to) {
                Ok(_) => progress = true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && progress => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Reads from a socket and remembers for how long the bytes have waited.
struct Stamped<'a> {
    socket: &'a TcpStream,
    waited: Duration,
}

impl Read for Stamped<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (bytes, waited) = socket::try_read(self.socket, into)?;
        self.waited = waited;
        Ok(bytes)
    }
}

struct Unstamped<'a>(&'a TcpStream);

impl Write for Unstamped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
