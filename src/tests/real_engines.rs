//! Debian's engines: a well-behaved one, and one with many quirks, which configuration alone can handle.
//!
//! Without them these tests are left out.
#![allow(clippy::unwrap_used, missing_docs)]

#[allow(dead_code)]
mod support;

use std::path::{Path, PathBuf};
use support::{Desk, program};

/// Paths of the engines, if both are installed.
fn engines() -> Option<[PathBuf; 2]> {
    let found = ["fairy-stockfish", "gpsusi"].map(testing::program);
    if !testing::has("fairy-stockfish and gpsshogi", found.iter().all(Option::is_some)) {
        return None;
    }
    let [fairy, gps] = found;
    fairy.zip(gps).map(|(fairy, gps)| [fairy, gps])
}

/// GPS Shogi reads its evaluation whenever it is started: three seconds of processor time, much longer on a busy machine.
const PATIENT: [&str; 2] = ["limits.start=10m", "limits.new_game=10m"];

/// A preset with some of its words replaced: its engines and its rules with fewer games or fewer nodes.
fn shortened(desk: &Desk, preset: &str, changes: &[[&str; 2]]) -> String {
    let preset = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs").join(preset);
    let mut text = std::fs::read_to_string(preset).unwrap();
    for [old, new] in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    desk.write("short.toml", &text).display().to_string()
}

#[test]
fn the_two_play_an_event_without_a_fault() {
    let Some([fairy, gps]) = engines() else { return };
    let desk = Desk::new();
    let played = desk.play(
        &[
            &[&format!("cmd={}", fairy.display()), "name=fairy", "nodes=300"],
            &[
                &format!("cmd={}", gps.display()),
                "name=gps",
                "option.LimitDepth=4",
                "option.Thread=1",
                // Its depth ends its turns; a busy machine takes ten seconds for some of them.
                "time=byoyomi 120s",
                "go=byoyomi-only",
                PATIENT[0],
                PATIENT[1],
            ],
        ],
        &["--games", "2", "--concurrency", "1", "--margin", "60s"],
    );
    assert_eq!(played.code(), Some(0), "{}", played.text());
    let json = played.json();
    assert_eq!(json["standings"][0]["name"], "gps", "{json}");
    for cause in ["time", "disconnection", "illegal-move:unreadable"] {
        assert!(json["endings"].get(cause).is_none(), "{json}");
    }
    let thought = desk.query("SELECT count(*) FROM moves WHERE depth IS NOT NULL AND pv IS NOT NULL");
    assert_ne!(thought[0][0], "0");
}

#[test]
fn an_engine_that_aborts_on_an_unknown_go_loses_and_is_restarted() {
    let Some([fairy, gps]) = engines() else { return };
    let desk = Desk::new();
    let played = desk.play(
        &[
            &[
                &format!("cmd={}", gps.display()),
                "name=gps",
                "option.Thread=1",
                "nodes=1000",
                PATIENT[0],
                PATIENT[1],
            ],
            &[&format!("cmd={}", fairy.display()), "name=fairy", "nodes=100"],
        ],
        // The look before the start would refuse it.
        &["--games", "2", "--concurrency", "1", "--no-look"],
    );
    let gps = played.standing("gps");
    assert_eq!(gps["lost_by"]["disconnection"], 2, "{}", played.text());
    let evidence = &desk.query("SELECT evidence FROM games")[0][0];
    assert!(evidence.contains("SIGABRT") && evidence.contains("go nodes 1000"), "{evidence}");
}

#[test]
fn a_configuration_that_needs_an_unsupported_go_is_refused() {
    let Some([_, gps]) = engines() else { return };
    let desk = Desk::new();
    let text = format!(
        "[event]\nname = 'x'\n[time]\ncontrol = 'nodes 1000'\n\
         [[engines]]\nname = 'a'\ncommand = '{0}'\ngo = 'byoyomi-only'\n\
         [[engines]]\nname = 'b'\ncommand = '{0}'\n",
        gps.display()
    );
    let file = desk.write("x.toml", &text).display().to_string();
    let refused = desk.renmei(&["run", &file]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("x.toml:") && stderr.contains("nodes"), "{stderr}");
}

#[test]
fn a_real_engine_ponders_through_hits_and_misses() {
    let Some([fairy, _]) = engines() else { return };
    let desk = Desk::new();
    let fairy = format!("cmd={}", fairy.display());
    let played = desk.play(
        &[&[&fairy, "name=ponders", "ponder=true", "option.Ponder=true"], &[&fairy, "name=waits"]],
        &[
            "--games",
            "2",
            "--time",
            "byoyomi 100ms",
            // So short a turn is late on a busy machine; its duration is not tested here.
            "--margin",
            "60s",
            "--max-moves",
            "40",
            "--concurrency",
            "1",
        ],
    );
    let standing = played.standing("ponders");
    assert_eq!(standing["games"], 2, "{}", played.text());
    assert!(standing["lost_by"].as_object().unwrap().keys().all(|cause| cause == "mate"), "{standing}");
}

#[test]
fn the_quickstart_shows_a_league_with_error_bars() {
    let Some(_) = engines() else { return };
    let desk = Desk::new();
    program("renmei-random");
    program("renmei-pairwise");
    let db = desk.db().display().to_string();
    // GPS Shogi takes long to start, and it plays in the first of these tests.
    let patient = format!(
        "command = \"gpsusi\"\n{}",
        PATIENT.map(|limit| limit.replace('=', " = \"") + "\"").join("\n")
    );
    let gps = if testing::requires_all() { &patient } else { "command = \"gpsusi-is-left-out\"" };
    let changes = [["games = 8 ", "games = 2 "], ["command = \"gpsusi\"", gps]];
    let quickstart = shortened(&desk, "quickstart.toml", &changes);
    let output = desk.renmei(&["run", &quickstart, "--db", &db, "--json", "--quiet"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json["complete"], true);
    let standings = json["standings"].as_array().unwrap();
    assert!(standings.iter().all(|line| line["elo_error"].is_number()), "{json}");
    // Which of the others is first may differ from run to run, because their openings do.
    let mut last = standings[standings.len() - 2..].iter().map(|line| line["name"].as_str().unwrap());
    assert!(last.all(|name| ["uniform", "greedy"].contains(&name)), "{json}");
}

#[test]
fn the_sprt_preset_reaches_a_verdict_on_four_times_the_nodes() {
    let Some(_) = engines() else { return };
    let desk = Desk::new();
    let db = desk.db().display().to_string();
    // Wider error rates, so that some thirty games are enough.
    let changes = [["nodes 4000", "nodes 400"], ["nodes 1000", "nodes 100"], ["= 0.05 ", "= 0.3 "]];
    let sprt = shortened(&desk, "sprt.toml", &changes);
    let output = desk.renmei(&["run", &sprt, "--db", &db, "--json", "--quiet"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(10), "{json}");
    assert_eq!(json["sprt"]["verdict"], "H1");
}
