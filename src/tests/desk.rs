//! The desk: a league from an empty directory to its end without a terminal, and what strangers may not do.

mod changes;
mod guests;
mod study;

use crate::support::{Desk, ended, program, until, until_within};
use std::{
    env, fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Mutex,
};

/// A desk that is open, and a browser that it has let in.
struct Open {
    child: Child,
    directory: PathBuf,
    /// Host and port.
    host: String,
    cookie: String,
    /// Where the last form led to, until that page is opened.
    led: Mutex<Option<String>>,
}

/// What a request was answered with.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn location(&self) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix("location: "))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.arg("desk").arg(directory).arg("--no-browser");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The address that the file names which leads a browser in.
fn way_in(directory: &Path) -> Option<(String, String)> {
    let page = fs::read_to_string(directory.join(".desk.html")).ok()?;
    let (_, rest) = page.split_once("url=http://")?;
    let (host, rest) = rest.split_once('/')?;
    let (path, _) = rest.split_once('"')?;
    Some((host.to_owned(), format!("/{path}")))
}

/// An address without the token of what its page shows once.
fn bare(address: &str) -> &str {
    address.split_once("once=").map_or(address, |(path, _)| &path[..path.len() - 1])
}

impl Open {
    /// Opens the desk of a directory as its owner does.
    fn of(directory: &Path) -> Self {
        let _earlier = fs::remove_file(directory.join(".desk.html"));
        let child = command(directory).spawn().unwrap();
        until("the desk", || way_in(directory).is_some());
        let (host, path) = way_in(directory).unwrap();
        let mut open = Self {
            child,
            directory: directory.to_owned(),
            host,
            cookie: String::new(),
            led: Mutex::default(),
        };
        let entered = open.ask("GET", &path, &[], "");
        let cookie = entered.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        cookie.split(';').next().unwrap().clone_into(&mut open.cookie);
        open
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.0\r\n");
        let own = [("Host", self.host.as_str()), ("Cookie", &self.cookie)];
        let is_given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        for (name, value) in own.iter().filter(|(name, _)| !is_given(name)).chain(headers) {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = vec![];
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn get(&self, path: &str) -> String {
        let led = self.led.lock().unwrap().take_if(|led| bare(led) == path);
        let answer = self.ask("GET", &led.unwrap_or_else(|| path.to_owned()), &[], "");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    /// Sends a form as a page of the desk does; returns the page that it leads to, which is opened next as a browser does.
    fn send(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let answer = self.post(path, fields);
        let to = answer.location().unwrap_or_else(|| panic!("{path}: {} {}", answer.status, answer.body));
        bare(to).to_owned()
    }

    fn ask_form(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let origin = format!("http://{}", self.host);
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        self.ask("POST", path, &[("Origin", &origin), kind], &encoded(fields))
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.ask_form(path, fields);
        *self.led.lock().unwrap() = answer.location().map(str::to_owned);
        answer
    }

    /// The state of an event, as the list has it.
    fn state(&self, event: &str) -> String {
        let list: serde_json::Value = serde_json::from_str(&self.get("/api/events")).unwrap();
        let listed = list.as_array().unwrap().iter().find(|listed| listed["name"] == event).cloned();
        listed.map_or_else(String::new, |listed| listed["state"].as_str().unwrap().to_owned())
    }

    fn order(&self, event: &str, order: &str) {
        assert_eq!(self.send("/events/order", &[("event", event), ("order", order)]), "/");
    }

    /// Deletes an event: the desk asks first.
    fn delete(&self, event: &str) {
        let asked = self.post("/events/order", &[("event", event), ("order", "delete")]);
        assert!(asked.status == 200 && asked.body.contains("name=\"sure\""), "{}", asked.body);
        assert!(self.directory.join(format!("{event}.toml")).exists());
        let sure = [("event", event), ("order", "delete"), ("sure", "1")];
        assert_eq!(self.send("/events/order", &sure), "/");
    }

    /// Games of an event that are over.
    fn games(&self, event: &str) -> i64 {
        let database = self.directory.join(format!("{event}.db"));
        let games = rusqlite::Connection::open(database).and_then(|db| {
            db.query_row("SELECT count(*) FROM games WHERE ended_at IS NOT NULL", [], |row| row.get(0))
        });
        games.unwrap_or(0)
    }
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let escape = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    fields
        .iter()
        .map(|(name, value)| format!("{}={}", escape(name), escape(value)))
        .collect::<Vec<_>>()
        .join("&")
}

/// An engine that calls itself so and declares these options, and then plays as `renmei-random` does not: it only shakes hands.
fn named(directory: &Path, file: &str, says: &str) -> PathBuf {
    let path = directory.join(file);
    let script = format!(
        "#!/bin/sh\nwhile read line; do case $line in usi) cat <<'EOF'\n{says}\nusiok\nEOF\n;; isready) echo readyok;; quit) exit;; esac; done\n"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// What stands between two texts.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before:?} in {text}"));
    rest.split(after).next().unwrap()
}

#[test]
fn a_league_begins_stops_survives_a_kill_and_is_deleted_without_a_terminal() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random").display().to_string();
    let open = Open::of(&directory);
    assert!(open.get("/").contains("/engines/browse"), "without engines the first thing is to add some");
    let folder = Path::new(&random).parent().unwrap().display().to_string();
    assert!(open.get(&format!("/engines/browse?path={folder}")).contains(&random));
    let engine = open.send("/engines/add", &[("program", &random)]);
    assert!(open.get(&engine).contains("option:Seed"), "its options are read at once");
    let name = engine.strip_prefix("/engine?name=").unwrap().replace("%20", " ");
    let other = open.send("/engines/order", &[("engine", &name), ("order", "copy")]);
    let copy = other.strip_prefix("/engine?name=").unwrap().replace("%20", " ");
    let saved = open.send(
        "/engine",
        &[("engine", &copy), ("name", "greedy"), ("option:Style", "greedy"), ("tags", "fast, ours")],
    );
    assert_eq!(saved, "/engine?name=greedy");
    assert!(
        fs::read_to_string(directory.join("engines.toml"))
            .unwrap()
            .contains("options = { Style = \"greedy\" }")
    );

    let form = |games: &'static str| {
        [
            ("kind", "league"),
            ("name", "Friday cup"),
            ("engine", name.as_str()),
            ("engine", "greedy"),
            ("games", games),
            ("clock", "byoyomi 60s"),
            ("max_moves", "60"),
            ("do", "begin"),
        ]
    };
    let faulty = open.post("/new/event", &form("many"));
    assert!(
        faulty.status == 200
            && faulty.body.contains("class=\"wrong\"")
            && faulty.body.contains("found the text"),
        "{}",
        faulty.body
    );
    assert_eq!(open.send("/new/event", &form("2000")), "/");
    until_within(
        testing::PATIENCE,
        || {
            if open.games("Friday-cup") > 3 { Ok(()) } else { Err(open.get("/")) }
        },
    );
    assert_eq!(open.state("Friday-cup"), "plays");
    let page = open.get("/e/Friday-cup/arbiter");
    assert!(page.contains("do-pause") && !page.contains("/arbiter/login"), "the owner is the arbiter");
    assert_eq!(open.post("/events/order", &[("event", "Friday-cup"), ("order", "delete")]).status, 409);

    let fewer = [("event", "Friday-cup"), ("at-once", "1")];
    assert_eq!(open.send("/events/change", &fewer), "/events/change?event=Friday-cup");
    assert!(fs::read_to_string(directory.join("Friday-cup.toml")).unwrap().contains("concurrency = 1"));
    assert_eq!(open.post("/events/change", &[fewer[0], ("at-once", "none")]).status, 400);
    let played = open.games("Friday-cup");
    until("more games, one at a time", || open.games("Friday-cup") > played + 3);
    assert!(open.get("/events/publish?event=Friday-cup").contains("| greedy |"));
    let like = open.get("/new/event?kind=sprt&from=Friday-cup");
    assert!(
        like.contains("value=\"greedy\" selected") && like.contains("name=\"amount\" value=\"60\""),
        "{like}"
    );

    // What was stopped, or stops, waits with more games, too.
    let more = |open: &Open, games: &str| {
        let fields = [("event", "Friday-cup"), ("games", games)];
        assert_eq!(open.send("/events/change", &fields), "/events/change?event=Friday-cup");
        let hall = fs::read_to_string(directory.join("hall.toml")).unwrap();
        assert!(hall.contains("held = true"), "{hall}");
    };
    open.order("Friday-cup", "adjourn");
    until("a stop", || open.state("Friday-cup") == "stopped");
    more(&open, "2002");
    assert_eq!(open.state("Friday-cup"), "stopped");
    let played = open.games("Friday-cup");
    drop(open);
    let open = Open::of(&directory);
    until("the list", || open.state("Friday-cup") == "stopped");
    assert_eq!(open.games("Friday-cup"), played, "what was stopped stays so");
    assert!(open.get("/e/Friday-cup/").contains("Friday cup"), "and its games are shown");
    open.order("Friday-cup", "begin");
    until("more games", || open.games("Friday-cup") > played);
    drop(open);
    let open = Open::of(&directory);
    let played = open.games("Friday-cup");
    until("more games after a kill", || open.games("Friday-cup") > played);

    open.order("Friday-cup", "finish");
    more(&open, "2004");
    until("a stop", || open.state("Friday-cup") == "stopped");
    open.delete("Friday-cup");
    until("an empty list", || open.state("Friday-cup").is_empty());
    assert!(!directory.join("Friday-cup.toml").exists() && !directory.join("Friday-cup.db").exists());
    let bin = fs::read_dir(directory.join("bin")).unwrap().next().unwrap().unwrap().path();
    assert!(bin.join("Friday-cup.db").exists() && bin.join("Friday-cup.toml").exists());
    assert!(open.post("/quit", &[("how", "finish")]).body.contains("renmei desk"));
    let mut open = open;
    until("the end", || open.child.try_wait().unwrap().is_some());
    assert!(way_in(&directory).is_none());
}

#[test]
fn orders_that_come_together_are_all_obeyed_and_a_form_that_is_sent_again_makes_nothing() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random").display().to_string();
    let open = Open::of(&directory);
    let engine = open.send("/engines/add", &[("program", &random)]);
    let name = engine.strip_prefix("/engine?name=").unwrap().replace("%20", " ");
    let form = |token: &str| {
        let fields = [("kind", "guests"), ("name", "cup"), ("do", "keep"), ("submit", token)];
        assert_eq!(open.send("/new/event", &fields), "/");
    };
    let (open_to_all, form_to_all, engine) = (&open, &form, [("engine", name.as_str()), ("order", "copy")]);
    std::thread::scope(|scope| {
        for turn in 0..6 {
            scope.spawn(move || open_to_all.send("/engines/order", &engine));
            scope.spawn(move || form_to_all("clicked six times"));
            scope.spawn(move || form_to_all(&format!("another {turn}")));
        }
    });
    let text = |file: &str| fs::read_to_string(directory.join(file)).unwrap();
    assert_eq!(text("engines.toml").matches("[[engines]]").count(), 7);
    let hall = text("hall.toml");
    for cup in ["cup", "cup-2", "cup-3", "cup-4", "cup-5", "cup-6", "cup-7"] {
        assert!(text(&format!("{cup}.toml")).contains(&format!("\"{cup}.db\"")), "its own games");
        assert!(hall.contains(&format!("\"{cup}.toml\"")), "{cup} is held: {hall}");
    }
    assert!(!directory.join("cup-8.toml").exists());

    let ours = text("cup.toml") + "# ours\n";
    let stale = open.post("/events/text", &[("event", "cup"), ("version", "before"), ("text", &ours)]);
    assert!(stale.status == 200 && stale.body.contains("was changed meanwhile"), "{}", stale.body);
    assert!(!text("cup.toml").contains("# ours"));
    let version = between(&stale.body, "name=\"version\" value=\"", "\"");
    assert_eq!(open.send("/events/text", &[("event", "cup"), ("version", version), ("text", &ours)]), "/");
    assert!(text("cup.toml").contains("# ours"));

    let _silent: Vec<_> = (0..200).map(|_| TcpStream::connect(&open.host).unwrap()).collect();
    assert!(open.get("/").contains("cup-7"), "silent connections keep the owner from nothing");
}

#[test]
fn a_double_click_on_the_first_match_adds_each_engine_once_and_makes_one_match() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let open = Open::of(&directory);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(open.send("/new/first", &[("submit", "clicked twice")]), "/"));
        }
    });
    let engines = fs::read_to_string(directory.join("engines.toml")).unwrap();
    assert_eq!(engines.matches("[[engines]]").count(), 2, "{engines}");
    let events =
        fs::read_dir(&directory).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let events: Vec<_> = events
        .filter(|name| name.ends_with(".toml") && name != "engines.toml" && name != "hall.toml")
        .collect();
    assert_eq!(events.len(), 1, "{events:?}");
}

