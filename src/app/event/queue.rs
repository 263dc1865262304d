//! The player of a queue: looks at its tests again and again, plays those whose turn it is, each on a thread of its own,
//! and notes those that cannot be played. All state is in the database.

use crate::{
    Exit, Failure, aloud,
    catalogue::{Catalogue, Reins},
    gallery::{Gallery, KEPT as SHOWN, ListedEvent},
    output,
    prepare::{self, listen, look},
    run::PagesAt,
    runner::{EventRunner, Prepared, halts},
};
use arena::{Say, Shutdown, Unplayed, dispatcher::RunError, turnstile::Turnstile};
use journal::{Bounds, QueuedTest, StoreError, TestChange, Tests, Writer, now};
use laboratory::{
    Built, Cache, LabError, NotBuilt,
    queue::{Candidate, chosen},
};
use plan::{Event, Plan};
use platform::lack::is_ours;
use referee::{entry::GameId, number::number};
use report::{Commits, EventInfo, Report, verdict_words};
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
};
use web::{EventState, MakeTests};

mod history;

pub use history::{Histories, state};

/// Tests that the page lists, the newest.
const LISTED: usize = 200;
/// Default of [`Options::keep`].
const KEPT: usize = 20;

/// How a queue is played.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Tests of the same priority that are played together; `None`: one.
    pub at_once: Option<usize>,
    /// Games at once, of all tests together; `None`: as many as the cores carry.
    pub concurrency: Option<usize>,
    /// Plays even if the engines need more cores than there are.
    pub oversubscribe: bool,
    /// Ends when no test waits.
    pub until_empty: bool,
    /// Tests that are over and keep their moves; `None`: 20.
    pub keep: Option<usize>,
    /// Megabytes of free disk below which no new game begins; `None`: as the tests' plans have it.
    pub reserve_mb: Option<u64>,
    /// Command that gets notices of each test.
    pub notify: Option<String>,
    /// Addresses of the pages of all tests; none: no pages.
    pub http: Vec<SocketAddr>,
}

/// Plays a queue until a signal, or with `--until-empty` until no test waits.
///
/// # Errors
/// When another process plays it, or the database or the cache fails. A fault of one test is noted in the database, and
/// the queue goes on.
pub fn run(database: &Path, args: &Options) -> Result<Exit, Failure> {
    let mut store = Writer::open(database)?;
    store.lock_queue().map_err(|error| match error {
        StoreError::Running { holder, .. } => Failure::Other(format!(
            "this queue is played already, by {holder}; tests that are added now are its"
        )),
        error => error.into(),
    })?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let shutdown = Shutdown::default();
    listen(&shutdown)?;
    let database = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let runner = Runner {
        args,
        turnstile: Turnstile::new(args.concurrency.unwrap_or(cores)),
        at_once: args.at_once.unwrap_or(1),
        cache: Cache::here()?,
        shutdown,
        gallery: Gallery::on(&args.http, "Queue", Some(list_of(&database)))?,
        pruning: Mutex::default(),
        database,
    };
    runner.show_played(&store)?;
    runner.run(&store)
}

/// Reads the list of the tests, for the pages.
fn list_of(database: &Path) -> MakeTests {
    let (database, histories) = (database.to_owned(), Mutex::new(Histories::default()));
    Box::new(move || {
        let mut histories = histories.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(histories.read(&database, None, LISTED)?)
    })
}

struct Runner<'a> {
    database: PathBuf,
    args: &'a Options,
    turnstile: Turnstile,
    at_once: usize,
    cache: Cache,
    shutdown: Shutdown,
    /// The pages of the tests.
    gallery: Gallery,
    /// Held while moves are taken away.
    pruning: Mutex<()>,
}

/// What was played of a test.
struct PlayedTest {
    interrupted: bool,
    /// The result in words.
    words: String,
    /// Why no more of it can be played.
    halted: Option<String>,
}

