//! A scripted server, and a client of ours in a thread.

use crate::{
    host::joined,
    support::{program, until_within},
};
use arena::Shutdown;
use client::{Audience, Client, GameLines, presence::Presence, ratings::Ratings};
use journal::Reader;
use plan::Environment;
use plan::client::ClientConfig;
use rusqlite::Connection;
use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::Duration,
};
use tempfile::TempDir;

use testing::PATIENCE;

/// A game with our client as black, against `them`.
pub const SUMMARY: &str = "BEGIN Game_Summary
Protocol_Version:1.2
Format:Shogi 1.0
Declaration:Jishogi 1.1
Game_ID:s+t-600-10+me+them+1
Name+:me
Name-:them
Your_Turn:+
To_Move:+
BEGIN Time
Time_Unit:1sec
Total_Time:600
Byoyomi:10
END Time
BEGIN Position
PI
+
END Position
END Game_Summary
";

pub struct Server {
    listener: TcpListener,
}

impl Server {
    pub fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    pub fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    pub fn accept(&self) -> Peer {
        self.listener.set_nonblocking(true).unwrap();
        let (stream, _) = until_within(PATIENCE, || {
            self.listener.accept().map_err(|error| format!("nobody has connected for {PATIENCE:?}: {error}"))
        });
        stream.set_nonblocking(false).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Peer { reader: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    /// Accepts a connection and answers its login.
    pub fn login(&self) -> Peer {
        let mut peer = self.accept();
        peer.hears("LOGIN me t-600-10,secret");
        peer.say("LOGIN:me OK");
        peer
    }

    /// Proceeds to the start of a game.
    pub fn begin(&self) -> Peer {
        let mut peer = self.login();
        peer.offer(SUMMARY);
        peer
    }
}

pub struct Peer {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
}

impl Peer {
    pub fn say(&mut self, lines: &str) {
        self.stream.write_all(format!("{}\n", lines.trim_end_matches('\n')).as_bytes()).unwrap();
    }

    /// The next line that is not blank; `None` when the client has disconnected.
    pub fn line(&mut self) -> Option<String> {
        loop {
            let line = self.any_line()?;
            if !line.is_empty() {
                return Some(line);
            }
        }
    }

    pub fn any_line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end_matches('\n').to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no line arrived for {PATIENCE:?}: {error}"),
        }
    }

    pub fn hears(&mut self, line: &str) {
        assert_eq!(self.line().as_deref(), Some(line));
    }

    /// Offers a game, expects the agreement and starts it.
    pub fn offer(&mut self, summary: &str) {
        self.say(summary);
        self.hears("AGREE s+t-600-10+me+them+1");
        self.say("START:s+t-600-10+me+them+1");
    }

    /// Reads our client's move and echoes it.
    pub fn echo(&mut self, mv: &str) {
        self.hears(mv);
        self.say(&format!("{mv},T1"));
    }

    /// Expects the client to close its end.
    pub fn sees_us_leave(mut self) {
        assert_eq!(self.line(), None);
    }

    /// Cuts the connection as a broken network does.
    pub fn cut(self) {
        socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).unwrap();
    }
}

/// A running client.
pub struct Playing {
    pub dir: TempDir,
    pub shutdown: Shutdown,
    pub lines: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

/// An engine that plays from a list: the answer for each number of moves on the board (`3 2g2f ponder 8d8e`), else
/// `resign`. It writes its input into `heard`.
pub fn scripted_engine(dir: &Path, answers: &str) -> PathBuf {
    let path = dir.join("engine.sh");
    let script = r#"#!/bin/sh
here=$(dirname "$0")
while read -r line; do
  echo "$line" >> "$here/heard"
  case "$line" in
    usi) echo "id name script"; echo usiok;;
    isready) echo readyok;;
    position*) position=$line;;
    "go ponder"*) ;;
    go*|ponderhit)
      case "$position" in *" moves "*) set -- ${position#* moves }; n=$#;; *) n=0;; esac
      answer=$(sed -n "s/^$n //p" "$here/answers")
      echo "info depth 1 score cp 30 pv ${answer%% *}"
      echo "bestmove ${answer:-resign}";;
    stop) echo "bestmove resign";;
    quit) exit 0;;
  esac
