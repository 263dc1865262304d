//! An event from its first game to its last, in one thread, on simulated time, over a disk that forgets.
//!
//! A seed decides everything: how the guests play, when time passes, when the journal commits, what the operator orders, and
//! at which write the program is killed, the power is cut, the disk fails or is full. Then the same plan is taken up again,
//! as often as it takes, and the event has to end.
//!
//! What is real: the dispatcher with its agenda and rulings, the worker and the loop that plays a game, the operator's handle,
//! the journal, SQLite. What is played by the test: the players, whose seats are scripts, as guests of a host or as engines
//! with a limit of faults; and the disk ([`testing::disk`]). The thread of the journal lives, but works only while this one
//! waits for it ([`Rein`]).

#![cfg(target_os = "linux")]

use super::*;
use crate::{
    actor_thread::ActorThread,
    operations::command::{Command, RuledResult},
    play::Fixture,
    remote::{Remote, RemotePlayers, Seating},
    spectators::{Sight, Spectators},
    worker::Worker,
};
use contest::{
    fault_limit::FaultLimit,
    schedule::{Format, Stage, Tie},
    standings::Standings,
};
use journal::{Appended, GameFilter, Moves, Reader, StoreError};
use plan::{EnginePlan, serve::Missing};
use referee::{
    AbortBy,
    clock::{Accounting, TimeControl},
    entry::Moved,
    game::{Answer, Order, Reply, Said},
    opening::{EVEN, Opening},
    operation::InForce,
    points::Points,
};
use rsshogi::types::Move;
use seat::ActorEnd;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::{Mutex, mpsc::RecvTimeoutError},
    thread,
};
use tempfile::TempDir;
use testing::{
    Random,
    disk::{Death, Disk, Fault},
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::Semaphore,
    time::sleep,
};

const PLAYERS: [&str; 4] = ["asa", "bei", "chie", "dai"];
/// Games at once.
const SLOTS: usize = 2;
/// Steps of a run, and runs of an event, after which it does not end.
const STEPS: usize = 4_000;
const RUNS: usize = 60;
/// Main time of each side, in seconds of simulated time.
const MAIN: u64 = 30;
/// The ending of a game that a stop or a death breaks off.
const STOPPED: Outcome = Outcome::Aborted { by: AbortBy::Stopped };
/// The game that guests play, until one of them resigns.
const LINE: [&str; 24] = [
    "2g2f", "8c8d", "2f2e", "8d8e", "6i7h", "4a3b", "2e2d", "2c2d", "2h2d", "P*2c", "2d2h", "8e8f", "8g8f",
    "8b8f", "P*8g", "8f8b", "3i3h", "7a7b", "5i6h", "5a4b", "9g9f", "9c9d", "1g1f", "1c1d",
];

/// How often something has happened, by its name.
type Counts = BTreeMap<String, u64>;

/// The players of an event, and what they were told.
struct Guests {
    random: Mutex<Random>,
    /// True if they do nothing that is a fault.
    are_sound: bool,
    crowd: Crowd,
    /// The ends of games in the order in which players heard of them.
    told: Arc<Mutex<Vec<(GameId, Outcome)>>>,
}

/// Spectators who look away.
#[derive(Debug)]
struct Crowd;

impl Spectators for Crowd {
    fn see(&self, _: Sight) {}
}

impl RemotePlayers for Guests {
    fn waits(&self, _: PlayerId) -> bool {
        true
    }

    fn seat(&self, _: Fixture, thread: ActorThread) -> Seating {
        let seats = Color::BOTH.map(|_| {
            let (seat, end) = seat::pair();
            let random = Random(self.random.lock().unwrap().draw());
            thread.run(guest(end, random, self.are_sound, self.told.clone()));
            Some(seat)
        });
        Box::pin(async move { Some(seats) })
    }

    fn spectators(&self) -> &dyn Spectators {
        &self.crowd
    }

    fn settle(&self, _: Duration) {}
}

/// A player at its board, who may leave, think for too long, answer twice or not at all, or play what is no move.
async fn guest(
    mut end: ActorEnd,
    mut random: Random,
    is_sound: bool,
    told: Arc<Mutex<Vec<(GameId, Outcome)>>>,
) {
    let mut game = GameId(0);
    let resigns_at = random.below(LINE.len() as u64 + 1) as usize;
    while let Some(order) = end.inbox.recv().await {
        match order {
            Order::NewGame { game: next, .. } => {
                game = next;
                let rejects = !is_sound && random.chance(4);
                let reply = if rejects { Reply::Rejected { expired: false } } else { Reply::Ready };
                let _over = end.outbox.send((game, reply)).await;
            }
            Order::Go { position, .. } => {
                let plies = position.split_whitespace().skip_while(|word| *word != "moves").skip(1).count();
                let longest = if !is_sound && random.chance(2) { 2 * MAIN * 1000 } else { 1500 };
                let elapsed = Duration::from_millis(random.below(longest));
                sleep(elapsed).await;
                let mv = LINE.get(plies).filter(|_| plies < resigns_at);
                let said = match random.below(200) {
                    _ if is_sound => answer(mv),
                    0 => return,
                    1 => continue,
                    2 => Said::Unreadable("bestmove".to_owned()),
                    3 => Said::Win,
                    _ => answer(mv),
                };
                let answer = Reply::Answer(Answer { said, elapsed, ponders: false, thought: None });
                let times = if !is_sound && random.chance(1) { 2 } else { 1 };
                for _ in 0..times {
                    let _over = end.outbox.send((game, answer.clone())).await;
                }
            }
            Order::Over(outcome) => told.lock().unwrap().push((game, outcome)),
            _ => {}
        }
    }
}

