//! An event that has begun may become longer, and a second match in one directory is another event.

use crate::support::{Desk, program};
use std::{fs, process::Output};

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// A match of random players, named by letters.
fn play(desk: &Desk, players: &[&str], games: &str, flags: &[&str]) -> Output {
    let random = format!("cmd={}", program("renmei-random").display());
    let mut args = vec!["match", "--games", games, "--time", "600s", "--max-moves", "12"];
    args.extend(["--concurrency", "1", "--oversubscribe", "--openings", "built-in"]);
    let names: Vec<_> = players.iter().map(|player| format!("name={player}")).collect();
    for name in &names {
        args.extend(["--engine", &random, name]);
    }
    args.extend(flags);
    desk.renmei(&args)
}

fn done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(output));
    text(output)
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", text(output));
    assert!(output.stdout.is_empty(), "{}", text(output));
    text(output)
}

fn query(desk: &Desk, database: &str, sql: &str) -> Vec<Vec<String>> {
    fs::copy(desk.path(database), desk.db()).unwrap();
    desk.query(sql)
}

const GAMES: &str = "SELECT number, black, white, opening, pair, result, plies FROM games WHERE state = 'counted' ORDER BY number";
/// Pairs that lack a game, colours or the common opening.
const UNFAIR: &str = "SELECT pair FROM games WHERE state = 'counted' GROUP BY pair
    HAVING count(*) <> 2 OR count(DISTINCT black) <> 2 OR count(DISTINCT opening) <> 1";

#[test]
fn a_finished_match_becomes_longer_by_the_same_command_with_more_games() {
    let desk = Desk::new();
    done(&play(&desk, &["a", "b"], "4", &[]));
    let before = query(&desk, "match.db", GAMES);
    let longer = done(&play(&desk, &["a", "b"], "8", &[]));
    assert!(
        longer.contains(
            "`match` was round robin, 4 games a pair; from now on it is round robin, 8 games a pair"
        )
    );
    assert!(longer.contains("8 games\n"), "{longer}");
    let after = query(&desk, "match.db", GAMES);
    assert_eq!((after.len(), &after[..4]), (8, &before[..]));
    assert_eq!(query(&desk, "match.db", UNFAIR), Vec::<Vec<String>>::new());
    let again = done(&play(&desk, &["a", "b"], "8", &[]));
    assert!(again.contains("`match` is complete: nothing was played"), "{again}");
}