#[test]
fn a_text_that_was_written_by_hand_is_played_and_what_the_form_does_not_know_stays() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random").display().to_string();
    let open = Open::of(&directory);
    let text = format!(
        "# mine\n[event]\nname = \"by hand\"\ngames = 2\n[time]\nbyoyomi = \"60s\"\n[rules]\nmax_moves = 20\n\
         [[engines]]\nname = \"a\"\ncommand = '{random}'\n[[engines]]\nname = \"b\"\ncommand = '{random}'\noptions = {{ Seed = 7 }}\n"
    );
    let wrong = open.post("/new/text", &[("text", &text.replace("games = 2", "games = 0")), ("do", "keep")]);
    assert!(wrong.status == 200 && wrong.body.contains("event.games"), "{}", wrong.body);
    assert_eq!(open.send("/new/text", &[("text", &text), ("do", "keep")]), "/");
    assert_eq!(fs::read_to_string(directory.join("by-hand.toml")).unwrap(), text);
    until("the list", || open.state("by-hand") == "stopped");
    assert_eq!(open.games("by-hand"), 0, "it is kept for later");
    let page = open.get("/events/change?event=by-hand");
    assert!(page.contains("# mine") && page.contains("Seed = 7"), "{page}");
    assert_eq!(
        open.send("/events/text", &[("event", "by-hand"), ("text", &(text.clone() + "# end\n"))]),
        "/"
    );
    open.order("by-hand", "begin");
    until("its end", || open.state("by-hand") == "over");
    assert_eq!(open.games("by-hand"), 2);
    assert!(fs::read_to_string(directory.join("by-hand.toml")).unwrap().ends_with("# end\n"));
}