/// The next move of the line, or the end of it.
fn answer(mv: Option<&&str>) -> Said {
    mv.map_or(Said::Resign, |mv| Said::Move(Move::from_usi(mv).unwrap()))
}

/// Holds the thread of the journal between two commits: it works while [`Rein::commit`] waits for it.
struct Rein {
    /// The thread waits until this is dropped.
    held_by: Option<Sender<()>>,
}

/// The answer to a wish for a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Commit {
    /// Nothing was to be committed.
    Nothing,
    /// All that was given is committed.
    Done,
    /// The journal has failed.
    Failed,
}

impl Rein {
    /// Holds a thread that is not started yet; its first commit has no content. Who waits for the answer knows that it is held.
    fn of(sink: &dyn Sink) -> (Self, Receiver<bool>) {
        sink.keep(SideRecord::OpeningTimes(GameId(0), vec![]));
        let (held_by, is_held) = hold(sink);
        (Self { held_by: Some(held_by) }, is_held)
    }

    fn commit(&mut self, sink: &dyn Sink) -> Commit {
        let (held_by, is_held) = hold(sink);
        if is_held.try_recv() == Ok(false) {
            return Commit::Nothing;
        }
        self.held_by = Some(held_by);
        heard(&is_held)
    }
}

fn heard(is_held: &Receiver<bool>) -> Commit {
    match is_held.recv_timeout(testing::PATIENCE) {
        Ok(_) => Commit::Done,
        Err(RecvTimeoutError::Disconnected) => Commit::Failed,
        Err(RecvTimeoutError::Timeout) => panic!("the journal does not answer"),
    }
}

/// Has the thread of the journal wait after the next commit until the sender is dropped. The receiver hears of the commit,
/// with false if there was nothing to commit, so that nobody waits.
fn hold(sink: &dyn Sink) -> (Sender<()>, Receiver<bool>) {
    let here = thread::current().id();
    let (held_by, released) = mpsc::channel::<()>();
    let (tell, is_held) = mpsc::channel();
    sink.when_kept(Box::new(move || {
        let is_elsewhere = thread::current().id() != here;
        let _gone = tell.send(is_elsewhere);
        if is_elsewhere {
            let _dropped = released.recv();
        }
    }));
    (held_by, is_held)
}

/// A stream: what is in the log, and the moves of each game.
#[derive(Clone, Debug, Default)]
struct Record {
    log: Vec<Stamped>,
    moves: BTreeMap<GameId, Vec<Stamped>>,
}

impl Record {
    fn take(&mut self, stamped: &Stamped) {
        match &stamped.entry {
            Entry::Moved(Moved { game, .. }) => self.moves.entry(*game).or_default().push(stamped.clone()),
            _ => self.log.push(stamped.clone()),
        }
    }

    /// The log in words.
    fn story(&self) -> String {
        let line = |stamped: &Stamped| match &stamped.entry {
            Entry::GameStarted(it) => format!("  {} begins: {:?}\n", it.game.0, it.pairing),
            Entry::Operator(it) => format!("  {} orders {}: {:?}\n", it.by, it.number, it.action),
            Entry::GameEnded(it) => {
                let Pairing { index, attempt, .. } = it.pairing;
                format!("  {} ends, {index} attempt {attempt}: {} {}\n", it.game.0, it.outcome, it.replayed)
            }
            other => format!("  {other:?}\n"),
        };
        self.log.iter().map(line).collect()
    }

    fn count(&self) -> u64 {
        (self.log.len() + self.moves.values().map(Vec::len).sum::<usize>()) as u64
    }

    /// Whether it begins with another one.
    ///
    /// # Errors
    /// What of the other one is missing, or is another now.
    fn goes_on_from(&self, earlier: &Self) -> Result<(), String> {
        let gone =
            |what: &Stamped, now: Option<&Stamped>| format!("{what:?} was committed; now there is {now:?}");
        for (at, entry) in earlier.log.iter().enumerate() {
            if self.log.get(at) != Some(entry) {
                return Err(gone(entry, self.log.get(at)));
            }
        }
        for (game, moves) in &earlier.moves {
            let now = self.moves.get(game).map(Vec::as_slice).unwrap_or_default();
            for (at, entry) in moves.iter().enumerate() {
                if now.get(at) != Some(entry) {
                    return Err(gone(entry, now.get(at)));
                }
            }
        }
        Ok(())
    }

