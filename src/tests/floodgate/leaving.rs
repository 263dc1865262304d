//! Signals to the real binary.

use super::server::{SUMMARY, Server, config_text, endings, scripted_engine};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use rusqlite::Connection;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

fn renmei(server: &Server) -> (TempDir, Child) {
    renmei_with(server, "")
}

fn renmei_with(server: &Server, more: &str) -> (TempDir, Child) {
    let dir = tempfile::tempdir().unwrap();
    let engine = scripted_engine(dir.path(), "0 7g7f\n2 2g2f\n");
    let engine = format!("command = {:?}", engine.display().to_string());
    std::fs::write(dir.path().join("cup.toml"), config_text(server.port(), more, &engine)).unwrap();
    let child = again(&dir);
    (dir, child)
}

/// Starts the client of this directory.
fn again(dir: &TempDir) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.arg("floodgate").arg(dir.path().join("cup.toml")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The exit code, and what was written to stderr.
fn told(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

fn left(dir: &TempDir, child: Child) -> (Vec<String>, String) {
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let db = Connection::open(dir.path().join("cup.db")).unwrap();
    (endings(&db), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_first_signal_lets_the_game_end() {
    let server = Server::new();
    let (dir, child) = renmei(&server);
    let mut peer = server.begin();
    peer.echo("+7776FU");
    signal(&child, Signal::SIGINT);
    peer.say("-3334FU,T1");
    peer.echo("+2726FU");
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let (ended, report) = left(&dir, child);
    assert_eq!(ended, ["black resignation 3"]);
    assert!(report.contains("them") && report.contains("100.0%"), "{report}");
}

#[test]
fn the_second_signal_resigns_and_waits_for_the_ruling() {
    let server = Server::new();
    let (dir, child) = renmei(&server);
    let mut peer = server.begin();
    peer.echo("+7776FU");
    signal(&child, Signal::SIGTERM);
    peer.hears("LOGOUT");
    peer.say("LOGOUT:completed\n%TORYO\n#RESIGN\n#LOSE");
    assert_eq!(left(&dir, child).0, ["white resignation 1"]);
}

#[test]
fn in_the_lobby_the_first_signal_ends_the_client_at_once() {
    let server = Server::new();
    let (dir, child) = renmei(&server);
    let peer = server.login();
    signal(&child, Signal::SIGINT);
    peer.sees_us_leave();
    assert_eq!(left(&dir, child).0, [""; 0]);
}

#[test]
fn a_logout_that_the_server_confirms_is_our_resignation() {
    let server = Server::new();
    let (dir, child) = renmei_with(&server, "games = 5");
    let mut peer = server.begin();
    peer.echo("+7776FU");
    signal(&child, Signal::SIGTERM);
    peer.hears("LOGOUT");
    // shogi-server rules only when the side to move has moved, but counts a loss.
    peer.say("LOGOUT:completed");
    drop(peer);
    let output = child.wait_with_output().unwrap();
    let (report, told) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let db = Connection::open(dir.path().join("cup.db")).unwrap();
    assert_eq!(endings(&db), ["white resignation 1"]);
    assert!(report.contains("1    0.0%") || report.contains("0.0%"), "{report}");
    assert!(!told.contains("next login"), "{told}");
    assert_eq!(output.status.code(), Some(3), "four games are unplayed: {told}");
}

#[test]
fn no_next_login_is_announced_by_a_client_that_leaves() {
    let server = Server::new();
    let (_dir, child) = renmei_with(&server, "games = 5");
    let mut peer = server.begin();
    peer.echo("+7776FU");
    signal(&child, Signal::SIGTERM);
    peer.hears("LOGOUT");
    peer.cut();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!told.contains("next login"), "{told}");
    assert!(told.contains("we had resigned"), "{told}");
    assert_eq!(output.status.code(), Some(3), "{told}");
}

#[test]
fn after_a_kill_in_a_game_the_next_start_says_that_the_server_counts_a_loss() {
    let server = Server::new();
    let (dir, mut killed) = renmei(&server);
    let mut peer = server.begin();
    peer.echo("+7776FU");
    // The move is in the database: a read of it proves that the game is, too.
    let stored = || {
        let db = Connection::open(dir.path().join("cup.db")).unwrap();
        db.query_row("SELECT count(*) FROM moves", [], |row| row.get::<_, u32>(0)).unwrap()
    };
    while stored() == 0 {
        std::thread::yield_now();
    }
    killed.kill().unwrap();
    crate::support::ended(&mut killed);
    drop(peer);
    let child = again(&dir);
    let mut peer = server.login();
    peer.offer(SUMMARY);
    peer.echo("+7776FU");
    signal(&child, Signal::SIGINT);
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let (code, told) = told(child);
    assert_eq!(code, Some(0));
    assert!(told.contains("game 1 (s+t-600-10+me+them+1) was cut off"), "{told}");
    assert!(told.contains("the interrupted game continues: s+t-600-10+me+them+1"), "{told}");
}

#[test]
fn an_engine_that_exits_at_once_is_given_up() {
    let server = Server::new();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("cup.toml"),
        config_text(server.port(), "look = false", "command = \"true\""),
    )
    .unwrap();
    let (code, told) = told(again(&dir));
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("the engine is given up"), "{told}");
    assert_eq!(told.matches("the engine is not ready").count(), 5, "{told}");
}

#[test]
fn an_option_that_the_engine_does_not_offer_is_warned_of() {
    let server = Server::new();
    let dir = tempfile::tempdir().unwrap();
    let engine = format!("{}\n", super::server::puppet("Sed = 5"));
    std::fs::write(dir.path().join("cup.toml"), config_text(server.port(), "look = false", &engine)).unwrap();
    let child = again(&dir);
    let peer = server.login();
    signal(&child, Signal::SIGINT);
    peer.sees_us_leave();
    let (_, told) = told(child);
    assert!(told.contains("offers no option `Sed`; did you mean `Seed`?"), "{told}");
}

#[test]
fn lines_have_their_times_and_stand_in_the_order_of_what_happened() {
    let server = Server::new();
    let (_dir, child) = renmei_with(&server, "games = 2");
    for _ in 0..2 {
        let mut peer = server.begin();
        peer.echo("+7776FU");
        peer.say("%TORYO\n#RESIGN\n#WIN");
    }
    let (code, told) = told(child);
    assert_eq!(code, Some(0), "{told}");
    let lines: Vec<&str> = told.lines().collect();
    let words: Vec<&str> = lines.iter().map(|line| line.get(20..).unwrap_or_default()).collect();
    let at = |word: &str| {
        words.iter().position(|line| line.starts_with(word)).unwrap_or_else(|| panic!("{word}: {told}"))
    };
    let first_end = at("game 1: me - them: black wins");
    let logins: Vec<usize> = (0..words.len()).filter(|at| words[*at].starts_with("logged in")).collect();
    assert!(logins[0] < at("game 1: me - them begins") && first_end < logins[1], "{told}");
    assert!(lines.iter().all(|line| notation::date::parse(line).is_some()), "{told}");
    assert!(lines.is_sorted_by_key(|line| &line[..19]), "{told}");
}

#[test]
fn each_game_is_written_into_a_record_of_its_own_in_each_format() {
    let server = Server::new();
    let more = "games = 1\nrecords = \"games\"\nrecord_name = \"{black}/{number}-{id}\"\nrecord_formats = [\"csa\", \"jkf\"]";
    let (dir, child) = renmei_with(&server, more);
    let mut peer = server.begin();
    peer.echo("+7776FU");
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let (code, told) = told(child);
    assert_eq!(code, Some(0), "{told}");
    let file = dir.path().join("games/me/1-s+t-600-10+me+them+1.csa");
    let record = std::fs::read_to_string(&file).unwrap_or_else(|why| panic!("{why}: {told}"));
    assert!(record.contains("$EVENT:s+t-600-10+me+them+1\n"), "{record}");
    assert!(record.contains("+7776FU\n") && record.contains("%TORYO"), "{record}");
    let jkf =
        std::fs::read_to_string(file.with_extension("jkf")).unwrap_or_else(|why| panic!("{why}: {told}"));
    assert!(jkf.contains("\"special\": \"TORYO\""), "{jkf}");
}