impl Runner<'_> {
    fn run(&self, store: &Writer) -> Result<Exit, Failure> {
        let waiting = store.queued_tests(Tests::Open)?.len();
        err_line!("{} in the queue{}", number(waiting, "test"), self.ending());
        thread::scope(|scope| {
            let mut catalogue = Catalogue::new(scope);
            while self.step(store, &mut catalogue)? {
                let Some((test, ended, is_asked)) = catalogue.next_end() else { continue };
                self.note(store, test, ended, is_asked)?;
                scope.spawn(|| {
                    self.prune().unwrap_or_else(|error| err_line!("old tests keep their moves: {error}"))
                });
            }
            Ok::<_, Failure>(())
        })?;
        Ok(if self.shutdown.is_finishing() { Exit::Stopped } else { Exit::Done })
    }

    fn ending(&self) -> &'static str {
        if self.args.until_empty {
            ""
        } else {
            "; tests that are added are played too, until a signal ends this"
        }
    }

    /// Looks at the tests, and begins and ends what is to be; false: there is nothing left to do.
    fn step<'scope, 'env>(
        &'env self,
        store: &Writer,
        catalogue: &mut Catalogue<'scope, 'env, u64, PlayedTest>,
    ) -> Result<bool, Failure> {
        let (open, paused) = (store.queued_tests(Tests::Open)?, store.queue_is_paused()?);
        let tests: Vec<QueuedTest> = open.into_iter().filter(QueuedTest::waits).collect();
        let stopping = self.shutdown.is_finishing();
        let wanted = if stopping || paused { vec![] } else { self.wanted(&tests) };
        catalogue.pass_on(&self.shutdown);
        for (number, reins) in catalogue.playing() {
            match tests.iter().find(|test| test.number == *number).filter(|_| wanted.contains(number)) {
                Some(wanted) => reins.lane().iter().for_each(|lane| lane.set_share(wanted.share)),
                None => reins.shutdown.finish(),
            }
        }
        for test in tests.into_iter().filter(|test| wanted.contains(&test.number)) {
            if catalogue.playing().len() < self.at_once && !catalogue.playing().contains_key(&test.number) {
                err_line!("test {}: {}", test.number, notation::printable(test.title.as_bytes()));
                let (number, reins) = (test.number, Reins::default());
                catalogue.begin(number, reins.clone(), move || self.play(&test, &reins));
            }
        }
        let waits = !stopping && (!self.args.until_empty || !wanted.is_empty() || self.is_held(store)?);
        Ok(!catalogue.playing().is_empty() || waits)
    }

    /// Opens the pages of the tests that were played before, the newest.
    fn show_played(&self, store: &Writer) -> Result<(), Failure> {
        if !self.gallery.is_open() {
            return Ok(());
        }
        let events = store.events()?;
        let mut tests = store.queued_tests(Tests::All)?;
        tests.retain(|test| events.iter().any(|event| event.name == test.event));
        for test in tests.iter().skip(tests.len().saturating_sub(SHOWN)) {
            // Without its plan, its line in the list is what is left of it.
            let Ok(plan) = self.plan(test) else { continue };
            self.gallery.show(listed(test, &title(test)), &Event::from(plan), None)?;
            self.gallery.tell(&test.event, EventState::Stopped);
        }
        Ok(())
    }

    /// Whether tests wait for the end of a pause of the whole queue.
    fn is_held(&self, store: &Writer) -> Result<bool, StoreError> {
        Ok(store.queue_is_paused()? && store.queued_tests(Tests::Open)?.iter().any(QueuedTest::waits))
    }

    fn wanted(&self, tests: &[QueuedTest]) -> Vec<u64> {
        let candidate = |test: &QueuedTest| Candidate { number: test.number, priority: test.priority };
        chosen(&tests.iter().map(candidate).collect::<Vec<_>>(), self.at_once)
    }

    /// Notes how the playing of a test ended.
    ///
    /// # Errors
    /// When it was not for the test's sake: the database, the cache, the system.
    fn note(
        &self,
        store: &Writer,
        test: u64,
        ended: Result<PlayedTest, Failure>,
        is_asked: bool,
    ) -> Result<(), Failure> {
        let fault = match ended {
            Ok(PlayedTest { halted: Some(why), .. }) => why,
            Ok(PlayedTest { interrupted: true, words, .. }) => {
                if is_asked {
                    err_line!("test {test} waits: {words}");
                }
                return Ok(());
            }
            Ok(PlayedTest { words, .. }) => {
                err_line!("test {test} is over: {words}");
                return Ok(());
            }
            Err(failure) if Exit::from(&failure) == Exit::Stopped => return Ok(()),
            Err(failure) if is_of_the_machine(&failure) => return Err(failure),
            Err(failure) => failure.to_string(),
        };
        err_line!(
            "test {test} cannot be played, and the queue goes on; `resume {test}` tries it again: {fault}"
        );
        store.change_test(test, &TestChange::Fail(&fault))?;
        Ok(())
    }

    /// Plays a test until it is over, or asked to end.
    fn play(&self, test: &QueuedTest, reins: &Reins) -> Result<PlayedTest, Failure> {
        let (say, title, shutdown) = (self.say(test), title(test), &reins.shutdown);
        let lane = reins.lead(self.turnstile.lane(test.share));
        // A build and a look at engines would take time from the games of others.
        let prepare = |plan: &mut Plan| {
            let mut prepared = self.turnstile.alone(|| self.prepare(plan, shutdown, &say))?;
            prepared.lane = Some(lane.clone());
            Ok(prepared)
        };
        let pages = PagesAt::Gallery(&self.gallery, listed(test, &title));
        let finished = EventRunner::beside(&prepare, shutdown, say.clone(), pages, self.plan(test)?)?;
        if !finished.is_complete() {
            self.gallery.tell(&test.event, EventState::Stopped);
        }
        let plan = &finished.plan;
        let report = Report::new(&EventInfo::of(plan), &finished.standings, finished.is_complete());
        let halted = finished.halted.then(|| halts(&finished));
        Ok(PlayedTest { interrupted: finished.interrupted, words: verdict_words(&report), halted })
    }

    fn say(&self, test: &QueuedTest) -> Say {
        let number = test.number;
        Arc::new(move |line: &str| output::say(&format!("test {number}: {line}")))
    }

    /// The plan of a test's event.
    fn plan(&self, test: &QueuedTest) -> Result<Plan, Failure> {
        let mut plan = history::plan(test)?;
        plan.name.clone_from(&test.event);
        plan.database.clone_from(&self.database);
        plan.concurrency = self.args.concurrency.unwrap_or(plan.concurrency);
        plan.oversubscribe = self.args.oversubscribe;
        plan.reserve_mb = self.args.reserve_mb.unwrap_or(plan.reserve_mb);
        plan.notify.command.clone_from(&self.args.notify);
        if self.at_once > 1 {
            // Games of several events change places.
            plan.affinity = Some(false);
        }
        let commits: Option<Commits> = serde_json::from_str(&test.commits).ok();
        plan.difference = commits.and_then(|commits| commits.difference);
        Ok(plan)
    }

    /// Builds the engines and has them make a move.
    fn prepare(&self, plan: &mut Plan, shutdown: &Shutdown, say: &Say) -> Result<Prepared, Failure> {
        if shutdown.is_finishing() {
            return Err(LabError::Interrupted.into());
        }
        let builds = prepare::build(plan, &self.cache, shutdown, &aloud())?;
        refuse_same_program(&builds)?;
        Prepared::new(plan, builds, say.clone(), look)
    }

    /// Takes the moves of old tests away, but for those of the newest that are over.
    fn prune(&self) -> Result<(), StoreError> {
        // The holder sees the tests that are over by then; the others come with the next test.
        let Ok(_pruning) = self.pruning.try_lock() else { return Ok(()) };
        let mut store = Writer::open(&self.database)?;
        let mut over: Vec<QueuedTest> =
            store.queued_tests(Tests::All)?.into_iter().filter(|test| test.over && !test.pruned).collect();
        over.sort_by_key(|test| std::cmp::Reverse(test.over_at));
        let now = now();
        let bounds = Bounds { settled: now, since: Some(now), newest: None };
        for test in over.iter().skip(self.args.keep.unwrap_or(KEPT)) {
            let Some(event) = store.lock_event_named(&test.event)? else { continue };
            let mut after = GameId(0);
            while let Some(game) = store.prune_next(event, bounds, after)? {
                if self.shutdown.is_finishing() {
                    return Ok(());
                }
                after = game;
            }
            store.change_test(test.number, &TestChange::Pruned)?;
        }
        Ok(())
    }
}

