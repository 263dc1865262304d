//! Tunings of options, with real engines at fixed nodes: the same games give the same results.

use crate::support::{Desk, ended, none_left, program, until};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    process::{Child, Command, Output, Stdio},
};

/// More nodes are stronger, so `NodesLimit` has to rise.
fn config(desk: &Desk, pairs: u64, more: &str) -> String {
    let engine = program("renmei-pairwise");
    let text = format!(
        "[event]\nname = \"t\"\ndatabase = \"event.db\"\noversubscribe = true\nlook = false\n[time]\nnodes = 400\n\
         [rules]\nmax_moves = 60\n[adjudication.resign]\nscore = 600\nmoves = 1\n\
         [openings]\nfile = \"built-in\"\norder = \"random\"\n\
         [[engines]]\nname = \"e\"\ncommand = \"{}\"\nargs = []\noptions = {{ USI_Hash = 1, MaxMovesToDraw = 60 }}\n\
         environment = {{ MARK = \"tuning-{pairs}\" }}\n\
         [tune]\npairs = {pairs}\nwindow = 3\n{more}",
        engine.display()
    );
    desk.write("tune.toml", &text).display().to_string()
}

const NODES: &str = "[[parameters]]\nname = \"NodesLimit\"\nstart = 30\nmin = 1\nmax = 300\nc_end = 20\nr_end = 0.06\n\
                     [[parameters]]\nname = \"DrawValue\"\nmax = 200\nc_end = 30\nr_end = 0.03\n";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(output)))
}