    /// Entries at the end of the log that are ends of games which were broken off.
    fn broken_off(&self) -> u64 {
        let is_broken_off = |stamped: &&Stamped| match &stamped.entry {
            Entry::GameEnded(ended) => ended.outcome == STOPPED,
            _ => false,
        };
        self.log.iter().rev().take_while(is_broken_off).count() as u64
    }

    fn ended(&self, game: GameId) -> Option<Outcome> {
        self.log.iter().find_map(|stamped| match &stamped.entry {
            Entry::GameEnded(ended) if ended.game == game => Some(ended.outcome),
            _ => None,
        })
    }

    /// Whether each number is one game, and each place of the schedule has the same two players as ever.
    ///
    /// # Errors
    /// What is not so.
    fn check_places(&self) -> Result<(), String> {
        let (mut places, mut ends) = (BTreeMap::new(), BTreeSet::new());
        for stamped in &self.log {
            let (game, pairing) = match &stamped.entry {
                Entry::GameStarted(started) => (started.game, started.pairing),
                Entry::GameEnded(ended) if ends.insert(ended.game) => (ended.game, ended.pairing),
                Entry::GameEnded(ended) => return Err(format!("game {} ends twice", ended.game.0)),
                _ => continue,
            };
            let Pairing { stage, index, round, pair, black, white, .. } = pairing;
            let first = *places.entry((stage, index)).or_insert((round, pair, black, white));
            if first != (round, pair, black, white) {
                return Err(format!("game {}: {pairing:?} was paired as {first:?} before", game.0));
            }
        }
        Ok(())
    }
}

/// What follows from a stream: the same live and after a restart.
fn follows(standings: &Standings, operations: &Operations) -> String {
    let stage = |stage| standings.finished(stage).map(|finished| (finished, standings.ranking(stage)));
    let stages: Vec<_> = (0..).map_while(stage).collect();
    let orders = operations.in_force(|in_force| {
        let held: Vec<GameId> = in_force.held().map(|(game, _)| game).collect();
        (in_force.operations().len(), in_force.is_paused(), held)
    });
    format!("{stages:?} {:?} {:?} {orders:?}", standings.halts(), standings.verdict())
}

/// The players as a worker sees them that opens no seat itself.
fn seated_from_elsewhere(plan: &Plan) -> Field {
    let remote = |engine: &EnginePlan| Arc::new(EnginePlan { remote: true, ..engine.clone() });
    Field::new(plan.engines.iter().map(|engine| (remote(engine), None)))
}

/// How a run of the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Complete,
    /// By a fault of the disk, or by the operator.
    Stopped,
    /// Engines have reached their limit of faults.
    Halted,
    Died,
}

/// A run of the program.
struct Run<'r> {
    /// Dropped first: the end of a journal waits for its thread.
    rein: Rein,
    dispatcher: Dispatcher<'r>,
    runtime: Runtime,
    shutdown: &'r Shutdown,
    event: EventId,
    /// What a reader has heard of.
    read: Arc<Mutex<Vec<Stamped>>>,
    appended: Appended,
    /// Entries that are committed.
    committed: u64,
    /// Entries that were on their way when the journal failed.
    on_their_way: u64,
}

impl<'r> Run<'r> {
    fn start(
        event: OpenEvent<'r>,
        plan: &Plan,
        guests: Arc<Guests>,
        shutdown: &'r Shutdown,
    ) -> Result<Self, RunError> {
        let (rein, is_held) = Rein::of(&*event.sink());
        let (id, resumed) = (event.event(), event.journal.opening.event().resumed);
        let read = Arc::<Mutex<Vec<Stamped>>>::default();
        let reads = read.clone();
        let reader = Reader::new("world", move |batch| reads.lock().unwrap().extend_from_slice(batch));
        let (wait, missing) = (testing::PATIENCE, Missing::Forfeit);
        let are_guests = plan.engines[0].remote;
        let company = Company {
            openings: in_order(vec![], plan),
            remote: are_guests.then(|| Remote { players: guests.clone(), wait, missing }),
            machines: None,
            readers: vec![reader],
            say: Arc::new(|_: &str| ()),
            disk: DiskWatch::default(),
        };
        let mut dispatcher = Dispatcher::start(event, company, shutdown)?;
        // Dropped before the dispatcher.
        let rein = rein;
        assert_eq!(heard(&is_held), Commit::Done, "nothing is written yet");
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let context = WorkerContext {
            sink: dispatcher.journal.sink(),
            notes: dispatcher.notes.clone(),
            field: seated_from_elsewhere(plan),
            remote: Some(guests),
            startups: Arc::new(Semaphore::new(1)),
            spare: Arc::new(Semaphore::new(0)),
            recorder: None,
            adjourn: shutdown.adjourning().clone(),
            interventions: dispatcher.operations.interventions(),
        };
        dispatcher.slots = Slots::of(Worker::on(&runtime, SLOTS, context), SLOTS);
        dispatcher.open(&[], resumed, vec![]);
        let appended = dispatcher.journal.appended();
        Ok(Self {
            rein,
            dispatcher,
            runtime,
            shutdown,
            event: id,
            read,
            appended,
            committed: 0,
            on_their_way: 0,
        })
    }

