//! A conversation with one engine: one question at a time, each with a deadline.

use notation::usi::{EngineLine, EngineLineRef};
use plan::EnginePlan;
use platform::usage::{self, Member};
use seat::{
    Trace,
    lines::Lines,
    process::{self, Process},
    usi::{keep_stderr, writable},
};
use std::{
    collections::{BTreeSet, VecDeque},
    io, mem,
    time::{Duration, Instant},
};
use tokio::{
    io::AsyncReadExt,
    task::JoinHandle,
    time::{sleep_until, timeout},
};

/// Number of `info` lines kept per answer, the last ones.
const INFOS: usize = 400;
/// Number of different lines outside the protocol to keep.
const NOISE: usize = 20;
/// Longest wait for the exit status of an engine that closed its output.
const STATUS_PATIENCE: Duration = Duration::from_millis(300);
/// Longest wait for the last words of an engine that is gone: on a busy machine they come late, and what the engine started
/// may keep its stderr open for ever.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A running engine and its output.
pub struct Talk {
    process: Process,
    /// The reader of its stderr.
    stderr: Option<JoinHandle<()>>,
    lines: Lines,
    queue: VecDeque<(Instant, Vec<u8>)>,
    /// True if the next line was begun before the last question.
    is_within_line: bool,
    pending: Vec<u8>,
    /// Last lines of the conversation.
    pub trace: Trace,
    /// `info` lines since the last question.
    pub infos: VecDeque<String>,
    /// Answers without a question.
    pub unasked: Vec<String>,
    /// Lines outside the protocol.
    pub noise: BTreeSet<String>,
    /// Device that it computes on, as it says.
    pub device: Option<String>,
    /// Its threads when something was sent to it last.
    threads: Vec<usage::Thread>,
}

/// A line of an engine.
#[derive(Debug)]
pub struct Line {
    /// Time at which the read that completed the line returned.
    pub at: Instant,
    /// What it says.
    pub parsed: EngineLine,
}

/// The reason of a missing line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Not before the deadline.
    Late,
    /// The engine closed its output.
    Ended,
}

