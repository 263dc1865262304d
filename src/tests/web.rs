//! An event in the browser: the real program, real sockets, what a viewer and a stranger see.

#![allow(clippy::unwrap_used, missing_docs)]

mod hall;
#[allow(dead_code)]
mod support;
#[cfg(feature = "machines")]
mod wire;

use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use support::{Desk, ended, program};

use testing::PATIENCE;

/// A program with pages, and their address.
struct Pages {
    child: Child,
    address: String,
}

impl Pages {
    fn start(desk: &Desk, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command.current_dir(desk.dir.path()).args(args).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut line, mut said) = (String::new(), String::new());
        while !line.starts_with("pages on http://") {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "there are no pages: {said}");
            said.push_str(&line);
        }
        // Keeps reading its output, so that later writes do not fail on a closed pipe.
        thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let address = line.trim().trim_start_matches("pages on http://").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    /// `renmei web` on the desk's database.
    fn of(desk: &Desk, more: &[&str]) -> Self {
        Self::start(desk, &[&["web", "event.db", "--http", "127.0.0.1:0"], more].concat())
    }

    fn get(&self, path: &str) -> Answer {
        Answer::to(
            &self.address,
            &format!("GET {path} HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n"),
        )
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Asks until the answer is as expected. Most of the time is left to those who are asked.
    fn until(&self, path: &str, expected: impl Fn(&Value) -> bool) -> Value {
        let since = Instant::now();
        loop {
            let asked = Instant::now();
            let answer = self.get(path);
            let json: Value = serde_json::from_str(&answer.body).unwrap_or_default();
            if answer.status == 200 && expected(&json) {
                return json;
            }
            assert!(since.elapsed() < PATIENCE, "{path}: {}", answer.body);
            thread::sleep((4 * asked.elapsed()).clamp(Duration::from_millis(50), Duration::from_secs(1)));
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let _over_already = self.child.kill();
        let _over = self.child.wait();
    }
}

/// An answer of HTTP.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn to(address: &str, request: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let _refused_before = stream.write_all(request.as_bytes());
        let mut bytes = vec![];
        let _reset = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = if head.to_lowercase().contains("transfer-encoding: chunked") {
            unchunked(body)
        } else {
            body.to_owned()
        };
        Self { status, head: head.to_owned(), body }
    }
}

fn unchunked(body: &str) -> String {
    let (mut rest, mut text) = (body, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        text.push_str(&after[..size]);
        rest = after.get(size + 2..).unwrap_or("");
    }
    text
}

/// A viewer of the stream, as a browser's `EventSource`.
struct Viewer {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    /// The id of the last event.
    seen: String,
}

impl Viewer {
    fn new(pages: &Pages, path: &str, seen: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(&pages.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let last = seen.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{last}\r\n")
            .unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        Self { stream, reader, seen: seen.unwrap_or_default().to_owned() }
    }

    /// The next event: its kind and data; `None` when the stream has ended. Lines of chunks are left out.
    fn event(&mut self) -> Option<(String, Value)> {
        let (mut kind, mut line) = (String::new(), String::new());
        let asked = std::time::Instant::now();
        loop {
            assert!(asked.elapsed() < Duration::from_secs(400), "signs of life come, and no event: {line}");
            line.clear();
            if self.reader.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if let Some(word) = line.strip_prefix("event: ") {
                kind = word.trim().to_owned();
            } else if let Some(id) = line.strip_prefix("id: ") {
                self.seen = id.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((kind, serde_json::from_str(data.trim()).unwrap()));
            }
        }
    }

    /// Takes what comes into `games` until as many have ended.
    fn watch(&mut self, games: &mut Games, ended: usize) {
        while games.ended() < ended {
            let (kind, data) = self.event().expect("the stream goes on");
            assert_eq!(kind, "news", "nothing was missed");
            assert_eq!(data["version"], 1, "what programs read the stream by");
            data["items"].as_array().unwrap().iter().for_each(|item| games.take(item));
        }
    }

    fn leave(self) {
        self.stream.shutdown(Shutdown::Both).unwrap();
    }
}

/// What a viewer knows: the moves of each game by ply, and how it ended.
#[derive(Default)]
struct Games(BTreeMap<u64, (BTreeMap<u64, String>, Option<String>)>);

impl Games {
    fn ended(&self) -> usize {
        self.0.values().filter(|(_, end)| end.is_some()).count()
    }

    fn take(&mut self, item: &Value) {
        match item["k"].as_str().unwrap() {
            "s" => {
                let game = self.0.entry(item["game"]["number"].as_u64().unwrap()).or_default();
                for ply in item["game"]["moves"].as_array().unwrap() {
                    game.0.insert(ply["p"].as_u64().unwrap(), ply["m"].as_str().unwrap().to_owned());
                }
                if let Some(cause) = item["game"]["end"]["cause"].as_str() {
                    game.1 = Some(cause.to_owned());
                }
            }
            "m" => {
                let game = self.0.entry(item["g"].as_u64().unwrap()).or_default();
                game.0.insert(item["p"].as_u64().unwrap(), item["m"].as_str().unwrap().to_owned());
            }
            "e" => {
                self.0.entry(item["g"].as_u64().unwrap()).or_default().1 =
                    item["cause"].as_str().map(str::to_owned)
            }
            _ => {}
        }
    }

