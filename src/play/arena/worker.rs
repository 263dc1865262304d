//! A worker: one thread on which games live wholly, with their seats, alarms and processes.

use crate::{
    Unplayed,
    actor_thread::ActorThread,
    identity::{Engine, Guard},
    note::{Ended, Entries, Note, Over},
    operations::Interventions,
    play::{Fixture, GameContext, play},
    remote::RemotePlayers,
    turnstile::Permit,
};
use contest::schedule::Pairing;
use parking_lot::{Mutex, RwLock};
use plan::EnginePlan;
use platform::usage;
use referee::{
    AbortBy, Outcome,
    entry::{Entry, PlayerId},
    game::Order,
    number::number,
    sink::{SideRecord, Sink},
};
use seat::{
    Seat,
    recorder::Recorder,
    usi::{self, Gate, UsiPlayer},
};
use std::{
    io,
    sync::{Arc, mpsc::Sender},
    thread::{self, JoinHandle},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Idle engines that a worker keeps running in any case, at least.
const IDLE_ENGINES: usize = 8;
/// Further ones that all workers together keep where memory is plentiful: in an event of many engines most games would
/// begin with two starts.
pub const SPARE_ENGINES: usize = 128;
/// Open files of an engine (three pipes, and the line to its guardian), of a worker, and of the least of an event around them.
const ENGINE: usize = 4;
const WORKER: usize = 4;
const OTHERS: usize = 32;
/// Open files that are asked for: also those of idle engines, of connections and of pages.
const PLENTY: u64 = 65_536;

/// What all workers share.
#[derive(Clone)]
pub struct WorkerContext {
    /// Sink for moves, faults and memory.
    pub sink: Arc<dyn Sink>,
    /// The dispatcher's mailbox.
    pub notes: Sender<Note>,
    /// The players.
    pub field: Field,
    /// The source of remote players.
    pub remote: Option<Arc<dyn RemotePlayers>>,
    /// Permits to start an engine.
    pub startups: Arc<Semaphore>,
    /// Permits to keep an idle engine beyond those that each worker keeps: [`SPARE_ENGINES`] of them.
    pub spare: Arc<Semaphore>,
    /// Keeps the lines of engines; `None`: nobody does.
    pub recorder: Option<Recorder>,
    /// Adjourns the running games.
    pub adjourn: CancellationToken,
    /// The operator's orders to the running games.
    pub interventions: Arc<Interventions>,
}

/// The players of an event, by [`PlayerId`], and what their engines are, where that is known; more may join while it is
/// played. All copies are one.
#[derive(Clone, Debug, Default)]
pub struct Field(Arc<RwLock<Vec<Member>>>);

/// A player: how it is started, and what it is, if that is known.
type Member = (Arc<EnginePlan>, Option<Arc<Engine>>);

impl Field {
    /// The players that an event begins with.
    pub fn new(players: impl IntoIterator<Item = Member>) -> Self {
        Self(Arc::new(RwLock::new(players.into_iter().collect())))
    }

    /// Adds a player.
    pub fn join(&self, engine: EnginePlan, identity: Engine) {
        self.0.write().push((Arc::new(engine), Some(Arc::new(identity))));
    }

    fn engine(&self, player: PlayerId) -> Arc<EnginePlan> {
        self.0.read()[player.index()].0.clone()
    }

    fn identity(&self, player: PlayerId) -> Option<Arc<Engine>> {
        self.0.read().get(player.index())?.1.clone()
    }
}

impl WorkerContext {
    /// What keeps the engine of a player from being started once it is another one.
    fn guard(&self, player: PlayerId) -> Option<Arc<dyn Gate>> {
        let engine = self.field.identity(player)?;
        Some(Arc::new(Guard { engine, player, sink: self.sink.clone(), notes: self.notes.clone() }))
    }
}

/// The dispatcher's end of a worker.
#[derive(Debug)]
pub struct Worker {
    fixtures: mpsc::UnboundedSender<(Fixture, Option<Permit>)>,
    thread: JoinHandle<()>,
}

/// What a worker is started with.
#[derive(Clone, Debug, Default)]
pub struct WorkerSpec {
    /// Number of the worker.
    pub number: usize,
    /// Games at once on it.
    pub slots: usize,
    /// The cores its engines are pinned to; empty: any.
    pub cores: Vec<usize>,
}

impl Worker {
    /// Starts the workers of an event, and lets this program open the files that it is known to need, if it may.
    ///
    /// # Errors
    /// When the engines of their games at once cannot have their pipes, and those of [`Self::start`].
    pub fn start_all(specs: Vec<WorkerSpec>, context: &WorkerContext) -> io::Result<Vec<Self>> {
        let (games, others) =
            (specs.iter().map(|spec| spec.slots), context.field.0.read().len().saturating_sub(2));
        let idle: usize = games.clone().map(|slots| IDLE_ENGINES.max(2 * slots).min(others)).sum();
        let games: usize = games.sum();
        let needed = OTHERS + specs.len() * WORKER + (2 * games + idle) * ENGINE;
        let allowed = platform::account::files(PLENTY).map_or(usize::MAX, |allowed| allowed as usize);
        // Players of the network have the files of their connections, for which a host keeps what it needs.
        if allowed < needed && context.remote.is_none() {
            let text = format!(
                "{allowed} open files are allowed, and {} at once with all around them need {needed}: allow more by \
                 `ulimit -n` or by LimitNOFILE= in a unit, or play fewer at once",
                number(games, "game")
            );
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, text));
        }
        context.spare.forget_permits(SPARE_ENGINES.saturating_sub(allowed.saturating_sub(needed) / ENGINE));
        specs.into_iter().map(|spec| Self::start(spec, context.clone())).collect()
    }

    /// Starts a worker.
    ///
    /// # Errors
    /// When the system has no thread or event queue for it.
    pub fn start(spec: WorkerSpec, context: WorkerContext) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (fixtures, inbox) = mpsc::unbounded_channel();
        let name = format!("games-{}", spec.number);
        let thread = thread::Builder::new().name(name).spawn(move || {
            pin(&spec);
            tracing::debug!(target: "arena", worker = spec.number, slots = spec.slots, cores = ?spec.cores, "worker started");
            runtime.block_on(work(spec, context, inbox));
        })?;
        Ok(Self { fixtures, thread })
    }

    /// Hands a game to the worker, with the licences of its engines; false when the worker is gone.
    pub fn play(&self, fixture: Fixture, permit: Option<Permit>) -> bool {
        self.fixtures.send((fixture, permit)).is_ok()
    }

    /// Gives it no more games; its thread ends when it has finished those it has and ended its engines.
    pub fn let_go(self) -> JoinHandle<()> {
        self.thread
    }
}

