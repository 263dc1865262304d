//! `renmei worker`: plays the pairs that a manager gives it, and keeps every answer until it is taken.
//!
//! A worker outlives its manager and its server: it goes on playing what it has, and goes on trying to reach them. What
//! it has it tells with every sign of life; a lease that it does not list is lost.

mod prepare;

pub use prepare::Prepared;

use crate::{
    messages::{
        Answer, Back, Beat, Beaten, Hello, Holding, Job, MOST_WORDS, Order, PROTOCOL, Taken, Terms, Told,
        Verdicts, WORD, Welcome, Words,
    },
    outbox::Outbox,
    playing::{Done, Equipment, Playing},
    registry::BEAT,
    wire::{Line, Wire, WireError},
};
use arena::{Say, Shutdown, note::Note, speed::Speed};
use async_nats::Subscriber;
use files::Access;
use futures_util::StreamExt;
use hub::{Connection, Held, HubError, JoinOptions, Joined, WorkerId, join};
use journal::now;
use referee::{entry::PlayerId, lease::LeaseId, number::number};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};
use tokio::{
    runtime::Builder,
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        watch,
    },
    time::{MissedTickBehavior, interval, sleep},
};

/// Time between two looks at what is due.
const TICK: Duration = Duration::from_secs(1);
/// Time between two sights of a game.
const SIGHT: Duration = Duration::from_millis(500);
/// A clock that is off by more between two ticks has jumped: what was measured meanwhile is worth nothing.
const JUMP: Duration = Duration::from_secs(5);
/// Time until a refused or unanswered hello is repeated.
const AGAIN: Duration = Duration::from_secs(2);
/// The file of the line that was joined last, in the directory of a worker.
pub const REMEMBERED: &str = "line";
/// Most bytes of engines that are kept.
const CACHE: u64 = 20 << 30;
/// Time for which a server has to refuse this worker before that is believed; it is asked again at least every two seconds.
const REFUSED: Duration = Duration::from_secs(7);
/// Signs of life without an answer, after which it is told that the manager is gone.
const MISSED: u32 = 3;

/// How a worker is started.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// What the manager prints to join with.
    pub line: Line,
    /// A file with credentials, on somebody else's server.
    pub credentials: Option<PathBuf>,
    /// Name of the machine.
    pub name: String,
    /// Pairs at once; `None`: as many as the cores carry.
    pub slots: Option<usize>,
    /// What to say of the machine.
    pub tags: Vec<String>,
    /// The directory for what must survive: the key of this machine, answers, and engines that it was sent.
    pub state: PathBuf,
    /// Whether to play even if the engines need more cores than the machine has.
    pub oversubscribe: bool,
    /// Whether every engine has to be in a strict sandbox, with nothing here to write to.
    pub strict: bool,
    /// Drawn at random by each start of a worker.
    pub session: u64,
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The event is over.
    Over,
    /// It was asked to end.
    Stopped,
    /// The manager does not want this machine, for this reason: to start it again is of no use.
    Refused(String),
}

/// Works until the event is over, or `shutdown`.
///
/// # Errors
/// Why this machine cannot play, as a lowercase fragment.
pub fn work(options: &WorkerOptions, shutdown: &Shutdown, say: &Say) -> Result<Ended, String> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|why| format!("the system has no event queue: {why}"))?;
    runtime.block_on(async {
        let joined = match reach(options, shutdown, say).await {
            Ok(Some(joined)) => joined,
            Ok(None) => return Ok(Ended::Stopped),
            Err(why) if why.is_for_good() => return Ok(Ended::Refused(why.to_string())),
            Err(why) => return Err(why.to_string()),
        };
        remember(options, say);
        // Another machine may have the name that it asked for.
        let options = &WorkerOptions { name: joined.name().to_owned(), ..options.clone() };
        let outbox = Outbox::open(&options.state, joined.subjects().event(), joined.id().clone())?;
        let wire = Wire::of_worker(&joined, options.session);
        let terms = match first_terms(options, &wire, &outbox, shutdown, say).await {
            Ok(terms) => terms,
            Err(ended) => return Ok(ended),
        };
        let prepared = prepare_or_tell(options, &terms, &joined, &wire, &outbox, say).await?;
        let connection = joined.connection();
        Working::start(options, terms, prepared, wire, outbox, shutdown, say)?.run(connection).await
    })
}

