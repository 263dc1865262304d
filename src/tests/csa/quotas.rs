//! Retention: what a league keeps of old games.

use super::client::{Client, Host};
use plan::serve::{Retention, ServeConfig};
use std::time::{Duration, Instant};

const HONEST: [u8; 4] = [127, 0, 0, 1];

fn log_in(host: &Host, from: [u8; 4], names: [&str; 2]) -> [Client; 2] {
    names.map(|name| host.connect_from(from).login_x1(name, "secret"))
}

/// Makes two players ask for a game with each other, and agree.
fn begin(players: &mut [Client; 2], name: &str) {
    for (player, color) in players.iter_mut().zip(["+", "-"]) {
        player.say(&format!("%%GAME {name}-600-10 {color}"));
    }
    for player in &mut *players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in players {
        while !player.line().unwrap().starts_with("START:") {}
    }
}

fn end([black, white]: &mut [Client; 2]) {
    black.say("%TORYO");
    black.until("#LOSE");
    white.until("#WIN");
}

#[test]
fn a_league_with_retention_drops_the_moves_of_old_games_while_it_runs_and_keeps_results_and_ratings() {
    let config = ServeConfig::default();
    let mut before = Host::start(config.clone());
    let mut players = log_in(&before, HONEST, ["sente", "gote"]);
    for _ in 0..3 {
        begin(&mut players, "t");
        players[0].say("+7776FU");
        players[1].until("+7776FU,T0");
        players[1].say("-3334FU");
        players[0].until("-3334FU,T0");
        end(&mut players);
    }
    drop(before.end());
    let limited = ServeConfig { retention: Retention { days: Some(30), games: None }, ..config };
    let mut host = Host::prepared(limited, |path| {
        std::fs::copy(before.dir().join("league.db"), path).unwrap();
        let old = rusqlite::Connection::open(path).unwrap();
        old.execute("UPDATE games SET ended_at = ended_at - 31 * 86400000 WHERE number < 3", []).unwrap();
    });
    let path = host.dir().join("league.db");
    let open = || rusqlite::Connection::open(&path).unwrap();
    let text = |sql: &str| -> String {
        let found: Option<String> = open().query_row(sql, [], |row| row.get(0)).unwrap();
        found.unwrap_or_default()
    };
    let patience = Instant::now() + testing::PATIENCE;
    while text("SELECT group_concat(DISTINCT number) FROM games WHERE pruned_at > 0") != "1,2" {
        assert!(Instant::now() < patience, "no game was pruned");
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut players = log_in(&host, HONEST, ["sente", "gote"]);
    begin(&mut players, "t");
    end(&mut players);
    drop(host.end());
    let left =
        "SELECT group_concat(number) FROM (SELECT DISTINCT number FROM games JOIN moves ON game = games.id)";
    assert_eq!(text(left), "3");
    assert_eq!(text("SELECT group_concat(DISTINCT number) FROM wire WHERE number < 4"), "3");
    let wins = "SELECT player FROM standings WHERE wins = 4";
    assert!(text(wins).starts_with("gote+"));
}