    /// The games of the first `most` in the database.
    fn stored(desk: &Desk, most: usize) -> BTreeMap<u64, (BTreeMap<u64, String>, Option<String>)> {
        let mut games: BTreeMap<u64, (BTreeMap<u64, String>, Option<String>)> = BTreeMap::new();
        for row in desk.query(&format!("SELECT number, cause FROM games WHERE number <= {most}")) {
            games.entry(row[0].parse().unwrap()).or_default().1 = Some(row[1].clone());
        }
        let moves = "SELECT g.number, m.ply, m.move FROM moves m JOIN games g ON g.id = m.game";
        for row in desk.query(&format!("{moves} WHERE g.number <= {most}")) {
            let game = games.entry(row[0].parse().unwrap()).or_default();
            game.0.insert(row[1].parse().unwrap(), row[2].clone());
        }
        games
    }
}

/// A match of two random movers that is played with pages, and goes on long after the test has seen enough.
fn live(desk: &Desk, more: &[&str]) -> Pages {
    let random = format!("cmd={}", program("renmei-random").display());
    let puppet = format!("cmd={}", program("renmei-puppet").display());
    let mut args = vec!["match", "--db", "event.db", "--engine", &random, "name=a", "option.Seed=3"];
    // A game takes 75 ms, so that viewers see moves of running games, and a process that is held up for seconds finds less
    // than the 256 short games of which viewers are told every move.
    args.extend(["--engine", &puppet, "name=b", "option.Mode=late", "option.Delay=5"]);
    args.extend([
        "--time",
        "300s",
        "--max-moves",
        "30",
        "--concurrency",
        "2",
        "--oversubscribe",
        "--no-dashboard",
    ]);
    args.extend(["--http", "127.0.0.1:0", "--openings", "none"]);
    args.extend(more);
    Pages::start(desk, &args)
}

/// A stored match of two players with these names.
fn stored(desk: &Desk, names: [&str; 2], games: &str) {
    let random = format!("cmd={}", program("renmei-random").display());
    let names = names.map(|name| format!("name={name}"));
    let players: [&[&str]; 2] = [&[&random, &names[0]], &[&random, &names[1], "option.Seed=9"]];
    let played = desk.play(&players, &["--games", games, "--time", "300s", "--max-moves", "40"]);
    assert_eq!(played.code(), Some(0), "{}", played.text());
}

#[test]
fn every_page_of_a_stored_event_answers_and_so_does_its_json() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "6");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 6);
    for path in ["/", "/table", "/games", "/games/1", "/players/0", "/players/1"] {
        let answer = pages.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body.contains("</html>") && answer.body.contains("alpha"), "{path}: {}", answer.body);
    }
    assert_eq!(pages.json("/api/now")["games"].as_array().unwrap().len(), 0);
    let game = pages.json("/api/games/3");
    let stored = desk.query(
        "SELECT g.plies, count(m.ply) FROM games g LEFT JOIN moves m ON m.game = g.id WHERE number = 3",
    );
    assert_eq!(game["end"]["plies"].to_string(), stored[0][0]);
    assert_eq!(game["moves"].as_array().unwrap().len().to_string(), stored[0][1]);
    assert_eq!(pages.json("/api/players/0")["row"]["games"], 6);
    for (path, status) in
        [("/games/99", 404), ("/games/x", 404), ("/games/1.exe", 404), ("/players/9", 404), ("/nothing", 404)]
    {
        assert_eq!(pages.get(path).status, status, "{path}");
    }
}

#[test]
fn the_archive_finds_games_by_player_result_ending_length_day_and_opening() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "8");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 8);
    let total = |query: &str| pages.json(&format!("/api/games?{query}"))["total"].as_u64().unwrap();
    let count = |sql: &str| {
        desk.query(&format!("SELECT count(*) FROM games g WHERE {sql}"))[0][0].parse::<u64>().unwrap()
    };
    assert_eq!(total(""), 8);
    assert_eq!(total("player=ALPH&opponent=beta"), 8);
    assert_eq!(total("player=gamma"), 0);
    for result in ["black", "white", "draw"] {
        assert_eq!(total(&format!("result={result}")), count(&format!("result = '{result}'")), "{result}");
    }
    assert_eq!(total("ending=max-moves"), count("cause = 'max-moves'"));
    assert_eq!(total("least=40"), count("plies >= 40"));
    assert_eq!(total("from=2000-01-01&to=2000-01-02"), 0);
    assert_eq!(total("from=2000-01-01"), 8);
    let first = desk.query("SELECT g.opening_moves || ' ' || m.move FROM games g JOIN moves m ON m.game = g.id WHERE g.number = 1 ORDER BY m.ply")[0][0].clone();
    let first = first.trim().replace(' ', "+").replace("*", "%2A");
    assert!(total(&format!("opening={first}")) >= 1, "{first}");
    assert_eq!(total("opening=9i9h"), 0);
    for wrong in ["least=many", "result=lost", "from=yesterday", "opening=7g7f;", "page=x"] {
        let answer = pages.get(&format!("/api/games?{wrong}"));
        assert_eq!(answer.status, 400, "{wrong}");
        assert!(answer.body.contains("is not "), "{}", answer.body);
    }
}