/// The event of a test in the list.
fn listed<'a>(test: &'a QueuedTest, title: &'a str) -> ListedEvent<'a> {
    ListedEvent { name: &test.event, title: Some(title), note: &test.note }
}

/// What the event of a test is called.
fn title(test: &QueuedTest) -> String {
    format!("{} · {}", test.event, test.title)
}

/// Refuses a test whose two programs are one.
///
/// # Errors
/// When both commits build the same program.
pub fn refuse_same_program(builds: &[Built]) -> Result<(), Failure> {
    match builds {
        [new, old] if new.sha256 == old.sha256 => Err(Failure::Usage(format!(
            "both commits build the same program, so there is nothing to test:\n  {}\n  {}",
            new.commit, old.commit
        ))),
        _ => Ok(()),
    }
}

/// True if the next test would fail as well, because of the database or the disk.
fn is_of_the_machine(failure: &Failure) -> bool {
    let of_lab = |fault: &LabError| match fault {
        LabError::Io { source, .. } => is_ours(source),
        LabError::NoGit(_) | LabError::NoPlace => true,
        _ => false,
    };
    match failure {
        Failure::Store(error) | Failure::Run(RunError::Store(error)) => {
            !matches!(error, StoreError::Running { .. })
        }
        Failure::Run(RunError::Io(_, error)) => is_ours(error),
        Failure::Run(RunError::Setup(_, Unplayed::Lack(_))) => true,
        Failure::Lab(fault) => of_lab(fault),
        Failure::NotBuilt(NotBuilt(faults)) => faults.iter().any(|(_, _, fault)| of_lab(fault)),
        _ => false,
    }
}
