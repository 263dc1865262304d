//! Engines that are added to the file of a running event, or replace one that plays in it.

use crate::{
    admin::{Playing, admin, done, event, games, held_engine, refused, release, report},
    support::{Desk, program, until},
};
use std::{os::unix::fs::PermissionsExt, process::Command, thread};

/// A build of its own: a script that no other engine is.
fn build(desk: &Desk, name: &str) -> String {
    let random = program("renmei-random").display().to_string();
    let path = desk.write(&format!("{name}.sh"), &format!("#!/bin/sh\n# {name}\nexec {random}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn text(desk: &Desk) -> String {
    std::fs::read_to_string(desk.path("event.toml")).unwrap()
}

/// Adds an engine at the end of the file.
fn add(desk: &Desk, name: &str, command: &str, more: &str) {
    let text = text(desk);
    desk.write("event.toml", &format!("{text}[[engines]]\nname = '{name}'\ncommand = '{command}'\n{more}\n"));
}

/// Games that count of each two players, by their numbers.
fn met(desk: &Desk) -> Vec<[u32; 3]> {
    let sql = "SELECT min(black, white), max(black, white), count(*) FROM games WHERE state = 'counted' \
               GROUP BY 1, 2 ORDER BY 1, 2";
    let number = |text: &String| text.parse().unwrap();
    desk.query(sql).iter().map(|row| [number(&row[0]), number(&row[1]), number(&row[2])]).collect()
}

fn joined(desk: &Desk) -> String {
    desk.query("SELECT count(*) FROM operations WHERE action = 'joined'")[0][0].clone()
}

fn is_sealed(desk: &Desk) {
    let verified = desk.renmei(&["verify", "event.db"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn an_engine_joins_the_running_event_by_its_file_and_has_joined_after_a_kill() {
    let desk = Desk::new();
    let args = event(&desk, 2);
    let playing = Playing::start(&desk, &args);
    until("the first game begins", || !games(&desk, "1").is_empty());
    let before = text(&desk);
    assert!(refused(&desk, &["reload"]).contains("no engine that the event has not"));
    let broken = desk.write("broken.sh", "#!/bin/sh\necho 'no weights in eval/' >&2\nexit 3\n");
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    add(&desk, "c", &broken.display().to_string(), "");
    let why = refused(&desk, &["reload"]);
    assert!(why.contains("engine `c` cannot play") && why.contains("no weights in eval/"), "{why}");
    desk.write("event.toml", &before);
    add(&desk, "c", &desk.path("patient.sh").display().to_string(), "");
    let why = refused(&desk, &["reload"]);
    assert!(why.contains("`c` is the build that plays as `a`, with the same options"), "{why}");
    desk.write("event.toml", &before);
    add(&desk, "a", &build(&desk, "other"), "");
    let why = refused(&desk, &["reload"]);
    assert!(why.contains("two engines are named \"a\""), "{why}");
    desk.write("event.toml", &before.replace("name = 'b'", "ponder = true\nname = 'b'"));
    add(&desk, "c", &build(&desk, "c"), "");
    let why = refused(&desk, &["reload"]);
    assert!(why.contains("engines[b].ponder was false, is true"), "{why}");
    desk.write("event.toml", &before);
    add(&desk, "c", &build(&desk, "c"), "");
    let answer = done(&desk, &["reload", "--as", "kai", "--reason", "a new author"]);
    assert!(answer["text"].as_str().unwrap().contains("added `c`"), "{answer}");
    playing.kill();
    let playing = Playing::start(&desk, &args);
    assert!(refused(&desk, &["reload"]).contains("no engine that the event has not"));
    release(&desk);
    assert_eq!(playing.ends(), Some(0));
    assert_eq!(met(&desk), [[0, 1, 2], [0, 2, 2], [1, 2, 2]]);
    assert_eq!(joined(&desk), "1");
    let report = report(&desk);
    assert_eq!(report["standings"].as_array().unwrap().len(), 3);
    assert!(report["operations"][0]["by"].as_str().unwrap().ends_with(" as kai"), "{}", report["operations"]);
    is_sealed(&desk);
}

#[test]
fn a_newcomer_plays_in_the_process_that_it_joined() {
    let desk = Desk::new();
    let playing = Playing::start(&desk, &event(&desk, 2));
    until("the first game begins", || !games(&desk, "1").is_empty());
    add(&desk, "c", &build(&desk, "c"), "time = '300s'");
    add(&desk, "d", &build(&desk, "d"), "");
    let answer = done(&desk, &["reload"]);
    assert!(answer["text"].as_str().unwrap().contains("added `c`; added `d`"), "{answer}");
    let list = done(&desk, &["list"])["list"].clone();
    assert_eq!(list["games"].as_array().unwrap().len(), 1, "the running game goes on: {list}");
    release(&desk);
    assert_eq!(playing.ends(), Some(0));
    let all: Vec<_> = (0..4).flat_map(|one| (one + 1..4).map(move |other| [one, other, 2])).collect();
    assert_eq!(met(&desk), all);
    assert_eq!(desk.query("SELECT count(*) FROM runs"), [["1"]]);
    assert_eq!(desk.query("SELECT state FROM games WHERE number = 1"), [["counted"]]);
    let log = std::fs::read_to_string(desk.path("log.txt")).unwrap();
    assert!(log.contains("game 12 "), "the number of games grows: {log}");
    assert!(log.contains("c - ") || log.contains(" - c"), "{log}");
    is_sealed(&desk);
}

#[test]
fn a_new_build_replaces_the_old_one_whose_games_stay_and_whose_program_may_be_gone() {
    let desk = Desk::new();
    let args = event(&desk, 4);
    let old = build(&desk, "old");
    let patient = desk.path("patient.sh").display().to_string();
    let file = text(&desk).replacen(
        &format!("name = 'b'\ncommand = '{patient}'"),
        &format!("name = 'b'\ncommand = '{old}'"),
        1,
    );
    desk.write("event.toml", &file);
    let playing = Playing::start(&desk, &args);
    until("the first game begins", || !games(&desk, "1").is_empty());
    done(&desk, &["pause"]);
    release(&desk);
    until("the first game ends", || games(&desk, "state") == [["1", "counted"]]);
    add(&desk, "b2", &old, "replaces = 'b'");
    assert!(refused(&desk, &["reload"]).contains("`b2` is the build that plays as `b`"));
    desk.write("event.toml", &file);
    // The author has compiled in place.
    build(&desk, "new");
    std::fs::rename(desk.path("new.sh"), &old).unwrap();
    add(&desk, "b2", &old, "replaces = 'b'");
    let answer = done(&desk, &["reload"]);
    assert!(answer["text"].as_str().unwrap().contains("replaced `b` by `b2`"), "{answer}");
    assert!(refused(&desk, &["replay", "1", "--reason", "x"]).contains("`b` was replaced"));
    assert!(refused(&desk, &["undo", &answer["operation"].to_string()]).contains("cannot be taken back"));
    playing.kill();
    let gone = text(&desk).replacen(&old, "/nowhere/old", 1);
    desk.write("event.toml", &gone);
    let playing = Playing::start(&desk, &args);
    done(&desk, &["resume"]);
    assert_eq!(playing.ends(), Some(0));
    assert_eq!(met(&desk), [[0, 1, 1], [0, 2, 4]], "a and the old build; a and the new one");
    let report = report(&desk);
    let row = |name: &str| {
        report["standings"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (&row("b")["replaced_by"], &row("b2")["replaced_by"]),
        (&"b2".into(), &serde_json::Value::Null)
    );
    let builds = desk.query("SELECT count(DISTINCT sha256) FROM identities WHERE player IN (1, 2)");
    assert_eq!(builds, [["2"]]);
    is_sealed(&desk);
    let again = desk.renmei(&args);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn an_engine_that_is_added_to_the_file_of_a_complete_event_joins_it_at_the_next_start() {
    let desk = Desk::new();
    let args = event(&desk, 2);
    release(&desk);
    assert_eq!(desk.renmei(&args).status.code(), Some(0));
    add(&desk, "c", &build(&desk, "c"), "replaces = 'a'");
    assert_eq!(desk.renmei(&args).status.code(), Some(0));
    assert_eq!(met(&desk), [[0, 1, 2], [1, 2, 2]]);
    add(&desk, "d", &build(&desk, "d"), "");
    assert_eq!(desk.renmei(&args).status.code(), Some(0));
    assert_eq!(met(&desk), [[0, 1, 2], [1, 2, 2], [1, 3, 2], [2, 3, 2]]);
    assert_eq!(joined(&desk), "2");
    let text = text(&desk).replace("games = 2", "games = 4");
    desk.write("event.toml", &text);
    assert_eq!(desk.renmei(&args).status.code(), Some(0));
    assert_eq!(
        met(&desk),
        [[0, 1, 2], [1, 2, 4], [1, 3, 4], [2, 3, 4]],
        "the event grows; `a` plays no more"
    );
    is_sealed(&desk);
    let fresh = desk.renmei(&[&args[..], &["--fresh"]].concat());
    let why = String::from_utf8_lossy(&fresh.stderr).into_owned();
    assert!(fresh.status.code() == Some(2) && why.contains("which has played no game"), "{why}");
}

#[test]
fn two_arbiters_who_reload_at_once_have_one_engine_join_once() {
    let desk = Desk::new();
    let playing = Playing::start(&desk, &event(&desk, 2));
    until("the first game begins", || !games(&desk, "1").is_empty());
    add(&desk, "c", &build(&desk, "c"), "");
    let orders: Vec<_> = thread::scope(|scope| {
        let order = || scope.spawn(|| admin(&desk, &["reload"]));
        [order(), order()].map(|order| order.join().unwrap()).into()
    });
    assert_eq!(orders.iter().filter(|order| order.status.success()).count(), 1, "{orders:?}");
    assert_eq!(joined(&desk), "1");
    release(&desk);
    assert_eq!(playing.ends(), Some(0));
    assert_eq!(met(&desk).len(), 3);
}

#[test]
fn an_engine_joins_a_running_event_of_a_hall_and_takes_no_licence_that_is_not_there() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("events")).unwrap();
    // It notes when a process of it begins and ends.
    let (log, puppet) =
        (desk.path("log").display().to_string(), program("renmei-puppet").display().to_string());
    let strong =
        desk.write("strong.sh", &format!("#!/bin/sh\necho + >> {log}\n{puppet} \"$@\"\necho - >> {log}\n"));
    std::fs::set_permissions(&strong, std::fs::Permissions::from_mode(0o755)).unwrap();
    let strong = strong.display().to_string();
    let held = held_engine(&desk).display().to_string();
    let player = |name: &str, command: &str, more: &str| {
        format!("[[engines]]\nname = '{name}'\ncommand = '{command}'\n{more}\n")
    };
    let begun = format!(
        "time = '600s'\n[event]\ndatabase = '../event.db'\ngames = 2\nconcurrency = 1\nlook = false\n[rules]\nmax_moves = 6\n{}{}",
        player("a", &held, ""),
        player("b", &program("renmei-random").display().to_string(), "")
    );
    desk.write("events/cup.toml", &begun);
    desk.write("events/hall.toml", "[licences]\n\"strong.sh\" = 1\n");
    let args = ["hall", "events", "--concurrency", "2", "--oversubscribe", "--until-done"];
    let playing = Playing::start(&desk, &args);
    until("the first game begins", || !desk.try_query("SELECT 1 FROM games").unwrap_or_default().is_empty());
    assert!(refused(&desk, &["reload"]).contains("no engine that the event has not"));
    let two =
        ["strong", "stronger"].map(|name| player(name, &strong, "args = ['--mode', 'resign', '--ply', '1']"));
    desk.write("events/cup.toml", &format!("{begun}{}", two.concat()));
    let why = refused(&desk, &["reload"]);
    assert!(why.contains("both need the licence `strong.sh`"), "{why}");
    let heavy = player("heavy", &program("renmei-puppet").display().to_string(), "cores = 2");
    desk.write("events/cup.toml", &format!("{begun}{heavy}"));
    let why = refused(&desk, &["reload"]);
    assert!(why.contains("each game of this event has 1 core, and `heavy` needs more"), "{why}");
    let strong = player("strong", &strong, "args = ['--mode', 'resign', '--ply', '1']");
    desk.write("events/cup.toml", &format!("{begun}{strong}"));
    let answer = done(&desk, &["reload", "--reason", "a new author"]);
    assert!(answer["text"].as_str().unwrap().contains("added `strong`"), "{answer}");
    release(&desk);
    assert_eq!(playing.ends(), Some(0), "{}", std::fs::read_to_string(desk.path("log.txt")).unwrap());
    let met = desk.query(
        "SELECT min(black, white), max(black, white), count(*) FROM games WHERE state = 'counted' GROUP BY 1, 2 ORDER BY 1, 2",
    );
    assert_eq!(met, [["0", "1", "2"], ["0", "2", "2"], ["1", "2", "2"]]);
    let (mut now, log) = (0, std::fs::read_to_string(desk.path("log")).unwrap());
    for line in log.lines() {
        now += if line == "+" { 1 } else { -1 };
        assert!((0..=1).contains(&now), "one licence, two processes: {log}");
    }
    // An event that is over takes up an engine when the hall begins again.
    let late = player(
        "late",
        &program("renmei-puppet").display().to_string(),
        "args = ['--mode', 'resign', '--ply', '1']",
    );
    desk.write("events/cup.toml", &format!("{begun}{strong}{late}"));
    let output = desk.renmei(&args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE state = 'counted'"), [["12"]], "{said}");
}

#[test]
fn a_format_that_cannot_take_an_engine_after_its_start_says_why() {
    for (format, why) in [
        (
            "format = 'swiss'\nrounds = 2",
            "a Swiss takes engines before its first round; a later one is in the file from the beginning",
        ),
        ("format = 'knock-out'\ngames = 2", "the bracket of a knock-out is drawn"),
        ("format = 'information'\nrounds = 2", "are computed for the players of its start"),
    ] {
        let desk = Desk::new();
        let args = event(&desk, 2);
        desk.write("event.toml", &text(&desk).replace("games = 2", format));
        let playing = Playing::start(&desk, &args);
        until("the first game begins", || !games(&desk, "1").is_empty());
        add(&desk, "c", &build(&desk, "c"), "");
        let refusal = refused(&desk, &["reload"]);
        assert!(refusal.contains(why), "{refusal}");
        playing.kill();
        let again = Command::new(env!("CARGO_BIN_EXE_renmei"))
            .current_dir(desk.dir.path())
            .args(args)
            .output()
            .unwrap();
        let refusal = String::from_utf8_lossy(&again.stderr).into_owned();
        assert!(again.status.code() == Some(2) && refusal.contains(why), "{refusal}");
    }
}