#[test]
fn a_search_by_an_opening_of_any_length_finds_the_games_that_begin_with_it() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "8");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 8);
    let played = |game: u64| -> Vec<String> {
        let rows = desk.query(&format!(
            "SELECT trim(coalesce(g.opening_moves, '') || ' ' || (SELECT group_concat(move, ' ' ORDER BY ply) FROM moves \
             WHERE game = g.id)) FROM games g WHERE g.number = {game}"
        ));
        rows[0][0].split_whitespace().map(str::to_owned).collect()
    };
    let games: Vec<Vec<String>> = (1..=8).map(played).collect();
    for length in [1, 7, 8, 9, 20] {
        let asked = &games[4][..length];
        let expected = games.iter().filter(|moves| moves.starts_with(asked)).count();
        let query =
            |moves: &[String]| moves.join(" ").replace('+', "%2B").replace('*', "%2A").replace(' ', "+");
        let asked_for = query(asked);
        let found = pages.json(&format!("/api/games?opening={asked_for}"));
        assert_eq!(found["total"], expected, "{asked:?}");
        let mut other = asked.to_vec();
        other[length - 1] = "9i9h+".to_owned();
        let other_for = query(&other);
        assert_eq!(pages.json(&format!("/api/games?opening={other_for}"))["total"], 0, "{other:?}");
    }
}

#[test]
fn an_event_that_is_over_names_its_winner_and_a_page_of_the_archive_has_fifty_games() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "60");
    let pages = Pages::of(&desk, &[]);
    let table = pages.until("/api/table", |table| table["games"] == 60 && table["complete"] == true);
    let points = |row: &Value| row["wins"].as_f64().unwrap() + row["draws"].as_f64().unwrap() / 2.0;
    let rows = table["standings"].as_array().unwrap();
    let outcome = match points(&rows[0]) > points(&rows[1]) {
        true => format!(
            "Winner: {}, {} : {}",
            rows[0]["name"].as_str().unwrap(),
            points(&rows[0]),
            points(&rows[1])
        ),
        false => "drew, 30 : 30".to_owned(),
    };
    for path in ["/", "/table"] {
        let page = pages.get(path).body;
        assert!(page.contains(&outcome), "{path}: {outcome}: {page}");
    }
    let found = pages.json("/api/games");
    assert_eq!((found["total"].as_u64(), found["games"].as_array().unwrap().len()), (Some(60), 50));
    let second = pages.json("/api/games?page=2");
    let numbers: Vec<_> = second["games"].as_array().unwrap().iter().map(|game| &game["number"]).collect();
    assert_eq!(numbers, (1..=10).rev().collect::<Vec<u64>>());
    let list = pages.get("/games/list.txt").body;
    assert_eq!(list.lines().filter(|line| line.starts_with("http")).count(), 60, "{list}");
}

#[test]
fn records_are_those_of_the_export_and_the_list_names_each() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "2");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 2);
    for (format, encoding) in
        [("csa", "utf-8"), ("kif", "Shift_JIS"), ("kifu", "utf-8"), ("jkf", "application/json")]
    {
        let exported = desk.renmei(&["export", "event.db", "--game", "2", "--format", format]).stdout;
        let served = pages.get(&format!("/games/2.{format}"));
        assert_eq!(served.status, 200);
        assert!(served.head.contains(encoding), "{}", served.head);
        assert_eq!(served.body, String::from_utf8_lossy(&exported), "{format}");
    }
    let list = pages.get("/games/list.txt").body;
    let lines: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 4, "{list}");
    assert!(lines[0].contains("alpha") && lines[0].contains("beta"), "{list}");
    assert_eq!(lines[1], "http://localhost:8080/games/2.csa");
}

#[test]
fn the_stream_of_a_running_event_equals_the_store() {
    let desk = Desk::new();
    let pages = live(&desk, &["--games", "2000"]);
    let now = pages.until("/api/now", |now| now["since"].as_str().is_some());
    let mut games = Games::default();
    let mut viewer = Viewer::new(&pages, "/events?since=0-0-0", None);
    viewer.watch(&mut games, 20);
    // Every game that is over for the viewer is as it is stored, to the last move.
    let over: Vec<u64> =
        games.0.iter().filter(|(_, (_, end))| end.is_some()).map(|(number, _)| *number).collect();
    let stored = Games::stored(&desk, usize::try_from(*over.last().unwrap()).unwrap());
    over.iter()
        .for_each(|number| assert_eq!(games.0[number], stored[number], "game {number}, began at {now}"));
}

