//! A conversation with one engine, a question at a time, each with its deadline.

use super::procfs;
use notation::usi::EngineLine;
use plan::EnginePlan;
use seat::{
    Trace,
    lines::Lines,
    process::{self, Process},
    usi::{keep_stderr, writable},
};
use std::{
    collections::{BTreeSet, VecDeque},
    io,
    time::{Duration, Instant},
};
use tokio::{io::AsyncReadExt, time::sleep_until};

/// How many `info` lines of an answer are kept, the last ones.
const INFOS: usize = 400;
/// How many different lines outside the protocol are kept.
const NOISE: usize = 20;
/// How long the exit status of an engine that closed its output is waited for.
const STATUS_PATIENCE: Duration = Duration::from_millis(300);

/// A running engine and what it said.
pub struct Talk {
    process: Process,
    lines: Lines,
    queue: VecDeque<(Instant, Vec<u8>)>,
    pending: Vec<u8>,
    /// Its last words.
    pub trace: Trace,
    /// The `info` lines since the last question.
    pub infos: VecDeque<String>,
    /// Answers that nobody had asked for.
    pub unasked: Vec<String>,
    /// Lines that are none of the protocol's.
    pub noise: BTreeSet<String>,
}

/// The line that was waited for.
#[derive(Debug)]
pub struct Line {
    /// When the read that completed it returned.
    pub at: Instant,
    /// The line as it is understood.
    pub said: EngineLine,
}

/// The line did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Not within its time.
    Late,
    /// The engine closed its output.
    Ended,
}

