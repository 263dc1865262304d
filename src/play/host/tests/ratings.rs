//! Ratings of a league.

use super::driver::{Host, game};
use plan::serve::ServeConfig;
use std::time::Duration;

#[test]
fn ratings_are_sent_and_stored_after_games_and_only_for_players_with_a_trip() {
    let mut host = Host::start(ServeConfig::default());
    for loser in [0, 1, 1] {
        let (mut black, mut white) = game(&host, "t-600-10");
        if loser == 1 {
            black.say("+7776FU");
            white.hears(&["+7776FU,T0"]);
        }
        let losing = if loser == 0 { &mut black } else { &mut white };
        losing.say("%TORYO");
        losing.until("#LOSE");
        black.drain();
        white.drain();
    }
    let mut watcher = host.connect();
    watcher.say("LOGIN watcher x x1");
    watcher.hears(&["LOGIN:watcher OK", "##[LOGIN] +OK x1"]);
    let mut ratings: Vec<String> = vec![];
    // Ratings are estimated after the end of a game has been sent; after one game each they were equal.
    let is_last = |ratings: &[String]| ratings[0].contains("sente+") && ratings[1].contains("\t  9");
    while ratings.len() < 2 || !is_last(&ratings) {
        ratings.clear();
        watcher.say("%%RATING");
        while let Some(line) = watcher.line().filter(|line| line != "##[RATING] +OK") {
            ratings.push(line);
        }
        host.passes(Duration::from_secs(1));
    }
    let names = "SELECT group_concat(name) FROM (SELECT name FROM players ORDER BY player)";
    let db = host.end();
    let ids: String = db.query_row(names, [], |row| row.get(0)).unwrap();
    let (sente, gote) = ids.split_once(',').unwrap();
    let shown = |id: &str| id[..id.find('+').unwrap() + 10].to_owned();
    assert!(ratings[0].starts_with(&format!("##[RATING] {} \t 10", shown(sente))), "{ratings:?}");
    assert!(ratings[1].starts_with(&format!("##[RATING] {} \t  9", shown(gote))), "{ratings:?}");
    let query = "SELECT group_concat(player || ' ' || games || ' ' || (rating > 1000), ', ') FROM standings";
    let stored: String = db.query_row(query, [], |row| row.get(0)).unwrap();
    assert_eq!(stored, format!("{sente} 3 1, {gote} 3 0"));
}
