//! `renmei admin`: what an operator does to a running event, on record, and what a restart makes of it.

use crate::support::{Desk, ended, program, until};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use testing::PATIENCE;

/// A program that plays an event on the desk's database.
pub(crate) struct Playing(Child);

impl Playing {
    pub(crate) fn start(desk: &Desk, args: &[&str]) -> Self {
        Self::start_asked(desk, args, &[])
    }

    /// Starts it, and waits until it answers an operator who uses these words to name it.
    fn start_asked(desk: &Desk, args: &[&str], named: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command.current_dir(desk.dir.path()).args(args).stdin(Stdio::null());
        let log = std::fs::File::options().create(true).append(true).open(desk.path("log.txt")).unwrap();
        let mut playing = Self(command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap());
        until("the operator's door opens", || {
            let over = playing.0.try_wait().unwrap();
            let log = || std::fs::read_to_string(desk.path("log.txt")).unwrap();
            assert!(over.is_none_or(|status| status.success()), "{}", log());
            // A short event may be over before anybody has asked.
            let answers = || admin(desk, &[&["list"], named].concat()).status.success();
            over.is_some() || desk.path("event.db-admin").exists() && answers()
        });
        playing
    }

    /// As a power cut ends it.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        ended(&mut self.0);
    }

    /// Waits for its end.
    pub(crate) fn ends(mut self) -> Option<i32> {
        until("the event ends", || self.0.try_wait().unwrap().is_some());
        ended(&mut self.0).code()
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        let _over_already = self.0.kill();
        let _over = self.0.wait();
    }
}

pub(crate) fn admin(desk: &Desk, args: &[&str]) -> Output {
    desk.renmei(&[&["admin", "event.db"], args].concat())
}