/// Keeps the line, so that the next start of this worker needs none.
fn remember(options: &WorkerOptions, say: &Say) {
    let line = format!("{}\n", options.line.text());
    let kept = files::write_below(&options.state, Path::new(REMEMBERED), line.as_bytes(), Access::Private);
    if let Err(why) = kept {
        say(&format!("the line to join with could not be kept in `{}`: {why}", options.state.display()));
    }
}

/// Joins, as often as it takes; `None`: asked to end.
async fn reach(options: &WorkerOptions, shutdown: &Shutdown, say: &Say) -> Result<Option<Joined>, HubError> {
    let (mut told, mut in_use) = (false, 0);
    while !shutdown.is_finishing() {
        let how = JoinOptions {
            directory: options.state.clone(),
            name: options.name.clone(),
            credentials: options.credentials.clone(),
            server: options.line.server.clone(),
            cache_bytes: CACHE,
        };
        let joined = tokio::select! {
            joined = join(&options.line.token, how) => joined,
            () = shutdown.finishing().cancelled() => return Ok(None),
        };
        match joined {
            Ok(joined) => return Ok(Some(joined)),
            Err(why @ (HubError::Connect { .. } | HubError::NoManager { .. })) => {
                if !std::mem::replace(&mut told, true) {
                    say(&format!("{why}; trying again"));
                }
            }
            // An engine that a killed worker was just starting holds its lock for a moment.
            Err(HubError::NameInUse { .. }) if in_use < 3 => in_use += 1,
            Err(why) => return Err(why),
        }
        pause(shutdown).await;
    }
    Ok(None)
}

async fn pause(shutdown: &Shutdown) {
    tokio::select! {
        () = sleep(AGAIN) => {}
        () = shutdown.finishing().cancelled() => {}
    }
}

/// Asks what is played, as often as it takes; otherwise how this worker ends.
async fn first_terms(
    options: &WorkerOptions,
    wire: &Wire,
    outbox: &Outbox,
    shutdown: &Shutdown,
    say: &Say,
) -> Result<Terms, Ended> {
    let mut told = String::new();
    while !shutdown.is_finishing() {
        let hello = hello(options, 1, None, false, holding(&[], outbox));
        let words = match ask::<Welcome>(wire, outbox.worker(), "hello", &hello).await {
            Ok(Welcome::Come(terms)) => return Ok(*terms),
            Ok(Welcome::Refused { why, for_good: true }) => return Err(Ended::Refused(printable(&why))),
            Ok(Welcome::Refused { why, for_good: false }) => printable(&why),
            Err(why) => why.to_string(),
        };
        if words != told {
            say(&format!("{words}; trying again"));
            told = words;
        }
        pause(shutdown).await;
    }
    Err(Ended::Stopped)
}

/// Looks at the engines; a machine that cannot play says so to its manager, too.
async fn prepare_or_tell(
    options: &WorkerOptions,
    terms: &Terms,
    joined: &Joined,
    wire: &Wire,
    outbox: &Outbox,
    say: &Say,
) -> Result<Prepared, String> {
    match prepare::prepare(options, terms, joined.cache(), say).await {
        Ok(prepared) => Ok(prepared),
        Err(why) => {
            let why = format!("it cannot play: {why}");
            let back = Back { leases: vec![], why: why.clone(), player: None::<PlayerId>, leaves: true };
            let _manager_gone = ask::<Taken>(wire, outbox.worker(), "back", &back).await;
            Err(why)
        }
    }
}

fn hello(
    options: &WorkerOptions,
    slots: usize,
    speed: Option<Speed>,
    ready: bool,
    holding: Holding,
) -> Hello {
    Hello {
        protocol: PROTOCOL,
        build: env!("CARGO_PKG_VERSION").to_owned(),
        session: options.session,
        name: options.name.clone(),
        slots,
        cores: thread::available_parallelism().map_or(1, usize::from),
        tags: options.tags.clone(),
        speed,
        ready,
        holding,
    }
}

fn holding(held: &[LeaseId], outbox: &Outbox) -> Holding {
    Holding { now: now(), held: held.to_vec(), outbox: outbox.leases() }
}

async fn ask<A: DeserializeOwned>(
    wire: &Wire,
    worker: &WorkerId,
    kind: &str,
    message: &impl Serialize,
) -> Result<A, WireError> {
    let message = serde_json::to_vec(message).map_err(|why| WireError::Unreadable(why.to_string()))?;
    wire.ask(worker, kind, message).await
}

/// A text of the manager, as it may be shown.
fn printable(text: &str) -> String {
    notation::printable_lines(text).into_owned()
}

