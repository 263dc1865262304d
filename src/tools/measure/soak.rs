//! Kills the manager at random times, repeatedly, and restarts it with the same command. In the end every game of the
//! schedule must have been played exactly once, without surviving engines.

use crate::{
    database::{Counts, Database},
    manager::{expect_success, silence},
};
use anyhow::{Context, Result, ensure};
use std::{
    collections::BTreeMap,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};
use usi_shell::SplitMix64;
use xtask::{
    args::Flags,
    processes::{self, Process},
    workspace::{self, Scratch},
};

/// Flags of the command that have a value.
pub const FLAGS: [&str; 3] = ["--games", "--kills", "--seed"];

/// Time for engines to notice the end of their manager.
const GRACE: Duration = Duration::from_secs(5);

struct Soak {
    scratch: Scratch,
    engine: PathBuf,
    games: i64,
    seed: u64,
}

/// Kills, resumes, counts and prints a line.
///
/// # Errors
/// When the manager cannot be run, a game is missing, duplicated or miscounted, or an engine survives.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    workspace::build_release(false)?;
    let soak = Soak::new(flags.number("--games", 400)?, flags.number("--seed", 1)?)?;
    let kills = flags.number("--kills", 50)?;
    let begun = Instant::now();
    soak.finish("whole")?;
    // A quarter of the event is left for the last run, so that few kills come after its end.
    let mean = begun.elapsed() * 3 / 4 / kills;
    let hits = soak.kill_repeatedly(kills, mean)?;
    let standings = soak.finish("killed")?;
    soak.expect_nothing_lost(&standings)?;
    soak.expect_no_engine()?;
    println!(
        "soak: {kills} kills, {hits} of them during the event; {} distinct games as scheduled, none double; \
         standings equal to the games; no engine left (seed {})",
        soak.games, soak.seed
    );
    Ok(ExitCode::SUCCESS)
}

impl Soak {
    fn new(games: i64, seed: u64) -> Result<Self> {
        let scratch = Scratch::new("soak")?;
        // A copy with a unique name, to recognise its processes.
        let engine = scratch.file("engine");
        symlink(workspace::release("renmei-random"), &engine)?;
        Ok(Self { scratch, engine, games, seed })
    }

    fn db(&self, event: &str) -> PathBuf {
        self.scratch.file(&format!("{event}.db"))
    }

    fn command(&self, event: &str) -> Command {
        let mut command = Command::new(workspace::release("renmei"));
        command.arg("match");
        for (name, seed) in [("a", self.seed), ("b", self.seed + 1)] {
            command.args(["--engine", &format!("cmd={}", self.engine.display()), &format!("name={name}")]);
            command.arg(format!("option.Seed={seed}"));
        }
        command.args(["--games", &self.games.to_string(), "--seed", &self.seed.to_string()]);
        command.args(["--time", "byoyomi 10s", "--concurrency", "2", "--oversubscribe", "--quiet", "--json"]);
        command.args(["--openings", "none"]);
        command.arg("--db").arg(self.db(event));
        command
    }

    /// Plays the event to its end and returns the standings that the manager prints.
    fn finish(&self, event: &str) -> Result<BTreeMap<String, Counts>> {
        let mut command = self.command(event);
        let log = self.scratch.file("log");
        silence(&mut command, &log)?;
        let output = command.stdout(Stdio::piped()).output()?;
        expect_success(&command, output.status.success(), &log)?;
        read_standings(&output.stdout)
    }

    /// Returns the number of kills before the event was over.
    fn kill_repeatedly(&self, kills: u32, mean: Duration) -> Result<u32> {
        let mut random = SplitMix64::new(self.seed);
        let mut hits = 0;
        for _ in 0..kills {
            // Uniform between 0 and twice the mean, so that a kill may hit the start, a game or the end.
            let delay = mean.mul_f64(2.0 * random.uniform());
            hits += u32::from(self.kill_after(delay)?);
        }
        Ok(hits)
    }

    fn kill_after(&self, delay: Duration) -> Result<bool> {
        let mut command = self.command("killed");
        silence(&mut command, &self.scratch.file("log"))?;
        let mut manager = command.spawn().context("the manager could not be started")?;
        thread::sleep(delay);
        let running = manager.try_wait()?.is_none();
        manager.kill()?;
        manager.wait()?;
        Ok(running)
    }

    fn expect_nothing_lost(&self, standings: &BTreeMap<String, Counts>) -> Result<()> {
        let (killed, whole) = (Database::open(&self.db("killed"))?, Database::open(&self.db("whole"))?);
        let (games, places) = (killed.finished()?, killed.places()?);
        ensure!(games == self.games, "{games} games count instead of {}", self.games);
        ensure!(places == games, "{games} games were played for {places} pairings of the schedule");
        ensure!(killed.running()? == 0, "{} games never ended", killed.running()?);
        ensure!(
            killed.schedule()? == whole.schedule()?,
            "the schedule differs from that of an uninterrupted event"
        );
        let scores = killed.scores()?;
        ensure!(*standings == scores, "the standings are {standings:?}, the games say {scores:?}");
        Ok(())
    }

    fn expect_no_engine(&self) -> Result<()> {
        let begun = Instant::now();
        while !processes_of(&self.engine).is_empty() && begun.elapsed() < GRACE {
            thread::sleep(Duration::from_millis(50));
        }
        let left = processes_of(&self.engine);
        ensure!(left.is_empty(), "engines survived: {left:?}");
        Ok(())
    }
}

/// Ids of the processes whose command line begins with the program.
fn processes_of(program: &Path) -> Vec<u32> {
    let is_its = |process: &Process| process.words.first().is_some_and(|first| Path::new(first) == program);
    processes::all().into_iter().filter(is_its).map(|process| process.id).collect()
}

fn read_standings(json: &[u8]) -> Result<BTreeMap<String, Counts>> {
    let report: serde_json::Value = serde_json::from_slice(json).context("the manager printed no JSON")?;
    let rows = report["standings"].as_array().context("the report has no standings")?;
    let row = |row: &serde_json::Value| {
        let count = |key| row[key].as_i64();
        Some((row["name"].as_str()?.to_owned(), (count("wins")?, count("losses")?, count("draws")?)))
    };
    rows.iter().map(row).collect::<Option<_>>().context("a row of the standings lacks a name or a count")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn standings_are_read_from_a_report() {
        let json = br#"{"standings":[{"name":"a","games":3,"wins":2,"losses":0,"draws":1,"elo":null}]}"#;
        assert_eq!(read_standings(json).unwrap(), BTreeMap::from([("a".to_owned(), (2, 0, 1))]));
        assert!(read_standings(br#"{"standings":[{"name":"a"}]}"#).is_err());
    }

    #[test]
    fn a_process_is_found_by_its_program_and_only_while_it_lives() {
        let scratch = Scratch::new("soak-test").unwrap();
        let program = scratch.file("echo");
        symlink("/bin/cat", &program).unwrap();
        let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // Until it answers, the child may not have executed the program.
        child.stdin.as_mut().unwrap().write_all(b"?").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        assert_eq!(processes_of(&program), [child.id()]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(processes_of(&program).is_empty());
    }
}