/// Pins the thread to the cores of its engines: the side that waits for a line is woken where the line is in the cache.
fn pin(spec: &WorkerSpec) {
    if !spec.cores.is_empty() {
        let _unpinned_is_only_slower = platform::cores::pin_thread(&spec.cores);
    }
}

async fn work(
    spec: WorkerSpec,
    context: WorkerContext,
    mut fixtures: mpsc::UnboundedReceiver<(Fixture, Option<Permit>)>,
) {
    let bench = Arc::new(Bench::new(spec, context));
    let games = TaskTracker::new();
    let lag = bench.thread.lag.clone();
    let measuring = tokio::spawn(async move { lag.measure().await });
    while let Some((fixture, permit)) = fixtures.recv().await {
        games.spawn(host(fixture, permit.map(Arc::new), bench.clone()));
    }
    games.close();
    games.wait().await;
    measuring.abort();
    bench.clear();
    bench.thread.actors.close();
    bench.thread.actors.wait().await;
}

/// Seats both players, plays the game, and keeps the engines for the next.
async fn host(fixture: Fixture, permit: Option<Arc<Permit>>, bench: Arc<Bench>) {
    let mut slot = Slot::new(&fixture, &bench);
    let Some(mut seats) = bench.seats(&fixture, permit.as_ref()).await else {
        // A remote player has left since the game was handed out; the schedule hands it out again.
        return slot.over(Ok(Outcome::Aborted { by: AbortBy::NotStarted }), Entries::default());
    };
    for (seat, options) in seats.iter().zip(&fixture.options) {
        if !options.is_empty() {
            let _gone = seat.orders.send(Order::Options(options.clone())).await; // a dead seat says so in the game
        }
    }
    let Pairing { black, white, .. } = fixture.pairing;
    let WorkerContext { sink, notes, .. } = &bench.context;
    let report = GameReport { sink: sink.clone(), notes: notes.clone(), entries: Mutex::default() };
    let spectators = bench.context.remote.as_ref().map(|remote| remote.spectators());
    let WorkerContext { adjourn: stop, interventions, .. } = &bench.context;
    let (lag, interventions) = (&bench.thread.lag, Some(&**interventions));
    let context = GameContext { sink: &report, spectators, lag, stop, interventions };
    let outcome = play(fixture, &mut seats, context).await;
    slot.over(outcome, std::mem::take(&mut *report.entries.lock()));
    for (player, seat) in [black, white].into_iter().zip(seats) {
        bench.put_back(player, seat, permit.as_ref());
    }
}

