//! A league in a thread, and clients that say what they are told to.

use arena::Shutdown;
use host::{League, RatingHistory};
use plan::serve::ServeConfig;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Longer than anything here may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running league.
pub struct Host {
    address: SocketAddr,
    shutdown: Shutdown,
    thread: Option<JoinHandle<()>>,
    dir: TempDir,
}

impl Host {
    pub fn start(config: ServeConfig) -> Self {
        Self::prepared(config, |_| ())
    }

    /// A league whose database was prepared before.
    pub fn prepared(mut config: ServeConfig, prepare: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        config.database = dir.path().join("league.db");
        prepare(&config.database);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let shutdown = Shutdown::default();
        let thread = std::thread::spawn({
            let shutdown = shutdown.clone();
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                    let league = League::open(config, RatingHistory::default(), &shutdown, vec![]).unwrap();
                    league.serve(vec![listener], shutdown).await.unwrap();
                });
            }
        });
        Self { address, shutdown, thread: Some(thread), dir }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client { reader: BufReader::new(stream.try_clone().unwrap()), stream, connected: Instant::now() }
    }

    /// Ends the league and opens its database.
    pub fn end(&mut self) -> rusqlite::Connection {
        self.stop();
        rusqlite::Connection::open(self.dir.path().join("league.db")).unwrap()
    }

    /// Where the league keeps its database.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn stop(&mut self) {
        self.shutdown.finish();
        self.shutdown.adjourn();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking());
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A connection to a league.
pub struct Client {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
    connected: Instant,
}

impl Client {
    /// Logs in in CSA mode; the password names the game, the colour and the trip.
    pub fn login(mut self, name: &str, password: &str) -> Self {
        self.say(&format!("LOGIN {name} {password}"));
        self.hears(&[&format!("LOGIN:{name} OK")]);
        self
    }

    /// Logs in in the extended mode.
    pub fn login_x1(mut self, name: &str, password: &str) -> Self {
        self.say(&format!("LOGIN {name} {password} x1"));
        self.hears(&[&format!("LOGIN:{name} OK"), "##[LOGIN] +OK x1"]);
        self
    }

    pub fn say(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// The league may close the connection while they are sent.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let _closed = self.stream.write_all(bytes);
    }

    /// The next line; `None` at the end of the connection.
    pub fn line(&mut self) -> Option<String> {
        let mut line = vec![];
        match self.reader.read_until(b'\n', &mut line) {
            Ok(0) => None,
            Ok(_) => Some(String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("nothing was said for {PATIENCE:?}: {error}"),
        }
    }

    /// Whether anything is said before the time is over.
    pub fn hears_within(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let heard = self.reader.fill_buf().is_ok();
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        heard
    }

    pub fn hears(&mut self, lines: &[&str]) {
        for line in lines {
            let heard = self.line();
            assert_eq!(heard.map(|heard| self.in_no_time(heard)).as_deref(), Some(*line));
        }
    }

    pub fn until(&mut self, last: &str) {
        loop {
            let heard = self.line().expect("the connection stays");
            if heard == last || self.in_no_time(heard) == last {
                return;
            }
        }
    }

    /// A move for which nothing was charged, where no more was charged than the machine may have been late.
    pub fn in_no_time(&self, line: String) -> String {
        let late = self.connected.elapsed().as_secs();
        let parted = line.split_once(",T").or_else(|| line.rsplit_once("] T"));
        let charged = parted.and_then(|(_, seconds)| seconds.parse::<u64>().ok());
        match charged.zip(parted) {
            Some((charged, (_, seconds))) if charged <= late => {
                format!("{}0", &line[..line.len() - seconds.len()])
            }
            _ => line,
        }
    }

    /// What comes until the league closes, or until a moment of silence.
    pub fn drain(&mut self) -> Vec<u8> {
        self.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut all = vec![];
        let _silent = self.reader.read_to_end(&mut all);
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        all
    }

    /// The lines that come until `quiet` passes without one, and whether the host has closed the connection.
    pub fn pending(&mut self, quiet: Duration) -> (Vec<String>, bool) {
        self.stream.set_read_timeout(Some(quiet)).unwrap();
        let (mut lines, mut line) = (vec![], vec![]);
        let closed = loop {
            match self.reader.read_until(b'\n', &mut line) {
                Ok(0) => break true,
                Ok(_) => lines.push(
                    String::from_utf8_lossy(&std::mem::take(&mut line)).trim_end_matches('\n').to_owned(),
                ),
                Err(error) => break error.kind() == std::io::ErrorKind::ConnectionReset,
            }
        };
        assert!(line.is_empty(), "the host says half a line: {line:?}");
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        (lines, closed)
    }

    /// Whether the league closes the connection; what comes before is passed over.
    pub fn is_let_go(&mut self) -> bool {
        !matches!(self.reader.read_to_end(&mut vec![]), Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset)
    }

    /// Says nothing more; what the league still has to say.
    pub fn hang_up(mut self) -> Vec<u8> {
        let _closed_already = self.stream.shutdown(std::net::Shutdown::Write);
        let mut all = vec![];
        let _reset = self.reader.read_to_end(&mut all);
        all
    }

    /// The line is cut: the other end is told by a reset, nothing more is written.
    pub fn cut(self) {
        socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).unwrap();
    }
}