done
"#;
    std::fs::write(&path, script).unwrap();
    std::fs::write(dir.join("answers"), answers).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A configuration; `more` extends `[floodgate]`, `engine` is its table.
pub fn config_text(port: u16, more: &str, engine: &str) -> String {
    let login = if more.contains("x1") { "" } else { "password = \"t-600-10,secret\"\n" };
    format!(
        "[floodgate]\nhost = \"127.0.0.1\"\nport = {port}\nlogin = \"me\"\n{login}backoff = \"10ms\"\n\
         backoff_most = \"50ms\"\n{more}\n[engine]\n{engine}\n"
    )
}

/// The table of a puppet with these options.
pub fn puppet(settings: &str) -> String {
    format!("command = {:?}\noptions = {{ {settings} }}", program("renmei-puppet").display().to_string())
}

impl Playing {
    /// Plays with a scripted engine.
    pub fn scripted(port: u16, more: &str, answers: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let engine = scripted_engine(dir.path(), answers);
        Self::start(dir, &config_text(port, more, &format!("command = {:?}", engine.display().to_string())))
    }

    pub fn puppet(port: u16, more: &str, settings: &str) -> Self {
        Self::start(tempfile::tempdir().unwrap(), &config_text(port, more, &puppet(settings)))
    }

    pub fn start(dir: TempDir, text: &str) -> Self {
        let environment = Environment::here(dir.path()).unwrap();
        let config = ClientConfig::parse(text, Some(&dir.path().join("cup.toml")), &environment).unwrap();
        let shutdown = Shutdown::default();
        let printed = Arc::new(Mutex::new(vec![]));
        let thread = std::thread::spawn({
            let (shutdown, printed) = (shutdown.clone(), printed.clone());
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let (mut lines, ratings) = (GameLines::default(), Ratings::new(config.ratings.clone()));
                let reader = Reader::new("lines", move |batch| {
                    printed.lock().unwrap().extend(batch.iter().filter_map(|stamped| lines.line(stamped)));
                });
                let engine = runtime.block_on(client::identify(&config, &|_| ())).unwrap();
                let audience = Audience {
                    readers: vec![reader],
                    say: Arc::new(|_: &str| ()),
                    presence: Presence::default(),
                };
                let client = Client::open(config, &shutdown, ratings, audience, engine).unwrap();
                runtime.block_on(client.play(shutdown)).unwrap();
            }
        });
        Self { dir, shutdown, lines: printed, thread: Some(thread) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Waits until the client ends by itself, and opens its database.
    pub fn done(&mut self) -> Connection {
        joined(self.thread.take().unwrap());
        Connection::open(self.path("cup.db")).unwrap()
    }

    /// The first fault, as it is printed.
    pub fn first_fault(&self) -> String {
        let patience = std::time::Instant::now() + PATIENCE;
        loop {
            let lines = self.lines.lock().unwrap().clone();
            if let Some(fault) = lines.into_iter().find(|line| line.starts_with("fault: ")) {
                return fault;
            }
            assert!(std::time::Instant::now() < patience, "no fault is told");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What `renmei log` prints of a game.
    pub fn log(&self, game: &str) -> String {
        let mut renmei = std::process::Command::new(env!("CARGO_BIN_EXE_renmei"));
        let output = renmei.args(["log", game, "--db"]).arg(self.path("cup.db")).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    /// Ends the client and opens its database.
    pub fn leave(&mut self) -> Connection {
        self.shutdown.finish();
        self.done()
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        self.shutdown.finish();
        self.shutdown.adjourn();
    }
}

/// Endings of the games in a database, as `black resignation 3`.
pub fn endings(db: &Connection) -> Vec<String> {
    rows(db, "SELECT result || ' ' || cause || ' ' || plies FROM games ORDER BY number")
}

pub fn rows(db: &Connection, sql: &str) -> Vec<String> {
    db.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

pub fn faults(db: &Connection) -> String {
    rows(db, "SELECT text FROM faults ORDER BY seq").join("\n")
}
