//! Events with local engines and remote players: the real binary, real sockets.

#![allow(clippy::unwrap_used)]

#[path = "hosted/hostile.rs"]
mod hostile;
#[path = "hosted/one_port.rs"]
mod one_port;
#[allow(dead_code)]
mod support;

use notation::csa::{move_from_csa, move_to_csa};
use rsshogi::{
    board::{MoveList, Position, hirate_position},
    movegen::generate_legal_all,
    types::Move32,
};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use support::{Desk, ended, program, until};

/// An event on the desk's database, and its address.
struct Hosted {
    child: Child,
    address: String,
    /// What it has printed so far.
    log: Arc<Mutex<String>>,
}

impl Hosted {
    fn start(desk: &Desk, text: &str) -> Self {
        let file = desk.write("event.toml", text);
        let mut args = vec!["serve", file.to_str().unwrap(), "--listen", "127.0.0.1:0"];
        args.extend(text.contains("[event]").then_some("--oversubscribe"));
        Self::run(desk, &args)
    }

    /// The program with these arguments, once it listens.
    fn run(desk: &Desk, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_renmei"))
            .args(args)
            .current_dir(desk.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut line, mut before) = (String::new(), String::new());
        while !line.starts_with("listening on ") {
            before += &line;
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the event does not listen: {before}");
        }
        // Keeps reading its output, so that later writes do not fail on a closed pipe.
        let log = Arc::new(Mutex::new(before));
        let stdout = BufReader::new(child.stdout.take().unwrap());
        for output in [Box::new(stderr) as Box<dyn BufRead + Send>, Box::new(stdout)] {
            let log = log.clone();
            thread::spawn(move || {
                let lines = output.lines().map_while(Result::ok);
                lines.for_each(|line| *log.lock().unwrap() += &format!("{line}\n"));
            });
        }
        let address = line.split_whitespace().nth(2).unwrap().to_owned();
        Self { child, address, log }
    }

