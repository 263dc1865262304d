//! Leagues of the desk for guests, and engines that are guests elsewhere.

use super::*;

/// A client of the CSA protocol, which plays so many games.
fn client(desk: &Desk, port: &str, name: &str, secret: &str, games: u32) -> Child {
    let text = format!(
        "[floodgate]\nhost = \"127.0.0.1\"\nport = {port}\nlogin = \"{name}\"\npassword = \"test-600-10,{secret}\"\n\
         games = {games}\nbackoff = \"50ms\"\nbackoff_most = \"500ms\"\n[engine]\ncommand = '{}'\n",
        program("renmei-random").display()
    );
    let file = desk.write(&format!("{name}.toml"), &text);
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.arg("floodgate").arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn two_guests_play_in_a_league_of_the_desk_with_the_passwords_that_it_has_given_them() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let open = Open::of(&directory);
    let form = [
        ("kind", "guests"),
        ("name", "friday"),
        ("reach", "here"),
        ("port", "0"),
        ("login", "accounts"),
        ("max_moves", "40"),
        ("do", "begin"),
    ];
    assert_eq!(open.send("/new/event", &form), "/");
    until("a league", || open.state("friday") == "plays");
    assert!(open.get("/").contains("/guests?event=friday"));
    let admit = |name: &str, password: &str| {
        let fields = [("event", "friday"), ("name", name), ("password", password), ("order", "admit")];
        open.post("/guests", &fields)
    };
    let long = "x".repeat(129);
    for (name, password) in
        [("../x", "secret"), ("", "secret"), ("mori", "two words"), ("mori", long.as_str())]
    {
        assert_eq!(admit(name, password).status, 400, "{name} {password}");
    }
    let page = |name: &str, password: &str| {
        assert_eq!(admit(name, password).status, 303);
        open.get("/guests?event=friday")
    };
    let lines = page("mori", "");
    let (port, made) = (between(&lines, "\nport=", "\n"), between(&lines, "pass=test-600-10,", "<"));
    assert!(made.len() >= 8 && lines.contains("user=mori"), "{lines}");
    assert!(!open.get("/guests?event=friday").contains(made), "it is shown once");
    page("kawa", "secret-of-kawa");
    assert!(lines.contains("as soon as two who are here ask for the same game"), "{lines}");
    let own = open.get("/e/friday/");
    assert!(own.contains("href=\"/guests?event=friday\""), "the event leads to its guests: {own}");
    assert!(own.contains("The next game begins when its players are here"), "{own}");
    let home = open.get("/");
    assert!(home.contains("<span class=\"state good\">waits for a game"), "{home}");
    let mut players =
        [client(&desk, port, "mori", made, 1), client(&desk, port, "kawa", "secret-of-kawa", 1)];
    players.iter_mut().for_each(|player| assert!(ended(player).success()));
    until("a game", || open.games("friday") == 1);
    let table = open.get("/e/friday/table");
    assert!(table.contains("mori") && table.contains("kawa"), "{table}");
    let head =
        between(&open.get("/events/publish?event=friday"), "<p><code data-copy=\"Copy\">", "<").to_owned();
    assert!(open.get("/e/friday/arbiter").contains("do-pause"), "its owner is the arbiter");

    let deadline = [("event", "friday"), ("change", "until"), ("until", "2020-01-01T00:00")];
    assert_eq!(open.post("/events/change", &deadline).status, 400, "its players decide when games begin");
    assert!(!open.get("/events/change?event=friday").contains("value=\"until\""));

    open.order("friday", "finish");
    until("a stop", || open.state("friday") == "stopped");
    let checked = desk.renmei(&["verify", "Renmei/friday.db", "--head", &head]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    open.order("friday", "begin");
    until("a league", || open.state("friday") == "plays");
    let lines = open.get("/guests?event=friday");
    let port = between(&lines, "\nport=", "\n");
    let mut stranger = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    stranger.write_all(b"LOGIN mori test-600-10,guessed\n").unwrap();
    let mut answer = [0; 15];
    stranger.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"LOGIN:incorrect");
    let mut guest = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    guest.write_all(b"LOGIN kawa test-600-10,secret-of-kawa\n").unwrap();
    until("a guest", || open.get("/guests?event=friday").contains("<strong>kawa"));
    let fields = [("event", "friday"), ("name", "mori"), ("order", "remove")];
    assert_eq!(open.send("/guests", &fields), "/guests?event=friday");
    let left = open.get("/guests?event=friday");
    assert!(!left.contains("value=\"mori\"") && left.contains("value=\"kawa\""), "{left}");
}

#[test]
fn a_test_game_leaves_no_account_behind_and_a_stopped_league_is_not_over() {
    let desk = Desk::new();
    let random = program("renmei-random").display().to_string();
    let open = Open::of(&desk.path("Renmei"));
    let added = open.send("/engines/add", &[("program", &random)]);
    let engine = added.strip_prefix("/engine?name=").unwrap().replace("%20", " ");
    let league = [("kind", "guests"), ("name", "friday"), ("reach", "here"), ("port", "0"), ("do", "begin")];
    assert_eq!(open.send("/new/event", &[&league[..], &[("max_moves", "40")]].concat()), "/");
    until("a league", || open.state("friday") == "plays");
    let test = [("event", "friday"), ("order", "test"), ("engine", engine.as_str())];
    for _ in 0..2 {
        assert_eq!(open.send("/guests", &test), "/guests?event=friday");
    }
    let accounts = || open.get("/guests?event=friday").matches("name=\"name\" value=\"tester").count();
    until("their game", || open.games("friday") == 1);
    until("accounts that are gone", || accounts() == 0);
    open.order("friday", "finish");
    until("a stop", || open.state("friday") == "stopped");
    let page = open.get("/e/friday/arbiter");
    assert!(page.contains("<strong>stopped</strong>") && !page.contains("The event is over"), "{page}");
}

