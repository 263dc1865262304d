//! The dashboard on a terminal: it appears, obeys keys and signals, and restores the terminal.

use crate::support::{Desk, ended, none_left, program};
use nix::{
    pty::{OpenptyResult, Winsize, openpty},
    sys::{
        signal::{Signal, kill},
        termios::{LocalFlags, tcgetattr},
    },
    unistd::Pid,
};
use std::{
    fs::File,
    io::{Read, Write},
    num::NonZero,
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";
/// The cursor is hidden after each frame.
const FRAME_END: &str = "\u{1b}[?25l";

/// A match on a pseudo-terminal.
struct Shown {
    child: Child,
    keys: File,
    terminal: OwnedFd,
    bytes: mpsc::Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// Everything that the terminal has received.
    seen: String,
    /// What its frames have shown.
    frames: String,
}

impl Shown {
    /// Plays `games` games of two random movers.
    fn start(desk: &Desk, games: &str, more: &[&str]) -> Self {
        let random = format!("cmd={}", program("renmei-random").display());
        let db = desk.db().display().to_string();
        let mut args = vec!["match", "--db", &db, "--games", games, "--oversubscribe", "--time", "300s"];
        args.extend([
            "--engine",
            &random,
            "name=uniform",
            "--engine",
            &random,
            "name=other",
            "option.Seed=9",
        ]);
        args.extend(more);
        Self::run(desk, &args)
    }

    fn run(desk: &Desk, args: &[&str]) -> Self {
        Self::speaking(desk, args, "C.UTF-8")
    }

    /// Runs a command for a user of this locale.
    fn speaking(desk: &Desk, args: &[&str], locale: &str) -> Self {
        let (rows, columns) = (NonZero::new(40).unwrap(), NonZero::new(120).unwrap());
        let size = Winsize { ws_row: rows.get(), ws_col: columns.get(), ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
        let end = || slave.try_clone().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command.current_dir(desk.dir.path()).env("TERM", "xterm").args(args);
        command.env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", locale);
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let keys = File::from(master.try_clone().unwrap());
        let (chunks, bytes) = mpsc::channel();
        thread::spawn(move || {
            let (mut master, mut buf) = (File::from(master), [0; 4096]);
            while let Ok(count @ 1..) = master.read(&mut buf) {
                let _receiver_gone = chunks.send(buf[..count].to_vec());
            }
        });
        let screen = vt100::Parser::new(rows, columns, 0);
        Self { child, keys, terminal: slave, bytes, screen, seen: String::new(), frames: String::new() }
    }

    /// Waits until the terminal shows this text, or has shown it before.
    fn until(&mut self, text: &str) {
        let patience = Instant::now() + testing::PATIENCE;
        while !self.seen.contains(text) && !self.frames.contains(text) {
            assert!(Instant::now() < patience, "no {text:?} on {}", self.screen.screen().contents());
            if let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(100)) {
                self.draw(&bytes);
            }
        }
    }

    /// Draws as a terminal does, and keeps what each frame shows: the program sends changes of cells alone, so that a word
    /// can stand on the screen whose letters never came together.
    fn draw(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'l') {
            self.screen.process(part);
            self.seen.push_str(&String::from_utf8_lossy(part));
            if self.seen.ends_with(FRAME_END) {
                self.frames.push_str(&self.screen.screen().contents());
            }
        }
    }

    fn forget(&mut self) {
        self.seen.clear();
        self.frames.clear();
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.terminal).unwrap().local_flags.contains(LocalFlags::ICANON)
    }

    /// The exit code; the terminal must be restored.
    fn ends(&mut self) -> Option<i32> {
        let code = ended(&mut self.child).code();
        self.until(LEAVE);
        assert!(!self.is_raw(), "the terminal is still raw");
        code
    }
}

#[test]
fn a_match_on_a_terminal_is_shown_and_its_report_follows_the_dashboard() {
    let desk = Desk::new();
    let mut shown = Shown::start(&desk, "4", &[]);
    shown.until(ENTER);
    shown.until("Standings");
    assert_eq!(shown.ends(), Some(0));
    shown.until("black scores");
    let (screens, report) = shown.seen.split_once(LEAVE).unwrap();
    assert!(!screens.contains("black scores") && report.contains("uniform"), "{report}");
}