#[test]
fn a_viewer_who_returns_misses_nothing_even_after_a_new_start_of_the_program() {
    let desk = Desk::new();
    let pages = live(&desk, &["--games", "2000"]);
    let mut games = Games::default();
    let mut viewer = Viewer::new(&pages, "/events?since=0-0-0", None);
    viewer.watch(&mut games, 4);
    let seen = viewer.seen.clone();
    viewer.leave();
    // Much is played meanwhile.
    let before = games.ended();
    let mut other = Viewer::new(&pages, "/events?since=0-0-0", None);
    other.watch(&mut Games::default(), before + 8);
    other.leave();
    let mut viewer = Viewer::new(&pages, "/events", Some(&seen));
    viewer.watch(&mut games, before + 8);
    let seen = viewer.seen.clone();
    drop(pages);
    // Another process shows the same event; nothing of the first one's memory is left.
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/now", |now| now["games"].is_array());
    let count = desk.query("SELECT count(*) FROM games WHERE ended_at IS NOT NULL")[0][0].parse().unwrap();
    let mut viewer = Viewer::new(&pages, "/events", Some(&seen));
    viewer.watch(&mut games, count);
    let stored = Games::stored(&desk, usize::MAX >> 1);
    for (number, game) in
        stored.iter().filter(|(_, (_, end))| end.as_deref().is_some_and(|end| !end.is_empty()))
    {
        assert_eq!(games.0.get(number), Some(game), "game {number}");
    }
}

#[test]
fn a_viewer_who_reads_nothing_holds_up_neither_the_games_nor_the_others() {
    let desk = Desk::new();
    let pages = live(&desk, &["--games", "2000"]);
    let mut deaf = TcpStream::connect(&pages.address).unwrap();
    socket2::SockRef::from(&deaf).set_recv_buffer_size(2048).unwrap();
    deaf.write_all(b"GET /events?since=0-0-0 HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut viewer = Viewer::new(&pages, "/events?since=0-0-0", None);
    viewer.watch(&mut Games::default(), 60);
    assert!(pages.get("/api/now").status == 200, "others are served");
}

#[test]
fn hostile_names_are_text_on_every_page_and_scripts_come_from_files_only() {
    const HOSTILE: &str = "<img src=x onerror=alert(1)>";
    let desk = Desk::new();
    stored(&desk, [HOSTILE, "</script><u>"], "2");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 2);
    let embeds = ["/embed", "/embed?game=1&rotate=5&clear=true"];
    for path in
        ["/", "/table", "/games", "/games/1", "/players/0", "/games?player=%3Cimg"].into_iter().chain(embeds)
    {
        let answer = pages.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.body.contains("<img") && !answer.body.contains("<u>"), "{path}: {}", answer.body);
        assert!(!answer.body.contains(" style=\"") && !answer.body.contains(" onclick"), "{path}");
        let policy = answer.head.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap();
        assert!(
            policy.contains("default-src 'none'")
                && policy.contains("script-src 'self'")
                && !policy.contains("unsafe"),
            "{policy}"
        );
        // Other sites may have one page in a frame, and that has nothing to click on.
        let frames = if embeds.contains(&path) { "frame-ancestors *" } else { "frame-ancestors 'none'" };
        assert!(policy.contains(frames), "{path}: {policy}");
        let orders = answer.body.contains("<a ") || answer.body.contains("<form");
        assert!(!embeds.contains(&path) || !orders, "{path}: {}", answer.body);
        assert!(answer.head.contains("x-content-type-options: nosniff"), "{}", answer.head);
        for script in answer.body.split("<script").skip(1) {
            let tag = script.split('>').next().unwrap();
            assert!(
                tag.contains("src=\"/static/") || tag.contains("type=\"application/json\""),
                "{path}: {tag}"
            );
        }
        for address in ["http:", "https:", "//cdn"] {
            let elsewhere = answer.body.replace("http://www.w3.org/2000/svg", "");
            assert!(!elsewhere.contains(address), "{path} names {address}");
        }
    }
    for strange in
        ["/embed?game=x", "/embed?rotate=-1", "/embed?clear=%3Cimg", "/embed?game=99999999999999999999"]
    {
        let refused = pages.get(strange);
        assert!(refused.status == 400 && !refused.body.contains("<img"), "{strange}: {}", refused.body);
    }
    let record = pages.get("/games/1.csa");
    assert!(record.head.contains("text/plain"), "no browser shows a record as a page: {}", record.head);
}

#[test]
fn pages_are_in_the_language_and_the_colours_that_were_chosen() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "2");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 2);
    let page = |more: &str| {
        let request = format!("GET /table HTTP/1.1\r\nHost: localhost\r\n{more}Connection: close\r\n\r\n");
        Answer::to(&pages.address, &request).body
    };
    assert!(page("").contains("lang=\"en\"") && page("").contains("Standings"));
    assert!(page("Accept-Language: ja,en;q=0.5\r\n").contains("順位"));
    assert!(page("Accept-Language: ja\r\nCookie: lang=en; theme=dark\r\n").contains("/static/dark.css"));
    let chosen = pages.get("/prefs?lang=ja&back=/table");
    assert_eq!(chosen.status, 303);
    assert!(chosen.head.contains("lang=ja") && chosen.head.contains("location: /table"), "{}", chosen.head);
    assert!(pages.get("/prefs?lang=ja&back=//evil.example").head.contains("location: /\r\n"));
}

