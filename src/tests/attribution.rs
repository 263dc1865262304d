//! A league of builds, and what their parts are worth.

use crate::support::{Desk, ended, none_left, program, until};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::{
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use testing::PATIENCE;
const ENDED: &str = "SELECT count(*) FROM games WHERE state = 'counted'";

/// Seven of the eight builds of three parts; at a fixed number of nodes every game is the same again.
fn league(desk: &Desk, builds: usize, games: usize) {
    let engine = program("renmei-pairwise").display().to_string();
    let mark = desk.dir.path().display();
    let text = format!(
        r#"
        [event]
        name = "parts"
        database = "event.db"
        concurrency = 2
        oversubscribe = true
        look = false

        [attribute]
        builds = {builds}
        games = {games}
        pairs = false

        [time]
        nodes = 30

        [rules]
        max_moves = 100

        [defaults]
        command = "{engine}"
        environment = {{ MARK = "{mark}" }}
        options = {{ USI_Hash = 1 }}

        [[parts]]
        name = "depth"
        option = "DepthLimit"
        values = [0, 1]

        [[parts]]
        name = "eval"
        levels = [{{ name = "learned", options = {{ EvalFile = "default" }} }}, {{ name = "material", options = {{ EvalFile = "material" }} }}]

        [[parts]]
        option = "DrawValue"
        values = [0, 200]
        "#
    );
    desk.write("parts.toml", &text);
}

fn attribute(desk: &Desk, more: &[&str]) -> Output {
    desk.renmei(&[&["attribute", "parts.toml"], more].concat())
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(output)))
}