/// The answer to a command that is carried out.
pub(crate) fn done(desk: &Desk, args: &[&str]) -> Value {
    let output = admin(desk, &[args, &["--json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap()
}

/// Why a command is refused.
pub(crate) fn refused(desk: &Desk, args: &[&str]) -> String {
    let output = admin(desk, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An engine that does not answer `go` while a file `hold` exists beside it.
pub(crate) fn held_engine(desk: &Desk) -> PathBuf {
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

pub(crate) fn release(desk: &Desk) {
    std::fs::remove_file(desk.path("hold")).unwrap();
}

/// A double round robin of two held engines, one game after the other.
pub(crate) fn event(desk: &Desk, games: u32) -> [&'static str; 5] {
    let engine = held_engine(desk).display().to_string();
    desk.write(
        "event.toml",
        &format!(
            "time = '600s'\n[event]\nname = 'cup'\ndatabase = 'event.db'\nconcurrency = 1\nlook = false\ngames = {games}\n\
             [rules]\nmax_moves = 12\n[[engines]]\nname = 'a'\ncommand = '{engine}'\n[[engines]]\nname = 'b'\n\
             command = '{engine}'\n"
        ),
    );
    ["run", "event.toml", "--oversubscribe", "--no-dashboard", "--no-affinity"]
}

pub(crate) fn games(desk: &Desk, what: &str) -> Vec<Vec<String>> {
    let sql = format!("SELECT number, {what} FROM games ORDER BY number");
    desk.try_query(&sql).unwrap_or_default()
}

pub(crate) fn report(desk: &Desk) -> Value {
    let output = desk.renmei(&["report", "event.db", "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn points(desk: &Desk, name: &str) -> f64 {
    let report = report(desk);
    let row = report["standings"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    row["wins"].as_f64().unwrap() + row["draws"].as_f64().unwrap() / 2.0
}

#[test]
fn an_operator_sends_nothing_to_a_socket_that_no_event_has_made() {
    let desk = Desk::new();
    desk.write("event.db", "");
    let listener = std::os::unix::net::UnixListener::bind(desk.path("event.db-admin")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let open = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(desk.path("event.db-admin"), open).unwrap();
    assert!(refused(&desk, &["list"]).contains("is open to others, as no event makes it"));
    std::fs::rename(desk.path("event.db-admin"), desk.path("theirs")).unwrap();
    std::os::unix::fs::symlink(desk.path("theirs"), desk.path("event.db-admin")).unwrap();
    assert!(refused(&desk, &["list"]).contains("is a link, which could lead anywhere"));
    assert!(listener.accept().is_err(), "nobody has connected");
}

#[test]
fn a_paused_event_begins_no_game_until_it_is_resumed_also_after_a_kill() {
    let desk = Desk::new();
    let args = event(&desk, 4);
    let playing = Playing::start(&desk, &args);
    until("the first game begins", || !games(&desk, "1").is_empty());
    assert_eq!(done(&desk, &["pause"])["operation"], 1);
    assert!(refused(&desk, &["pause"]).contains("paused already"));
    release(&desk);
    until("the first game ends", || games(&desk, "state") == [["1", "counted"]]);
    let list = &done(&desk, &["list"])["list"];
    assert_eq!((&list["paused"], list["games"].as_array().unwrap().len()), (&Value::Bool(true), 0));
    playing.kill();
    assert!(desk.path("event.db-admin").exists(), "the socket of a dead process is left");
    let playing = Playing::start(&desk, &args);
    let list = &done(&desk, &["list"])["list"];
    assert_eq!((&list["paused"], list["games"].as_array().unwrap().len()), (&Value::Bool(true), 0));
    done(&desk, &["resume", "--as", "kai"]);
    assert_eq!(playing.ends(), Some(0));
    assert_eq!(games(&desk, "state").len(), 4);
    assert!(!desk.path("event.db-admin").exists(), "the socket goes with its process");
    let log = std::fs::read_to_string(desk.path("log.txt")).unwrap();
    assert!(log.contains("the operator has paused `cup`: no new game begins until"), "{log}");
    let operations = report(&desk)["operations"].clone();
    assert_eq!((&operations[0]["action"], &operations[1]["action"]), (&"paused".into(), &"resumed".into()));
    assert!(operations[1]["by"].as_str().unwrap().ends_with(" as kai"), "{operations}");
    assert!(refused(&desk, &["pause"]).contains("the event is over: `rule`"));
    assert_eq!(done(&desk, &["list"])["list"]["over"], true);
}

#[test]
fn an_event_that_begins_paused_pairs_nothing_before_it_is_resumed_and_takes_late_engines_until_then() {
    let desk = Desk::new();
    let args = [&event(&desk, 1)[..], &["--paused"]].concat();
    release(&desk);
    let text = std::fs::read_to_string(desk.path("event.toml")).unwrap();
    let text = text.replace("games = 1\n", "format = 'swiss'\nrounds = 1\n");
    desk.write("event.toml", &text);
    let playing = Playing::start(&desk, &args);
    let list = &done(&desk, &["list"])["list"];
    assert_eq!((&list["paused"], &list["entrants"][0]["name"]), (&true.into(), &"a".into()));
    let engine = desk.path("patient.sh").display().to_string();
    let late: String = ["c", "d"]
        .map(|name| format!("[[engines]]\nname = '{name}'\ncommand = '{engine}'\nargs = ['{name}']\n"))
        .concat();
    desk.write("event.toml", &format!("{text}{late}"));
    done(&desk, &["reload"]);
    done(&desk, &["withdraw", "b", "--reason", "went home"]);
    assert_eq!(done(&desk, &["list"])["list"]["entrants"][1]["withdrawn"], true);
    playing.kill();
    assert_eq!(games(&desk, "1").len(), 0, "nothing was paired");
    let playing = Playing::start(&desk, &args);
    assert_eq!(done(&desk, &["list"])["list"]["paused"], true);
    done(&desk, &["resume"]);
    assert_eq!(playing.ends(), Some(0));
    assert_eq!(games(&desk, "1").len(), 1, "one game of the three who are left");
    assert_eq!(desk.query("SELECT count(*) FROM byes WHERE half_points = 2"), [["1"]]);
    let played = desk.query("SELECT count(*) FROM games WHERE black = 1 OR white = 1");
    assert_eq!(played, [["0"]], "`b` has withdrawn");
    let report = report(&desk);
    let table = report["stages"][0]["table"].as_array().unwrap();
    assert_eq!(table.len(), 4);
    assert!(table.iter().all(|row| row["tie_breaks"]["buchholz"].is_number()), "{table:?}");
    let shown = String::from_utf8(desk.renmei(&["report", "event.db"]).stdout).unwrap();
    assert!(shown.find("Buchholz").unwrap() < shown.find("faults").unwrap(), "points come first: {shown}");
    desk.renmei(&["report", "event.db", "--html", "event.html", "--language", "ja"]);
    let page = std::fs::read_to_string(desk.path("event.html")).unwrap();
    assert!(page.contains("<html lang=\"ja\">") && page.contains("順位表"), "{}", &page[..2000]);
}

#[test]
fn a_round_is_paired_as_the_arbiter_says_also_after_a_kill() {
    let desk = Desk::new();
    let args = [&event(&desk, 1)[..], &["--paused"]].concat();
    release(&desk);
    let engine = desk.path("patient.sh").display().to_string();
    let more: String = ["c", "d", "e", "f"]
        .map(|name| format!("[[engines]]\nname = '{name}'\ncommand = '{engine}'\nargs = ['{name}']\n"))
        .concat();
    let text = std::fs::read_to_string(desk.path("event.toml")).unwrap();
    desk.write("event.toml", &(text.replace("games = 1\n", "format = 'swiss'\nrounds = 1\n") + &more));
    let playing = Playing::start(&desk, &args);
    let refused = |pair: [&str; 2], words: &str| {
        let said = refused(&desk, &["pair", pair[0], pair[1]]);
        assert!(said.contains(words), "{pair:?}: {said}");
    };
    refused(["a", "nobody"], "no player of this event has the name `nobody`");
    refused(["a", "a"], "name two players");
    done(&desk, &["withdraw", "e", "--reason", "went home"]);
    refused(["a", "e"], "`e` has withdrawn");
    let given = done(&desk, &["pair", "f", "c"]);
    assert_eq!(given["text"], "paired `f` (black) with `c` (white) in round 1");
    refused(["a", "c"], "a pairing of `c` in round 1 is given already");
    let wrong = done(&desk, &["pair", "a", "b"])["operation"].to_string();
    done(&desk, &["undo", &wrong]);
    done(&desk, &["pair", "b", "a"]);
    playing.kill();
    let playing = Playing::start(&desk, &args);
    done(&desk, &["resume"]);
    assert_eq!(playing.ends(), Some(0));
    let played = desk.query("SELECT black, white FROM games ORDER BY pair");
    assert_eq!(played, [["5", "2"], ["1", "0"]]);
    assert_eq!(desk.query("SELECT player FROM byes"), [["3"]]);
}

#[test]
fn a_bye_that_was_given_holds_for_its_round_also_after_a_kill() {
    let desk = Desk::new();
    let args = [&event(&desk, 1)[..], &["--paused"]].concat();
    release(&desk);
    let engine = desk.path("patient.sh").display().to_string();
    let more = format!("[[engines]]\nname = 'c'\ncommand = '{engine}'\nargs = ['c']\n");
    let text = std::fs::read_to_string(desk.path("event.toml")).unwrap();
    desk.write("event.toml", &(text.replace("games = 1\n", "format = 'swiss'\nrounds = 2\n") + &more));
    let playing = Playing::start(&desk, &args);
    let refused = |order: &[&str], words: &str| {
        let said = refused(&desk, order);
        assert!(said.contains(words), "{order:?}: {said}");
    };
    refused(&["bye", "nobody"], "no player of this event has the name `nobody`");
    refused(&["bye", "a", "3"], "there is no round 3: the stage has rounds 1 to 2");
    refused(&["bye", "a", "0"], "there is no round 0");
    let given = done(&desk, &["bye", "a"]);
    assert_eq!(given["text"], "gave `a` a half-point bye in round 1");
    refused(&["bye", "a", "1"], "`a` has a bye in round 1 already");
    refused(&["pair", "b", "a"], "`a` has a bye in round 1 already");
    let wrong = done(&desk, &["bye", "b"])["operation"].to_string();
    done(&desk, &["undo", &wrong]);
    done(&desk, &["pair", "b", "c"]);
    refused(&["bye", "c"], "a pairing of `c` in round 1 is given already");
    done(&desk, &["bye", "c", "2"]);
    playing.kill();
    let playing = Playing::start(&desk, &args);
    done(&desk, &["resume"]);
    assert_eq!(playing.ends(), Some(0));
    assert_eq!(desk.query("SELECT round, black FROM games ORDER BY round")[0], ["1", "1"]);
    let byes = desk.query("SELECT round, player, half_points FROM byes ORDER BY round");
    assert_eq!(byes, [["1", "0", "1"], ["2", "2", "1"]]);
    let shown = String::from_utf8(desk.renmei(&["report", "event.db"]).stdout).unwrap();
    assert!(shown.contains("gave `c` a half-point bye in round 2"), "{shown}");
    let rounds = String::from_utf8(desk.renmei(&["report", "event.db", "--rounds"]).stdout).unwrap();
    assert_eq!(rounds.matches("bye=").count(), 2, "{rounds}");
    let json = desk.renmei(&["report", "event.db", "--rounds", "--json"]);
    assert_eq!(json.status.code(), Some(2));
    let why = String::from_utf8_lossy(&json.stderr);
    assert!(why.contains("`--rounds FILE.tsv` writes its table for programs"), "{why}");
}

#[test]
fn a_penalty_and_a_withdrawal_hold_for_later_rounds_also_after_a_kill() {
    let desk = Desk::new();
    let args = event(&desk, 1);
    let text = std::fs::read_to_string(desk.path("event.toml")).unwrap();
    let text = text.replace("games = 1\n", "format = 'swiss'\nrounds = 3\n");
    let engine = desk.path("patient.sh").display().to_string();
    desk.write("event.toml", &format!("{text}[[engines]]\nname = 'c'\ncommand = '{engine}'\n"));
    let playing = Playing::start(&desk, &args);
    until("the first game begins", || !games(&desk, "1").is_empty());
    assert!(refused(&desk, &["penalty", "b", "0.5"]).contains("--reason"));
    assert!(
        refused(&desk, &["penalty", "d", "1", "--reason", "x"])
            .contains("no player of this event has the name `d`")
    );
    assert!(refused(&desk, &["penalty", "b", "0", "--reason", "x"]).contains("more than 0 points"));
    assert!(refused(&desk, &["return", "c"]).contains("`c` is not withdrawn"));
    let penalty = ["penalty", "b", "0.5", "--reason", "was late"];
    let given = std::thread::scope(|scope| {
        let orders = [(); 4].map(|()| scope.spawn(|| admin(&desk, &penalty)));
        orders.map(|order| order.join().unwrap()).into_iter().filter(|output| output.status.success()).count()
    });
    assert_eq!(given, 1, "equal orders at once");
    assert!(refused(&desk, &penalty).contains("operation 1 is this penalty"));
    done(&desk, &["penalty", "a", "1", "--reason", "by mistake"]);
    done(&desk, &["undo", "2"]);
    done(&desk, &["withdraw", "c", "--reason", "went home"]);
    assert!(refused(&desk, &["withdraw", "c", "--reason", "x"]).contains("withdrawn already"));
    playing.kill();
    let playing = Playing::start(&desk, &args);
    release(&desk);
    assert_eq!(playing.ends(), Some(0));
    let byes = desk.query("SELECT round, player, half_points FROM byes ORDER BY round");
    assert_eq!(byes, [["1", "2", "2"]], "who has withdrawn is not paired");
    let table = report(&desk)["stages"][0]["table"].clone();
    let row = |name: &str| table.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!((&row("b")["penalty"], &row("a")["penalty"]), (&0.5.into(), &Value::Null));
    let score = |name: &str| row(name)["points"].as_f64().unwrap();
    assert!((score("a") + score("b") - 2.5).abs() < 1e-9, "three games less half a point: {table}");
    let shown = String::from_utf8(desk.renmei(&["report", "event.db"]).stdout).unwrap();
    let penalty = shown.lines().any(|line| line.contains("  b  ") && line.ends_with("0.5"));
    assert!(shown.contains("  penalty\n") && penalty, "{shown}");
    let words = report(&desk)["operations"].to_string();
    assert!(words.contains("penalised") && words.contains("withdrawn"), "{words}");
}

#[test]
fn a_ruling_on_a_running_game_ends_it_and_stands_after_a_kill() {
    let desk = Desk::new();
    let args = event(&desk, 4);
    let playing = Playing::start(&desk, &args);
    until("the first game begins", || done(&desk, &["list"])["list"]["games"][0]["game"] == 1);
    assert!(refused(&desk, &["rule", "1", "white"]).contains("--reason"));
    done(&desk, &["rule", "1", "white", "--reason", "black had two machines"]);
    until("the second game begins", || games(&desk, "1").len() == 2);
    playing.kill();
    assert_eq!(games(&desk, "result || ' ' || cause")[0], ["1", "white ruling"]);
    release(&desk);
    assert_eq!(Playing::start(&desk, &args).ends(), Some(0));
    let counted = desk.query("SELECT count(*), count(DISTINCT index_) FROM games WHERE state = 'counted'");
    assert_eq!(counted, [["4", "4"]], "the ruled game keeps its place in the schedule");
    let report = report(&desk);
    assert_eq!(report["endings"]["ruling"], 1, "{report}");
    let text = String::from_utf8(desk.renmei(&["report", "event.db"]).stdout).unwrap();
    assert!(
        text.contains("ruled game 1 (")
            && text.contains(", round 1): white wins by ruling: black had two machines"),
        "{text}"
    );
    desk.renmei(&["export", "event.db", "--all", "--output", "games.csa"]);
    let exported = std::fs::read_to_string(desk.path("games.csa")).unwrap();
    assert!(exported.contains("white wins by ruling"), "{exported}");
}

#[test]
fn a_ruling_on_a_game_that_is_over_replaces_its_result_and_can_be_taken_back() {
    let desk = Desk::new();
    let args = event(&desk, 4);
    let playing = Playing::start(&desk, &args);
    until("the first game begins", || !games(&desk, "1").is_empty());
    done(&desk, &["pause"]);
    release(&desk);
    until("the first game ends", || games(&desk, "state") == [["1", "counted"]]);
    let before = games(&desk, "result || cause");
    assert!(refused(&desk, &["rule", "9", "draw", "--reason", "x"]).contains("no game 9"));
    let ruled = done(&desk, &["rule", "1", "black", "--reason", "white crashed the switch"]);
    assert_eq!(points(&desk, "a") + points(&desk, "b"), 1.0);
    assert_eq!(games(&desk, "result || cause")[0][1], "blackruling");
    assert_eq!(games(&desk, "ended_result || ended_cause")[0], before[0], "what it ended with stays");
    desk.renmei(&["export", "event.db", "--all", "--output", "games.csa"]);
    let exported = std::fs::read_to_string(desk.path("games.csa")).unwrap();
    assert!(exported.contains("ruled by the operator"), "{exported}");
    playing.kill();
    let playing = Playing::start(&desk, &args);
    assert!(refused(&desk, &["rule", "1", "black", "--reason", "again"]).contains("has that result already"));
    done(&desk, &["undo", &ruled["operation"].to_string()]);
    assert!(refused(&desk, &["undo", &ruled["operation"].to_string()]).contains("taken back before"));
    assert_eq!(games(&desk, "result || cause"), before);
    done(&desk, &["rule", "1", "void", "--reason", "nobody should have played it"]);
    assert_eq!(report(&desk)["games"], 0);
    done(&desk, &["resume"]);
    assert_eq!(playing.ends(), Some(0));
    assert_eq!(report(&desk)["games"], 3, "a game without a result is not played again");
}

#[test]
fn a_game_that_is_over_can_be_played_again_in_its_place() {
    let desk = Desk::new();
    let args = event(&desk, 4);
    let playing = Playing::start(&desk, &args);
    until("the first game begins", || !games(&desk, "1").is_empty());
    done(&desk, &["pause"]);
    assert!(refused(&desk, &["replay", "1", "--reason", "x"]).contains("still running"));
    release(&desk);
    until("the first game ends", || games(&desk, "state") == [["1", "counted"]]);
    done(&desk, &["replay", "1", "--reason", "wrong opening"]);
    assert_eq!(games(&desk, "state"), [["1", "replayed"]]);
    assert_eq!(report(&desk)["games"], 0);
    assert!(refused(&desk, &["replay", "1", "--reason", "x"]).contains("played again"));
    playing.kill();
    let playing = Playing::start(&desk, &args);
    done(&desk, &["resume"]);
    assert_eq!(playing.ends(), Some(0));
    let counted = desk.query("SELECT count(*), count(DISTINCT index_) FROM games WHERE state = 'counted'");
    assert_eq!(counted, [["4", "4"]]);
    let again = desk.query("SELECT number > 1, attempt FROM games WHERE index_ = 0 AND state = 'counted'");
    assert_eq!(again, [["1", "1"]]);
}

#[test]
fn an_adjourned_game_is_played_again() {
    let desk = Desk::new();
    let playing = Playing::start(&desk, &event(&desk, 2));
    until("the first game begins", || done(&desk, &["list"])["list"]["games"][0]["game"] == 1);
    assert!(refused(&desk, &["adjourn", "7"]).contains("no game 7"));
    done(&desk, &["adjourn", "1"]);
    release(&desk);
    assert_eq!(playing.ends(), Some(0));
    assert_eq!(games(&desk, "state || index_")[0], ["1", "adjourned0"]);
    let counted = desk.query("SELECT count(*), count(DISTINCT index_) FROM games WHERE state = 'counted'");
    assert_eq!(counted, [["2", "2"]]);
}

/// Two engines that take a while for each move, and do not answer from ply 7 on while `hold` exists.
fn adjournable_event(desk: &Desk) -> [&'static str; 5] {
    let random = program("renmei-random").display().to_string();
    let script = format!(
        "#!/bin/sh\nhold=$(dirname \"$0\")/hold\nwhile read -r line; do\n  case \"$line\" in\n    position*) set -- $line; n=$#;;\n\
         go*) sleep 0.2; while [ $n -ge 9 ] && [ -e \"$hold\" ]; do sleep 0.1; done;;\n  esac\n  echo \"$line\"\n\
         done | {random}\n"
    );
    let args = event(desk, 2);
    desk.write("patient.sh", &script);
    args
}

#[test]
fn an_adjourned_game_is_played_on_from_its_position_and_clocks_when_the_operator_says_so() {
    let desk = Desk::new();
    let args = adjournable_event(&desk);
    let playing = Playing::start(&desk, &args);
    until("six plies are played", || done(&desk, &["list"])["list"]["games"][0]["plies"] == 6);
    done(&desk, &["adjourn", "1", "--hold"]);
    let waits = done(&desk, &["list"]);
    assert_eq!(waits["list"]["adjourned"][0]["game"], 1, "{waits}");
    assert!(refused(&desk, &["rule", "1", "black", "--reason", "x"]).contains("is adjourned"));
    release(&desk);
    until("the other game is over", || games(&desk, "state").last().is_some_and(|game| game[1] == "counted"));
    // It waits across a restart of the program, too.
    playing.kill();
    let playing = Playing::start(&desk, &args);
    assert_eq!(done(&desk, &["list"])["list"]["adjourned"][0]["game"], 1);
    assert_eq!(games(&desk, "state"), [["1", "adjourned"], ["2", "counted"]]);
    assert!(refused(&desk, &["play-on", "7"]).contains("does not wait"));
    // The machine of white stood still while it thought: the arbiter states its clock.
    for (args, why) in [
        (["clock", "2", "white", "9m"], "does not wait"),
        (["clock", "1", "white", "9"], "no time that a clock can have"),
        (["clock", "1", "white", "0"], "no time that a clock can have"),
    ] {
        let why_not = refused(&desk, &[&args[..], &["--reason", "x"]].concat());
        assert!(why_not.contains(why), "{why_not}");
    }
    let set =
        done(&desk, &["clock", "1", "white", "9m30.5s", "--reason", "its switch was dead for a minute"]);
    let text = set["text"].as_str().unwrap();
    assert!(
        text.starts_with("set the clock of white in game 1 (") && text.ends_with(") to 570.5 s"),
        "{set}"
    );
    playing.kill();
    let playing = Playing::start(&desk, &args);
    done(&desk, &["play-on", "1"]);
    assert_eq!(playing.ends(), Some(0));
    let moves = |game: u32| {
        let of = format!(
            "SELECT move FROM moves m JOIN games g ON g.id = m.game WHERE g.number = {game} ORDER BY ply"
        );
        desk.query(&of).concat().join(" ")
    };
    let continued = desk.query("SELECT opening_moves, plies, times FROM games WHERE number = 3").concat();
    assert_eq!((&continued[0], &*continued[1]), (&moves(1), "12"), "its moves are on the board");
    let clocks: Value = serde_json::from_str(&continued[2]).unwrap();
    let left = clocks[0]["main"]["secs"].as_u64().unwrap();
    assert!(left < 600, "its clock goes on where it was: {clocks}");
    assert_eq!(clocks[1]["main"]["secs"], 570, "as the operator said, across a restart: {clocks}");
    assert_eq!(clocks[1]["main"]["nanos"], 500_000_000, "{clocks}");
    assert_eq!(report(&desk)["games"], 2);
}

#[test]
fn two_processes_that_play_two_events_of_one_database_each_get_their_own_orders() {
    let desk = Desk::new();
    let args = event(&desk, 2);
    let cup = Playing::start(&desk, &args);
    let text = std::fs::read_to_string(desk.path("event.toml")).unwrap();
    desk.write("side.toml", &text.replace("'cup'", "'side'"));
    let side =
        Playing::start_asked(&desk, &[&["run", "side.toml"], &args[2..]].concat(), &["--event", "side"]);
    let is_paused = |name| done(&desk, &["list", "--event", name])["list"]["paused"] == true;
    assert!(done(&desk, &["pause", "--event", "side"])["event"] == "side");
    assert_eq!(["cup", "side"].map(is_paused), [false, true]);
    assert!(done(&desk, &["pause", "--event", "cup"])["event"] == "cup");
    done(&desk, &["resume", "--event", "side"]);
    assert_eq!(["cup", "side"].map(is_paused), [true, false]);
    let log = std::fs::read_to_string(desk.path("log.txt")).unwrap();
    assert!(log.contains("event.db --event side resume`"), "as it has to be typed: {log}");
    asks_which(&desk);
    release(&desk);
    assert_eq!(side.ends(), Some(0));
    assert!(refused(&desk, &["pause", "--event", "side"]).contains("`side`: the event is over"));
    // One of them is not over, and is meant.
    assert_eq!(done(&desk, &["list"])["event"], "cup");
    let rerun = desk.renmei(&["rerun", "event.db", "--faults"]);
    assert!(String::from_utf8_lossy(&rerun.stdout).starts_with("`cup`: 0 games"), "{rerun:?}");
    done(&desk, &["resume"]);
    assert_eq!(cup.ends(), Some(0));
    let results = || desk.query("SELECT event, number, result, ruling FROM games ORDER BY event, number");
    let before = results();
    asks_which(&desk);
    assert_eq!(results(), before);
    let announced = admin(&desk, &["announce", "both are over", "--event", "cup"]);
    assert!(String::from_utf8_lossy(&announced.stdout).starts_with("`cup`: "), "{announced:?}");
    assert_eq!(done(&desk, &["announce", "once more", "--event", "side"])["event"], "side");
}

/// Without a name no command changes either of two events.
fn asks_which(desk: &Desk) {
    for command in [
        &["admin", "event.db", "rule", "1", "draw", "--reason", "x"][..],
        &["admin", "event.db", "undo", "1"],
        &["admin", "event.db", "announce", "hello"],
        &["rerun", "event.db", "--faults"],
        &["prune", "--db", "event.db", "--games", "0"],
    ] {
        let output = desk.renmei(command);
        let asked = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {asked}");
        assert!(asked.contains("which event? Name it with `--event`: `cup`, `side`"), "{command:?}: {asked}");
    }
}

#[test]
fn the_door_is_for_its_user_alone_and_survives_junk() {
    let desk = Desk::new();
    let playing = Playing::start(&desk, &event(&desk, 2));
    let socket = desk.path("event.db-admin");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let answer = |sent: &[u8]| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let _closed_meanwhile = stream.write_all(sent);
        let mut line = String::new();
        let _closed = BufReader::new(&mut stream).read_line(&mut line);
        line
    };
    for junk in [
        &b"\xff\xfe\n"[..],
        b"{}\n",
        b"[[[[\n",
        b"{\"command\":\"fly\"}\n",
        b"{\"command\":\"list\",\"x\":1}\n",
    ] {
        let line = answer(junk);
        assert!(line.starts_with("{\"ok\":false") && line.contains("not a request"), "{line}");
    }
    // Deep nesting and endless lines cost a bounded amount.
    let line = answer(&[&[b'['; 10_000][..], b"\n"].concat());
    assert!(line.contains("not a request"), "{line}");
    let line = answer(&vec![b'x'; 1_000_000]);
    assert!(line.is_empty() || line.contains("at most"), "{line}");
    // More clients than there is room for: the others are told, and leaving makes room.
    // The door closes a connection that is silent for long, so on a slow machine a crowd may be gone before the ninth asks.
    until("the ninth is refused", || {
        let _crowd: Vec<_> = (0..8).map(|_| UnixStream::connect(&socket).unwrap()).collect();
        answer(b"{\"command\":\"list\"}\n").contains("too many operators")
    });
    until("there is room again", || admin(&desk, &["list"]).status.success());
    for text in ["a\nb", &"x".repeat(501)] {
        assert!(refused(&desk, &["pause", "--reason", text]).contains("at most 500 characters"));
    }
    assert!(refused(&desk, &["kick", "a"]).contains("nobody logs in to this event"));
    release(&desk);
    assert_eq!(playing.ends(), Some(0));
}

#[test]
fn a_link_in_the_place_of_the_door_is_refused_and_the_event_played() {
    let desk = Desk::new();
    let args = event(&desk, 2);
    release(&desk);
    let other = desk.write("precious", "kept");
    std::os::unix::fs::symlink(&other, desk.path("event.db-admin")).unwrap();
    let output = desk.renmei(&args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && text.contains("is a link, which could lead anywhere"), "{text}");
    assert_eq!(std::fs::read_to_string(other).unwrap(), "kept");
}

// Players of the network.

struct Guest(BufReader<TcpStream>);

impl Guest {
    fn login(desk: &Desk, words: &str) -> Self {
        let mut guest = Self::connect(desk);
        guest.say(&format!("LOGIN {words}"));
        guest
    }

    fn connect(desk: &Desk) -> Self {
        let mut address = None;
        until("the league listens", || {
            let log = std::fs::read_to_string(desk.path("log.txt")).unwrap();
            let told = log.lines().rev().find_map(|line| line.strip_prefix("listening on "));
            address = told.map(str::to_owned);
            address.is_some()
        });
        let address = address.unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    fn say(&mut self, line: &str) {
        let _closed = self.0.get_mut().write_all(format!("{line}\n").as_bytes());
    }

    /// Reads up to a line that begins so.
    fn hears(&mut self, beginning: &str) -> String {
        let mut heard = String::new();
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).unwrap_or(0);
            assert!(read > 0, "`{beginning}` does not come: {heard}");
            heard += &line;
            if line.starts_with(beginning) {
                return line.trim_end().to_owned();
            }
        }
    }

    /// Everything up to the end of the connection.
    fn rest(&mut self) -> String {
        let mut rest = vec![];
        let _reset = self.0.read_to_end(&mut rest);
        String::from_utf8_lossy(&rest).into_owned()
    }
}

fn league(desk: &Desk) -> Playing {
    desk.write("serve.toml", "[serve]\nname = 'open'\ndatabase = 'event.db'\ngrace = 60\n");
    Playing::start(desk, &["serve", "serve.toml", "--listen", "127.0.0.1:0", "--no-dashboard"])
}

/// Two players in a game of an open league, black first.
fn pair_up(desk: &Desk) -> [Guest; 2] {
    let mut players = [("kawa", '+'), ("mori", '-')].map(|(name, sign)| {
        let mut guest = Guest::login(desk, &format!("{name} secret{name} x1"));
        guest.hears("##[LOGIN]");
        guest.say(&format!("%%GAME test-600-10 {sign}"));
        guest
    });
    for player in &mut players {
        player.hears("END Game_Summary");
        player.say("AGREE");
    }
    for player in &mut players {
        player.hears("START:");
    }
    players
}

#[test]
fn a_banned_player_and_a_banned_network_stay_out_also_after_a_kill() {
    let desk = Desk::new();
    let playing = league(&desk);
    let mut rude = Guest::login(&desk, "rude secret x1");
    rude.hears("##[LOGIN]");
    let listed = done(&desk, &["list"])["list"]["players"][0].clone();
    assert_eq!((&listed["name"], &listed["address"]), (&"rude".into(), &"127.0.0.1".into()));
    done(&desk, &["kick", "rude", "--reason", "be polite"]);
    assert!(rude.rest().contains("##[ERROR] the operator has ended your connection: be polite"));
    let mut rude = Guest::login(&desk, "rude secret x1");
    rude.hears("##[LOGIN]");
    assert!(refused(&desk, &["ban", "rude"]).contains("--reason"));
    assert!(
        refused(&desk, &["ban", "no such/name", "--reason", "x"]).contains("neither a player's name nor")
    );
    let ban = done(&desk, &["ban", "rude", "--reason", "insults"]);
    assert!(rude.rest().contains("ended your connection"));
    playing.kill();
    let playing = league(&desk);
    assert!(Guest::login(&desk, "rude secret x1").rest().contains("the operator has banned you: insults"));
    assert!(Guest::login(&desk, "rude test-600-10-B,secret").rest().starts_with("LOGIN:incorrect"));
    done(&desk, &["undo", &ban["operation"].to_string()]);
    Guest::login(&desk, "rude secret x1").hears("##[LOGIN]");
    done(&desk, &["ban", "127.0.0.0/8", "--reason", "flooding"]);
    let banned = Guest::login(&desk, "other secret x1").rest();
    assert_eq!(banned, "##[ERROR] the operator has banned your address\n");
    done(&desk, &["unban", "127.0.0.0/8"]);
    Guest::login(&desk, "other secret x1").hears("##[LOGIN]");
    drop(playing);
}

#[test]
fn players_of_a_league_hear_of_a_ruling_and_the_rating_forgets_an_annulled_game() {
    let desk = Desk::new();
    let playing = league(&desk);
    let [mut kawa, mut mori] = pair_up(&desk);
    until("the game is listed", || done(&desk, &["list"])["list"]["games"][0]["game"] == 1);
    done(&desk, &["rule", "1", "white", "--reason", "black used another's account"]);
    kawa.hears("#LOSE");
    mori.hears("#WIN");
    assert_eq!(games(&desk, "result || cause"), [["1", "whiteruling"]]);
    let ruled = done(&desk, &["rule", "1", "draw", "--reason", "it was their own"]);
    let heard = mori.hears("##[OPERATOR] ruled game 1 (kawa");
    assert!(
        heard.ends_with("): draw by ruling (it was: white wins by ruling)") && heard.contains(" - mori"),
        "{heard}"
    );
    assert!(refused(&desk, &["replay", "1", "--reason", "x"]).contains("an open league has no schedule"));
    playing.kill();
    let _playing = league(&desk);
    done(&desk, &["undo", &ruled["operation"].to_string()]);
    assert_eq!(games(&desk, "result || cause"), [["1", "whiteruling"]]);
    done(&desk, &["rule", "1", "void", "--reason", "a test"]);
    assert_eq!(report(&desk)["games"], 0);
}

/// An event of an engine and of `kuma`, who logs in.
fn cup(desk: &Desk) -> Playing {
    let random = program("renmei-random").display().to_string();
    desk.write(
        "cup.toml",
        &format!(
            "time = '600s'\n[event]\nname = 'cup'\ndatabase = 'event.db'\ngames = 2\n[serve]\nwait = 100000\n\
             [[engines]]\nname = 'a'\ncommand = '{random}'\n[[engines]]\nname = 'kuma'\nremote = true\n"
        ),
    );
    Playing::start(
        desk,
        &["serve", "cup.toml", "--listen", "127.0.0.1:0", "--no-dashboard", "--oversubscribe"],
    )
}

/// Plays a game of the cup to its first turn and resigns it.
fn resign_a_game(guest: &mut Guest) {
    let turn = guest.hears("Your_Turn:");
    resign(guest, &turn);
}

fn resign(guest: &mut Guest, turn: &str) {
    guest.hears("END Game_Summary");
    guest.say("AGREE");
    guest.hears("START:");
    if turn.ends_with('-') {
        guest.hears("+");
    }
    guest.say("%TORYO");
    guest.hears("#LOSE");
}

#[test]
fn a_substitute_plays_on_in_the_place_of_an_entrant_also_after_a_kill() {
    let desk = Desk::new();
    let playing = cup(&desk);
    let mut kuma = Guest::login(&desk, "kuma secret x1");
    kuma.hears("##[LOGIN]");
    let turn = kuma.hears("Your_Turn:");
    done(&desk, &["pause"]);
    resign(&mut kuma, &turn);
    assert!(refused(&desk, &["swap", "kuma", "yama"]).contains("--reason"));
    let why = ["--reason", "the machine of kuma is broken"];
    assert!(refused(&desk, &["swap", "kuma", "a", why[0], why[1]]).contains("`a` is an entrant already"));
    assert!(refused(&desk, &["swap", "a", "yama", why[0], why[1]]).contains("not an entrant of the network"));
    let mut watches = Guest::login(&desk, "yama other x1");
    watches.hears("##[LOGIN]");
    until("the game is over", || {
        let swap = admin(&desk, &["swap", "kuma", "yama", why[0], why[1]]);
        swap.status.success()
    });
    assert!(kuma.rest().contains("the machine of kuma is broken"), "the entrant hears why it is sent away");
    playing.kill();
    let playing = cup(&desk);
    let mut kuma = Guest::login(&desk, "kuma secret x1");
    kuma.hears("##[LOGIN]");
    let mut stranger = Guest::login(&desk, "yama guess x1");
    assert!(stranger.rest().contains("another secret"), "the substitute was bound to its own");
    let mut yama = Guest::login(&desk, "yama other");
    yama.hears("LOGIN:yama OK");
    done(&desk, &["resume"]);
    resign_a_game(&mut yama);
    assert_eq!(playing.ends(), Some(0));
    assert_eq!(
        desk.query("SELECT player, games, losses FROM standings WHERE player = 'yama'"),
        [["yama", "2", "2"]]
    );
    assert_eq!(desk.query("SELECT count(*) FROM players"), [["2"]]);
    let verified = desk.renmei(&["verify", "event.db"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    let told = report(&desk).to_string();
    assert!(told.contains("swapped `kuma` for `yama`"), "{told}");
}
