//! Two builds that play until their Elo is known well enough, through the real binary.

use crate::support::{Desk, program};

/// Two random engines of the same strength, in games of a few dozen plies.
fn config(head: &str) -> String {
    let command = program("renmei-random");
    format!(
        "[event]\nname = \"known\"\nconcurrency = 2\noversubscribe = true\n{head}\n[openings]\nfile = \"built-in\"\n\
         [rules]\nmax_moves = 60\n[time]\nmain = \"300s\"\n[defaults]\ncommand = '{}'\n\
         [[engines]]\nname = \"greedy\"\noptions = {{ Style = \"greedy\" }}\n[[engines]]\nname = \"uniform\"\n",
        command.display()
    )
}

fn report(desk: &Desk) -> serde_json::Value {
    let done = desk.renmei(&["report", "known.db", "--json"]);
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn a_match_ends_when_elo_is_known_well_enough_and_its_report_says_so() {
    let desk = Desk::new();
    desk.write("known.toml", &config("until = \"300 elo\""));
    let done = desk.renmei(&["run", "known.toml"]);
    let text = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{text}");
    assert!(text.contains("Elo is known well enough after "), "{text}");
    assert!(
        text.contains("stopped when Elo was known within ±300 (interval corrected for looking), after "),
        "{text}"
    );
    assert!(text.contains("corrected for looking; by the score alone "), "{text}");
    let report = report(&desk);
    let precision = &report["precision"];
    let number = |key: &str| precision["known"][key].as_f64().unwrap();
    let error = (number("high") - number("elo")).max(number("elo") - number("low"));
    assert_eq!(report["complete"], true);
    assert!(error <= 320.0 && precision["reached_after"].as_u64().unwrap() >= 5, "{precision}");
    assert!(report["games"].as_u64().unwrap() < 1000, "it took the most games: {report}");
    // The same command plays no further game.
    let again = desk.renmei(&["run", "known.toml"]);
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(self::report(&desk)["games"], report["games"]);
}

#[test]
fn a_match_that_runs_out_of_games_says_how_well_elo_is_known() {
    let desk = Desk::new();
    desk.write("known.toml", &config("until = \"1 elo\"\ngames = 12"));
    let done = desk.renmei(&["run", "known.toml"]);
    let text = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(0), "{text}");
    assert!(text.contains("all games were played; Elo is known within ±"), "{text}");
    let report = report(&desk);
    assert_eq!((&report["games"], &report["complete"]), (&12.into(), &true.into()));
    assert!(report["precision"]["reached_after"].is_null(), "{report}");
}

#[test]
fn the_command_line_takes_a_precision_and_refuses_what_is_none() {
    let desk = Desk::new();
    let engine = program("renmei-random").display().to_string();
    let words = [
        "match",
        "--engine",
        &format!("cmd={engine}"),
        "name=a",
        "--engine",
        &format!("cmd={engine}"),
        "name=b",
    ];
    let played =
        desk.renmei(&[&words[..], &["--until", "1 elo", "--games", "4", "--max-moves", "40"]].concat());
    let text = String::from_utf8_lossy(&played.stdout);
    assert!(text.contains("until Elo is known within ±1, at most 4 games"), "{text}");
    let refused = |more: &[&str]| {
        let done = desk.renmei(&[&words[..], more].concat());
        assert_eq!(done.status.code(), Some(2));
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    assert!(refused(&["--until", "5 Elo?"]).contains("event.until: `5 Elo?` is not a number of Elo"));
    assert!(refused(&["--until", "5 elo", "--sprt", "elo0=0", "elo1=5"]).contains("cannot be used with"));
}

#[test]
fn a_test_whose_games_only_repeat_earlier_ones_ends_without_a_verdict_and_says_how_many_are_distinct() {
    let desk = Desk::new();
    desk.write("two.sfen", "startpos moves 7g7f 3c3d\nstartpos moves 2g2f 8c8d\n");
    let command = format!("cmd={}", program("renmei-pairwise").display());
    let engines: [&[&str]; 2] = [&[&command, "name=a", "nodes=20"], &[&command, "name=b", "nodes=24"]];
    let args =
        ["--openings", "two.sfen", "--max-moves", "20", "--games", "2000", "--sprt", "elo0=0", "elo1=5"];
    let played = desk.play(&engines, &args);
    let text = played.text();
    assert_eq!(played.code(), Some(0), "{text}");
    assert!(text.contains("2 opening lines for up to 1000 pairs of the same two players"), "{text}");
    assert!(
        text.contains(
            "no verdict after 2 distinct pairs: the last 100 pairs repeated earlier games move for move"
        ),
        "{text}"
    );
    let json = played.json();
    assert_eq!(json["distinct_games"], 4);
    assert!(
        json["games"].as_u64().unwrap() >= 204 && json["games"].as_u64().unwrap() < 300,
        "{}",
        json["games"]
    );
    assert_eq!(
        (&json["sprt"]["verdict"], &json["sprt"]["finished"]["pairs"]),
        (&"repeats".into(), &2.into())
    );
    // What was stored counts the same.
    let db = desk.db().display().to_string();
    let report = String::from_utf8(desk.renmei(&["report", &db]).stdout).unwrap();
    assert!(report.contains(", 4 distinct"), "{report}");
    let ledger = String::from_utf8(desk.renmei(&["ledger", &db]).stdout).unwrap();
    assert!(ledger.contains("games that repeat earlier ones move for move"), "{ledger}");
}
