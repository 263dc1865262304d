//! Wrong files and meaningless flags: the real binary refuses them with a reason and starts nothing.

use crate::support::{Desk, ended, program};
use std::{
    fs,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Stderr of a refused command.
fn refused(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty(), "nothing is printed");
    stderr
}

const LEAGUE: &str = "[serve]\nlisten = [\"127.0.0.1:0\"]\n";

#[test]
fn all_faults_of_a_leagues_file_are_reported_at_once_with_file_and_line() {
    let desk = Desk::new();
    desk.write(
        "league.toml",
        "[serve]\nnmae = \"x\"\nmax_moves = \"256\"\n[serve.limits]\nconnections = 0\n",
    );
    let stderr = refused(&desk.renmei(&["serve", "league.toml"]));
    for fault in [
        "league.toml:2:1: serve.nmae: unknown key `nmae`; did you mean `name`?",
        "league.toml:3:13: serve.max_moves: expected a whole number, found the text \"256\"",
        "league.toml:5:15: serve.limits.connections: 0 is out of range; it must be from 1 to 1000000",
    ] {
        assert!(stderr.contains(fault), "{stderr}");
    }
    assert!(!desk.path("league.db").exists(), "no event was begun");
}

#[test]
fn a_file_for_another_command_names_that_command() {
    let desk = Desk::new();
    desk.write("league.toml", LEAGUE);
    desk.write("client.toml", "[floodgate]\nhost = \"h\"\n");
    let refusal = |command: &str, file: &str| refused(&desk.renmei(&[command, file]));
    assert!(
        refusal("run", "league.toml").contains("an open league, not an event; host it with `renmei serve`")
    );
    assert!(
        refusal("serve", "client.toml")
            .contains("client.toml:1:2: floodgate: a file with this table is for `renmei floodgate`")
    );
    assert!(
        refusal("floodgate", "league.toml")
            .contains("league.toml:1:2: serve: a file with this table is for `renmei serve`")
    );
}

#[test]
fn flags_of_an_event_are_refused_by_an_open_league_with_their_reasons() {
    let desk = Desk::new();
    desk.write("league.toml", LEAGUE);
    let flags = ["--json", "--concurrency", "3", "--oversubscribe", "--affinity"];
    let stderr = refused(&desk.renmei(&[&["serve", "league.toml"], &flags[..]].concat()));
    for reason in [
        "--json does not apply: an open league has no final standings",
        "--concurrency does not apply: an open league plays every game that its players agree to",
        "--oversubscribe does not apply: an open league starts no engines",
        "--affinity does not apply: an open league starts no engines",
    ] {
        assert!(stderr.contains(reason), "{stderr}");
    }
    assert!(!desk.path("league.db").exists(), "no event was begun");
}

#[test]
fn an_open_league_writes_its_events() {
    let desk = Desk::new();
    let league = desk.write("league.toml", LEAGUE);
    let events = desk.path("events.jsonl");
    let onto_itself = refused(&desk.renmei(&["serve", "league.toml", "--events", "league.toml"]));
    assert!(
        onto_itself.contains("--events league.toml: it holds something else than events"),
        "{onto_itself}"
    );
    assert_eq!(fs::read_to_string(&league).unwrap(), LEAGUE);
    let mut child = Command::new(env!("CARGO_BIN_EXE_renmei"))
        .arg("serve")
        .arg(league)
        .arg("--events")
        .arg(&events)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let patience = Instant::now() + testing::PATIENCE;
    while !fs::read_to_string(&events).is_ok_and(|text| text.ends_with('\n')) {
        assert!(Instant::now() < patience && child.try_wait().unwrap().is_none(), "no event is written");
        thread::sleep(Duration::from_millis(20));
    }
    let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert!(ended(&mut child).success());
    let text = fs::read_to_string(&events).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&first["event"], &first["name"]), (&"opened".into(), &"league".into()));
    for output in [["report", "--html"], ["report", "--plot"]] {
        let mistyped = desk.renmei(&[output[0], "league.db", output[1], "league.toml"]);
        assert!(!mistyped.status.success(), "{output:?}");
        assert_eq!(fs::read_to_string(desk.path("league.toml")).unwrap(), LEAGUE, "{output:?}");
    }
}

#[test]
fn flags_that_need_or_exclude_others_are_refused_accordingly() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let engines = ["match", "--engine", &random, "--engine", &random];
    let refusal = |flags: &[&str]| refused(&desk.renmei(&[&engines, flags].concat()));
    assert!(refusal(&["--openings", "none", "--plies", "4"]).contains("--plies"));
    assert!(refusal(&["--openings", "none", "--sequential"]).contains("--sequential"));
    assert!(
        refusal(&["--gauntlet", "--sprt", "elo0=0", "elo1=5"])
            .contains("'--gauntlet' cannot be used with '--sprt")
    );
    assert!(refusal(&["--concurrency", "0"]).contains("it must be at least 1"));
    assert!(
        refusal(&["--name", &"n".repeat(129)])
            .contains("event.name: has 129 characters; a name has at most 128")
    );
    let same = ["--events", "cup.log", "--records", "./cup.log"];
    assert!(refusal(&same).contains("--events and --records name the same file"));
    assert!(refusal(&["--affinity", "--oversubscribe"]).contains("pinned games need cores of their own"));
    let refusal = |args: &[&str]| refused(&desk.renmei(args));
    assert!(
        refusal(&["report", "x.db", "--list", "--json"]).contains("'--list' cannot be used with '--json'")
    );
    assert!(refusal(&["import", "x.kif", "--verify", "--event", "x"]).contains("--db"));
    assert!(refusal(&["floodgate", "x.toml", "--games", "0"]).contains("it must be at least 1"));
}

/// Every write to `/dev/full` fails as on a full disk.
#[cfg(target_os = "linux")]
#[test]
fn what_a_full_disk_does_not_take_from_stdout_is_no_success() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(program("renmei"))
        .args(["sprt", "--wdl", "10", "5", "3"])
        .stdout(full)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("stdout: No space left on device") && stderr.contains("not all there"),
        "{stderr}"
    );
}