#[test]
fn private_games_are_on_no_page_and_in_no_list() {
    let desk = Desk::new();
    stored(&desk, ["secret", "beta"], "2");
    let pages = Pages::of(&desk, &["--private", "sec*"]);
    pages.until("/api/table", |table| table["games"] == 2);
    assert_eq!(pages.json("/api/games")["total"], 0);
    for path in ["/games/1", "/games/1.csa", "/api/games/1"] {
        assert_eq!(pages.get(path).status, 404, "{path}");
    }
    assert!(!pages.get("/games/list.txt").body.contains("games/1.csa"));
    assert_eq!(pages.get("/api/rounds").body, "[]");
    assert_eq!(pages.json("/api/players/0")["games"], serde_json::json!([]));
    assert_eq!(pages.json("/api/now")["games"], serde_json::json!([]));
    assert_eq!(pages.json("/api/table")["failures"], serde_json::json!([]));
}

#[test]
fn games_stay_private_when_the_place_of_their_player_is_given_to_a_substitute() {
    let desk = Desk::new();
    stored(&desk, ["secret", "beta"], "2");
    let conn = rusqlite::Connection::open(desk.path("event.db")).unwrap();
    let swapped = "UPDATE players SET name = 'public' WHERE name = 'secret';
         INSERT INTO operations (event, seq, at, number, by_, reason, action, words, details)
         SELECT 1, max(seq) + 1, 9000000000000, 1, 'kai', 'ill', 'swapped', '',
         '{\"action\":\"swapped\",\"player\":0,\"out\":\"secret\",\"substitute\":\"public\"}' FROM log";
    conn.execute_batch(swapped).unwrap();
    drop(conn);
    let pages = Pages::of(&desk, &["--private", "sec*"]);
    pages.until("/api/table", |table| table["games"] == 2);
    assert_eq!(pages.json("/api/games")["total"], 0);
    for path in ["/games/1", "/games/1.csa", "/games/1.kif", "/api/games/1"] {
        assert_eq!(pages.get(path).status, 404, "{path}");
    }
    assert_eq!(pages.get("/api/rounds").body, "[]");
}

#[test]
fn the_last_results_are_a_feed() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "<b>eta"], "2");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 2);
    let feed = pages.get("/feed.xml");
    assert!(feed.status == 200 && feed.head.contains("application/atom+xml"), "{}", feed.head);
    assert_eq!(feed.body.matches("<entry>").count(), 2, "{}", feed.body);
    assert!(
        feed.body.contains("http://localhost:8080/games/2") && !feed.body.contains("<b>"),
        "{}",
        feed.body
    );
}

#[test]
fn a_game_that_is_private_by_its_game_id_is_in_no_round_either() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "2");
    let named = desk.path("event.db");
    let conn = rusqlite::Connection::open(named).unwrap();
    conn.execute("INSERT INTO game_names (event, number, name) VALUES (1, 1, 'hush+1')", []).unwrap();
    drop(conn);
    let pages = Pages::of(&desk, &["--private", "hush+*"]);
    pages.until("/api/table", |table| table["games"] == 2);
    assert_eq!(pages.json("/api/games")["total"], 1);
    assert_eq!(pages.json("/api/rounds")[0]["encounters"][0]["games"], serde_json::json!([2]));
}

#[test]
fn rounds_and_tables_have_the_points_of_the_event() {
    let desk = Desk::new();
    let text = format!(
        "[event]\nname = 'points'\ngames = 1\n[time]\nbyoyomi = '10s'\n[scoring]\n\
         draw = {{ black = 0.4, white = 0.6 }}\n[defaults]\ncommand = '{}'\noptions = {{ Mode = 'king' }}\n\
         [[engines]]\nname = 'first'\n[[engines]]\nname = 'second'\n[[engines]]\nname = 'third'\n",
        program("renmei-puppet").display()
    );
    let file = desk.write("event.toml", &text).display().to_string();
    let played = desk.renmei(&["run", &file, "--db", &desk.db().display().to_string(), "--oversubscribe"]);
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 3);
    let rounds = pages.json("/api/rounds");
    let encounters =
        rounds.as_array().unwrap().iter().flat_map(|round| round["encounters"].as_array().unwrap());
    for met in encounters {
        let black = desk.query(&format!("SELECT black FROM games WHERE number = {}", met["games"][0]));
        let mut points = [0.6, 0.6];
        let is_black = met["players"][0].as_u64() == black[0][0].parse().ok();
        points[usize::from(!is_black)] = 0.4;
        assert_eq!(met["points"], serde_json::json!(points), "{met}");
    }
    assert!(pages.get("/rounds").body.contains("<b>0.4</b>"));
    let table = pages.get("/table").body;
    assert!(table.contains("0.6/1") && table.contains("0.4/1"), "{table}");
}