/// An answer of the manager, or that there is none.
enum Heard {
    Hello(Result<Welcome, WireError>),
    Beat(Result<Beaten, WireError>),
    Taken(LeaseId, Result<Taken, WireError>),
}

/// A worker that plays.
struct Working<'a> {
    options: &'a WorkerOptions,
    terms: Terms,
    slots: usize,
    speed: Option<Speed>,
    wire: Wire,
    outbox: Outbox,
    shutdown: &'a Shutdown,
    say: &'a Say,
    playing: Playing,
    notes: UnboundedReceiver<Note>,
    answers: UnboundedSender<Heard>,
    heard: UnboundedReceiver<Heard>,
    /// Answers on their way.
    sending: HashSet<LeaseId>,
    asking: bool,
    /// Whether a hello is due as soon as the answer before it is there.
    hello_due: bool,
    /// Whether a sign of life is due then: the connection was made again meanwhile.
    beat_due: bool,
    beaten: Instant,
    /// Time from its last question to the answer.
    lag: Duration,
    missed: u32,
    /// Whether the manager has heard that this worker takes no more.
    left: bool,
    over: bool,
    /// Why it cannot go on.
    broken: Option<String>,
    /// Games that are to be shown while they are played.
    boards: usize,
    /// Whether that is because the manager does not want this machine.
    refused: bool,
    /// What the manager should know of this machine, once it plays.
    words: Words,
    /// Engines that it was sent: they stay in the cache.
    _held: Vec<Held>,
}

impl<'a> Working<'a> {
    fn start(
        options: &'a WorkerOptions,
        terms: Terms,
        prepared: Prepared,
        wire: Wire,
        outbox: Outbox,
        shutdown: &'a Shutdown,
        say: &'a Say,
    ) -> Result<Self, String> {
        let Prepared { slots, speed, threads, plans, engines, words, held } = prepared;
        let lines = words.iter().take(MOST_WORDS).map(|line| notation::clipped(line, WORD)).collect();
        let (games, from_games) = mpsc::channel();
        let (to_us, notes) = unbounded_channel();
        let bridge = move || from_games.into_iter().try_for_each(|note| to_us.send(note).map_err(drop));
        let adjourn = shutdown.adjourning().clone();
        let startups = thread::available_parallelism().map_or(1, usize::from);
        let equipment = Equipment { threads, plans, engines, startups, adjourn, notes: games };
        let no_thread = |why| format!("the system has no thread: {why}");
        thread::Builder::new().name("notes".to_owned()).spawn(bridge).map_err(no_thread)?;
        let playing = Playing::start(terms.clone(), equipment).map_err(no_thread)?;
        let (answers, heard) = unbounded_channel();
        Ok(Self {
            options,
            terms,
            slots,
            speed,
            wire,
            outbox,
            shutdown,
            say,
            playing,
            notes,
            answers,
            heard,
            sending: HashSet::new(),
            asking: false,
            hello_due: false,
            beat_due: false,
            beaten: Instant::now(),
            lag: Duration::ZERO,
            missed: 0,
            left: false,
            over: false,
            broken: None,
            boards: 0,
            refused: false,
            words: Words { lines },
            _held: held,
        })
    }

