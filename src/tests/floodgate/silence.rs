//! Servers that fall silent.

use super::server::{Playing, Server, endings, faults};
use std::time::{Duration, Instant};

#[test]
fn a_server_that_stops_answering_keep_alives_is_left_and_the_game_goes_on_over_another_connection() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1\nkeep_alive = \"400ms\"", "0 7g7f\n");
    let mut half_open = server.begin();
    half_open.hears("+7776FU");
    assert_eq!(half_open.any_line().as_deref(), Some(""));
    half_open.say("");
    let mut peer = server.begin();
    peer.echo("+7776FU");
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let db = playing.done();
    assert_eq!(endings(&db), ["black resignation 1"]);
    assert!(faults(&db).contains("left 2 keep-alives unanswered"), "{}", faults(&db));
    drop(half_open);
}

#[test]
fn a_server_that_never_answered_keep_alives_is_not_left() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1\nkeep_alive = \"20ms\"", "0 7g7f\n");
    let mut peer = server.begin();
    peer.hears("+7776FU");
    (0..8).for_each(|_| assert_eq!(peer.any_line().as_deref(), Some("")));
    peer.say("#TIME_UP\n#LOSE");
    assert_eq!(endings(&playing.done()), ["white time 0"]);
}

#[test]
fn no_blank_line_is_sent_before_the_login_is_answered() {
    let server = Server::new();
    let mut playing =
        Playing::scripted(server.port(), "games = 1\nkeep_alive = \"5ms\"\npatience = \"200ms\"", "0 7g7f\n");
    let mut mute = server.accept();
    assert_eq!(mute.any_line().as_deref(), Some("LOGIN me t-600-10,secret"));
    assert_eq!(mute.any_line(), None, "the client disconnects without another line");
    assert!(faults(&playing.leave()).contains("did not answer the login within 200ms"));
}

#[test]
fn the_wait_grows_with_each_failed_login() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1", "0 7g7f\n");
    let begun = Instant::now();
    for _ in 0..6 {
        let mut peer = server.accept();
        peer.line();
        peer.say("LOGIN:incorrect");
    }
    // At least 10, 10..20, 20..40, 25..50 and 25..50 ms.
    assert!(begun.elapsed() >= Duration::from_millis(90));
    let db = playing.leave();
    assert!(faults(&db).contains("the name is in use with another secret"), "{}", faults(&db));
}
