//! The actor that owns one USI engine: its process, its pipes, its deadlines.
//!
//! The time of an answer is stamped right after the read that completed its line, before anything is parsed. Writes
//! never block a game: what an engine does not read waits in a bounded buffer.

pub use super::session::Handshake;
use super::{
    ActorEnd, Seat, Trace,
    lines::Lines,
    memory::Peak,
    pair,
    process::{self, Process},
    session::{Effects, Session},
};
use plan::{EnginePlan, Restart};
use referee::{
    event::{Event, PlayerId},
    game::{Order, Reply},
    sink::Sink,
};
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Sleep, sleep, sleep_until},
};

/// How long `usinewgame` and `gameover` may wait for the next line, to be written together with it.
const LINGER: Duration = Duration::from_millis(1);
/// Bytes that may wait for an engine that does not read.
const WRITE_CAP: usize = 1024 * 1024;
/// How long the exit status of an engine that closed its output is waited for.
const STATUS_PATIENCE: Duration = Duration::from_millis(200);
/// How long an engine that owes an answer may take for each step of its end.
const UNSETTLED_PATIENCE: Duration = Duration::from_millis(300);

/// What an engine needs to be seated.
#[derive(Clone, Debug)]
pub struct UsiPlayer {
    /// Its plan.
    pub engine: Arc<EnginePlan>,
    /// The cores its process runs on; empty: any.
    pub cores: Vec<usize>,
    /// How many engines may be starting at once.
    pub startups: Arc<Semaphore>,
    /// Where faults between games and the memory of its processes are reported, and as which player's.
    pub reports: Option<(Arc<dyn Sink>, PlayerId)>,
}

/// Opens a seat for a USI engine; the future is its actor and ends after the seat is dropped and the process is gone.
pub fn open(player: UsiPlayer) -> (Seat, impl Future<Output = ()>) {
    let (seat, end) = pair();
    (seat, Actor::new(player, end).run())
}

/// Starts the engine, hears its handshake, and ends it again.
///
/// # Errors
/// What went wrong, with the last lines of its stderr.
pub async fn handshake(player: UsiPlayer) -> Result<Handshake, String> {
    let (_seat, end) = pair();
    let mut actor = Actor::new(player, end);
    let met = actor.meet().await;
    let handshake = actor.session.handshake().clone();
    actor.close_process().await;
    met.map(|()| handshake)
}

struct Actor {
    player: UsiPlayer,
    end: ActorEnd,
    session: Session,
    process: Option<Process>,
    lines: Lines,
    effects: Effects,
    pending: Vec<u8>,
    lingering: bool,
    deadline: Alarm,
    permit: Option<OwnedSemaphorePermit>,
    /// Faults in a row at the start of the process, for the back-off.
    failed_starts: u32,
    barred: bool,
    peak: Peak,
}

enum Heard {
    Order(Option<Order>),
    Read(io::Result<usize>),
    Writable,
    Deadline,
    Exited,
}

impl Actor {
    fn new(player: UsiPlayer, end: ActorEnd) -> Self {
        Self {
            session: Session::new(player.engine.clone()),
            player,
            end,
            process: None,
            lines: Lines::default(),
            effects: Effects::default(),
            pending: Vec::new(),
            lingering: false,
            deadline: Alarm::new(),
            permit: None,
            failed_starts: 0,
            barred: false,
            peak: Peak::default(),
        }
    }

    async fn run(mut self) {
        loop {
            match self.hear().await {
                Heard::Order(None) => break,
                Heard::Order(Some(order)) => self.obey(order).await,
                Heard::Read(read) => self.read(read).await,
                Heard::Writable => self.flush(),
                Heard::Deadline => self.session.expired(&mut self.effects),
                Heard::Exited => self.drain(),
            }
            self.settle().await;
        }
        self.close_process().await;
    }

    async fn hear(&mut self) -> Heard {
        let Some(process) = &mut self.process else {
            return Heard::Order(self.end.inbox.recv().await);
        };
        self.deadline.set(self.session.deadline());
        let unwritten = !self.pending.is_empty();
        let Process { stdin, stdout, exit, .. } = process;
        tokio::select! { biased;
            read = stdout.read(&mut self.lines.chunk) => Heard::Read(read),
            order = self.end.inbox.recv() => Heard::Order(order),
            () = writable(stdin.as_ref()), if unwritten && !self.lingering => Heard::Writable,
            () = sleep(LINGER), if self.lingering => Heard::Writable,
            () = self.deadline.rings() => Heard::Deadline,
            () = exit.happened() => Heard::Exited,
        }
    }

    async fn obey(&mut self, order: Order) {
        if let (None, Order::NewGame { game, color }) = (&self.process, &order) {
            self.session.sit(*game, *color);
            self.start().await;
        } else if self.process.is_some() {
            if matches!(order, Order::Over(_)) {
                self.tell_memory();
            }
            self.session.order(order, Instant::now(), &mut self.effects);
        }
    }

