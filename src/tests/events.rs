//! The presets of real events, played to their ends with engines that answer at once; and rules that only such events have.

use crate::support::{Desk, program};
use serde_json::Value;
use std::{collections::BTreeMap, fs};

/// Writes a preset, with engines that resign on their first move with one colour, and plays it.
fn played(desk: &Desk, preset: &str, file: &str) -> Value {
    let written = desk.renmei(&["init", preset]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let text = fs::read_to_string(desk.path(file)).unwrap();
    let mut instant = String::new();
    for line in text.lines() {
        let line = match line.strip_prefix("options = { Seed = ").and_then(|rest| rest.strip_suffix(" }")) {
            Some(seed) => {
                let color = if seed.parse::<u32>().unwrap() % 3 == 0 { "white" } else { "black" };
                format!("options = {{ Seed = {seed}, Mode = 'resign', Color = '{color}' }}")
            }
            None if line == "[event]" => "[event]\nlook = false".to_owned(),
            None if line.starts_with("max_moves") => "max_moves = 12".to_owned(),
            None => line.replace("\"renmei-random\"", &format!("'{}'", program("renmei-puppet").display())),
        };
        instant += &format!("{line}\n");
    }
    desk.write(file, &instant);
    let db = desk.db().display().to_string();
    let args = ["run", file, "--db", &db, "--json", "--oversubscribe", "--concurrency", "2"];
    let output = desk.renmei(&args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Games of each stage, and the number of players in its table.
fn stages(desk: &Desk, report: &Value) -> Vec<(u64, usize)> {
    let games =
        desk.query("SELECT count(*) FROM games WHERE state = 'counted' GROUP BY stage ORDER BY stage");
    let tables = report["stages"].as_array().unwrap().iter();
    let players = tables.map(|stage| stage["table"].as_array().unwrap().len());
    games.iter().map(|row| row[0].parse().unwrap()).zip(players).collect()
}

/// The points of a stage by the games of the database, a win being one and a draw a half.
fn points(desk: &Desk, stage: usize) -> BTreeMap<String, f64> {
    let won = "(g.result = 'black' AND g.black = p.player) OR (g.result = 'white' AND g.white = p.player)";
    let rows = desk.query(&format!(
        "SELECT p.name, sum(CASE WHEN g.result = 'draw' THEN 0.5 WHEN {won} THEN 1.0 ELSE 0.0 END) FROM games g JOIN players p \
         ON p.event = g.event AND p.player IN (g.black, g.white) WHERE g.stage = {stage} AND g.state = 'counted' GROUP BY p.name"
    ));
    rows.into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect()
}

/// The winner of a knock-out by the games of the database: of its last game that was no draw.
fn winner(desk: &Desk, stage: usize) -> String {
    let rows = desk.query(&format!(
        "SELECT p.name FROM games g JOIN players p ON p.event = g.event AND p.player = iif(g.result = 'black', g.black, g.white) \
         WHERE g.stage = {stage} AND g.state = 'counted' AND g.result <> 'draw' ORDER BY g.round DESC, g.number DESC LIMIT 1"
    ));
    rows[0][0].clone()
}

fn names(report: &Value, stage: usize) -> Vec<String> {
    let table = report["stages"][stage]["table"].as_array().unwrap();
    table.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_championship_is_played_from_the_first_qualifier_to_the_final() {
    let desk = Desk::new();
    let report = played(&desk, "wcsc", "wcsc.toml");
    assert_eq!(stages(&desk, &report), [(80, 21), (126, 28), (28, 8)]);
    let (first, second, last) = (names(&report, 0), names(&report, 1), names(&report, 2));
    assert!(first.iter().all(|name| name.as_str() > "team18"), "seeds do not play the first qualifier");
    assert!(first[..10].iter().all(|name| second.contains(name)));
    assert!(last.iter().all(|name| second[..8].contains(name)));
    let table = report["stages"][2]["table"].as_array().unwrap();
    let told =
        table.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), row["points"].as_f64().unwrap()));
    assert_eq!(told.collect::<BTreeMap<_, _>>(), points(&desk, 2));
    let most = points(&desk, 2).into_values().fold(0.0, f64::max);
    assert_eq!(
        points(&desk, 2)[report["standings"][0]["name"].as_str().unwrap()],
        most,
        "the final is won by points"
    );
    let byes = desk.query("SELECT count(*), count(DISTINCT player) FROM byes WHERE stage = 0");
    assert_eq!(byes, [["8", "8"]]);
}

#[test]
fn denryu_sen_is_played_with_its_classes_and_its_points() {
    let desk = Desk::new();
    let report = played(&desk, "denryu", "denryu.toml");
    assert_eq!(stages(&desk, &report), [(120, 24), (63, 14), (45, 10)]);
    let (day, b, a) = (names(&report, 0), names(&report, 1), names(&report, 2));
    assert!(a.iter().all(|name| day[..10].contains(name)) && b.iter().all(|name| day[10..].contains(name)));
    let order = report["standings"].as_array().unwrap();
    let order: Vec<&str> = order.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(
        (&order[..10], &order[10..]),
        (
            &a.iter().map(String::as_str).collect::<Vec<_>>()[..],
            &b.iter().map(String::as_str).collect::<Vec<_>>()[..]
        )
    );
    let points = report["stages"][0]["table"].as_array().unwrap().iter();
    let total: f64 = points.map(|row| row["points"].as_f64().unwrap()).sum();
    assert!((total - 120.0).abs() < 1e-6, "0.4 and 0.6 are a point together: {total}");
}

#[test]
fn designated_positions_change_by_the_round_and_are_played_from_both_sides() {
    let desk = Desk::new();
    let report = played(&desk, "denryu", "tsec.toml");
    assert_eq!(stages(&desk, &report), [(120, 8), (324, 6), (108, 2)]);
    let starts = desk.query(
        "SELECT max(n) FROM (SELECT count(DISTINCT opening_moves) n FROM games GROUP BY stage, round)",
    );
    assert_eq!(starts, [["1"]], "all boards of a round begin alike");
    let both = desk.query(
        "SELECT count(*) FROM (SELECT count(DISTINCT black) n FROM games GROUP BY stage, pair) WHERE n <> 2",
    );
    assert_eq!(both, [["0"]]);
    // Of eight players who have met three others, all can be paired without a rematch (Dirac); later they may be stuck.
    let rematches = desk.query(
        "SELECT count(*) FROM (SELECT DISTINCT a.pair FROM games a JOIN games b ON a.stage = 0 AND b.stage = 0 \
         AND a.round < b.round AND (b.round - 1) % 6 < 4 AND (a.round - 1) / 6 = (b.round - 1) / 6 AND min(a.black, a.white) = min(b.black, b.white) \
         AND max(a.black, a.white) = max(b.black, b.white))",
    );
    assert_eq!(rematches, [["0"]], "nobody meets again while that can be avoided");
}

#[test]
fn the_denou_tournament_has_a_knock_out_and_a_play_off_for_the_fifth_place() {
    let desk = Desk::new();
    let report = played(&desk, "sdt", "sdt.toml");
    let (qualified, cup, fifth) = (names(&report, 0), names(&report, 1), names(&report, 2));
    assert_eq!((qualified.len(), cup.len(), fifth.len()), (18, 12, 4));
    assert!(cup.iter().all(|name| qualified[..12].contains(name)));
    assert!(fifth.iter().all(|name| cup[4..8].contains(name)));
    let order = report["standings"].as_array().unwrap();
    let order: Vec<&str> = order.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(order[0], winner(&desk, 1), "the winner of the cup leads, not that of the play-off");
    assert_eq!(order[4], winner(&desk, 2));
    assert_eq!((&cup[0], &fifth[0]), (&winner(&desk, 1), &winner(&desk, 2)));
}

#[test]
fn rounds_wait_for_their_break_in_a_swiss_and_in_a_round_robin() {
    let desk = Desk::new();
    let puppet = program("renmei-puppet");
    let engines: String = ["a", "b", "c", "d"].map(|name| format!("[[engines]]\nname = '{name}'\n")).concat();
    let text = format!(
        "[event]\nname = 'day'\nlook = false\nbreak = '700ms'\n[[stage]]\nformat = 'swiss'\nrounds = 2\n\
         [[stage]]\nformat = 'round-robin'\ngames = 1\n[time]\nmain = '60s'\n\
         [defaults]\ncommand = '{}'\nargs = ['--mode', 'resign']\n{engines}",
        puppet.display()
    );
    let (file, db) = (desk.write("day.toml", &text).display().to_string(), desk.db().display().to_string());
    let output = desk.renmei(&["run", &file, "--db", &db, "--oversubscribe", "--concurrency", "4"]);
    let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("stage 1, round 2 begins in 1 s") && said.contains("stage 2, round 3 begins in"),
        "{said}"
    );
    let rounds = desk.query(
        "SELECT min(started_at), max(ended_at), count(*) FROM games GROUP BY stage, round ORDER BY stage, round",
    );
    assert_eq!(rounds.iter().map(|round| round[2].as_str()).collect::<Vec<_>>(), ["2"; 5]);
    for two in rounds.windows(2) {
        let [end, start] = [&two[0][1], &two[1][0]].map(|ms| ms.parse::<i64>().unwrap());
        assert!(start - end >= 690, "{rounds:?}");
    }
}