    /// Lets time pass for games and guests.
    fn pass(&self, time: Duration) {
        self.runtime.block_on(async { sleep(time).await });
    }

    fn commit(&mut self) -> Commit {
        let given = self.appended.count();
        let commit = self.rein.commit(&*self.dispatcher.journal.sink());
        match commit {
            Commit::Failed => self.on_their_way = given - self.committed,
            Commit::Done | Commit::Nothing => self.committed = given,
        }
        commit
    }

    /// Does what the dispatcher's thread does when it is awake.
    fn dispatch(&mut self) -> Result<(), String> {
        while let Ok(note) = self.dispatcher.inbox.try_recv() {
            self.dispatcher.handle(note).map_err(|error| error.to_string())?;
        }
        self.dispatcher.fill();
        Ok(())
    }

    /// True if the dispatcher's thread would leave its loop.
    fn is_over(&self) -> bool {
        let waits = self.dispatcher.goes_on() && self.dispatcher.is_waiting();
        self.dispatcher.failed || !self.dispatcher.plays_here() && !waits
    }

    /// Has the games of a journal that has failed end, as the threads of workers do.
    fn break_off(&mut self) -> Result<(), String> {
        self.shutdown.adjourn();
        let mut running = self.dispatcher.agenda.running.len();
        for _ in 0..STEPS {
            if running == 0 {
                return Ok(());
            }
            self.pass(Duration::from_millis(100));
            while let Ok(note) = self.dispatcher.inbox.try_recv() {
                running -= usize::from(matches!(note, Note::Over(_)));
                self.dispatcher.late(note);
            }
        }
        Err(format!("{running} games do not end although the journal has failed"))
    }

    /// Ends the program as it ends by itself; returns how the event stands, and what a reader has heard.
    fn close(self) -> (Result<Finished, RunError>, Heard) {
        let Self { dispatcher, runtime, rein, event, read, appended, committed, on_their_way, .. } = self;
        drop(rein);
        let finished = dispatcher.close(Ok(()), event);
        drop(runtime);
        let given = appended.count();
        // What is given after a failure was never on its way.
        let on_their_way = if on_their_way > 0 { on_their_way } else { given - committed };
        (finished, Heard { entries: mem::take(&mut *read.lock().unwrap()), on_their_way, given })
    }

    /// The program dies: nobody closes anything.
    fn die(self) -> Heard {
        let Self { dispatcher, runtime, rein, read, appended, on_their_way, .. } = self;
        drop(runtime);
        drop(rein);
        drop(dispatcher);
        let given = appended.count();
        Heard { entries: mem::take(&mut *read.lock().unwrap()), on_their_way, given }
    }
}

/// The stages of an event: one, or a second one of the first two.
fn stages(random: &mut Random) -> Vec<Stage> {
    let format = random.of(&[
        Format::RoundRobin { cycles: 1 },
        Format::Gauntlet { challengers: 1, cycles: 2 },
        Format::Random { rounds: 3 },
        Format::Swiss { rounds: 3 },
        Format::Information { rounds: 3 },
        Format::Knockout { tie: Tie::HigherSeed },
        Format::Knockout { tie: Tie::MoreGames { extra: 1 } },
    ]);
    let games = random.of(&[1, 2, 2]);
    let first = Stage { format, games, ..Stage::default() };
    let has_final = !matches!(format, Format::Knockout { .. }) && random.chance(30);
    let tie = Tie::MoreGames { extra: 1 };
    let last = Stage { format: Format::Knockout { tie }, games: 2, entrants: Some(2), ..Stage::default() };
    if has_final { vec![first, last] } else { vec![first] }
}

/// What is known of a run that is over.
struct Heard {
    /// What was committed and read.
    entries: Vec<Stamped>,
    /// Entries of the commit that has failed.
    on_their_way: u64,
    /// Entries that the run has given to the journal.
    given: u64,
}