impl Talk {
    /// Starts the engine.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn start(engine: &EnginePlan) -> io::Result<Self> {
        let mut process = process::spawn(engine, &[]).await?;
        let trace = Trace::default();
        if let Some(stderr) = process.stderr.take() {
            tokio::task::spawn(keep_stderr(stderr, trace.clone()));
        }
        Ok(Self {
            process,
            lines: Lines::default(),
            queue: VecDeque::new(),
            pending: Vec::new(),
            trace,
            infos: VecDeque::new(),
            unasked: Vec::new(),
            noise: BTreeSet::new(),
        })
    }

    /// Sends lines in one write, as far as the engine reads them; the rest follows while it is listened to.
    /// Returns when they were written.
    pub fn send(&mut self, lines: &[&str]) -> Instant {
        for line in lines {
            self.trace.sent(line.as_bytes());
            self.pending.extend_from_slice(line.as_bytes());
            self.pending.push(b'\n');
        }
        self.flush();
        Instant::now()
    }

    /// Waits until `deadline` for a line that is wanted; others are filed on the way.
    ///
    /// # Errors
    /// [`Silence`] when it did not come.
    pub async fn wait(
        &mut self,
        deadline: Instant,
        mut wanted: impl FnMut(&EngineLine) -> bool,
    ) -> Result<Line, Silence> {
        loop {
            let (at, line) = self.next(deadline).await?;
            let said = EngineLine::parse(&line);
            if wanted(&said) {
                return Ok(Line { at, said });
            }
            self.file(said, &line);
        }
    }

    /// Waits for `isready`'s answer.
    ///
    /// # Errors
    /// [`Silence`] when it did not come within `limit`.
    pub async fn ready(&mut self, limit: Duration) -> Result<Duration, Silence> {
        let since = self.send(&["isready"]);
        let line = self.wait(since + limit, |line| *line == EngineLine::ReadyOk).await?;
        Ok(line.at.saturating_duration_since(since))
    }

    /// Listens for so long and files what comes.
    pub async fn listen(&mut self, time: Duration) {
        let _whatever = self.wait(Instant::now() + time, |_| false).await;
    }

    /// Files what has come already, so that the next line answers the next question.
    pub fn catch_up(&mut self) {
        while let Ok(bytes @ 1..) = self.process.stdout.try_read(&mut self.lines.chunk) {
            self.take(bytes);
            if self.queue.len() > INFOS {
                break; // a flood: the rest is read with the answer
            }
        }
        for (_, line) in std::mem::take(&mut self.queue) {
            self.file(EngineLine::parse(&line), &line);
        }
    }

    /// How the process ended, or that it has not.
    pub async fn ending(&mut self) -> String {
        self.process.ending(STATUS_PATIENCE).await
    }

    /// Waits so long for the process to end by itself.
    pub async fn ends_within(&mut self, limit: Duration) -> Option<Duration> {
        let since = Instant::now();
        // Its output is read on, or it might wait for that for ever.
        while let Ok((_, line)) = self.next(since + limit).await {
            self.file(EngineLine::parse(&line), &line);
        }
        let left = limit.saturating_sub(since.elapsed());
        let ended = tokio::time::timeout(left, self.process.exit.happened()).await;
        ended.is_ok().then(|| since.elapsed())
    }

    /// Closes its input.
    pub fn close_input(&mut self) {
        self.process.stdin = None;
    }

    /// Ends it at once, with everything it started.
    pub async fn kill(self) {
        self.process.kill().await;
    }

    /// The process group it leads.
    #[must_use]
    pub fn group(&self) -> i32 {
        self.process.group()
    }

    /// Share of one core that the engine used while it was listened to for so long.
    pub async fn load(&mut self, time: Duration) -> f64 {
        let (before, since) = (procfs::cpu(self.group()), Instant::now());
        self.listen(time).await;
        let used = procfs::cpu(self.group()).saturating_sub(before);
        used.as_secs_f64() / since.elapsed().as_secs_f64()
    }

    async fn next(&mut self, deadline: Instant) -> Result<(Instant, Vec<u8>), Silence> {
        loop {
            if let Some((at, line)) = self.queue.pop_front() {
                // The stamp decides: a flood cannot put the deadline off.
                return if at > deadline { Err(Silence::Late) } else { Ok((at, line)) };
            }
            let unwritten = !self.pending.is_empty();
            let Process { stdin, stdout, .. } = &mut self.process;
            let read = tokio::select! { biased;
                read = stdout.read(&mut self.lines.chunk) => Some(read),
                () = writable(stdin.as_ref()), if unwritten => None,
                () = sleep_until(deadline.into()) => return Err(Silence::Late),
            };
            match read {
                Some(Ok(bytes @ 1..)) => self.take(bytes),
                Some(_) => return Err(Silence::Ended),
                None => self.flush(),
            }
        }
    }

    fn take(&mut self, bytes: usize) {
        let now = Instant::now();
        let Self { lines, queue, trace, .. } = self;
        lines.feed(bytes, |line| {
            trace.received(line);
            queue.push_back((now, line.to_vec()));
        });
    }

    fn file(&mut self, said: EngineLine, line: &[u8]) {
        match said {
            EngineLine::Info(_) => {
                if self.infos.len() == INFOS {
                    self.infos.pop_front();
                }
                self.infos.push_back(String::from_utf8_lossy(line).into_owned());
            }
            EngineLine::Unknown(text) if text.is_empty() || self.noise.len() >= NOISE => {}
            EngineLine::Unknown(text) => drop(self.noise.insert(notation::printable(text.as_bytes()))),
            EngineLine::BestMove { .. }
            | EngineLine::Checkmate(_)
            | EngineLine::ReadyOk
            | EngineLine::UsiOk => {
                self.unasked.push(notation::printable(line));
            }
            EngineLine::IdName(_) | EngineLine::IdAuthor(_) | EngineLine::Option(_) => {}
        }
    }

    fn flush(&mut self) {
        let Some(stdin) = &self.process.stdin else { return };
        while !self.pending.is_empty() {
            match stdin.try_write(&self.pending) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Its output says how it ended.
                Err(_) => self.pending.clear(),
            }
        }
    }
}
