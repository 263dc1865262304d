//! Programs with pages, as a host starts them.

use crate::{
    driver::wait_for,
    support::{Desk, program},
};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
};

/// A program with pages, and their address.
pub struct Site {
    child: Child,
    /// Such as `http://127.0.0.1:8080`.
    pub address: String,
}

impl Site {
    /// Starts a program that serves pages.
    pub fn start(desk: &Desk, args: &[&str]) -> Self {
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
        let address = line.trim().trim_start_matches("pages on ").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    /// `renmei web` on the desk's database, where `at` says or on any port.
    pub fn of(desk: &Desk, at: Option<&str>) -> Self {
        let site = Self::start(desk, &["web", "event.db", "--http", at.unwrap_or("127.0.0.1:0")]);
        site.ready();
        site
    }

    /// Waits until the event is read.
    pub fn ready(&self) {
        let is_there = |path: &str| {
            let answer = self.get(path);
            answer.starts_with('{') && !answer.contains("\"error\"")
        };
        wait_for("the event", || is_there("/api/table") && is_there("/api/now"));
    }

    /// An address on this site.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// Host and port.
    pub fn host(&self) -> &str {
        self.address.trim_start_matches("http://")
    }

    /// What a path answers, without its head.
    pub fn get(&self, path: &str) -> String {
        loop {
            let mut bytes = vec![];
            let asked = format!("GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.host());
            if let Ok(mut stream) = TcpStream::connect(self.host()) {
                let _refused = stream
                    .write_all(asked.as_bytes())
                    .and_then(|()| stream.read_to_end(&mut bytes).map(drop));
            }
            let text = String::from_utf8_lossy(&bytes);
            let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
            // An address may ask only so often: a fast machine waits as it is told to.
            if !head.lines().next().is_some_and(|line| line.contains(" 429 ")) {
                return body.to_owned();
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }

    /// Ends the program as a crash does.
    pub fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.host().to_owned()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _over_already = self.child.kill();
        let _over = self.child.wait();
    }
}

/// A stored match of two players with these names.
pub fn stored(desk: &Desk, names: [&str; 2], games: &str) {
    let random = format!("cmd={}", program("renmei-random").display());
    let names = names.map(|name| format!("name={name}"));
    let players: [&[&str]; 2] = [&[&random, &names[0]], &[&random, &names[1], "option.Seed=9"]];
    let played = desk.play(&players, &["--games", games, "--time", "300s", "--max-moves", "40"]);
    assert_eq!(played.code(), Some(0), "{}", played.text());
}

/// A match of fast engines that is played with pages, and goes on long after the test has seen enough.
pub fn live(desk: &Desk, games: &str) -> Site {
    let random = format!("cmd={}", program("renmei-random").display());
    let puppet = format!("cmd={}", program("renmei-puppet").display());
    let mut args = vec!["match", "--db", "event.db", "--engine", &random, "name=a", "option.Seed=3"];
    args.extend(["--engine", &puppet, "name=b", "option.Mode=late", "option.Delay=20"]);
    args.extend([
        "--time",
        "300s",
        "--max-moves",
        "60",
        "--concurrency",
        "2",
        "--oversubscribe",
        "--no-dashboard",
    ]);
    args.extend(["--http", "127.0.0.1:0", "--openings", "none", "--games", games]);
    let site = Site::start(desk, &args);
    site.ready();
    site
}
