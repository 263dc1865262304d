//! `renmei verify`: what was altered after an event was played.

use crate::support::{Desk, ended, program};
use rusqlite::Connection;
use std::process::{Command, Stdio};

/// A finished match of two random movers.
fn played(desk: &Desk) -> String {
    let random = format!("cmd={}", program("renmei-random").display());
    let output = desk.renmei(&[
        "match",
        "--db",
        "event.db",
        "--oversubscribe",
        "--games",
        "4",
        "--time",
        "10s",
        "--max-moves",
        "30",
        "--engine",
        &random,
        "name=one",
        "--engine",
        &random,
        "name=two",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn head(text: &str) -> String {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("head "));
    line.unwrap_or_else(|| panic!("no head in {text}")).to_owned()
}

fn verify(desk: &Desk, more: &[&str]) -> (Option<i32>, String) {
    let output = desk.renmei(&[&["verify", "event.db"], more].concat());
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn alter(desk: &Desk, sql: &str) {
    Connection::open(desk.db()).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn an_event_verifies_until_somebody_alters_it() {
    let desk = Desk::new();
    let noted = head(&played(&desk));
    let report = desk.renmei(&["report", "event.db"]);
    assert_eq!(head(&String::from_utf8(report.stdout).unwrap()), noted, "a report prints the head too");
    let (code, text) = verify(&desk, &["--head", &noted]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("4 games and ") && text.contains("nothing was altered"), "{text}");
    assert!(text.contains("the given head is that of entry "), "{text}");
    alter(
        &desk,
        "UPDATE moves SET charged_ms = 1 + charged_ms WHERE game = (SELECT id FROM games WHERE number = 3) AND ply > 20",
    );
    let (code, text) = verify(&desk, &[]);
    assert_eq!(code, Some(20), "{text}");
    assert!(text.contains("game 3: times altered"), "{text}");
    let json = desk.renmei(&["verify", "event.db", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let altered = &json[0]["alterations"][0];
    assert_eq!(
        (altered["game"].as_i64(), &altered["parts"]),
        (Some(3), &serde_json::json!(["times"])),
        "{json}"
    );
    // A game that is taken for the repetition of another is no evidence.
    alter(&desk, "UPDATE games SET moves_hash = 1 + moves_hash WHERE number = 2");
    let (_, text) = verify(&desk, &[]);
    assert!(text.contains("game 2: ending altered"), "{text}");
}

#[test]
fn a_head_that_is_not_in_the_chain_is_told() {
    let desk = Desk::new();
    let noted = head(&played(&desk));
    // The end of the event is cut off: what is left is a chain of its own.
    alter(
        &desk,
        "DELETE FROM log WHERE kind = 'closed'; DELETE FROM closings; DELETE FROM seals WHERE kind = 'closed'",
    );
    assert_eq!(verify(&desk, &[]).0, Some(0));
    let (code, text) = verify(&desk, &["--head", &noted]);
    assert_eq!(code, Some(20), "{text}");
    assert!(text.contains("the head is in no chain of this database"), "{text}");
    let (code, text) = verify(&desk, &["--head", "12ab"]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn the_chain_goes_on_after_sigkill_and_still_verifies() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let args = [
        "match",
        "--db",
        "event.db",
        "--oversubscribe",
        "--games",
        "16",
        "--time",
        "10s",
        "--max-moves",
        "60",
        "--engine",
        &random,
        "name=one",
        "--engine",
        &random,
        "name=two",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command
        .current_dir(desk.dir.path())
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while desk
        .try_query("SELECT count(*) FROM seals")
        .is_none_or(|rows| rows[0][0].parse::<u32>().unwrap() < 5)
    {
        assert!(child.try_wait().unwrap().is_none_or(|status| status.success()));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let _ended_before = child.kill();
    ended(&mut child);
    let killed = verify(&desk, &[]);
    assert_eq!(killed.0, Some(0), "{}", killed.1);
    assert_eq!(desk.renmei(&args).status.code(), Some(0));
    let (code, text) = verify(&desk, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("nothing was altered"), "{text}");
}

#[test]
fn an_event_whose_seals_were_all_removed_is_altered() {
    let desk = Desk::new();
    played(&desk);
    alter(&desk, "DELETE FROM seals");
    let (code, text) = verify(&desk, &[]);
    assert_eq!(code, Some(20), "{text}");
    assert!(text.contains("game 4 was inserted, or its seal was removed"), "{text}");
    assert!(!text.contains("nothing was altered"), "{text}");
}