/// An event, and the disk and the program that it is played with.
struct World {
    random: Random,
    disk: Disk,
    plan: Plan,
    _directory: TempDir,
    /// Faults of the disk and orders of the operator that are still to come.
    faults: u64,
    orders: u64,
    /// How often engines were mended, so that the games which their faults have ended are played again.
    mended: u64,
    told: Arc<Mutex<Vec<(GameId, Outcome)>>>,
    /// All that was committed and read, or found.
    known: Record,
    /// Entries of the last commit, of which nobody knows whether it has succeeded.
    on_their_way: u64,
    /// What followed from all entries at the last commit, and at the one that has failed; `None` before the first.
    followed: [Option<String>; 2],
    counts: Counts,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let directory = tempfile::tempdir().unwrap();
        let disk = Disk::at(directory.path(), random.draw());
        let time = TimeControl {
            main: Duration::from_secs(MAIN),
            accounting: Accounting::Seconds,
            ..TimeControl::default()
        };
        let remote = random.chance(50);
        let engine = |name: &str| {
            let name = name.to_owned();
            EnginePlan { name, remote, time, ..EnginePlan::default() }
        };
        let engines = PLAYERS.map(engine).to_vec();
        let plan = Plan::of_engines("world", engines, directory.path().join("world.db"));
        let stages = stages(&mut random);
        let fault_limit = Some(FaultLimit { in_a_row: Some(random.of(&[1, 2])), ..FaultLimit::default() });
        let plan = Plan { concurrency: SLOTS, affinity: Some(false), stages, fault_limit, ..plan };
        let (faults, orders) = (random.below(7), random.below(10));
        Self {
            random,
            disk,
            plan,
            _directory: directory,
            faults,
            orders,
            mended: 0,
            told: Arc::default(),
            known: Record::default(),
            on_their_way: 0,
            followed: [None, None],
            counts: Counts::new(),
        }
    }

    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    /// Plays the event to its end.
    ///
    /// # Errors
    /// What does not hold, and what has happened.
    fn play(&mut self) -> Result<(), String> {
        self.try_to_play().map_err(|why| {
            let faults = self.disk.history().faults;
            format!("{why}\n  {}\n  {:?}\n{}", faults.join("\n  "), self.counts, self.known.story())
        })
    }

    fn try_to_play(&mut self) -> Result<(), String> {
        for _ in 0..RUNS {
            match self.run()? {
                End::Complete => return self.finish(true),
                End::Halted if self.mended == 2 => return self.finish(false),
                End::Halted => self.mended += 1,
                End::Died => self.restart(),
                End::Stopped => {}
            }
        }
        Err("the event does not end".to_owned())
    }

    /// Another program begins after one that has died.
    fn restart(&mut self) {
        let death = if self.random.chance(60) { Death::PowerCut } else { Death::Killed };
        self.count(if death == Death::Killed { "killed" } else { "power cut" });
        self.disk.restart(death);
        // The lock of an event is a file that nobody syncs; the system lets go of it with its process.
        let lock = self.plan.database.with_file_name("world.db-run1");
        let signed = "process 1 on host here";
        match self.random.below(3) {
            _ if death == Death::Killed => fs::write(lock, signed).unwrap(),
            0 => {}
            1 => fs::write(lock, "").unwrap(),
            _ => fs::write(lock, signed).unwrap(),
        }
    }

    /// Decides what will happen to the disk in the next run.
    fn plan_fault(&mut self) {
        self.disk.plan_nothing();
        if self.disk.is_full() && self.random.chance(60) {
            self.disk.make_room();
        }
        if self.faults > 0 {
            self.faults -= 1;
            let fault = self.random.of(&[Fault::Dies, Fault::Dies, Fault::Dies, Fault::Fails, Fault::Fills]);
            let within = self.random.of(&[10, 80, 300, 1200]);
            self.disk.plan(1 + self.random.below(within), fault);
        }
    }

    /// A run of the program, from its start to its end or its death.
    fn run(&mut self) -> Result<End, String> {
        self.plan_fault();
        let plan = self.plan.clone();
        let event = match OpenEvent::open(&plan, vec![], None) {
            Ok(event) => event,
            Err(error) => return self.not_played(&error),
        };
        if self.disk.is_dead() {
            return Ok(End::Died);
        }
        self.examine(&event)?;
        if event.is_closed() {
            return Ok(End::Complete);
        }
        let shutdown = Shutdown::default();
        let random = Mutex::new(Random(self.random.draw()));
        let (are_sound, told) = (self.mended > 0, self.told.clone());
        let guests = Arc::new(Guests { random, are_sound, crowd: Crowd, told });
        let mut run = Run::start(event, &plan, guests, &shutdown).map_err(|error| error.to_string())?;
        if self.mended > 0 {
            self.mend(&mut run);
        }
        match self.lead(&mut run)? {
            End::Died => {
                let heard = run.die();
                self.take(heard);
                Ok(End::Died)
            }
            _ => self.close(run),
        }
    }

    /// Why the program says that it cannot play the event: only for what the disk has.
    fn not_played(&mut self, error: &RunError) -> Result<End, String> {
        let cause = match error {
            RunError::Store(StoreError::Stopped(_, cause)) => &**cause,
            RunError::Store(cause) => cause,
            other => return Err(format!("the event cannot be played: {other}")),
        };
        let faults = self.disk.history().faults;
        match cause {
            _ if self.disk.is_dead() => return Ok(End::Died),
            StoreError::Full(_) if self.disk.is_full() => self.count("stopped by a full disk"),
            StoreError::Io(..) if faults.last().is_some_and(|fault| fault.ends_with("fails")) => {
                self.count("stopped by a failing disk");
            }
            _ => return Err(format!("the program stops for a fault that the disk does not have: {error}")),
        }
        Ok(End::Stopped)
    }

    /// Leads a run until it is over or the program is dead.
    fn lead(&mut self, run: &mut Run<'_>) -> Result<End, String> {
        for _ in 0..STEPS {
            // A game that goes on from an adjourned one is set up only when the disk has that one.
            if run.dispatcher.operations.in_force(InForce::has_adjourned) {
                self.commit(run);
            }
            run.dispatch()?;
            match () {
                () if self.disk.is_dead() => return Ok(End::Died),
                () if run.is_over() => return Ok(End::Stopped),
                () => self.step(run),
            }
        }
        Err("the run does not end".to_owned())
    }

    fn step(&mut self, run: &mut Run<'_>) {
        match self.random.below(100) {
            0..62 => run.pass(Duration::from_millis(1 + self.random.below(3_000))),
            62..90 => self.commit(run),
            90..96 => self.order(run),
            96 if self.faults > 0 => {
                self.faults -= 1;
                self.disk.die();
            }
            97 if self.faults > 0 => {
                self.faults -= 1;
                self.count("stopped by the operator");
                run.shutdown.adjourn();
            }
            _ => {}
        }
    }

    fn commit(&mut self, run: &mut Run<'_>) {
        let followed = follows(&run.dispatcher.agenda.standings, &run.dispatcher.operations);
        match run.commit() {
            Commit::Failed => {
                self.followed[1] = Some(followed);
                run.dispatcher.failed = true;
            }
            Commit::Done => self.followed = [Some(followed), None],
            Commit::Nothing => {}
        }
    }

    /// The operator orders something, or at the end what lets the event go on.
    fn order(&mut self, run: &mut Run<'_>) {
        let held =
            run.dispatcher.operations.in_force(|in_force| in_force.held().next().map(|(game, _)| game));
        let is_paused = run.dispatcher.operations.is_paused();
        let mut running: Vec<GameId> = run.dispatcher.agenda.running.keys().copied().collect();
        running.sort_unstable();
        let last = run.dispatcher.fixtures.next_game.0.saturating_sub(1);
        let any = 1 + self.random.below(last);
        let result =
            self.random.of(&[RuledResult::Black, RuledResult::White, RuledResult::Draw, RuledResult::Void]);
        let is_calm = self.orders == 0;
        self.orders = self.orders.saturating_sub(1);
        let (what, order, game) = match self.random.below(9) {
            0 | 1 if is_paused => return self.switch(run, Action::Resumed),
            0 | 1 if let Some(game) = held => ("played on", Command::PlayOn { game: game.0 }, game),
            _ if is_calm => return,
            0 => return self.switch(run, Action::Paused),
            1 | 2 if let Some(&game) = running.first() => {
                ("adjourned", Command::Adjourn { game: game.0, hold: self.random.chance(50) }, game)
            }
            3 => ("replayed", Command::Replay { game: any }, GameId(any)),
            6 | 7 => self.about_player(),
            8 => match self.taking_back(run) {
                Some(order) => order,
                None => return,
            },
            _ => ("ruled", Command::Rule { game: any, result }, GameId(any)),
        };
        self.ask(run, what, order, game);
    }

    fn about_player(&mut self) -> (&'static str, Command, GameId) {
        let mut name = || self.random.of(&PLAYERS).to_owned();
        let (player, above) = (name(), name());
        let (what, order) = match self.random.below(9) {
            0 | 1 => ("withdrawn", Command::Withdraw { player }),
            2 | 3 => ("returned", Command::Return { player }),
            4 => ("penalised", Command::Penalty { player, points: Points::of(0.5).unwrap() }),
            5 => ("disqualified", Command::Disqualify { player }),
            6 => ("placed", Command::Place { player, above }),
            7 => ("paired", Command::Pair { black: player, white: above }),
            _ => ("given a bye", Command::Bye { player, round: None }),
        };
        (what, order, GameId(0))
    }

    /// An order that takes an earlier one back which the dispatcher has carried out.
    fn taking_back(&mut self, run: &Run<'_>) -> Option<(&'static str, Command, GameId)> {
        let operations = &run.dispatcher.operations;
        let number = 1 + self.random.below(operations.in_force(InForce::next) - 1);
        let game = match operations.inverse(number).ok()? {
            Action::Ruled { game, .. } => game.game,
            Action::Paused | Action::Resumed | Action::Adjourned { .. } | Action::PlayedOn { .. } => {
                return None;
            }
            _ => GameId(0),
        };
        Some(("taken back", Command::Undo { number }, game))
    }

    fn ask(&mut self, run: &mut Run<'_>, what: &str, order: Command, game: GameId) {
        // The dispatcher waits for the disk before it decides about a game that is over.
        if !run.dispatcher.agenda.running.contains_key(&game) {
            self.commit(run);
        }
        let (answer, answered) = mpsc::channel();
        let (by, reason) = ("op".to_owned(), "a reason".to_owned());
        run.dispatcher.asked(Asked { by, reason, order, game, newcomers: vec![], answer });
        // A running game carries it out later.
        if !matches!(answered.try_recv(), Ok(Err(_))) {
            self.count(what);
        }
    }

    /// Has the games played again that faults of engines have ended, as `renmei rerun` does, the last first.
    fn mend(&mut self, run: &mut Run<'_>) {
        let by_fault = |stamped: &Stamped| match &stamped.entry {
            Entry::GameEnded(ended) => match ended.outcome {
                Outcome::Win { by, .. } if by.is_fault() => Some(ended.game),
                _ => None,
            },
            _ => None,
        };
        let games: Vec<GameId> = self.known.log.iter().filter_map(by_fault).collect();
        for game in games.into_iter().rev() {
            self.ask(run, "run again", Command::Replay { game: game.0 }, game);
        }
    }

    fn switch(&mut self, run: &mut Run<'_>, action: Action) {
        self.count(if action == Action::Paused { "paused" } else { "resumed" });
        let operations = run.dispatcher.operations.clone();
        operations.record_by("op", "", None, action, |entry| run.dispatcher.happened(entry));
    }

    /// Ends a run whose games are over, or whose journal has failed.
    fn close(&mut self, mut run: Run<'_>) -> Result<End, String> {
        match run.dispatcher.failed {
            true => run.break_off()?,
            false => self.commit(&mut run),
        }
        let (finished, heard) = run.close();
        let (given, read) = (heard.given, heard.entries.len() as u64);
        self.take(heard);
        let ended = match &finished {
            // Its last entry was given and committed after the last look.
            Ok(finished) => {
                self.followed = [None, None];
                match finished {
                    Finished { halted: true, .. } => End::Halted,
                    Finished { interrupted: true, .. } => End::Stopped,
                    Finished { .. } => End::Complete,
                }
            }
            Err(error) => {
                if let RunError::Store(StoreError::Stopped(lost, _)) = error
                    && read + *lost as u64 != given
                {
                    return Err(format!(
                        "of {given} entries {read} are committed, and {lost} are said to be lost"
                    ));
                }
                self.not_played(error)?
            }
        };
        if finished.is_ok() && read != given && !self.disk.is_dead() {
            return Err(format!("a reader has heard of {read} of {given} entries"));
        }
        // The last connection is closed here.
        drop(finished);
        Ok(if self.disk.is_dead() { End::Died } else { ended })
    }

    /// Notes what a run has committed.
    fn take(&mut self, heard: Heard) {
        heard.entries.iter().for_each(|stamped| self.known.take(stamped));
        self.on_their_way = heard.on_their_way;
        for stamped in &heard.entries {
            if let Entry::GameEnded(ended) = &stamped.entry {
                self.count(ended.outcome.cause());
            }
        }
    }

    /// Compares what an event is when it is opened with all that was known of it.
    fn examine(&mut self, event: &OpenEvent<'_>) -> Result<(), String> {
        let opening = &event.journal.opening;
        let mut stored = Record::default();
        let replayed = opening.replay(Moves::With, &mut |stamped| stored.take(stamped));
        replayed.map_err(|error| error.to_string())?;
        stored.goes_on_from(&self.known)?;
        stored.check_places()?;
        let (new, broken_off) = (stored.count() - self.known.count(), stored.broken_off());
        let mut lasted = (0..=broken_off.min(new)).map(|ends| new - ends);
        let candidates = [0, self.on_their_way].map(|count| lasted.clone().any(|lasted| lasted == count));
        if candidates == [false, false] {
            let (count, most) = (lasted.next().unwrap_or_default(), self.on_their_way);
            return Err(format!("{count} of {most} entries of a commit are there: it was torn"));
        }
        let follows = follows(event.standings(), &event.journal.operations);
        let expected: Vec<_> = self
            .followed
            .iter()
            .zip(candidates)
            .filter(|(_, is)| *is)
            .filter_map(|(was, _)| was.as_ref())
            .collect();
        if !expected.is_empty() && !expected.contains(&&follows) {
            return Err(format!("live it was {expected:?}, and after a restart {follows}"));
        }
        let told = self.told.lock().unwrap();
        for (game, outcome) in told.iter().filter(|(_, outcome)| *outcome != STOPPED) {
            let ended = stored.ended(*game);
            if ended != Some(*outcome) {
                return Err(format!(
                    "a player was told that game {} ended with {outcome}: {ended:?}",
                    game.0
                ));
            }
        }
        drop(told);
        let verified = opening.store().verify(event.event(), None).map_err(|error| error.to_string())?;
        if !verified.alterations.is_empty() {
            return Err(format!("the seals do not fit: {:?}", verified.alterations));
        }
        (self.known, self.on_their_way, self.followed) = (stored, 0, [Some(follows), None]);
        Ok(())
    }

    /// The event is over, or cannot go on because of halts, and stays as it is when the power is cut once more.
    fn finish(&mut self, is_complete: bool) -> Result<(), String> {
        self.disk.plan_nothing();
        self.disk.make_room();
        self.disk.die();
        self.disk.restart(Death::PowerCut);
        let plan = self.plan.clone();
        let event = OpenEvent::open(&plan, vec![], None).map_err(|error| error.to_string())?;
        self.examine(&event)?;
        if event.is_closed() != is_complete {
            return Err(format!("the event was complete: {is_complete}, and now: {}", event.is_closed()));
        }
        let (standings, store) = (event.standings(), event.journal.opening.store());
        let finished = standings.finished(0).map(|finished| finished.len());
        if is_complete && standings.games_to_play().is_some_and(|games| Some(games) != finished) {
            return Err(format!("{finished:?} of {:?} games are over", standings.games_to_play()));
        }
        // Where results decide about later games, a halt can be for good.
        let is_independent = matches!(plan.stages[0].format, Format::RoundRobin { .. });
        if !is_complete && is_independent {
            return Err(format!("the games of sound engines cannot be played: {:?}", standings.halts()));
        }
        let (mut counting, mut twice) = (BTreeSet::new(), vec![]);
        let counts_once = |row: journal::GameRow| {
            let counts = row.outcome.is_some_and(Outcome::counts) && !row.replayed;
            let place = (row.pairing.stage, row.pairing.index);
            twice.extend((counts && !counting.insert(place)).then_some(place));
            Ok::<_, StoreError>(())
        };
        store.games(event.event(), &GameFilter::default(), counts_once).map_err(|error| error.to_string())?;
        if !twice.is_empty() {
            return Err(format!("places {twice:?} count twice"));
        }
        match store.damage() {
            Ok(faults) if faults.is_empty() => Ok(()),
            damaged => Err(format!("the file is damaged: {damaged:?}")),
        }
    }
}

