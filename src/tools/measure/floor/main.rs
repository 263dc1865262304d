//! The least work a program needs for these games: two pipes, without rules, clock, schedule or records. Its figures
//! stand beside the manager's, because pipes and the system's scheduler dominate the cost of a ply.
//!
//! One blocking thread per concurrent game.

use anyhow::{Context, Result, bail};
use std::{
    collections::HashMap,
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Instant,
};

struct Job {
    engine: String,
    mode: String,
    sleep_us: String,
    plies: usize,
    games: u64,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let flags: HashMap<_, _> =
        words.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    let text = |flag, default| flags.get(flag).copied().unwrap_or(default);
    let number = |flag, default| -> Result<u64> {
        text(flag, default).parse().with_context(|| format!("`{flag}` is not a number"))
    };
    let engine = flags.get("--engine").context("`--engine` is missing")?;
    let mode = text("--mode", "king");
    let job = Job {
        engine: (*engine).to_owned(),
        mode: mode.to_owned(),
        sleep_us: text("--sleep-us", "0").to_owned(),
        plies: if mode == "rook" { 252 } else { 12 },
        games: number("--games", "1")?,
    };
    let times = play_all(&job, usize::try_from(number("--concurrency", "1")?)?)?;
    flags.get("--times").map_or(Ok(()), |file| write(&times, file))
}

/// Writes the time of every move, in microseconds, one a line.
fn write(times: &[u64], file: &str) -> Result<()> {
    let lines = times.iter().fold(String::new(), |mut lines, time| {
        let _never_fails = writeln!(lines, "{time}");
        lines
    });
    fs::write(file, lines).with_context(|| format!("`{file}` could not be written"))
}

fn play_all(job: &Job, concurrency: usize) -> Result<Vec<u64>> {
    let begun = AtomicU64::new(0);
    let open = |_| Ok([Pipes::open(job)?, Pipes::open(job)?]);
    let places = (0..concurrency).map(open).collect::<Result<Vec<_>>>()?;
    thread::scope(|scope| {
        let mut places = places.into_iter();
        // The first games are played on this thread, so that one game at a time needs only one thread.
        let first = places.next().context("`--concurrency 0` plays nothing")?;
        let others: Vec<_> = places.map(|place| scope.spawn(|| play_some(place, job, &begun))).collect();
        let mut times = play_some(first, job, &begun)?;
        for other in others {
            times.extend(other.join().map_err(|_| anyhow::anyhow!("a game panicked"))??);
        }
        Ok(times)
    })
}

fn play_some(mut engines: [Pipes; 2], job: &Job, begun: &AtomicU64) -> Result<Vec<u64>> {
    let mut times = Vec::new();
    while begun.fetch_add(1, Ordering::Relaxed) < job.games {
        play(&mut engines, job.plies, &mut times)?;
    }
    engines.into_iter().try_for_each(Pipes::close)?;
    Ok(times)
}

fn play(engines: &mut [Pipes; 2], plies: usize, times: &mut Vec<u64>) -> Result<()> {
    for engine in engines.iter_mut() {
        engine.ask("usinewgame\nisready\n", "readyok")?;
    }
    let mut position = String::from("position startpos moves");
    for ply in 0..plies {
        let order = format!("{position}\ngo btime 0 wtime 0 byoyomi 10000\n");
        let asked = Instant::now();
        let reply = engines[ply % 2].ask(&order, "bestmove ")?;
        times.push(u64::try_from(asked.elapsed().as_micros())?);
        position.push(' ');
        position.push_str(reply);
    }
    Ok(())
}

struct Pipes {
    child: Child,
    orders: ChildStdin,
    replies: BufReader<ChildStdout>,
    line: String,
}

impl Pipes {
    fn open(job: &Job) -> Result<Self> {
        let mut command = Command::new(&job.engine);
        command.args(["--mode", &job.mode, "--sleep-us", &job.sleep_us]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{}` could not be started", job.engine))?;
        let (Some(orders), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("no pipes")
        };
        let mut pipes = Self { child, orders, replies: BufReader::new(replies), line: String::new() };
        pipes.ask("usi\n", "usiok")?;
        Ok(pipes)
    }

    /// Writes an order and reads up to a line that begins with `answer`; returns the rest of that line.
    fn ask(&mut self, order: &str, answer: &str) -> Result<&str> {
        self.orders.write_all(order.as_bytes())?;
        loop {
            self.line.clear();
            if self.replies.read_line(&mut self.line)? == 0 {
                bail!("the engine ended without `{answer}`");
            }
            if self.line.starts_with(answer) {
                return Ok(self.line[answer.len()..].trim_end());
            }
        }
    }

    fn close(mut self) -> Result<()> {
        self.orders.write_all(b"quit\n")?;
        self.child.wait()?;
        Ok(())
    }
}