/// Plays until so many games have ended, then kills the manager.
fn play_and_kill(desk: &Desk, games: i64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(["attribute", "parts.toml", "--quiet"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let counted = || {
        let stored = Connection::open_with_flags(desk.db(), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        stored.query_row(ENDED, [], |row| row.get::<_, i64>(0)).ok()
    };
    until("games have ended", || {
        assert!(child.try_wait().unwrap().is_none(), "it ends before the kill");
        counted().is_some_and(|count| count >= games)
    });
    child.kill().unwrap();
    ended(&mut child);
    none_left(&desk.dir.path().display().to_string());
}

#[test]
fn a_league_that_was_killed_twice_says_the_same_of_its_parts_as_one_that_was_not() {
    let (killed, whole) = (Desk::new(), Desk::new());
    for desk in [&killed, &whole] {
        league(desk, 7, 12);
    }
    play_and_kill(&killed, 4);
    let midway = attribute(&killed, &["--report", "--json"]);
    assert_eq!(midway.status.code(), Some(0), "{}", text(&midway));
    assert!(json(&midway)["games"].as_u64().unwrap() >= 4, "{}", text(&midway));
    play_and_kill(&killed, 8);
    let [killed, whole] = [&killed, &whole].map(|desk| {
        let output = attribute(desk, &["--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        json(&output)
    });
    assert_eq!(killed, whole);
    assert_eq!((&whole["games"], &whole["builds"]), (&12.into(), &7.into()));
    assert_eq!(whole["missing"], Value::Null, "{whole}");
    let effects = whole["effects"].as_array().unwrap();
    assert_eq!(effects.len(), 3);
    assert!(effects.iter().all(|effect| effect["elo_error"].as_f64().unwrap() > 0.0), "{whole}");
}

#[test]
fn a_league_that_another_machine_plays_says_the_same_of_its_parts_as_one_that_is_played_here() {
    if !testing::has("nats-server", testing::program("nats-server").is_some()) {
        return;
    }
    let (here, there) = (Desk::new(), Desk::new());
    for desk in [&here, &there] {
        league(desk, 7, 12);
    }
    let start = |args: &[&str], log: &str| {
        let log = std::fs::File::create(there.path(log)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command
            .current_dir(there.dir.path())
            .args(args)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap());
        command.stderr(log).spawn().unwrap()
    };
    let said = |log: &str| std::fs::read_to_string(there.path(log)).unwrap_or_default();
    let own = ["attribute", "parts.toml", "--quiet", "--hub", "127.0.0.1:0", "--slots", "0"];
    let mut manager = start(&own, "manager.log");
    let patience = Instant::now() + PATIENCE;
    let line = loop {
        let log = said("manager.log");
        let line = log.split_once("renmei worker '").and_then(|(_, line)| Some(line.split_once('\'')?.0));
        if let Some(line) = line {
            break line.to_owned();
        }
        assert!(Instant::now() < patience && manager.try_wait().unwrap().is_none(), "{log}");
        std::thread::sleep(Duration::from_millis(10));
    };
    let join = ["worker", &line, "--name", "ann", "--slots", "2", "--oversubscribe", "--state", "ann"];
    let mut worker = start(&join, "ann.log");
    assert!(ended(&mut manager).success(), "{}", said("manager.log"));
    assert!(ended(&mut worker).success(), "{}", said("ann.log"));
    let given = there.query("SELECT machine, count(*) FROM leases GROUP BY 1");
    assert_eq!(given, [["ann", "6"]], "every pair was played there");
    let there = json(&attribute(&there, &["--report", "--json"]));
    assert_eq!(there, json(&attribute(&here, &["--json"])), "numbers in JSON are exact");
    assert_eq!(there["games"], 12);
}

#[test]
fn a_build_that_never_played_is_predicted_and_then_played_and_everything_is_shown() {
    let desk = Desk::new();
    league(&desk, 7, 30);
    let played = attribute(&desk, &["--quiet"]);
    let said = text(&played);
    assert_eq!(played.status.code(), Some(0), "{said}");
    for words in [
        "parts · 7 builds of 3 parts · 30 games",
        "eval = material",
        "R2 of win rates on builds that were held out",
        "the best that was not played",
        "the engine as it is",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let shown =
        ["--report", "--predict", "depth=1,eval=material", "--plot", "map.svg", "--html", "page.html"];
    let shown = text(&attribute(&desk, &shown));
    assert!(shown.contains("110  ") && shown.contains("asked for"), "{shown}");
    let picture = std::fs::read_to_string(desk.path("map.svg")).unwrap();
    assert!(picture.contains("depth = 1") && picture.contains("Elo of parts and pairs"), "{picture}");
    let page = std::fs::read_to_string(desk.path("page.html")).unwrap();
    assert!(page.contains("What parts of the engine are worth") && page.contains("DrawValue = 200"));
    let wrong = attribute(&desk, &["--report", "--predict", "depth=7"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong).contains("`depth` has no level `7`; it has 0, 1"), "{}", text(&wrong));

    let config = std::fs::read_to_string(desk.path("parts.toml")).unwrap();
    desk.write("parts.toml", &config.replace("values = [0, 200]", "values = [200, 0]"));
    let other = attribute(&desk, &["--report"]);
    assert_eq!(other.status.code(), Some(2), "no table with wrong names");
    let other = text(&other);
    assert!(other.contains("`parts` was not played with the builds of this file"), "{other}");
    assert!(!other.contains("builds of 3 parts"), "{other}");
    assert!(other.contains("engines[000].options.DrawValue was 0, is 200"), "{other}");
    desk.write("parts.toml", &config);

    let confirmed = attribute(&desk, &["--confirm", "14", "--json"]);
    assert_eq!(confirmed.status.code(), Some(0), "{}", text(&confirmed));
    let confirmed = json(&confirmed);
    assert_eq!(confirmed["games"], 30, "games of the one build do not move what its prediction rests on");
    let build = &confirmed["confirmed"][0];
    assert_eq!(build["name"], confirmed["best_unplayed"]["name"]);
    assert!(build["played"][0].is_number(), "{confirmed}");
    let games = desk.query("SELECT count(*) FROM games WHERE state = 'counted'");
    assert_eq!(games[0][0], "44");
}

#[test]
fn a_league_that_could_not_tell_its_parts_apart_is_refused_in_words_before_a_game() {
    let desk = Desk::new();
    league(&desk, 5, 20);
    let few = attribute(&desk, &[]);
    assert_eq!(few.status.code(), Some(2));
    let said = text(&few);
    assert!(
        said.contains("attribute.builds: 5 builds are too few for 3 effects: 6 are needed at least"),
        "{said}"
    );
    assert!(!desk.db().exists());
    let run = desk.renmei(&["run", "parts.toml"]);
    assert!(text(&run).contains("a file with this table is for `renmei attribute`"), "{}", text(&run));
    let config = std::fs::read_to_string(desk.path("parts.toml")).unwrap();
    let config =
        config.replace("builds = 5", "builds = 8").replace("option = \"DrawValue\"", "option = \"Dw=\"");
    desk.write("parts.toml", &config.replace("values = [0, 1]", "values = [0]"));
    let said = text(&attribute(&desk, &[]));
    assert!(said.contains("parts[0]: a part has 2 to 10 levels, here are 1"), "{said}");
    assert!(said.contains("is no name of a part: a text without `=` and `,`"), "{said}");
}