    async fn run(mut self, mut connection: watch::Receiver<Connection>) -> Result<Ended, String> {
        let worker = self.outbox.worker().clone();
        let mut jobs = self.wire.to_worker(&worker, "job").await?;
        let mut orders = self.wire.to_worker(&worker, "ctl").await?;
        let mut to_all = self.wire.to_all().await?;
        let event = printable(&self.terms.event);
        (self.say)(&format!(
            "`{}` plays in `{event}`: {} at once",
            self.options.name,
            number(self.slots, "pair")
        ));
        self.say_hello();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut sights = interval(SIGHT);
        sights.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut clocks, mut refused_since) = (Clocks::now(), None);
        while !self.is_done() {
            tokio::select! { biased;
                () = self.shutdown.finishing().cancelled(), if !self.left => self.leave(),
                Some(order) = next(&mut orders) => self.order(&order, false),
                Some(order) = next(&mut to_all) => self.order(&order, true),
                Some(note) = self.notes.recv() => self.note(note),
                Some(heard) = self.heard.recv() => self.hear(heard),
                Some(job) = next(&mut jobs) => self.job(&job),
                Ok(()) = connection.changed() => self.reconnected(*connection.borrow_and_update()),
                _ = ticks.tick() => {
                    let refused = refusal(*connection.borrow(), &mut refused_since);
                    self.broken = self.broken.take().or(refused);
                    let jumped = std::mem::replace(&mut clocks, Clocks::now()).jumped();
                    self.tick(jumped);
                }
                _ = sights.tick(), if self.boards > 0 => self.show().await,
            }
        }
        self.end().await
    }

    /// Whether nothing is left to do.
    fn is_done(&self) -> bool {
        let ends = self.shutdown.is_finishing() || self.broken.is_some();
        let delivered =
            self.shutdown.is_adjourning() || self.broken.is_some() || self.outbox.leases().is_empty();
        // Answers on their way are heard out: the last one may be confirmed just now.
        (self.over && self.sending.is_empty()) || (ends && self.playing.is_idle() && delivered)
    }

    async fn end(mut self) -> Result<Ended, String> {
        self.shutdown.adjourn();
        let back = Back {
            leases: self.playing.drop_all(),
            why: self.broken.clone().filter(|_| !self.refused).unwrap_or_default(),
            player: None,
            leaves: true,
        };
        if !self.over {
            let told = ask::<Taken>(&self.wire, self.outbox.worker(), "back", &back);
            let _manager_gone = tokio::time::timeout(BEAT, told).await;
        }
        let left = self.outbox.leases().len();
        if left > 0 {
            let answers = number(left, "answer");
            (self.say)(&format!("{answers} not taken yet, kept in `{}`", self.options.state.display()));
        }
        self.wire.flush().await;
        self.playing.close();
        match (self.broken, self.over) {
            (Some(why), _) if self.refused => Ok(Ended::Refused(why)),
            (Some(why), _) => Err(why),
            (None, true) => Ok(Ended::Over),
            (None, false) => Ok(Ended::Stopped),
        }
    }

    /// Takes no more: gives back what has not begun, and finishes the rest.
    fn leave(&mut self) {
        self.left = true;
        let leases = self.playing.not_begun();
        self.give_back(leases, String::new(), true);
        (self.say)("finishing the pairs that have begun; once more gives them back");
    }

    fn job(&mut self, payload: &[u8]) {
        let job = match self.wire.read::<Job>(payload, false) {
            Ok(job) => job,
            Err(why) => return (self.say)(&format!("a job that is none was left alone: {why}")),
        };
        // What it does not take it does not list, and so it is handed out again.
        if job.epoch != self.terms.epoch || self.left || !self.outbox.has_room() {
            return;
        }
        let done = self.playing.take(job);
        self.done(done);
    }

    fn order(&mut self, payload: &[u8], for_all: bool) {
        match self.wire.read::<Order>(payload, for_all) {
            Ok(Order::Hello { epoch }) if epoch != self.terms.epoch => self.say_hello(),
            Ok(Order::Stop) => {
                let leases = self.playing.not_begun();
                self.give_back(leases, String::new(), false);
            }
            Ok(Order::Over) => {
                (self.say)("the event is over");
                self.over = true;
            }
            Ok(Order::Barred { why }) if !for_all => self.refuse(&why),
            Ok(Order::Drop { leases }) => self.playing.drop_leases(&leases),
            Ok(Order::Hello { .. } | Order::Barred { .. }) | Err(_) => {}
        }
    }

    /// Ends, because the manager does not want this machine.
    fn refuse(&mut self, why: &str) {
        self.playing.drop_all();
        self.refused = true;
        self.broken = Some(printable(why));
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::Over(over) => {
                let done = self.playing.over(*over);
                self.done(done);
            }
            Note::Replaced(_, changes) => {
                let leases = self.playing.drop_all();
                let why = format!("its engines are others than before: {}", changes.join("; "));
                self.give_back(leases, why.clone(), true);
                self.broken = Some(why);
            }
            _ => {}
        }
    }

    fn done(&mut self, done: Vec<Done>) {
        for done in done {
            match done {
                Done::Played(answer) => self.keep(&answer),
                Done::NotPlayed(lease, why) => self.give_back(vec![lease], why, false),
            }
        }
    }

    /// Keeps an answer before anybody hears of it.
    fn keep(&mut self, answer: &Answer) {
        let lease = answer.lease;
        let kept =
            fitting(answer).and_then(|bytes| self.outbox.keep(lease, &bytes).map_err(|why| why.to_string()));
        match kept {
            Ok(()) => self.send(lease),
            Err(why) => {
                let why = format!("an answer could not be kept: {why}");
                (self.say)(&why);
                self.give_back(vec![lease], why, false);
            }
        }
    }

    fn send(&mut self, lease: LeaseId) {
        if !self.sending.insert(lease) {
            return;
        }
        match self.outbox.read(lease) {
            Ok(answer) => {
                let (wire, worker, answers) =
                    (self.wire.clone(), self.outbox.worker().clone(), self.answers.clone());
                tokio::spawn(async move {
                    let taken = wire.ask(&worker, "result", answer).await;
                    let _ended = answers.send(Heard::Taken(lease, taken));
                });
            }
            Err(_) => _ = self.sending.remove(&lease),
        }
    }

    /// Tells the manager of a fault outside of a game. One that it does not hear stays in this program's diagnostics.
    fn tell(&self, told: Told) {
        (self.say)(&printable(&told.text));
        let (wire, worker) = (self.wire.clone(), self.outbox.worker().clone());
        tokio::spawn(async move { ask::<Taken>(&wire, &worker, "told", &told).await.map(drop) });
    }

    /// Tells the manager what its operator should know of this machine; one that knows it already says nothing.
    fn say_words(&self) {
        if !self.words.lines.is_empty() {
            let (wire, worker, words) = (self.wire.clone(), self.outbox.worker().clone(), self.words.clone());
            tokio::spawn(async move { ask::<Taken>(&wire, &worker, "words", &words).await.map(drop) });
        }
    }

    fn give_back(&self, leases: Vec<LeaseId>, why: String, leaves: bool) {
        if leases.is_empty() && !leaves {
            return;
        }
        let back = Back { leases, why, player: None, leaves };
        let (wire, worker) = (self.wire.clone(), self.outbox.worker().clone());
        // What is not heard is not listed any more either.
        tokio::spawn(async move { ask::<Taken>(&wire, &worker, "back", &back).await.map(drop) });
    }

    fn say_hello(&mut self) {
        self.hello_due = self.asking;
        let holding = holding(&self.playing.leases(), &self.outbox);
        let hello = hello(self.options, self.slots, self.speed.clone(), !self.left, holding);
        self.ask_by("hello", hello, Heard::Hello);
    }

    fn ask_by<A: DeserializeOwned + Send + 'static>(
        &mut self,
        kind: &'static str,
        message: impl Serialize + Send + Sync + 'static,
        heard: fn(Result<A, WireError>) -> Heard,
    ) {
        if std::mem::replace(&mut self.asking, true) {
            return;
        }
        self.beaten = Instant::now();
        let (wire, worker, answers) = (self.wire.clone(), self.outbox.worker().clone(), self.answers.clone());
        tokio::spawn(async move {
            let answer = ask(&wire, &worker, kind, &message).await;
            let _ended = answers.send(heard(answer));
        });
    }

    fn tick(&mut self, jumped: bool) {
        if jumped {
            let leases = self.playing.drop_all();
            if !leases.is_empty() {
                self.give_back(leases, "its clock jumped: the games in play are given up".to_owned(), false);
            }
        }
        self.playing.end_dropped();
        self.playing.told().into_iter().for_each(|told| self.tell(told));
        if self.beaten.elapsed() >= BEAT {
            self.beat();
        }
    }

    /// A manager that comes back with its server is told at once that this worker is there: its first word may have come
    /// before the connection.
    fn reconnected(&mut self, connection: Connection) {
        if connection == Connection::Up {
            // What was on its way may be lost with the connection; a second time does no harm.
            self.sending.clear();
            self.beat_due = self.asking;
            self.beat();
        }
    }

    fn beat(&mut self) {
        let holding = holding(&self.playing.leases(), &self.outbox);
        let lag = u32::try_from(self.lag.as_millis()).unwrap_or(u32::MAX);
        let beat = Beat { epoch: self.terms.epoch, session: self.options.session, lag, holding };
        self.ask_by("beat", beat, Heard::Beat);
        self.outbox.leases().into_iter().for_each(|lease| self.send(lease));
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Hello(answer) => {
                self.asking = false;
                match answer {
                    Ok(Welcome::Come(terms)) => self.welcomed(*terms),
                    Ok(Welcome::Refused { why, for_good: true }) => self.refuse(&why),
                    Ok(Welcome::Refused { why, .. }) => (self.say)(&printable(&why)),
                    Err(_) => self.unheard(),
                }
            }
            Heard::Beat(answer) => {
                self.asking = false;
                self.lag = self.beaten.elapsed();
                match answer {
                    Ok(Beaten::Known(verdicts)) => {
                        self.heard_again();
                        self.judged(&verdicts);
                    }
                    Ok(Beaten::HelloAgain) => self.say_hello(),
                    Err(_) => self.unheard(),
                }
            }
            Heard::Taken(lease, taken) => self.taken(lease, taken),
        }
        if self.hello_due && !self.asking {
            self.say_hello();
        }
        if !self.asking && std::mem::take(&mut self.beat_due) {
            self.beat();
        }
    }

    fn welcomed(&mut self, terms: Terms) {
        let same =
            Terms { epoch: terms.epoch, verdicts: terms.verdicts.clone(), ..self.terms.clone() } == terms;
        if !same {
            self.broken = Some("the event has another configuration now: start this worker again".to_owned());
            return;
        }
        self.heard_again();
        let verdicts = terms.verdicts.clone();
        self.terms = terms;
        self.judged(&verdicts);
        self.say_words();
        self.outbox.leases().into_iter().for_each(|lease| self.send(lease));
    }

    fn judged(&mut self, verdicts: &Verdicts) {
        self.playing.drop_leases(&verdicts.lost);
        self.boards = verdicts.boards;
    }

    /// Shows games to whoever looks on; what cannot be sent at once is not sent.
    async fn show(&mut self) {
        for sight in self.playing.sights(self.boards) {
            if !self.wire.show(self.outbox.worker(), &sight).await {
                break;
            }
        }
    }

    fn unheard(&mut self) {
        self.missed += 1;
        if self.missed == MISSED {
            (self.say)("the manager does not answer; this worker goes on, and goes on trying");
        }
    }

    fn heard_again(&mut self) {
        if std::mem::take(&mut self.missed) >= MISSED {
            (self.say)("the manager is back");
        }
    }

    fn taken(&mut self, lease: LeaseId, taken: Result<Taken, WireError>) {
        self.sending.remove(&lease);
        match taken {
            Ok(Taken::Committed) => self.outbox.forget(lease),
            Ok(Taken::Refused { why }) => {
                (self.say)(&printable(&why));
                self.outbox.forget(lease);
            }
            // It is sent again with a later sign of life.
            Ok(Taken::Later) | Err(_) => {}
        }
    }
}

