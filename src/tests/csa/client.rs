//! A league in a thread, and scripted clients.

use crate::support::until;
use arena::Shutdown;
use host::{Certificates, League, Port, RatingHistory};
use plan::serve::{ServeConfig, TlsConfig};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tempfile::TempDir;

use testing::PATIENCE;

/// Waits for the end of a thread; a panic of it is one of the test.
pub fn joined<T>(thread: JoinHandle<T>) -> T {
    until("a thread of the test ends", || thread.is_finished());
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Sets a flag at the end of a scope, also when the test panics there: its threads heed the flag, and the scope waits for
/// them.
pub struct SetAtEnd<'a>(pub &'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A running league.
pub struct Host {
    address: SocketAddr,
    encrypted: Option<SocketAddr>,
    shutdown: Shutdown,
    thread: Option<JoinHandle<()>>,
    dir: TempDir,
}

impl Host {
    pub fn start(config: ServeConfig) -> Self {
        Self::prepared(config, |_| ())
    }

    /// Starts a league on a database that `prepare` has written.
    pub fn prepared(mut config: ServeConfig, prepare: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        config.database = dir.path().join("league.db");
        prepare(&config.database);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut ports = vec![Port::plain(listener)];
        let encrypted = config.tls.as_ref().map(|tls| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            ports.push(Port::encrypted(listener, Arc::new(Certificates::open(tls).unwrap())));
            address
        });
        let shutdown = Shutdown::default();
        let thread = std::thread::spawn({
            let shutdown = shutdown.clone();
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let league = League::open(config, RatingHistory::default(), &shutdown, vec![]).unwrap();
                    league.serve(ports, shutdown).await.unwrap();
                });
            }
        });
        Self { address, encrypted, shutdown, thread: Some(thread), dir }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the port where clients speak TLS.
    pub fn encrypted(&self) -> SocketAddr {
        self.encrypted.expect("the host speaks TLS")
    }

    pub fn connect(&self) -> Client {
        self.connect_from([127, 0, 0, 1])
    }

    /// Connects from a loopback address: to the host each is a client of its own.
    pub fn connect_from(&self, from: [u8; 4]) -> Client {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
        socket.connect(&self.address().into()).unwrap();
        let stamped = nix::sys::socket::sockopt::ReceiveTimestampns;
        nix::sys::socket::setsockopt(&socket, stamped, &true).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client { reader: BufReader::new(stream.try_clone().unwrap()), stream, connected: Instant::now() }
    }

    /// Stops the league and opens its database.
    pub fn end(&mut self) -> rusqlite::Connection {
        self.stop();
        rusqlite::Connection::open(self.dir.path().join("league.db")).unwrap()
    }

    /// Directory of the league's database.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    fn stop(&mut self) {
        self.shutdown.finish();
        self.shutdown.adjourn();
        if let Some(thread) = self.thread.take() {
            // A test that has failed leaves the league to the end of its process.
            if !std::thread::panicking() {
                joined(thread);
            }
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Writes a certificate of 127.0.0.1 and its key; a client that trusts the certificate trusts the host.
pub fn certificate(dir: &Path, name: &str) -> TlsConfig {
    let mut params = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let secret = rcgen::KeyPair::generate().unwrap();
    let made = params.self_signed(&secret).unwrap();
    let (certificate, key) = (dir.join(format!("{name}.pem")), dir.join(format!("{name}.key")));
    std::fs::write(&certificate, made.pem()).unwrap();
    std::fs::write(&key, secret.serialize_pem()).unwrap();
    TlsConfig { listen: vec![], certificate, key }
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

    /// Sends bytes; the league may close the connection meanwhile.
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
            Err(error) => panic!("no line arrived for {PATIENCE:?}: {error}"),
        }
    }

    /// How long ago the last segment of the next bytes arrived at this machine's end of the connection, by the kernel's
    /// stamp: it does not depend on when this program runs.
    pub fn next_arrived(&mut self) -> Duration {
        use nix::sys::{
            socket::{ControlMessageOwned, MsgFlags, recvmsg},
            time::TimeSpec,
        };
        assert!(self.reader.buffer().is_empty(), "the next bytes are read already");
        let (mut byte, mut room) = ([0], nix::cmsg_space!(TimeSpec));
        let mut into = [std::io::IoSliceMut::new(&mut byte)];
        let fd = std::os::fd::AsRawFd::as_raw_fd(&self.stream);
        let read = recvmsg::<()>(fd, &mut into, Some(&mut room), MsgFlags::MSG_PEEK).unwrap();
        let stamp = read.cmsgs().unwrap().find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
            _ => None,
        });
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        now.saturating_sub(stamp.expect("the kernel stamps what arrives"))
    }

    /// True if a line arrives within `time`.
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

    /// Removes the charged time of a move, if it does not exceed the lateness of this machine.
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

    /// Lines that arrive until `quiet` passes without one, and whether the host has closed the connection.
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
        assert!(line.is_empty(), "the host sent half a line: {line:?}");
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        (lines, closed)
    }

    /// True if the league closes the connection; earlier lines are skipped.
    pub fn is_let_go(&mut self) -> bool {
        !matches!(self.reader.read_to_end(&mut vec![]), Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset)
    }

    /// Closes our direction of the connection and returns what the league still sends.
    pub fn hang_up(mut self) -> Vec<u8> {
        let _closed_already = self.stream.shutdown(std::net::Shutdown::Write);
        let mut all = vec![];
        let _reset = self.reader.read_to_end(&mut all);
        all
    }

    /// Cuts the connection: the other end gets a reset.
    pub fn cut(self) {
        socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).unwrap();
    }
}