/// Reports a game: its end goes to the dispatcher, which folds the ends of all workers in the order in which it hands
/// them to the journal; everything else goes to the journal at once.
#[derive(Debug)]
struct GameReport {
    sink: Arc<dyn Sink>,
    notes: Sender<Note>,
    entries: Mutex<Entries>,
}

impl Sink for GameReport {
    fn happened(&self, entry: Entry) {
        match entry {
            Entry::GameEnded(ended) => self.entries.lock().1 = Some(ended),
            Entry::GameStarted(started) => {
                self.entries.lock().0 = Some(started.clone());
                self.sink.happened(Entry::GameStarted(started));
            }
            other => self.sink.happened(other),
        }
    }

    fn keep(&self, record: SideRecord) {
        self.sink.keep(record);
    }

    /// The end goes through the dispatcher, so its journal is asked after it.
    fn when_kept(&self, then: Box<dyn FnOnce() + Send>) {
        let entries = std::mem::take(&mut *self.entries.lock());
        let _dispatcher_gone = self.notes.send(Note::Ended(Box::new(Ended { entries, kept: then })));
    }
}

/// A slot in use. The dispatcher hears that it is free when this is dropped, even by a panic: it waits for it.
struct Slot {
    notes: Sender<Note>,
    over: Option<Box<Over>>,
}

impl Slot {
    fn new(fixture: &Fixture, bench: &Bench) -> Self {
        let outcome = Err(Unplayed::Panicked);
        let (worker, game) = (bench.spec.number, fixture.setup.game);
        let (pairing, draws) = (fixture.pairing, fixture.draws);
        let over = Over { worker, game, pairing, draws, started: None, ended: None, outcome };
        Self { notes: bench.context.notes.clone(), over: Some(Box::new(over)) }
    }

    fn over(&mut self, outcome: Result<Outcome, Unplayed>, entries: Entries) {
        if let Some(over) = &mut self.over {
            over.outcome = outcome;
            (over.started, over.ended) = entries;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(over) = self.over.take() {
            let _dispatcher_gone = self.notes.send(Note::Over(over));
        }
    }
}

/// The engines of a worker that wait for a game.
struct Bench {
    spec: WorkerSpec,
    context: WorkerContext,
    thread: ActorThread,
    /// The longest waiting first.
    idle: Mutex<Vec<Idle>>,
}

/// An engine that waits for a game.
struct Idle {
    player: PlayerId,
    seat: Seat,
    /// What it is kept by beyond those that a worker keeps in any case.
    _spare: Option<OwnedSemaphorePermit>,
}

impl Bench {
    fn new(spec: WorkerSpec, context: WorkerContext) -> Self {
        Self { spec, context, thread: ActorThread::current(), idle: Mutex::default() }
    }

