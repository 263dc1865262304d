//! The queue of tests: `renmei queue`.

use crate::{
    laboratory::{BUILD, Workshop, json, text},
    support::{ended, until},
};
use rusqlite::Connection;
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Output, Stdio},
    time::Duration,
};

/// Options for playing that a test of a queue has.
const GAMES: [&str; 4] = ["--time", "byoyomi 60s", "--max-moves", "80"];

impl Workshop {
    fn queue(&self, words: &[&str]) -> Output {
        self.renmei(&[&["queue", "tests"], words].concat())
    }

    /// Adds a test of two commits.
    fn add(&self, new: &str, old: &str, more: &[&str]) -> Output {
        let source = ["--repo", "engine", "--build", BUILD, "--program", "bin/engine"];
        self.queue(&[&["add", new, old], &source[..], &GAMES, more].concat())
    }

    fn play_all(&self) -> Output {
        self.queue(&["--until-empty", "--oversubscribe", "--concurrency", "2"])
    }

    /// Begins to play the queue, and goes on when tests are added.
    fn player(&self, words: &[&str]) -> Player {
        let mut command = self.command(&[&["queue", "tests", "--oversubscribe"], words].concat());
        Player(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn history(&self) -> Value {
        json(&self.queue(&["history", "--json"]))["tests"].clone()
    }

    fn list(&self) -> Value {
        json(&self.queue(&["list", "--json"]))
    }

    /// A number from the database; `None` while it is not there.
    fn count(&self, sql: &str) -> Option<i64> {
        let stored = Connection::open(self.desk.path("tests/queue.db")).ok()?;
        stored.query_row(sql, [], |row| row.get(0)).ok()
    }

    /// Games of a test that count.
    fn games(&self, test: u64) -> i64 {
        let sql = format!(
            "SELECT count(*) FROM games g JOIN events e ON e.id = g.event WHERE state = 'counted' AND name = 'test-{test}'"
        );
        self.count(&sql).unwrap_or(0)
    }

    fn state(&self, test: u64) -> String {
        let listed = self.list();
        let found = listed.as_array().unwrap().iter().find(|line| line["test"] == test);
        found.map_or("over", |line| line["state"].as_str().unwrap()).to_owned()
    }
}

/// A process that plays a queue; it is killed with its engines.
struct Player(Child);

impl Player {
    /// Finishes the running games, as Ctrl-C does.
    fn finish(mut self) {
        let process = nix::unistd::Pid::from_raw(i32::try_from(self.0.id()).unwrap());
        nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).unwrap();
        assert_eq!(ended(&mut self.0).code(), Some(3));
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        ended(&mut self.0);
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _dead_already = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// Two commits, of which the second resigns, and one that does not build.
fn workshop() -> Workshop {
    let workshop = Workshop::new();
    workshop.commit("a beginning", "");
    workshop.commit("resign early", "--mode resign --ply 3");
    workshop.commit("broken", "# does not build");
    workshop
}

#[test]
fn a_test_of_a_queue_is_played_until_elo_is_known() {
    let workshop = Workshop::new();
    workshop.commit("one", "--seed 1");
    workshop.commit("two", "--seed 2");
    let added = workshop.add("HEAD", "HEAD~1", &["--until", "200 elo", "--games", "2000"]);
    assert_eq!(added.status.code(), Some(0), "{}", text(&added));
    let played = workshop.play_all();
    assert_eq!(played.status.code(), Some(0), "{}", text(&played));
    assert!((2..2000).contains(&workshop.games(1)), "{} games", workshop.games(1));
    let report = json(&workshop.renmei(&["report", "tests/queue.db", "--json"]));
    assert!(report["precision"]["reached_after"].as_u64().is_some(), "{report}");
    let wrong = workshop.add("HEAD", "HEAD~1", &["--until", "soon"]);
    assert!(wrong.status.code() == Some(2) && text(&wrong).contains("`soon`"), "{}", text(&wrong));
}

#[test]
fn tests_are_played_one_after_another_and_one_that_does_not_build_holds_nobody_up() {
    let workshop = workshop();
    let added = workshop.add("HEAD", "HEAD~2", &["--games", "2"]);
    assert_eq!(added.status.code(), Some(0), "{}", text(&added));
    assert!(text(&added).contains("test 1: ") && text(&added).contains("broken against"), "{}", text(&added));
    workshop.add("HEAD~1", "HEAD~2", &["--games", "4"]);
    let played = workshop.play_all();
    assert_eq!(played.status.code(), Some(0), "{}", text(&played));
    let history = workshop.history();
    assert_eq!((&history[0]["state"], &history[1]["state"]), (&"failed".into(), &"over".into()), "{history}");
    let fault = history[0]["fault"].as_str().unwrap();
    assert!(fault.contains("the build of") && fault.contains("| building"), "with the last lines: {fault}");
    assert_eq!(history[1]["result"]["games"], 4, "{history}");
    assert_eq!(history[1]["result"]["pentanomial"], serde_json::json!([2, 0, 0, 0, 0]), "{history}");
    let shown = text(&workshop.queue(&["history"]));
    for part in ["resign early", "a beginning", "1 file changed", "(failed: "] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // What failed is tried again where somebody asks for it.
    workshop.queue(&["resume", "1"]);
    assert_eq!(workshop.state(1), "waiting");
    let again = text(&workshop.play_all());
    assert!(again.contains("test 1 cannot be played"), "{again}");
    assert_eq!(workshop.games(2), 4, "a test that is over is over");
}

#[test]
fn a_sequential_test_of_the_queue_has_its_verdict_in_the_history_and_on_the_page() {
    let workshop = workshop();
    workshop.add("HEAD~1", "HEAD~2", &["--sprt", "elo0=0", "elo1=50", "--games", "400"]);
    let played = workshop.play_all();
    assert!(text(&played).contains("test 1 is over: H0 accepted"), "{}", text(&played));
    let words = ["history", "--html", "history.html", "--plot", "history.svg"];
    assert_eq!(workshop.queue(&words).status.code(), Some(0));
    let page = std::fs::read_to_string(workshop.desk.path("history.html")).unwrap();
    assert!(page.contains("resign early") && page.contains("H0") && page.contains("<svg"), "{page}");
    let picture = std::fs::read_to_string(workshop.desk.path("history.svg")).unwrap();
    assert!(picture.contains("green: H1 accepted"), "{picture}");
}

#[test]
fn a_test_that_is_halted_by_faults_is_told_to_those_who_get_notices() {
    let workshop = Workshop::new();
    workshop.commit("a beginning", "");
    workshop.commit("crash early", "--mode crash --ply 3");
    workshop.add("HEAD", "HEAD~1", &["--games", "8", "--fault-limit", "2"]);
    let told = ["--until-empty", "--oversubscribe", "--concurrency", "1", "--notify", "cat >> all"];
    let played = workshop.queue(&told);
    assert!(text(&played).contains("test 1 cannot be played"), "{}", text(&played));
    let notices = std::fs::read_to_string(workshop.desk.path("all")).unwrap();
    let kinds = notices.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["notice"].clone());
    assert_eq!(Value::from_iter(kinds), serde_json::json!(["engine-halted", "fault-limit"]));
}

#[test]
fn a_queue_that_is_killed_loses_nothing_and_plays_nothing_twice() {
    let workshop = workshop();
    workshop.add("HEAD~1", "HEAD~2", &["--games", "30"]);
    workshop.add("HEAD~2", "HEAD~1", &["--games", "10"]);
    for games in [3, 9, 15, 33] {
        let player = workshop.player(&["--concurrency", "2"]);
        until("the queue makes no progress", || workshop.games(1) + workshop.games(2) >= games);
        player.kill();
    }
    let before = workshop.games(1) + workshop.games(2);
    let played = workshop.play_all();
    assert_eq!(played.status.code(), Some(0), "{}", text(&played));
    assert!(before >= 33);
    assert_eq!((workshop.games(1), workshop.games(2)), (30, 10));
    let twice = "SELECT count(*) FROM (SELECT event, index_ FROM games WHERE state = 'counted' GROUP BY event, index_ \
                 HAVING count(*) > 1)";
    assert_eq!(workshop.count(twice), Some(0));
}

/// Asks a page, and returns the whole answer.
fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_test_that_asks_is_shown_with_its_note_and_is_played_once_somebody_approves_it() {
    let workshop = workshop();
    assert_eq!(workshop.queue(&["list"]).status.code(), Some(2), "there is no queue yet");
    workshop.add("HEAD~1", "HEAD~2", &["--games", "2", "--name", "played at once"]);
    assert_eq!(workshop.queue(&["approval", "on"]).status.code(), Some(0));
    let note = "after the fix of <b>nulls</b>";
    workshop.add("HEAD~1", "HEAD~2", &["--games", "2", "--name", "asks", "--note", note, "--by", "ann"]);
    assert_eq!([1, 2].map(|test| workshop.state(test)), ["waiting", "unapproved"]);
    let listed = text(&workshop.queue(&["list"]));
    assert!(listed.contains("asks (by ann)") && listed.contains(note), "{listed}");
    assert_eq!(workshop.play_all().status.code(), Some(0), "what nobody approves keeps no run from its end");
    assert_eq!((workshop.games(1), workshop.games(2)), (2, 0));

    let words = ["queue", "tests", "--oversubscribe", "--http", "127.0.0.1:0"];
    let mut player = workshop.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(player.stderr.take().unwrap()).lines().map(Result::unwrap);
    let _ended = Player(player);
    let address =
        lines.find_map(|line| Some(line.strip_prefix("pages on http://")?.trim_end_matches('/').to_owned()));
    let address = address.unwrap();
    std::thread::spawn(move || lines.for_each(drop));
    let asks = |path: &str, what: &str| page(&address, path).contains(what);
    until("what asks is listed", || asks("/api/tests", "\"state\":\"unapproved\""));
    let list = page(&address, "/");
    assert!(
        list.contains("waits for approval") && list.contains("after the fix of &lt;b&gt;nulls"),
        "{list}"
    );
    assert!(asks("/?find=FIX+asks", "waits for approval"));
    assert!(asks("/?find=fix+nowhere", "Nothing found."));
    let refused = page(&address, &format!("/?find={}", "x".repeat(101)));
    assert!(refused.lines().next().unwrap().contains(" 400 "), "{refused}");

    let approved = text(&workshop.queue(&["approve", "2", "--by", "kai"]));
    assert!(approved.contains("test 2 is approved by kai"), "{approved}");
    until("the test is played", || workshop.state(2) == "over");
    assert_eq!(workshop.games(2), 2);
    assert!(
        asks("/api/events?find=nulls", "\"name\":\"test-2\"") && !asks("/api/events?find=nowhere", "test-2")
    );
    let long = "x".repeat(501);
    assert_eq!(workshop.queue(&["note", "2", &long]).status.code(), Some(2));
    assert_eq!(
        workshop.queue(&["note", "2", "gained nothing"]).status.code(),
        Some(0),
        "it is over, and has a note all the same"
    );
    until("the page has the new note", || asks("/", "gained nothing"));
    assert!(text(&workshop.queue(&["history"])).contains("gained nothing"));
    assert_eq!(workshop.history()[1]["note"], "gained nothing");
}

#[test]
fn the_page_of_a_queue_that_begins_again_has_what_became_of_every_test() {
    let workshop = workshop();
    workshop.add("HEAD", "HEAD~2", &["--games", "2"]);
    workshop.add("HEAD~1", "HEAD~2", &["--sprt", "elo0=0", "elo1=50", "--games", "400"]);
    workshop.play_all();
    let words = ["queue", "tests", "--oversubscribe", "--http", "127.0.0.1:0"];
    let mut player = workshop.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(player.stderr.take().unwrap()).lines().map(Result::unwrap);
    let _ended = Player(player);
    let address =
        lines.find_map(|line| Some(line.strip_prefix("pages on http://")?.trim_end_matches('/').to_owned()));
    let address = address.unwrap();
    std::thread::spawn(move || lines.for_each(drop));
    let list = page(&address, "/");
    for part in [
        "H0 accepted",
        "[0, 50]",
        ">LLR<",
        "byoyomi 1m",
        "resign early",
        " against ",
        "href=\"/e/test-2/\"",
        ">failed<",
        "the build of",
        "| building",
    ] {
        assert!(list.contains(part), "{part}: {list}");
    }
    assert!(!list.contains("href=\"/e/test-1/\""), "no game of it was played: {list}");
    let directory = workshop.desk.dir.path().display().to_string();
    assert!(!list.contains(&format!("{directory}/cache")), "places on this machine: {list}");
    until("what was played can be looked at", || page(&address, "/e/test-2/games/1").contains(" 200 "));
    let answer = page(&address, "/api/tests?find=resign");
    let tests: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let result = &tests[0]["result"];
    assert_eq!((tests.as_array().map(Vec::len), &tests[0]["test"]), (Some(1), &2.into()), "{tests}");
    assert_eq!((&result["verdict"], &result["wins"]), (&"H0".into(), &0.into()), "{tests}");
    let llr: Vec<f64> = serde_json::from_value(result["llr"].clone()).unwrap();
    assert!(llr[0] <= llr[1] && llr[1] < llr[2], "{tests}");
}

#[test]
fn a_second_player_of_a_queue_is_refused_and_names_the_first() {
    let workshop = workshop();
    workshop.add("HEAD~1", "HEAD~2", &["--games", "2"]);
    let player = workshop.player(&[]);
    until("nobody plays the queue", || text(&workshop.queue(&["list"])).contains("by process"));
    let second = workshop.play_all();
    assert_eq!(second.status.code(), Some(1), "{}", text(&second));
    let process = format!("process {}", player.0.id());
    assert!(text(&second).contains("this queue is played already, by") && text(&second).contains(&process));
    player.kill();
}

#[test]
fn a_pause_ends_the_games_of_a_test_in_order_and_a_test_that_is_added_meanwhile_is_played() {
    let workshop = workshop();
    workshop.add("HEAD~1", "HEAD~2", &["--games", "100000"]);
    let _player = workshop.player(&["--concurrency", "2"]);
    until("no game ends", || workshop.games(1) >= 2);
    assert_eq!(workshop.queue(&["pause", "1"]).status.code(), Some(0));
    until("the test plays on", || workshop.state(1) == "paused");
    let games = workshop.games(1);
    workshop.add("HEAD~2", "HEAD~1", &["--games", "4"]);
    until("what was added is not played", || workshop.games(2) == 4);
    assert_eq!(workshop.games(1), games, "a game of a paused test was begun");
    let broken_off = "SELECT count(*) FROM games WHERE state = 'aborted'";
    assert_eq!(workshop.count(broken_off), Some(0), "the running games were finished");
    workshop.queue(&["resume", "1"]);
    until("the test does not go on", || workshop.games(1) > games);
    // The whole queue.
    workshop.queue(&["pause"]);
    until("the queue plays on", || workshop.state(1) == "paused");
    workshop.queue(&["remove", "1"]);
    assert_eq!(workshop.list(), serde_json::json!([]));
    assert!(text(&workshop.queue(&["list"])).contains("the queue is paused"));
    assert_eq!(workshop.history()[0]["state"], "removed");
}

#[test]
fn a_test_of_a_higher_priority_is_played_before_those_that_wait_longer() {
    let workshop = workshop();
    workshop.add("HEAD~1", "HEAD~2", &["--games", "100000"]);
    let _player = workshop.player(&["--concurrency", "2"]);
    until("no game ends", || workshop.games(1) >= 2);
    workshop.add("HEAD~2", "HEAD~1", &["--games", "4", "--priority", "1"]);
    until("the first test has the machine", || workshop.games(2) == 4);
    let games = workshop.games(1);
    until("the first test does not go on", || workshop.games(1) > games);
    workshop.add("HEAD~2", "HEAD~1", &["--games", "2"]);
    assert_eq!(workshop.queue(&["priority", "3", "-5"]).status.code(), Some(0));
    assert_eq!(workshop.queue(&["priority", "1", "-6"]).status.code(), Some(0));
    until("the new priority is not heeded", || workshop.games(3) == 2);
}

#[test]
fn tests_that_are_played_together_have_games_by_their_shares() {
    let workshop = workshop();
    workshop.add("HEAD~1", "HEAD~2", &["--games", "100000", "--share", "300"]);
    workshop.add("HEAD~2", "HEAD~1", &["--games", "100000"]);
    let player = workshop.player(&["--concurrency", "2", "--at-once", "2"]);
    until("no progress", || workshop.games(1) + workshop.games(2) >= 400 && workshop.games(2) > 0);
    player.finish();
    // Of the first 200 games that were begun when both had begun; without shares each would have 100.
    let together = "SELECT min(started_at) FROM games GROUP BY event ORDER BY 1 DESC LIMIT 1";
    let sql = format!(
        "SELECT count(*) FROM (SELECT name FROM games g JOIN events e ON e.id = g.event
                               WHERE started_at >= ({together}) ORDER BY started_at LIMIT 200) WHERE name = 'test-1'"
    );
    let first = workshop.count(&sql).unwrap();
    // On a busy machine the second asks late for some of its games; the turnstile's own tests count to the game.
    assert!((125..200).contains(&first), "three games to one: {first} of 200");
}

#[test]
fn old_tests_keep_their_results_and_lose_their_moves() {
    let workshop = workshop();
    workshop.add("HEAD~1", "HEAD~2", &["--games", "2"]);
    workshop.add("HEAD~2", "HEAD~1", &["--games", "2"]);
    let played = workshop.queue(&["--until-empty", "--oversubscribe", "--keep", "1"]);
    assert_eq!(played.status.code(), Some(0), "{}", text(&played));
    let pruned = |test: u64| {
        let of = format!("FROM games g JOIN events e ON e.id = g.event WHERE e.name = 'test-{test}'");
        workshop.count(&format!("SELECT count(*) {of} AND pruned_at IS NOT NULL"))
    };
    assert_eq!((pruned(1), pruned(2)), (Some(2), Some(0)));
    assert_eq!(workshop.history()[0]["result"]["games"], 2);
}

#[test]
fn what_cannot_be_a_test_is_told_before_it_waits() {
    let workshop = workshop();
    for (words, told) in [
        (&["HEAD", "nowhere"][..], "there is no commit `nowhere`"),
        (&["HEAD", "HEAD"], "both are the commit"),
        (&["HEAD", "HEAD~1", "--time", "byoyomi 60s", "--each", "option.Threads"], "is not KEY=VALUE"),
        (&["HEAD", "HEAD~1", "--db", "x.db"], "and not of `renmei queue add`"),
        (&["HEAD", "HEAD~1", "--hub", "127.0.0.1:0"], "an option of `run`, "),
        (&["HEAD", "HEAD~1", "--http", "127.0.0.1:0"], "`queue`, "),
        (&["HEAD", "HEAD~1", "--openings", "absent.sfen"], "absent.sfen"),
        (&["HEAD", "HEAD~1", "--share", "0"], "it must be at least 1"),
    ] {
        let source = ["--repo", "engine", "--build", BUILD, "--program", "bin/engine"];
        let output = workshop.queue(&[&["add"], words, &source].concat());
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(told), "{told}: {}", text(&output));
    }
    assert!(!workshop.desk.path("tests").exists(), "nothing was made");
    let nowhere = workshop.renmei(&["queue", "nowhere"]);
    assert!(text(&nowhere).contains("there is no queue in `nowhere`"), "{}", text(&nowhere));
    let swapped = workshop.renmei(&["queue", "list"]);
    assert!(
        text(&swapped).contains("renmei queue tests list"),
        "the directory comes first: {}",
        text(&swapped)
    );
    workshop.add("HEAD~1", "HEAD~2", &["--games", "2"]);
    let unknown = workshop.queue(&["pause", "7"]);
    assert!(text(&unknown).contains("there is no test 7"), "{}", text(&unknown));
}

#[test]
fn commits_that_build_the_same_program_are_no_test() {
    let workshop = workshop();
    std::fs::write(workshop.repo().join("README"), "text").unwrap();
    workshop.git(&["checkout", "--quiet", "HEAD~1"]);
    workshop.git(&["add", "--all"]);
    workshop.git(&["commit", "--quiet", "-m", "only words"]);
    workshop.add("HEAD", "HEAD~1", &["--games", "2"]);
    let played = workshop.play_all();
    assert!(text(&played).contains("both commits build the same program"), "{}", text(&played));
    assert_eq!(workshop.state(1), "failed");
}
