//! The host over real sockets, in this process: golden conversations, transcripts recorded from floodgate's server,
//! and further tests.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "csa/accounts.rs"]
mod accounts;
#[path = "csa/client.rs"]
mod client;
#[path = "csa/duel.rs"]
mod duel;
#[path = "csa/hostile.rs"]
mod hostile;
#[path = "csa/kept.rs"]
mod kept;
#[path = "csa/operator.rs"]
mod operator;
#[path = "csa/quotas.rs"]
mod quotas;
#[path = "csa/recorder.rs"]
mod recorder;
#[path = "csa/rounds.rs"]
mod rounds;
#[path = "csa/script.rs"]
mod script;
#[path = "csa/siege.rs"]
mod siege;
#[allow(dead_code)]
mod support;
#[path = "csa/survival.rs"]
mod survival;
#[path = "csa/tls.rs"]
mod tls;
#[path = "csa/transcripts.rs"]
mod transcripts;
#[path = "csa/trips.rs"]
mod trips;

use client::{Client, Host};
use plan::serve::ServeConfig;

fn game(host: &Host, name: &str) -> (Client, Client) {
    let mut black = host.connect();
    black.say(&format!("LOGIN sente {name}-B,t"));
    black.hears(&["LOGIN:sente OK"]);
    let mut white = host.connect();
    white.say(&format!("LOGIN gote {name}-W,t"));
    white.hears(&["LOGIN:gote OK"]);
    for player in [&mut black, &mut white] {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in [&mut black, &mut white] {
        assert!(player.line().unwrap().starts_with("START:league+"));
    }
    (black, white)
}

#[test]
fn a_resignation_is_sent_with_its_time_and_both_connections_are_closed() {
    let mut host = Host::start(ServeConfig::default());
    let (mut black, mut white) = game(&host, "t-600-10");
    black.say("+7776FU,'* 35 -8384FU");
    black.hears(&["+7776FU,T0"]);
    white.hears(&["+7776FU,T0"]);
    white.say("%TORYO");
    black.hears(&["%TORYO,T0", "#RESIGN", "#WIN"]);
    white.hears(&["%TORYO,T0", "#RESIGN", "#LOSE"]);
    assert_eq!((black.line(), white.line()), (None, None), "CSA mode ends with the game");
    let stored = host.end();
    let game = stored.query_row(
        "SELECT black, white, result, cause, plies FROM game_list",
        [],
        |row| -> rusqlite::Result<(String, String, String, String, u32)> { row.try_into() },
    );
    let (black, white, result, cause, plies) = game.unwrap();
    assert!(black.starts_with("sente+") && white.starts_with("gote+"), "{black} {white}");
    assert_eq!((result.as_str(), cause.as_str(), plies), ("black", "resignation", 1));
    let score: i32 = stored.query_row("SELECT score_cp FROM moves", [], |row| row.get(0)).unwrap();
    assert_eq!(score, 35);
}