#[test]
fn an_order_that_lacks_what_its_form_sends_is_refused_with_a_page_and_changes_nothing() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random").display().to_string();
    let open = Open::of(&directory);
    let engine = open.send("/engines/add", &[("program", &random)]);
    let name = engine.strip_prefix("/engine?name=").unwrap().replace("%20", " ");
    let own = ["engine", "name"].map(|field| (field, name.as_str()));
    let whole = [("note", "quick"), ("tags", "fast"), ("args", "--x"), ("directory", "/"), ("ponder", "1")];
    open.send("/engine", &[&own[..], &whole].concat());
    let text = format!(
        "[event]\nname = \"cup\"\n[time]\nbyoyomi = \"60s\"\n[[engines]]\nname = \"a\"\ncommand = '{random}'\n\
         [[engines]]\nname = \"b\"\ncommand = '{random}'\n"
    );
    assert_eq!(open.send("/new/text", &[("text", text.as_str()), ("do", "keep")]), "/");
    let until = [("event", "cup"), ("change", "until"), ("until", "2030-01-01T22:00"), ("offset", "+09:00")];
    open.send("/events/change", &until);
    let files = || {
        let mut files: Vec<_> = fs::read_dir(&directory).unwrap().map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
        files.sort();
        files.into_iter().map(|file| (fs::read_to_string(&file).unwrap(), file)).collect::<Vec<_>>()
    };
    let before = files();
    for (path, fields) in [
        ("/quit", &[][..]),
        ("/quit", &[("how", "now")]),
        ("/events/change", &until[..2]),
        ("/events/change", &until[..1]),
        ("/events/public", &[("event", "cup"), ("port", "8097")]),
        ("/new/text", &[("text", text.as_str())]),
        ("/new/event", &[("name", "other"), ("engine", name.as_str()), ("do", "begin")]),
        ("/engines/add", &[]),
        ("/engine", &own[..1]),
    ] {
        let answer = open.ask_form(path, fields);
        assert!(answer.status == 400 && answer.body.contains("<h1>"), "{path} {fields:?}: {}", answer.body);
    }
    assert_eq!(files(), before);
    open.send("/engine", &own);
    assert_eq!(files(), before, "what was not sent stays");
    assert!(open.get("/").contains("cup"), "the desk is open");
}