/// An answer as it is sent; engines that talk much are shortened.
fn fitting(answer: &Answer) -> Result<Vec<u8>, String> {
    /// Most bytes of an answer.
    const MOST: usize = 512 * 1024;
    let bytes = serde_json::to_vec(answer).map_err(|why| why.to_string())?;
    if bytes.len() <= MOST {
        return Ok(bytes);
    }
    let mut short = answer.clone();
    for stamped in short.games.iter_mut().flatten() {
        if let referee::entry::Entry::Moved(moved) = &mut stamped.entry
            && let Some(thought) = &mut moved.thought
        {
            thought.pv = None;
        }
    }
    let bytes = serde_json::to_vec(&short).map_err(|why| why.to_string())?;
    if bytes.len() <= MOST + 64 * 1024 { Ok(bytes) } else { Err(format!("it has {} bytes", bytes.len())) }
}

/// Why a worker ends that the server knows no more. While a server takes over new users it refuses everybody whose
/// connection is just being made, so only a refusal that lasts is believed.
fn refusal(connection: Connection, since: &mut Option<Instant>) -> Option<String> {
    if connection != Connection::Refused {
        *since = None;
        return None;
    }
    let lasts = since.get_or_insert_with(Instant::now).elapsed() >= REFUSED;
    lasts.then(|| {
        "the server does not know this machine any more: join with the line that the manager prints now"
            .to_owned()
    })
}

/// The next message of a subscription.
async fn next(subscriber: &mut Subscriber) -> Option<Vec<u8>> {
    subscriber.next().await.map(|message| message.payload.to_vec())
}

/// Two clocks that should agree.
struct Clocks {
    steady: Instant,
    wall: i64,
}

impl Clocks {
    fn now() -> Self {
        Self { steady: Instant::now(), wall: now() }
    }

    /// Whether one of the clocks has jumped since, or this program was stopped.
    fn jumped(self) -> bool {
        let steady = self.steady.elapsed();
        let wall = Duration::from_millis(now().saturating_sub(self.wall).max(0).unsigned_abs());
        steady > TICK + JUMP || steady.abs_diff(wall) > JUMP
    }
}