#[test]
fn a_replay_of_a_sennichite_goes_on_with_the_clocks_that_it_left() {
    let desk = Desk::new();
    let puppet = program("renmei-puppet");
    let text = format!(
        "[event]\nname = 'long day'\ngames = 2\nreplay_draws = 'swap'\nreplay_limit = 1\n\
         replayed_draws = 'sennichite'\nreplay_clocks = 'remaining'\n[time]\nblack = '20s'\nwhite = '40s'\n\
         [defaults]\ncommand = '{}'\nargs = ['--mode', 'king', '--sleep-us', '200000']\n\
         [[engines]]\nname = 'a'\n[[engines]]\nname = 'b'\n",
        puppet.display()
    );
    let (file, db) = (desk.write("event.toml", &text).display().to_string(), desk.db().display().to_string());
    let output = desk.renmei(&["run", &file, "--db", &db, "--json", "--oversubscribe", "--concurrency", "1"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let games = desk.query(
        "SELECT attempt, cause, state, times ->> '$[0].main.secs', times ->> '$[1].main.secs', black, \
         (SELECT min(left_ms) / 1000 FROM moves WHERE game = g.id AND color = 0), \
         (SELECT min(left_ms) / 1000 FROM moves WHERE game = g.id AND color = 1) FROM games g ORDER BY index_, attempt",
    );
    for pair in games.chunks(2) {
        assert_eq!(pair[0][..5], ["0", "sennichite", "replayed", "20", "40"], "{games:?}");
        assert_eq!(pair[1][..3], ["1", "sennichite", "counted"], "{games:?}");
        // Who had white has black now, and the rest of its time, of which six moves have taken some.
        assert_eq!((&pair[1][3], &pair[1][4]), (&pair[0][7], &pair[0][6]), "{games:?}");
        assert!(pair[0][7] != "40" && pair[0][6] != "20", "{games:?}");
        assert_ne!(pair[0][5], pair[1][5]);
    }
    let draws = "[event]\nname = 'limit'\nreplay_draws = 'same'\nreplayed_draws = 'sennichite'\n[rules]\nmax_moves = 6\n";
    let text = text.split_once("[time]").unwrap().1.replace("200000", "0");
    let file = desk.write("limit.toml", &format!("{draws}[time]{text}")).display().to_string();
    let output = desk.renmei(&["run", &file, "--db", &db, "--json", "--oversubscribe"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["endings"]["max-moves"], 2, "a draw by the move limit counts: {report}");
}