#[test]
fn a_test_that_is_played_has_no_verdict_yet_and_says_so_on_the_first_page() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random");
    let engines = ["1", "2"].map(|seed| {
        let command = random.display();
        format!("[[engines]]\nname = \"{seed}\"\ncommand = '{command}'\noptions = {{ Seed = {seed} }}\n")
    });
    let text = format!(
        "[event]\nname = \"test\"\nformat = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 1\nmax_games = 20000\n[rules]\nmax_moves = 40\n\
         [time]\nbyoyomi = \"60s\"\n{}",
        engines.concat()
    );
    let open = Open::of(&directory);
    assert_eq!(open.send("/new/text", &[("text", &text), ("do", "begin")]), "/");
    until("games", || open.games("test") > 10);
    for page in ["/", "/e/test/table"] {
        until("no verdict yet", || open.get(page).contains("no verdict yet"));
        assert!(!open.get(page).contains("before a verdict"), "{page}");
    }
    open.order("test", "adjourn");
}

#[test]
fn an_engine_that_was_halted_is_on_the_first_page_with_what_it_did() {
    let desk = Desk::new();
    let (random, puppet) = (program("renmei-random"), program("renmei-puppet"));
    let text = format!(
        "[event]\nname = \"cup\"\ngames = 40\nlook = false\nfault_limit = \"2\"\n[time]\nbyoyomi = \"60s\"\n[[engines]]\nname = \"a\"\ncommand = '{}'\n\
         [[engines]]\nname = \"b\"\ncommand = '{}'\nargs = [\"--mode\", \"crash\"]\n",
        random.display(),
        puppet.display()
    );
    let open = Open::of(&desk.path("Renmei"));
    assert_eq!(open.send("/new/text", &[("text", &text), ("do", "begin")]), "/");
    until("a halt", || open.state("cup") == "faulty");
    let home = open.get("/");
    assert!(
        home.contains("<code>cup</code> is halted") && home.contains("engine <code>b</code>: "),
        "{home}"
    );
}

