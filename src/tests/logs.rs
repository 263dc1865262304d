//! What engines say and are told is kept, so that a fault can be looked into afterwards.

use crate::support::{Desk, program};
use std::fs;

/// Time of players that must not lose on time on a slow machine.
const LONG: &str = "600s";

fn cmd(name: &str) -> String {
    format!("cmd={}", program(name).display())
}

/// Plays a puppet in a mode against an honest engine.
fn play(desk: &Desk, puppet: &[&str], games: &str, more: &[&str]) {
    let (bad, good) = (cmd("renmei-puppet"), cmd("renmei-random"));
    let puppet = [&[&*bad, "name=bad", "option.Seed=3"], puppet].concat();
    let rules = ["--games", games, "--concurrency", "1", "--time", LONG, "--max-moves", "30"];
    let rules = [&rules[..], &["--openings", "none"]].concat();
    let played = desk.play(&[&puppet, &[&good, "name=good"]], &[&rules[..], more].concat());
    assert!(played.json()["games"].as_u64() > Some(0), "{}", played.text());
}

/// What `renmei log` prints of a game, and its exit code.
fn log(desk: &Desk, game: &str) -> (Option<i32>, String) {
    let output = desk.renmei(&["log", game, "--db", "event.db"]);
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8_lossy(&both).into_owned())
}

/// The lines of a side, without their times.
fn side(log: &str, color: &str) -> Vec<String> {
    let mark = format!(" {color} ");
    log.lines().filter_map(|line| line.split_once(&mark)).map(|(_, text)| text.to_owned()).collect()
}

fn position(of: &str, lines: &[String]) -> usize {
    lines.iter().position(|line| line.starts_with(of)).unwrap_or_else(|| panic!("no `{of}` in {lines:#?}"))
}

#[test]
fn the_conversations_of_a_game_that_ended_by_a_fault_are_kept_from_the_start_of_the_engines() {
    let desk = Desk::new();
    // The second game of its process, as white.
    play(&desk, &["option.Mode=crash", "option.Ply=4", "option.Game=2"], "4", &[]);
    let (code, text) = log(&desk, "2");
    assert_eq!(code, Some(0), "{text}");
    let colors = if desk.query("SELECT black FROM game_list WHERE number = 2")[0][0] == "bad" {
        ["black", "white"]
    } else {
        ["white", "black"]
    };
    let [bad, good] = colors.map(|color| side(&text, color));
    let steps =
        ["> usi", "< id name Renmei puppet", "> setoption name Mode value crash", "< readyok", "> go btime"];
    let places = steps.map(|step| position(step, &bad));
    assert!(places.is_sorted(), "{bad:#?}");
    assert_eq!(bad.last().unwrap(), "! renmei-puppet: assertion failed");
    let readies = bad.iter().filter(|line| *line == "> isready").count();
    assert_eq!(
        readies, 2,
        "the start of the process and the start of this game, not the game between: {bad:#?}"
    );
    assert!(bad.iter().filter(|line| line.starts_with("< bestmove")).count() < 4, "{bad:#?}");
    assert_eq!(good.last().unwrap(), "> gameover win");
    position("> usi", &good);
    let instant = text.lines().next().unwrap();
    assert!(instant.starts_with("20") && instant.as_bytes()[19] == b'.', "UTC with microseconds: {instant}");
    let (code, text) = log(&desk, "1");
    assert_eq!(code, Some(1));
    assert!(
        text.contains("no transcript of a game `1`") && text.contains("with `--log DIR` of every game"),
        "{text}"
    );
    let (_, text) = log(&desk, "9");
    assert!(text.contains("event `match` has no such game"), "{text}");
}

#[test]
fn a_log_directory_has_a_file_for_each_side_of_every_game() {
    let desk = Desk::new();
    play(
        &desk,
        &["option.Mode=nifu", "option.Game=9", "name=b/a..d"],
        "2",
        &["--log", "logs", "--openings", "none"],
    );
    let mut names: Vec<String> = fs::read_dir(desk.path("logs"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(
        names[0].starts_with("match-000001-black-") && names[3].starts_with("match-000002-white-"),
        "{names:?}"
    );
    assert!(names.iter().any(|name| name.contains("b_a..d")), "{names:?}");
    for name in &names {
        let text = fs::read_to_string(desk.path("logs").join(name)).unwrap();
        assert!(text.starts_with("# game "), "{text}");
        let marks: Vec<&str> = text.lines().skip(1).filter_map(|line| line.get(39..)).collect();
        for line in ["> usi", "< usiok", "> isready", "< readyok", "> usinewgame"] {
            assert!(marks.contains(&line), "{name} has `{line}`: {marks:#?}");
        }
        assert!(marks.iter().any(|line| line.starts_with("> gameover")), "{name}: {marks:#?}");
        let moves = marks.iter().filter(|line| line.starts_with("< bestmove")).count();
        assert!((1..=15).contains(&moves), "{name} has the moves of its own game alone: {moves}");
        assert!(text.lines().nth(1).unwrap().contains(" 0.000000 > usi"), "{text}");
    }
    let (code, text) = log(&desk, "2");
    assert_eq!(code, Some(0), "{text}");
    assert!(
        side(&text, "black").len() > 10 && side(&text, "white").len() > 10,
        "both sides are shown: {text}"
    );
}

#[test]
fn nothing_is_kept_where_the_log_is_off() {
    let desk = Desk::new();
    play(&desk, &["option.Mode=crash", "option.Ply=3"], "2", &["--log", "off"]);
    assert_eq!(log(&desk, "1").0, Some(1));
    assert_eq!(desk.query("SELECT count(*) FROM engine_lines")[0][0], "0");
}

#[test]
fn a_flood_takes_a_megabyte_of_the_database_at_most() {
    let desk = Desk::new();
    play(&desk, &["option.Mode=flood", "option.Ply=3", "time=500ms"], "2", &[]);
    let sizes = desk.query("SELECT sum(length(lines)) FROM engine_lines GROUP BY number, color");
    assert_eq!(sizes.len(), 4, "both sides of both games");
    assert!(sizes.iter().all(|size| size[0].parse::<u64>().unwrap() <= 1_000_000), "{sizes:?}");
    let (_, text) = log(&desk, "1");
    assert!(text.contains("> usi") && text.contains("< info depth 1 score cp 0 nodes 1 pv 7g7f"));
}

#[test]
fn a_log_that_cannot_be_written_is_told_before_the_first_game() {
    let desk = Desk::new();
    desk.write("logs", "a file");
    let good = cmd("renmei-random");
    let played = desk.play(&[&[&good], &[&good]], &["--games", "2", "--time", LONG, "--log", "logs"]);
    assert!(played.text().contains("/logs: no file can be written there"), "{}", played.text());
    assert_eq!(played.code(), Some(2));
    assert!(!desk.db().exists(), "nothing was begun");
}
