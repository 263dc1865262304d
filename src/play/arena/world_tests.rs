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

#[path = "tests/world/checks.rs"]
mod checks;
#[path = "tests/world/guests.rs"]
mod guests;
#[path = "tests/world/orders.rs"]
mod orders;
#[path = "tests/world/record.rs"]
mod record;
#[path = "tests/world/run.rs"]
mod run;

use self::{
    guests::{Crowd, Guests, LINE},
    record::Record,
    run::{Commit, End, Heard, Run, follows},
};
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

/// How often something has happened, by its name.
type Counts = BTreeMap<String, u64>;

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
            // An order comes before the first look for games, or after it.
            if self.random.chance(50) {
                run.dispatch()?;
            }
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
        let shrunk =
            |why| if testing::is_brief() { why } else { smallest(seed, faults, orders).unwrap_or(why) };
        world.play().map_err(shrunk)?;
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