    /// Between games nobody waits for the kernel's answer.
    fn tell_memory(&mut self) {
        let (Some(process), Some((sink, player))) = (&self.process, &self.player.reports) else { return };
        if let Some(kib) = self.peak.news(process.group(), Instant::now()) {
            sink.happened(Event::Memory { player: *player, kib });
        }
    }

    /// Starts the process; a failure is a fault like any other.
    async fn start(&mut self) {
        if self.barred {
            self.effects.fault = Some("it had a fault before and is not started again".to_owned());
            return;
        }
        self.back_off().await;
        self.permit = self.player.startups.clone().acquire_owned().await.ok();
        self.end.trace.clear();
        self.lines = Lines::default();
        self.pending.clear();
        let engine = &self.player.engine;
        match process::spawn(engine, &self.player.cores) {
            Ok(mut process) => {
                if let Some(stderr) = process.stderr.take() {
                    tokio::task::spawn(keep_stderr(stderr, self.end.trace.clone()));
                }
                self.process = Some(process);
                self.session.begin(Instant::now(), &mut self.effects);
            }
            Err(error) => {
                self.effects.fault =
                    Some(format!("`{}` could not be started: {error}", engine.command.display()));
            }
        }
    }

    /// An engine that keeps failing at its start is not started as fast as the machine can.
    async fn back_off(&self) {
        if self.failed_starts > 1 {
            let ceiling = 50_u64 << self.failed_starts.min(8);
            let wait = Duration::from_millis(rand::random_range(ceiling / 2..=ceiling));
            tracing::debug!(target: "seat", engine = ?self.player.engine.name, starts = self.failed_starts, ?wait, "failed starts in a row");
            sleep(wait).await;
        }
    }

    async fn read(&mut self, read: io::Result<usize>) {
        let now = Instant::now();
        match read {
            Ok(bytes) if bytes > 0 => {
                self.take(bytes, now);
                self.lines.pause().await;
            }
            _ => self.effects.fault = Some(self.ending().await),
        }
    }

    fn take(&mut self, bytes: usize, now: Instant) {
        let Self { lines, session, effects, end, .. } = self;
        lines.feed(bytes, |line| {
            end.trace.received(line);
            session.line(line, now, effects);
        });
    }

    /// The process is gone, but what it said before is still in the pipe: data comes before the end.
    fn drain(&mut self) {
        let now = Instant::now();
        while let Some(process) = &mut self.process {
            match process.stdout.try_read(&mut self.lines.chunk) {
                Ok(bytes) if bytes > 0 => self.take(bytes, now),
                _ => break,
            }
        }
        if self.effects.fault.is_none() {
            self.effects.fault = Some(String::new());
        }
    }

    /// Carries out what the conversation wants, until it wants nothing more.
    async fn settle(&mut self) {
        loop {
            if !self.effects.write.is_empty() {
                self.write();
            }
            for (game, reply) in std::mem::take(&mut self.effects.replies) {
                let _game_over = self.end.outbox.send((game, reply)).await;
            }
            if self.permit.is_some() && self.session.is_settled() {
                self.permit = None;
                self.failed_starts = 0;
            }
            if let Some(fault) = self.effects.fault.take() {
                self.fault(fault).await;
            } else if std::mem::take(&mut self.effects.retire) {
                self.retire().await;
            } else if self.effects.write.is_empty() {
                return;
            }
        }
    }