#[test]
fn rounds_have_colours_and_byes() {
    let desk = Desk::new();
    desk.write("cup.csv", "round,black,white,result\n1,a,b,1-0\n1,c,bye,1\n2,c,a,1/2-1/2\n2,b,bye,0.5\n");
    let imported = desk.renmei(&["import", "cup.csv", "--db", "event.db"]);
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 2);
    let rounds = pages.json("/api/rounds");
    assert_eq!(
        rounds[0]["byes"],
        serde_json::json!([{"player": 2, "name": "c", "points": 1.0, "half": false}])
    );
    assert_eq!(rounds[1]["encounters"][0]["blacks"], serde_json::json!([0, 1]));
    let table = pages.get("/rounds/table").body;
    let [straight, turned] =
        [r#"div class="straight""#, r#"div class="turned""#].map(|at| table.find(at).unwrap());
    let lines = [&table[straight..turned], &table[turned..]];
    let of_a = |table: &str| table.split("</tr>").find(|row| row.contains(">a</a>")).unwrap().to_owned();
    let [straight, turned] = lines.map(of_a);
    let at = |row: &str, cell: &str| row.find(cell).unwrap();
    assert!(straight.contains("/players/0") && at(&straight, "b+<") < at(&straight, "w=<"), "{straight}");
    assert!(at(&turned, "w=<") < at(&turned, "b+<"), "the last round first: {turned}");
    assert!(table.contains(">bye<") && table.contains(">bye=<"), "{table}");
    let page = pages.get("/rounds").body;
    assert!(page.contains("href=\"/rounds/table\""), "{page}");
    assert!(page.contains("☗a") && page.contains("☖b") && page.contains("☗c"), "{page}");
    assert!(page.matches("round current").count() == 1 && page.contains("bye"), "{page}");
}

#[test]
fn games_of_a_disqualified_player_are_shown_and_count_nowhere() {
    let desk = Desk::new();
    desk.write(
        "cup.csv",
        "round,black,white,result\n1,a,b,1-0\n1,c,bye,1\n2,c,a,1/2-1/2\n3,b,c,1-0\n3,a,bye,1\n",
    );
    let done = |args: &[&str]| {
        let done = desk.renmei(args);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    done(&["import", "cup.csv", "--db", "event.db"]);
    done(&["admin", "event.db", "disqualify", "a", "--reason", "another program"]);
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 1);
    let rounds = pages.json("/api/rounds");
    let met = |round: usize| {
        let met = &rounds[round]["encounters"][0];
        (met["games"].clone(), met["points"].clone(), met["counts"].clone())
    };
    let shown = [(1, [0.0, 0.0], false), (2, [0.0, 0.0], false), (3, [1.0, 0.0], true)];
    let shown = shown.map(|(game, points, counts)| {
        let game = serde_json::json!([game]);
        (game, serde_json::json!(points), serde_json::json!(counts))
    });
    assert_eq!([0, 1, 2].map(met), shown);
    assert_eq!(rounds[2]["byes"], serde_json::json!([]));
    assert_eq!(pages.get("/rounds").body.matches("not counted").count(), 2);
    let games = pages.json("/api/games");
    let counts = |game: &serde_json::Value| game["counts"] == true;
    assert_eq!(games["games"].as_array().unwrap().iter().filter(|game| counts(game)).count(), 1);
    assert_eq!(pages.json("/api/games/1")["end"]["counts"], false);
    done(&["report", "event.db", "--rounds", "out.tsv"]);
    let lines = std::fs::read_to_string(desk.path("out.tsv")).unwrap();
    assert!(lines.contains("\na\t-\t-\t0.0\n") && lines.matches('+').count() == 1, "{lines}");
    let ledger: serde_json::Value = serde_json::from_str(&done(&["ledger", "event.db", "--json"])).unwrap();
    assert_eq!(ledger["counts"]["games"], 1, "{ledger}");
}

#[test]
fn the_pages_of_a_match_stay_after_its_end_as_long_as_it_was_asked_for() {
    let desk = Desk::new();
    let mut pages = live(&desk, &["--games", "2", "--http-linger", "forever"]);
    pages.until("/api/now", |now| now["closed"] == true);
    // The event is over for everybody else, too: its database can be read to its seal, and played on.
    let since = Instant::now();
    while !desk.renmei(&["verify", "event.db"]).status.success() {
        assert!(since.elapsed() < PATIENCE, "the event is not sealed");
    }
    assert_eq!(pages.get("/table").status, 200);
    let process = nix::unistd::Pid::from_raw(i32::try_from(pages.child.id()).unwrap());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(ended(&mut pages.child).code(), Some(0), "the exit code is that of the event");
    // Without a terminal and without a wish they end with the event.
    let mut pages = live(&desk, &["--games", "4"]);
    assert_eq!(ended(&mut pages.child).code(), Some(0));
}