#[test]
fn an_event_whose_engines_are_just_started_is_not_deleted() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let silent = desk.write("silent.sh", "#!/bin/sh\nexec sleep 1000\n");
    fs::set_permissions(&silent, fs::Permissions::from_mode(0o755)).unwrap();
    let (silent, random) = (silent.display(), program("renmei-random"));
    let text = format!(
        "[event]\nname = \"slow\"\n[time]\nbyoyomi = \"1s\"\n[[engines]]\nname = \"a\"\ncommand = '{}'\n\
         [[engines]]\nname = \"b\"\ncommand = '{silent}'\nlimits.start = \"8s\"\n",
        random.display()
    );
    let open = Open::of(&directory);
    assert_eq!(open.send("/new/text", &[("text", &text), ("do", "begin")]), "/");
    until("the list", || open.state("slow") == "waits");
    assert_eq!(open.post("/events/order", &[("event", "slow"), ("order", "delete")]).status, 409);
    assert!(directory.join("slow.toml").exists());
    until("a fault", || open.state("slow") == "faulty");
    open.delete("slow");
    assert!(!directory.join("slow.toml").exists());
}

#[test]
fn an_event_whose_file_is_gone_can_be_stopped_and_begins_when_it_is_there_again() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random").display().to_string();
    let text = format!(
        "[event]\nname = \"cup\"\ngames = 1000000\n[time]\nbyoyomi = \"60s\"\n[rules]\nmax_moves = 20\n\
         [[engines]]\nname = \"a\"\ncommand = '{random}'\n[[engines]]\nname = \"b\"\ncommand = '{random}'\n"
    );
    let open = Open::of(&directory);
    let file = directory.join("cup.toml");
    assert_eq!(open.send("/new/text", &[("text", &text), ("do", "begin")]), "/");
    until("a game", || open.games("cup") > 0);
    fs::remove_file(&file).unwrap();
    for impossible in ["begin", "delete"] {
        assert!(open.post("/events/order", &[("event", "cup"), ("order", impossible)]).status >= 400);
    }
    open.order("cup", "finish");
    until("its end", || open.state("cup").is_empty());
    let hall = fs::read_to_string(directory.join("hall.toml")).unwrap_or_default();
    assert!(!hall.contains("held"), "{hall}");
    fs::write(&file, &text).unwrap();
    until("another one of its name", || open.state("cup") == "plays");
}

