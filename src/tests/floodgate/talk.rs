//! Lobbies: rejected games, resumed games, the extended mode.

use super::server::{Playing, SUMMARY, Server, endings, faults, rows};
use std::process::Command;

#[test]
fn a_rejected_game_is_followed_by_the_next_on_the_same_connection() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1", "0 7g7f\n");
    let mut peer = server.login();
    for _ in 0..2 {
        peer.say(SUMMARY);
        peer.hears("AGREE s+t-600-10+me+them+1");
        peer.say("REJECT:s+t-600-10+me+them+1 by them");
    }
    let (head, rest) = SUMMARY.split_at(SUMMARY.find("Name+").unwrap());
    peer.say(&format!("{head}\n##[CHAT][x] in the midst\n\n{rest}"));
    peer.hears("AGREE s+t-600-10+me+them+1");
    peer.say("START:s+t-600-10+me+them+1");
    peer.echo("+7776FU");
    peer.say("#CHUDAN");
    let mut peer = server.begin();
    peer.echo("+7776FU");
    peer.say("#SENNICHITE\n#DRAW");
    let db = playing.done();
    let ended = ["aborted not-started 0", "aborted not-started 0", "aborted server 1", "draw sennichite 1"];
    assert_eq!(endings(&db), ended);
    assert!(rows(&db, "SELECT evidence FROM games")[0].contains("rejected by them"));
}

#[test]
fn an_invalid_summary_is_rejected_with_a_fault() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "", "");
    let mut peer = server.login();
    peer.say(&SUMMARY.replace("+\nEND Position", "+\n+5958FU,T1\nEND Position"));
    peer.hears("REJECT s+t-600-10+me+them+1");
    peer.sees_us_leave();
    let peer = server.login();
    assert!(faults(&playing.leave()).contains("`+5958FU`, is illegal"));
    drop(peer);
}

#[test]
fn a_resumed_game_has_its_moves_and_remaining_time() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1", "2 2g2f\n");
    let mut peer = server.login();
    peer.offer(&SUMMARY.replace("+\nEND Position", "+\n+7776FU,T100\n-3334FU,T50\nEND Position"));
    peer.echo("+2726FU");
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let db = playing.done();
    assert_eq!(rows(&db, "SELECT opening_moves FROM games"), ["7g7f 3c3d"]);
    let heard = std::fs::read_to_string(playing.path("heard")).unwrap();
    assert!(
        heard.contains("position startpos moves 7g7f 3c3d\ngo btime 499800 wtime 550000 byoyomi 10000"),
        "{heard}"
    );
}

#[test]
fn the_times_of_moves_in_a_summary_and_seconds_with_decimals_are_charged_and_kept() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1", "2 2g2f\n4 2f2e\n");
    let mut peer = server.login();
    peer.offer(&SUMMARY.replace("+\nEND Position", "+\n+7776FU,T3.5\n-3334FU,T50\nEND Position"));
    peer.hears("+2726FU");
    peer.say("+2726FU,T4.25\n-8384FU,T1.,'* 10");
    peer.hears("+2625FU");
    peer.say("+2625FU,T1\n%TORYO\n#RESIGN\n#WIN");
    let db = playing.done();
    let heard = std::fs::read_to_string(playing.path("heard")).unwrap();
    assert!(heard.contains("go btime 596300 wtime 550000 byoyomi 10000"), "{heard}");
    let charged = "SELECT move || ' ' || charged_ms || ' ' || left_ms FROM moves ORDER BY ply";
    assert_eq!(rows(&db, charged), ["2g2f 4250 592250", "8c8d 1000 549000", "2f2e 1000 591250"]);
    let opening = "SELECT ply || ' ' || charged_ms FROM opening_times ORDER BY ply";
    assert_eq!(rows(&db, opening), ["1 3500", "2 50000"]);
    let mut export = Command::new(env!("CARGO_BIN_EXE_renmei"));
    let record = export.arg("export").arg(playing.path("cup.db")).output().unwrap();
    let record = String::from_utf8(record.stdout).unwrap();
    assert!(record.contains("+7776FU\nT3\n-3334FU\nT50\n+2726FU\nT4\n"), "{record}");
}

#[test]
fn an_error_of_the_server_ends_the_wait_in_both_modes_and_is_told_in_its_words() {
    for x1 in [false, true] {
        let server = Server::new();
        let mode = "mode = \"x1\"\npassword = \"secret\"\ngame = \"t-600-10\"\ncolor = \"black\"\n";
        let more = format!("{}games = 1", if x1 { mode } else { "" });
        let mut playing = Playing::scripted(server.port(), &more, "0 7g7f\n");
        let waits = || {
            let mut peer = server.accept();
            peer.hears(if x1 { "LOGIN me secret x1" } else { "LOGIN me t-600-10,secret" });
            peer.say("LOGIN:me OK");
            let asked: &[&str] = if x1 { &["%%VERSION", "%%RATING", "%%GAME t-600-10 +"] } else { &[] };
            asked.iter().for_each(|line| peer.hears(line));
            peer
        };
        let mut peer = waits();
        peer.say("##[ERROR] you have played your 600 games of this hour");
        peer.sees_us_leave();
        let mut peer = waits();
        peer.offer(SUMMARY);
        peer.line();
        peer.say("+7776FU,T1\n%TORYO\n#RESIGN\n#WIN");
        let faults = faults(&playing.done());
        assert!(
            faults.contains("##[ERROR] you have played your 600 games of this hour; next login in"),
            "{faults}"
        );
    }
}

