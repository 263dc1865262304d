//! What may change between two sittings of an event, and what may not.

use super::{Fingerprint, World, here, with};
use std::fs;

fn changes(world: &World, was: &str, is: &str) -> Vec<String> {
    let of = |text: &str| Fingerprint::of(&world.plan(text)).unwrap();
    let kept = serde_json::to_string(&of(was)).unwrap();
    serde_json::from_str::<Fingerprint>(&kept).unwrap().changes_to(&of(is))
}

#[test]
fn what_does_not_touch_the_games_may_change() {
    let free = "[event]\nconcurrency = 1\ndatabase = \"y.db\"\nstartups = 3\n[defaults]\nlimits.ready = \"1h\"\ncores = 2\n";
    assert_eq!(changes(&here(), &with(""), &with(free)), Vec::<String>::new());
    let patience = "time = { main = \"1m\", increment = \"1s\", patience = \"1h\" }\n";
    assert_eq!(changes(&here(), &with(""), &with(patience)), Vec::<String>::new());
}

#[test]
fn what_would_falsify_the_event_is_told_as_it_was_and_as_it_is() {
    let was = format!("{}options.Threads = 1\n", with("[rules]\nmax_moves = 256\n"));
    let is = format!("{}options = {{ Threads = 2, Hash = 64 }}\n", with("time = \"2m+1s\"\n"));
    insta::assert_snapshot!(changes(&here(), &was, &is).join("\n"), @r#"
    engines[a].time.main was 1m, is 2m
    engines[b].options.Threads was 1, is 2
    engines[b].options.Hash was not given, is 64
    engines[b].time.main was 1m, is 2m
    rules.max_moves was 256, is 512
    "#);
}

#[test]
fn another_scale_of_scores_would_rule_games_otherwise() {
    let scaled = |scale: &str| format!("{}{scale}", with("[adjudication]\nresign = { score = 900 }\n"));
    assert_eq!(
        changes(&here(), &scaled(""), &scaled("scale = 918\n")),
        ["engines[b].scale was not given, is 918"]
    );
    assert_eq!(changes(&here(), &scaled("scale = 918\n"), &scaled("scale = 918\n")), Vec::<String>::new());
    let remote = |scale: &str| with("").replace("command = \"beta\"", &format!("remote = true\n{scale}"));
    assert_eq!(changes(&here(), &remote(""), &remote("scale = 300\n")).len(), 1);
}

#[test]
fn an_engine_that_comes_or_goes_is_named() {
    let more = format!("{}[[engines]]\ncommand = \"gamma\"\n", with(""));
    insta::assert_snapshot!(changes(&here(), &with(""), &more).join("\n"), @r#"
    engines[gamma] was not there, is now
    order of the engines was a, b, is a, b, gamma
    "#);
    insta::assert_snapshot!(changes(&here(), &more, &with("")).join("\n"), @r#"
    engines[gamma] was there, is not now
    order of the engines was a, b, gamma, is a, b
    "#);
}

#[test]
fn an_edited_opening_file_is_noticed_and_a_renamed_one_is_none() {
    let world = here();
    let book = |file: &str| with(&format!("[openings]\nfile = \"{file}\"\n"));
    fs::copy(world.dir.path().join("book.usi"), world.dir.path().join("same.usi")).unwrap();
    fs::write(world.dir.path().join("other.usi"), "startpos moves 2g2f\n").unwrap();
    assert_eq!(changes(&world, &book("book.usi"), &book("same.usi")), Vec::<String>::new());
    insta::assert_snapshot!(changes(&world, &book("book.usi"), &book("other.usi")).join("\n"), @"openings.files[0] was contents c7811c9ddbafe5c6, is contents b79bcf0ed1b3d081");
}

#[test]
fn an_event_may_change_its_size_but_not_its_format() {
    let event = |keys: &str| with(&format!("[event]\n{keys}\n"));
    for (was, is) in [
        ("games = 2", "games = 4"),
        ("format = \"gauntlet\"", "format = \"gauntlet\"\ncycles = 3"),
        ("format = \"swiss\"\nrounds = 2", "format = \"swiss\"\nrounds = 5"),
        ("format = \"round-robin\"", "format = \"double-round-robin\""),
    ] {
        assert_eq!(changes(&here(), &event(was), &event(is)), Vec::<String>::new(), "{is}");
    }
    let sprt =
        |games: u32| event(&format!("format = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 5\nmax_games = {games}"));
    assert_eq!(changes(&here(), &sprt(100), &sprt(200)), Vec::<String>::new());
    let best_of = |games: u32| event(&format!("format = \"knock-out\"\ngames = {games}"));
    insta::assert_snapshot!(changes(&here(), &best_of(2), &best_of(4)).join("\n"), @"stages[0].games was 2, is 4");
    let other_format = changes(&here(), &event("games = 2"), &best_of(4));
    assert!(other_format.contains(&"stages[0].games was 2, is 4".to_owned()), "{other_format:?}");
}
