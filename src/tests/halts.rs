//! A broken engine yields no verdict: the look before the start, and the limit of faults while games are played.

use crate::support::{Desk, Played, program};
use serde_json::Value;

/// So much time that nobody loses on time on a slow machine.
const LONG: &str = "600s";

/// Plays a match of an honest engine `new` against `old`, a puppet with these arguments.
fn against(desk: &Desk, puppet: &str, more: &[&str]) -> Played {
    let cmd = |name: &str| format!("cmd={}", program(name).display());
    let (bad, honest, args) = (cmd("renmei-puppet"), cmd("renmei-random"), format!("args={puppet}"));
    let base = ["--time", LONG, "--max-moves", "40", "--openings", "built-in", "--concurrency", "1"];
    let engines: [&[&str]; 2] = [&[&honest, "name=new"], &[&bad, "name=old", &args]];
    desk.play(&engines, &[&base, more].concat())
}

fn games(desk: &Desk) -> Vec<Vec<String>> {
    desk.query("SELECT count(*) FROM games WHERE state = 'counted'")
}

#[test]
fn an_sprt_against_an_engine_that_crashes_has_no_verdict_and_an_exit_code_of_its_own() {
    let desk = Desk::new();
    let sprt = ["--sprt", "elo0=0", "elo1=10", "--games", "400"];
    let played = against(&desk, "--mode crash --ply 3", &sprt);
    assert_eq!(played.code(), Some(12), "{}", played.text());
    let json = played.json();
    assert_eq!((&json["complete"], &json["sprt"]["verdict"]), (&false.into(), &Value::Null));
    assert_eq!(json["halted"][0]["name"], "old");
    assert_eq!(json["halted"][0]["reason"], "5 games in a row ended by its faults");
    let said = played.text();
    assert!(
        said.contains("engine `old` is halted: 5 games in a row ended by its faults; no further"),
        "{said}"
    );
    assert!(said.contains("--fault-limit 20"), "how to go on is said: {said}");
    assert!(said.contains("`renmei rerun ") && said.contains(" --faults`"), "and to have them again: {said}");
    assert_eq!(games(&desk), [["5"]], "no game began after the halt");
}

#[test]
fn an_sprt_without_a_number_of_games_is_played_to_its_verdict() {
    let desk = Desk::new();
    let sprt = ["--sprt", "elo0=0", "elo1=5", "alpha=0.0001", "beta=0.0001"];
    let played = against(&desk, "--mode resign", &sprt);
    assert_eq!(played.json()["sprt"]["verdict"], "H1", "{}", played.text());
    let counted: u64 = games(&desk)[0][0].parse().unwrap();
    assert!(counted > 100, "the verdict needs more than the games of a match, which were {counted}");
}

#[test]
fn a_halted_event_stays_halted_until_its_limit_is_raised() {
    let desk = Desk::new();
    let first = against(&desk, "--mode crash --ply 3", &["--games", "8"]);
    assert_eq!(first.code(), Some(4), "{}", first.text());
    let again = against(&desk, "--mode crash --ply 3", &["--games", "8"]);
    assert_eq!(again.code(), Some(4), "{}", again.text());
    assert!(again.text().contains("engine `old` is halted: 5 games in a row"), "{}", again.text());
    assert_eq!(games(&desk), [["5"]], "nothing was played");
    let further = against(&desk, "--mode crash --ply 3", &["--games", "8", "--fault-limit", "7"]);
    assert_eq!(further.code(), Some(4), "{}", further.text());
    assert_eq!(games(&desk), [["7"]]);
    let off = against(&desk, "--mode crash --ply 3", &["--games", "8", "--fault-limit", "off"]);
    assert_eq!(off.code(), Some(0), "{}", off.text());
    assert_eq!((games(&desk), &off.json()["complete"]), (vec![vec!["8".to_owned()]], &true.into()));
}

#[test]
fn an_engine_with_too_large_a_share_of_faults_is_halted() {
    let desk = Desk::new();
    // A process crashes in every third game, so never five times in a row.
    let played = against(&desk, "--mode crash --ply 3 --game 3", &["--games", "60"]);
    assert_eq!(played.code(), Some(4), "{}", played.text());
    let halted = &played.json()["halted"][0];
    assert_eq!((&halted["faults"], &halted["games"]), (&6.into(), &20.into()), "{halted}");
    assert_eq!(halted["reason"], "6 of its 20 games ended by its faults, more than 10 %");
}

#[test]
fn the_others_play_on_when_an_engine_is_halted() {
    let desk = Desk::new();
    let cmd = |name: &str| format!("cmd={}", program(name).display());
    let (bad, honest) = (cmd("renmei-puppet"), cmd("renmei-random"));
    let played = desk.play(
        &[
            &[&bad, "name=bad", "args=--mode crash --ply 3"],
            &[&honest, "name=a"],
            &[&honest, "name=b", "option.Seed=2"],
        ],
        &["--games", "8", "--time", LONG, "--max-moves", "20", "--openings", "none", "--concurrency", "2"],
    );
    assert_eq!(played.code(), Some(4), "{}", played.text());
    let between = "SELECT games FROM head_to_head WHERE player = 'a' AND opponent = 'b'";
    assert_eq!(desk.query(between), [["8"]], "{}", played.text());
    assert!(played.standing("bad")["games"].as_u64().unwrap() < 8, "{}", played.text());
}

#[test]
fn a_verdict_that_only_faults_reach_is_none() {
    let desk = Desk::new();
    // Bounds that some thirty games reach.
    let sprt = ["--sprt", "elo0=0", "elo1=300", "alpha=0.3", "beta=0.3", "--games", "400"];
    let limit = ["--fault-limit", "in_a_row=off,share=1"];
    let played = against(&desk, "--mode crash --ply 3", &[&sprt[..], &limit].concat());
    assert_eq!(played.code(), Some(12), "{}", played.text());
    assert_eq!(played.json()["sprt"]["verdict"], "faults");
    let report = desk.renmei(&["report", &desk.db().display().to_string()]);
    assert!(String::from_utf8_lossy(&report.stdout).contains("no verdict on strength"), "{report:?}");

    let off = Desk::new();
    let played = against(&off, "--mode crash --ply 3", &[&sprt[..], &["--fault-limit", "off"]].concat());
    assert_eq!(played.code(), Some(10), "who asks for it gets the verdict: {}", played.text());
}