#[test]
fn viewers_are_so_many_moves_behind_also_in_the_record() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let puppet = format!("cmd={}", program("renmei-puppet").display());
    // The second player never moves, so that the game stays where it is.
    let text = format!(
        "[event]\nname = \"e\"\ndatabase = \"event.db\"\nlook = false\n[http]\nlisten = [\"127.0.0.1:0\"]\ndelay = \"1 move\"\n\
         [time]\nmain = \"600s\"\n[[engines]]\nname = \"a\"\ncommand = \"{}\"\n[[engines]]\nname = \"b\"\ncommand = \"{}\"\n\
         options = {{ Mode = \"{}\" }}\n",
        random.trim_start_matches("cmd="),
        puppet.trim_start_matches("cmd="),
        "hang"
    );
    desk.write("delayed.toml", &text);
    let pages = Pages::start(&desk, &["run", "delayed.toml", "--no-dashboard", "--oversubscribe"]);
    pages.until("/api/now", |now| now["games"].as_array().is_some_and(|games| !games.is_empty()));
    let since = Instant::now();
    while desk.try_query("SELECT count(*) FROM moves").is_none_or(|rows| rows[0][0] == "0") {
        assert!(since.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(50));
    }
    // The move is in the database; whoever looks a little later does not see it either.
    thread::sleep(Duration::from_millis(1000));
    assert_eq!(pages.json("/api/games/1")["moves"].as_array().unwrap().len(), 0);
    assert!(!pages.get("/games/1.csa").body.contains("\nT"), "{}", pages.get("/games/1.csa").body);
}

/// An event that goes on: four games end by an illegal move at once, and in the others a player thinks and thinks.
fn event_with_an_end(desk: &Desk, delay: &str) -> Pages {
    let [random, puppet] = ["renmei-random", "renmei-puppet"].map(|name| program(name).display().to_string());
    let player = |name: &str, mode: &str| {
        format!(
            "[[engines]]\nname = \"{name}\"\ncommand = \"{puppet}\"\noptions = {{ Mode = \"{mode}\", Ply = 7 }}\n"
        )
    };
    let (nifu, hang) = (player("b", "nifu"), player("c", "hang"));
    let text = format!(
        "[event]\nname = \"e\"\ndatabase = \"event.db\"\nlook = false\ngames = 2\nconcurrency = 6\n\
         [http]\nlisten = [\"127.0.0.1:0\"]\ndelay = \"{delay}\"\n[time]\nmain = \"600s\"\n\
         [[engines]]\nname = \"a\"\ncommand = \"{random}\"\n{nifu}{hang}"
    );
    desk.write("delayed.toml", &text);
    let pages = Pages::start(desk, &["run", "delayed.toml", "--no-dashboard", "--oversubscribe"]);
    let since = Instant::now();
    let failed = "SELECT count(*) FROM games WHERE cause LIKE 'illegal-move%'";
    while desk.try_query(failed).is_none_or(|rows| rows[0][0] == "0") {
        assert!(since.elapsed() < PATIENCE, "a game ends by an illegal move");
        thread::sleep(Duration::from_millis(50));
    }
    pages
}

#[test]
fn a_game_whose_start_is_held_back_is_at_no_route() {
    let desk = Desk::new();
    let pages = event_with_an_end(&desk, "1h");
    pages.until("/api/table", |table| table["games"].is_u64());
    for row in desk.query("SELECT number FROM games") {
        let number = &row[0];
        for path in ["/games/N", "/games/N.csa", "/games/N.kif", "/games/N.jkf", "/api/games/N"] {
            let answer = pages.get(&path.replace('N', number));
            assert_eq!(answer.status, 404, "{path} {number}: {}", answer.body);
        }
    }
    assert_eq!(pages.json("/api/now")["games"], serde_json::json!([]));
    assert_eq!(pages.json("/api/games")["total"], 0);
    assert_eq!(pages.json("/api/rounds"), serde_json::json!([]));
    let table = pages.json("/api/table");
    assert_eq!((&table["games"], &table["failures"]), (&0.into(), &serde_json::json!([])), "{table}");
    assert_eq!(pages.json("/api/machines")[0]["games"], 0);
    for path in ["/", "/table", "/rounds", "/games", "/games/list.txt", "/feed.xml"] {
        let body = pages.get(path).body;
        assert!(!body.contains("/games/1") && !body.contains("nifu"), "{path}: {body}");
    }
    for path in ["/events?since=0-0-0", "/events?since=0-0-0&game=1"] {
        let told = Viewer::new(&pages, path, None).event().unwrap();
        assert_eq!((told.0.as_str(), &told.1["items"]), ("news", &serde_json::json!([])), "{path}");
    }
    // The same event with a shorter delay: its start was released long ago.
    let sooner = Pages::of(&desk, &["--delay", "1s"]);
    let found = sooner.until("/api/games", |found| found["total"].as_u64() > Some(0));
    let number = &found["games"][0]["number"];
    assert_eq!(sooner.get(&format!("/games/{number}")).status, 200);
    sooner.until("/api/table", |table| table["failures"].as_array().is_some_and(|list| !list.is_empty()));
}

