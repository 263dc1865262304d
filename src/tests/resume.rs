//! No announced game is ever lost.

use crate::support::{Desk, ended, none_left, program};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use rusqlite::{Connection, OpenFlags};
use std::{
    io::Write as _,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

const GAMES: usize = 24;

/// An engine that does not answer `go` while a file `hold` exists beside it, so that no game ends before the test
/// allows it.
fn held_engine(desk: &Desk) -> PathBuf {
    let random = program("renmei-random").display().to_string();
    let script = format!(
        "#!/bin/sh\nhold=$(dirname \"$0\")/hold\nwhile read -r line; do\n  case \"$line\" in go*) while [ -e \"$hold\" ]; \
         do sleep 0.1; done;; esac\n  echo \"$line\"\ndone | {random}\n"
    );
    let path = desk.write("patient.sh", &script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    desk.write("hold", "");
    path
}

/// Lets the held engines answer.
fn release(desk: &Desk) {
    std::fs::remove_file(desk.path("hold")).unwrap();
}

/// Waits until `games` games have begun or ended, as `what` counts them, or the event is over.
fn until(desk: &Desk, child: &mut Child, what: &str, games: i64) {
    let count = || {
        let stored = Connection::open_with_flags(desk.db(), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        stored.query_row(what, [], |row| row.get::<_, i64>(0)).ok()
    };
    crate::support::until("the event makes progress", || {
        count().is_some_and(|count| count >= games) || child.try_wait().unwrap().is_some()
    });
}

const BEGUN: &str = "SELECT count(*) FROM games";
const RUNNING: &str = "SELECT count(*) FROM games WHERE ended_at IS NULL";

fn arguments(desk: &Desk, mark: &str) -> Vec<String> {
    played_by(desk, mark, &program("renmei-random"))
}

/// Arguments of a match between two copies of this engine.
fn played_by(desk: &Desk, mark: &str, engine: &std::path::Path) -> Vec<String> {
    let random = engine.display().to_string();
    let words = |name: &str| {
        [
            "--engine".to_owned(),
            format!("cmd={random}"),
            format!("name={name}"),
            "option.ThinkTime=2".to_owned(),
        ]
    };
    let mut args = vec!["match".to_owned()];
    args.extend(words("a"));
    args.push(format!("env.MARK={mark}"));
    args.extend(words("b"));
    let db = desk.db().display().to_string();
    let games = GAMES.to_string();
    for word in [
        "--games",
        &games,
        "--concurrency",
        "2",
        "--oversubscribe",
        "--time",
        "600s",
        "--max-moves",
        "40",
        "--no-look",
    ] {
        args.push(word.to_owned());
    }
    args.extend(["--db".to_owned(), db]);
    args
}

fn start(desk: &Desk, args: &[String]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command
        .current_dir(desk.dir.path())
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, signal: nix::sys::signal::Signal) {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, signal).unwrap();
}

/// Checks that every pairing of the schedule has exactly one counted game.
fn complete(desk: &Desk) {
    let counted = desk.query(
        "SELECT count(*), count(DISTINCT index_), min(index_), max(index_) FROM games WHERE state = 'counted'",
    );
    let games = GAMES.to_string();
    assert_eq!(counted[0], [games.clone(), games, "0".to_owned(), (GAMES - 1).to_string()]);
    let table = desk.query("SELECT sum(games), sum(wins), sum(losses), sum(draws) FROM standings");
    let played = desk.query("SELECT count(*), sum(winner IS NOT NULL) FROM games WHERE state = 'counted'");
    assert_eq!(table[0][0], (2 * GAMES).to_string());
    assert_eq!((&table[0][1], &table[0][2]), (&played[0][1], &played[0][1]));
}

#[test]
fn a_manager_killed_repeatedly_loses_no_game_and_plays_none_twice() {
    let desk = Desk::new();
    let args = arguments(&desk, "killed");
    for round in 0..8 {
        let mut child = start(&desk, &args);
        until(&desk, &mut child, BEGUN, 1 + 3 * round);
        signal(&child, nix::sys::signal::Signal::SIGKILL);
        ended(&mut child);
    }
    let last = start(&desk, &args).wait_with_output().unwrap();
    assert_eq!(last.status.code(), Some(0), "{}", String::from_utf8_lossy(&last.stderr));
    complete(&desk);
    none_left("env.MARK=killed");
}

#[test]
fn the_first_ctrl_c_finishes_running_games_and_the_same_command_resumes() {
    let desk = Desk::new();
    let args = played_by(&desk, "asked", &held_engine(&desk));
    let mut child = start(&desk, &args);
    until(&desk, &mut child, RUNNING, 2);
    signal(&child, nix::sys::signal::Signal::SIGINT);
    release(&desk);
    let stopped = child.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(3), "{}", String::from_utf8_lossy(&stopped.stderr));
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE state <> 'counted'")[0][0], "0");
    start(&desk, &args).wait_with_output().unwrap();
    complete(&desk);
}

#[test]
fn an_interruption_ends_with_the_command_that_resumes_quoted_for_a_shell() {
    let desk = Desk::new();
    let mut args = played_by(&desk, "quoted", &held_engine(&desk));
    args.extend(["--name".to_owned(), "Renmei's $1 & more".to_owned()]);
    let mut child = start(&desk, &args);
    until(&desk, &mut child, RUNNING, 2);
    signal(&child, nix::sys::signal::Signal::SIGTERM);
    let stopped = child.wait_with_output().unwrap();
    release(&desk);
    let text = String::from_utf8(stopped.stdout).unwrap();
    let command = text.trim_end().lines().last().unwrap().strip_prefix("to resume: ").expect(&text);
    assert!(command.ends_with(r#"--name 'Renmei'\''s $1 & more'"#), "{command}");
    let resumed = Command::new("sh").current_dir(desk.dir.path()).args(["-c", command]).output().unwrap();
    assert_eq!(resumed.status.code(), Some(0), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert!(!String::from_utf8_lossy(&resumed.stdout).contains("to resume"), "it is complete");
    complete(&desk);
}

#[test]
fn a_sequential_test_that_was_stopped_says_so_in_its_report() {
    let desk = Desk::new();
    let mut args = played_by(&desk, "halfway", &held_engine(&desk));
    args.extend(["--sprt", "elo0=0", "elo1=5"].map(str::to_owned));
    let mut child = start(&desk, &args);
    until(&desk, &mut child, RUNNING, 2);
    signal(&child, nix::sys::signal::Signal::SIGTERM);
    let stopped = child.wait_with_output().unwrap();
    release(&desk);
    let text = String::from_utf8(stopped.stdout).unwrap();
    assert!(text.contains("stopped by hand after 0 pairs, without a verdict: the error rates are"), "{text}");
}

#[test]
fn sigterm_adjourns_running_games_at_once() {
    let desk = Desk::new();
    let args = played_by(&desk, "told", &held_engine(&desk));
    let mut child = start(&desk, &args);
    until(&desk, &mut child, RUNNING, 2);
    signal(&child, nix::sys::signal::Signal::SIGTERM);
    // It waits for no move: the engines are still held.
    let stopped = child.wait_with_output().unwrap();
    release(&desk);
    assert_eq!(stopped.status.code(), Some(3));
    let adjourned = desk.query("SELECT count(*) FROM games WHERE state = 'adjourned'");
    assert_ne!(adjourned[0][0], "0");
    start(&desk, &args).wait_with_output().unwrap();
    complete(&desk);
}

#[test]
fn stdout_that_nobody_reads_holds_up_neither_the_games_nor_the_end() {
    let desk = Desk::new();
    let args = arguments(&desk, "deaf");
    let (_unread, mut full) = std::io::pipe().unwrap();
    fcntl(&full, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    while full.write(&[0]).is_ok() {}
    fcntl(&full, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    let child = command.current_dir(desk.dir.path()).args(&args).stdout(full);
    let ended = child.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("stdout is not read: lines were left out"), "{stderr}");
    complete(&desk);
}

#[test]
fn a_finished_event_is_only_reported_again() {
    let desk = Desk::new();
    let args = arguments(&desk, "done");
    start(&desk, &args).wait_with_output().unwrap();
    let again = start(&desk, &args).wait_with_output().unwrap();
    assert_eq!(again.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&again.stdout).contains("24 games"));
    complete(&desk);
}

#[test]
fn a_changed_event_is_refused_and_the_change_named() {
    let desk = Desk::new();
    let mut args = arguments(&desk, "changed");
    start(&desk, &args).wait_with_output().unwrap();
    for word in &mut args {
        *word = word.replace("ThinkTime=2", "ThinkTime=1");
    }
    let refused = start(&desk, &args).wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("engines[a].options.ThinkTime was 2, is 1"), "{stderr}");
}

#[test]
fn two_managers_do_not_play_one_event() {
    let desk = Desk::new();
    let args = played_by(&desk, "twice", &held_engine(&desk));
    let mut first = start(&desk, &args);
    until(&desk, &mut first, RUNNING, 1);
    let second = start(&desk, &args).wait_with_output().unwrap();
    release(&desk);
    assert_eq!(second.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&second.stderr);
    assert!(stderr.contains(&first.id().to_string()), "names the process that plays it: {stderr}");
    first.wait_with_output().unwrap();
    complete(&desk);
}
