//! Signals to the real binary.

use super::server::{Server, config_text, endings, scripted_engine};
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
    let file = dir.path().join("cup.toml");
    let engine = format!("command = {:?}", engine.display().to_string());
    std::fs::write(&file, config_text(server.port(), more, &engine)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.arg("floodgate").arg(&file).stdout(Stdio::piped()).stderr(Stdio::piped());
    (dir, command.spawn().unwrap())
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
