//! The arbiter's page and the registration, in the real program: what they do, and what strangers try.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "arbiter/appeals.rs"]
mod appeals;
#[path = "arbiter/over_tls.rs"]
mod over_tls;
#[path = "arbiter/private_games.rs"]
mod private_games;
#[allow(dead_code)]
mod support;

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    iter,
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};
use support::{Desk, ended};

use testing::PATIENCE;
const HERE: [u8; 4] = [127, 0, 0, 1];
/// A proxy that is trusted; whoever it names is somewhere else.
const PROXY: [u8; 4] = [127, 0, 0, 9];
const PASSWORD: &str = "a-long-password";

/// A league with pages, and its accounts.
struct League {
    desk: Desk,
    child: Child,
    pages: SocketAddr,
    players: SocketAddr,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn cookie(&self) -> Option<String> {
        let line = self.head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("set-cookie").then_some(value)
        })?;
        line.split(';').next().map(str::to_owned)
    }
}

impl League {
    fn start(login: &str) -> Self {
        Self::with(login, "")
    }

    /// A league with further keys of its pages, or with an event: `[event]` and what belongs to it.
    fn with(login: &str, keys: &str) -> Self {
        let desk = Desk::new();
        let (place, keys) = match keys.strip_prefix("[event]\n") {
            Some(event) => ("", format!("[event]\ndatabase = \"event.db\"\n{event}")),
            None => ("database = \"event.db\"\n", keys.to_owned()),
        };
        desk.write(
            "league.toml",
            &format!(
                "[serve]\n{place}login = \"{login}\"\nlisten = [\"127.0.0.1:0\"]\n\
                 [http]\nlisten = [\"127.0.0.1:0\"]\ntrusted_proxies = [\"127.0.0.9\"]\n{keys}"
            ),
        );
        for (name, role) in [("kai", "arbiter"), ("ope", "operator")] {
            account(&desk, name, role, PASSWORD);
        }
        let log = fs::File::create(desk.path("log.txt")).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_renmei"))
            .current_dir(desk.dir.path())
            .args(["serve", "league.toml", "--no-dashboard", "--http-linger", "forever"])
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let nowhere = SocketAddr::from((HERE, 1));
        let mut league = Self { desk, child, pages: nowhere, players: nowhere };
        let patience = Instant::now() + PATIENCE;
        loop {
            let log = fs::read_to_string(league.desk.path("log.txt")).unwrap();
            let after = |words: &str| {
                let line = log.lines().find_map(|line| line.strip_prefix(words))?;
                line.trim_end_matches('/').parse::<SocketAddr>().ok()
            };
            if let (Some(pages), Some(players)) = (after("pages on http://"), after("listening on ")) {
                (league.pages, league.players) = (pages, players);
                return league;
            }
            assert!(Instant::now() < patience && league.child.try_wait().unwrap().is_none(), "{log}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Connects to the pages.
    fn connect(&self, from: [u8; 4]) -> TcpStream {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
        socket.connect(&self.pages.into()).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn ask(&self, from: [u8; 4], method: &str, path: &str, more: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = self.connect(from);
        let pages = self.pages.to_string();
        let length = body.len().to_string();
        let mut headers = BTreeMap::from([
            ("host", pages.as_str()),
            ("connection", "close"),
            ("content-type", "application/x-www-form-urlencoded"),
            ("content-length", length.as_str()),
        ]);
        headers.extend(more.iter().copied());
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        stream.write_all(format!("{method} {path} HTTP/1.1\r\n{lines}\r\n{body}").as_bytes()).unwrap();
        let mut text = vec![];
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Logs in, again where a busy machine does not come to check the password in time: that counts for nothing.
    fn log_in(&self, from: [u8; 4], name: &str, password: &str, more: &[(&str, &str)]) -> Answer {
        let mut tries = iter::repeat_with(|| self.try_log_in(from, name, password, more));
        tries.find(|answer| answer.status != 408).unwrap()
    }

    fn try_log_in(&self, from: [u8; 4], name: &str, password: &str, more: &[(&str, &str)]) -> Answer {
        let body = form(&[("name", name), ("password", password)]);
        self.ask(from, "POST", "/arbiter/login", more, &body)
    }

    /// Logs in here.
    fn signed(&self, name: &str) -> Signed<'_> {
        let answer = self.log_in(HERE, name, PASSWORD, &[]);
        assert_eq!(answer.status, 303, "{}", answer.body);
        assert!(answer.head.contains("HttpOnly; SameSite=Strict"), "{}", answer.head);
        let mut signed = Signed { league: self, cookie: answer.cookie().unwrap(), csrf: String::new() };
        let page = signed.page();
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").expect("a form with a token");
        signed.csrf = rest.split('"').next().unwrap().to_owned();
        signed
    }

    fn operations(&self) -> Vec<String> {
        let rows =
            self.desk.query("SELECT by_ || ': ' || words || ' / ' || reason FROM operations ORDER BY seq");
        rows.into_iter().map(|row| row.concat()).collect()
    }

    fn player(&self) -> Player {
        let stream = TcpStream::connect(self.players).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Player(BufReader::new(stream))
    }
}

impl Drop for League {
    fn drop(&mut self) {
        let _over_already = self.child.kill();
        let _over = self.child.wait();
    }
}

/// A browser in which somebody is logged in.
struct Signed<'a> {
    league: &'a League,
    cookie: String,
    csrf: String,
}

impl Signed<'_> {
    fn page(&self) -> String {
        let answer = self.league.ask(HERE, "GET", "/arbiter", &[("cookie", &self.cookie)], "");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    /// The page, once it has something.
    fn page_with(&self, what: &str) -> String {
        let since = Instant::now();
        loop {
            let page = self.page();
            if page.contains(what) {
                return page;
            }
            assert!(since.elapsed() < PATIENCE, "{page}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let fields = [&[("csrf", self.csrf.as_str())], fields].concat();
        self.league.ask(HERE, "POST", path, &[("cookie", &self.cookie)], &form(&fields))
    }

    /// Orders something that is done; returns the page after it.
    fn orders(&self, command: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.send("/arbiter/do", &[&[("command", command)], fields].concat());
        assert_eq!(answer.status, 303, "{command}: {}", answer.body);
        self.page()
    }
}

struct Player(BufReader<TcpStream>);

impl Player {
    fn say(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn until(&mut self, beginning: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the connection ended before `{beginning}`");
            if line.starts_with(beginning) {
                return line.trim_end().to_owned();
            }
        }
    }
}

fn form(fields: &[(&str, &str)]) -> String {
    let value = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    fields.iter().map(|(name, text)| format!("{name}={}", value(text))).collect::<Vec<_>>().join("&")
}

fn account(desk: &Desk, name: &str, role: &str, password: &str) {
    let mut add = Command::new(env!("CARGO_BIN_EXE_renmei"));
    add.current_dir(desk.dir.path())
        .args(["account", "web", "add", name, "--role", role, "--db", "event.db"]);
    let mut add = add.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    add.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes()).unwrap();
    assert!(ended(&mut add).success());
}

#[test]
fn an_arbiter_runs_the_day_from_the_page_and_each_action_is_on_record() {
    let league = League::start("open");
    let kai = league.signed("kai");
    let mut watcher = league.player();
    watcher.say("LOGIN watcher x x1");
    watcher.until("##[LOGIN] +OK");
    let mut players = ["+", "-"].map(|color| {
        let mut player = league.player();
        let name = if color == "+" { "sente" } else { "gote" };
        player.say(&format!("LOGIN {name} x x1"));
        player.until("##[LOGIN] +OK");
        player.say(&format!("%%GAME t-600-10 {color}"));
        player
    });
    for player in &mut players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    players.iter_mut().for_each(|player| drop(player.until("START:")));
    // The page knows of the game after it was committed, which is after the players do.
    let page = kai.page_with("/games/1");
    assert!(page.contains("sente"), "{page}");
    let page = kai.orders("announce", &[("text", "lunch at noon")]);
    assert!(page.contains("announced: lunch at noon"), "{page}");
    assert_eq!(watcher.until("##[OPERATOR]"), "##[OPERATOR] lunch at noon");
    let unruled = kai.send("/arbiter/do", &[("command", "rule"), ("game", "1"), ("result", "black")]);
    assert_eq!(unruled.status, 409, "a ruling wants a reason: {}", unruled.body);
    kai.orders("rule", &[("game", "1"), ("result", "white"), ("reason", "sente used a phone")]);
    players.iter_mut().for_each(|player| drop(player.until("#")));
    kai.orders("ban", &[("whom", "sente"), ("reason", "phone")]);
    let page = kai.orders("pause", &[("reason", "lunch")]);
    assert!(page.contains("no new game begins"), "{page}");
    let number = league.desk.query("SELECT number FROM operations WHERE action = 'banned'").concat().concat();
    let page = kai.orders("undo", &[("number", &number), ("reason", "it was a watch")]);
    assert!(page.contains("taken back"), "{page}");
    kai.orders("resume", &[]);
    let said = league.operations().join("\n");
    for words in [
        "kai (arbiter on the page): announced: lunch at noon",
        "kai (arbiter on the page): ruled game 1",
        "/ sente used a phone",
        "kai (arbiter on the page): banned `sente` / phone",
        "kai (arbiter on the page): unbanned `sente` / it was a watch",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let result = league.desk.query("SELECT result || ' ' || cause FROM games").concat();
    assert_eq!(result, ["white ruling"]);
}

#[test]
fn points_are_taken_and_players_withdrawn_on_the_page_of_an_event() {
    let entrants: String =
        ["ari", "buri", "kani"].map(|name| format!("[[engines]]\nname = '{name}'\nremote = true\n")).concat();
    let event = "[event]\nname = 'cup'\nformat = 'swiss'\nrounds = 2\ngames = 1\n[time]\nbyoyomi = '10s'\n";
    let league = League::with("accounts", &format!("{event}{entrants}"));
    let kai = league.signed("kai");
    // The page has orders for the next round once the first one is paired.
    let page = kai.page_with("Pair in the next round");
    let withdraws = |page: &str| page.matches("value=\"withdraw\"").count();
    assert_eq!(
        (withdraws(&page), page.contains("value=\"return\"")),
        (3, false),
        "each entrant is listed: {page}"
    );
    assert!(page.contains("value=\"penalty\""), "{page}");
    kai.orders("pair", &[("black", "kani"), ("white", "buri")]);
    assert_eq!(page.matches("value=\"bye\"").count(), 3, "{page}");
    let order = |command, fields: &[(&str, &str)]| {
        kai.send("/arbiter/do", &[&[("command", command)], fields].concat())
    };
    let named = |reason| [("player", "buri"), ("points", "0.5"), ("reason", reason)];
    assert_eq!(order("penalty", &named("")).status, 409, "a penalty wants a reason");
    kai.orders("penalty", &named("came late"));
    kai.orders("withdraw", &[("player", "kani"), ("reason", "its machine is broken")]);
    assert_eq!(order("withdraw", &[("player", "nobody"), ("reason", "x")]).status, 409);
    let page = kai.page_with("value=\"return\"");
    assert_eq!(withdraws(&page), 2, "who has withdrawn may return: {page}");
    kai.orders("return", &[("player", "kani")]);
    kai.orders("disqualify", &[("player", "kani"), ("reason", "two programs")]);
    let number = league.operations().len();
    for (command, fields) in
        [("return", &[("player", "kani")][..]), ("pair", &[("black", "ari"), ("white", "kani")])]
    {
        let answer = order(command, fields);
        let way =
            format!("<code>kani</code> is disqualified already; <code>undo {number}</code> takes that back");
        assert!(answer.status == 409 && answer.body.contains(&way), "{command}: {}", answer.body);
    }
    kai.orders("undo", &[("number", &number.to_string())]);
    kai.orders("bye", &[("player", "ari"), ("round", "")]);
    let said = league.operations().join("\n");
    for words in [
        // Round 1 was paired when the event began, and waits for its players.
        "paired `kani` (black) with `buri` (white) in round 2",
        "gave `ari` a half-point bye in round 2",
        "took 0.5 points",
        "withdrew `kani` from the next round on / its machine is broken",
        "let `kani` play again",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn the_page_says_that_an_event_is_over_and_has_nothing_to_take_back_then() {
    let random = support::program("renmei-random").display().to_string();
    let entrants: String = ["ari", "buri"]
        .map(|name| {
            format!("[[engines]]\nname = '{name}'\ncommand = '{random}'\noptions = {{ ThinkTime = 300 }}\n")
        })
        .concat();
    let event =
        "[event]\nname = 'cup'\noversubscribe = true\nlook = false\ngames = 1\n[time]\nmain = '10m'\n";
    let league = League::with("accounts", &format!("{event}{entrants}"));
    let kai = league.signed("kai");
    kai.page_with("/games/1");
    kai.orders("pause", &[]);
    kai.orders("resume", &[]);
    assert!(kai.page().contains("value=\"undo\""));
    kai.orders("rule", &[("game", "1"), ("result", "white"), ("reason", "sente used a phone")]);
    let page = kai.page_with("The event is over.");
    assert!(page.contains("ruled game 1") && !page.contains("value=\"undo\""), "{page}");
}

#[test]
fn an_arbiter_states_the_clock_of_an_adjourned_game_on_the_page() {
    let random = support::program("renmei-random").display().to_string();
    let entrants: String = ["ari", "buri"]
        .map(|name| {
            format!("[[engines]]\nname = '{name}'\ncommand = '{random}'\noptions = {{ ThinkTime = 300 }}\n")
        })
        .concat();
    let event =
        "[event]\nname = 'cup'\noversubscribe = true\nlook = false\ngames = 1\n[time]\nmain = '10m'\n";
    let league = League::with("accounts", &format!("{event}{entrants}"));
    let (kai, ope) = (league.signed("kai"), league.signed("ope"));
    kai.page_with("/games/1");
    assert!(!kai.page().contains("value=\"clock\""), "the clock of a running game is nobody's to state");
    kai.orders("adjourn", &[("game", "1")]);
    let page = kai.page_with("value=\"clock\"");
    assert!(page.contains("Main time left, such as 4m30s"), "{page}");
    assert!(!ope.page_with("value=\"play-on\"").contains("value=\"clock\""), "it is an arbiter's");
    let state = |left: &str, reason: &str| {
        let fields =
            [("command", "clock"), ("game", "1"), ("color", "white"), ("left", left), ("reason", reason)];
        kai.send("/arbiter/do", &fields)
    };
    for (left, reason) in [("4m30s", ""), ("soon", "x"), ("0", "x")] {
        let answer = state(left, reason);
        assert_eq!(answer.status, 409, "{left}: {}", answer.body);
    }
    assert_eq!(state("", "x").status, 400);
    assert_eq!(state("4m30s", "its switch was dead").status, 303);
    let said = league.operations().join("\n");
    assert!(
        said.contains("set the clock of white in game 1 (")
            && said.contains(") to 270 s / its switch was dead"),
        "{said}"
    );
}

#[test]
fn a_form_without_the_token_of_the_session_or_from_another_site_does_nothing() {
    let league = League::start("open");
    let (kai, ope) = (league.signed("kai"), league.signed("ope"));
    let pause = |csrf: &str, more: &[(&str, &str)]| {
        let headers = [&[("cookie", kai.cookie.as_str())], more].concat();
        league.ask(HERE, "POST", "/arbiter/do", &headers, &form(&[("command", "pause"), ("csrf", csrf)]))
    };
    assert_eq!(pause("", &[]).status, 403);
    assert_eq!(pause(&ope.csrf, &[]).status, 403, "the token of another session");
    assert_eq!(pause(&kai.csrf, &[("origin", "https://evil.example")]).status, 403);
    assert_eq!(pause(&kai.csrf, &[("sec-fetch-site", "cross-site")]).status, 403);
    let asked = league.ask(HERE, "GET", "/arbiter/do", &[("cookie", &kai.cookie)], "");
    assert_eq!(asked.status, 405, "nothing is done by a link");
    let elsewhere = [("origin", "https://evil.example")];
    assert_eq!(league.log_in(HERE, "kai", PASSWORD, &elsewhere).status, 403, "nor is anybody logged in");
    assert!(league.operations().is_empty());
    assert_eq!(pause(&kai.csrf, &[]).status, 303);
}

#[test]
fn a_token_that_was_laid_out_before_the_login_opens_nothing_after_it() {
    let league = League::start("open");
    let laid = "renmei_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let answer = league.log_in(HERE, "kai", PASSWORD, &[("cookie", laid)]);
    let fresh = answer.cookie().unwrap();
    assert_ne!(fresh, laid);
    let shows_the_desk = |cookie: &str| {
        let page = league.ask(HERE, "GET", "/arbiter", &[("cookie", cookie)], "").body;
        page.contains("/arbiter/logout")
    };
    assert!(shows_the_desk(&fresh) && !shows_the_desk(laid));
    // A second login in the same browser ends the first session.
    let second = league.log_in(HERE, "kai", PASSWORD, &[("cookie", &fresh)]).cookie().unwrap();
    assert!(shows_the_desk(&second) && !shows_the_desk(&fresh));
}

#[test]
fn another_password_ends_the_sessions_of_the_account_and_so_does_its_removal() {
    let league = League::start("open");
    let (kai, ope) = (league.signed("kai"), league.signed("ope"));
    account(&league.desk, "kai", "arbiter", "another-long-password");
    let removed = league.desk.renmei(&["account", "web", "remove", "ope", "--db", "event.db"]);
    assert!(removed.status.success());
    for signed in [&kai, &ope] {
        assert!(!signed.page().contains("/arbiter/logout"));
        assert_eq!(signed.send("/arbiter/do", &[("command", "pause")]).status, 403);
    }
    assert!(league.operations().is_empty());
}

#[test]
fn whoever_guesses_is_locked_out_by_address_and_nobody_else_is() {
    let league = League::start("open");
    for n in 0..20 {
        let name = if n % 2 == 0 { "kai" } else { "nobody" };
        let answer = league.log_in([127, 0, 0, 2], name, &format!("guess-number-{n}"), &[]);
        assert_eq!(answer.status, 403, "{}", answer.body);
        assert!(
            answer.body.contains("the name or the password is wrong"),
            "the same for a name that nobody has"
        );
    }
    assert_eq!(league.log_in([127, 0, 0, 2], "nobody", "guess", &[]).status, 429, "and locked alike");
    let locked = league.log_in([127, 0, 0, 2], "kai", PASSWORD, &[]);
    assert_eq!(locked.status, 429);
    assert!(locked.body.contains("too many wrong passwords from your address"), "{}", locked.body);
    assert_eq!(league.log_in(HERE, "kai", PASSWORD, &[]).status, 303);
    let log = fs::read_to_string(league.desk.path("log.txt")).unwrap();
    assert!(log.contains("wrong password from 127.0.0.2 for \"kai\" on the pages"), "{log}");
}

#[test]
fn a_crowd_behind_the_arbiters_address_does_not_lock_the_arbiter_out() {
    let league = League::start("open");
    let guess = |name: &str| {
        let guess = |n| league.log_in(HERE, name, &format!("guess-number-{n}"), &[]).status;
        let answers: Vec<u16> = (0..11).map(guess).collect();
        assert_eq!(answers[10], 429);
    };
    guess("ope");
    let answer = league.log_in(HERE, "kai", PASSWORD, &[]);
    assert_eq!(answer.status, 303, "guesses at another name: {}", answer.body);
    let known = answer.head.lines().find_map(|line| {
        let (_, rest) = line.split_once("renmei_known=")?;
        Some(format!("renmei_known={}", rest.split(';').next().unwrap()))
    });
    let known = known.expect("the browser is known from now on");
    guess("kai");
    assert_eq!(league.log_in(HERE, "kai", PASSWORD, &[]).status, 429, "guesses at this name");
    let again = league.log_in(HERE, "kai", PASSWORD, &[("cookie", &known)]);
    assert_eq!(again.status, 303, "but not in the arbiter's own browser: {}", again.body);
    // The browser is known for this account alone, and guesses in it count as well.
    assert_eq!(league.log_in(HERE, "ope", PASSWORD, &[("cookie", &known)]).status, 429);
    for _ in 0..10 {
        assert_eq!(league.log_in(HERE, "kai", "guess", &[("cookie", &known)]).status, 403);
    }
    assert_eq!(league.log_in(HERE, "kai", PASSWORD, &[("cookie", &known)]).status, 429);
}

#[test]
fn an_arbiter_logs_in_while_forty_addresses_guess() {
    const GUESSES: usize = 80;
    let league = League::start("open");
    let [begun, answered] = [(); 2].map(|()| AtomicUsize::new(0));
    thread::scope(|scope| {
        for n in 0..40 {
            let (league, begun, answered) = (&league, &begun, &answered);
            scope.spawn(move || {
                while begun.fetch_add(1, Relaxed) < GUESSES {
                    league.try_log_in([127, 0, 1, n], &format!("guess{n}"), "guess", &[]);
                    answered.fetch_add(1, Relaxed);
                }
            });
        }
        // All others of them wait then.
        support::until("ten guesses are answered", || answered.load(Relaxed) >= 10);
        // On a slow machine a check may take longer than a request may; it is no refusal, and the next try has its turn.
        let mut slow = false;
        let mut log_in = || {
            let tries = iter::repeat_with(|| league.try_log_in(HERE, "kai", PASSWORD, &[]).status);
            tries.inspect(|status| slow |= *status == 408).find(|status| *status != 408)
        };
        assert_eq!(log_in(), Some(303));
        let waited_for = answered.load(Relaxed);
        assert_eq!(log_in(), Some(303), "also after a turn");
        assert!(
            slow || waited_for < GUESSES,
            "the arbiter waits for those who came before, not for all guesses"
        );
    });
}

#[test]
fn silent_streams_of_a_few_addresses_do_not_hold_the_pages() {
    let league = League::with("open", "viewers = 20\nviewers_per_address = 5\n");
    let streams: Vec<TcpStream> = (0..20)
        .map(|n| {
            let mut stream = league.connect([127, 0, 0, 20 + n / 5]);
            let request = format!("GET /events HTTP/1.1\r\nhost: {}\r\n\r\n", league.pages);
            stream.write_all(request.as_bytes()).unwrap();
            assert!(stream.read(&mut [0; 64]).unwrap() > 0, "the stream begins");
            stream
        })
        .collect();
    for address in 40..43 {
        let answer = league.ask([127, 0, 0, address], "GET", "/api/now", &[], "");
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let crowded = league.ask([127, 0, 0, 20], "GET", "/api/now", &[], "");
    assert!([200, 503].contains(&crowded.status), "{}", crowded.body);
    drop(streams);
}

#[test]
fn what_a_program_is_told_of_its_last_game_is_nothing_of_a_private_one() {
    let league = League::with("open", "private = [\"secret*\"]\n");
    let checked = |name: &str| {
        let path = format!("/register/check?name={name}");
        league.ask(HERE, "GET", &path, &[("accept-language", "en")], "").body
    };
    let play = |names: [&str; 2]| {
        let mut players = names.map(|name| {
            let color = if name == names[0] { "B" } else { "W" };
            let mut player = league.player();
            player.say(&format!("LOGIN {name} t-600-10-{color},x"));
            player.until("LOGIN:");
            player
        });
        for player in &mut players {
            player.until("END Game_Summary");
            player.say("AGREE");
        }
        players.iter_mut().for_each(|player| drop(player.until("START:")));
        players[0].say("%TORYO");
        players.iter_mut().for_each(|player| drop(player.until("#RESIGN")));
    };
    play(["sente", "gote"]);
    let since = Instant::now();
    while !checked("gote").contains("<h2>Game 1</h2>") {
        assert!(since.elapsed() < PATIENCE, "{}", checked("gote"));
        thread::sleep(Duration::from_millis(50));
    }
    play(["secret1", "gote"]);
    let lines = "SELECT count(*) FROM wire WHERE number = 2";
    while league.desk.try_query(lines).is_none_or(|rows| rows[0][0] == "0") {
        assert!(since.elapsed() < PATIENCE, "the lines are kept");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(checked("secret1").contains("There is no game of this name"), "{}", checked("secret1"));
    assert!(
        checked("gote").contains("<h2>Game 1</h2>"),
        "its last game that may be seen: {}",
        checked("gote")
    );
}

#[test]
fn a_password_over_plain_http_from_elsewhere_is_refused_in_a_sentence() {
    let league = League::start("open");
    let from = |more: &[(&str, &str)], address| league.log_in(address, "kai", PASSWORD, more);
    let words = "passwords are only taken over TLS or from this machine";
    for (more, address) in [
        (&[("x-forwarded-for", "192.0.2.1")][..], PROXY),
        (&[("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", "http")], PROXY),
        // A proxy of which nothing was said, an address and a port that lead here from elsewhere.
        (&[("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", "https")], HERE),
        (&[("host", "192.0.2.1:8080")], HERE),
        (&[("host", "localhost:1")], HERE),
    ] {
        let answer = from(more, address);
        assert_eq!(answer.status, 403, "{more:?}");
        assert!(answer.body.contains(words) && answer.cookie().is_none(), "{}", answer.body);
    }
    let named = from(&[("host", "league.example.org")], HERE);
    assert!(named.status == 421 && named.cookie().is_none(), "{}", named.body);
    let encrypted = [("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", "https")];
    let answer = from(&encrypted, PROXY);
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert!(answer.head.contains("; Secure"), "{}", answer.head);
    let in_the_clear = [("cookie", &*answer.cookie().unwrap()), ("x-forwarded-for", "192.0.2.1")];
    let page = league.ask(PROXY, "GET", "/arbiter", &in_the_clear, "");
    assert_eq!(page.status, 403, "nor is the session used in the clear");
}

#[test]
fn an_operators_account_does_no_arbiters_work() {
    let league = League::start("accounts");
    let ope = league.signed("ope");
    register(&league, [127, 0, 0, 3], "kuma", "");
    for (command, fields) in [
        ("rule", &[("game", "1"), ("result", "black"), ("reason", "x")][..]),
        ("replay", &[("game", "1"), ("reason", "x")]),
        ("swap", &[("out", "a"), ("substitute", "b"), ("reason", "x")]),
        ("ban", &[("whom", "kuma"), ("reason", "x")]),
        ("penalty", &[("player", "a"), ("points", "1"), ("reason", "x")]),
        ("withdraw", &[("player", "a"), ("reason", "x")]),
        ("return", &[("player", "a")]),
        ("pair", &[("black", "a"), ("white", "b")]),
        ("bye", &[("player", "a"), ("round", "2")]),
        ("undo", &[("number", "1")]),
    ] {
        let answer = ope.send("/arbiter/do", &[&[("command", command)], fields].concat());
        assert_eq!(answer.status, 403, "{command}");
        assert!(answer.body.contains("your account has the role of an operator"), "{}", answer.body);
    }
    assert_eq!(ope.send("/arbiter/registration", &[("name", "kuma"), ("decision", "approve")]).status, 403);
    assert_eq!(ope.send("/arbiter/invite", &[("note", "a friend")]).status, 403);
    assert!(league.operations().is_empty());
    ope.orders("pause", &[]);
    assert_eq!(league.operations(), ["ope (operator on the page): paused the event / "]);
}

fn register(league: &League, from: [u8; 4], name: &str, code: &str) -> Answer {
    let fields =
        [("name", name), ("password", "secret-of-a-player"), ("note", "<b>a note</b>"), ("code", code)];
    league.ask(from, "POST", "/register", &[], &form(&fields))
}

fn is_admitted(league: &League, name: &str) -> bool {
    let mut player = league.player();
    player.say(&format!("LOGIN {name} secret-of-a-player x1"));
    player.until("LOGIN:") == format!("LOGIN:{name} OK")
}

#[test]
fn a_stranger_registers_an_arbiter_approves_and_the_player_logs_in() {
    let league = League::start("accounts");
    let kai = league.signed("kai");
    let answer = register(&league, [127, 0, 0, 3], "kuma", "");
    assert!(answer.status == 200 && answer.body.contains("waits for an arbiter"), "{}", answer.body);
    assert!(!is_admitted(&league, "kuma"));
    assert_eq!(register(&league, [127, 0, 0, 4], "kuma", "").status, 409, "the name is asked for");
    let decide = |name: &str, decision: &str, reason: &str| {
        kai.send("/arbiter/registration", &[("name", name), ("decision", decision), ("reason", reason)])
    };
    assert_eq!(decide("kuma", "approve", "known from last year").status, 303);
    assert!(is_admitted(&league, "kuma"));
    assert_eq!(register(&league, [127, 0, 0, 4], "kuma", "").status, 409, "nobody takes the account over");
    register(&league, [127, 0, 0, 4], "tora", "");
    assert_eq!(decide("tora", "refuse", "no program").status, 303);
    assert!(!is_admitted(&league, "tora"));
    assert_eq!(decide("tora", "approve", "").status, 409, "decided already");
    // An invitation admits one player at once.
    assert_eq!(kai.send("/arbiter/invite", &[("note", "usagi's author")]).status, 303);
    let page = kai.page();
    let (_, code) = page.split_once("/register?code=").expect("the address is shown");
    let code: String = code.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    assert!(register(&league, [127, 0, 0, 4], "usagi", &code).body.contains("can log in now"));
    assert!(is_admitted(&league, "usagi"));
    assert!(register(&league, [127, 0, 0, 4], "risu", &code).body.contains("waits for an arbiter"), "once");
    assert_eq!(
        league.operations(),
        [
            "kai (arbiter on the page): approved the registration of `kuma` / known from last year",
            "kai (arbiter on the page): refused the registration of `tora` / no program",
        ]
    );
}

#[test]
fn the_author_of_a_program_hears_that_it_sends_times() {
    let league = League::start("open");
    let checked = |name: &str| {
        league
            .ask(HERE, "GET", &format!("/register/check?name={name}"), &[("accept-language", "en")], "")
            .body
    };
    assert!(checked("sente").contains("There is no game of this name"));
    let mut players = ["B", "W"].map(|color| {
        let mut player = league.player();
        let name = if color == "B" { "sente" } else { "gote" };
        player.say(&format!("LOGIN {name} t-600-10-{color},x"));
        player.until("LOGIN:");
        player
    });
    for player in &mut players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    players.iter_mut().for_each(|player| drop(player.until("START:")));
    players[0].say("+7776FU,T3");
    players.iter_mut().for_each(|player| drop(player.until("+7776FU")));
    players[1].say("%TORYO");
    players.iter_mut().for_each(|player| drop(player.until("#RESIGN")));
    let patience = Instant::now() + PATIENCE;
    while ["sente", "gote"].iter().any(|name| checked(name).contains("There is no game")) {
        assert!(Instant::now() < patience, "the lines are kept");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(checked("sente").contains("it sends times with its moves (1 lines"), "{}", checked("sente"));
    assert!(checked("gote").contains("Nothing stands out"), "{}", checked("gote"));
    assert!(!checked("sent_").contains("sends times"), "a name is no pattern");
}

#[test]
fn a_flood_of_registrations_is_bounded_by_address() {
    let league = League::start("accounts");
    let statuses: Vec<u16> =
        (0..8).map(|n| register(&league, [127, 0, 0, 3], &format!("flood{n}"), "").status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
    assert_eq!(register(&league, [127, 0, 0, 4], "honest", "").status, 200);
    assert_eq!(league.desk.query("SELECT count(*) FROM registrations").concat(), ["6"]);
    kai_closes(&league);
    assert_eq!(register(&league, [127, 0, 0, 5], "late", "").status, 409);
}

fn kai_closes(league: &League) {
    league.signed("kai").orders("close", &[]);
}

#[test]
fn names_notes_and_reasons_are_shown_as_they_are_written_and_run_nothing() {
    let league = League::start("accounts");
    let kai = league.signed("kai");
    let script = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    register(&league, [127, 0, 0, 3], "kuma", "");
    kai.orders("announce", &[("text", script), ("reason", script)]);
    let answer = kai.send("/arbiter/do", &[("command", "kick"), ("name", script)]);
    assert!(answer.status == 409 && !answer.body.contains("<img"), "{}", answer.body);
    let page = kai.page();
    assert!(
        !page.contains("<script>alert") && !page.contains("<img") && !page.contains("<b>a note"),
        "{page}"
    );
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("&lt;b&gt;a note"), "{page}");
    let form = league.ask(HERE, "GET", "/register?code=%22%3E%3Cimg+src%3Dx%3E", &[], "");
    assert!(!form.body.contains("<img"), "{}", form.body);
    assert!(form.head.to_ascii_lowercase().contains("content-security-policy: default-src 'none'"));
    let broken = kai.send("/arbiter/do", &[("command", "announce"), ("text", "two\nlines")]);
    assert_eq!(broken.status, 409, "{}", broken.body);
}

#[test]
fn a_password_of_the_pages_may_have_blanks_and_only_what_can_be_taken_back_has_the_button() {
    let league = League::start("open");
    account(&league.desk, "kai", "arbiter", "correct horse battery staple");
    let answer = league.log_in(HERE, "kai", "correct horse battery staple", &[]);
    assert_eq!(answer.status, 303, "{}", answer.body);
    account(&league.desk, "kai", "arbiter", PASSWORD);
    let kai = league.signed("kai");
    kai.orders("announce", &[("text", "lunch at noon")]);
    assert!(!kai.page().contains("Take back"), "what was said is said");
    let page = kai.orders("ban", &[("whom", "kuma"), ("reason", "flood")]);
    assert_eq!(page.matches("id=\"undo-").count(), 1, "{page}");
    let japanese = [("cookie", &*kai.cookie), ("accept-language", "ja")];
    let page = league.ask(HERE, "GET", "/arbiter", &japanese, "").body;
    for words in ["お知らせ「lunch at noon」", "<code>kuma</code> を禁止", "審判"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let wrong = [("accept-language", "ja")];
    let refused = league.log_in(HERE, "kai", "guess-number-1", &wrong).body;
    assert!(refused.contains("名前またはパスワードが違います"), "{refused}");
}

#[test]
fn the_page_to_take_part_names_host_port_and_the_settings_of_clients() {
    let league = League::start("open");
    let page = league.ask(HERE, "GET", "/register", &[("accept-language", "en")], "").body;
    let port = league.players.port().to_string();
    for words in ["127.0.0.1", &port, "ShogiHome", "test-600-10,SECRET", "LOGIN NAME test-600-10,SECRET"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn every_player_and_every_state_is_in_the_words_of_the_reader_and_every_field_has_a_label() {
    let league = League::start("open");
    let kai = league.signed("kai");
    let mut waits = league.player();
    waits.say("LOGIN kuma x x1");
    waits.until("##[LOGIN] +OK");
    waits.say("%%GAME t-600-10 +");
    let page = kai.page_with(">waits <");
    assert!(!page.contains("game_waiting"), "{page}");
    let inputs = page.split("<input").skip(1).filter(|input| !input.contains("type=\"hidden\""));
    let unlabelled = page.split("<label").map(|label| label.split("</label").next().unwrap());
    let labelled = unlabelled.skip(1).filter(|label| label.contains("<input")).count();
    assert_eq!(inputs.count(), labelled, "{page}");
    let japanese = [("cookie", &*kai.cookie), ("accept-language", "ja")];
    assert!(league.ask(HERE, "GET", "/arbiter", &japanese, "").body.contains("対局待ち"));
}
