//! Connections that break at every stage of the protocol: the client logs in again each time.

use super::server::{Peer, Playing, SUMMARY, Server, endings, faults, rows};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A stage's name, and how a connection reaches it.
type Cut = (&'static str, fn(&Server) -> Peer);

/// Offers a game that no earlier connection knew, as servers do that count a lost connection as a loss.
fn offer(peer: &mut Peer) -> String {
    static GAMES: AtomicU32 = AtomicU32::new(1);
    let id = format!("s+t-600-10+me+them+{}", GAMES.fetch_add(1, Relaxed));
    peer.say(&SUMMARY.replace("s+t-600-10+me+them+1", &id));
    id
}

fn begin(server: &Server) -> Peer {
    let mut peer = server.login();
    let id = offer(&mut peer);
    peer.hears(&format!("AGREE {id}"));
    peer.say(&format!("START:{id}"));
    peer
}

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
        let id = offer(&mut peer);
        peer.hears(&format!("AGREE {id}"));
        peer
    }),
    ("at the start", begin),
    ("after our move", |server| {
        let mut peer = begin(server);
        peer.hears("+7776FU");
        peer
    }),
    ("after its echo", |server| {
        let mut peer = begin(server);
        peer.echo("+7776FU");
        peer
    }),
    ("in our turn", |server| {
        let mut peer = begin(server);
        peer.echo("+7776FU");
        peer.say("-3334FU,T2");
        peer
    }),
    ("after a resignation", |server| {
        let mut peer = begin(server);
        peer.hears("+7776FU");
        peer.say("+7776FU,T1\n%TORYO");
        peer
    }),
    ("after a reason without a result", |server| {
        let mut peer = begin(server);
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
    let mut peer = begin(&server);
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
        let mut peer = begin(&server);
        peer.hears("+7776FU");
        peer.say(&format!("+7776FU,T3\n\n##[CHAT][x] hello\n%TORYO,T4\n\n#RESIGN\n{result}"));
    }
    let db = playing.done();
    assert_eq!(endings(&db), ["black resignation 1", "white resignation 1"]);
    assert_eq!(faults(&db), "");
}

#[test]
fn a_game_that_is_offered_again_goes_on_at_once_and_is_one_game() {
    let server = Server::new();
    let answers = "0 7g7f\n2 2g2f\n4 2f2e\n";
    let mut playing = Playing::scripted(server.port(), "games = 1", answers);
    let mut peer = server.begin();
    peer.echo("+7776FU");
    peer.cut();
    let with = |moves: &str| SUMMARY.replace("END Position", &format!("{moves}END Position"));
    let mut peer = server.login();
    peer.offer(&with("+7776FU,T1\n-3334FU,T2\n"));
    peer.hears("+2726FU");
    drop(peer);
    let mut peer = server.login();
    peer.offer(&with("+7776FU,T1\n-3334FU,T2\n"));
    peer.echo("+2726FU");
    peer.say("-8384FU,T3");
    peer.echo("+2625FU");
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let db = playing.done();
    assert_eq!(endings(&db), ["black resignation 5"]);
    let charged = rows(&db, "SELECT charged_ms || '' FROM moves ORDER BY ply");
    assert_eq!(charged, ["1000", "2000", "1000", "3000", "1000"]);
    let faults = faults(&db);
    assert_eq!(faults.matches("logging in again to go on with the game").count(), 2, "{faults}");
    assert!(!faults.contains("next login in"), "{faults}");
    let log = playing.log("1");
    assert!(log.matches("BEGIN Game_Summary").count() == 3 && !log.contains("secret"), "{log}");
}

#[test]
fn a_game_that_another_one_follows_is_given_up_and_the_other_is_played_on_the_same_login() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1", "0 7g7f\n");
    begin(&server).cut();
    let mut peer = begin(&server);
    peer.echo("+7776FU");
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let db = playing.done();
    assert_eq!(endings(&db), ["aborted server 0", "black resignation 1"]);
    assert!(!faults(&db).contains("next login in"), "{}", faults(&db));
}