/// What fails with the fewest faults of the disk, and then the fewest orders, of those that a seed has.
fn smallest(seed: u64, faults: u64, orders: u64) -> Option<String> {
    (0..=faults).flat_map(|faults| (0..=orders).map(move |orders| (faults, orders))).find_map(|few| {
        let mut world = World::new(seed);
        (world.faults, world.orders) = few;
        let why = world.play().err()?;
        Some(format!("with {} faults and {} orders: {why}", few.0, few.1))
    })
}

/// Plays the event of each seed; returns how often what has happened.
fn play(seeds: std::ops::Range<u64>) -> Counts {
    let counts = Mutex::new(Counts::new());
    // A run waits much, as commits have a pause between them.
    testing::for_each_seed(seeds, 32, |seed| {
        let mut world = World::new(seed);
        let (faults, orders) = (world.faults, world.orders);
        world.play().map_err(|why| smallest(seed, faults, orders).unwrap_or(why))?;
        let history = world.disk.history();
        let mut counts = counts.lock().unwrap();
        world.counts.iter().for_each(|(what, count)| *counts.entry(what.clone()).or_default() += count);
        *counts.entry("forgotten".to_owned()).or_default() += history.forgotten;
        *counts.entry("operations".to_owned()).or_default() += history.operations;
        *counts.entry("syncs".to_owned()).or_default() += history.syncs;
        Ok(())
    });
    counts.into_inner().unwrap()
}

