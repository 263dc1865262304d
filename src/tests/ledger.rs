//! The games of many events in one rating, through the real binary.

use crate::support::{Desk, program};
use serde_json::Value;
use std::{fs, io::Write, path::Path, process::Output};

/// Plays a short match of two random engines, each a name and a seed, into a database.
fn play(desk: &Desk, db: &str, players: [(&str, u32); 2]) {
    let command = format!("cmd={}", program("renmei-random").display());
    let mut words = vec!["match".to_owned()];
    for (name, seed) in players {
        words.extend(["--engine".to_owned(), command.clone()]);
        words.extend([format!("name={name}"), format!("option.Seed={seed}")]);
    }
    words.extend(["--games", "8", "--time", "300s", "--max-moves", "60", "--db", db].map(str::to_owned));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = desk.renmei(&words);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn printed(done: &Output) -> String {
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stdout)
}

fn json(desk: &Desk, more: &[&str]) -> Value {
    let done = desk.renmei(&[&["ledger", "results", "--json"], more].concat());
    serde_json::from_str(&printed(&done)).unwrap()
}

/// Two events with a build in common under two names, a copy of one of them, and a file that is no database.
pub fn results() -> Desk {
    let desk = Desk::new();
    fs::create_dir_all(desk.path("results/old")).unwrap();
    play(&desk, "results/old/one.db", [("anna", 1), ("berta", 2)]);
    play(&desk, "results/two.db", [("bertha", 2), ("clara", 3)]);
    fs::copy(desk.path("results/old/one.db"), desk.path("results/zcopy.db")).unwrap();
    desk.write("results/notes.db", "no database");
    desk
}