    fn write(&mut self) {
        let mut bytes = std::mem::take(&mut self.effects.write);
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', &bytes) {
            self.end.trace.sent(&bytes[from..end]);
            from = end + 1;
        }
        self.lingering = std::mem::take(&mut self.effects.lazy);
        if self.lingering || !self.pending.is_empty() {
            self.pending.extend_from_slice(&bytes);
        } else {
            let written = self.try_write(&bytes);
            self.pending.extend_from_slice(&bytes[written..]);
        }
        if !self.lingering && !self.pending.is_empty() {
            self.flush();
        }
        self.session.written(Instant::now());
        if self.pending.len() > WRITE_CAP {
            self.effects.fault = Some("it does not read its input".to_owned());
        }
        bytes.clear();
        self.effects.write = bytes;
    }

    fn flush(&mut self) {
        self.lingering = false;
        let written = self.try_write(&self.pending);
        self.pending.drain(..written);
    }

    /// Writes what the pipe takes now; how much that was.
    fn try_write(&self, bytes: &[u8]) -> usize {
        let Some(stdin) = self.process.as_ref().and_then(|process| process.stdin.as_ref()) else {
            return bytes.len();
        };
        let mut written = 0;
        while written < bytes.len() {
            match stdin.try_write(&bytes[written..]) {
                Ok(more) => written += more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // A broken pipe says itself, in its own words, when its output ends.
                Err(_) => return bytes.len(),
            }
        }
        written
    }

    /// The engine cannot go on. If it had played before and the game has not begun, a new process gets the chance.
    async fn fault(&mut self, fault: String) {
        let text = match fault.is_empty() {
            true => self.ending().await,
            false => fault,
        };
        if let Some(process) = self.process.take() {
            process.kill().await;
        }
        if self.permit.take().is_some() {
            self.failed_starts += 1;
        }
        self.barred |= self.player.engine.restart == Restart::Never;
        if self.session.deserves_new_process() && !self.barred {
            tracing::info!(target: "seat", engine = ?self.player.engine.name, why = ?text, "engine is started again");
            self.tell_fault(&text);
            self.start().await;
        } else if let Some(game) = self.session.abandon() {
            let _game_over = self.end.outbox.send((game, Reply::Gone(text))).await;
        } else {
            self.tell_fault(&text);
        }
    }

    /// No game suffers from it, but its author should know.
    fn tell_fault(&self, text: &str) {
        if let Some((sink, player)) = &self.player.reports {
            let text = format!(
                "engine `{}` between games: {text}\n{}",
                self.player.engine.name,
                self.end.trace.report()
            );
            sink.happened(Event::Fault { player: Some(*player), text });
        }
    }

    async fn ending(&mut self) -> String {
        match &mut self.process {
            Some(process) => process.ending(STATUS_PATIENCE).await,
            None => "it is not running".to_owned(),
        }
    }

    /// A new process for every game.
    async fn retire(&mut self) {
        self.close_process().await;
        if self.session.game().is_some() {
            self.start().await;
        }
    }

    async fn close_process(&mut self) {
        let mut limits = self.player.engine.limits;
        if !self.session.is_settled() {
            // It owes an answer already; it is not asked as patiently as one that is well.
            limits.quit = limits.quit.min(UNSETTLED_PATIENCE);
            limits.terminate = limits.terminate.min(UNSETTLED_PATIENCE);
        }
        self.flush();
        if let Some(process) = self.process.take() {
            if let Some(stdin) = &process.stdin {
                self.end.trace.sent(b"quit");
                let _deaf = stdin.try_write(b"quit\n");
            }
            process.end(limits.quit, limits.terminate).await;
        }
    }

    /// Starts the process and hears it out to `usiok` and the options.
    async fn meet(&mut self) -> Result<(), String> {
        self.start().await;
        loop {
            if !self.effects.write.is_empty() {
                self.write();
            }
            if let Some(fault) = self.effects.fault.take() {
                let fault = if fault.is_empty() { self.ending().await } else { fault };
                return Err(format!("{fault}\n{}", self.end.trace.report()));
            }
            if self.process.is_some() && self.session.is_settled() {
                return Ok(());
            }
            match self.hear().await {
                Heard::Read(read) => self.read(read).await,
                Heard::Writable => self.flush(),
                Heard::Deadline => self.session.expired(&mut self.effects),
                Heard::Exited => self.drain(),
                Heard::Order(_) => {}
            }
        }
    }
}

/// Resolves when the engine reads again; never for an engine without an input.
pub async fn writable(stdin: Option<&tokio::net::unix::pipe::Sender>) {
    match stdin {
        Some(stdin) => drop(stdin.writable().await),
        None => std::future::pending().await,
    }
}

/// Keeps the last lines of an engine's stderr until it closes it.
pub async fn keep_stderr(mut stderr: impl AsyncRead + Unpin, trace: Trace) {
    let mut lines = Lines::default();
    while let Ok(bytes @ 1..) = stderr.read(&mut lines.chunk).await {
        lines.feed(bytes, |line| trace.stderr(line));
        lines.pause().await;
    }
}

/// A timer that is moved often and rings seldom: it is only armed anew when it would ring too late.
pub struct Alarm {
    sleep: std::pin::Pin<Box<Sleep>>,
    at: Option<Instant>,
}

impl Alarm {
    /// An alarm that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self { sleep: Box::pin(sleep(Duration::from_secs(3600))), at: None }
    }

    /// Sets it, or takes it back.
    pub fn set(&mut self, at: Option<Instant>) {
        self.at = at;
        if let Some(at) = at
            && self.sleep.deadline() > at.into()
        {
            self.sleep.as_mut().reset(at.into());
        }
    }

    /// Resolves when its time has come; never while it is not set.
    pub async fn rings(&mut self) {
        let Some(at) = self.at else { return std::future::pending().await };
        loop {
            self.sleep.as_mut().await;
            if Instant::now() >= at {
                return;
            }
            self.sleep = Box::pin(sleep_until(at.into()));
        }
    }
}

impl Default for Alarm {
    fn default() -> Self {
        Self::new()
    }
}
