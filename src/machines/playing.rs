//! Pairs that a worker plays: with the arena's own threads, seats and clocks, one game of a pair after the other.

mod sights;

use crate::messages::{Answer, Job, Terms, Told};
use arena::{
    identity::Engine,
    note::{Note, Over},
    operations::{Intervention, Interventions},
    worker::{SPARE_ENGINES, Worker, WorkerContext, WorkerSpec},
};
use journal::now;
use plan::EnginePlan;
use referee::{
    AbortBy, Outcome,
    entry::{Entry, GameId, Stamped},
    lease::LeaseId,
    sink::{SideRecord, Sink},
};
use sights::Sights;
use std::{
    collections::{HashMap, VecDeque},
    io, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Most faults outside of games that wait to be told.
const TOLD: usize = 20;

/// What becomes of a pair.
#[derive(Debug, PartialEq)]
pub enum Done {
    /// Its games were played.
    Played(Answer),
    /// They were not, and why; empty: because it was wished so.
    NotPlayed(LeaseId, String),
}

/// The pairs that a worker has.
pub struct Playing {
    terms: Terms,
    threads: Vec<(Worker, usize)>,
    waiting: VecDeque<Job>,
    pairs: HashMap<GameId, Pair>,
    collector: Arc<Collector>,
    interventions: Arc<Interventions>,
    sights: Sights,
    next: u64,
}

/// A pair that is played.
struct Pair {
    job: Job,
    /// The thread on which its games are played.
    thread: usize,
    /// The entries of those that are over.
    played: Vec<Vec<Stamped>>,
    /// Whether nobody wants it any more.
    dropped: bool,
}

/// What the games of a worker are played with.
pub struct Equipment {
    /// The threads.
    pub threads: Vec<WorkerSpec>,
    /// How the engines are started here, by player.
    pub plans: Vec<EnginePlan>,
    /// What they are.
    pub engines: Vec<Engine>,
    /// Engines that may start up at the same time.
    pub startups: usize,
    /// Ends all games.
    pub adjourn: CancellationToken,
    /// The mailbox for notes of games.
    pub notes: Sender<Note>,
}

impl Playing {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the system has none.
    pub fn start(terms: Terms, equipment: Equipment) -> io::Result<Self> {
        let Equipment { threads, plans, engines, startups, adjourn, notes } = equipment;
        let (collector, interventions) = (Arc::<Collector>::default(), Arc::<Interventions>::default());
        let context = WorkerContext {
            sink: collector.clone(),
            notes,
            engines: plans.into_iter().map(Arc::new).collect(),
            identities: engines.into_iter().map(|engine| Some(Arc::new(engine))).collect(),
            remote: None,
            startups: Arc::new(Semaphore::new(startups.max(1))),
            spare: Arc::new(Semaphore::new(SPARE_ENGINES)),
            recorder: None,
            adjourn,
            interventions: interventions.clone(),
        };
        let start = |spec: WorkerSpec| {
            let free = spec.slots;
            Worker::start(spec, context.clone()).map(|worker| (worker, free))
        };
        let threads = threads.into_iter().map(start).collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            terms,
            threads,
            waiting: VecDeque::new(),
            pairs: HashMap::new(),
            collector,
            interventions,
            sights: Sights::default(),
            next: 1,
        })
    }

    /// Takes the faults of engines that happened outside of games.
    #[must_use]
    pub fn told(&self) -> Vec<Told> {
        mem::take(&mut *self.collector.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Leases that it has.
    #[must_use]
    pub fn leases(&self) -> Vec<LeaseId> {
        let playing = self.pairs.values().filter(|pair| !pair.dropped).map(|pair| pair.job.lease);
        self.waiting.iter().map(|job| job.lease).chain(playing).collect()
    }

    /// Whether no game is played and none waits.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.pairs.is_empty()
    }

    /// Takes a job.
    pub fn take(&mut self, job: Job) -> Vec<Done> {
        if self.leases().contains(&job.lease) {
            return vec![];
        }
        self.waiting.push_back(job);
        self.fill()
    }

    /// Gives every free slot a pair.
    fn fill(&mut self) -> Vec<Done> {
        let mut done = vec![];
        while !self.waiting.is_empty() {
            let freest = self.threads.iter().enumerate().max_by_key(|(_, (_, free))| *free);
            let Some((thread, (_, 1..))) = freest else { break };
            let Some(job) = self.waiting.pop_front() else { break };
            self.threads[thread].1 -= 1;
            let pair = Pair { job, thread, played: vec![], dropped: false };
            done.extend(self.go_on(pair));
        }
        done
    }

    /// Plays the next game of a pair; what it is done with otherwise.
    fn go_on(&mut self, pair: Pair) -> Option<Done> {
        let lease = pair.job.lease;
        let Some(next) = pair.job.games.get(pair.played.len()) else {
            self.threads[pair.thread].1 += 1;
            let Pair { job, played, dropped, .. } = pair;
            let repeats = job.repeats;
            return (!dropped).then_some(Done::Played(Answer { lease, repeats, games: played }));
        };
        let game = GameId(self.next);
        self.next += 1;
        let fixture = next.fixture(game, self.terms.rules, self.terms.adjudication);
        let refused = match fixture.map(|fixture| self.threads[pair.thread].0.play(fixture)) {
            Ok(true) => {
                self.pairs.insert(game, pair);
                return None;
            }
            Ok(false) => "its thread is gone".to_owned(),
            Err(why) => why,
        };
        self.threads[pair.thread].1 += 1;
        Some(Done::NotPlayed(lease, refused))
    }

    /// A game is over: the next of its pair begins, or another pair.
    pub fn over(&mut self, over: Over) -> Vec<Done> {
        let Some(mut pair) = self.pairs.remove(&over.game) else { return vec![] };
        let lease = pair.job.lease;
        let mut entries = self.collector.take(over.game);
        let done = match (over.outcome, over.ended) {
            _ if pair.dropped => Some(None),
            (Ok(Outcome::Aborted { by: AbortBy::Stopped }), _) => Some(Some(String::new())),
            (Ok(Outcome::Aborted { .. }), _) => Some(Some("a game could not begin".to_owned())),
            (Err(why), _) => Some(Some(why)),
            (Ok(_), Some(ended)) => {
                entries.push(Stamped { at: now(), entry: Entry::GameEnded(ended) });
                pair.played.push(entries);
                None
            }
            (Ok(_), None) => Some(Some("a game has no end".to_owned())),
        };
        let mut all: Vec<Done> = match done {
            None => self.go_on(pair).into_iter().collect(),
            Some(why) => {
                self.threads[pair.thread].1 += 1;
                why.map(|why| Done::NotPlayed(lease, why)).into_iter().collect()
            }
        };
        all.extend(self.fill());
        all
    }

    /// Takes pairs back that have not begun.
    pub fn not_begun(&mut self) -> Vec<LeaseId> {
        mem::take(&mut self.waiting).into_iter().map(|job| job.lease).collect()
    }

    /// Gives leases up that nobody wants any more.
    pub fn drop_leases(&mut self, leases: &[LeaseId]) {
        self.waiting.retain(|job| !leases.contains(&job.lease));
        for pair in self.pairs.values_mut().filter(|pair| leases.contains(&pair.job.lease)) {
            pair.dropped = true;
        }
        self.end_dropped();
    }

    /// Gives everything up; returns the leases.
    pub fn drop_all(&mut self) -> Vec<LeaseId> {
        let leases = self.leases();
        self.drop_leases(&leases);
        leases
    }

    /// Ends the games of pairs that are given up. A game that is only being set up hears it the next time.
    pub fn end_dropped(&self) {
        for game in self.pairs.iter().filter(|(_, pair)| pair.dropped).map(|(game, _)| *game) {
            let outcome = Outcome::Aborted { by: AbortBy::Stopped };
            let _set_up_later = self.interventions.send(game, Intervention { outcome, text: String::new() });
        }
    }

    /// Ends the threads and their engines, after the games.
    pub fn close(self) {
        let threads: Vec<_> = self.threads.into_iter().map(|(worker, _)| worker.let_go()).collect();
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// Collects the entries of games, by their numbers.
#[derive(Debug, Default)]
struct Collector {
    games: Mutex<HashMap<GameId, Vec<Stamped>>>,
    /// Faults outside of games.
    told: Mutex<Vec<Told>>,
}

impl Collector {
    fn games(&self) -> MutexGuard<'_, HashMap<GameId, Vec<Stamped>>> {
        self.games.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entries of a game that is over.
    fn take(&self, game: GameId) -> Vec<Stamped> {
        self.games().remove(&game).unwrap_or_default()
    }
}

impl Sink for Collector {
    fn happened(&self, entry: Entry) {
        let game = match &entry {
            Entry::GameStarted(started) => Some(started.game),
            Entry::Moved(moved) => Some(moved.game),
            Entry::Fault { text, .. } => numbered(text),
            _ => None,
        };
        // The memory of engines is of this machine alone.
        match game {
            Some(game) => self.games().entry(game).or_default().push(Stamped { at: now(), entry }),
            None => {
                tracing::info!(target: "machines", ?entry, "outside a game");
                if let Entry::Fault { player, text } = entry {
                    let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                    if told.len() < TOLD {
                        told.push(Told { player, text });
                    }
                }
            }
        }
    }

    fn keep(&self, _record: SideRecord) {}
}

/// The game that the text of a fault names at its beginning.
fn numbered(text: &str) -> Option<GameId> {
    let (number, _) = text.strip_prefix("game ")?.split_once(':')?;
    number.parse().ok().map(GameId)
}
