//! What plays under a name is known: a rebuilt engine never passes for the one before it.

use crate::support::{Desk, program, until};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

/// A build of an engine: a script around the random player, with lines of its own before it begins.
fn build(desk: &Desk, name: &str, lines: &str) -> PathBuf {
    let random = program("renmei-random");
    let part =
        desk.write(&format!("{name}.part"), &format!("#!/bin/sh\n{lines}\nexec {}\n", random.display()));
    fs::set_permissions(&part, fs::Permissions::from_mode(0o755)).unwrap();
    // As a linker does it: another file takes the name.
    fs::rename(&part, desk.path(name)).unwrap();
    desk.path(name)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// A match of `./new` and the random player.
fn play(desk: &Desk, games: &str, words: &[&str], flags: &[&str]) -> Output {
    let random = format!("cmd={}", program("renmei-random").display());
    let mut args = vec!["match", "--engine", "cmd=./new", "name=new", "dir=."];
    args.extend(words);
    args.extend(["--engine", &random, "name=old", "--games", games, "--time", "600s", "--max-moves", "12"]);
    args.extend(["--concurrency", "1", "--oversubscribe"]);
    args.extend(flags);
    desk.renmei(&args)
}

fn played(desk: &Desk, games: &str, words: &[&str], flags: &[&str]) -> String {
    let output = play(desk, games, words, flags);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    text(&output)
}

fn refused(desk: &Desk, games: &str, words: &[&str]) -> String {
    let output = play(desk, games, words, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(output.stdout.is_empty(), "no standings are printed: {}", text(&output));
    for way in ["--name", "--db", "--fresh"] {
        assert!(stderr.contains(way), "{way} is a way on: {stderr}");
    }
    stderr
}

fn query(desk: &Desk, sql: &str) -> Vec<Vec<String>> {
    fs::copy(desk.path("match.db"), desk.db()).unwrap();
    desk.query(sql)
}

const COUNTED: &str = "SELECT count(*) FROM games JOIN events ON events.id = event WHERE events.name = 'match' AND state = 'counted'";

#[test]
fn a_finished_match_of_a_rebuilt_engine_is_refused_and_the_ways_on_are_named() {
    let desk = Desk::new();
    build(&desk, "new", "# 1");
    let first = played(&desk, "2", &[], &[]);
    assert!(!first.contains("nothing was played"), "{first}");
    assert!(played(&desk, "2", &[], &[]).contains("`match` is complete: nothing was played"));
    build(&desk, "new", "# 2");
    let refusal = refused(&desk, "2", &[]);
    let path = desk.path("new").canonicalize().unwrap();
    assert!(refusal.contains("`match` is complete"), "{refusal}");
    assert!(
        refusal
            .contains(&format!("engine `new`: the program `{}` was rebuilt or replaced (", path.display())),
        "{refusal}"
    );
    build(&desk, "new", "# 1");
    played(&desk, "2", &[], &[]);
}

#[test]
fn an_unfinished_match_never_mixes_two_builds() {
    let desk = Desk::new();
    build(&desk, "new", "# 1");
    played(&desk, "2", &[], &[]);
    build(&desk, "new", "# 2");
    refused(&desk, "4", &[]);
    assert_eq!(query(&desk, COUNTED), [["2"]]);
    assert_eq!(query(&desk, "SELECT count(DISTINCT sha256) FROM identities WHERE player = 0"), [["1"]]);
    build(&desk, "new", "# 1");
    played(&desk, "4", &[], &[]);
    assert_eq!(query(&desk, COUNTED), [["4"]]);
}

#[test]
fn a_fresh_match_keeps_what_was_played_under_another_name() {
    let desk = Desk::new();
    build(&desk, "new", "# 1");
    played(&desk, "2", &[], &[]);
    build(&desk, "new", "# 2");
    let words = played(&desk, "4", &[], &["--fresh"]);
    assert!(words.contains("`match` begins anew; what was played of it is `match.1` now"), "{words}");
    assert_eq!(query(&desk, COUNTED), [["4"]]);
    let list = text(&desk.renmei(&["report", "match.db", "--list"]));
    assert!(list.contains("match.1  2 games") && list.contains("match  4 games"), "{list}");
    build(&desk, "new", "# 3");
    played(&desk, "2", &[], &["--name", "other"]);
    assert!(desk.path("other.db").is_file());
}

#[test]
fn files_and_directories_that_options_name_belong_to_the_engine() {
    let desk = Desk::new();
    fs::create_dir(desk.path("eval")).unwrap();
    desk.write("eval/nn.bin", "one");
    desk.write("book.db", "one");
    // The directory is the default of an option that nobody sets.
    build(
        &desk,
        "new",
        "echo 'option name EvalDir type string default eval'\necho 'option name Book type filename'",
    );
    let words = ["option.Book=book.db"];
    played(&desk, "2", &words, &[]);
    for (file, before) in [("eval/nn.bin", "one"), ("book.db", "one")] {
        desk.write(file, "two");
        let refusal = refused(&desk, "2", &words);
        assert!(refusal.contains(&format!("engine `new`: its file `{file}` has changed (")), "{refusal}");
        assert!(refusal.contains(&format!("identity.ignore = [\"{file}\"]")), "{refusal}");
        desk.write(file, before);
    }
    desk.write("eval/more.bin", "more");
    assert!(refused(&desk, "2", &words).contains("its file `eval/more.bin` is new"));
    fs::remove_file(desk.path("eval/more.bin")).unwrap();
    played(&desk, "4", &words, &[]);
}

#[test]
fn files_that_an_engine_writes_itself_are_ignored_where_the_person_says_so() {
    let desk = Desk::new();
    desk.write("learned.db", "");
    build(&desk, "new", "echo 'option name Book type filename'\necho x >> learned.db");
    played(&desk, "2", &["option.Book=learned.db"], &[]);
    let refusal = refused(&desk, "4", &["option.Book=learned.db"]);
    assert!(refusal.contains("`learned.db` has changed"), "{refusal}");
    played(&desk, "4", &["option.Book=learned.db", "identity.ignore=learned.db"], &[]);
    played(&desk, "6", &["option.Book=learned.db", "identity.ignore=*.db"], &[]);
}

#[test]
fn files_that_a_script_starts_are_listed_by_the_person() {
    let desk = Desk::new();
    fs::create_dir(desk.path("lib")).unwrap();
    desk.write("lib/search.py", "one");
    build(&desk, "new", "");
    played(&desk, "2", &["identity.files=lib/*.py"], &[]);
    desk.write("lib/search.py", "two");
    let refusal = refused(&desk, "2", &["identity.files=lib/*.py"]);
    assert!(refusal.contains("its file `lib/search.py` has changed"), "{refusal}");
    let output = play(&desk, "2", &["identity.files=lib/*.lua"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("`identity.files` names `lib/*.lua`, which no file has in"),
        "{}",
        text(&output)
    );
}

#[test]
fn what_an_older_event_did_not_record_is_said_once_and_recorded() {
    let desk = Desk::new();
    build(&desk, "new", "");
    played(&desk, "2", &[], &[]);
    let forget = || {
        let database = rusqlite::Connection::open(desk.path("match.db")).unwrap();
        database.execute("DELETE FROM identities", []).unwrap();
    };
    forget();
    let complete = played(&desk, "2", &[], &[]);
    assert!(complete.contains("what played as `new`, `old` was not recorded"), "{complete}");
    build(&desk, "new", "# unknown before");
    let words = played(&desk, "4", &[], &[]);
    assert!(words.contains("it is taken to be the same, and recorded from now on"), "{words}");
    let words = played(&desk, "6", &[], &[]);
    assert!(!words.contains("recorded"), "said once: {words}");
    build(&desk, "new", "# another");
    refused(&desk, "8", &[]);
}

#[test]
fn reports_show_what_played_and_tell_where_two_builds_did() {
    let desk = Desk::new();
    build(&desk, "new", "# 1");
    desk.write("nn.bin", "");
    let live = played(&desk, "2", &["identity.files=nn.bin"], &[]);
    let hash = &query(&desk, "SELECT sha256 FROM identities WHERE player = 0")[0][0];
    let line = format!("new {}, nn.bin e3b0c442", &hash[..8]);
    assert!(live.contains(&line), "{live}");
    let report = text(&desk.renmei(&["report", "match.db"]));
    assert!(report.contains(&line) && report.contains("new     Renmei random "), "{report}");
    let json = desk.renmei(&["report", "match.db", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["played_by"][0]["builds"][0]["sha256"], hash.as_str());
    assert_eq!(json["played_by"][0]["builds"][0]["files"][0]["path"], "nn.bin");
    // Two builds in one event, as a version that did not compare them would have left it.
    played(&desk, "4", &["identity.files=nn.bin"], &[]);
    let database = rusqlite::Connection::open(desk.path("match.db")).unwrap();
    database
        .execute("UPDATE identities SET sha256 = '00' WHERE player = 0 AND run = (SELECT max(run) FROM identities)", [])
        .unwrap();
    let report = text(&desk.renmei(&["report", "match.db"]));
    assert!(report.contains("! 2 builds played as new: its figures mix them"), "{report}");
    desk.renmei(&["report", "match.db", "--html", "match.html"]);
    let page = fs::read_to_string(desk.path("match.html")).unwrap();
    assert!(page.contains("2 builds played as new") && page.contains(&line), "the page tells it too");
}

/// Waits until the match has this many running games.
fn until_running(desk: &Desk, child: &mut Child, games: i64) {
    let running = || {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = rusqlite::Connection::open_with_flags(desk.path("match.db"), flags).ok()?;
        let sql = "SELECT count(*) FROM games WHERE ended_at IS NULL";
        database.query_row(sql, [], |row| row.get::<_, i64>(0)).ok()
    };
    until("the game begins", || {
        assert!(child.try_wait().unwrap().is_none(), "the match has ended");
        running() == Some(games)
    });
}

#[test]
fn an_engine_that_is_replaced_while_it_plays_halts_the_event_before_it_is_started_again() {
    let desk = Desk::new();
    let random = program("renmei-random").display().to_string();
    // It answers `go` only once the file `hold` is gone.
    let held = format!(
        "# 1\nwhile read -r line; do\n  case \"$line\" in go*) while [ -e hold ]; do sleep 0.1; done;; esac\n  echo \
         \"$line\"\ndone | {random}\nexit"
    );
    build(&desk, "new", &held);
    desk.write("hold", "");
    let old = format!("cmd={random}");
    let args =
        ["match", "--engine", "cmd=./new", "name=new", "dir=.", "restart=every-game", "--engine", &old];
    let more = ["name=old", "--games", "6", "--time", "600s", "--max-moves", "12", "--concurrency", "1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    // The look before the start would wait for the held engine.
    command.current_dir(desk.dir.path()).args(args).args(more).args(["--oversubscribe", "--no-look"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until_running(&desk, &mut child, 1);
    build(&desk, "new", &held.replace("# 1", "# 2"));
    fs::remove_file(desk.path("hold")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("`match` is stopped, because an engine is another one now")
            && stderr.contains("/new` was replaced"),
        "{stderr}"
    );
    assert_eq!(query(&desk, COUNTED), [["1"]]);
    assert_eq!(
        query(&desk, "SELECT count(*) FROM games WHERE cause NOT IN ('stopped') AND state <> 'counted'"),
        [["0"]]
    );
    // With the old build back, the same command goes on.
    build(&desk, "new", &held);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(query(&desk, COUNTED), [["6"]]);
}

#[test]
fn events_of_a_file_and_hosted_events_know_their_engines_too() {
    for command in ["run", "serve"] {
        let desk = Desk::new();
        build(&desk, "new", "# 1");
        let old = program("renmei-random").display().to_string();
        let event = format!(
            "time = \"600s\"\nrules.max_moves = 12\n[event]\nname = \"cup\"\ndatabase = \"event.db\"\nconcurrency = 1\n\
             oversubscribe = true\n[serve]\nlisten = [\"127.0.0.1:0\"]\n[[engines]]\nname = \"new\"\ncommand = \"./new\"\n\
             [[engines]]\nname = \"old\"\ncommand = {old:?}\n"
        );
        desk.write("event.toml", &event);
        let run = |flags: &[&str]| desk.renmei(&[&[command, "event.toml", "--quiet"], flags].concat());
        assert_eq!(run(&[]).status.code(), Some(0), "{}", text(&run(&[])));
        build(&desk, "new", "# 2");
        let refused = run(&[]);
        assert_eq!(refused.status.code(), Some(2), "{command}: {}", text(&refused));
        assert!(text(&refused).contains("engine `new`: the program `"), "{}", text(&refused));
        assert_eq!(run(&["--name", "cup of the new build"]).status.code(), Some(0));
        let fresh = run(&["--fresh"]);
        assert_eq!(fresh.status.code(), Some(0), "{}", text(&fresh));
        assert!(text(&fresh).contains("what was played of it is `cup.1` now"), "{}", text(&fresh));
        let events = desk.query(
            "SELECT name, count(*) FROM events JOIN games ON event = events.id GROUP BY name ORDER BY 1",
        );
        assert_eq!(events, [["cup", "2"], ["cup of the new build", "2"], ["cup.1", "2"]]);
    }
}
