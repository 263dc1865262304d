//! A client that knows when its lines arrived, however late it reads them.

use anyhow::{Context, Result, ensure};
use nix::sys::{
    socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt::ReceiveTimestampns},
    time::TimeSpec,
};
use socket2::{Domain, Socket, Type};
use std::{
    collections::VecDeque,
    io::{IoSliceMut, Write},
    net::{SocketAddr, TcpStream},
    os::fd::AsRawFd,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

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

/// A connection and the lines that have arrived on it.
pub struct Client {
    stream: TcpStream,
    half: Vec<u8>,
    lines: VecDeque<(String, Duration)>,
}

impl Client {
    /// Logs in in the extended mode.
    ///
    /// # Errors
    /// When the login is refused.
    pub fn login(from: [u8; 4], to: SocketAddr, name: &str) -> Result<Self> {
        Self::enter(from, to, name, PATIENCE)
    }

    /// Logs in like that; nothing is waited for longer than `patience`.
    ///
    /// # Errors
    /// As [`Client::login`].
    pub fn enter(from: [u8; 4], to: SocketAddr, name: &str, patience: Duration) -> Result<Self> {
        let stream = connect(from, to)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        setsockopt(&stream, ReceiveTimestampns, &true)?;
        let mut client = Self { stream, half: vec![], lines: VecDeque::new() };
        client.say(&format!("LOGIN {name} {} x1", super::PASSWORD))?;
        let (first, _) = client.line()?;
        ensure!(first == format!("LOGIN:{name} OK"), "the login was answered by `{first}`");
        Ok(client)
    }

    /// Waits for the offer of a game and does not answer it; returns its Game_ID.
    ///
    /// # Errors
    /// As [`Client::line`], and with what the host says against it.
    pub fn offered(&mut self) -> Result<String> {
        let mut id = String::new();
        loop {
            let (line, _) = self.line()?;
            ensure!(!line.starts_with("##[ERROR]"), "no game is offered: {line}");
            if let Some(named) = line.strip_prefix("Game_ID:") {
                id = named.to_owned();
            }
            if line == "END Game_Summary" {
                return Ok(id);
            }
        }
    }

    /// Sends a line.
    ///
    /// # Errors
    /// When the connection has ended.
    pub fn say(&mut self, line: &str) -> Result<()> {
        Ok(self.stream.write_all(format!("{line}\n").as_bytes())?)
    }

    /// The next line and when it arrived.
    ///
    /// # Errors
    /// When the connection has ended, or nothing comes.
    pub fn line(&mut self) -> Result<(String, Duration)> {
        while self.lines.is_empty() {
            self.read()?;
        }
        self.lines.pop_front().context("a line has arrived")
    }

    /// The next line that is no answer and no chat.
    ///
    /// # Errors
    /// As [`Client::line`].
    pub fn game_line(&mut self) -> Result<(String, Duration)> {
        loop {
            let (line, at) = self.line()?;
            if !line.starts_with("##") {
                return Ok((line, at));
            }
        }
    }

    /// The next line that begins so.
    ///
    /// # Errors
    /// As [`Client::line`].
    pub fn until(&mut self, start: &str) -> Result<(String, Duration)> {
        loop {
            let (line, at) = self.line()?;
            if line.starts_with(start) {
                return Ok((line, at));
            }
        }
    }

    fn read(&mut self) -> Result<()> {
        let (mut chunk, mut room) = ([0; 4096], nix::cmsg_space!(TimeSpec));
        let mut into = [IoSliceMut::new(&mut chunk)];
        let read = recvmsg::<()>(self.stream.as_raw_fd(), &mut into, Some(&mut room), MsgFlags::empty())?;
        ensure!(read.bytes > 0, "the host closed the connection");
        let stamp = read.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
            _ => None,
        });
        let (bytes, at) = (read.bytes, stamp.unwrap_or_else(now));
        self.half.extend_from_slice(&chunk[..bytes]);
        while let Some(end) = self.half.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.half.drain(..=end).collect();
            self.lines.push_back((String::from_utf8_lossy(&line).trim_end().to_owned(), at));
        }
        Ok(())
    }
}
