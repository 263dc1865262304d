//! The driver: the lobby, the connections and the games of a league as tasks of one runtime, whose clock stands still.
//!
//! A client has the other end of a pair of sockets without a network, so nothing is under way where the host cannot see
//! it. Threads that belong to a league (its journal, the check of passwords) work on; no time passes meanwhile.

use crate::{
    League, RatingHistory, channel::Channel, context::HostContext, league::ServedLeague, listener::Threshold,
    lobby_thread,
};
use arena::{
    Shutdown,
    actor_thread::ActorThread,
    operations::{
        Operations,
        command::Command,
        request::{Answer, Request},
    },
};
use plan::serve::ServeConfig;
use std::{
    io::ErrorKind,
    net::{IpAddr, TcpStream},
    os::fd::OwnedFd,
    path::Path,
    rc::Rc,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::UnixStream,
    runtime::{Builder, Runtime},
    sync::oneshot,
    task::{JoinHandle, spawn_blocking, yield_now},
};

/// Longer than any test takes on a slow machine. Only a test waits for so long that let no time pass for what it awaits.
const PATIENCE: Duration = Duration::from_secs(400);
/// Turns of all tasks in which a line goes its whole way, from a client through the lobby or a game to the others.
const TURNS: usize = 200;

/// Time that passes at once while a client waits.
const STEP: Duration = Duration::from_millis(50);

/// The runtime of a test.
struct Driver {
    /// While it is there, the clock does not go on by itself when all tasks wait.
    _standstill: Sender<()>,
    runtime: Runtime,
}

impl Driver {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let (standstill, over) = channel();
        runtime.spawn_blocking(move || {
            if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                eprintln!("a client waits for a line that does not come: does time have to pass?");
                std::process::abort();
            }
        });
        Self { _standstill: standstill, runtime }
    }

    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

async fn settle() {
    for _ in 0..TURNS {
        yield_now().await;
    }
}