#[test]
fn in_the_extended_mode_one_login_serves_many_games_and_ratings_are_read() {
    let server = Server::new();
    let x1 = "games = 2\nmode = \"x1\"\npassword = \"secret\"\ngame = \"t-600-10\"\ncolor = \"black\"";
    let mut playing = Playing::scripted(server.port(), x1, "0 7g7f\n");
    let mut peer = server.accept();
    peer.hears("LOGIN me secret x1");
    peer.say("LOGIN:me OK\n##[LOGIN] +OK x1");
    peer.hears("%%VERSION");
    peer.hears("%%RATING");
    peer.hears("%%GAME t-600-10 +");
    peer.say("##[VERSION] Shogi Server revision 20201206\n##[VERSION] +OK");
    peer.say("##[RATING] them+97d76f4c5 \t 2500 @2026-11-21\n##[RATING] +OK");
    for (again, result) in [(false, "#WIN"), (true, "#LOSE")] {
        if again {
            peer.hears("%%GAME t-600-10 +");
        }
        peer.offer(SUMMARY);
        peer.hears("+7776FU,'* 30");
        peer.say(&format!("+7776FU,T0\n%TORYO\n#RESIGN\n{result}"));
    }
    let db = playing.done();
    assert_eq!(endings(&db).len(), 2);
    let report = |args: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_renmei")).args(args).arg(playing.path("cup.db")).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let printed = report(&["report"]);
    assert!(printed.contains("me on the scale of its rated opponents: 2500 +-"), "{printed}");
    assert!(report(&["export"]).contains("N-them"));
    assert!(!rows(&db, "SELECT plan FROM events").concat().contains("secret"), "no secret is stored");
}

#[test]
fn every_line_of_a_game_is_stored_but_not_the_password() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1", "0 7g7f\n");
    let mut peer = server.begin();
    peer.echo("+7776FU");
    peer.say("-3334FU,T2,'\u{1b}[2J");
    peer.hears("%TORYO");
    peer.say("%TORYO,T1\n#RESIGN\n#LOSE");
    drop(playing.done());
    let db = playing.path("cup.db");
    let log = Command::new(env!("CARGO_BIN_EXE_renmei"))
        .args(["log", "s+t-600-10+me+them+1", "--db"])
        .arg(&db)
        .output()
        .unwrap();
    let text = String::from_utf8(log.stdout).unwrap();
    let lines: Vec<&str> = text.lines().map(|line| &line[line.find(['<', '>']).unwrap()..]).collect();
    let summary: Vec<String> = SUMMARY.lines().map(|line| format!("< {line}")).collect();
    assert_eq!(lines[..summary.len()], summary);
    let game = [
        "> AGREE s+t-600-10+me+them+1",
        "< START:s+t-600-10+me+them+1",
        "> +7776FU",
        "< +7776FU,T1",
        "< -3334FU,T2,'\\u{1b}[2J",
        "> %TORYO",
        "< %TORYO,T1",
        "< #RESIGN",
        "< #LOSE",
    ];
    assert_eq!(lines[summary.len()..], game);
    assert!(!text.contains("secret"));
}

#[test]
fn an_illegal_action_is_recorded_as_what_it_is() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 2", "0 7g7f\n");
    for result in ["#LOSE", "#WIN"] {
        let mut peer = server.begin();
        peer.echo("+7776FU");
        peer.say(&format!("#ILLEGAL_ACTION\n{result}"));
    }
    assert_eq!(endings(&playing.done()), ["white illegal-action 1", "black illegal-action 1"]);
}

#[test]
fn a_login_that_another_one_displaces_says_so() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1", "0 7g7f\n");
    drop(server.login());
    let mut peer = server.begin();
    peer.echo("+7776FU");
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let db = playing.done();
    assert!(faults(&db).contains("another program logs in as `me` too"), "{}", faults(&db));
}

#[test]
fn after_the_last_game_a_server_that_waits_for_it_gets_a_logout_but_floodgate_does_not() {
    for (name, logs_out) in [("t-600-10", true), ("floodgate-600-10", false)] {
        let server = Server::new();
        let dir = tempfile::tempdir().unwrap();
        let engine = super::server::scripted_engine(dir.path(), "0 7g7f\n");
        let engine = format!("command = {:?}", engine.display().to_string());
        let text = super::server::config_text(server.port(), "games = 1\ncomments = \"no\"", &engine)
            .replace("t-600-10,secret", &format!("{name},secret"));
        let mut playing = Playing::start(dir, &text);
        let mut peer = server.accept();
        peer.hears(&format!("LOGIN me {name},secret"));
        peer.say("LOGIN:me OK");
        peer.say(&SUMMARY.replace("t-600-10", name));
        peer.hears(&format!("AGREE s+{name}+me+them+1"));
        peer.say(&format!("START:s+{name}+me+them+1"));
        peer.echo("+7776FU");
        peer.say("%TORYO\n#RESIGN\n#WIN");
        if logs_out {
            peer.hears("LOGOUT");
            peer.say("LOGOUT:completed");
        }
        peer.sees_us_leave();
        assert_eq!(endings(&playing.done()), ["black resignation 1"]);
    }
}

#[test]
fn a_connection_that_is_closed_after_a_rejected_game_hints_at_no_second_login() {
    let server = Server::new();
    let mut playing = Playing::scripted(server.port(), "games = 1", "0 7g7f\n");
    let mut peer = server.login();
    peer.say(SUMMARY);
    peer.hears("AGREE s+t-600-10+me+them+1");
    peer.say("REJECT:s+t-600-10+me+them+1 by them");
    drop(peer);
    let mut peer = server.begin();
    peer.echo("+7776FU");
    peer.say("%TORYO\n#RESIGN\n#WIN");
    let faults = faults(&playing.done());
    assert!(faults.contains("closed the connection after the rejected game"), "{faults}");
    assert!(!faults.contains("another program"), "{faults}");
}
