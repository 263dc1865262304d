//! The transcript of a game, as it is printed.

use super::client::{Client, Host};
use plan::serve::ServeConfig;
use std::process::Command;

fn game(host: &Host) -> [Client; 2] {
    let black = host.connect().login("sente", "t-600-10-B,t");
    let white = host.connect().login("gote", "t-600-10-W,t");
    let mut players = [black, white];
    for player in &mut players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in &mut players {
        assert!(player.line().unwrap().starts_with("START:"));
    }
    players
}

#[test]
fn every_line_of_a_game_is_stored_raw_and_printed_escaped() {
    let mut host = Host::start(ServeConfig::default());
    let [mut black, mut white] = game(&host);
    black.bytes(b"\x1b[2J \xff\n");
    assert!(black.line().unwrap().starts_with("##[ERROR]"));
    black.say("+7776FU");
    white.until("+7776FU,T0");
    white.bytes(b"-3334\xe8\x1b[31m\n");
    black.until("#WIN");
    white.until("#LOSE");
    let kept = host.end();
    let id: String = kept.query_row("SELECT name FROM game_names", [], |row| row.get(0)).unwrap();
    let db = host.dir().join("league.db");
    let log = |game: &str| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_renmei")).args(["log", game, "--db"]).arg(&db).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = log(&id);
    assert_eq!(code, Some(0));
    assert_eq!(text, log("1").1, "a game has a number and a name");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
    let lines: Vec<&str> =
        text.lines().map(|line| line.split_once("Z ").map_or(&line[27..], |it| it.1)).collect();
    let shown = |part: &str| lines.iter().filter(|line| line.contains(part)).count();
    assert_eq!(shown("< AGREE"), 2);
    assert_eq!(shown(&format!("> START:{id}")), 2);
    assert_eq!((shown("black < +7776FU"), shown("> +7776FU,T0")), (1, 2));
    assert_eq!(shown("black < \\u{1b}[2J \\xff"), 1);
    assert_eq!(shown("white < -3334\\xe8\\u{1b}[31m"), 1);
    assert_eq!((shown("> #ILLEGAL_MOVE"), shown("black > #WIN"), shown("white > #LOSE")), (2, 1, 1));
    assert_eq!(log("99").0, Some(1));
    assert_eq!(log("no such game").0, Some(1));
}