#[test]
fn a_ruling_is_on_the_page_of_its_game_in_the_language_of_the_reader() {
    let desk = Desk::new();
    let pages = event_with_an_end(&desk, "1s");
    let over = &desk.query("SELECT min(number) FROM games WHERE cause LIKE 'illegal-move%'")[0][0];
    let ruled = desk.renmei(&["admin", "event.db", "rule", over, "draw", "--reason", "two machines"]);
    assert!(ruled.status.success(), "{ruled:?}");
    pages.until(&format!("/api/games/{over}"), |game| game["remarks"].is_array());
    let page = |language: &str| {
        let request = format!(
            "GET /games/{over} HTTP/1.1\r\nHost: localhost\r\nAccept-Language: {language}\r\nConnection: close\r\n\r\n"
        );
        let body = Answer::to(&pages.address, &request).body;
        body.split_once("<ul id=\"remarks\">").unwrap().1.split_once("</ul>").unwrap().0.to_owned()
    };
    let (english, japanese) = (page("en"), page("ja"));
    assert!(english.contains("ruled game") && english.contains("two machines"), "{english}");
    assert!(japanese.contains("裁定") && !japanese.contains("ruled"), "{japanese}");
}

#[test]
fn another_site_reads_nothing_of_pages_that_are_for_this_machine() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "2");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 2);
    let port = pages.address.rsplit(':').next().unwrap();
    let ask = |path: &str, host: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
        Answer::to(&pages.address, &request)
    };
    for path in ["/", "/api/table", "/games/1.csa", "/games/list.txt", "/events", "/static/live.js"] {
        let rebound = ask(path, "evil.example");
        assert_eq!(rebound.status, 421, "{path}: {}", rebound.body);
        assert!(rebound.body.contains("these pages are for this machine alone"), "{}", rebound.body);
    }
    for path in ["/api/table", "/games/1.csa", "/games/list.txt"] {
        for host in ["localhost", "127.0.0.1", "192.0.2.7"] {
            let own = ask(path, host);
            assert_eq!(own.status, 200, "{path} {host}");
            assert!(!own.head.to_lowercase().contains("access-control-allow-origin"), "{path}: {}", own.head);
        }
    }
}

#[test]
fn every_refusal_of_a_program_is_json() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "2");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 2);
    let port = pages.address.rsplit(':').next().unwrap().to_owned();
    let ask = |method: &str, path: &str, host: &str| {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        Answer::to(&pages.address, &request)
    };
    let is_json = |answer: &Answer, status: u16| {
        assert_eq!(answer.status, status, "{}", answer.body);
        assert!(answer.head.to_lowercase().contains("content-type: application/json"), "{}", answer.head);
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        assert!(body["error"].as_str().is_some_and(|words| !words.is_empty()), "{}", answer.body);
    };
    for (method, path, host, status) in [
        ("GET", "/api/nothing", "localhost", 404),
        ("GET", "/api/games/99", "localhost", 404),
        ("GET", "/api/games?page=x", "localhost", 400),
        ("GET", "/api/games?page=1&page=2", "localhost", 400),
        ("GET", "/api/games/%FF", "localhost", 400),
        ("POST", "/api/now", "localhost", 405),
        ("GET", "/api/now", "evil.example", 421),
    ] {
        is_json(&ask(method, path, host), status);
    }
    let held: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(&pages.address).unwrap()).collect();
    is_json(&ask("GET", "/api/now", "localhost"), 503);
    drop(held);
    let since = Instant::now();
    let mut refused = ask("GET", "/api/now", "localhost");
    while refused.status != 429 {
        assert!(since.elapsed() < PATIENCE, "nobody asks without end");
        let asks = "GET /api/now HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(300);
        let mut stream = TcpStream::connect(&pages.address).unwrap();
        let _refused_before = stream.write_all(asks.as_bytes());
        refused = ask("GET", "/api/now", "localhost");
    }
    is_json(&refused, 429);
}

#[test]
fn strangers_who_ask_too_much_are_refused_with_a_sentence() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "2");
    let pages = Pages::of(&desk, &[]);
    pages.until("/api/table", |table| table["games"] == 2);
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000));
    // Hanging up on what is still sent may overtake the answer (0).
    assert!([414, 431, 0].contains(&Answer::to(&pages.address, &long).status));
    // All at once, so that it does not matter how fast they are answered.
    let mut stream = TcpStream::connect(&pages.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut sender = stream.try_clone().unwrap();
    let asks = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(3000);
    let sending = thread::spawn(move || drop(sender.write_all(asks.as_bytes())));
    let (mut said, mut chunk) = (String::new(), [0; 4096]);
    while !said.contains("too many requests from your address") {
        let read = stream.read(&mut chunk).unwrap();
        assert!(read > 0, "nobody asks without end");
        said = said.split_off(said.floor_char_boundary(said.len().saturating_sub(200)));
        said.push_str(&String::from_utf8_lossy(&chunk[..read]));
    }
    stream.shutdown(Shutdown::Both).unwrap();
    sending.join().unwrap();
    thread::sleep(Duration::from_secs(2));
    let held: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(&pages.address).unwrap()).collect();
    let refused = pages.get("/api/now");
    assert_eq!(refused.status, 503, "{}", refused.head);
    assert!(refused.body.contains("too many connections from your address"), "{}", refused.body);
    drop(held);
    pages.until("/api/now", |now| now["games"].is_array());
}