impl Talk {
    /// Starts an engine, and says nothing to it.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn start(engine: &EnginePlan) -> io::Result<Self> {
        let mut process = process::spawn(engine, &[]).await?;
        let trace = Trace::default();
        let stderr = process.stderr.take();
        let stderr = stderr.map(|stderr| tokio::task::spawn(keep_stderr(stderr, trace.clone())));
        Ok(Self {
            process,
            stderr,
            lines: Lines::default(),
            queue: VecDeque::new(),
            is_within_line: false,
            pending: Vec::new(),
            trace,
            infos: VecDeque::new(),
            unasked: Vec::new(),
            noise: BTreeSet::new(),
            device: None,
            threads: vec![],
        })
    }

    /// Sends lines in one write as far as the engine reads them; the rest follows while its output is read. Returns
    /// the time of the write.
    pub fn send(&mut self, lines: &[&str]) -> Instant {
        for line in lines {
            self.trace.sent(line.as_bytes());
            self.pending.extend_from_slice(line.as_bytes());
            self.pending.push(b'\n');
        }
        self.threads = self.threads();
        self.flush();
        Instant::now()
    }

    /// Waits until `deadline` for a line that `wanted` accepts; other lines are filed.
    ///
    /// # Errors
    /// When no such line comes.
    pub async fn wait(
        &mut self,
        deadline: Instant,
        mut wanted: impl FnMut(&EngineLine) -> bool,
    ) -> Result<Line, Silence> {
        loop {
            let (at, line) = self.next(deadline).await?;
            let parsed = EngineLine::parse(&line);
            if !mem::take(&mut self.is_within_line) && wanted(&parsed) {
                return Ok(Line { at, parsed });
            }
            self.file(parsed, &line);
        }
    }

    /// Asks `isready`, and returns the time until the answer.
    ///
    /// # Errors
    /// When no answer comes within the limit.
    pub async fn ready(&mut self, limit: Duration) -> Result<Duration, Silence> {
        let since = self.send(&["isready"]);
        let line = self.wait(since + limit, |line| *line == EngineLine::ReadyOk).await?;
        Ok(line.at.saturating_duration_since(since))
    }

    /// Reads and files lines for `time`.
    pub async fn listen(&mut self, time: Duration) {
        let _whatever = self.wait(Instant::now() + time, |_| false).await;
    }

    /// Files the lines that have already arrived, so that the next line answers the next question.
    pub fn catch_up(&mut self) {
        while let Ok(bytes @ 1..) = self.process.stdout.try_read(&mut self.lines.chunk) {
            self.take(bytes);
            if self.queue.len() > INFOS {
                break; // a flood: the rest is read with the answer
            }
        }
        for (_, line) in mem::take(&mut self.queue) {
            self.file(EngineLine::parse(&line), &line);
        }
        self.is_within_line = self.lines.is_within_line();
    }

    /// The ending of the process, in words; its own last words are in the trace by then.
    pub async fn ending(&mut self) -> String {
        let ending = self.process.ending(STATUS_PATIENCE).await;
        if let Some(reader) = self.stderr.take() {
            let _still_open = timeout(LAST_WORDS, reader).await;
        }
        ending
    }

    /// Waits up to `limit` for the process to end by itself.
    pub async fn ends_within(&mut self, limit: Duration) -> Option<Duration> {
        let since = Instant::now();
        // Its output must be read, or the engine might block on a full pipe.
        while let Ok((_, line)) = self.next(since + limit).await {
            self.file(EngineLine::parse(&line), &line);
        }
        let left = limit.saturating_sub(since.elapsed());
        let ended = timeout(left, self.process.exit.happened()).await;
        ended.is_ok().then(|| since.elapsed())
    }

    /// Closes the input of the engine.
    pub fn close_input(&mut self) {
        self.process.stdin = None;
    }

    /// Kills the engine with its whole process group.
    pub async fn kill(self) {
        self.process.kill().await;
    }

    /// Processor time of the engine; `None` where the system does not tell, as of an engine on another host.
    pub fn cpu(&self) -> Option<Duration> {
        self.group().and_then(usage::cpu_of)
    }

    /// Bytes of memory that the engine holds, where the system tells.
    pub fn memory(&self) -> Option<u64> {
        self.group().and_then(usage::memory_of)
    }

    /// Processes of the engine, where the system tells.
    pub fn members(&self) -> Option<Vec<Member>> {
        self.group().and_then(usage::members)
    }

    fn threads(&self) -> Vec<usage::Thread> {
        let process = self.group().map(i32::cast_unsigned);
        process.into_iter().flat_map(usage::family).filter_map(usage::threads).flatten().collect()
    }

    /// For how long the engine has waited for a processor since something was sent to it last.
    pub fn waited(&self) -> Duration {
        usage::waited(&self.threads, &self.threads())
    }

    fn group(&self) -> Option<i32> {
        (!self.process.is_far).then(|| self.process.group())
    }

    /// Cores that the engine used, or wanted on a busy machine, while reading for `time`; `None` where the system does not
    /// count it.
    pub async fn load(&mut self, time: Duration) -> Option<f64> {
        let wanted = |talk: &Self| talk.group().and_then(usage::wanted_by);
        let (before, since) = (wanted(self), Instant::now());
        self.listen(time).await;
        let used = wanted(self)?.saturating_sub(before?);
        Some(used.as_secs_f64() / since.elapsed().as_secs_f64())
    }

    async fn next(&mut self, deadline: Instant) -> Result<(Instant, Vec<u8>), Silence> {
        loop {
            if let Some((at, line)) = self.queue.pop_front() {
                // The time stamp decides, so that a flood of lines cannot extend the deadline.
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

    fn file(&mut self, parsed: EngineLine, line: &[u8]) {
        match parsed {
            EngineLine::Info(_) => {
                if let EngineLineRef::Info(info) = EngineLineRef::parse(line) {
                    self.device = info.device().or_else(|| self.device.take());
                }
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
                // Its output shows how it ended.
                Err(_) => self.pending.clear(),
            }
        }
    }
}
