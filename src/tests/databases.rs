//! Databases of older versions are reported, exported, learned from and resumed.
//!
//! `databases/af0dbb8` holds databases written by that commit: a finished event, one whose program was killed during a
//! game, an open league, and the games of a client in that league.

use crate::support::{Desk, program};
use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

const VERSIONS: [&str; 1] = ["af0dbb8"];
const KINDS: [&str; 4] = ["finished", "interrupted", "league", "floodgate"];

/// A desk whose database is a copy of an older version's.
fn desk(version: &str, kind: &str) -> Desk {
    let desk = Desk::new();
    fs::copy(kept(version).join(kind).with_extension("sqlite"), desk.db()).unwrap();
    desk
}

fn kept(version: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/databases").join(version)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn done(desk: &Desk, args: &[&str]) -> String {
    let output = desk.renmei(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output));
    text(&output)
}

#[test]
fn every_database_of_an_older_version_is_reported_and_drawn() {
    for (version, kind) in VERSIONS.iter().flat_map(|version| KINDS.map(|kind| (version, kind))) {
        let desk = desk(version, kind);
        let before = fs::read(desk.db()).unwrap();
        let report = done(&desk, &["report", "event.db"]);
        let players = if ["league", "floodgate"].contains(&kind) { "kawa" } else { "greedy" };
        assert!(report.contains(players), "{kind}: {report}");
        done(&desk, &["report", "event.db", "--html", "event.html"]);
        done(&desk, &["report", "event.db", "--plot", "elo.svg"]);
        assert!(fs::read_to_string(desk.path("event.html")).unwrap().contains(players));
        assert_eq!(fs::read(desk.db()).unwrap(), before, "{kind}: a report changes nothing");
    }
}

#[test]
fn every_database_of_an_older_version_is_exported() {
    for (version, kind) in VERSIONS.iter().flat_map(|version| KINDS.map(|kind| (version, kind))) {
        let desk = desk(version, kind);
        let counted = desk.query("SELECT count(*) FROM games WHERE state = 'counted'")[0][0].clone();
        done(&desk, &["export", "event.db", "--format", "usi", "--output", "games.usi"]);
        let lines = fs::read_to_string(desk.path("games.usi")).unwrap().lines().count();
        assert_eq!(lines.to_string(), counted, "{kind}");
        done(&desk, &["export", "event.db", "--format", "csa", "--output", "games.csa"]);
        done(&desk, &["import", "--verify", "games.csa"]);
    }
}

#[test]
fn an_engine_learns_from_a_database_of_an_older_version() {
    for version in VERSIONS {
        let desk = desk(version, "finished");
        let learn = ["learn", "event.db", "--output", "weights.kpw", "--passes", "1", "--measure", "50"];
        let mut command = Command::new(program("renmei-pairwise"));
        let learned = command.current_dir(desk.dir.path()).args(learn).stdin(Stdio::null()).output().unwrap();
        assert!(learned.status.success(), "{}", text(&learned));
        assert!(desk.path("weights.kpw").is_file());
    }
}

#[test]
fn a_finished_event_of_an_older_version_is_reported_and_an_interrupted_one_is_finished() {
    for version in VERSIONS {
        let desk = desk(version, "interrupted");
        let engines = program("renmei-random").parent().unwrap().display().to_string();
        let configuration = fs::read_to_string(kept(version).join("interrupted.toml")).unwrap();
        fs::copy(kept(version).join("openings.sfen"), desk.path("openings.sfen")).unwrap();
        // The engines have moved since; a changed path would require another event name.
        let elsewhere = configuration.replace("/opt/renmei", &engines).replace("interrupted.db", "event.db");
        desk.write("event.toml", &elsewhere);
        let refused = desk.renmei(&["run", "event.toml", "--quiet"]);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
        desk.query(&format!(
            "UPDATE events SET fingerprint = replace(fingerprint, '/opt/renmei', '{engines}') RETURNING id"
        ));
        let before = desk.query("SELECT number, result, plies FROM games WHERE state = 'counted'");
        let words = done(&desk, &["run", "event.toml", "--quiet"]);
        assert!(words.contains("it is taken to be the same, and recorded from now on"), "{words}");
        let counted =
            desk.query("SELECT count(*), count(DISTINCT index_) FROM games WHERE state = 'counted'");
        assert_eq!(counted[0], ["48", "48"], "every pairing of the schedule is played once");
        let after = desk.query("SELECT number, result, plies FROM games WHERE state = 'counted'");
        assert_eq!(after[..before.len()], before, "earlier games count as before");
        assert_eq!(desk.query("SELECT count(*) FROM games WHERE state = 'adjourned'")[0], ["1"]);
        let again = done(&desk, &["run", "event.toml", "--quiet"]);
        assert!(again.contains("pairwise") && !again.contains("recorded from now on"), "{again}");
    }
}
