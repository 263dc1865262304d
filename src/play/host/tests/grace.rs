//! Grace time: the seat of a player whose connection drops is kept, and the game is offered again after the next
//! login.

use super::driver::{Client, Host};
use plan::serve::{Compat, ServeConfig};
use std::time::Duration;

fn host(grace: u64) -> Host {
    Host::start(ServeConfig { grace: Some(grace), ..ServeConfig::default() })
}

/// Starts a game with black's first move played, `sente` in CSA mode and `gote` in the extended mode; returns the
/// Game_ID as well.
fn game(host: &Host, name: &str) -> (Client, Client, String) {
    let mut white = host.connect().login_x1("gote", "riddle");
    white.say(&format!("%%GAME {name} -"));
    let mut black = host.connect().login("sente", &format!("{name}-B,trip"));
    let mut id = String::new();
    for player in [&mut black, &mut white] {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in [&mut black, &mut white] {
        id = player.line().unwrap().strip_prefix("START:").unwrap().to_owned();
    }
    black.say("+7776FU");
    for player in [&mut black, &mut white] {
        player.hears(&["+7776FU,T0"]);
    }
    (black, white, id)
}

/// The moves in the next game summary.
fn moves_listed(player: &mut Client, color: char) -> Vec<String> {
    player.until(&format!("Your_Turn:{color}"));
    player.until("To_Move:+");
    player.until("+");
    let mut moves = vec![];
    loop {
        match player.line().unwrap() {
            end if end == "END Position" => break,
            mv => moves.push(mv),
        }
    }
    player.hears(&["END Game_Summary"]);
    moves
}

fn back(host: &Host) -> Client {
    host.connect().login("sente", "any-1-1,trip")
}

#[test]
fn a_dropped_player_returns_in_the_opponents_turn_and_the_game_continues() {
    let mut host = host(60);
    let (black, mut white, id) = game(&host, "t-600-10");
    black.cut();
    let mut black = back(&host);
    assert_eq!(moves_listed(&mut black, '+'), ["+7776FU,T0"]);
    white.say("-3334FU");
    white.hears(&["-3334FU,T0"]);
    black.say("AGREE");
    black.hears(&[&format!("START:{id}"), "-3334FU,T0"]);
    black.say("+2726FU");
    white.hears(&["+2726FU,T0"]);
    black.hears(&["+2726FU,T0"]);
    white.say("%TORYO");
    black.hears(&["%TORYO,T0", "#RESIGN", "#WIN"]);
    assert_eq!(black.line(), None);
    let sql = "SELECT black, plies, cause, (SELECT count(*) FROM games) FROM game_list";
    let stored: (String, u32, String, u32) = host.end().query_row(sql, [], |row| row.try_into()).unwrap();
    assert!(stored.0.starts_with("sente+"));
    assert_eq!((stored.1, stored.2.as_str(), stored.3), (3, "resignation", 1));
}

#[test]
fn a_dropped_player_returns_in_its_own_turn_repeatedly() {
    let host = host(60);
    let (mut black, white, id) = game(&host, "t-600-10");
    white.cut();
    for _ in 0..2 {
        let mut white = host.connect().login_x1("gote", "riddle");
        assert_eq!(moves_listed(&mut white, '-'), ["+7776FU,T0"]);
        white.cut();
    }
    let mut white = host.connect().login_x1("gote", "riddle");
    moves_listed(&mut white, '-');
    white.say("-3334FU");
    white.hears(&["##[ERROR] you are back in your game: AGREE comes before the next MOVE"]);
    white.say("AGREE");
    white.hears(&[&format!("START:{id}")]);
    white.say("-3334FU");
    assert!(black.line().unwrap().starts_with("-3334FU,T"));
    assert!(white.line().unwrap().starts_with("-3334FU,T"));
    black.say("%TORYO");
    white.until("#WIN");
    white.say("%%WHO");
    let shown = loop {
        let line = white.line().unwrap();
        if line.starts_with("##[WHO] gote") {
            break line;
        }
    };
    assert!(shown.starts_with("##[WHO] gote+") && shown.ends_with(" x1 connected"), "{shown}");
}

#[test]
fn a_new_connection_takes_the_game_over_from_a_dead_one() {
    let host = host(60);
    let (mut old, mut white, id) = game(&host, "t-600-10");
    let mut black = back(&host);
    old.rest();
    moves_listed(&mut black, '+');
    black.say("AGREE");
    black.hears(&[&format!("START:{id}")]);
    white.say("%TORYO");
    black.hears(&["%TORYO,T0", "#RESIGN", "#WIN"]);
}

#[test]
fn no_other_player_can_take_over_a_kept_seat() {
    let host = host(60);
    let (black, mut white, _) = game(&host, "t-600-10");
    black.cut();
    for thief in ["sente t-600-10-B,trap", "sente t-600-10", "sente trap x1", "sente t-600-10-B,trip,"] {
        let mut stranger = host.connect();
        stranger.say(&format!("LOGIN {thief}"));
        stranger.hears(&["LOGIN:incorrect"]);
        stranger.rest();
    }
    white.say("%TORYO");
    white.hears(&["%TORYO,T0", "#RESIGN", "#LOSE"]);
}

#[test]
fn a_player_who_does_not_return_in_time_loses() {
    let mut host = host(1);
    let (black, mut white, _) = game(&host, "t-600-10");
    black.cut();
    host.passes(Duration::from_millis(900));
    assert_eq!(white.drain(), b"");
    host.passes(Duration::from_millis(100));
    white.hears(&["%TORYO", "#RESIGN", "#WIN"]);
    host.connect().login("sente", "t-600-10,trip");
    let evidence: String = host.end().query_row("SELECT evidence FROM games", [], |row| row.get(0)).unwrap();
    assert!(evidence.contains("nobody came back"), "{evidence}");
}

#[test]
fn the_clock_of_a_dropped_player_runs_on() {
    let host = host(60);
    let (mut black, white, _) = game(&host, "t-1-0");
    white.cut();
    host.passes(Duration::from_secs(2));
    black.hears(&["#TIME_UP", "#WIN"]);
}

#[test]
fn logout_missing_trip_and_shogi_server_compatibility_lose_at_once() {
    let host = host(60);
    let (mut black, mut white, _) = game(&host, "t-600-10");
    black.say("LOGOUT");
    white.hears(&["%TORYO", "#RESIGN", "#WIN"]);
    let mut black = host.connect().login("nobody", "u-600-10-B");
    white.say("%%GAME u-600-10 -");
    for player in [&mut black, &mut white] {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in [&mut black, &mut white] {
        assert!(player.line().unwrap().starts_with("START:"));
    }
    black.cut();
    white.hears(&["%TORYO", "#RESIGN", "#WIN"]);
    let host = Host::start(ServeConfig { compat: Compat::ShogiServer, ..ServeConfig::default() });
    let (black, mut white, _) = game(&host, "t-600-10");
    black.cut();
    white.hears(&["%TORYO", "#RESIGN", "#WIN"]);
}

#[test]
fn a_player_who_returns_and_rejects_the_game_loses() {
    let host = host(60);
    let (black, mut white, id) = game(&host, "t-600-10");
    black.cut();
    let mut black = back(&host);
    black.until("END Game_Summary");
    black.say("REJECT");
    white.hears(&["%TORYO", "#RESIGN", "#WIN"]);
    black.hears(&[&format!("START:{id}"), "%TORYO", "#RESIGN", "#LOSE"]);
}

#[test]
fn of_two_logins_that_come_together_the_later_one_gets_the_game() {
    for cut in [true, false] {
        let host = host(60);
        let (old, mut white, id) = game(&host, "t-600-10");
        // The former connection is there yet, or the host has not heard of its end.
        let _old = if cut { None } else { Some(old) };
        let (mut first, mut second) = (host.connect(), host.connect());
        for login in [&mut first, &mut second] {
            login.say("LOGIN sente any-1-1,trip");
        }
        first.hears(&["LOGIN:sente OK"]);
        first.rest();
        second.hears(&["LOGIN:sente OK"]);
        assert_eq!(moves_listed(&mut second, '+'), ["+7776FU,T0"]);
        second.say("AGREE");
        second.hears(&[&format!("START:{id}")]);
        white.say("%TORYO");
        white.hears(&["%TORYO,T0", "#RESIGN", "#LOSE"]);
        second.hears(&["%TORYO,T0", "#RESIGN", "#WIN"]);
    }
}

#[test]
fn a_league_that_finishes_takes_back_who_plays_and_nobody_else() {
    let mut host = host(60);
    let (black, mut white, id) = game(&host, "t-600-10");
    host.finishes();
    let mut stranger = host.connect();
    stranger.say("LOGIN new t-600-10,trip");
    stranger.hears(&["LOGIN:incorrect"]);
    black.cut();
    let mut black = back(&host);
    moves_listed(&mut black, '+');
    black.say("AGREE");
    black.hears(&[&format!("START:{id}")]);
    white.say("%TORYO");
    black.hears(&["%TORYO,T0", "#RESIGN", "#WIN"]);
    assert_eq!(black.line(), None, "it is sent away after its game");
    let cause: String = host.end().query_row("SELECT cause FROM game_list", [], |row| row.get(0)).unwrap();
    assert_eq!(cause, "resignation");
}
