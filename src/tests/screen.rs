//! The dashboard on a terminal: it comes, obeys keys and signals, and leaves everything as it was.

use crate::support::{Desk, none_left, program};
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
    os::fd::OwnedFd,
    process::{Child, Command},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

/// A match on a terminal of its own.
struct Shown {
    child: Child,
    keys: File,
    terminal: OwnedFd,
    bytes: mpsc::Receiver<Vec<u8>>,
    seen: String,
}

impl Shown {
    /// Plays so many games of two random movers.
    fn start(desk: &Desk, games: &str, more: &[&str]) -> Self {
        let random = format!("cmd={}", program("renmei-random").display());
        let db = desk.db().display().to_string();
        let mut args = vec!["match", "--db", &db, "--games", games, "--oversubscribe", "--time", "10s"];
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
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
        let end = || slave.try_clone().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command.current_dir(desk.dir.path()).env("TERM", "xterm").args(args);
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let keys = File::from(master.try_clone().unwrap());
        let (told, bytes) = mpsc::channel();
        thread::spawn(move || {
            let (mut master, mut buf) = (File::from(master), [0; 4096]);
            while let Ok(count @ 1..) = master.read(&mut buf) {
                let _nobody_waits = told.send(buf[..count].to_vec());
            }
        });
        Self { child, keys, terminal: slave, bytes, seen: String::new() }
    }

    /// Waits until the terminal was sent this.
    fn until(&mut self, text: &str) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !self.seen.contains(text) {
            assert!(Instant::now() < patience, "no {text:?} in {:?}", self.seen);
            if let Ok(bytes) = self.bytes.recv_timeout(Duration::from_millis(100)) {
                self.seen.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.terminal).unwrap().local_flags.contains(LocalFlags::ICANON)
    }

    /// The exit code; the terminal must be as it was.
    fn ends(&mut self) -> Option<i32> {
        let code = self.child.wait().unwrap().code();
        self.until(LEAVE);
        assert!(!self.is_raw(), "the terminal is still raw");
        code
    }
}

#[test]
fn a_match_on_a_terminal_is_shown_and_reported_after_the_screens_are_gone() {
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
fn ctrl_c_on_the_screens_stops_as_it_does_without_them() {
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
fn who_leaves_the_screens_reads_lines() {
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
fn without_the_dashboard_a_terminal_gets_plain_lines() {
    let desk = Desk::new();
    let mut shown = Shown::start(&desk, "2", &["--no-dashboard"]);
    assert_eq!(shown.child.wait().unwrap().code(), Some(0));
    shown.until("black scores");
    assert!(shown.seen.contains("2/2  ") && !shown.seen.contains('\u{1b}'), "{}", shown.seen);
}

#[test]
fn an_event_that_is_over_is_watched_and_its_games_are_stepped_through() {
    let desk = Desk::new();
    assert_eq!(Shown::start(&desk, "2", &["--max-moves", "30"]).ends(), Some(0));
    let mut shown = Shown::run(&desk, &["watch", &desk.db().display().to_string()]);
    shown.until("the event is over");
    shown.press("4\r");
    shown.until("Evaluation");
    // Only what changed is drawn, unless everything is asked for.
    shown.press("g\u{c}");
    shown.until("follows");
    shown.press("q");
    assert_eq!(shown.ends(), Some(0));
}
