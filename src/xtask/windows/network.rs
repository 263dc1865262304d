//! Trials over loopback, which Wine shares with this machine.

use super::{
    Outcome,
    wine::{Desk, Running, Wine, until},
};
use anyhow::{Context, Result, ensure};
use std::{
    env,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

/// A port that nobody listens on at this moment.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A page, with its head.
fn page(port: u16, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port)))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")?;
    let mut answer = vec![];
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// A page as soon as it contains a text: what was committed just now is shown a moment later.
fn page_with(port: u16, path: &str, text: &str) -> Result<String> {
    let shown = || page(port, path).unwrap_or_default();
    until(&format!("`{path}` shows `{text}`"), || shown().contains(text))?;
    Ok(shown())
}

/// An open league, with two clients that play two games there and look at its pages.
pub fn hosted(wine: &Wine<'_>) -> Result<Outcome> {
    let desk = wine.desk("hosted")?;
    let (port, http) = (free_port()?, free_port()?);
    desk.write(
        "league.toml",
        &format!(
            "[serve]\nname = \"league\"\nlisten = [\"127.0.0.1:{port}\"]\ndatabase = \"league.db\"\nmax_moves = 64\n\
             least_time = 0\n"
        ),
    )?;
    let pages = format!("127.0.0.1:{http}");
    let host = ["serve", "league.toml", "--no-dashboard", "--http", &pages];
    let mut host = Running::start(&mut desk.renmei(&host))?;
    until("the host listens", || TcpStream::connect(("127.0.0.1", port)).is_ok())?;
    let client = |name: &str, style: &str| -> Result<Running> {
        let file = format!("{name}.toml");
        let text = format!(
            "[floodgate]\nhost = \"127.0.0.1\"\nport = {port}\nlogin = \"{name}\"\npassword = \"t-600-10,secret-{name}\"\n\
             database = \"{name}.db\"\nbackoff = \"50ms\"\nbackoff_most = \"500ms\"\n[engine]\n\
             command = \"renmei-random\"\noptions = {{ Style = \"{style}\" }}\n"
        );
        desk.write(&file, &text)?;
        Running::start(&mut desk.renmei(&["floodgate", &file, "--games", "2", "--no-dashboard"]))
    };
    let (sente, gote) = (client("sente", "greedy")?, client("gote", "uniform")?);
    for client in [sente, gote] {
        let finished = client.finish()?;
        ensure!(finished.code == Some(0), "a client ended with {:?}:\n{}", finished.code, finished.stderr);
    }
    page_with(http, "/table", "sente")?;
    host.interrupt()?;
    host.interrupt()?;
    let ended = host.finish()?;
    ensure!(matches!(ended.code, Some(0 | 3)), "the host ended with {:?}:\n{}", ended.code, ended.stderr);
    desk.succeed(&["verify", "league.db"])?;
    wine.no_engine_is_left()?;
    Ok(Outcome::Passed("two clients, two games, a page of the host".to_owned()))
}

/// The pages of an event that is over.
pub fn pages(wine: &Wine<'_>) -> Result<Outcome> {
    let desk = wine.desk("pages")?;
    let played = [
        "match",
        "renmei-random",
        "renmei-pairwise",
        "--games",
        "2",
        "--time",
        "nodes 20",
        "--db",
        "pages.db",
    ];
    desk.succeed(&[&played[..], &["--max-moves", "32", "--no-dashboard"]].concat())?;
    let port = free_port()?;
    let mut web =
        Running::start(&mut desk.renmei(&["web", "pages.db", "--http", &format!("127.0.0.1:{port}")]))?;
    until("the pages are there", || TcpStream::connect(("127.0.0.1", port)).is_ok())?;
    let shown = page_with(port, "/table", "renmei-random")?;
    ensure!(shown.contains(" 200 "), "{shown}");
    web.interrupt()?;
    web.finish()?;
    Ok(Outcome::Passed(format!("a page of {} bytes", shown.len())))
}

/// A worker and its manager, both under Wine, with the messages of a nats-server of this machine.
pub fn worker(wine: &Wine<'_>) -> Result<Outcome> {
    let Some(program) = nats_server() else {
        ensure!(
            env::var_os("RENMEI_REQUIRE_ALL").is_none_or(|value| value != "1"),
            "RENMEI_REQUIRE_ALL=1, and this machine lacks nats-server"
        );
        return Ok(Outcome::LeftOut(
            "there is no nats-server (Debian: `apt install nats-server`)".to_owned(),
        ));
    };
    let desk = wine.desk("worker")?;
    let port = free_port()?;
    let _server = Nats::start(&program, &desk, port)?;
    let url = format!("nats://us:secret@127.0.0.1:{port}");
    desk.write("far.toml", FAR)?;
    let run = ["run", "far.toml", "--no-dashboard", "--workers", &url, "--slots", "0"];
    let mut manager = Running::start(&mut desk.renmei(&run))?;
    let said = manager.wait_for("other machines join with: ")?;
    let line =
        said.split("renmei worker ").nth(1).context("no line to join with")?.trim_matches(['\'', '"', ' ']);
    let line = line.replacen("nats://", "nats://us:secret@", 1);
    let arguments =
        ["worker", &line, "--name", "wine", "--slots", "2", "--oversubscribe", "--state", "state"];
    let worker = Running::start(&mut desk.renmei(&arguments))?;
    let managed = manager.finish()?;
    ensure!(managed.code == Some(0), "the manager ended with {:?}:\n{}", managed.code, managed.stderr);
    let worked = worker.finish()?;
    ensure!(worked.code == Some(0), "the worker ended with {:?}:\n{}", worked.code, worked.stderr);
    desk.succeed(&["verify", "far.db"])?;
    wine.no_engine_is_left()?;
    Ok(Outcome::Passed("all games of an event played by a worker".to_owned()))
}

/// An event that machines play: both engines think for nodes, not time.
const FAR: &str = "\
[event]
name = \"far\"
format = \"round-robin\"
games = 20
database = \"far.db\"
[rules]
max_moves = 64
[[engines]]
name = \"pairwise\"
command = \"renmei-pairwise\"
time = \"nodes 20\"
[[engines]]
name = \"random\"
command = \"renmei-random\"
time = \"nodes 20\"
";

fn nats_server() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&path).chain(["/usr/sbin".into()]);
    places.map(|place| place.join("nats-server")).find(|program| program.is_file())
}

/// Somebody else's server, which ends with its trial.
struct Nats(Child);

impl Nats {
    fn start(program: &PathBuf, desk: &Desk<'_>, port: u16) -> Result<Self> {
        let configuration = desk.path.join("nats.conf");
        desk.write(
            "nats.conf",
            &format!(
                "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\n\
                 authorization {{ user: us, password: secret }}\n",
                desk.path.join("store").display()
            ),
        )?;
        let mut command = Command::new(program);
        command.arg("-c").arg(configuration).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self(command.spawn().context("nats-server")?);
        until("nats-server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok())?;
        Ok(server)
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _gone = (self.0.kill(), self.0.wait());
    }
}