/// A league that is served.
pub struct Host {
    driver: Rc<Driver>,
    threshold: Threshold,
    context: HostContext,
    operations: Operations,
    shutdown: Shutdown,
    playing: Option<JoinHandle<ServedLeague>>,
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
        let (driver, shutdown) = (Rc::new(Driver::new()), Shutdown::default());
        let (context, operations, playing) = driver.run(async {
            let schedules = config.rounds.clone();
            let league = League::open(config, RatingHistory::default(), &shutdown, vec![]).unwrap();
            let operations = league.operations();
            let (mut served, arrivals) = league.assemble(vec![ActorThread::current()], &shutdown).unwrap();
            let host = served.host().clone();
            let finishing = shutdown.finishing().clone();
            tokio::spawn(lobby_thread::work(host.clone(), arrivals, schedules, finishing));
            let shutdown = shutdown.clone();
            let playing = tokio::spawn(async move {
                served.play(&shutdown).await;
                served
            });
            (host, operations, playing)
        });
        let threshold = driver.run(async { Threshold::new(context.clone()) });
        Self { driver, threshold, context, operations, shutdown, playing: Some(playing), dir }
    }

    /// A league on a copy of the database of another, which has ended.
    pub fn after(before: &Self, config: ServeConfig) -> Self {
        let database = before.dir().join("league.db");
        Self::prepared(config, |path| assert!(std::fs::copy(database, path).unwrap() > 0))
    }

    pub fn connect(&self) -> Client {
        self.connect_from([127, 0, 0, 1])
    }

    /// Connects from an address.
    pub fn connect_from(&self, from: [u8; 4]) -> Client {
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        far.set_nonblocking(true).unwrap();
        let _on_the_runtime = self.driver.runtime.enter();
        // To the host a socket is a socket; only its listener asks for what TCP alone has.
        let far = tokio::net::TcpStream::from_std(TcpStream::from(OwnedFd::from(far))).unwrap();
        self.threshold.pass(Channel::plain(far).depart().unwrap(), IpAddr::from(from), vec![]);
        let stream = BufReader::new(UnixStream::from_std(near).unwrap());
        Client { stream, driver: self.driver.clone() }
    }

    /// Lets time pass, after everything has happened that is due.
    pub fn passes(&self, time: Duration) {
        self.driver.run(async {
            settle().await;
            tokio::time::advance(time).await;
            settle().await;
        });
    }

    /// Lets everything happen that is due, the commits of the journal included. No time passes.
    pub fn comes_to_rest(&self) {
        self.driver.run(async {
            for _ in 0..2 {
                settle().await;
                let (tell, kept) = oneshot::channel();
                self.context.lobby().arranger.sink().when_kept(Box::new(move || _ = tell.send(())));
                let _closed = kept.await;
            }
            settle().await;
        });
    }

    /// Gives an order of the operator, while the games go on that have to carry it out.
    pub fn order(&self, command: Command) -> Result<Answer, String> {
        let (operations, reason) = (self.operations.clone(), Some("a reason".to_owned()));
        let request = Request { named: None, reason, event: None, command };
        let carry_out = move || operations.carry_out("kai", &request).map_err(|why| why.to_string());
        self.driver.run(async { spawn_blocking(carry_out).await.unwrap() })
    }

    /// Writes what is committed now to another file, as a host leaves it that is killed.
    pub fn copy_what_is_committed(&self, to: &Path) {
        let database = rusqlite::Connection::open(self.dir.path().join("league.db")).unwrap();
        database.execute("VACUUM INTO ?", [to.to_str().unwrap()]).unwrap();
    }

    /// Asks something of the operator's handle.
    pub fn operate<T>(&self, ask: impl FnOnce(&Operations) -> T) -> T {
        let _on_the_runtime = self.driver.runtime.enter();
        ask(&self.operations)
    }

    /// Lets no further game begin; those that run are played to their end.
    pub fn finishes(&self) {
        self.driver.run(async {
            self.shutdown.finish();
            settle().await;
        });
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

    /// Stops the league.
    pub fn stop(&mut self) {
        let Some(playing) = self.playing.take() else { return };
        self.shutdown.finish();
        self.shutdown.adjourn();
        let served = self.driver.run(async {
            let served = playing.await.unwrap();
            settle().await;
            served
        });
        served.close().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}

/// A connection to a league.
pub struct Client {
    stream: BufReader<UnixStream>,
    driver: Rc<Driver>,
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
        let _closed = self.driver.run(self.stream.write_all(bytes));
    }

    /// Sends these bytes again and again, until the host takes no more.
    pub fn flood(&mut self, bytes: &[u8]) {
        self.driver.run(async {
            loop {
                settle().await;
                if self.stream.get_ref().try_write(bytes).is_err() {
                    return;
                }
            }
        });
    }

    /// The next line; `None` at the end of the connection.
    pub fn line(&mut self) -> Option<String> {
        let mut line = vec![];
        match self.driver.run(self.stream.read_until(b'\n', &mut line)) {
            Ok(1..) => Some(String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned()),
            _ended => None,
        }
    }

    pub fn hears(&mut self, lines: &[&str]) {
        for line in lines {
            assert_eq!(self.line().as_deref(), Some(*line));
        }
    }

    pub fn until(&mut self, last: &str) {
        while self.line().expect("the connection stays") != last {}
    }

    /// The next line that begins so.
    pub fn next(&mut self, beginning: &str) -> String {
        loop {
            let line = self.line().expect("the connection stays");
            if line.starts_with(beginning) {
                return line;
            }
        }
    }

    /// Lets time pass, a little each time, until something has arrived.
    pub fn waits(&mut self) {
        self.driver.run(async {
            loop {
                settle().await;
                tokio::select! { biased;
                    _arrived = self.stream.fill_buf() => return,
                    () = std::future::ready(()) => tokio::time::advance(STEP).await,
                }
            }
        });
    }

    /// What has arrived by now.
    pub fn drain(&mut self) -> Vec<u8> {
        self.driver.run(settle());
        self.heard().0
    }

    /// What has arrived, and whether the connection has ended.
    pub fn heard(&mut self) -> (Vec<u8>, bool) {
        let mut all = self.stream.buffer().to_vec();
        self.stream.consume(all.len());
        let mut chunk = [0; 4096];
        loop {
            match self.stream.get_ref().try_read(&mut chunk) {
                Ok(bytes @ 1..) => all.extend_from_slice(&chunk[..bytes]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return (all, false),
                _ended => return (all, true),
            }
        }
    }

    /// What arrives until the league closes the connection.
    pub fn rest(&mut self) -> String {
        let mut all = vec![];
        let _closed_or_cut = self.driver.run(self.stream.read_to_end(&mut all));
        String::from_utf8_lossy(&all).into_owned()
    }

    /// Ends the connection, whatever is on its way.
    pub fn cut(self) {}
}

/// A game between `sente` and `gote` in CSA mode, which has begun.
pub fn game(host: &Host, name: &str) -> (Client, Client) {
    let mut black = host.connect().login("sente", &format!("{name}-B,t"));
    let mut white = host.connect().login("gote", &format!("{name}-W,t"));
    begin([&mut black, &mut white]);
    (black, white)
}

/// Agrees to the game that is offered to two players.
pub fn begin(players: [&mut Client; 2]) {
    let [black, white] = players;
    for player in [&mut *black, &mut *white] {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in [black, white] {
        player.next("START:");
    }
}
