//! Text that strangers wrote, with everything in it that a terminal obeys: none of it comes through, whoever prints it.

use crate::support::Desk;
use contest::schedule::Pairing;
use journal::{EventHead, Journal};
use notation::is_hidden;
use plan::StoredPlan;
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, Opened, PlayerId, Stamped, Thought},
    opening::EVEN,
    sink::{Channel, SideRecord, TranscriptPiece},
};
use std::{
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    process::{Command, Output, Stdio},
    time::Duration,
};

/// Sequences for a terminal in seven and eight bits, a carriage return, directions, a separator of lines, a zero width.
const EVIL: &str =
    "ev\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\u{8}\u{7f}\u{85}\u{202e}\u{2066}\u{200f}\u{2028}\u{200b}il";

/// The part of it that names in configurations may hold.
fn directions() -> String {
    EVIL.replace(char::is_control, "")
}

/// Everything that text may hold on its way to a terminal.
fn assert_clean(what: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    if let Some(at) = text.find(|c| c != '\n' && is_hidden(c)) {
        let from = text[..at].rfind('\n').map_or(0, |at| at + 1);
        panic!("{what}: {:?}", text[from..].lines().next());
    }
}

fn run(desk: &Desk, args: &[&str]) -> Output {
    let output = desk.renmei(args);
    assert_clean(&format!("{args:?} on stdout"), &output.stdout);
    assert_clean(&format!("{args:?} on stderr"), &output.stderr);
    output
}

/// What was printed, with proof that the hostile text was part of it.
fn shows(desk: &Desk, args: &[&str]) -> String {
    let output = run(desk, args);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(text.contains("ev") && text.contains("il"), "{args:?} does not show the text: {text}");
    text
}

fn stamped(entry: Entry) -> Stamped {
    Stamped { at: 1_800_000_000_000, entry }
}

/// A database of somebody else, with hostile text in every column that holds text.
fn foreign(desk: &Desk) {
    let event = format!("cup {EVIL}");
    let plan = StoredPlan::of_records(&event).to_json();
    let head = EventHead { name: &event, kind: "serve", plan: &plan, fingerprint: "{}" };
    let journal = Journal::open(&desk.db(), &head).unwrap().start(vec![], || ()).unwrap();
    let players = vec![format!("a{EVIL}"), format!("b{EVIL}")];
    let opened = Opened { name: event, players, format: format!("free {EVIL}"), resumed: false };
    let (game, black, white) = (GameId(1), PlayerId(0), PlayerId(1));
    let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
    let start = GameStarted { game, pairing, start: EVEN.to_owned(), opening: String::new(), times: None };
    let thought = Thought { pv: Some(format!("7g7f {EVIL}")), depth: Some(1), ..Thought::default() };
    let moved = Moved {
        game,
        ply: 1,
        color: Color::Black,
        mv: rsshogi::types::Move::from_usi("7g7f").unwrap(),
        charged: Duration::ZERO,
        elapsed: Duration::ZERO,
        left: Duration::ZERO,
        thought: Some(Box::new(thought)),
    };
    let outcome = Outcome::Win { winner: Color::Black, by: WinBy::Disconnection };
    let evidence = format!("the engine exited; its stderr:\n{EVIL}\nblack: {EVIL}");
    let ended = GameEnded { evidence, ..GameEnded::new(game, pairing, outcome, 1) };
    let lines = [b"0 < ", EVIL.as_bytes(), b"\n"].concat();
    let piece =
        TranscriptPiece { game, color: Color::Black, channel: Channel::Network, part: 0, at: 0, lines };
    journal.append([
        stamped(Entry::Opened(opened)),
        stamped(Entry::GameStarted(start)),
        stamped(Entry::Moved(moved)),
        stamped(Entry::GameEnded(ended)),
        stamped(Entry::Fault { player: Some(black), text: EVIL.to_owned() }),
        stamped(Entry::Verdict { verdict: EVIL.to_owned(), llr: 0.0, pairs: 0 }),
    ]);
    journal.sink().keep(SideRecord::Transcript(piece));
    journal.sink().keep(SideRecord::Named(game, format!("id{EVIL}")));
    journal.finish().unwrap();
}