#[test]
fn whenever_the_program_dies_or_the_disk_fails_what_was_committed_survives_and_the_event_ends() {
    let seeds = testing::seeds(400, 40);
    let are_many = seeds.end - seeds.start >= 40;
    let counts = play(seeds);
    eprintln!("{counts:?}");
    let kinds = [
        "killed",
        "power cut",
        "forgotten",
        "stopped by a full disk",
        "stopped by a failing disk",
        "stopped by the operator",
        "adjourned",
        "played on",
        "paused",
        "ruled",
        "replayed",
        "run again",
        "withdrawn",
        "taken back",
        "default",
        "resignation",
        "time",
        "disconnection",
        "stopped",
    ];
    let missing: Vec<_> =
        kinds.into_iter().filter(|kind| counts.get(*kind).is_none_or(|count| *count == 0)).collect();
    assert!(!are_many || missing.is_empty(), "{missing:?} did not happen: {counts:?}");
}

#[test]
fn an_event_on_a_disk_that_lies_about_syncs_is_found_to_lose_what_was_committed() {
    let found = (0..16).find(|&seed| {
        let mut world = World::new(seed);
        world.disk.lie();
        world.play().is_err_and(|why| why.contains("was committed") || why.contains("was told"))
    });
    assert!(found.is_some(), "the test does not see what it is for");
}