fn tuning(desk: &Desk, file: &str, slots: &str) -> Value {
    let output = desk.renmei(&["tune", file, "--json", "--concurrency", slots]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    json(&output)["tuning"].clone()
}

#[test]
fn an_option_is_tuned_to_where_the_engine_is_stronger_and_all_of_it_is_kept() {
    let desk = Desk::new();
    let file = config(&desk, 40, NODES);
    let output = desk.renmei(&["tune", &file, "--quiet", "--plot", "t.svg", "--export", "t.params"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("tuning: 40 of 40 pairs") && said.contains("of 40 pairs: NodesLimit"), "{said}");
    let report = json(&desk.renmei(&["report", "event.db", "--json"]));
    let rows = &report["tuning"]["parameters"];
    assert_eq!((rows[0]["name"].as_str(), rows[1]["name"].as_str()), (Some("NodesLimit"), Some("DrawValue")));
    assert!(rows[0]["averaged"].as_f64().unwrap() > 35.0, "{rows}");
    assert_eq!(rows[1]["min"], -10_000.0, "the engine's own bound");
    let played = desk.query(
        "SELECT count(*), min(options ->> '$.NodesLimit' + 0), max(options ->> '$.NodesLimit' + 0) FROM game_options",
    );
    assert_eq!(played[0][0], "160", "both sides of every game");
    let bounds: Vec<i64> = played[0][1..].iter().map(|number| number.parse().unwrap()).collect();
    assert!(bounds[0] >= 1 && bounds[1] <= 300 && bounds[0] < bounds[1], "{bounds:?}");
    let alike = desk.query(
        "SELECT count(*) FROM (SELECT g.pair, p.name, o.options FROM game_options o \
         JOIN games g ON g.event = o.event AND g.number = o.number \
         JOIN players p ON p.event = g.event AND p.player = CASE o.color WHEN 0 THEN g.black ELSE g.white END \
         GROUP BY g.pair, p.name HAVING count(DISTINCT o.options) > 1)",
    );
    assert_eq!(alike[0][0], "0", "both games of a pair are played with the same values");
    let picture = std::fs::read_to_string(desk.path("t.svg")).unwrap();
    assert!(picture.contains("NodesLimit") && picture.contains("perturbations"), "{picture}");
    let plot = desk.renmei(&["report", "event.db", "--plot", "again.svg", "--of", "tuning"]);
    assert_eq!(plot.status.code(), Some(0), "{}", text(&plot));
    let params = std::fs::read_to_string(desk.path("t.params")).unwrap();
    assert!(params.starts_with("NodesLimit, int, ") && params.contains(", 1, 300, 20, 1.2"), "{params}");
    let read = desk.renmei(&[
        "tune",
        &file,
        "--params",
        "t.params",
        "--name",
        "again",
        "--simulate",
        "--within",
        "8",
    ]);
    assert!(text(&read).contains("name = \"DrawValue\""), "what was written is read: {}", text(&read));
}

fn start(desk: &Desk, file: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(["tune", file, "--json", "--concurrency", "2", "--quiet"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn ended_games(desk: &Desk) -> usize {
    let rows = desk.try_query("SELECT count(*) FROM games WHERE state = 'counted'");
    rows.and_then(|rows| rows[0][0].parse().ok()).unwrap_or(0)
}

#[test]
fn a_tuning_killed_five_times_ends_with_the_same_values_bit_for_bit() {
    let desk = Desk::new();
    let expected = tuning(&desk, &config(&desk, 15, NODES), "1");
    let killed = Desk::new();
    let file = config(&killed, 15, NODES);
    for round in 0..5 {
        let mut child = start(&killed, &file);
        until("games have ended", || ended_games(&killed) > 4 * round || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        ended(&mut child);
    }
    assert!(ended_games(&killed) < 30, "it was not over when it was killed last");
    let found = tuning(&killed, &file, "3");
    assert_eq!(found, expected, "numbers in JSON are exact");
    none_left("MARK=tuning-15");
    let changed = config(&killed, 16, NODES);
    let refused = killed.renmei(&["tune", &changed]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("tune.pairs was 15, is 16"), "{}", text(&refused));
}

#[test]
fn what_cannot_be_tuned_is_told_before_a_game() {
    let desk = Desk::new();
    let faulty =
        "[[parameters]]\nname = \"NodeLimit\"\nc_end = 1\n[[parameters]]\nname = \"USI_Hash\"\nc_end = 1\n";
    let output = desk.renmei(&["tune", &config(&desk, 10, faulty)]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("no option `NodeLimit`; did you mean `NodesLimit`?"), "{said}");
    assert!(said.contains("`USI_Hash` is tuned, and set in `options`"), "{said}");
    assert!(!desk.db().exists(), "nothing was begun");
    let none = desk.renmei(&["tune", &config(&desk, 10, "")]);
    assert!(text(&none).contains("nothing is tuned"), "{}", text(&none));
}

#[test]
fn an_engine_that_always_fails_halts_the_tuning_with_its_last_words() {
    let desk = Desk::new();
    let engine = program("renmei-pairwise");
    let script = format!(
        "#!/bin/sh\n{} | while read -r line; do case \"$line\" in bestmove*) echo 'my last words' >&2; kill $$;; esac; \
         echo \"$line\"; done\n",
        engine.display()
    );
    let path = desk.write("fails.sh", &script);
    std::os::unix::fs::PermissionsExt::set_mode(&mut std::fs::metadata(&path).unwrap().permissions(), 0o755);
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let file = config(&desk, 500, NODES);
    let config = std::fs::read_to_string(&file).unwrap().replace(&engine.display().to_string(), "./fails.sh");
    std::fs::write(&file, config).unwrap();
    let output = desk.renmei(&["tune", &file]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert!(
        text(&output).contains("is halted") && text(&output).contains("my last words"),
        "{}",
        text(&output)
    );
    let told = desk.query("SELECT count(*) FROM games WHERE evidence LIKE '%my last words%'");
    assert!(told[0][0].parse::<u64>().unwrap() > 0);
    let log = json(&desk.renmei(&["report", "event.db", "--json"]));
    assert!(log["halted"][0]["reason"].as_str().is_some(), "{log}");
}

#[test]
fn the_tuned_values_are_tested_against_those_before() {
    let desk = Desk::new();
    let steep =
        "[[parameters]]\nname = \"NodesLimit\"\nstart = 20\nmin = 1\nmax = 400\nc_end = 18\nr_end = 0.3\n";
    let output = desk.renmei(&["tune", &config(&desk, 24, steep), "--confirm", "--quiet"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(10), "{said}");
    assert!(
        said.contains("t, tuned against start, longer") && said.contains("tuned against start"),
        "{said}"
    );
    let played = desk.query("SELECT name FROM events ORDER BY id");
    assert_eq!(played.concat(), ["t", "t, tuned against start", "t, tuned against start, longer"]);
}

#[test]
fn a_tuning_is_planned_before_a_game_is_spent() {
    let desk = Desk::new();
    let file = config(&desk, 10, NODES);
    let output = desk.renmei(&["tune", &file, "--simulate", "--within", "5", "--cost", "NodesLimit=10"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("[tune]\npairs = ") && said.contains("c_end = 10.0000"), "{said}");
    assert!(said.contains("as assumed: 9") || said.contains("as assumed: 100"), "{said}");
    assert!(!desk.db().exists());
    let wrong = desk.renmei(&["tune", &file, "--simulate", "--cost", "Nodes=10"]);
    assert!(text(&wrong).contains("`Nodes` is not tuned"), "{}", text(&wrong));
}

#[test]
fn the_presets_of_the_laboratory_name_the_build_that_they_need_before_a_game_is_played() {
    for (preset, feature) in [("tune", "pairwise/tune"), ("attribute", "pairwise/parts")] {
        let desk = Desk::new();
        let written = desk.renmei(&["init", preset]);
        assert!(String::from_utf8_lossy(&written.stdout).contains("it needs a renmei-pairwise"));
        let file = format!("{preset}.toml");
        let text = std::fs::read_to_string(desk.path(&file)).unwrap();
        assert!(text.contains(&format!("--features {feature}")), "{text}");
        let engine = format!("\"{}\"", program("renmei-pairwise").display());
        desk.write(&file, &text.replace("\"renmei-pairwise\"", &engine));
        let output = desk.renmei(&[preset, &file]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains(&format!("cargo build --release --bin renmei-pairwise --features {feature}")),
            "{told}"
        );
        // A slow machine says that it waits for the one that is asked for its options.
        let waited = told.lines().filter_map(|line| line.split_once(": waiting for")).map(|(who, _)| who);
        let waited: BTreeSet<&str> = waited.collect();
        assert!(waited.len() <= 1, "no build of the league is started: {told}");
        assert!(!desk.path(&format!("{preset}.db")).exists());
    }
}