#[test]
fn nothing_in_a_database_of_somebody_else_reaches_the_terminal_as_it_is() {
    let desk = Desk::new();
    foreign(&desk);
    for args in [
        &["report", "event.db"][..],
        &["report", "event.db", "--list"],
        &["report", "event.db", "--json"],
        &["report", "event.db", "--event", "none"],
        &["export", "event.db", "--event", "none"],
        &["export", "event.db", "--game", "9"],
        &["report", "event.db", "--plot", "x.svg", "--of", "eval:9"],
        &["log", "1", "--db", "event.db"],
        &["log", "9", "--db", "event.db"],
        &["verify", "event.db"],
        &["verify", "event.db", "--json"],
    ] {
        shows(&desk, args);
    }
    let json = run(&desk, &["report", "event.db", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["event"], format!("cup {EVIL}"), "scripts get the name itself");
    let json = run(&desk, &["verify", "event.db", "--json"]).stdout;
    assert!(serde_json::from_slice::<serde_json::Value>(&json).is_ok());
    run(&desk, &["report", "event.db", "--html", "page.html", "--plot", "elo.svg"]);
    for file in ["page.html", "elo.svg"] {
        assert_clean(file, fs::read_to_string(desk.path(file)).unwrap().replace('\u{202f}', " ").as_bytes());
    }
    let page = fs::read_to_string(desk.path("page.html")).unwrap();
    assert_clean("the games of the page", crate::report::games_of(&page).as_bytes());
    for format in ["csa", "csa3", "kifu", "ki2u", "jkf", "usi"] {
        assert_clean(format, &run(&desk, &["export", "event.db", "--format", format, "--all"]).stdout);
    }
    run(&desk, &["export", "event.db", "--all", "--output", "records/"]);
    for record in fs::read_dir(desk.path("records")).unwrap() {
        let record = record.unwrap();
        assert_clean("the name of a record", record.file_name().as_bytes());
        assert_clean("a record", &fs::read(record.path()).unwrap());
    }
}

/// An engine that says nothing that a terminal should see, in every place where an engine can say something.
fn engine(desk: &Desk, name: &str) -> String {
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do\n  case \"$line\" in\n    usi) echo 'id name {EVIL}'; echo 'id author {EVIL}';\n      \
         echo 'option name {EVIL} type spin default {EVIL} min 0 max 1'; echo '{EVIL}'; echo usiok;;\n    \
         isready) echo 'info string {EVIL}'; echo '{EVIL}' >&2; echo readyok;;\n    \
         go*) echo 'info depth 1 score cp 1 pv {EVIL}'; echo 'info string {EVIL}'; echo '{EVIL}' >&2; \
         echo 'bestmove {EVIL}';;\n    quit) echo '{EVIL}' >&2; exit 0;;\n  esac\ndone\n"
    );
    let path = desk.write(name, &script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn nothing_that_an_engine_says_reaches_the_terminal_or_the_logs_as_it_is() {
    let desk = Desk::new();
    let engine = engine(&desk, &format!("engine{}", directions()));
    let words = [format!("cmd={engine}"), format!("cmd={engine}")];
    let played = |more: &[&str]| {
        let mut args = vec!["match", "--db", "event.db", "--oversubscribe", "--games", "2", "--time", "10s"];
        args.extend(["--engine", &words[0], "name=one", "--engine", &words[1], "name=two"]);
        args.extend(more);
        shows(&desk, &args)
    };
    // The look before the games refuses such an engine; `--no-look` plays it.
    played(&[]);
    let text =
        played(&["--no-look", "--fault-limit", "off", "--log", "logs", "--events", "events.json", "-vv"]);
    assert!(text.contains("illegal-move") || text.contains("2 games"), "{text}");
    assert_clean("--events", &fs::read(desk.path("events.json")).unwrap());
    let mut logs = 0;
    for log in fs::read_dir(desk.path("logs")).unwrap() {
        assert_clean("--log", &fs::read(log.unwrap().path()).unwrap());
        logs += 1;
    }
    assert_eq!(logs, 4, "a file for each side of each game");
    shows(&desk, &["log", "1", "--db", "event.db"]);
    shows(&desk, &["report", "event.db"]);
    shows(&desk, &["check", &engine]);
    run(&desk, &["check", "--json", &engine]);
    run(&desk, &["export", "event.db", "--all"]);
    // A log that somebody has changed is not trusted either.
    for log in fs::read_dir(desk.path("logs")).unwrap() {
        let path = log.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text + &format!("2026/11/22 03:45:04.000000    1.000000 < {EVIL}\n")).unwrap();
    }
    shows(&desk, &["log", "1", "--db", "event.db"]);
}

#[test]
fn nothing_in_records_reaches_the_terminal_or_further_records_as_it_is() {
    let desk = Desk::new();
    // C0 controls make a file binary, which is no record.
    let line = format!("{}\u{9b}31m", directions());
    let record = format!(
        "V2.2\nN+a{line}\nN-b{line}\n$EVENT:cup{line}\n$SITE:site{line}\n$TIME_LIMIT:{line}\nPI\n+\n'*{line}\n+7776FU\n\
         '** 30 {line}\n'*{line}\n-3334FU\n%TORYO\n"
    );
    let name = format!("game{EVIL}.csa");
    desk.write(&name, &record);
    let bad = format!("bad{EVIL}.csa");
    desk.write(&bad, &format!("V2.2\nPI\n+\n+7776FU\n{line}\n"));
    shows(&desk, &["import", &name, &bad, "--db", "event.db"]);
    shows(&desk, &["import", &name, &bad, "--verify"]);
    run(&desk, &["import", &name, &bad, "--verify", "--json"]);
    shows(&desk, &["report", "event.db"]);
    for format in ["csa", "csa3", "kifu", "ki2u", "jkf"] {
        let again = run(&desk, &["export", "event.db", "--format", format]).stdout;
        assert!(!again.is_empty(), "{format}");
    }
}

#[test]
fn nothing_on_the_command_line_or_in_a_configuration_reaches_the_terminal_as_it_is() {
    let desk = Desk::new();
    let config = desk.write(
        "evil.toml",
        "[event]\nname = \"cup\u{202e}\"\n[[engines]]\nname = \"x\\u001b[2J\"\n'ev\u{202e}il' = 1\n",
    );
    let config = config.display().to_string();
    let not_toml = desk.write("not.toml", &EVIL.repeat(3)).display().to_string();
    let program = directions();
    for args in [
        &["run", EVIL][..],
        &["serve", EVIL],
        &["floodgate", EVIL],
        &["report", EVIL],
        &["verify", EVIL],
        &["export", EVIL],
        &["import", EVIL, "--verify"],
        &["check", EVIL],
        &["account", "add", EVIL],
        &["account", "invite", EVIL],
        &["account", "remove", EVIL],
        &["match", &program, "other"],
        &["match", "--engine", EVIL, "--engine", EVIL],
        &["report", "x.db", "--of", EVIL],
        &["report", "x.db", EVIL],
        &[EVIL],
        &["-engine", EVIL],
        &["init", EVIL],
        &["sprt", "--wdl", EVIL, "1", "2"],
    ] {
        shows(&desk, args);
    }
    let wrong = run(&desk, &["run", &config]);
    assert_eq!(wrong.status.code(), Some(2));
    assert_eq!(run(&desk, &["run", &not_toml]).status.code(), Some(2));
    let mut filter = Command::new(env!("CARGO_BIN_EXE_renmei"));
    filter.args(["report", "x.db"]).env("RENMEI_LOG", format!("{EVIL}=9=9")).stdin(Stdio::null());
    let filter = filter.output().unwrap();
    assert_clean("RENMEI_LOG", &filter.stderr);
}

#[test]
fn nothing_that_a_command_for_notices_says_reaches_the_terminal_as_it_is() {
    let desk = Desk::new();
    let random = format!("cmd={}", crate::support::program("renmei-random").display());
    let command = desk.write("tell.sh", &format!("cat > notice.json\nprintf '%s' '{EVIL}' >&2\nexit 3\n"));
    let command = format!("sh {}", command.display());
    let name = format!("cup {}", directions());
    let mut args = vec!["match", "--db", "event.db", "--oversubscribe", "--games", "2", "--time", "nodes 1"];
    args.extend(["--engine", &random, "name=one", "--engine", &random, "name=two", "--notify", &command]);
    args.extend(["--name", &name, "--max-moves", "10"]);
    shows(&desk, &args);
    let notice = fs::read(desk.path("notice.json")).unwrap();
    assert_clean("a notice", &notice);
    let notice: serde_json::Value = serde_json::from_slice(&notice).unwrap();
    assert!(notice.to_string().contains("cup ev"), "{notice}");
}
