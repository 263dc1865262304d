//! USI client for tests: sends and receives lines, each wait with a timeout.
#![allow(dead_code)] // each test binary uses its own part

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any correct answer takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// One end of a USI conversation.
pub struct Talk {
    stdin: Option<Box<dyn Write>>,
    lines: Receiver<Vec<u8>>,
    pub child: Option<Child>,
}

impl Talk {
    /// Talks over any two pipes.
    pub fn over(stdin: impl Write + 'static, stdout: impl Read + Send + 'static) -> Self {
        // Bounded, so that a flood of lines does not fill the memory of the test.
        let (sender, lines) = mpsc::sync_channel(1024);
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        Self { stdin: Some(Box::new(stdin)), lines, child: None }
    }

    /// Starts `program` and talks to it.
    pub fn start(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut talk = Self::over(stdin, stdout);
        talk.child = Some(child);
        talk
    }

    /// Sends one line. A write error is ignored: the engine may have closed its stdin.
    pub fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        let _ = stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush());
    }

    /// The lines of a search, the `bestmove` last.
    pub fn search(&mut self, position: &str, go: &str) -> Vec<String> {
        self.send(&format!("position {position}"));
        self.send(go);
        self.until("bestmove")
    }

    /// The move returned by a search.
    pub fn best_by(&mut self, position: &str, go: &str) -> String {
        let line = self.search(position, go).pop().unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    }

    /// Ends the engine's stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Takes the write end, for tests that expect writes to fail.
    pub fn take_stdin(&mut self) -> Box<dyn Write> {
        self.stdin.take().unwrap()
    }

    /// True if the output has ended; false while a writer is left.
    pub fn is_at_end(&self) -> bool {
        matches!(self.lines.recv_timeout(Duration::from_millis(100)), Err(RecvTimeoutError::Disconnected))
    }

    /// The next line as bytes, its newline included if it had one; `None` at the end of the output.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing was printed for {PATIENCE:?}"),
        }
    }

    /// The next line as text without its newline; `None` at the end of the output.
    pub fn line(&self) -> Option<String> {
        Some(String::from_utf8_lossy(&self.bytes()?).trim_end().to_owned())
    }

    /// The lines up to and including the first that starts with `prefix`.
    pub fn until(&self, prefix: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.line() {
            lines.push(line);
            if lines.last().unwrap().starts_with(prefix) {
                return lines;
            }
        }
        panic!("the output ended before `{prefix}`; it was {lines:?}");
    }

    /// Sends `line` and returns the first line that starts with `prefix`.
    pub fn ask(&mut self, line: &str, prefix: &str) -> String {
        self.send(line);
        self.until(prefix).pop().unwrap()
    }

    /// Sends `usi`, `isready`, `usinewgame` and reads the answers.
    pub fn greet(&mut self) {
        self.ask("usi", "usiok");
        self.ask("isready", "readyok");
        self.send("usinewgame");
    }

    /// Sends `position` and `go`, and returns the text after `bestmove`.
    pub fn best(&mut self, position: &str) -> String {
        self.send(&format!("position {position}"));
        self.ask("go btime 0 wtime 0 byoyomi 1000", "bestmove")["bestmove".len()..].trim().to_owned()
    }

    /// Asserts that all input so far is processed and that `readyok` is the only further output.
    pub fn expect_silence(&mut self) {
        self.send("isready");
        assert_eq!(self.line().as_deref(), Some("readyok"));
    }

    /// Waits for the process to end.
    pub fn exit(&mut self) -> ExitStatus {
        let child = self.child.as_mut().unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the process did not end in {PATIENCE:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