#[test]
fn an_event_is_refused_on_a_disk_that_is_read_only_and_taken_up_when_it_is_not() {
    let mut world = World::new(1);
    (world.faults, world.orders) = (0, 0);
    let plan = world.plan.clone();
    drop(OpenEvent::open(&plan, vec![], None).unwrap());
    world.disk.set_read_only(true);
    let refused = OpenEvent::open(&plan, vec![], None).err().unwrap();
    assert!(matches!(refused, RunError::Store(StoreError::ReadOnly(_))), "{refused}");
    world.disk.set_read_only(false);
    world.play().unwrap();
}

#[test]
fn whatever_fails_while_a_database_is_made_an_event_that_opens_commits_to_a_log() {
    for at in 1..80 {
        let world = World::new(at);
        world.disk.plan(at, Fault::Fails);
        let plan = world.plan.clone();
        if OpenEvent::open(&plan, vec![], None).is_ok() {
            // Bytes 18 and 19 of a database: 2 where its commits go to a log.
            let head = fs::read(&plan.database).unwrap();
            assert_eq!(head[18..20], [2, 2], "operation {at} failed");
        }
    }
}

#[test]
fn the_moves_that_guests_play_are_legal() {
    assert!(Opening::of_usi(EVEN, &LINE.join(" ")).unwrap().goal().is_some());
}
