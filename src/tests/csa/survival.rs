//! The real binary: a league after it was killed.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

fn serve(dir: &Path) -> (Child, String) {
    let config = dir.join("serve.toml");
    std::fs::write(&config, "[serve]\nname = \"cup\"\ndatabase = \"cup.db\"\n").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_renmei"))
        .args(["serve", config.to_str().unwrap(), "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    (child, address)
}

/// Logs in two players and plays one move; returns the sockets.
fn begin(address: &str) -> Vec<BufReader<TcpStream>> {
    let mut players = vec![];
    for login in ["LOGIN a t-600-10-B,t\n", "LOGIN b t-600-10-W,t\n"] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(login.as_bytes()).unwrap();
        let mut player = BufReader::new(stream);
        until(&mut player, "LOGIN:");
        players.push(player);
    }
    for player in &mut players {
        until(player, "END Game_Summary");
        player.get_mut().write_all(b"AGREE\n").unwrap();
    }
    for player in &mut players {
        until(player, "START:");
    }
    players[0].get_mut().write_all(b"+7776FU\n").unwrap();
    until(&mut players[1], "+7776FU,T");
    players
}

fn until(player: &mut BufReader<TcpStream>, start: &str) {
    let mut line = String::new();
    while !line.starts_with(start) {
        line.clear();
        assert!(player.read_line(&mut line).unwrap() > 0, "the connection ends before `{start}`");
    }
}

#[test]
fn a_killed_league_resumes_its_event() {
    let dir = tempfile::tempdir().unwrap();
    let (mut killed, address) = serve(dir.path());
    let players = begin(&address);
    // Only stored entries survive; a move may wait a moment for its commit.
    let stored = || {
        let db = rusqlite::Connection::open(dir.path().join("cup.db")).unwrap();
        db.query_row("SELECT count(*) FROM moves", [], |row| row.get::<_, u32>(0)).unwrap()
    };
    while stored() == 0 {
        std::thread::yield_now();
    }
    killed.kill().unwrap();
    crate::support::ended(&mut killed);
    drop(players);
    let (mut again, address) = serve(dir.path());
    let mut players = begin(&address);
    players[1].get_mut().write_all(b"%TORYO\n").unwrap();
    until(&mut players[0], "#WIN");
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(again.id().cast_signed()),
        nix::sys::signal::Signal::SIGTERM,
    )
    .unwrap();
    assert!(crate::support::ended(&mut again).success());
    let db = rusqlite::Connection::open(dir.path().join("cup.db")).unwrap();
    let games: Vec<(u32, String, String)> = db
        .prepare("SELECT number, result, cause FROM games ORDER BY number")
        .unwrap()
        .query_map([], |row| row.try_into())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let game = |number, result: &str, cause: &str| (number, result.to_owned(), cause.to_owned());
    assert_eq!(games, [game(1, "aborted", "stopped"), game(2, "black", "resignation")]);
    let report =
        Command::new(env!("CARGO_BIN_EXE_renmei")).arg("report").arg(dir.path().join("cup.db")).output();
    let report = String::from_utf8(report.unwrap().stdout).unwrap();
    assert!(report.contains("\n  1  a  ") && report.contains("\n  2  b  "), "{report}");
}
