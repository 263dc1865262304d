//! What a person sees of an event without a dashboard: how it stands, how long it takes, how to go on with it, and which
//! losses on time a margin decided.

use crate::support::{Desk, Played, program};
use serde_json::Value;

const SHORT: [&str; 8] =
    ["--games", "24", "--time", "300s", "--max-moves", "20", "--oversubscribe", "--no-dashboard"];

/// A match of two random movers with plain output.
fn plain(desk: &Desk, more: &[&str]) -> Played {
    let random = format!("cmd={}", program("renmei-random").display());
    let engines = ["match", "--engine", &random, "name=a", "--engine", &random, "name=b", "option.Seed=9"];
    Played { output: desk.renmei(&[&engines[..], &SHORT, more].concat()) }
}

#[test]
fn plain_output_tells_score_elo_and_the_time_to_the_end_every_ten_games() {
    let desk = Desk::new();
    let text = plain(&desk, &["--db", "event.db", "--rating-interval", "10"]).text();
    for games in ["10 of 24", "20 of 24"] {
        let line =
            text.lines().find(|line| line.starts_with(&format!("after {games} games: a "))).expect(&text);
        assert!(line.contains(" : ") && line.contains(" b, ") && line.contains("Elo"), "{line}");
        assert!(line.contains("(95 %)") && line.contains(" to the end"), "{line}");
    }
    assert!(!text.contains("after 24 of 24"), "the report tells the end: {text}");
    assert!(text.contains("game 24  "), "a line for each game: {text}");
}

#[test]
fn quiet_output_leaves_the_lines_of_games_out_and_keeps_the_progress() {
    let desk = Desk::new();
    let text = plain(&desk, &["--db", "event.db", "--quiet", "--rating-interval", "6"]).text();
    assert_eq!(text.lines().filter(|line| line.starts_with("after ")).count(), 3, "{text}");
    assert!(!text.contains("game 24  "), "{text}");
    let silent = plain(&desk, &["--db", "other.db", "--quiet", "--rating-interval", "0"]).text();
    assert!(!silent.contains("after "), "{silent}");
}

#[test]
fn the_progress_of_a_sequential_test_tells_its_llr() {
    let desk = Desk::new();
    let sprt = ["--sprt", "elo0=0", "elo1=5", "alpha=0.001", "beta=0.001"];
    let sprt = [&["--db", "event.db", "--rating-interval", "10"], &sprt[..]].concat();
    let text = plain(&desk, &sprt).text();
    let line = text.lines().find(|line| line.starts_with("after 10 of at most 24 games: a ")).expect(&text);
    assert!(line.contains("; LLR ") && line.contains(" in [-6.91, 6.91]; at most "), "{line}");
}

#[test]
fn a_field_of_players_is_told_in_the_order_of_the_standings() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let mut args = vec!["match", "--db", "event.db", "--rating-interval", "10"];
    for name in ["name=a", "name=b", "name=c"] {
        args.extend(["--engine", &random, name]);
    }
    args.extend(["--games", "4", "--time", "300s", "--max-moves", "20", "--oversubscribe", "--no-dashboard"]);
    let text = Played { output: desk.renmei(&args) }.text();
    let line = text.lines().find(|line| line.starts_with("after 10 of 12 games: 1. ")).expect(&text);
    let ranks: Vec<u32> = line.split(". ").filter_map(|part| part.rsplit(' ').next()?.parse().ok()).collect();
    assert!(ranks.len() == 3 && ranks.is_sorted(), "players who are level share a rank: {line}");
}

#[test]
fn losses_on_time_by_little_are_told_with_the_margin_that_forgives_them() {
    let desk = Desk::new();
    plain(&desk, &["--db", "event.db", "--margin", "0"]);
    desk.query(
        "UPDATE games SET result = 'black', cause = 'time',
                evidence = 'white: `7g7f` came after ' || (200.5 + number % 3) || ' ms of 200 ms' || char(10) || '> go'
         WHERE number <= 10 RETURNING id",
    );
    let report = |args: &[&str]| Played { output: desk.renmei(&[&["report", "event.db"], args].concat()) };
    let text = report(&[]).text();
    assert!(text.contains("losses on time: 10 of 10 late by 2.5 ms at most; `margin = \"50ms\"`"), "{text}");
    assert_eq!(report(&["--json"]).json()["late"]["margin_ms"], 50);
    desk.query("UPDATE games SET evidence = 'white: no reply within 200 ms' WHERE number <= 6 RETURNING id");
    let text = report(&[]).text();
    assert!(!text.contains("losses on time"), "most were late by far more: {text}");
}