#[test]
fn an_engine_plays_its_games_on_a_server_from_the_desk_and_is_over_then() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let random = program("renmei-random").display().to_string();
    let open = Open::of(&directory);
    let added = open.send("/engines/add", &[("program", &random)]);
    let engine = added.strip_prefix("/engine?name=").unwrap().replace("%20", " ");
    let league = [("kind", "guests"), ("name", "house"), ("reach", "here"), ("port", "0"), ("login", "open")];
    assert_eq!(
        open.send("/new/event", &[&league[..], &[("max_moves", "40"), ("do", "begin")]].concat()),
        "/"
    );
    until("a server", || open.state("house") == "plays");
    let lines = open.get("/guests?event=house");
    let port = between(&lines, "\nport=", "\n");
    let at_its_port = [("kind", "guests"), ("name", "another"), ("port", port), ("do", "begin")];
    let refused = open.post("/new/event", &at_its_port);
    assert!(refused.status == 409 && refused.body.contains(port), "{}", refused.body);

    let form = |secret: &'static str| {
        vec![
            ("kind", "floodgate"),
            ("name", "mine"),
            ("engine", engine.as_str()),
            ("host", "127.0.0.1"),
            ("port", port),
            ("login", "mori"),
            ("game", "test-600-10"),
            ("secret", secret),
            ("games", "2"),
            ("do", "keep"),
        ]
    };
    let faulty = open.post("/new/event", &form("two words"));
    assert!(faulty.body.contains("class=\"wrong\"") && faulty.body.contains("blank"), "{}", faulty.body);
    assert_eq!(open.send("/new/event", &form("secret-of-mori")), "/");
    until("the list", || open.state("mine") == "stopped");
    open.order("mine", "begin");
    until("a login", || open.get("/seat?event=mine").contains("waits for a game"));
    assert!(open.get("/").contains("/seat?event=mine"));
    let mut other = client(&desk, port, "kawa", "secret-of-kawa", 2);
    until("an end", || open.state("mine") == "over");
    assert!(ended(&mut other).success());
    let page = open.get("/seat?event=mine");
    assert!(page.contains("kawa") && page.contains("<td>2</td>"), "{page}");
    assert_eq!(open.games("mine"), 2);
    drop(open);
    let open = Open::of(&directory);
    until("the list", || open.state("mine") == "over" && open.state("house") == "plays");
    assert_eq!(open.games("mine"), 2, "its games are played");
}

#[test]
fn an_invitation_is_kept_in_the_file_of_the_league_and_the_last_one_is_not_taken_out() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    let open = Open::of(&directory);
    let form =
        [("kind", "guests"), ("name", "night"), ("login", "invitation"), ("invited", "mori"), ("do", "keep")];
    assert_eq!(open.send("/new/event", &form), "/");
    let order = |name: &str, order: &str| {
        open.post("/guests", &[("event", "night"), ("name", name), ("password", "secret"), ("order", order)])
    };
    let text = || fs::read_to_string(directory.join("night.toml")).unwrap();
    assert_eq!(order("kawa", "admit").status, 303);
    assert!(text().contains("\"mori\"") && text().contains("\"kawa:$argon2id$"), "{}", text());
    assert!(text().starts_with("# Written by the desk."), "what stands around it stays");
    assert!(open.get("/guests?event=night").contains("pass=test-600-10,secret"));
    assert_eq!(order("mori", "remove").status, 303);
    let left = text();
    assert!(!left.contains("mori"), "{left}");
    let refused = order("kawa", "remove");
    assert!(refused.status == 400 && refused.body.contains("invites nobody"), "{}", refused.body);
    assert_eq!(text(), left);

    let random = program("renmei-random");
    let (head, serve) =
        ("[event]\nname = \"cup\"\n[time]\nbyoyomi = \"60s\"\n", "[serve]\nlogin = \"accounts\"\n");
    let house = format!("[[engines]]\nname = \"house\"\ncommand = '{}'\n", random.display());
    let remote = "[[engines]]\nname = \"team\"\nremote = true\n";
    let cup = [("text", [head, serve, &house, remote].concat()), ("do", "keep".to_owned())];
    let cup: Vec<_> = cup.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(open.send("/new/text", &cup), "/");
    assert!(open.get("/guests?event=cup").contains("<option value=\"team\">"), "its entrants are offered");
    let plain =
        [("text", [head, &house, &house.replace("house", "other")].concat()), ("do", "keep".to_owned())];
    let plain: Vec<_> = plain.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(open.send("/new/text", &plain), "/");
    assert_eq!(open.ask("GET", "/guests?event=cup-2", &[], "").status, 400, "nobody logs in there");
}
