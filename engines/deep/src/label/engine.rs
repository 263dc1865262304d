//! The labelling engine: a USI process.

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use notation::usi::{EngineLine, ScoreValue};
use rsshogi::types::Move;
use std::{
    fmt,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    str::SplitAsciiWhitespace,
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

/// Timeout for the start of the engine.
const START: Duration = Duration::from_secs(60);
/// Attempts per position, each with a new process, before labelling fails.
const TRIES: usize = 3;

/// An engine and its settings.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Command line of the engine.
    #[arg(long = "engine", value_name = "ENGINE")]
    pub command: String,
    /// An option of the engine, NAME=VALUE.
    #[arg(long = "option", value_parser = option)]
    pub options: Vec<(String, String)>,
    /// Search limits per position, the arguments of `go`.
    #[arg(long, default_value = "nodes 20000")]
    pub go: String,
    /// Timeout per position, in seconds.
    #[arg(long, default_value_t = 60)]
    pub patience: u64,
}

fn option(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').with_context(|| format!("`{text}` is not NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// An engine's result for a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Label {
    /// Its best move; `None` if it resigned or declared a win.
    pub mv: Option<String>,
    /// Score in centipawns for the side to move, mates at +-30,000.
    pub score: Option<i32>,
}

/// A running engine; it is killed on drop.
pub(super) struct Engine<'a> {
    options: &'a EngineOptions,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<EngineLine>,
}

impl EngineOptions {
    fn words(&self) -> SplitAsciiWhitespace<'_> {
        self.command.split_ascii_whitespace()
    }

    fn program(&self) -> &str {
        self.words().next().unwrap_or_default()
    }
}

/// The name of a teacher: its command line and settings.
impl fmt::Display for EngineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().collect::<Vec<_>>().join(" "))?;
        self.options.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))?;
        write!(f, " go {}", self.go)
    }
}

impl Label {
    /// Removes the move if it is illegal.
    pub(super) fn checked(mut self, legal: &[Move]) -> Self {
        self.mv = self.mv.filter(|text| Move::from_usi(text).is_some_and(|mv| legal.contains(&mv)));
        self
    }
}

impl<'a> Engine<'a> {
    pub(super) fn start(options: &'a EngineOptions) -> Result<Self> {
        let program = options.program();
        let failed = |fault| anyhow!("engine `{program}` could not be started: {fault}");
        let mut command = Command::new(program);
        command
            .args(options.words().skip(1))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(stdout).split(b'\n').map_while(Result::ok);
            // Ends when the receiver is dropped, that is with the engine.
            let _ended = lines.map(|line| EngineLine::parse(&line)).try_for_each(|line| sender.send(line));
        });
        let mut engine = Self { options, child, stdin, lines };
        engine.greet()?;
        Ok(engine)
    }

    fn greet(&mut self) -> Result<()> {
        self.send("usi");
        self.wait("usiok", START, |line| (*line == EngineLine::UsiOk).then_some(()))?;
        for (name, value) in &self.options.options {
            self.send(&format!("setoption name {name} value {value}"));
        }
        self.send("isready");
        self.wait("readyok", START, |line| (*line == EngineLine::ReadyOk).then_some(()))?;
        self.send("usinewgame");
        Ok(())
    }

    /// Evaluates a position; an engine that fails is replaced, up to [`TRIES`] times.
    pub(super) fn evaluate_with_retries(&mut self, sfen: &str) -> Result<Label> {
        let mut failure = None;
        for _ in 0..TRIES {
            match self.ask(sfen) {
                Ok(label) => return Ok(label),
                Err(fault) => failure = Some(fault),
            }
            *self = Self::start(self.options)?;
        }
        failure.map_or_else(|| Ok(Label::default()), Err)
    }

    fn ask(&mut self, sfen: &str) -> Result<Label> {
        self.send(&format!("position sfen {sfen}"));
        self.send(&format!("go {}", self.options.go));
        let mut score = None;
        let mv = self.wait("bestmove", Duration::from_secs(self.options.patience), |line| match line {
            EngineLine::Info(info) if info.multipv.is_none_or(|rank| rank == 1) => {
                score = info.score.map(|score| centipawns(score.value)).or(score);
                None
            }
            EngineLine::BestMove { mv, .. } => Some(mv.clone()),
            _ => None,
        })?;
        let is_move = Move::from_usi(&mv).is_some_and(Move::is_normal);
        Ok(Label { mv: is_move.then_some(mv), score })
    }

    fn wait<T>(
        &mut self,
        waited_for: &'static str,
        patience: Duration,
        mut wanted: impl FnMut(&EngineLine) -> Option<T>,
    ) -> Result<T> {
        let until = Instant::now() + patience;
        while let Ok(line) = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if let Some(found) = wanted(&line) {
                return Ok(found);
            }
        }
        bail!(
            "engine `{}` ended or sent no `{waited_for}` within {} s",
            self.options.program(),
            patience.as_secs()
        )
    }

    fn send(&mut self, line: &str) {
        // A write error means that the engine has ended, which the wait for its reply reports.
        let _ignored = writeln!(self.stdin, "{line}").and_then(|()| self.stdin.flush());
    }
}

impl Drop for Engine<'_> {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn centipawns(score: ScoreValue) -> i32 {
    const MATE: i32 = 30_000;
    match score {
        ScoreValue::Cp(cp) => cp.clamp(-MATE, MATE),
        ScoreValue::Mate(plies) if plies > 0 => MATE,
        ScoreValue::Mates => MATE,
        ScoreValue::Mate(_) | ScoreValue::Mated => -MATE,
    }
}