#[test]
fn a_build_is_one_player_over_all_databases_whatever_its_name_is() {
    let desk = results();
    let all = json(&desk, &[]);
    let players: Vec<(&str, usize, u64)> = all["players"]
        .as_array()
        .unwrap()
        .iter()
        .map(|player| {
            let also = player["also"].as_array().unwrap().len();
            (player["name"].as_str().unwrap(), also, player["events"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(players, [("anna", 0, 1), ("berta", 1, 2), ("clara", 0, 1)]);
    assert_eq!(all["counts"]["games"], 16, "{all}");
    assert_eq!(all["groups"].as_array().unwrap().len(), 1);
    assert!(all["left_out"][0].as_str().unwrap().contains("zcopy.db"), "{}", all["left_out"]);
    let by_name = json(&desk, &["--apart", "name"]);
    assert_eq!(by_name["groups"].as_array().unwrap().len(), 2, "names alone do not connect the events");
    let anchored = json(&desk, &["--anchor", "bertha=1500"]);
    let rows = anchored["groups"][0]["rows"].as_array().unwrap();
    let of_bertha = rows.iter().find(|row| row["node"] == 1).unwrap();
    assert_eq!(of_bertha["elo"]["value"], 1500.0);
}

#[test]
fn the_ledger_is_printed_and_names_the_encounter_to_play_next() {
    let desk = results();
    let table = printed(&desk.renmei(&["ledger", "results"]));
    assert!(table.starts_with("3 players, 16 games of 2 events in 3 databases\n"), "{table}");
    for word in ["anna", "main 5m", "relative to the mean", "left out: event `match`"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let asked = printed(&desk.renmei(&["ledger", "results", "--about", "anna,clara"]));
    assert!(asked.contains("anna against clara") && asked.contains("± after 100 games"), "{asked}");
    for (words, why) in [
        (&["ledger", "results", "--anchor", "dora=1"][..], "no player is called `dora`"),
        (&["ledger", "results", "--anchor", "anna"], "an anchor is a name and its Elo"),
        (&["ledger", "results", "--about", "anna,dora"], "no player is called `dora`"),
        (&["ledger", "results/notes.db"], "notes.db"),
        (&["ledger", "nowhere"], "nowhere"),
    ] {
        let refused = desk.renmei(words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        assert!(text(&refused.stderr).contains(why), "{words:?}: {}", text(&refused.stderr));
    }
}

#[test]
fn the_page_of_a_ledger_has_its_players_and_what_to_play_next() {
    let desk = results();
    let done = desk.renmei(&["ledger", "results", "--html", "ledger.html", "--anchor", "anna=1500"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let page = fs::read_to_string(desk.path("ledger.html")).unwrap();
    for word in ["berta", "clara", "What to play next", "Anchor anna = 1500", "main 5m", "zcopy.db", "<svg"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    // Names are strangers' texts, and old games weigh less where that is asked.
    play(&desk, "results/three.db", [("<b>dora</b>", 4), ("clara", 3)]);
    let done = desk.renmei(&["ledger", "results", "--html", "ledger.html", "--half-life", "30"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let page = fs::read_to_string(desk.path("ledger.html")).unwrap();
    assert!(page.contains("&lt;b&gt;dora") && !page.contains("<b>dora"), "{page}");
    assert!(page.contains("loses half of its weight in 30 days"), "{page}");
    let table = printed(&desk.renmei(&["ledger", "results", "--half-life", "30"]));
    assert!(table.contains("loses half of its weight in 30 days"), "{table}");
    let both = desk.renmei(&["ledger", "results", "--html", "ledger.html", "--json"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_player_whose_colours_have_clocks_of_their_own_is_one_player() {
    let desk = Desk::new();
    fs::create_dir(desk.path("results")).unwrap();
    let engine = |name: &str, seed: u32| {
        let program = program("renmei-random");
        format!("[[engines]]\nname = \"{name}\"\ncommand = {program:?}\noptions = {{ Seed = {seed} }}\n")
    };
    let rules = "[time]\nblack = \"100s\"\nwhite = \"200s\"\n[rules]\nmax_moves = 30\n[event]\ngames = 4\n";
    let file = desk.write("results/cup.toml", &(rules.to_owned() + &engine("anna", 1) + &engine("berta", 2)));
    let done = desk.renmei(&["run", file.to_str().unwrap(), "--quiet"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let all = json(&desk, &[]);
    let clocks: Vec<&str> =
        all["players"].as_array().unwrap().iter().map(|player| player["clock"].as_str().unwrap()).collect();
    assert_eq!(clocks, ["black main 1m40s, white main 3m20s"; 2]);
}

/// Engines that are limited by nodes play the same games wherever plan and seed are the same: they are no second evidence.
#[test]
fn an_event_that_plays_the_games_of_another_again_counts_once() {
    let desk = Desk::new();
    let engine = program("renmei-pairwise");
    let match_by = |engine: &Path, db: &str, games: &str, seed: &str| {
        let command = format!("cmd={}", engine.display());
        let [one, other] = [["name=one", "nodes=30"], ["name=other", "nodes=60"]];
        let words = ["match", "--engine", &command, one[0], one[1], "--engine", &command, other[0], other[1]];
        let more = ["--games", games, "--seed", seed, "--name", db, "--db", db, "--oversubscribe"];
        let done = desk.renmei(&[&words[..], &more].concat());
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    };
    let match_of = |db, games, seed| match_by(&engine, db, games, seed);
    match_of("a.db", "20", "1");
    match_of("b.db", "24", "1");
    match_of("c.db", "20", "2");
    let read = |files: &[&str]| {
        let done = desk.renmei(&[&["ledger"], files, &["--json"]].concat());
        let found: Value = serde_json::from_str(&printed(&done)).unwrap();
        (found["counts"]["games"].as_u64().unwrap(), found["left_out"].to_string())
    };
    let (games, left_out) = read(&["a.db", "b.db", "c.db"]);
    assert_eq!(games, 40, "another seed is other games: {left_out}");
    assert!(
        left_out
            .contains("`b.db` plays the games of `a.db` again and 4 more: to have these, name `b.db` first"),
        "{left_out}"
    );
    let (games, left_out) = read(&["b.db", "a.db"]);
    assert_eq!(games, 24);
    assert!(
        left_out.contains("`a.db` plays the games of `b.db` again: the same games say nothing new"),
        "{left_out}"
    );
    // Another build that plays alike is another player, and these are its only games.
    let rebuilt = desk.path("rebuilt");
    fs::copy(&engine, &rebuilt).unwrap();
    fs::File::options().append(true).open(&rebuilt).unwrap().write_all(b"\n").unwrap();
    match_by(&rebuilt, "d.db", "20", "1");
    assert_eq!(read(&["a.db", "d.db"]), (40, "[]".to_owned()));
}
