//! Clients that meddle with the games of others, and with what others see.

use super::driver::{Client, Host};
use plan::serve::ServeConfig;
use std::time::Duration;

#[test]
fn a_third_client_can_watch_a_game_but_not_affect_it() {
    let mut host = Host::start(ServeConfig { grace: Some(0), ..ServeConfig::default() });
    let mut black = host.connect().login("sente", "t-600-10-B,t");
    let mut third = host.connect().login_x1("third", "secret");
    let mut waiting = host.connect().login("fourth", "other-600-10,t");
    let mut white = host.connect().login("gote", "t-600-10-W,t");
    let id = loop {
        if let Some(id) = black.line().unwrap().strip_prefix("Game_ID:") {
            break id.to_owned();
        }
    };
    let meddle = |third: &mut Client, waiting: &mut Client| {
        for line in [
            "AGREE",
            &format!("AGREE {id}"),
            &format!("REJECT {id}"),
            "+7776FU",
            "-3334FU",
            "%TORYO",
            "%KACHI",
            "%CHUDAN",
        ] {
            third.say(line);
            assert!(third.line().unwrap().starts_with("##[ERROR] you are in connected status."), "{line}");
            waiting.say(line);
            assert!(
                waiting.line().unwrap().starts_with("##[ERROR] you are in game_waiting status."),
                "{line}"
            );
        }
    };
    meddle(&mut third, &mut waiting);
    for player in [&mut black, &mut white] {
        player.say("AGREE");
    }
    for player in [&mut black, &mut white] {
        player.until(&format!("START:{id}"));
    }
    meddle(&mut third, &mut waiting);
    for name in ["sente x", "sente t-600-10-B,other", "sente t-600-10-B"] {
        let mut double = host.connect();
        double.say(&format!("LOGIN {name}"));
        double.hears(&["LOGIN:incorrect"]);
        double.rest();
    }
    third.say(&format!("%%MONITOR2ON {id}"));
    third.until(&format!("##[MONITOR2][{id}] +OK"));
    white.say("-3334FU"); // out of turn: queued until the turn
    black.say("+7776FU");
    black.hears(&["+7776FU,T0", "-3334FU,T0"]);
    white.hears(&["+7776FU,T0", "-3334FU,T0"]);
    host.passes(Duration::from_millis(10));
    third.until(&format!("##[MONITOR2][{id}] -3334FU"));
    black.say("%TORYO");
    white.hears(&["%TORYO,T0", "#RESIGN", "#WIN"]);
    let sql =
        "SELECT plies, (SELECT count(*) FROM moves WHERE game = g.id), cause FROM games g WHERE number = 1";
    let first: (u32, u32, String) = host.end().query_row(sql, [], |row| row.try_into()).unwrap();
    assert_eq!(first, (2, 2, "resignation".to_owned()));
}

#[test]
fn a_login_whose_game_is_misspelt_is_refused_with_a_line_and_may_be_repeated() {
    let host = Host::start(ServeConfig::default());
    let mut player = host.connect();
    player.say("LOGIN kuma t-600-10f,t");
    player.hears(&["LOGIN:incorrect", "game name should consist of three parts like game-1500-60."]);
    player.say("LOGIN kuma t-600-10F,t");
    assert!(player.line().unwrap().starts_with("LOGIN:kuma"));
}

#[test]
fn control_characters_of_names_and_comments_reach_no_terminal_record_or_database() {
    let mut host = Host::start(ServeConfig { grace: Some(0), ..ServeConfig::default() });
    let long = "x".repeat(33);
    for name in ["../../etc/passwd", "a/b", "\u{1b}[2J", "a\0b", "角", ".hidden", "a\u{202e}b", &long] {
        let mut stranger = host.connect();
        stranger.say(&format!("LOGIN {name} t-600-10,t"));
        stranger.hears(&["LOGIN:incorrect"]);
    }
    let mut watcher = host.connect().login_x1("watcher", "x");
    let mut black = host.connect().login("sente", "t-600-10-B,t");
    let mut white = host.connect().login("gote", "t-600-10-W,t");
    for player in [&mut black, &mut white] {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in [&mut black, &mut white] {
        assert!(player.line().unwrap().starts_with("START:"));
    }
    black.bytes(b"+7776FU,'* 30 -3334FU \x1b[2J\x07\xff ../../x\n");
    black.hears(&["+7776FU,T0"]);
    white.hears(&["+7776FU,T0"]);
    for line in [
        "%%CHAT \u{1b}]0;owned\u{7}",
        "%%SETBUOY ../x\u{1b}[1m-1-1 +7776FU",
        "%%GAME \u{1b}[2J +",
        "\u{1b}c",
        "%%MONITORON ../\u{1b}c",
    ] {
        watcher.say(line);
    }
    watcher.say("%%VERSION");
    let heard: Vec<String> =
        std::iter::from_fn(|| watcher.line().filter(|line| line != "##[VERSION] +OK")).collect();
    assert!(heard[0].starts_with("##[CHAT][watcher] "), "{heard:?}");
    assert!(heard.iter().flat_map(|line| line.bytes()).all(|b| matches!(b, 0x20..0x7f)), "{heard:?}");
    white.bytes(b"-33\x1b[31m\xfe,'* 1\n");
    black.hears(&["#ILLEGAL_MOVE", "#WIN"]);
    let database = host.end();
    let texts: (String, String) = database
        .query_row("SELECT pv, evidence FROM moves JOIN games ON games.id = game", [], |row| row.try_into())
        .unwrap();
    for text in [texts.0, texts.1] {
        assert!(text.contains("\\u{1b}[") && text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
}

#[test]
fn connections_beyond_the_limit_of_an_address_are_refused() {
    let mut limited = ServeConfig::default();
    limited.limits.connections_per_address = 3;
    let host = Host::start(limited);
    let mut inside: Vec<_> = (0..3).map(|n| host.connect().login_x1(&format!("p{n}"), "x")).collect();
    host.connect().rest();
    let mut leaving = inside.pop().unwrap();
    leaving.say("LOGOUT");
    leaving.rest();
    host.connect().login_x1("next", "x");
}
