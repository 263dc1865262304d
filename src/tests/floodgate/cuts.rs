//! Connections that break at every stage of the protocol: the client logs in again each time.

use super::server::{Peer, Playing, SUMMARY, Server, endings, faults};

/// A stage's name, and how a connection reaches it.
type Cut = (&'static str, fn(&Server) -> Peer);

/// Stages at which the connection is cut.
const CUTS: [Cut; 11] = [
    ("before the login", Server::accept),
    ("after the login was read", |server| {
        let mut peer = server.accept();
        peer.hears("LOGIN me t-600-10,secret");
        peer
    }),
    ("in the lobby", Server::login),
    ("in the midst of a summary", |server| {
        let mut peer = server.login();
        peer.say(&SUMMARY[..SUMMARY.len() / 2]);
        peer
    }),
    ("after our agreement", |server| {
        let mut peer = server.login();
        peer.say(SUMMARY);
        peer.hears("AGREE s+t-600-10+me+them+1");
        peer
    }),
    ("at the start", Server::begin),
    ("after our move", |server| {
        let mut peer = server.begin();
        peer.hears("+7776FU");
        peer
    }),
    ("after its echo", |server| {
        let mut peer = server.begin();
        peer.echo("+7776FU");
        peer
    }),
    ("in our turn", |server| {
        let mut peer = server.begin();
        peer.echo("+7776FU");
        peer.say("-3334FU,T2");
        peer
    }),
    ("after a resignation", |server| {
        let mut peer = server.begin();
        peer.hears("+7776FU");
        peer.say("+7776FU,T1\n%TORYO");
        peer
    }),
    ("after a reason without a result", |server| {
        let mut peer = server.begin();
        peer.hears("+7776FU");
        peer.say("+7776FU,T1\n%TORYO\n#RESIGN");
        peer
    }),
];

#[test]
fn a_cut_at_any_stage_leads_to_a_new_login_and_decides_no_game() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1", "0 7g7f\n2 2g2f\n");
    for (stage, reach) in CUTS {
        eprintln!("cut {stage}");
        reach(&server).cut();
    }
    for (stage, reach) in CUTS {
        eprintln!("closed {stage}");
        drop(reach(&server));
    }
    let mut peer = server.begin();
    peer.echo("+7776FU");
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let db = playing.done();
    let ended = endings(&db);
    assert_eq!(ended.last().map(String::as_str), Some("black resignation 1"));
    let undecided = &ended[..ended.len() - 1];
    assert!(undecided.iter().all(|game| game.starts_with("aborted server ")), "{undecided:?}");
    assert_eq!(undecided.len(), 14, "{undecided:?}");
    assert!(faults(&db).contains("next login in"));
}

#[test]
fn the_server_may_close_right_after_the_result() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 2", "0 7g7f\n");
    for result in ["#WIN", "#LOSE"] {
        let mut peer = server.begin();
        peer.hears("+7776FU");
        peer.say(&format!("+7776FU,T3\n\n##[CHAT][x] hello\n%TORYO,T4\n\n#RESIGN\n{result}"));
    }
    let db = playing.done();
    assert_eq!(endings(&db), ["black resignation 1", "white resignation 1"]);
    assert_eq!(faults(&db), "");
}