#[test]
fn the_dashboard_and_the_report_are_in_the_language_of_the_user() {
    let desk = Desk::new();
    let random = format!("cmd={}", program("renmei-random").display());
    let engines = ["--engine", &random, "name=uniform", "--engine", &random, "name=other"];
    let more = ["--games", "4", "--oversubscribe", "--time", "300s"];
    let play = [&["match", "--db", "a.db"][..], &engines, &more].concat();
    let mut shown = Shown::speaking(&desk, &play, "ja_JP.UTF-8");
    shown.until("☗側");
    assert_eq!(shown.ends(), Some(0));
    shown.until("先手の得点率");
    assert!(!shown.seen.contains("Standings"), "{}", shown.seen);
    // What is asked for on the command line comes before the environment.
    let play = [&["--language", "en", "match", "--db", "b.db"][..], &engines, &more].concat();
    let mut shown = Shown::speaking(&desk, &play, "ja_JP.UTF-8");
    shown.until("Standings");
    assert_eq!(shown.ends(), Some(0));
    shown.until("black scores");
}

#[test]
fn ctrl_c_stops_with_the_dashboard_as_without_it() {
    let desk = Desk::new();
    let mut shown = Shown::start(&desk, "100000", &["--name", "ctrl-c"]);
    shown.until("Running games");
    assert!(shown.is_raw());
    shown.press("\u{3}");
    assert_eq!(shown.ends(), Some(3));
    shown.until("not complete");
}

