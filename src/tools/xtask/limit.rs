//! An end for tests that wait for ever, under `cargo test`: nextest has a limit of its own, in `.config/nextest.toml`.

use anyhow::{Context, Result};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};
use xtask::processes::{all, below, signal};

/// Longer than a test takes whose own waits, of 400 seconds at most, have not ended it.
const LIMIT: Duration = Duration::from_secs(20 * 60);
/// Time between two looks.
const TICK: Duration = Duration::from_secs(1);

/// Runs a command until it ends, and ends those of its programs in which a test passes the limit. Returns true if the
/// command has succeeded.
///
/// # Errors
/// When the command cannot be started.
pub fn run(command: &mut Command) -> Result<bool> {
    let program = command.get_program().to_string_lossy().into_owned();
    let spawned = command.stdout(Stdio::piped()).spawn();
    let mut child = spawned.with_context(|| format!("`{program}` could not be started"))?;
    let output = BufReader::new(child.stdout.take().context("the output is piped")?);
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || output.split(b'\n').map_while(Result::ok).all(|line| sender.send(line).is_ok()));
    let mut slow = Slow::default();
    loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                let line = String::from_utf8_lossy(&line);
                println!("{line}");
                slow.read(&line, Instant::now());
            }
            // A process that a test has left behind may keep the output open.
            Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_none() => {}
            Err(_) => return Ok(child.wait()?.success()),
        }
        if let Some(test) = slow.overdue(Instant::now()) {
            end(child.id(), &test);
            slow = Slow::default();
        }
    }
}

/// Ends the program of a test, with everything that the test has started.
fn end(cargo: u32, test: &str) {
    let all = all();
    let family = below(&all, |process| process.id == cargo);
    eprintln!("test {test} has not ended in {} minutes: its program is ended, with", LIMIT.as_secs() / 60);
    family.iter().for_each(|process| eprintln!("  {} {}", process.id, process.words.join(" ")));
    family.iter().for_each(|process| signal("KILL", process.id));
}

/// Tests that libtest has called slow, each with the time of that; it does so after a minute.
#[derive(Default)]
struct Slow(BTreeMap<String, Instant>);

impl Slow {
    fn read(&mut self, line: &str, now: Instant) {
        let Some(line) = line.strip_prefix("test ") else { return };
        if let Some((name, _)) = line.split_once(" has been running for over ") {
            self.0.insert(name.to_owned(), now);
        } else if let Some((name, _)) = line.split_once(" ... ") {
            self.0.remove(name);
        }
    }

    fn overdue(&self, now: Instant) -> Option<String> {
        let late = self.0.iter().find(|(_, since)| now.duration_since(**since) >= LIMIT);
        late.map(|(name, _)| name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_overdue_that_was_called_slow_and_has_not_ended_since() {
        let (mut slow, begun) = (Slow::default(), Instant::now());
        for line in ["a", "b"].map(|name| format!("test web::{name} has been running for over 60 seconds")) {
            slow.read(&line, begun);
        }
        slow.read("test web::a ... ok", begun);
        assert_eq!(slow.overdue(begun + LIMIT / 2), None);
        assert_eq!(slow.overdue(begun + LIMIT).as_deref(), Some("web::b"));
    }

    #[test]
    fn a_command_ends_with_its_program_also_when_another_process_keeps_its_output() {
        let mut shell = Command::new("sh");
        assert!(run(shell.args(["-c", "sleep 60 & echo hello"])).unwrap());
        assert!(!run(Command::new("sh").args(["-c", "exit 3"])).unwrap());
    }
}
