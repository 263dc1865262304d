//! A hall: three events beside each other, one engine's licence among them, a kill in the middle, and strangers at the
//! door.

use crate::{
    Answer, PATIENCE, Pages,
    support::{Desk, ended, none_left, program, until},
};
use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::{Command, Output, Stdio},
    time::Instant,
};

/// Names of the events' files; one of them is markup.
const EVENTS: [&str; 3] = ["cup", "<i>night", "three"];

/// An engine that notes when a process of it begins and ends.
fn counted(desk: &Desk) {
    let (log, puppet) = (desk.path("log"), program("renmei-puppet"));
    let (log, puppet) = (log.display(), puppet.display());
    let script = format!("#!/bin/sh\necho + >> {log}\n{puppet} \"$@\"\necho - >> {log}\n");
    let path = desk.write("strong.sh", &script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// An engine of a file: `king` never loses and thinks for `pause` ms, and the others resign at their ply.
fn engine(desk: &Desk, name: &str, pause: u32) -> String {
    let puppet = program("renmei-puppet").display().to_string();
    let king = format!(r#""--mode", "king", "--sleepus", "{pause}000""#);
    let resigns = |ply: u32| format!(r#""--mode", "resign", "--ply", "{ply}""#);
    let (command, args) = match name {
        "strong" => (desk.path("strong.sh").display().to_string(), king),
        "king" => (puppet, king),
        "third" => (puppet, resigns(3)),
        _ => (puppet, resigns(1)),
    };
    format!("[[engines]]\nname = \"{name}\"\ncommand = \"{command}\"\nargs = [{args}]\n")
}

fn event(desk: &Desk, format: &str, engines: &[&str], pause: u32) -> String {
    let engines: String = engines.iter().map(|name| engine(desk, name, pause)).collect();
    format!("[event]\n{format}\n[time]\nbyoyomi = \"60s\"\n{engines}")
}

/// Three events in a directory, in which `strong` plays, which may run once at a time.
fn prepared() -> Desk {
    let desk = Desk::new();
    counted(&desk);
    fs::create_dir(desk.path("events")).unwrap();
    write_events(&desk, PAUSE);
    desk.write(
        "events/hall.toml",
        "[[event]]\nfile = \"three.toml\"\npriority = 3\n[[event]]\nfile = \"cup.toml\"\nnote = \"the best eight\"\n\
         [licences]\n\"strong.sh\" = 1\n",
    );
    desk
}

/// How long an engine thinks of a move, in ms.
const PAUSE: u32 = 5;

/// The events begin from openings, so that no game repeats another by chance: repeats are no evidence for Elo.
fn write_events(desk: &Desk, pause: u32) {
    let lines = concat!(env!("CARGO_MANIFEST_DIR"), "/kifu/openings.sfen");
    let formats = [
        ("format = \"round-robin\"\ngames = 6", &["strong", "king", "third"][..]),
        ("format = \"round-robin\"\ngames = 4", &["third", "strong", "first"]),
        ("format = \"gauntlet\"\nchallengers = 1\ngames = 8", &["strong", "king", "first"]),
    ];
    for (name, (format, engines)) in EVENTS.iter().zip(formats) {
        let openings = format!("[openings]\nfile = '{lines}'\norder = \"sequential\"\n");
        let text = openings + &event(desk, format, engines, pause);
        desk.write(&format!("events/{name}.toml"), &text);
    }
}

/// Plays the events and kills the hall after some games. On a slow machine each may be over, or not begun, before the eighth
/// game is seen here: then once more, with engines that think longer.
fn interrupt(desk: &Desk) {
    let is_under_way = |name: &str| {
        let report = desk.renmei(&["report", &format!("events/{name}.db"), "--json"]);
        serde_json::from_slice(&report.stdout)
            .is_ok_and(|report: Value| report["complete"] == false && report["games"] != 0)
    };
    for pause in [PAUSE, 40, 320, 2560] {
        write_events(desk, pause);
        desk.write("log", "");
        let first = pages(desk);
        let is_enough =
            |list: &Value| list.as_array().is_some_and(|rows| rows.len() == 3) && games(list) >= 8;
        first.until("/api/events", is_enough);
        drop(first);
        none_left(&desk.dir.path().display().to_string());
        if EVENTS.into_iter().any(is_under_way) {
            return;
        }
        for file in fs::read_dir(desk.path("events")).unwrap().map(|file| file.unwrap().path()) {
            if file.extension().is_none_or(|extension| extension != "toml") {
                fs::remove_file(file).unwrap();
            }
        }
    }
    panic!("no event is left to go on");
}

const HALL: [&str; 5] = ["hall", "events", "--concurrency", "2", "--oversubscribe"];

fn pages(desk: &Desk) -> Pages {
    Pages::start(desk, &[&HALL[..], &["--http", "127.0.0.1:0"]].concat())
}

fn hall(desk: &Desk, more: &[&str]) -> Output {
    desk.renmei(&[&HALL[..], &["--until-done"], more].concat())
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// What decides an event: the standings and the encounters.
fn standings(desk: &Desk, directory: &str, name: &str) -> [Value; 3] {
    let output = desk.renmei(&["report", &format!("{directory}/{name}.db"), "--json"]);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output)));
    assert_eq!(report["complete"], true, "{name}: {report}");
    ["standings", "pairs", "stages"].map(|part| report[part].clone())
}

/// Most processes of the counted engine at once; those before a kill never end in the log.
fn most_at_once(log: &str) -> i32 {
    let (mut now, mut most) = (0, 0);
    for line in log.lines() {
        now = match line {
            "+" => now + 1,
            "-" => now - 1,
            _ => 0,
        };
        most = most.max(now);
    }
    most
}

fn games(list: &Value) -> u64 {
    list.as_array().map_or(0, |rows| rows.iter().filter_map(|row| row["games"].as_u64()).sum())
}

#[test]
fn three_events_in_a_hall_come_out_as_alone_through_a_kill_and_share_one_licence() {
    let desk = prepared();
    fs::create_dir(desk.path("alone")).unwrap();
    for name in EVENTS {
        let file = format!("{name}.toml");
        fs::copy(desk.path(&format!("events/{file}")), desk.path(&format!("alone/{file}"))).unwrap();
        let output = desk.renmei(&["run", &format!("alone/{file}"), "--no-dashboard"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
    interrupt(&desk);
    let before = fs::read_to_string(desk.path("log")).unwrap();
    desk.write("log", &format!("{before}killed\n"));
    let output = hall(&desk, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("goes on"), "some event was resumed: {said}");
    let log = fs::read_to_string(desk.path("log")).unwrap();
    assert_eq!(most_at_once(&log), 1, "{log}");
    for name in EVENTS {
        assert_eq!(standings(&desk, "events", name), standings(&desk, "alone", name), "{name}");
    }
    // Once more: everything is over, nothing is played, and all of it can be looked at.
    let pages = pages(&desk);
    let list = pages.until("/api/events", |list| {
        let is_over = |rows: &Vec<Value>| rows.len() == 3 && rows.iter().all(|row| row["state"] == "over");
        list.as_array().is_some_and(is_over)
    });
    assert_eq!(games(&list), 46, "{list}");
    for row in list.as_array().unwrap() {
        assert_eq!(row["games"], row["total"], "{row}");
        assert!(row["leader"] == "strong" || row["leader"] == "king", "{row}");
        let path = row["path"].as_str().unwrap();
        for page in ["", "table", "games", "games/1", "games/1.csa", "api/now", "api/table", "feed.xml"] {
            assert_eq!(pages.get(&format!("{path}{page}")).status, 200, "{path}{page}");
        }
    }
}

#[test]
fn a_faulty_file_is_told_with_all_its_faults_and_the_others_play_on() {
    let desk = prepared();
    let faulty =
        "[event]\nformt = \"round-robin\"\nseed = \"x\"\n[[engines]]\nname = \"a\"\ncommand = \"/nowhere\"\n";
    desk.write("events/faulty.toml", faulty);
    // Two engines of one licence never meet.
    let twice = event(&desk, "games = 2", &["strong"], PAUSE)
        + &engine(&desk, "strong", PAUSE).replace("\"strong\"", "\"other\"");
    desk.write("events/twice.toml", &twice);
    let output = hall(&desk, &["--quiet"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "faulty: ",
        "did you mean `format`",
        "seed",
        "/nowhere",
        "twice: ",
        "both need the licence `strong.sh`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(
        said.lines().any(|line| line.starts_with("faulty") && line.ends_with("–")),
        "the table has it: {said}"
    );
    for name in EVENTS {
        standings(&desk, "events", name);
    }
    // Mended, it is played; a wrong `hall.toml` begins nothing.
    desk.write("events/faulty.toml", &event(&desk, "games = 2", &["third", "first"], PAUSE));
    fs::remove_file(desk.path("events/twice.toml")).unwrap();
    assert_eq!(hall(&desk, &[]).status.code(), Some(0));
    standings(&desk, "events", "faulty");
    desk.write("events/hall.toml", "[licenses]\n");
    let output = hall(&desk, &[]);
    assert_eq!((output.status.code(), text(&output).contains("did you mean `licences`")), (Some(2), true));
}

#[test]
fn a_file_that_is_dropped_in_begins_and_one_that_changes_or_goes_is_told() {
    let desk = prepared();
    for name in EVENTS {
        fs::remove_file(desk.path(&format!("events/{name}.toml"))).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(HALL).args(["--http", "127.0.0.1:0"]).stdin(Stdio::null());
    let (out, said) = (fs::File::create(desk.path("out")).unwrap(), desk.path("out"));
    command.stdout(out.try_clone().unwrap()).stderr(out);
    let mut child = command.spawn().unwrap();
    let until = |what: &str| {
        let since = Instant::now();
        while !fs::read_to_string(&said).unwrap().contains(what) {
            assert!(since.elapsed() < PATIENCE, "{what}: {}", fs::read_to_string(&said).unwrap());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    until("pages on http://");
    let slow = event(&desk, "games = 40000", &["king", "third"], PAUSE);
    desk.write("events/slow.toml", &slow);
    until("slow: slow begins");
    desk.write("events/slow.toml", &slow.replace("games = 40000", "games = 2"));
    until("slow: slow.toml has changed");
    fs::remove_file(desk.path("events/slow.toml")).unwrap();
    until("slow: slow.toml is gone");
    let process = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(ended(&mut child).code(), Some(3));
    until("to resume: ");
    let output = desk.renmei(&["report", "events/slow.db", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["complete"], false);
}

#[test]
fn a_hall_takes_up_by_itself_what_is_to_be_played_again_also_after_a_restart() {
    let desk = Desk::new();
    let (random, puppet) = (program("renmei-random"), program("renmei-puppet"));
    fs::create_dir(desk.path("events")).unwrap();
    for (name, limit) in [("halted", "2"), ("over", "off")] {
        let text = format!(
            "[event]\ngames = 4\nlook = false\nfault_limit = \"{limit}\"\n[time]\nbyoyomi = \"60s\"\n[[engines]]\n\
             name = \"a\"\ncommand = '{}'\n[[engines]]\nname = \"b\"\ncommand = '{}'\nargs = [\"--mode\", \"crash\"]\n",
            random.display(),
            puppet.display()
        );
        desk.write(&format!("events/{name}.toml"), &text);
    }
    let has_ended = |list: &Value| {
        let is = |name: &str, state: &str| {
            let is_so = |row: &Value| row["name"] == name && row["state"] == state;
            list.as_array().is_some_and(|rows| rows.iter().any(is_so))
        };
        is("halted", "faulty") && is("over", "over")
    };
    let played = || {
        ["halted", "over"].map(|name| {
            let database = rusqlite::Connection::open(desk.path(&format!("events/{name}.db"))).unwrap();
            database.query_row("SELECT count(*) FROM games", [], |row| row.get::<_, i64>(0)).unwrap()
        })
    };
    // An event is on the list as over a moment before its process lets go of it.
    let rerun = |name: &str| {
        let database = format!("events/{name}.db");
        until("games to play again", || desk.renmei(&["rerun", &database, "--faults"]).status.success());
    };
    let goes_on = |before: [i64; 2]| {
        until("games that are played again", || {
            played().iter().zip(before).all(|(now, before)| *now > before)
        });
    };
    let first = pages(&desk);
    first.until("/api/events", has_ended);
    let before = played();
    ["halted", "over"].into_iter().for_each(rerun);
    goes_on(before);
    first.until("/api/events", has_ended);
    drop(first);
    none_left(&desk.dir.path().display().to_string());
    let before = played();
    ["halted", "over"].into_iter().for_each(rerun);
    let _again = pages(&desk);
    goes_on(before);
}

#[test]
fn strangers_at_a_hall_see_what_each_event_shows_and_nothing_else() {
    let desk = prepared();
    let add = |name: &str, more: &str| {
        let file = format!("events/{name}.toml");
        let text = fs::read_to_string(desk.path(&file)).unwrap();
        desk.write(&file, &format!("{more}\n{text}"));
    };
    add("cup", "[http]\nprivate = [\"*\"]\nlisten = [\"127.0.0.1:1\"]");
    add("three", "[http]\ndelay = \"1h\"");
    desk.write("secret.txt", "not for strangers");
    let pages = pages(&desk);
    let over = |list: &Value, name: &str| {
        list.as_array()
            .is_some_and(|rows| rows.iter().any(|row| row["name"] == name && row["state"] == "over"))
    };
    let list = pages.until("/api/events", |list| over(list, "cup") && over(list, "<i>night"));
    let row = |name: &str| list.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    // What is held back is held back in the list, too.
    let held = row("three");
    assert_eq!(
        (&held["games"], &held["leader"], &held["state"]),
        (&0.into(), &Value::Null, &"plays".into()),
        "{held}"
    );
    assert_eq!(pages.json("/e/three/api/games")["games"].as_array().map(Vec::len), Some(0));
    for path in [
        "/e/cup/games/1",
        "/e/cup/games/1.csa",
        "/e/cup/api/games/1",
        "/e/three/games/1",
        "/e/three/games/1.csa",
    ] {
        assert_ne!(pages.get(path).status, 200, "{path}");
    }
    // One rating over all events has only those that show everything, and is not made for each who asks.
    let ledger = pages.get("/ledger");
    let words = ["first", "third", "of 1 event in 1 database", "<svg"];
    assert!(ledger.status == 200 && words.iter().all(|word| ledger.body.contains(word)), "{}", ledger.body);
    assert!(!ledger.body.contains(">king"), "a player of private and delayed games: {}", ledger.body);
    assert!((0..3).all(|_| pages.get("/ledger").body == ledger.body));
    // On a narrow screen its tables are scrolled, also by the keyboard.
    assert!(ledger.body.contains("class=\"scroll\"") && !ledger.body.contains("<div class=\"scroll\">"));
    let request =
        "GET /ledger HTTP/1.1\r\nHost: localhost\r\nAccept-Language: ja\r\nConnection: close\r\n\r\n";
    let japanese = Answer::to(&pages.address, request).body;
    let words = ["first", "レーティング", "1 大会の", "得点率", "Elo はこの対局者の平均"];
    assert!(words.iter().all(|word| japanese.contains(word)), "{japanese}");
    let english = ["Ratings", "encounter", "relative to", ">score<", ">games<", "half the 95"];
    assert!(!english.iter().any(|word| japanese.contains(word)), "{japanese}");
    assert!(pages.get("/").body.contains("href=\"/ledger\""));
    // A search finds an event by its players and its note; what a stranger asks for is bounded, and is text.
    let names = |list: &Value| {
        let names = list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let found = |find: &str| names(&pages.json(&format!("/api/events?find={find}")));
    // An event that is too busy to say how it stands names no players for a moment.
    pages.until("/api/events?find=King", |list| names(list) == ["cup", "three"]);
    assert_eq!(found("eight+cup"), ["cup"]);
    assert_eq!(found("%25"), Vec::<String>::new(), "no pattern");
    let page = pages.get("/?find=%22%3E%3Cscript%3E").body;
    assert!(page.contains("Nothing found.") && !page.contains("\"><script>"), "{page}");
    for wrong in ["x".repeat(101), "x".repeat(9000), "%E3%81%82".repeat(101)] {
        let answer = pages.get(&format!("/?find={wrong}"));
        assert_eq!(answer.status, 400, "{}", answer.body);
    }
    // A name that is markup is text, and its pages are found.
    let page = pages.get("/");
    assert!(
        page.status == 200 && page.body.contains("&lt;i&gt;night") && !page.body.contains("<i>night"),
        "{}",
        page.body
    );
    assert!(page.body.contains("href=\"/e/%3Ci%3Enight/\""), "{}", page.body);
    let inside = pages.get("/e/%3Ci%3Enight/");
    assert!(inside.status == 200 && !inside.body.contains("<i>night"), "{}", inside.body);
    assert!(
        inside.body.contains("href=\"/e/%3Ci%3Enight/table\"") && inside.body.contains("href=\"/\""),
        "{}",
        inside.body
    );
    // Beside the list of events the navigation has the ratings over all of them.
    let own = |link: &&str| !link.starts_with('"') && !link.starts_with("ledger\"");
    for link in inside.body.split("href=\"/").skip(1).filter(own) {
        assert!(
            link.starts_with("e/%3Ci%3Enight/") || link.starts_with("static/"),
            "a link leads out: {link:.60}"
        );
    }
    assert!(pages.get("/e/cup").head.contains("/e/cup/"), "a slash is added");
    let japanese = "GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Language: ja\r\nConnection: close\r\n\r\n";
    assert!(Answer::to(&pages.address, japanese).body.contains("全大会"));
    for path in [
        "/e/../secret.txt",
        "/e/..%2fsecret.txt/",
        "/e/%2e%2e/secret.txt",
        "/e/../../etc/passwd",
        "/e/cup/../../secret.txt",
        "/e/cup/..%2f..%2f..%2fsecret.txt",
        "/e/cup.toml/",
        "/e/hall/",
        "/e/%00/",
        "/e/%ff%fe/",
        "/e//",
        "/e/",
        "/e/nobody/api/now",
        "/table",
    ] {
        let answer = pages.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
        assert!(
            !answer.body.contains("not for strangers") && !answer.body.contains("byoyomi"),
            "{path}: {}",
            answer.body
        );
    }
    // One budget for all events: to ask them in turn gains nothing.
    // They lead to the pages, and all come at once, so that they are answered faster than the budget refills on a slow
    // machine, too.
    let paths = ["/e/cup", "/e/three", "/e/%3Ci%3Enight"];
    let ask = |at: usize| format!("GET {} HTTP/1.1\r\nHost: localhost:8080\r\n", paths[at % paths.len()]);
    let asked: String = (0..800).map(|at| ask(at) + "\r\n").collect();
    let answers = Answer::to(&pages.address, &(asked + &ask(0) + "Connection: close\r\n\r\n"));
    assert!(answers.body.contains("HTTP/1.1 429 "), "800 requests are answered");
}

#[test]
fn a_faulty_file_is_on_the_page_with_its_faults_and_a_huge_one_keeps_nobody_out() {
    let desk = prepared();
    for name in &EVENTS[1..] {
        fs::remove_file(desk.path(&format!("events/{name}.toml"))).unwrap();
    }
    desk.write("events/faulty.toml", "[event]\nformt = 1\n\"<i>x\" = 1\n");
    let twice: String = (0..16_000).map(|_| "games = 2\n").collect();
    desk.write("events/again.toml", &format!("[event]\n{twice}"));
    fs::File::create(desk.path("events/huge.toml")).unwrap().set_len(60 << 20).unwrap();
    assert!(Command::new("mkfifo").arg(desk.path("events/pipe")).status().unwrap().success());
    let openings = "games = 2\n[openings]\nfile = \"pipe\"";
    desk.write("events/a-pipe.toml", &event(&desk, openings, &["third", "first"], PAUSE));
    let mut pages = pages(&desk);
    let row = |list: &Value, name: &str| {
        list.as_array().and_then(|rows| rows.iter().find(|row| row["name"] == name).cloned())
    };
    let state = |list: &Value, name: &str| row(list, name).map(|row| row["state"].clone());
    let list = pages.until("/api/events", |list| {
        let names = ["faulty", "again", "huge", "a-pipe"];
        let are_faulty = names.map(|name| state(list, name) == Some("faulty".into()));
        are_faulty == [true; 4] && state(list, "cup") == Some("over".into())
    });
    let faults = |name: &str| row(&list, name).unwrap()["faults"].as_array().unwrap().clone();
    let [faulty, again, huge, pipe] = ["faulty", "again", "huge", "a-pipe"].map(faults);
    assert!(pipe.len() == 1 && pipe[0].as_str().unwrap().contains("it is a pipe or a device"), "{pipe:?}");
    let is_first = |fault: &Value| {
        fault
            .as_str()
            .unwrap()
            .starts_with("faulty.toml:2:1: event.formt: unknown key `formt`; did you mean `format`")
    };
    assert!(faulty.iter().any(is_first), "{faulty:?}");
    assert_eq!((again.len(), again[10].as_str()), (11, Some("…")), "{again:?}");
    assert!(huge.len() == 1 && huge[0].as_str().unwrap().contains("larger than 1 MB"), "{huge:?}");
    assert_eq!(row(&list, "faulty").unwrap()["path"], Value::Null);
    let page = pages.get("/").body;
    assert!(page.contains("did you mean `format`") && page.contains(">faulty<"), "{page}");
    let directory = desk.dir.path().display().to_string();
    assert!(page.contains("&lt;i&gt;x") && !page.contains("<i>x") && !page.contains(&directory), "{page}");
    assert_eq!(pages.get("/e/faulty/").status, 404);
    // Mended, it is played; gone, it is not listed any more.
    desk.write("events/faulty.toml", &event(&desk, "games = 2", &["third", "first"], PAUSE));
    fs::remove_file(desk.path("events/huge.toml")).unwrap();
    let list = pages.until("/api/events", |list| {
        state(list, "faulty") == Some("over".into()) && state(list, "huge").is_none()
    });
    assert_eq!(row(&list, "faulty").unwrap()["faults"], serde_json::json!([]));
    // So is one that is over: its games stay in its database.
    assert_eq!(pages.get("/e/faulty/").status, 200);
    fs::remove_file(desk.path("events/faulty.toml")).unwrap();
    pages.until("/api/events", |list| state(list, "faulty").is_none());
    assert_eq!(pages.get("/e/faulty/").status, 404);
    assert!(desk.path("events/faulty.db").exists());
    let process = nix::unistd::Pid::from_raw(i32::try_from(pages.child.id()).unwrap());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(ended(&mut pages.child).code(), Some(1), "one event is faulty");
}

#[test]
fn of_hundreds_of_events_so_many_are_open_at_once_and_threads_and_descriptors_are_bounded() {
    const OPEN: usize = 32;
    let desk = Desk::new();
    fs::create_dir(desk.path("events")).unwrap();
    // One game at once: the event of a higher priority leaves a place in which the others are prepared.
    let endless = event(&desk, "games = 100000\nlook = false\nconcurrency = 1", &["king", "third"], 20);
    let names: Vec<String> = (0..200).map(|number| format!("e{number:03}")).collect();
    // Files that rest are all taken up at the first look.
    let rested = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for name in &names {
        let file =
            fs::File::options().append(true).open(desk.write(&format!("events/{name}.toml"), &endless));
        file.unwrap().set_modified(rested).unwrap();
    }
    desk.write("events/hall.toml", "[[event]]\nfile = \"e199.toml\"\npriority = 1\n");
    let pages = pages(&desk);
    let of = |list: &Value, state: &str| -> Vec<String> {
        let rows = list.as_array().into_iter().flatten().filter(|row| row["state"] == state);
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let list = pages.until("/api/events", |list| {
        of(list, "plays").len() == OPEN && of(list, "waits").len() == names.len() - OPEN
    });
    let mut open = names[..OPEN - 1].to_vec();
    open.push("e199".to_owned());
    assert_eq!(of(&list, "plays"), open, "by priority, then by name");
    let process = format!("/proc/{}", pages.child.id());
    let threads = fs::read_dir(format!("{process}/task")).unwrap().count();
    let descriptors = fs::read_dir(format!("{process}/fd")).unwrap().count();
    assert!(threads < 20 * OPEN && descriptors < 40 * OPEN, "{threads} threads, {descriptors} descriptors");
    assert_eq!(pages.get("/").status, 200);
}
