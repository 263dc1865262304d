//! Trials over loopback, which Wine shares with this machine.

use super::place::{Place, interrupt, until};
use anyhow::{Result, ensure};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    time::Duration,
};
use xtask::running::Running;

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
pub fn hosted(place: &Place<'_>) -> Result<String> {
    let desk = place.desk("hosted")?;
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
    let mut host = desk.start(&host)?;
    until("the host listens", || TcpStream::connect(("127.0.0.1", port)).is_ok())?;
    let client = |name: &str, style: &str| -> Result<Running> {
        let file = format!("{name}.toml");
        let text = format!(
            "[floodgate]\nhost = \"127.0.0.1\"\nport = {port}\nlogin = \"{name}\"\npassword = \"t-600-10,secret-{name}\"\n\
             database = \"{name}.db\"\nbackoff = \"50ms\"\nbackoff_most = \"500ms\"\n[engine]\n\
             command = \"renmei-random\"\noptions = {{ Style = \"{style}\" }}\n"
        );
        desk.write(&file, &text)?;
        desk.start(&["floodgate", &file, "--games", "2", "--no-dashboard"])
    };
    let (sente, gote) = (client("sente", "greedy")?, client("gote", "uniform")?);
    for mut client in [sente, gote] {
        let finished = client.finish()?;
        ensure!(finished.code == Some(0), "a client ended with {:?}:\n{}", finished.code, finished.stderr);
    }
    page_with(http, "/table", "sente")?;
    interrupt(&host);
    interrupt(&host);
    let ended = host.finish()?;
    ensure!(matches!(ended.code, Some(0 | 3)), "the host ended with {:?}:\n{}", ended.code, ended.stderr);
    desk.succeed(&["verify", "league.db"])?;
    place.no_engine_is_left()?;
    Ok("two clients, two games, a page of the host".to_owned())
}
