//! Lines that games were played from: what is learned of them, and how they are chosen, through the real binary.

use crate::support::{Desk, program};
use std::{collections::BTreeSet, fs, process::Output};

fn printed(done: &Output) -> String {
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// An event of two random engines.
fn config(head: &str, openings: &str) -> String {
    let command = program("renmei-random");
    format!(
        "[event]\nname = \"lines\"\n{head}\n[openings]\n{openings}\n[rules]\nmax_moves = 60\n[time]\nmain = \"300s\"\n\
         [defaults]\ncommand = '{}'\n[[engines]]\nname = \"greedy\"\noptions = {{ Style = \"greedy\" }}\n\
         [[engines]]\nname = \"uniform\"\n",
        command.display()
    )
}

/// Lines of a file, comments aside.
fn lines(text: &str) -> BTreeSet<&str> {
    text.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn a_set_is_learned_from_games_and_an_event_plays_from_it_by_what_it_sees() {
    let desk = Desk::new();
    desk.write("first.toml", &config("games = 24", "file = \"built-in\""));
    printed(&desk.renmei(&["run", "first.toml", "--db", "first.db"]));
    let learned = printed(&desk.renmei(&["openings", "learn", "first.db", "-o", "set.sfen", "--lines", "5"]));
    assert!(learned.starts_with("12 lines in 24 games of 1 event, 2 players"), "{learned}");
    assert!(learned.contains("static - static") && learned.contains("`set.sfen`: 5 lines"), "{learned}");
    let set = fs::read_to_string(desk.path("set.sfen")).unwrap();
    assert_eq!(lines(&set).len(), 5, "{set}");
    assert!(set.contains("separation") && set.contains("level pairs"), "{set}");

    let head = "format = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 1\nmax_games = 12";
    desk.write("second.toml", &config(head, "file = \"set.sfen\"\nchoose = \"sequential\""));
    desk.renmei(&["run", "second.toml", "--db", "second.db"]);
    let of_set = desk.renmei(&["report", "second.db", "--openings", "set.sfen", "--json"]);
    let sets: serde_json::Value = serde_json::from_str(&printed(&of_set)).unwrap();
    assert_eq!(sets.as_array().unwrap().len(), 1, "every game began from a line of the set: {sets}");
    assert_eq!(sets[0]["name"], "set.sfen");
    assert_eq!(sets[0]["lines"], 5, "each line is used before one is used again: {sets}");
    assert!(sets[0]["difference"]["elo_low"].is_number() || sets[0]["difference"]["elo_high"].is_number());
    let families = printed(&desk.renmei(&["report", "first.db", "--openings"]));
    assert!(families.starts_with("openings") && families.contains("95 %"), "{families}");
}

#[test]
fn what_cannot_be_learned_or_chosen_is_refused_with_the_reason() {
    let desk = Desk::new();
    desk.write("even.toml", &config("games = 2", "file = \"even.sfen\""));
    desk.write("even.sfen", "startpos\n");
    printed(&desk.renmei(&["run", "even.toml", "--db", "even.db"]));
    desk.write(
        "round.toml",
        &config("games = 2", "file = \"built-in\"\nchoose = \"sequential\"\npairs = false"),
    );
    for (words, why) in [
        (&["openings", "learn", "even.db"][..], "the games begin from 1 line"),
        (&["openings", "learn", "nowhere.db"], "nowhere.db"),
        (&["openings", "learn", "even.db", "--bias", "9999"], "no Elo from 0 to 2000"),
        (&["run", "round.toml"], "\"sequential\" needs pairs of games"),
    ] {
        let refused = desk.renmei(words);
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.contains(why), "{words:?}: {text}");
    }
}