#[test]
fn an_event_that_was_stopped_in_its_last_game_waits_with_more_games_and_can_be_begun() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random").display().to_string();
    let text = format!(
        "[event]\nname = \"cup\"\ngames = 2\nlook = false\n[time]\nbyoyomi = \"60s\"\n[rules]\nmax_moves = 20\n\
         [[engines]]\nname = \"a\"\ncommand = '{random}'\n[[engines]]\nname = \"b\"\ncommand = '{random}'\n"
    );
    let open = Open::of(&directory);
    assert_eq!(open.send("/new/text", &[("text", &text), ("do", "begin")]), "/");
    until("its end", || open.state("cup") == "over");
    let page = open.get("/e/cup/");
    assert!(
        page.contains(">over<") && !page.contains("value=\"finish\""),
        "what is over cannot be stopped: {page}"
    );
    // As if the order had come a moment before.
    open.order("cup", "finish");
    let more = [("event", "cup"), ("change", "games"), ("games", "4")];
    assert_eq!(open.send("/events/change", &more), "/events/change?event=cup");
    let hall = fs::read_to_string(directory.join("hall.toml")).unwrap();
    assert!(hall.contains("held = true"), "{hall}");
    until("a way to begin it", || open.get("/").contains("value=\"begin\""));
    let played = open.games("cup");
    open.order("cup", "begin");
    until("more games", || open.games("cup") > played);
}

#[test]
fn eight_forms_that_wait_for_engines_keep_nobody_from_the_first_page() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let open = Open::of(&directory);
    let go = desk.path("go");
    let engines: Vec<_> = (0..8).map(|number| format!("slow {number}")).collect();
    let scripts = engines.iter().map(|name| desk.path(&format!("{name}.sh"))).collect::<Vec<_>>();
    let mut library = String::new();
    for (name, script) in engines.iter().zip(&scripts) {
        let waits = format!("touch \"$0.started\"; while [ ! -e '{}' ]; do sleep 0.1; done", go.display());
        let plays = "while read line; do case $line in usi) echo usiok;; isready) echo readyok;; quit) exit;; esac; done";
        fs::write(script, format!("#!/bin/sh\n{waits}\n{plays}\n")).unwrap();
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        library += &format!(
            "[[engines]]\nname = \"{name}\"\ncommand = '{}'\nlimits.start = \"1h\"\n",
            script.display()
        );
    }
    fs::write(directory.join("engines.toml"), library).unwrap();
    let open = &open;
    std::thread::scope(|scope| {
        let forms: Vec<_> = engines
            .iter()
            .map(|name| {
                scope.spawn(move || open.ask_form("/engine", &[("engine", name), ("name", name)]).status)
            })
            .collect();
        let is_started = |script: &PathBuf| script.with_extension("sh.started").exists();
        until("the engines", || scripts.iter().all(is_started));
        let home = open.get("/");
        fs::write(&go, "").unwrap();
        assert!(home.contains("<h1>"), "{home}");
        let answered: Vec<_> = forms.into_iter().map(|form| form.join().unwrap()).collect();
        assert_eq!(answered, [303; 8], "they waited all the while");
    });
}

