//! After an event: games that were lost by faults are played again, and the event is handed over in one file.

use crate::support::{Desk, program};
use serde_json::Value;
use std::{fs, os::unix::fs::PermissionsExt, process::Output};

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// An event with an engine that crashes in every game as long as there is a file `broken`; played to its end.
fn event_with_faults() -> Desk {
    let desk = Desk::new();
    let puppet = program("renmei-puppet").display().to_string();
    let broken = desk.path("broken");
    let script = format!(
        "#!/bin/sh\nif [ -e {} ]; then exec {puppet} --mode crash --ply 3; fi\nexec {puppet} --mode king\n",
        broken.display()
    );
    let flaky = desk.write("flaky.sh", &script);
    fs::set_permissions(&flaky, fs::Permissions::from_mode(0o755)).unwrap();
    desk.write("broken", "");
    let engine = |name: &str, command: &str, args: &str| {
        format!("[[engines]]\nname = \"{name}\"\ncommand = \"{command}\"\nargs = [{args}]\n")
    };
    let engines = engine("flaky", &flaky.display().to_string(), "")
        + &engine("king", &puppet, "\"--mode\", \"king\"")
        + &engine("last", &puppet, "\"--mode\", \"resign\"");
    let event = "[event]\nname = \"cup\"\ndatabase = \"event.db\"\nformat = \"round-robin\"\ngames = 2\nfault_limit = \"off\"\n\
        oversubscribe = true\n[time]\nbyoyomi = \"60s\"\n";
    desk.write("cup.toml", &format!("{event}{engines}"));
    let output = desk.renmei(&["run", "cup.toml", "--no-dashboard"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    desk
}

fn report(desk: &Desk) -> Value {
    serde_json::from_slice(&desk.renmei(&["report", "event.db", "--json"]).stdout).unwrap()
}

fn faults(desk: &Desk) -> u64 {
    let rows = report(desk)["standings"].as_array().unwrap().clone();
    rows.iter().map(|row| row["faults"].as_u64().unwrap()).sum()
}

#[test]
fn games_that_were_lost_by_faults_are_played_again_and_what_they_were_stays_on_record() {
    let desk = event_with_faults();
    assert_eq!(faults(&desk), 2);
    fs::remove_file(desk.path("broken")).unwrap();
    let output = desk.renmei(&["rerun", "event.db", "--faults", "--reason", "a cable", "--as", "Kai"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("2 games lost by faults, 2 played again"), "{}", text(&output));
    // Nothing is left to play again, and another run plays exactly these games.
    assert!(text(&desk.renmei(&["rerun", "event.db", "--faults"])).contains("0 games lost by faults"));
    let output = desk.renmei(&["run", "cup.toml", "--no-dashboard"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let report = report(&desk);
    assert_eq!((faults(&desk), &report["games"], &report["complete"]), (0, &6.into(), &true.into()));
    let operations = report["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 2, "{report}");
    assert!(operations[0]["by"].as_str().unwrap().ends_with("as Kai"), "{report}");
    assert_eq!(desk.query("SELECT count(*) FROM games"), [["8"]], "the former games stay");
    let output = desk.renmei(&["verify", "event.db"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&desk.renmei(&["rerun", "event.db"])).contains("--faults"), "it says which games");
}

#[test]
fn an_event_is_handed_over_in_one_file_that_a_stranger_verifies() {
    let desk = event_with_faults();
    let set = "INSERT INTO web_accounts VALUES ('kai', 'arbiter', 'a-secret-hash', 0)";
    rusqlite::Connection::open(desk.db()).unwrap().execute(set, []).unwrap();
    let output = desk.renmei(&["pack", "event.db", "-o", "cup.tar.gz"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let head = report(&desk)["head"].as_str().unwrap().to_owned();
    assert!(text(&output).contains(&head), "{}", text(&output));
    let again = desk.renmei(&["pack", "event.db", "-o", "cup.tar.gz"]);
    assert_eq!((again.status.code(), text(&again).contains("there is such a file")), (Some(1), true));
    let left: Vec<_> =
        fs::read_dir(desk.dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".tmp")), "{left:?}");
    // The stranger has this file alone, and the head from elsewhere.
    let stranger = Desk::new();
    fs::copy(desk.path("cup.tar.gz"), stranger.path("cup.tar.gz")).unwrap();
    let output = stranger.renmei(&["verify", "cup.tar.gz", "--head", &head]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("nothing was altered"), "{}", text(&output));
    let mut tar = std::process::Command::new("tar");
    let unpacked = tar.args(["-xzf", "cup.tar.gz"]).current_dir(stranger.dir.path()).output();
    if unpacked.map(|output| output.status).is_ok_and(|status| status.success()) {
        let database = fs::read(stranger.path("database.db")).unwrap();
        assert!(
            memchr::memmem::find(&database, b"a-secret-hash").is_none(),
            "a hash of a password was handed over"
        );
        assert_eq!(fs::read_to_string(stranger.path("records-1.csa")).unwrap().matches("N+").count(), 6);
    }
    // One byte in the middle is noticed, and so is an archive that is cut off.
    let sound = fs::read(stranger.path("cup.tar.gz")).unwrap();
    let mut altered = sound.clone();
    altered[sound.len() / 2] ^= 1;
    for bytes in [&altered[..], &sound[..sound.len() - 100]] {
        fs::write(stranger.path("bad.tar.gz"), bytes).unwrap();
        assert_eq!(stranger.renmei(&["verify", "bad.tar.gz"]).status.code(), Some(1));
    }
}

/// Packs the database of a desk by hand, with a manifest that is true of it.
fn repack(desk: &Desk) -> bool {
    let tar = |args: &[&str]| {
        let run = std::process::Command::new("tar").args(args).current_dir(desk.dir.path()).status();
        run.is_ok_and(|status| status.success())
    };
    if !tar(&["-xzf", "cup.tar.gz"]) {
        return false;
    }
    fs::copy(desk.db(), desk.path("database.db")).unwrap();
    let mut manifest: Value = serde_json::from_slice(&fs::read(desk.path("manifest.json")).unwrap()).unwrap();
    let file = &mut manifest["files"][0];
    let (hash, size) =
        platform::content::sha256(&mut fs::File::open(desk.path("database.db")).unwrap()).unwrap();
    assert_eq!(file["name"], "database.db");
    (file["size"], file["sha256"]) = (size.into(), platform::content::hex(&hash).into());
    desk.write("manifest.json", &manifest.to_string());
    tar(&["-czf", "altered.tar.gz", "manifest.json", "database.db", "records-1.csa"])
}

#[test]
fn a_value_that_no_game_has_is_an_alteration_of_that_game_in_an_archive_too() {
    let desk = event_with_faults();
    assert_eq!(desk.renmei(&["pack", "event.db", "-o", "cup.tar.gz"]).status.code(), Some(0));
    let set = "PRAGMA ignore_check_constraints = on; UPDATE games SET cause = 'x' WHERE number = 2; \
               UPDATE games SET plies = -1 WHERE number = 3; PRAGMA journal_mode = delete";
    rusqlite::Connection::open(desk.db()).unwrap().execute_batch(set).unwrap();
    if !repack(&desk) {
        return;
    }
    let output = desk.renmei(&["verify", "altered.tar.gz"]);
    assert_eq!(output.status.code(), Some(20), "{}", text(&output));
    for game in ["game 2: ending altered", "game 3: ending altered"] {
        assert!(text(&output).contains(game), "{}", text(&output));
    }
    assert!(text(&output).contains("its records cannot be made anew"), "{}", text(&output));
}

#[test]
fn a_stranger_plays_deterministic_games_again_with_the_engines_that_are_there() {
    let desk = Desk::new();
    let puppet = program("renmei-puppet").display().to_string();
    let random = program("renmei-random").display().to_string();
    let engine = |name: &str, command: &str, args: &str| {
        format!(
            "[[engines]]\nname = \"{name}\"\ncommand = \"{command}\"\nargs = [{args}]\ntime = \"nodes 100\"\n"
        )
    };
    let engines =
        engine("king", &puppet, "\"--mode\", \"king\"") + &engine("other", &puppet, "\"--mode\", \"king\"");
    let timed = engine("timed", &random, "").replace("nodes 100", "byoyomi 60s");
    let event = "[event]\nname = \"cup\"\ndatabase = \"event.db\"\nformat = \"round-robin\"\ngames = 2\noversubscribe = true\n";
    desk.write("cup.toml", &format!("{event}[rules]\nmax_moves = 20\n{engines}{timed}"));
    let output = desk.renmei(&["run", "cup.toml", "--no-dashboard"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(desk.renmei(&["pack", "event.db", "-o", "cup.tar.gz"]).status.code(), Some(0));
    let replay = ["verify", "cup.tar.gz", "--replay", "100%", "--engine"];
    let output = desk.renmei(&[&replay[..], &[&puppet]].concat());
    if text(&output).contains("the strict sandbox alone") {
        assert_eq!(output.status.code(), Some(1), "there is no strict sandbox here: {}", text(&output));
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let all = "2 of 2 games came out the same; 2 games could be played again, 4 could not";
    assert!(text(&output).contains(all), "{}", text(&output));
    // Without the engine of that SHA-256 nothing is played.
    let output = desk.renmei(&[&replay[..], &[&random]].concat());
    assert!(text(&output).contains("0 of 0 games came out the same"), "{}", text(&output));
}
