//! The labelling engine: a USI process.

use notation::usi::{EngineLine, ScoreValue};
use rsshogi::types::Move;
use std::{
    fmt,
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

/// Timeout for the start of the engine.
const START: Duration = Duration::from_secs(60);
/// Attempts per position, each with a new process, before labelling fails.
const TRIES: usize = 3;

/// An engine and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its options, by name.
    pub options: Vec<(String, String)>,
    /// Arguments of `go`, such as `nodes 20000`.
    pub go: String,
    /// Timeout per position.
    pub patience: Duration,
}

/// Why the engine failed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// It could not be started.
    #[error("engine `{}` could not be started: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It ended or timed out.
    #[error("engine `{}` ended or sent no `{waited_for}` within {} s", program.display(), patience.as_secs())]
    Silent {
        /// The program.
        program: PathBuf,
        /// The reply that was expected.
        waited_for: &'static str,
        /// The timeout.
        patience: Duration,
    },
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

impl fmt::Display for EngineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, arguments, options, go, .. } = self;
        write!(f, "{}", program.display())?;
        arguments.iter().try_for_each(|argument| write!(f, " {argument}"))?;
        options.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))?;
        write!(f, " go {go}")
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
    pub(super) fn start(options: &'a EngineOptions) -> Result<Self, EngineError> {
        let failed = |source| EngineError::Start { program: options.program.clone(), source };
        let mut command = Command::new(&options.program);
        command.args(&options.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
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

    fn greet(&mut self) -> Result<(), EngineError> {
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
    pub(super) fn evaluate_with_retries(&mut self, sfen: &str) -> Result<Label, EngineError> {
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

    fn ask(&mut self, sfen: &str) -> Result<Label, EngineError> {
        self.send(&format!("position sfen {sfen}"));
        self.send(&format!("go {}", self.options.go));
        let mut score = None;
        let mv = self.wait("bestmove", self.options.patience, |line| match line {
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
    ) -> Result<T, EngineError> {
        let until = Instant::now() + patience;
        while let Ok(line) = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if let Some(found) = wanted(&line) {
                return Ok(found);
            }
        }
        Err(EngineError::Silent { program: self.options.program.clone(), waited_for, patience })
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
