//! How games end, and what is sent then.

use super::driver::{Host, game};
use plan::serve::ServeConfig;
use std::time::Duration;

#[test]
fn a_flag_falls_without_any_line_from_a_client() {
    let host = Host::start(ServeConfig::default());
    let (mut black, mut white) = game(&host, "t-1-0");
    host.passes(Duration::from_secs(2));
    black.hears(&["#TIME_UP", "#LOSE"]);
    white.hears(&["#TIME_UP", "#WIN"]);
}

#[test]
fn a_declaration_is_sent_once_and_loses_when_invalid() {
    let host = Host::start(ServeConfig::default());
    let (mut black, mut white) = game(&host, "t-600-10");
    black.say("%KACHI");
    black.hears(&["%KACHI,T0", "#ILLEGAL_MOVE", "#LOSE"]);
    white.hears(&["%KACHI,T0", "#ILLEGAL_MOVE", "#WIN"]);
}

#[test]
fn without_grace_a_dropped_connection_loses_at_once_on_either_turn() {
    let host = Host::start(ServeConfig { grace: Some(0), ..ServeConfig::default() });
    let (mut black, white) = game(&host, "t-600-10");
    drop(white);
    black.hears(&["%TORYO", "#RESIGN", "#WIN"]);
}

#[test]
fn the_start_position_is_the_first_of_four() {
    let host = Host::start(ServeConfig::default());
    let (mut black, mut white) = game(&host, "t-600-10");
    for _ in 0..3 {
        for (mover, mv) in [(0, "+5958OU"), (1, "-5152OU"), (0, "+5859OU"), (1, "-5251OU")] {
            [&mut black, &mut white][mover].say(mv);
            let expected = format!("{mv},T0");
            black.hears(&[&expected]);
            white.hears(&[&expected]);
        }
    }
    black.hears(&["#SENNICHITE", "#DRAW"]);
    white.hears(&["#SENNICHITE", "#DRAW"]);
}

#[test]
fn a_game_whose_players_both_left_before_its_start_has_no_loser() {
    let mut host = Host::start(ServeConfig::default());
    let mut black = host.connect();
    black.say("LOGIN sente t-600-10-B,t");
    black.hears(&["LOGIN:sente OK"]);
    let mut white = host.connect();
    white.say("LOGIN gote t-600-10-W,t");
    black.until("END Game_Summary");
    drop(white);
    assert!(black.line().unwrap().ends_with(" by gote"));
    assert_eq!(black.line(), None);
    let ended: String = host.end().query_row("SELECT result FROM games", [], |row| row.get(0)).unwrap();
    assert_eq!(ended, "aborted");
}
