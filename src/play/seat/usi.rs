//! The actor that owns one USI engine: its process, its pipes, its deadlines.
//!
//! The time of an answer is stamped right after the read that completed its line, before anything is parsed. Writes
//! never block a game: what an engine does not read waits in a bounded buffer.

mod look;

use super::{
    ActorEnd, Seat, Trace,
    conversation::{Conversation, Effects},
    lines::Lines,
    memory::Peak,
    pair,
    process::{Input, Launcher, Output, Process, System},
    recorder::Recorder,
    recording::Recording,
};
pub use super::{
    alarm::Alarm,
    conversation::{Handshake, OPTIONS, thought},
};
pub use look::{AHEAD, Failing, LookFault, Reach, Step, is_behind, look, speed};

use plan::{EnginePlan, Restart, Sandbox, SeatLimits};
use platform::{lack, life};
use referee::{
    Color, Outcome,
    entry::{Entry, GameId, PlayerId},
    game::{Order, Reply},
    sink::{Direction, Sink},
};
use std::{fmt, io, mem, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::{
        OwnedSemaphorePermit, Semaphore,
        mpsc::{self, error::TryRecvError},
    },
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

/// How long `usinewgame` and `gameover` wait for the next line, to be written together with it.
const LINGER: Duration = Duration::from_millis(1);
/// Bytes that wait at most for an engine that does not read.
const WRITE_CAP: usize = 1024 * 1024;
/// How long the actor waits for the exit status of an engine that closed its output.
const STATUS_PATIENCE: Duration = Duration::from_millis(500);
/// How long the actor waits for the last words of an engine that is gone: on a busy machine they come late, and what the
/// engine started may keep its stderr open for ever.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Starts in a row that may fail before a game is given up; later games try once each, until a start succeeds.
const STARTS: u32 = 4;
/// The same while this machine lacks what a start takes: such a lack may last a moment, here some three seconds.
const LACKS: u32 = 6;
/// What helps then.
const MORE: &str = "; this is no fault of the engine: allow Renmei more (`ulimit -n` and `-u`, or LimitNOFILE= and TasksMax= in \
                    a unit), or play fewer games at once";
/// Longest pause between two starts is this many milliseconds, doubled [`DOUBLINGS`] times.
const PAUSE: u64 = 50;
/// See [`PAUSE`].
const DOUBLINGS: u32 = 7;
/// Most time for each step of the end of an engine that owes an answer.
const UNSETTLED_PATIENCE: Duration = Duration::from_millis(300);

/// What an engine needs to be seated.
#[derive(Clone, Debug)]
pub struct UsiPlayer {
    /// Plan of the engine.
    pub engine: Arc<EnginePlan>,
    /// Cores of the process; empty: any.
    pub cores: Vec<usize>,
    /// Permits to start, shared by all engines of the event.
    pub startups: Arc<Semaphore>,
    /// Sink for faults between games and for the memory of the process, and the player they are reported for.
    pub reports: Option<(Arc<dyn Sink>, PlayerId)>,
    /// Keeps the lines of games; `None`: nobody does.
    pub recorder: Option<Recorder>,
    /// Asked before every start of a process.
    pub gate: Option<Arc<dyn Gate>>,
}

impl UsiPlayer {
    /// An engine that waits for no other, and of which nothing is kept or reported.
    pub fn alone(engine: Arc<EnginePlan>) -> Self {
        let startups = Arc::new(Semaphore::new(1));
        Self { engine, cores: vec![], startups, reports: None, recorder: None, gate: None }
    }
}

/// Says whether an engine may be started, for one that has become another since it was looked at.
pub trait Gate: fmt::Debug + Send + Sync {
    /// True if [`opens`](Self::opens) has to be asked at all; a quick answer.
    fn is_suspect(&self) -> bool;

    /// True if a process may be started; the answer may take its time. Otherwise the seat stays silent until it is
    /// given up.
    fn opens(&self) -> bool;
}

/// Opens a seat for a USI engine; the future is its actor and ends after the seat is dropped and the process is gone.
pub fn open(player: UsiPlayer) -> (Seat, impl Future<Output = ()>) {
    let (seat, end) = pair();
    (seat, Actor::new(player, end, System).run())
}

struct Actor<L: Launcher> {
    player: UsiPlayer,
    end: ActorEnd,
    launcher: L,
    conversation: Conversation,
    process: Option<Process<L::Input, L::Output>>,
    lines: Lines,
    effects: Effects,
    pending: Vec<u8>,
    lingering: bool,
    /// The engine has just flooded its output.
    flooded: bool,
    deadline: Alarm,
    limit: Limit,
    permit: Option<OwnedSemaphorePermit>,
    /// Faults in a row at the start of the process, for the back-off.
    failed_starts: u32,
    /// When the process is started, while the back-off lasts.
    due: Option<Instant>,
    /// True if a process has been ready before.
    proven: bool,
    /// The fault is that an answer did not come in time.
    hung: bool,
    /// The fault is a lack of this machine, which no engine has to answer for.
    lacks: bool,
    barred: bool,
    /// The engine is stopped while its opponent is to move.
    rests: bool,
    peak: Peak,
    /// Name of the engine, for the names of files.
    name: Arc<str>,
    /// The end of the recorded game, until its last lines are there.
    outcome: Option<Outcome>,
    /// The reader of the process's stderr.
    stderr: Option<JoinHandle<()>>,
}

/// The limit of the answer that is due.
#[derive(Clone, Copy, Debug, Default)]
struct Limit {
    /// Its end by the conversation.
    due: Option<Instant>,
    asked: Option<Instant>,
    /// Its end for an engine that waited for a processor.
    extended: Option<Instant>,
}

enum Heard {
    Order(Option<Order>),
    Read(io::Result<usize>),
    Writable,
    Deadline,
    Exited,
    /// The back-off is over.
    Due,
}

/// An async function, because `select!` makes the futures of all its branches at every turn of the loop, and a
/// `sleep` reads the clock when it is made.
async fn linger() {
    sleep(LINGER).await;
}

/// What a flood of output has kept waiting, because output is heard before everything else.
fn overdue(inbox: &mut mpsc::Receiver<Order>, deadline: Option<Instant>) -> Option<Heard> {
    match inbox.try_recv() {
        Ok(order) => Some(Heard::Order(Some(order))),
        Err(TryRecvError::Disconnected) => Some(Heard::Order(None)),
        Err(TryRecvError::Empty) => deadline.filter(|at| *at <= Instant::now()).map(|_| Heard::Deadline),
    }
}

impl<L: Launcher> Actor<L> {
    fn new(player: UsiPlayer, end: ActorEnd, launcher: L) -> Self {
        if let Some(recorder) = &player.recorder {
            end.trace.record(Recording::new(recorder.streams()));
        }
        Self {
            name: player.engine.name.as_str().into(),
            outcome: None,
            stderr: None,
            conversation: Conversation::new(player.engine.clone()),
            player,
            end,
            launcher,
            process: None,
            lines: Lines::default(),
            effects: Effects::default(),
            pending: Vec::new(),
            lingering: false,
            flooded: false,
            deadline: Alarm::default(),
            limit: Limit::default(),
            permit: None,
            failed_starts: 0,
            due: None,
            proven: false,
            hung: false,
            lacks: false,
            barred: false,
            rests: false,
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
                Heard::Deadline => {
                    self.expired();
                    self.hung = self.effects.fault.is_some();
                }
                Heard::Exited => self.drain(),
                Heard::Due => self.launch().await,
            }
            self.settle().await;
            self.rest();
            self.hand_over();
        }
        self.close_process().await;
        self.complete();
    }

    async fn hear(&mut self) -> Heard {
        let due = self.answer_due();
        let Some(process) = &mut self.process else {
            return tokio::select! { biased;
                order = self.end.inbox.recv() => Heard::Order(order),
                () = until(self.due) => Heard::Due,
            };
        };
        self.deadline.set(due);
        if mem::take(&mut self.flooded)
            && let Some(heard) = overdue(&mut self.end.inbox, due)
        {
            return heard;
        }
        let unwritten = !self.pending.is_empty();
        let Process { stdin, stdout, exit, .. } = process;
        tokio::select! { biased;
            read = stdout.read(&mut self.lines.chunk) => Heard::Read(read),
            order = self.end.inbox.recv() => Heard::Order(order),
            () = writable(stdin.as_ref()), if unwritten && !self.lingering => Heard::Writable,
            () = linger(), if self.lingering => Heard::Writable,
            () = self.deadline.rings() => Heard::Deadline,
            () = exit.happened() => Heard::Exited,
        }
    }

    /// When the answer is due. An engine that thinks is timed by its game.
    fn answer_due(&mut self) -> Option<Instant> {
        let due = self.conversation.deadline();
        if due != self.limit.due {
            let is_limited = due.is_some() && !self.conversation.thinks();
            self.limit = Limit { due, asked: is_limited.then(Instant::now), extended: None };
            if is_limited {
                self.end.trace.turn_begins();
            }
        }
        self.limit.extended.or(due)
    }

    /// The limit of an answer is over, unless the engine waited for a processor.
    fn expired(&mut self) {
        let Limit { due: Some(due), asked: Some(asked), .. } = self.limit else {
            return self.conversation.expired(&mut self.effects);
        };
        if let Some(more) = self.end.trace.patience(asked, due.saturating_duration_since(asked)) {
            self.limit.extended = Some(Instant::now() + more);
            return;
        }
        self.conversation.expired(&mut self.effects);
        if let Some(fault) = &mut self.effects.fault {
            *fault += &self.end.trace.excuse(asked);
        }
    }

    async fn obey(&mut self, order: Order) {
        match &order {
            Order::NewGame { game, color } => self.announce(*game, *color),
            Order::Over(outcome) => self.outcome = Some(*outcome),
            _ => {}
        }
        if let (None, Order::NewGame { game, color }) = (&self.process, &order) {
            self.conversation.sit(*game, *color);
            self.start().await;
        } else if self.process.is_some() {
            if matches!(order, Order::Over(_)) {
                self.tell_memory();
            }
            self.conversation.order(order, Instant::now(), &mut self.effects);
        } else if let Order::Options(_) = order {
            self.conversation.order(order, Instant::now(), &mut self.effects);
        } else if matches!(order, Order::Over(_)) {
            // The game ended while its engine waited for a start.
            self.due = None;
            self.conversation.abandon();
        }
    }

    /// The recording of a game begins when the one before is complete.
    fn announce(&self, game: GameId, color: Color) {
        self.end.trace.recording(|recording| recording.announce(game, color));
    }

    /// Hands lines over to the recorder: those that are due, and at the end of a game the last.
    fn hand_over(&mut self) {
        let Some(recorder) = &self.player.recorder else { return };
        if recorder.streams()
            && let Some(Some((game, color, block))) =
                self.end.trace.recording(|recording| recording.fresh(Instant::now()))
        {
            recorder.lines(game, color, &self.name, block);
        }
        if self.outcome.is_some() && (self.process.is_none() || self.conversation.is_settled()) {
            self.complete();
        }
    }

    /// Hands over the game that is on, and begins the recording of the next.
    fn complete(&mut self) {
        let Some(recorder) = &self.player.recorder else { return };
        let faulty = matches!(self.outcome.take(), Some(Outcome::Win { by, .. }) if by.is_fault());
        if let Some(complete) = self.end.trace.complete(faulty) {
            recorder.complete(&self.name, complete);
        }
    }

    /// Asks the system for the memory of the process. Only between games, when nothing waits for the answer.
    fn tell_memory(&mut self) {
        let (Some(process), Some((sink, player))) = (&self.process, &self.player.reports) else { return };
        if let Some(kib) = self.peak.news(Instant::now(), || process.peak_kib()) {
            sink.happened(Entry::Memory { player: *player, kib });
        }
    }

    /// Starts the process, after a back-off if it failed to start before.
    async fn start(&mut self) {
        if self.barred {
            self.effects.fault = Some("it had a fault before and is not started again".to_owned());
            return;
        }
        if self.outcome.is_some() {
            self.complete();
        }
        match self.back_off() {
            Some(wait) => self.due = Some(Instant::now() + wait),
            None => self.launch().await,
        }
    }

    /// Starts the process now; a failure is a fault like any other.
    async fn launch(&mut self) {
        self.due = None;
        if !self.gate_opens().await {
            return;
        }
        self.permit = tokio::select! { biased;
            permit = self.player.startups.clone().acquire_owned() => permit.ok(),
            () = self.end.outbox.closed() => return, // the seat was given up
        };
        self.end.trace.clear();
        self.end.trace.recording(Recording::process_started);
        self.lines = Lines::default();
        self.pending.clear();
        let engine = &self.player.engine;
        match self.launcher.launch(engine, &self.player.cores).await {
            Ok(mut process) => {
                self.rests = false;
                if let Some(stderr) = process.stderr.take() {
                    self.stderr = Some(tokio::task::spawn(keep_stderr(stderr, self.end.trace.clone())));
                }
                self.end.trace.runs_as(process.leader());
                self.process = Some(process);
                self.conversation.begin(Instant::now(), &mut self.effects);
            }
            Err(error) => {
                self.lacks = lack::is_ours(&error);
                let more = if self.lacks { MORE } else { "" };
                self.effects.fault =
                    Some(format!("`{}` could not be started: {error}{more}", engine.command.display()));
            }
        }
    }

    async fn gate_opens(&self) -> bool {
        let Some(gate) = self.player.gate.clone().filter(|gate| gate.is_suspect()) else { return true };
        tokio::task::spawn_blocking(move || gate.opens()).await.unwrap_or(true)
    }

    /// Exponential back-off with jitter for an engine that keeps failing at its start.
    fn back_off(&self) -> Option<Duration> {
        if self.failed_starts <= 1 {
            return None; // one failure may be an accident
        }
        let ceiling = PAUSE << self.failed_starts.min(DOUBLINGS);
        let wait = Duration::from_millis(rand::random_range(ceiling / 2..=ceiling));
        tracing::debug!(target: "seat", engine = ?self.player.engine.name, starts = self.failed_starts, ?wait, "failed starts in a row");
        Some(wait)
    }

    async fn read(&mut self, read: io::Result<usize>) {
        let now = Instant::now();
        match read {
            Ok(bytes) if bytes > 0 => {
                self.take(bytes, now);
                self.flooded = self.lines.pause().await;
            }
            _ => self.effects.fault = Some(self.ending().await),
        }
    }

    fn take(&mut self, bytes: usize, now: Instant) {
        let Self { lines, conversation, effects, end, .. } = self;
        lines.feed(bytes, |line| {
            end.trace.line(Direction::Received, line, now);
            conversation.line(line, now, effects);
        });
    }

    /// Reads what the process wrote before it ended and what is still in the pipe, and only then notes the end.
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

    /// Carries out the effects of the conversation until there are none left.
    async fn settle(&mut self) {
        loop {
            if !self.effects.write.is_empty() {
                self.write();
            }
            for reply in self.effects.replies.drain(..) {
                let _game_over = self.end.outbox.send(reply).await;
            }
            if let (Some(_), Some(process), true) =
                (&self.permit, &self.process, self.conversation.is_settled())
            {
                self.end.trace.runs_as(process.leader());
                self.permit = None;
                self.failed_starts = 0;
                self.proven = true;
            }
            if let Some(fault) = self.effects.fault.take() {
                self.fault(fault).await;
            } else if mem::take(&mut self.effects.retire) {
                self.retire().await;
            } else if self.effects.write.is_empty() {
                return;
            }
        }
    }

    fn write(&mut self) {
        if self.conversation.may_have_more_to_say()
            && let Some(process) = &self.process
            && let Ok(bytes) = process.stdout.try_read(&mut self.lines.chunk)
        {
            self.take(bytes, Instant::now());
        }
        self.wake();
        let mut bytes = mem::take(&mut self.effects.write);
        self.lingering = mem::take(&mut self.effects.lazy);
        if self.lingering || !self.pending.is_empty() {
            self.pending.extend_from_slice(&bytes);
        } else {
            let written = self.try_write(&bytes);
            self.pending.extend_from_slice(&bytes[written..]);
        }
        if !self.lingering && !self.pending.is_empty() {
            self.flush();
        }
        let now = Instant::now();
        self.conversation.written(now, self.lines.is_within_line());
        self.note_sent(&bytes, now);
        if self.pending.len() > WRITE_CAP {
            self.effects.fault = Some("it does not read its input".to_owned());
        }
        bytes.clear();
        self.effects.write = bytes;
    }

    /// Adds lines to the trace. A new game that waited for the end of another begins with its `isready`.
    fn note_sent(&mut self, bytes: &[u8], now: Instant) {
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let line = &bytes[from..end];
            if line == b"isready" && self.end.trace.recording(|recording| recording.waits()) == Some(true) {
                self.complete();
            }
            self.end.trace.line(Direction::Sent, line, now);
            from = end + 1;
        }
    }

    fn flush(&mut self) {
        self.lingering = false;
        let written = self.try_write(&self.pending);
        self.pending.drain(..written);
    }

    /// Stops an engine that nobody trusts while its opponent is to move: it would take the processor from it.
    fn rest(&mut self) {
        let engine = &self.player.engine;
        let is_due = engine.sandbox.kind == Sandbox::Strict && !engine.ponder && self.conversation.rests();
        if let Some(process) = self.process.as_ref().filter(|_| is_due && !self.rests) {
            process.order(life::Order::Rest);
            self.rests = true;
        }
    }

    /// Lets the engine run again, before it is told anything.
    fn wake(&mut self) {
        if mem::take(&mut self.rests)
            && let Some(process) = &self.process
        {
            process.order(life::Order::Resume);
        }
    }

    /// Writes what fits into the pipe now, and returns how many bytes that were.
    fn try_write(&self, bytes: &[u8]) -> usize {
        let Some(stdin) = self.process.as_ref().and_then(|process| process.stdin.as_ref()) else {
            return bytes.len();
        };
        let mut written = 0;
        while written < bytes.len() {
            match stdin.try_write(&bytes[written..]) {
                Ok(more) => written += more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The end of its output will tell how an engine with a broken pipe ended.
                Err(_) => return bytes.len(),
            }
        }
        written
    }

    /// Ends an engine that cannot go on. If it has played before and this game has not begun, a new process is started.
    async fn fault(&mut self, fault: String) {
        let text = if fault.is_empty() { self.ending().await } else { fault };
        if let Some(process) = self.process.take() {
            process.kill().await;
        }
        self.await_stderr().await;
        if self.conversation.game().is_some() {
            self.end.trace.failed();
        }
        let at_start = self.permit.take().is_some();
        if at_start {
            self.failed_starts += 1;
        }
        // Whoever waits for an engine that hangs at its start has waited long enough.
        let hung_at_start = mem::take(&mut self.hung) && at_start;
        let lacks = mem::take(&mut self.lacks);
        let text = if at_start && !lacks { self.counted(text) } else { text };
        self.barred |= self.player.engine.restart == Restart::Never && !lacks;
        if self.deserves_new_process(lacks) && !hung_at_start {
            tracing::info!(target: "seat", engine = ?self.player.engine.name, why = ?text, "engine is started again");
            if !at_start || self.failed_starts == 1 {
                self.tell_fault(&text, lacks);
            }
            self.start().await;
        } else if let Some(game) = self.conversation.abandon() {
            let reply = if lacks { Reply::Unseated(text) } else { Reply::Gone(text) };
            let _game_over = self.end.outbox.send((game, reply)).await;
        } else {
            self.tell_fault(&text, lacks);
        }
    }

    /// True if the game waits for another process: its engine has played before, may be started again, and has not
    /// failed to start too often; or this machine `lacks` what a start takes, and may not in a moment.
    fn deserves_new_process(&self, lacks: bool) -> bool {
        let most = if lacks { LACKS } else { STARTS * u32::from(self.proven) };
        !self.barred && self.failed_starts < most && self.conversation.awaits_start()
    }

    /// A fault at the start, with the number of those in a row: each is not worth a line of its own.
    fn counted(&self, text: String) -> String {
        match self.failed_starts {
            starts if starts < 2 || !self.proven => text,
            starts => format!("{text} (it failed to start {starts} times in a row)"),
        }
    }

    /// Reports a fault that costs no game, for the author of the engine, or for the user of a machine that `lacks` something.
    fn tell_fault(&self, text: &str, lacks: bool) {
        if let Some((sink, player)) = &self.player.reports {
            let text = format!(
                "engine `{}` between games: {text}\n{}",
                self.player.engine.name,
                self.end.trace.report()
            );
            sink.happened(Entry::Fault { player: (!lacks).then_some(*player), text });
        }
    }

    /// Waits for the last words of a process that is gone.
    async fn await_stderr(&mut self) {
        if let Some(reader) = self.stderr.take() {
            let _still_open = timeout(LAST_WORDS, reader).await;
        }
    }

    async fn ending(&mut self) -> String {
        match &mut self.process {
            Some(process) => process.ending(STATUS_PATIENCE).await,
            None => "it is not running".to_owned(),
        }
    }

    /// Ends a process that plays one game only, and starts the next.
    async fn retire(&mut self) {
        self.close_process().await;
        if self.conversation.game().is_some() {
            self.start().await;
        }
    }

    async fn close_process(&mut self) {
        let _killed_or_not = self.close_within(self.player.engine.limits).await;
    }

    /// Ends the process; false if it had to be killed.
    async fn close_within(&mut self, mut limits: SeatLimits) -> bool {
        if !self.conversation.is_settled() {
            // An engine that owes an answer gets less time to leave than one in good order.
            limits.quit = limits.quit.min(UNSETTLED_PATIENCE);
            limits.terminate = limits.terminate.min(UNSETTLED_PATIENCE);
        }
        self.wake();
        self.flush();
        if let Some(process) = self.process.take() {
            if let Some(stdin) = &process.stdin {
                self.end.trace.line(Direction::Sent, b"quit", Instant::now());
                let _deaf = stdin.try_write(b"quit\n");
            }
            let left = process.end(limits.quit, limits.terminate, &self.end.trace).await;
            self.await_stderr().await;
            return left;
        }
        true
    }
}

/// Resolves at this moment; pending for ever without one.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Resolves when more fits into the pipe of the engine; pending for ever without one.
pub async fn writable(stdin: Option<&impl Input>) {
    match stdin {
        Some(stdin) => stdin.writable().await,
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

#[cfg(test)]
#[path = "usi_tests.rs"]
mod tests;