    /// Waits until its host reads these words.
    fn reads(&self, words: &str) {
        let patience = Instant::now() + Duration::from_secs(300);
        while !self.log.lock().unwrap().contains(words) {
            assert!(Instant::now() < patience, "`{words}` is not read: {}", self.log.lock().unwrap());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn connect(&self) -> Guest {
        Guest::to(&self.address).unwrap()
    }

    /// Plays as `name` in every game until the event ends, in another thread; returns the results it received.
    fn player(&self, name: &'static str, style: Style) -> JoinHandle<Vec<String>> {
        let mut guest = self.connect();
        guest.say(&format!("LOGIN {name} secret x1"));
        thread::spawn(move || guest.play_all(style))
    }

    fn ends(&mut self) {
        self.ends_well();
    }

    /// Waits for the end; whether the exit code is 0.
    fn ends_well(&mut self) -> bool {
        let patience = Instant::now() + Duration::from_secs(300);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            assert!(Instant::now() < patience, "the event does not end");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        let _over_already = self.child.kill();
        let _over = self.child.wait();
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// Plays the first legal move.
    Plays,
    /// Resigns on its first turn.
    Resigns,
    /// Rejects every game.
    Rejects,
}

struct Guest {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
}

impl Guest {
    /// Connects, unless nobody listens.
    fn to(address: &str) -> Option<Self> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        Some(Self { reader: BufReader::new(stream.try_clone().unwrap()), stream })
    }

    fn say(&mut self, line: &str) {
        let _closed = writeln!(self.stream, "{line}");
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).unwrap_or(0);
        (read > 0).then(|| line.trim_end().to_owned())
    }

    fn play_all(&mut self, style: Style) -> Vec<String> {
        let (mut own, mut board, mut results) = ('+', hirate_position(), vec![]);
        while let Some(line) = self.line() {
            match line.as_str() {
                _ if line.starts_with("Your_Turn:") => own = line.chars().last().unwrap(),
                "BEGIN Position" => board = hirate_position(),
                "END Game_Summary" if style == Style::Rejects => self.say("REJECT"),
                "END Game_Summary" => self.say("AGREE"),
                "#WIN" | "#LOSE" | "#DRAW" | "#CENSORED" => results.push(line),
                _ if line.starts_with("START:") => self.turn(own, &board, style),
                _ if line.starts_with(['+', '-']) && line.len() >= 7 => {
                    let mv = move_from_csa(&board, &line[..7]).unwrap();
                    let piece = board.moved_piece_after_move(mv);
                    board.try_apply_move32(Move32::from_move_with_piece(mv, piece)).unwrap();
                    // Opening moves have a time only where they took some.
                    if line.contains(",T") {
                        self.turn(own, &board, style);
                    }
                }
                _ => {}
            }
        }
        results
    }

    fn turn(&mut self, own: char, board: &Position, style: Style) {
        let to_move = if board.turn() == rsshogi::types::Color::BLACK { '+' } else { '-' };
        if own != to_move {
            return;
        }
        let mut moves = MoveList::new();
        generate_legal_all(board, &mut moves);
        match (style, moves.iter().next()) {
            (Style::Plays, Some(mv)) => self.say(&move_to_csa(board, *mv).unwrap()),
            _ => self.say("%TORYO"),
        }
    }
}

/// The first legal move after those moves, or a resignation.
fn first_legal(played: &[String]) -> String {
    let (mut board, mut legal) = (hirate_position(), MoveList::new());
    for text in played {
        let mv = move_from_csa(&board, text).unwrap();
        let piece = board.moved_piece_after_move(mv);
        board.try_apply_move32(Move32::from_move_with_piece(mv, piece)).unwrap();
    }
    generate_legal_all(&board, &mut legal);
    legal.iter().next().map_or_else(|| "%TORYO".to_owned(), |mv| move_to_csa(&board, *mv).unwrap())
}

fn event(format: &str, wait: u64, missing: &str) -> String {
    let random = program("renmei-random");
    format!(
        r#"
[event]
name = "cup"
{format}

[serve]
wait = {wait}
missing = "{missing}"

[rules]
max_moves = 40

[time]
main = "60s"
byoyomi = "10s"

[[engines]]
name = "house engine"
command = "{}"
time.nodes = 1

[[engines]]
name = "kawa"
remote = true

[[engines]]
name = "mori"
remote = true
"#,
        random.display()
    )
}

#[test]
fn local_engines_and_remote_players_play_one_event() {
    let desk = Desk::new();
    let mut hosted = Hosted::start(&desk, &event("format = \"round-robin\"\ngames = 2", 30, "forfeit"));
    let kawa = hosted.player("kawa", Style::Plays);
    let mori = hosted.player("mori", Style::Resigns);
    hosted.ends();
    let (kawa, mori) = (kawa.join().unwrap(), mori.join().unwrap());
    assert_eq!(kawa.len(), 4);
    assert_eq!(mori, ["#LOSE"; 4]);
    assert!(kawa.iter().filter(|result| *result == "#WIN").count() >= 2, "both games against mori: {kawa:?}");
    let rated =
        desk.query("SELECT p.name FROM ratings r JOIN players p USING (event, player) ORDER BY r.rate");
    assert_eq!(
        (rated.len(), &rated[0][0][..]),
        (3, "mori"),
        "all players are rated, and the one that always resigns is last"
    );
    let counted = "SELECT count(*), count(DISTINCT black || white) FROM game_list WHERE state = 'counted'";
    assert_eq!(desk.query(counted), [["6", "6"]]);
    let resigned =
        desk.query("SELECT black, white, result_in_words FROM game_list WHERE cause = 'resignation'");
    assert_eq!(resigned.len(), 4, "{resigned:?}");
    assert!(
        resigned.iter().all(|game| game[..2].contains(&"mori".to_owned()) && !game[2].starts_with("mori"))
    );
}

#[test]
fn a_client_is_told_the_clock_of_each_colour() {
    let desk = Desk::new();
    let text = event("format = \"round-robin\"\ngames = 2", 30, "forfeit")
        .replace("main = \"60s\"\nbyoyomi = \"10s\"", "black = \"5m+2s\"\nwhite = \"10m+2s\"");
    let mut hosted = Hosted::start(&desk, &text);
    let mori = hosted.player("mori", Style::Resigns);
    let mut kawa = hosted.connect();
    kawa.say("LOGIN kawa secret x1");
    let summary: Vec<String> =
        std::iter::from_fn(|| kawa.line()).take_while(|line| line != "BEGIN Position").collect();
    let block = |name: &str| {
        let lines = summary.iter().skip_while(|line| **line != format!("BEGIN {name}"));
        lines.skip(1).take_while(|line| !line.starts_with("END")).cloned().collect::<Vec<_>>().join(" ")
    };
    // Its opponent may be an engine without a clock.
    let is_black = summary.iter().any(|line| line == "Your_Turn:+");
    let (own, total) = if is_black { (block("Time+"), 300) } else { (block("Time-"), 600) };
    assert!(own.contains(&format!("Total_Time:{total} ")) && own.contains("Increment:2 "), "{summary:?}");
    kawa.say("AGREE");
    kawa.play_all(Style::Resigns);
    hosted.ends();
    mori.join().unwrap();
    let times = "SELECT count(*) FROM games WHERE times IS NOT NULL";
    assert!(desk.query(times)[0][0].parse::<u32>().unwrap() >= 4, "the games have their clocks on record");
}

#[test]
fn the_preset_of_a_floodgate_host_pairs_those_who_wait_when_a_round_begins() {
    let desk = Desk::new();
    let preset = include_str!("../../configs/floodgate-host.toml");
    let hosted = Hosted::start(&desk, &preset.replace("minutes = [0, 30]", "every = \"2s\""));
    let players = ["kuma", "shika"].map(|name| {
        let mut guest = hosted.connect();
        guest.say(&format!("LOGIN {name} floodgate-600-10F,{name}"));
        thread::spawn(move || {
            let (mut own, mut summary) = ('+', String::new());
            while let Some(line) = guest.line() {
                summary += &format!("{line}\n");
                match line.as_str() {
                    _ if line.starts_with("Your_Turn:") => own = line.chars().last().unwrap(),
                    "END Game_Summary" => guest.say("AGREE"),
                    _ if line.starts_with("START:") && own == '+' => guest.say("%TORYO"),
                    "#WIN" | "#LOSE" => return (line, summary),
                    _ => {}
                }
            }
            panic!("{name} played no game: {summary}");
        })
    });
    let [(one, summary), (other, _)] = players.map(|player| player.join().unwrap());
    assert_ne!(one, other);
    assert!(summary.contains("Total_Time:600\n") && summary.contains("Increment:10\n"), "{summary}");
    assert!(summary.contains("Max_Moves:256\n") && summary.contains("Least_Time_Per_Move:1\n"), "{summary}");
}

#[test]
fn a_player_who_does_not_log_in_loses_by_default_and_the_event_continues() {
    let desk = Desk::new();
    let mut hosted = Hosted::start(&desk, &event("format = \"swiss\"\nrounds = 2", 5, "forfeit"));
    let mori = hosted.player("mori", Style::Resigns);
    hosted.ends();
    mori.join().unwrap();
    let missed = desk.query("SELECT result_in_words, evidence FROM game_list WHERE cause = 'default'");
    assert!(!missed.is_empty());
    assert!(
        missed
            .iter()
            .all(|game| !game[0].starts_with("kawa") && game[1].contains("kawa did not log in within 5 s"))
    );
}

#[test]
fn a_skipped_game_scores_for_neither_player() {
    let desk = Desk::new();
    let mut hosted = Hosted::start(&desk, &event("format = \"round-robin\"\ngames = 2", 1, "skip"));
    hosted.ends();
    let games = desk.query("SELECT DISTINCT state, cause FROM game_list");
    assert_eq!(games, [["aborted", "missing"]]);
    let score = desk.query("SELECT count(*) FROM game_list WHERE cause = 'missing'");
    assert_eq!(score, [["6"]], "each game is skipped once");
}

#[test]
fn a_player_who_keeps_rejecting_a_game_loses_it() {
    let desk = Desk::new();
    let mut hosted = Hosted::start(&desk, &event("format = \"round-robin\"\ngames = 2", 30, "forfeit"));
    let kawa = hosted.player("kawa", Style::Rejects);
    let mori = hosted.player("mori", Style::Resigns);
    hosted.ends();
    kawa.join().unwrap();
    mori.join().unwrap();
    let won = desk
        .query("SELECT count(*) FROM game_list WHERE cause = 'default' AND result_in_words NOT LIKE 'kawa%'");
    assert_eq!(won, [["4"]]);
    assert_eq!(desk.query("SELECT count(*) FROM game_list WHERE cause = 'not-started'"), [["8"]]);
}

#[test]
fn a_player_is_recognised_by_its_trip_and_others_can_only_watch() {
    let desk = Desk::new();
    let hosted = Hosted::start(&desk, &event("format = \"round-robin\"\ngames = 2", 30, "forfeit"));
    let hears = |login: &str| {
        let mut guest = hosted.connect();
        guest.say(login);
        let first = guest.line();
        (guest, first)
    };
    let (_kawa, first) = hears("LOGIN kawa cup-60-10,mine");
    assert_eq!(first.as_deref(), Some("LOGIN:kawa OK"));
    assert_eq!(hears("LOGIN kawa cup-60-10,theirs").1.as_deref(), Some("LOGIN:incorrect"));
    assert_eq!(hears("LOGIN stranger cup-60-10,x").1.as_deref(), Some("LOGIN:incorrect"));
    let (mut spectator, first) = hears("LOGIN stranger x x1");
    assert_eq!(first.as_deref(), Some("LOGIN:stranger OK"));
    spectator.say("%%WHO");
    let seen: Vec<String> = std::iter::from_fn(|| spectator.line()).take(4).collect();
    assert!(seen[1].starts_with("##[WHO] kawa+") && seen[1].contains(" cup-60-10 "), "{seen:?}");
    let shown = seen[2].strip_prefix("##[WHO] stranger+").unwrap().strip_suffix(" x1 connected").unwrap();
    assert!(shown.len() == 24 && shown.bytes().all(|b| b.is_ascii_hexdigit()), "{seen:?}");
}

#[test]
fn an_entrant_is_recognised_by_its_secret_after_a_restart() {
    let desk = Desk::new();
    let text = event("format = \"round-robin\"\ngames = 2", 300, "forfeit");
    let first = |hosted: &Hosted, login: &str| {
        let mut guest = hosted.connect();
        guest.say(login);
        (guest.line().unwrap(), guest)
    };
    let hosted = Hosted::start(&desk, &text);
    let (ok, mut kawa) = first(&hosted, "LOGIN kawa mine x1");
    assert_eq!(ok, "LOGIN:kawa OK");
    let shown = who(&mut kawa, "kawa");
    let bound = "SELECT count(*) FROM entrant_trips";
    until("the trip is bound", || desk.try_query(bound).is_some_and(|rows| rows == [["1"]]));
    drop(hosted); // killed
    let hosted = Hosted::start(&desk, &text);
    let (refused, mut thief) = first(&hosted, "LOGIN kawa theirs x1");
    assert_eq!(refused, "LOGIN:incorrect");
    assert_eq!(thief.line().as_deref(), Some("the entrant `kawa` has logged in with another secret"));
    let (ok, mut kawa) = first(&hosted, "LOGIN kawa mine x1");
    assert_eq!(ok, "LOGIN:kawa OK");
    assert_eq!(who(&mut kawa, "kawa"), shown);
}

#[test]
fn an_end_that_an_entrant_was_told_is_kept_when_the_event_is_killed_at_once() {
    let desk = Desk::new();
    let text = two_entrants().replace("games = 2", "games = 6");
    for told in 1..=6 {
        let hosted = Hosted::start(&desk, &text);
        let mut guests = ["kawa", "mori"].map(|name| {
            let mut guest = hosted.connect();
            guest.say(&format!("LOGIN {name} secret x1"));
            guest
        });
        for guest in &mut guests {
            while guest.line().unwrap() != "END Game_Summary" {}
            guest.say("AGREE");
        }
        for guest in &mut guests {
            while !guest.line().unwrap().starts_with("START:") {}
        }
        // It is the turn of one of them; the other's line is dropped.
        guests.iter_mut().for_each(|guest| guest.say("%TORYO"));
        while !["#WIN", "#LOSE"].contains(&guests[0].line().unwrap().as_str()) {}
        drop(hosted); // killed
        let counted = desk.query("SELECT count(*) FROM games WHERE state = 'counted'");
        assert_eq!(counted, [[told.to_string()]]);
    }
}

/// The id of a player in the answer to `%%WHO`.
fn who(guest: &mut Guest, name: &str) -> String {
    guest.say("%%WHO");
    let start = format!("##[WHO] {name}");
    let line = std::iter::from_fn(|| guest.line()).find(|line| line.starts_with(&start)).unwrap();
    while guest.line().unwrap() != "##[WHO] +OK" {}
    line.split(' ').nth(1).unwrap().to_owned()
}

/// Two entrants, `kawa` and `mori`, in an event of theirs alone.
fn two_entrants() -> String {
    let text = event("format = \"round-robin\"\ngames = 2", 300, "forfeit");
    let (head, players) = text.split_at(text.find("[[engines]]").unwrap());
    let remote = &players[players.rfind("[[engines]]\nname = \"kawa\"").unwrap()..];
    format!("{head}{remote}")
}

#[test]
fn a_hundred_spectators_who_chat_keep_no_entrant_from_its_offers() {
    let desk = Desk::new();
    let mut hosted = Hosted::start(&desk, &two_entrants());
    let mut crowd: Vec<Guest> = (0..100).map(|_| hosted.connect()).collect();
    for (n, spectator) in crowd.iter_mut().enumerate() {
        spectator.say(&format!("LOGIN spectator{n} x x1"));
    }
    for spectator in &mut crowd {
        assert!(spectator.line().unwrap().ends_with(" OK"));
    }
    let chat = format!("%%CHAT {}\n", "noise ".repeat(100)).repeat(30);
    // Nobody of the crowd reads, and the entrants do not read before the offer is made.
    let shout = |crowd: &mut [Guest]| crowd.iter_mut().for_each(|one| one.say(&chat));
    shout(&mut crowd);
    let seats = ["kawa", "mori"].map(|name| {
        let mut guest = hosted.connect();
        guest.say(&format!("LOGIN {name} secret x1"));
        guest
    });
    shout(&mut crowd);
    let players = seats.map(|mut guest| thread::spawn(move || guest.play_all(Style::Resigns)));
    hosted.ends();
    let results = players.map(|player| player.join().unwrap());
    assert!(results.iter().all(|results| results.len() == 2), "{results:?}");
    assert_eq!(desk.query("SELECT DISTINCT cause FROM game_list"), [["resignation"]]);
}

#[test]
fn spectators_of_an_event_see_a_game_move_by_move_to_its_end() {
    let desk = Desk::new();
    let hosted = Hosted::start(&desk, &two_entrants());
    let until = |guest: &mut Guest, last: &str| -> Vec<String> {
        let mut lines = vec![];
        while lines.last().is_none_or(|line: &String| !line.starts_with(last)) {
            lines.push(guest.line().unwrap());
        }
        lines
    };
    let mut seats = ["kawa", "mori"].map(|name| {
        let mut guest = hosted.connect();
        guest.say(&format!("LOGIN {name} secret x1"));
        guest
    });
    let summaries = seats.each_mut().map(|guest| until(guest, "END Game_Summary"));
    let id = summaries[0].iter().find_map(|line| line.strip_prefix("Game_ID:")).unwrap();
    let kawa_is_black = summaries[0].contains(&"Your_Turn:+".to_owned());
    if !kawa_is_black {
        seats.reverse();
    }
    let mut spectator = hosted.connect();
    spectator.say("LOGIN stranger x x1");
    spectator.say(&format!("%%MONITOR2ON {id}"));
    let prefix = format!("##[MONITOR2][{id}]");
    until(&mut spectator, &format!("{prefix} +OK"));
    for guest in &mut seats {
        guest.say("AGREE");
    }
    for guest in &mut seats {
        until(guest, "START:");
    }
    let [black, white] = &mut seats;
    black.say("+7776FU");
    until(white, "+7776FU");
    white.say("-3334FU");
    until(black, "-3334FU");
    black.say("%TORYO");
    let end = format!("{prefix} %TORYO");
    let seen = until(&mut spectator, &end);
    let shown: Vec<&str> = seen.iter().map(|line| line.strip_prefix(&prefix).unwrap().trim()).collect();
    assert_eq!(shown, ["+7776FU", "T0", "+OK", "-3334FU", "T0", "+OK", "%TORYO"]);
}

#[test]
fn a_name_that_is_no_entrant_is_told_so() {
    let desk = Desk::new();
    let hosted = Hosted::start(&desk, &event("format = \"round-robin\"\ngames = 2", 300, "forfeit"));
    let mut guest = hosted.connect();
    guest.say("LOGIN stranger cup-60-10,x");
    assert_eq!(guest.line().as_deref(), Some("LOGIN:incorrect"));
    let why = "no entrant of this event has the name `stranger`";
    assert_eq!(guest.line().as_deref(), Some(why));
    let port = hosted.address.rsplit(':').next().unwrap();
    let client = desk.write(
        "stranger.toml",
        &format!(
            "[floodgate]\nhost = \"127.0.0.1\"\nport = {port}\nlogin = \"stranger\"\npassword = \"cup-60-10,x\"\n\
             [engine]\ncommand = {:?}\n",
            program("renmei-random").display().to_string()
        ),
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_renmei"))
        .args(["floodgate", client.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = lines.map(Result::unwrap).find(|line| line.contains("refuses")).unwrap();
    child.kill().unwrap();
    ended(&mut child);
    assert!(told.contains(&format!("the server refuses the login of `stranger`: {why}")), "{told}");
}

#[test]
fn a_host_reads_who_is_awaited_who_comes_and_who_leaves() {
    let desk = Desk::new();
    let hosted = Hosted::start(&desk, &two_entrants());
    hosted.reads("waiting for kawa, mori, who forfeit in ");
    let mut kawa = hosted.connect();
    kawa.say("LOGIN kawa secret x1");
    hosted.reads("kawa logged in from 127.0.0.1");
    hosted.reads("waiting for mori, who forfeits in ");
    kawa.say("LOGOUT");
    hosted.reads("kawa left");
}

#[test]
fn a_host_that_died_before_its_first_game_waits_as_long_as_its_clients_may_sleep() {
    let desk = Desk::new();
    let text = event("format = \"round-robin\"\ngames = 2", 5, "forfeit");
    let hosted = Hosted::start(&desk, &text);
    hosted.reads("waiting for kawa, mori, who forfeit in 5 s");
    drop(hosted); // killed
    let hosted = Hosted::start(&desk, &text);
    hosted.reads("waiting for kawa, mori, who forfeit in 75 s");
}

#[test]
fn an_operator_sees_which_entrants_are_absent() {
    let desk = Desk::new();
    let hosted = Hosted::start(&desk, &two_entrants());
    let absent = || {
        let list: serde_json::Value = serde_json::from_str(&admin(&desk, &["list", "--json"])).unwrap();
        list["list"]["absent"].clone()
    };
    hosted.reads("waiting for kawa, mori, who forfeit in ");
    assert_eq!(absent(), serde_json::json!(["kawa", "mori"]));
    assert!(admin(&desk, &["list"]).contains("absent  mori\n"));
    let mut kawa = hosted.connect();
    kawa.say("LOGIN kawa secret x1");
    hosted.reads("kawa logged in from 127.0.0.1");
    assert_eq!(absent(), serde_json::json!(["mori"]));
}

/// Two players of an open league with their game begun, the one to move first.
fn league_game(hosted: &Hosted) -> [Guest; 2] {
    let mut players = [("kuma", '+'), ("tora", '-')].map(|(name, color)| {
        let mut guest = hosted.connect();
        guest.say(&format!("LOGIN {name} secret x1\n%%GAME t-600-10 {color}"));
        guest
    });
    for player in &mut players {
        while player.line().unwrap() != "END Game_Summary" {}
        player.say("AGREE");
    }
    for player in &mut players {
        while !player.line().unwrap().starts_with("START:") {}
    }
    players
}

const LEAGUE: &str = "[serve]\nname = \"open\"\ndatabase = \"event.db\"\n";

fn admin(desk: &Desk, args: &[&str]) -> String {
    let output = desk.renmei(&[&["admin", "event.db"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_host_of_an_open_league_reads_logins_results_and_what_its_operator_does() {
    let desk = Desk::new();
    let hosted = Hosted::start(&desk, LEAGUE);
    let [mut kuma, mut tora] = league_game(&hosted);
    hosted.reads("kuma logged in from 127.0.0.1");
    kuma.say("+7776FU");
    tora.say("%TORYO");
    hosted.reads("1-0  resignation (1 ply)");
    admin(&desk, &["pause"]);
    hosted.reads("paused");
    admin(&desk, &["announce", "the hall closes at six"]);
    hosted.reads("the hall closes at six");
    drop(tora);
    hosted.reads("tora left");
}

/// A page as it is sent.
fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_pause_and_an_announcement_are_shown_on_every_page() {
    let desk = Desk::new();
    let hosted = Hosted::start(&desk, &format!("{LEAGUE}[http]\nlisten = [\"127.0.0.1:0\"]\n"));
    hosted.reads("pages on http://");
    let log = hosted.log.lock().unwrap().clone();
    let pages = log.lines().find_map(|line| line.strip_prefix("pages on http://")).unwrap();
    let pages = pages.trim_end_matches('/');
    admin(&desk, &["pause"]);
    admin(&desk, &["announce", "the hall closes at six"]);
    let everywhere =
        |words: &str| ["/", "/table", "/games"].iter().all(|path| page(pages, path).contains(words));
    let patience = Instant::now() + Duration::from_secs(300);
    while !everywhere("the hall closes at six") || !everywhere("no new game begins for now") {
        assert!(Instant::now() < patience, "{}", page(pages, "/games"));
        thread::sleep(Duration::from_millis(20));
    }
    admin(&desk, &["resume"]);
    while everywhere("no new game begins for now") {
        assert!(Instant::now() < patience, "{}", page(pages, "/games"));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn engines_with_japanese_names_have_different_names_that_csa_players_can_read() {
    let desk = Desk::new();
    let random = program("renmei-random").display().to_string();
    let engines = ["ポナンザ", "技巧", "水匠"]
        .map(|name| format!("[[engines]]\nname = {name:?}\ncommand = {random:?}\ntime.nodes = 1\n"));
    let text = event("format = \"gauntlet\"\ngames = 1", 300, "forfeit");
    let head = &text[..text.find("[[engines]]").unwrap()];
    let text = format!("{head}[[engines]]\nname = \"kawa\"\nremote = true\n{}", engines.concat());
    let mut hosted = Hosted::start(&desk, &text);
    let mut kawa = hosted.connect();
    kawa.say("LOGIN kawa secret x1");
    let mut names = std::collections::BTreeSet::new();
    while let Some(line) = kawa.line() {
        match line.as_str() {
            "END Game_Summary" => kawa.say("AGREE"),
            _ if line.starts_with("START:") => kawa.say("%TORYO"),
            _ if line.starts_with("Name") => _ = names.insert(line[6..].to_owned()),
            _ if line.starts_with(['+', '-']) && line.contains(",T") => kawa.say("%TORYO"),
            _ => {}
        }
    }
    hosted.ends();
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(names.contains("ponanza") && names.contains("kawa"), "{names:?}");
    assert!(names.iter().all(|name| name.bytes().any(|byte| byte.is_ascii_alphanumeric())), "{names:?}");
}