#[test]
fn no_page_of_the_desk_has_a_character_that_turns_the_text_around_it() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let open = Open::of(&directory);
    let script = desk.write(
        "engine.sh",
        "#!/bin/sh\nwhile read line; do case $line in usi) printf 'id name ev\\033[2J\\342\\200\\256\\000il\\nid author ev\\033[2Jil\\n\
         option name Ev\\342\\200\\256il type string default ev\\033[2J\\342\\200\\256\\000il\\nusiok\\n';; \
         isready) echo readyok;; quit) exit;; esac; done\n",
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let (script, engine) = (script.display(), "name = \"ev\\u202eil\"\ncommand = ");
    let library = format!(
        "[[engines]]\n{engine}'{script}'\nnote = \"ev\\u202eil\"\ntags = [\"ev\\u202eil\"]\noptions = {{ Other = \"ev\\u202eil\" }}\n"
    );
    fs::write(directory.join("engines.toml"), library).unwrap();
    let event = |command: &str| {
        format!(
            "[event]\nname = \"ev\\u202eil\"\n[time]\nbyoyomi = \"1s\"\n[[engines]]\n{engine}'{command}'\n"
        )
    };
    for (file, text) in [("wrong", event("/ev\u{202e}il")), ("raw", event("x") + "# ev\u{202e}il\u{1b}")] {
        fs::write(directory.join(format!("{file}.toml")), text).unwrap();
        until("a fault", || open.state(file) == "faulty");
    }
    for path in [
        "/",
        "/events",
        "/engines",
        "/engine?name=ev%E2%80%AEil",
        "/engines?tag=ev%E2%80%AEil",
        "/engines/compare?engine=ev%E2%80%AEil&engine=ev%E2%80%AEil",
        "/new/event?kind=sprt",
        "/new/event?kind=league&from=wrong",
        "/new?from=ev%E2%80%AE%1B%00il",
        "/events/change?event=wrong",
        "/events/text?event=wrong",
    ] {
        let page = open.ask("GET", path, &[], "").body;
        let is_raw = |c: char| !matches!(c, '\n' | '\r' | '\t') && notation::is_hidden(c);
        assert_eq!(page.find(is_raw), None, "{path}: {page:?}");
        assert!(page.contains("ev"), "{path}: {page}");
    }
}

#[test]
fn what_is_not_there_and_what_comes_through_a_proxy_is_refused_in_a_sentence() {
    let desk = Desk::new();
    let open = Open::of(&desk.path("Renmei"));
    for path in ["/new?from=", "/new/event?kind=match&from=", "/events/publish?event=", "/events/text?event="]
    {
        for name in ["nosuch", "%1b%5b31m%E2%80%AE%00x"] {
            let answer = open.ask("GET", &format!("{path}{name}"), &[], "");
            assert_eq!(answer.status, 400, "{path}{name}: {}", answer.body);
            assert!(answer.body.contains("there is no such event"), "{}", answer.body);
        }
    }
    let found = open.ask("GET", "/events?find=%1b%00%E2%80%AE", &[], "").body;
    assert!(!found.contains(['\u{1b}', '\0', '\u{202e}']), "{found}");
    let refused = open.post("/engines/add", &[("program", "/tmp/nonexist")]);
    let refused = if refused.status == 303 { open.get(refused.location().unwrap()) } else { refused.body };
    assert!(refused.contains("is not the path of a program\nAn engine"), "{refused}");
    let proxied = open.ask("GET", "/", &[("X-Forwarded-For", "192.0.2.1")], "");
    assert_eq!(proxied.status, 403);
    assert!(
        proxied.body.contains("without a proxy") && !proxied.body.contains("password"),
        "{}",
        proxied.body
    );
}

#[test]
fn the_settings_say_where_the_desk_is_and_lead_to_the_other_language() {
    let desk = Desk::new();
    let open = Open::of(&desk.path("Renmei"));
    let page = open.get("/settings");
    assert!(page.contains(&open.directory.display().to_string()) && page.contains(&open.host), "{page}");
    assert!(page.contains("/prefs?lang=ja&amp;back=/settings"), "{page}");
    let chosen = open.ask("GET", "/prefs?lang=ja&back=/settings", &[], "");
    assert!(
        chosen.head.contains("lang=ja;") && chosen.head.contains("location: /settings"),
        "{}",
        chosen.head
    );
    let cookie = format!("{}; lang=ja", open.cookie);
    assert!(open.ask("GET", "/settings", &[("Cookie", &cookie)], "").body.contains("言語と配色"));
}

#[test]
fn a_second_desk_of_a_directory_names_the_first_and_a_public_address_is_refused() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let open = Open::of(&directory);
    let again = command(&directory).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(
        again.status.success() && said.contains("is open already") && said.contains(".desk.html"),
        "{said}"
    );
    assert!(!open.get("/").is_empty());
    let mode = fs::metadata(directory.join(".desk.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "no other user reads the way in");
    let mode = fs::metadata(&directory).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "or puts an event into the directory");
    let public =
        command(&desk.path("other")).args(["--http", "0.0.0.0:0"]).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(public.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&public.stderr).contains("for this machine alone"));
}