#[test]
fn a_clock_in_milliseconds_forgives_a_little_unless_told_otherwise() {
    let desk = Desk::new();
    let margins = "SELECT DISTINCT fingerprint ->> '$.engines.a.time.margin' FROM events";
    plain(&desk, &["--db", "event.db"]);
    assert_eq!(desk.query(margins), [["100ms"]]);
    let exact = Desk::new();
    plain(&exact, &["--db", "event.db", "--margin", "0"]);
    assert_eq!(exact.query(margins), [["0"]]);
    let again = plain(&exact, &["--db", "event.db"]);
    assert_eq!(again.code(), Some(2), "{}", again.text());
    assert!(again.text().contains("engines[a].time.margin was 0, is 100ms"), "{}", again.text());
}

#[test]
fn no_bound_of_elo_contradicts_another_where_everything_was_lost() {
    let desk = Desk::new();
    let sprt = |args: &[&str]| Played { output: desk.renmei(&[&["sprt"], args].concat()) };
    let lost: Value = sprt(&["--wdl", "0", "0", "5", "--json"]).json();
    assert_eq!(lost["elo"]["kind"], "at_most");
    assert_eq!(lost["elo"]["value"], lost["estimate"]["high"]);
    assert_eq!(lost["elo"]["value"], lost["elo_high"]);
    assert!(lost["estimate"]["low"].is_null() && lost["elo_low"].is_null(), "{lost}");
    let pairs: Value = sprt(&["--pentanomial", "4", "0", "0", "0", "0", "--json"]).json();
    let games: Value = sprt(&["--wdl", "0", "0", "8", "--json"]).json();
    assert_eq!(pairs["elo"], games["elo"], "four lost pairs are eight lost games");
    let text = sprt(&["--wdl", "0", "0", "8"]).text();
    assert!(text.contains("result weaker by at least 93 Elo (95 %)"), "{text}");
}

#[test]
fn a_verdict_is_told_with_one_elo_and_claims_no_more_than_its_test() {
    let desk = Desk::new();
    let args = ["sprt", "--wdl", "136", "11", "6", "--elo1", "50"];
    let text = Played { output: desk.renmei(&args) }.text();
    assert!(
        text.contains("H1 accepted: the first is stronger than the second (such a test errs in 5 %"),
        "{text}"
    );
    assert!(text.contains("corrected for the stop"), "{text}");
    let random = format!("cmd={}", program("renmei-random").display());
    let engines =
        ["match", "--engine", &random, "name=greedy", "option.Style=greedy", "--engine", &random, "name=old"];
    let rest =
        ["--games", "400", "--time", "300s", "--sprt", "elo0=0", "elo1=100", "--oversubscribe", "--quiet"];
    let text = Played { output: desk.renmei(&[&engines[..], &rest].concat()) }.text();
    let report = text.rsplit_once("games\n\n").expect(&text).1;
    assert!(report.contains("that is: greedy is stronger than old (such a test errs in 5 %"), "{report}");
    let plain = report.matches("by the score alone").count();
    assert_eq!(
        report.matches("(95 %)").count(),
        1 + plain,
        "one Elo, and that of the score beside it: {report}"
    );
    assert!(!report.contains("+-  "), "no other column of it: {report}");
    assert!(report.contains("LOS ") && report.contains("how likely greedy is the stronger one"), "{report}");
}

#[test]
fn a_calculator_without_counts_names_both_ways_to_give_them() {
    let desk = Desk::new();
    let asked = Played { output: desk.renmei(&["sprt"]) };
    assert_eq!(asked.code(), Some(2));
    let text = asked.text();
    assert!(text.contains("`--wdl WINS DRAWS LOSSES`") && text.contains("`--pentanomial`"), "{text}");
}

#[test]
fn check_warns_of_an_engine_that_answers_when_its_time_is_over() {
    let desk = Desk::new();
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do\n  case \"$line\" in 'go movetime 200') sleep 0.205;; esac\n  echo \"$line\"\n\
         done | {}\n",
        program("renmei-random").display()
    );
    let engine = desk.write("late.sh", &script);
    std::fs::set_permissions(&engine, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let checked = Played { output: desk.renmei(&["check", "--json", "./late.sh"]) }.json();
    let rows = checked["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["check"] == "movetime").unwrap();
    assert_eq!(row["verdict"], "warn", "{row}");
    let seen = row["seen"].as_str().unwrap();
    assert!(seen.starts_with("6 moves in ") && seen.ends_with(" ms late"), "{seen}");
    assert!(row["advice"].as_str().unwrap().contains("on time"), "{row}");
}