    /// Both players; `None` when a remote one is not there.
    async fn seats(&self, fixture: &Fixture, permit: Option<&Arc<Permit>>) -> Option<[Seat; 2]> {
        let [black, white] = match &self.context.remote {
            Some(remote) => remote.seat(fixture.clone(), self.thread.clone()).await?,
            None => [None, None],
        };
        let pairing = &fixture.pairing;
        let seat = |player: PlayerId, remote: Option<Seat>| match self.is_remote(player) {
            true => remote,
            false => Some(self.seat(player, permit)),
        };
        Some([seat(pairing.black, black)?, seat(pairing.white, white)?])
    }

    fn is_remote(&self, player: PlayerId) -> bool {
        self.context.field.engine(player).remote
    }

    fn seat(&self, player: PlayerId, permit: Option<&Arc<Permit>>) -> Seat {
        let mut idle = self.idle.lock();
        match idle.iter().rposition(|idle| idle.player == player) {
            Some(at) => idle.remove(at).seat,
            None => self.open(player, licence(permit, player)),
        }
    }

    fn open(&self, player: PlayerId, licence: Option<Arc<Permit>>) -> Seat {
        let engine = self.context.field.engine(player);
        let (cores, startups) = (self.spec.cores.clone(), self.context.startups.clone());
        let reports = Some((self.context.sink.clone(), player));
        let (seat, actor) = usi::open(UsiPlayer {
            engine,
            cores,
            startups,
            reports,
            gate: self.context.guard(player),
            recorder: self.context.recorder.clone(),
        });
        self.thread.start(async move {
            actor.await;
            // The process is gone.
            drop(licence);
        });
        seat
    }

    /// Engines stay for the next game; remote players are let go, and so is an engine that somebody may wait for.
    fn put_back(&self, player: PlayerId, seat: Seat, permit: Option<&Arc<Permit>>) {
        if self.is_remote(player) || licence(permit, player).is_some() {
            return;
        }
        let mut idle = self.idle.lock();
        let is_full = idle.len() >= IDLE_ENGINES.max(2 * self.spec.slots);
        let spare = if is_full { self.spare(player) } else { None };
        if is_full && spare.is_none() {
            idle.remove(0);
        }
        idle.push(Idle { player, seat, _spare: spare });
    }

    /// Leave to keep an engine that the worker would let go; the memory of a GPU is not known here.
    fn spare(&self, player: PlayerId) -> Option<OwnedSemaphorePermit> {
        let is_on_gpu = self.context.field.engine(player).gpu > 0.0;
        let has_room = !is_on_gpu && has_memory();
        if has_room { self.context.spare.clone().try_acquire_owned().ok() } else { None }
    }

    fn clear(&self) {
        self.idle.lock().clear();
    }
}

/// The licence of a player's engine, if it needs one.
fn licence(permit: Option<&Arc<Permit>>, player: PlayerId) -> Option<Arc<Permit>> {
    permit.filter(|permit| permit.is_for(player.index())).cloned()
}

/// True if at least half of the memory is free, of this machine and of the container or unit that this program runs in.
fn has_memory() -> bool {
    usage::memory().is_some_and(|memory| memory.is_plentiful())
        && usage::limits().iter().all(usage::Memory::is_plentiful)
}

#[cfg(test)]
#[allow(dead_code, reason = "the world of an event is simulated on one system")]
impl Worker {
    /// A worker whose games are played when a test lets the time of its runtime pass.
    pub(crate) fn on(runtime: &tokio::runtime::Runtime, slots: usize, context: WorkerContext) -> Self {
        let (fixtures, inbox) = mpsc::unbounded_channel();
        runtime.spawn(work(WorkerSpec { slots, ..WorkerSpec::default() }, context, inbox));
        Self { fixtures, thread: thread::spawn(|| ()) }
    }
}