#[test]
fn nobody_but_its_owner_orders_anything_of_a_desk() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let open = Open::of(&directory);
    let origin = format!("http://{}", open.host);
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let body = encoded(&[("program", "/bin/true")]);
    let own = [("Origin", origin.as_str()), form];
    assert_eq!(open.ask("POST", "/engines/add", &own, &body).status, 400, "it is no engine, and was tried");
    for (what, headers) in [
        ("no cookie", vec![own[0], form, ("Cookie", "")]),
        ("a guessed cookie", vec![own[0], form, ("Cookie", "renmei_desk_1=0000")]),
        ("a page of another site", vec![("Origin", "http://evil.example"), form]),
        ("another port of this machine", vec![("Origin", "http://127.0.0.1:1"), form]),
        ("a page without an origin", vec![form]),
        ("an opaque origin", vec![("Origin", "null"), form]),
        ("a name that leads here", vec![("Host", "evil.example"), ("Origin", "http://evil.example"), form]),
        ("a proxy", vec![own[0], form, ("X-Forwarded-For", "192.0.2.1")]),
    ] {
        let status = open.ask("POST", "/engines/add", &headers, &body).status;
        assert!(status == 403 || status == 421, "{what}: {status}");
    }
    for (what, kind, body) in [
        ("a form of text", "text/plain", body.as_str()),
        ("JSON", "application/json", "{\"program\":\"/bin/true\"}"),
        ("an upload", "multipart/form-data; boundary=x", "--x--"),
    ] {
        let status = open.ask("POST", "/engines/add", &[own[0], ("Content-Type", kind)], body).status;
        assert_eq!(status, 415, "{what}");
    }
    for path in [
        "/",
        "/engines",
        "/api/events",
        "/e/x/",
        "/machine",
        "/engines/browse?path=/",
        "/prefs?lang=ja",
        "/guests",
    ] {
        let answer = open.ask("GET", path, &[("Cookie", "")], "");
        assert_eq!(answer.status, 403, "{path}");
        assert!(!answer.body.contains("renmei-random"));
    }
    for path in ["/quit", "/events/order", "/engines/order", "/engines/add"] {
        assert_eq!(open.ask("GET", path, &[], "").status, 405, "{path}: a link orders nothing");
    }
    for event in ["../outside", "/etc/passwd", "hall", "engines", ".desk", "a/../../b", ""] {
        let fields = [("event", event), ("order", "delete"), ("text", "x")];
        assert_eq!(open.post("/events/order", &fields).status, 400, "{event}");
        assert_eq!(open.post("/events/text", &fields).status, 400, "{event}");
        assert_eq!(open.post("/guests", &fields).status, 400, "{event}");
    }
    let used = open.ask("GET", "/enter?key=", &[("Cookie", "")], "").status;
    assert_eq!(used, 403);
    let head = open.ask("GET", "/", &[], "").head.to_lowercase();
    assert!(head.contains("script-src 'self'") && head.contains("frame-ancestors 'none'"), "{head}");
    assert!(!head.contains("access-control-allow-origin"), "{head}");
    assert_eq!(fs::read_dir(desk.dir.path()).unwrap().count(), 1, "nothing was written beside the directory");
}

#[test]
fn what_an_engine_calls_itself_and_its_options_is_only_text_and_no_path() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let says = "id name <script>alert(1)</script>../../x\nid author \"><img src=x onerror=alert(1)>\n\
                option name A\" onfocus=\"alert(1) type string default \"><script>alert(2)</script>\n\
                option name Threads type spin default 1 min 1 max 8";
    let program = named(desk.dir.path(), "it's \"odd\" <b>.sh", says);
    let open = Open::of(&directory);
    let page = open.send("/engines/add", &[("program", &program.display().to_string())]);
    for path in [page.as_str(), "/engines", "/new/event?kind=sprt"] {
        let body = open.get(path);
        assert!(
            !body.contains("<script>alert")
                && !body.contains("<img src=x")
                && !body.contains("\" onfocus=\"alert"),
            "{path}: {body}"
        );
    }
    assert!(open.get(&page).contains("option:Threads"));
    let silent = open.post("/engines/add", &[("program", "/bin/true")]);
    assert_eq!(silent.status, 400, "{}", silent.body);
    let relative = open.post("/engines/add", &[("program", "../x")]);
    assert!(
        relative.status == 400 && relative.body.contains("not the path of a program"),
        "{}",
        relative.body
    );
}