#[test]
fn a_round_robin_grows_by_whole_encounters_and_keeps_its_pairs() {
    let desk = Desk::new();
    // Of three games of an encounter one has no partner, until there are four.
    done(&play(&desk, &["a", "b", "c"], "3", &[]));
    done(&play(&desk, &["a", "b", "c"], "4", &[]));
    assert_eq!(query(&desk, "match.db", UNFAIR), Vec::<Vec<String>>::new());
    let met = "SELECT min(black, white), max(black, white), count(*) FROM games WHERE state = 'counted' GROUP BY 1, 2";
    assert_eq!(query(&desk, "match.db", met), [["0", "1", "4"], ["0", "2", "4"], ["1", "2", "4"]]);
    let json = play(&desk, &["a", "b", "c"], "6", &["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&json["games"], &json["pairs"][0]["pentanomial"].as_array().unwrap().len()),
        (&18.into(), &5)
    );
    assert_eq!(
        query(&desk, "match.db", "SELECT count(*), count(DISTINCT index_) FROM games"),
        [["18", "18"]]
    );
}

#[test]
fn an_event_does_not_become_shorter_than_what_was_played_of_it() {
    let desk = Desk::new();
    done(&play(&desk, &["a", "b"], "6", &[]));
    let refusal = refused(&play(&desk, &["a", "b"], "4", &[]));
    assert!(
        refusal.contains(
            "`match` cannot become smaller than what was played of it: 6 games of an encounter were begun"
        ),
        "{refusal}"
    );
    done(&play(&desk, &["a", "b"], "6", &[]));
}

#[test]
fn an_undecided_sequential_test_continues_with_more_games() {
    let desk = Desk::new();
    let sprt = ["--sprt", "elo0=0", "elo1=400"];
    done(&play(&desk, &["a", "b"], "2", &sprt));
    done(&play(&desk, &["a", "b"], "4", &sprt));
    assert_eq!(query(&desk, "match.db", "SELECT count(*) FROM games WHERE state = 'counted'"), [["4"]]);
    assert!(refused(&play(&desk, &["a", "b"], "2", &sprt)).contains("`max_games` is at least 4"));
}

#[test]
fn a_swiss_gets_further_rounds_but_no_longer_encounters() {
    let desk = Desk::new();
    let random = program("renmei-random").display().to_string();
    let event = |rounds: u32, games: u32| {
        let engines: String = ["a", "b", "c"]
            .map(|name| format!("[[engines]]\nname = \"{name}\"\ncommand = \"{random}\"\n"))
            .concat();
        desk.write(
            "swiss.toml",
            &format!(
                "time = \"600s\"\nrules.max_moves = 12\n[event]\nformat = \"swiss\"\nrounds = {rounds}\ngames = {games}\n\
                 concurrency = 1\noversubscribe = true\n{engines}"
            ),
        );
        desk.renmei(&["run", "swiss.toml"])
    };
    done(&event(2, 1));
    done(&event(3, 1));
    assert_eq!(query(&desk, "swiss.db", "SELECT count(*), max(round) FROM games"), [["3", "3"]]);
    assert_eq!(query(&desk, "swiss.db", "SELECT count(*) FROM byes"), [["3"]]);
    assert_eq!(query(&desk, "swiss.db", "SELECT count(*) FROM closings"), [["1"]]);
    let refusal = refused(&event(3, 2));
    assert!(refusal.contains("stages[0].games was 1, is 2"), "{refusal}");
    assert!(refused(&event(2, 1)).contains("round 3 was begun, so that `rounds` is at least 3"));
}

#[test]
fn a_second_match_of_other_engines_in_one_directory_is_the_next_one() {
    let desk = Desk::new();
    let first = done(&play(&desk, &["a", "b"], "2", &[]));
    assert!(!first.contains("another match"), "{first}");
    let second = done(&play(&desk, &["c", "d"], "2", &[]));
    assert!(second.contains("this is `match-2`") && second.contains("match-2.db"), "{second}");
    assert!(second.contains("the command that began `match` resumes it"), "{second}");
    // Each command finds its own match again.
    done(&play(&desk, &["c", "d"], "4", &[]));
    assert!(done(&play(&desk, &["a", "b"], "2", &[])).contains("`match` is complete"));
    assert_eq!(query(&desk, "match.db", "SELECT name FROM players"), [["a"], ["b"]]);
    assert_eq!(query(&desk, "match-2.db", "SELECT count(*) FROM games"), [["4"]]);
    assert!(!desk.path("match-3.db").exists());
}

#[test]
fn a_second_match_under_a_name_or_in_a_database_that_was_given_is_refused_with_the_ways_on() {
    let desk = Desk::new();
    for flags in [["--name", "x"], ["--db", "x.db"]] {
        done(&play(&desk, &["a", "b"], "2", &flags));
        let refusal = refused(&play(&desk, &["a", "c"], "2", &flags));
        assert!(refusal.contains("engines[c] was not there, is now"), "{refusal}");
        for way in ["--name", "--db", "--fresh"] {
            assert!(refusal.contains(way), "{way}: {refusal}");
        }
        fs::remove_file(desk.path("x.db")).unwrap();
    }
    done(&play(&desk, &["a", "b"], "2", &["--name", "x"]));
    let fresh = done(&play(&desk, &["a", "c"], "2", &["--name", "x", "--fresh"]));
    assert!(fresh.contains("`x` begins anew; what was played of it is `x.1` now"), "{fresh}");
    assert!(text(&desk.renmei(&["match", "--help"])).contains("Games go to `match.db` in this directory"));
}
