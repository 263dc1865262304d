//! A client that knows when its lines arrived, however late it reads them.

use anyhow::{Context, Result, ensure};
use platform::network::{self, stamp_arrivals};
use socket2::{Domain, Socket, Type};
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Password of every login.
const PASSWORD: &str = "secret";
/// Longer than anything takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time since 1970.
pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Connects from a loopback address.
pub fn connect(from: [u8; 4], to: SocketAddr) -> Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    socket.connect(&to.into())?;
    Ok(socket.into())
}

/// The number of bytes that have arrived, and when the kernel had them if it stamps what arrives.
pub fn receive(stream: &TcpStream, chunk: &mut [u8]) -> io::Result<(usize, Duration)> {
    let (bytes, waited) = network::receive(stream, chunk)?;
    Ok((bytes, now().saturating_sub(waited.unwrap_or_default())))
}

/// Reads all that has arrived; false at the end of the connection.
pub fn drain(socket: &mut TcpStream) -> bool {
    let mut chunk = [0; 65536];
    // Bounded, so that a peer cannot keep this thread by sending.
    for _ in 0..16 {
        match socket.read(&mut chunk) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
    true
}

/// A connection and the lines that have arrived on it.
pub struct Client {
    stream: TcpStream,
    half: Vec<u8>,
    lines: VecDeque<(String, Duration)>,
}

impl Client {
    /// Logs in in the extended mode.
    pub fn login(from: [u8; 4], to: SocketAddr, name: &str) -> Result<Self> {
        let stream = connect(from, to)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stamp_arrivals(&stream)?;
        let mut client = Self { stream, half: vec![], lines: VecDeque::new() };
        client.say(&format!("LOGIN {name} {} x1", PASSWORD))?;
        let (first, _) = client.line()?;
        ensure!(first == format!("LOGIN:{name} OK"), "the login was answered by `{first}`");
        Ok(client)
    }

    /// Waits for the offer of a game and does not answer it.
    ///
    /// # Errors
    /// As [`Client::line`], or when the host refuses the game.
    fn offered(&mut self) -> Result<()> {
        loop {
            let (line, _) = self.line()?;
            ensure!(!line.starts_with("##[ERROR]"), "no game is offered: {line}");
            if line == "END Game_Summary" {
                return Ok(());
            }
        }
    }

    /// Sends a line.
    pub fn say(&mut self, line: &str) -> Result<()> {
        Ok(self.stream.write_all(format!("{line}\n").as_bytes())?)
    }

    /// The next line and when it arrived.
    pub fn line(&mut self) -> Result<(String, Duration)> {
        while self.lines.is_empty() {
            self.read()?;
        }
        self.lines.pop_front().context("a line has arrived")
    }

    /// The next line that is no answer and no chat.
    pub fn game_line(&mut self) -> Result<(String, Duration)> {
        loop {
            let (line, at) = self.line()?;
            if !line.starts_with("##") {
                return Ok((line, at));
            }
        }
    }

    /// The next line that begins so.
    pub fn until(&mut self, start: &str) -> Result<(String, Duration)> {
        loop {
            let (line, at) = self.line()?;
            if line.starts_with(start) {
                return Ok((line, at));
            }
        }
    }

    fn read(&mut self) -> Result<()> {
        let mut chunk = [0; 4096];
        let (bytes, at) = receive(&self.stream, &mut chunk)?;
        ensure!(bytes > 0, "the host closed the connection");
        self.half.extend_from_slice(&chunk[..bytes]);
        while let Some(end) = self.half.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.half.drain(..=end).collect();
            self.lines.push_back((String::from_utf8_lossy(&line).trim_end().to_owned(), at));
        }
        Ok(())
    }
}

/// Two players ask for a game of `name` and agree to it; returns the arrival of black's `START`.
pub fn start(players: &mut [Client; 2], name: &str) -> Result<Duration> {
    for (player, color) in players.iter_mut().zip(["+", "-"]) {
        player.say(&format!("%%GAME {name} {color}"))?;
    }
    for player in &mut *players {
        player.offered()?;
        player.say("AGREE")?;
    }
    let [black, white] = players.each_mut().map(|player| player.until("START:"));
    white?;
    Ok(black?.1)
}

/// The side to move resigns.
pub fn resign(players: &mut [Client; 2], mover: usize) -> Result<()> {
    players[mover].say("%TORYO")?;
    players[mover].until("#LOSE")?;
    players[1 - mover].until("#WIN").map(drop)
}
