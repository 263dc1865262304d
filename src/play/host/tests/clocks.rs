//! Time controls other than floodgate's.

use super::driver::{Host, game};
use plan::serve::{Counted, PlayerTime, ServeConfig};
use std::time::Duration;

#[test]
fn a_player_with_less_time_is_informed_and_its_flag_falls_first() {
    let own = PlayerTime { player: "gote".to_owned(), total: 1, byoyomi: 0, increment: 0 };
    let host = Host::start(ServeConfig { time: vec![own], ..ServeConfig::default() });
    let (mut black, mut white) = game(&host, "t-600-10");
    let mut watcher = host.connect();
    watcher.say("LOGIN watcher x x1");
    watcher.say("%%LIST");
    watcher.hears(&["LOGIN:watcher OK", "##[LOGIN] +OK x1"]);
    let listed = watcher.line().unwrap();
    watcher.say(&format!("%%SHOW {}", listed.strip_prefix("##[LIST] ").unwrap()));
    watcher.until("##[SHOW] BEGIN Time+");
    watcher.hears(&["##[SHOW] Time_Unit:1sec", "##[SHOW] Total_Time:600"]);
    watcher.until("##[SHOW] BEGIN Time-");
    watcher.hears(&["##[SHOW] Time_Unit:1sec", "##[SHOW] Total_Time:1"]);
    watcher.until("##[SHOW] Remaining_Time+:600");
    watcher.hears(&["##[SHOW] Remaining_Time-:1"]);
    black.say("+7776FU");
    black.hears(&["+7776FU,T0"]);
    host.passes(Duration::from_secs(2));
    black.hears(&["#TIME_UP", "#WIN"]);
    white.hears(&["+7776FU,T0", "#TIME_UP", "#LOSE"]);
}

#[test]
fn a_league_that_counts_milliseconds_announces_and_charges_them() {
    let mut host = Host::start(ServeConfig { time_unit: Counted::Msec, ..ServeConfig::default() });
    let (mut black, mut white) = game(&host, "t-600-10");
    host.passes(Duration::from_millis(20));
    black.say("+7776FU");
    let relayed = white.line().unwrap();
    assert_eq!(black.line().as_ref(), Some(&relayed));
    let charged: i64 = relayed.strip_prefix("+7776FU,T").unwrap().parse().unwrap();
    white.say("%TORYO");
    white.until("#LOSE");
    let query = "SELECT charged_ms, left_ms FROM moves";
    let stored: (i64, i64) = host.end().query_row(query, [], |row| row.try_into()).unwrap();
    assert_eq!(stored, (charged, 600_000 - charged));
    assert_eq!(charged, 20);
}
