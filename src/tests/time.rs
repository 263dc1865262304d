//! Policies of time estimated from games, through the real binary.

use crate::support::{Desk, program};
use serde_json::Value;
use std::{fs, process::Output};

/// Games of renmei-pairwise against itself, as if each move had taken half a second of a minute. The searches are short, so
/// that no clock is in danger on a slow machine.
fn games() -> Desk {
    let desk = Desk::new();
    let command = format!("cmd={}", program("renmei-pairwise").display());
    let engine = |name: &'static str| [name, "option.NodesLimit=300", "option.ResignValue=1000"];
    let [one, other] = [engine("name=one"), engine("name=other")];
    let engines = [[&[&*command], &one[..]].concat(), [&[&*command], &other[..]].concat()];
    let played = desk.play(&[&engines[0], &engines[1]], &["--games", "24", "--time", "60s"]);
    assert_eq!(played.code(), Some(0), "{}", played.text());
    let moves =
        "UPDATE moves SET elapsed_us = 500000, charged_ms = 500, left_ms = max(0, 60000 - 250 * (ply + 1))";
    rusqlite::Connection::open(desk.db()).unwrap().execute(moves, []).unwrap();
    desk
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn refused(done: &Output, why: &[&str]) {
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    why.iter().for_each(|why| assert!(said.contains(why), "{why}: {said}"));
}

#[test]
fn games_without_a_clock_are_refused_before_anything_else_is_asked_for() {
    let desk = Desk::new();
    let command = format!("cmd={}", program("renmei-random").display());
    let [one, other] = [[&*command, "name=one"], [&*command, "name=other"]];
    let played = desk.play(&[&one, &other], &["--games", "24", "--each", "nodes=10", "--max-moves", "30"]);
    assert_eq!(played.code(), Some(0), "{}", played.text());
    desk.write("policy.toml", "moves = 30\n");
    let done = desk.renmei(&["time", "event.db", "--policy", "policy.toml"]);
    refused(&done, &["no clock to divide: they were played with a fixed time, nodes or depth"]);
    assert!(!text(&done.stderr).contains("doubling"), "{}", text(&done.stderr));
}

#[test]
fn a_policy_is_predicted_from_stored_clocks_and_refused_where_they_do_not_tell() {
    let desk = games();
    desk.write("front.toml", "moves = 30\n[[phase]]\nfrom = 61\nshare = 50\n");
    let ask = ["time", "event.db", "--policy", "front.toml"];
    let asked = [&ask[..], &["--elo-per-doubling", "100+-10"]].concat();
    let done = desk.renmei(&[&asked[..], &["--json", "--plot", "time.svg"]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let found: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(found["policy"], "moves=30 ply61=50");
    assert_eq!(found["players"], serde_json::json!(["one", "other"]), "they are one engine");
    let first = &found["phases"][0]["seconds"];
    let ratio = first[1].as_f64().unwrap() / first[0].as_f64().unwrap();
    assert!((1.5..2.5).contains(&ratio), "twice the time in the opening: {found}");
    let [low, elo, high] =
        [&found["interval"][0], &found["elo"], &found["interval"][1]].map(|it| it.as_f64().unwrap());
    assert!(low <= elo && elo <= high && low < high, "{found}");
    assert!(fs::read_to_string(desk.path("time.svg")).unwrap().contains("policy"));
    let printed = text(&desk.renmei(&asked).stdout);
    for word in
        ["predicted: ", "twice the nodes: +100 ±10 Elo, as given", "option.TimePolicy=\"moves=30 ply61=50\""]
    {
        assert!(printed.contains(word), "{word}: {printed}");
    }

    refused(
        &desk.renmei(&ask),
        &["the worth of a doubling cannot be measured: 0 games", "--elo-per-doubling"],
    );
    refused(
        &desk.renmei(&[&asked[..], &["--player", "nobody"]].concat()),
        &["no player `nobody`; it has: one, other"],
    );
    desk.write("bad.toml", "moves = 0\nleast_move = 9\n[[phase]]\nfrom = 1\n");
    refused(
        &desk.renmei(&["time", "event.db", "--policy", "bad.toml"]),
        &[
            "bad.toml:1:9: moves: 0 is out of range",
            "bad.toml:2:1: least_move: unknown key",
            "bad.toml:3:1: phase[0].share",
        ],
    );
    rusqlite::Connection::open(desk.db()).unwrap().execute("UPDATE moves SET nodes = NULL", []).unwrap();
    refused(&desk.renmei(&asked), &["only 0 of ", "moves have nodes and a score"]);
}
