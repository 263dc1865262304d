//! Connections reset at every stage of the protocol, without grace time: the opponent's lines, the database, and that
//! the league continues.

use super::driver::{Client, Host};
use plan::serve::ServeConfig;

fn host() -> Host {
    Host::start(ServeConfig { grace: Some(0), ..ServeConfig::default() })
}

fn enter(host: &Host) -> [Client; 2] {
    let black = host.connect().login("sente", "t-600-10-B,t");
    [black, host.connect().login("gote", "t-600-10-W,t")]
}

fn agree(players: &mut [Client]) {
    for player in players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
}

fn started(host: &Host) -> [Client; 2] {
    let mut players = enter(host);
    agree(&mut players);
    for player in &mut players {
        assert!(player.line().unwrap().starts_with("START:"));
    }
    players
}

/// Checks that the league still plays a whole game, and that its database has these endings before that game.
fn still_plays(mut host: Host, endings: &[(&str, &str)]) {
    let [mut black, mut white] = started(&host);
    black.say("%TORYO");
    black.until("#LOSE");
    white.until("#WIN");
    let database = host.end();
    let mut rows = database.prepare("SELECT result, cause FROM games ORDER BY number").unwrap();
    let found: Vec<(String, String)> =
        rows.query_map([], |row| row.try_into()).unwrap().map(Result::unwrap).collect();
    let mut expected: Vec<_> =
        endings.iter().map(|(result, cause)| ((*result).to_owned(), (*cause).to_owned())).collect();
    expected.push(("white".to_owned(), "resignation".to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn cut_before_and_during_the_login() {
    let host = host();
    host.connect().cut();
    let mut half = host.connect();
    half.bytes(b"LOGIN sente t-600-");
    half.cut();
    still_plays(host, &[]);
}

#[test]
fn cut_while_waiting_for_an_opponent() {
    let host = host();
    host.connect().login("ghost", "t-600-10-B,t").cut();
    let mut white = host.connect().login("gote", "t-600-10-W,t");
    white.say("\n");
    white.hears(&[""]);
    assert!(white.drain().len() <= 1, "there is no opponent");
    white.cut();
    still_plays(host, &[]);
}

#[test]
fn cut_after_the_summary() {
    let host = host();
    let [mut black, mut white] = enter(&host);
    black.until("END Game_Summary");
    black.cut();
    white.until("END Game_Summary");
    assert!(white.line().unwrap().ends_with(" by sente"));
    still_plays(host, &[("aborted", "not-started")]);
}

#[test]
fn cut_after_the_own_and_after_the_opponents_agreement() {
    for who in [0, 1] {
        let host = host();
        let mut players = enter(&host);
        players[0].until("END Game_Summary");
        players[1].until("END Game_Summary");
        players[0].say("AGREE");
        let [black, white] = players;
        let (cut, mut stays) = if who == 0 { (black, white) } else { (white, black) };
        cut.cut();
        assert!(stays.line().unwrap().ends_with(["sente", "gote"][who]));
        still_plays(host, &[("aborted", "not-started")]);
    }
}

#[test]
fn cut_right_after_both_agreed() {
    for who in [0, 1] {
        let host = host();
        let mut players = enter(&host);
        agree(&mut players);
        let [black, white] = players;
        let (cut, mut stays) = if who == 0 { (black, white) } else { (white, black) };
        assert!(stays.line().unwrap().starts_with("START:"));
        cut.cut();
        stays.hears(&["%TORYO", "#RESIGN", "#WIN"]);
        still_plays(host, &[([("white"), ("black")][who], "disconnection")]);
    }
}

#[test]
fn cut_in_the_own_and_in_the_opponents_turn() {
    for who in [0, 1] {
        let host = host();
        let mut players = started(&host);
        players[0].say("+7776FU");
        players[0].hears(&["+7776FU,T0"]);
        players[1].hears(&["+7776FU,T0"]);
        let [black, white] = players;
        let (cut, mut stays) = if who == 0 { (black, white) } else { (white, black) };
        cut.cut();
        stays.hears(&["%TORYO", "#RESIGN", "#WIN"]);
        assert_eq!(stays.line(), None);
        still_plays(host, &[(["white", "black"][who], "disconnection")]);
    }
}

#[test]
fn a_move_that_arrived_before_the_cut_stands() {
    let host = host();
    let [mut black, mut white] = started(&host);
    black.say("+7776FU");
    white.hears(&["+7776FU,T0"]);
    black.cut();
    white.hears(&["%TORYO", "#RESIGN", "#WIN"]);
    still_plays(host, &[("white", "disconnection")]);
}

#[test]
fn cut_after_the_end() {
    let host = host();
    let [mut black, mut white] = started(&host);
    black.say("%TORYO");
    black.until("#LOSE");
    black.cut();
    white.hears(&["%TORYO,T0", "#RESIGN", "#WIN"]);
    white.cut();
    still_plays(host, &[("white", "resignation")]);
}