#[test]
fn a_terminated_match_gives_the_terminal_back() {
    let desk = Desk::new();
    let mut shown = Shown::start(&desk, "100000", &[]);
    shown.until("Running games");
    kill(Pid::from_raw(shown.child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(shown.ends(), Some(3));
    none_left(&desk.db().display().to_string());
}

#[test]
fn lines_are_printed_after_the_dashboard_is_closed() {
    let desk = Desk::new();
    let mut shown = Shown::start(&desk, "100000", &[]);
    shown.until("Standings");
    shown.press("q");
    shown.until(LEAVE);
    shown.until(" plies)\r\n");
    kill(Pid::from_raw(shown.child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(shown.ends(), Some(3));
}

#[test]
fn diagnostics_go_to_the_dashboards_log() {
    let desk = Desk::new();
    let mut shown = Shown::start(&desk, "100000", &["option.ThinkTime=500", "-v"]);
    shown.until("Running games");
    shown.press("L");
    kill(Pid::from_raw(shown.child.id() as i32), Signal::SIGINT).unwrap();
    shown.until("signal received");
    kill(Pid::from_raw(shown.child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(shown.ends(), Some(3));
    let (_, screens) = shown.seen.split_once(ENTER).unwrap();
    let (screens, _) = screens.split_once(LEAVE).unwrap();
    assert!(!screens.contains("signal=2\n") && !screens.contains("signal=2\r\n"), "{screens}");
}

#[test]
fn without_the_dashboard_a_terminal_gets_plain_lines() {
    let desk = Desk::new();
    let mut shown = Shown::start(&desk, "2", &["--no-dashboard"]);
    assert_eq!(ended(&mut shown.child).code(), Some(0));
    shown.until("black scores");
    assert!(shown.seen.contains("game 2  ") && !shown.seen.contains('\u{1b}'), "{}", shown.seen);
}

/// The configuration of a client of the league at that port.
fn player(desk: &Desk, name: &str, port: &str) -> String {
    let engine = program("renmei-random");
    let text = format!(
        "[floodgate]\nhost = \"127.0.0.1\"\nport = {port}\nlogin = \"{name}\"\n\
         password = \"t-60-1F,{name}\"\nbackoff = \"100ms\"\n[engine]\ncommand = {:?}\n[ratings]\nkawa = 2000\n",
        engine.display().to_string()
    );
    desk.write(&format!("{name}.toml"), &text).display().to_string()
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _over_already = self.child.kill();
    }
}

/// A client without a dashboard; killed at the end of the test.
struct Player(Child);

impl Drop for Player {
    fn drop(&mut self) {
        let _over_already = self.0.kill();
    }
}

fn plays(desk: &Desk, file: &str, more: &[&str]) -> Player {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.current_dir(desk.dir.path()).args(["floodgate", file]).args(more);
    Player(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// An open league on a terminal, and its port.
fn league(desk: &Desk) -> (Shown, String) {
    desk.write("league.toml", "[serve]\nlisten = [\"127.0.0.1:0\"]\nmax_moves = 40\n");
    let mut shown = Shown::run(desk, &["serve", "league.toml"]);
    shown.until("127.0.0.1:");
    shown.until("\u{1b}");
    let (_, rest) = shown.seen.rsplit_once("127.0.0.1:").unwrap();
    let port = rest.chars().take_while(char::is_ascii_digit).collect();
    (shown, port)
}

#[test]
fn an_open_league_shows_logins_and_games_until_it_is_stopped() {
    let desk = Desk::new();
    let (mut league, port) = league(&desk);
    let [mut kawa, mut mori] =
        ["kawa", "mori"].map(|name| plays(&desk, &player(&desk, name, &port), &["--games", "1"]));
    league.until("joins");
    assert!(ended(&mut kawa.0).success() && ended(&mut mori.0).success());
    league.press("9");
    league.until("plies");
    league.until("logged");
    league.press("4\r");
    league.until("Eval");
    league.press("\u{3}");
    assert_eq!(league.ends(), Some(0));
}

#[test]
fn an_engine_on_a_server_is_shown_and_leaves_after_its_game_at_the_first_ctrl_c() {
    let desk = Desk::new();
    let (mut league, port) = league(&desk);
    let mut kawa = plays(&desk, &player(&desk, "kawa", &port), &[]);
    let mut mori = Shown::run(&desk, &["floodgate", &player(&desk, "mori", &port)]);
    mori.until("2000");
    mori.press("9");
    mori.until("offers");
    mori.press("\u{3}");
    assert_eq!(mori.ends(), Some(0));
    mori.until("on the scale of its rated opponents");
    kill(Pid::from_raw(kawa.0.id() as i32), Signal::SIGTERM).unwrap();
    assert!(ended(&mut kawa.0).success());
    league.press("\u{3}");
    assert_eq!(league.ends(), Some(0));
}

#[test]
fn a_finished_event_is_watched_and_its_games_are_stepped_through() {
    let desk = Desk::new();
    assert_eq!(Shown::start(&desk, "2", &["--max-moves", "30"]).ends(), Some(0));
    let mut shown = Shown::run(&desk, &["watch", &desk.db().display().to_string()]);
    shown.until("the event is over");
    shown.press("4\r");
    shown.until("Eval");
    shown.press("g");
    shown.until("follows");
    shown.press("q");
    assert_eq!(shown.ends(), Some(0));
}

#[test]
fn a_message_makes_room_for_the_keys_again_without_one_being_pressed() {
    let desk = Desk::new();
    let (mut league, port) = league(&desk);
    let mut mori = Shown::run(&desk, &["floodgate", &player(&desk, "mori", &port)]);
    mori.until("logged in to");
    mori.forget();
    mori.until("quit");
    mori.press("\u{3}");
    assert_eq!(mori.ends(), Some(0));
    league.press("\u{3}");
    assert_eq!(league.ends(), Some(0));
}

#[test]
fn the_screen_of_a_client_that_has_played_its_games_says_that_q_leaves() {
    let desk = Desk::new();
    let (mut league, port) = league(&desk);
    let mut mori = Shown::run(&desk, &["floodgate", &player(&desk, "mori", &port), "--games", "1"]);
    mori.until("Standings");
    mori.press("1");
    let mut kawa = plays(&desk, &player(&desk, "kawa", &port), &["--games", "1"]);
    mori.until("over,");
    mori.until("leaves");
    mori.press("q");
    assert_eq!(mori.ends(), Some(0));
    assert!(ended(&mut kawa.0).success());
    league.press("\u{3}");
    assert_eq!(league.ends(), Some(0));
    let report = |args: &[&str]| String::from_utf8(desk.renmei(args).stdout).unwrap();
    let (ours, league) = (report(&["report", "mori.db"]), report(&["report", "league.db"]));
    assert!(ours.starts_with("mori · games on 127.0.0.1 · 1 game"), "{ours}");
    assert!(league.starts_with("league · open league · 1 game"), "{league}");
    assert!(!ours.contains("not complete") && !league.contains("not complete"), "{ours}{league}");
    assert!(league.contains(" kawa ") && !league.contains("kawa+"), "{league}");
    let json: serde_json::Value = serde_json::from_str(&report(&["report", "league.db", "--json"])).unwrap();
    let row = &json["standings"][0];
    assert!(row["id"].as_str().unwrap().starts_with(&format!("{}+", row["name"].as_str().unwrap())));
    assert_eq!(json["stages"][0]["format"], "open league");
}
