//! Simulated workers: the door, the wire and the messages of real ones, without engines and without an outbox on the disk.
//! They answer a job with scripted games as soon as they have it.

use crate::machines::{
    field::until,
    script::{Length, Script, now},
};
use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use hub::{Connection, HubError, JoinOptions, Joined, WorkerId, join};
use machines::{
    messages::{Beat, Beaten, Hello, Holding, Job, Order, PROTOCOL, Taken, Terms, Welcome},
    registry::BEAT,
    wire::{Line, Wire, WireError},
};
use parking_lot::Mutex;
use referee::lease::LeaseId;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::{
    runtime::Builder,
    sync::watch,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval_at, sleep},
};

/// Threads that all workers share: there may be a thousand of them on one machine.
const THREADS: usize = 2;
/// Pause before a worker asks again.
const AGAIN: Duration = Duration::from_millis(300);

/// Settings of all workers of a crowd.
#[derive(Clone, Debug)]
pub struct Habits {
    /// The line that they join with.
    pub line: Line,
    /// Where their keys are kept.
    pub directory: PathBuf,
    /// How many they are.
    pub workers: usize,
    /// Slots of each.
    pub slots: usize,
    /// Their games.
    pub length: Length,
}

/// The phase of a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// They keep what they are given.
    Hold,
    /// They answer.
    Play,
    /// They leave without a word.
    Leave,
}

/// Traffic. Bytes are those of messages, without the overhead of NATS, TLS and TCP.
#[derive(Debug, Default)]
struct Tally {
    present: AtomicU64,
    refused: AtomicU64,
    traffic: [AtomicU64; 4],
    /// Times at which workers heard that no further pair begins, in ms since 1970.
    stops: Mutex<Vec<i64>>,
    script: OnceLock<Script>,
    /// Why a worker may not play.
    refusal: Mutex<Option<String>>,
}

/// Messages and bytes that all workers have sent and received together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Messages, both ways.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Simulated workers.
pub struct Crowd {
    tally: Arc<Tally>,
    phase: watch::Sender<Phase>,
    threads: Vec<JoinHandle<Result<()>>>,
}

impl Crowd {
    /// Starts workers, which join and keep what they are given.
    pub fn start(habits: &Habits) -> Result<Self> {
        let (phase, watched) = watch::channel(Phase::Hold);
        let tally = Arc::new(Tally::default());
        let mut threads = vec![];
        for share in 0..THREADS.min(habits.workers) {
            let (habits, watched, tally) = (habits.clone(), watched.clone(), tally.clone());
            let work = move || {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                let mut tasks = JoinSet::new();
                let _context = runtime.enter();
                for at in (share..habits.workers).step_by(THREADS) {
                    tasks.spawn(be_worker(at, habits.clone(), watched.clone(), tally.clone()));
                }
                runtime.block_on(async {
                    while let Some(ended) = tasks.join_next().await {
                        if let Err(why) = ended? {
                            *tally.refusal.lock() = Some(format!("{why:#}"));
                        }
                    }
                    Ok(())
                })
            };
            threads.push(thread::Builder::new().name(format!("workers-{share}")).spawn(work)?);
        }
        Ok(Self { tally, phase, threads })
    }

    /// Waits until all workers were welcomed.
    ///
    /// # Errors
    /// When one of them cannot play, or ten minutes are over.
    pub fn gather(&self, workers: usize) -> Result<()> {
        until("all workers are there", || {
            let why = self.tally.refusal.lock().clone();
            ensure!(why.is_none(), "a simulated worker cannot play: {}", why.unwrap_or_default());
            ensure!(!self.threads.iter().any(JoinHandle::is_finished), "simulated workers have ended");
            Ok(self.tally.present.load(Relaxed) == workers as u64)
        })
    }

    /// Answers that were refused.
    pub fn refused(&self) -> u64 {
        self.tally.refused.load(Relaxed)
    }

    /// Times at which workers heard that no further pair begins.
    pub fn stops(&self) -> Vec<i64> {
        self.tally.stops.lock().clone()
    }

    /// Traffic until now, beats and hellos included.
    pub fn traffic(&self) -> Traffic {
        let [messages_in, messages_out, bytes_in, bytes_out] =
            self.tally.traffic.each_ref().map(|count| count.load(Relaxed));
        Traffic { messages: messages_in + messages_out, bytes: bytes_in + bytes_out }
    }

    /// Lets the workers do something else.
    pub fn turn_to(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Ends the workers.
    ///
    /// # Errors
    /// Why one of them could not go on.
    pub fn end(self) -> Result<()> {
        self.turn_to(Phase::Leave);
        self.threads.into_iter().try_for_each(|thread| {
            thread.join().map_err(|_| anyhow::anyhow!("a thread of simulated workers has panicked"))?
        })
    }
}

async fn be_worker(
    at: usize,
    habits: Habits,
    mut phase: watch::Receiver<Phase>,
    tally: Arc<Tally>,
) -> Result<()> {
    let name = format!("w{at:05}");
    let Some(joined) = reach(&habits, &name, &phase).await? else { return Ok(()) };
    let session = machines::new_session();
    let mut worker = Simulated {
        name: joined.name().to_owned(),
        id: joined.id().clone(),
        wire: Wire::of_worker(&joined, session),
        session,
        slots: habits.slots,
        length: habits.length,
        held: BTreeMap::new(),
        outbox: BTreeMap::new(),
        sending: JoinSet::new(),
        terms: None,
        present: false,
        tally,
    };
    worker.work(&joined, &mut phase).await
}

async fn reach(habits: &Habits, name: &str, phase: &watch::Receiver<Phase>) -> Result<Option<Joined>> {
    while *phase.borrow() != Phase::Leave {
        let how = JoinOptions {
            directory: habits.directory.clone(),
            name: name.to_owned(),
            credentials: None,
            server: None,
            cache_bytes: 1 << 20,
        };
        match join(&habits.line.token, how).await {
            Ok(joined) => return Ok(Some(joined)),
            Err(HubError::Connect { .. } | HubError::NoManager { .. }) => sleep(AGAIN).await,
            Err(why) => return Err(why).with_context(|| format!("worker `{name}`")),
        }
    }
    Ok(None)
}

/// The outcome of a question to the manager.
enum Heard {
    Hello(Result<Welcome, WireError>),
    Beat(Result<Beaten, WireError>),
    Taken(LeaseId, Result<Taken, WireError>),
}

struct Simulated {
    name: String,
    id: WorkerId,
    wire: Wire,
    session: u64,
    slots: usize,
    length: Length,
    held: BTreeMap<LeaseId, Job>,
    /// Answers, byte for byte, until they are taken; and whether one is on its way.
    outbox: BTreeMap<LeaseId, (Vec<u8>, bool)>,
    sending: JoinSet<Heard>,
    terms: Option<Terms>,
    present: bool,
    tally: Arc<Tally>,
}

impl Simulated {
    async fn work(&mut self, joined: &Joined, phase: &mut watch::Receiver<Phase>) -> Result<()> {
        let mut jobs = self.wire.to_worker(&self.id, "job").await?;
        let mut orders = self.wire.to_all().await?;
        // Workers do not all give their signs of life at the same moment.
        let first = Instant::now() + BEAT.mul_f64(rand::random::<f64>());
        let mut beats = interval_at(first, BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut counted, mut connection) = ([0; 4], joined.connection());
        self.hello();
        while *phase.borrow_and_update() != Phase::Leave {
            let plays = *phase.borrow() == Phase::Play;
            if plays {
                self.answer_all()?;
            }
            tokio::select! { biased;
                Some(order) = orders.next() => self.order(&order.payload),
                Some(Ok(heard)) = self.sending.join_next() => self.hear(heard).await,
                Some(job) = jobs.next() => self.job(&job.payload),
                _ = beats.tick() => self.beat(),
                Ok(()) = connection.changed() => {
                    if *connection.borrow_and_update() == Connection::Up {
                        self.outbox.values_mut().for_each(|(_, sent)| *sent = false);
                        self.beat();
                    }
                }
                _ = phase.changed() => {}
            }
            self.count(joined, &mut counted);
        }
        Ok(())
    }

    /// Adds what went over the connection since the last look.
    fn count(&self, joined: &Joined, counted: &mut [u64; 4]) {
        let seen = joined.client().statistics();
        let now = [&seen.in_messages, &seen.out_messages, &seen.in_bytes, &seen.out_bytes]
            .map(|count| count.load(Relaxed));
        for ((sum, now), before) in self.tally.traffic.iter().zip(now).zip(counted) {
            sum.fetch_add(now.saturating_sub(std::mem::replace(before, now)), Relaxed);
        }
    }

    fn holding(&self) -> Holding {
        Holding {
            now: now(),
            held: self.held.keys().copied().collect(),
            outbox: self.outbox.keys().copied().collect(),
        }
    }

    fn hello(&mut self) {
        let hello = Hello {
            protocol: PROTOCOL,
            build: "simulated".to_owned(),
            session: self.session,
            name: self.name.clone(),
            slots: self.slots,
            cores: self.slots,
            tags: vec![],
            speed: None,
            ready: true,
            holding: self.holding(),
        };
        self.ask("hello", &hello, Heard::Hello);
    }

    fn beat(&mut self) {
        let Some(terms) = &self.terms else { return self.hello() };
        let beat = Beat { epoch: terms.epoch, session: self.session, lag: 0, holding: self.holding() };
        self.ask("beat", &beat, Heard::Beat);
        self.send_again();
    }

    /// Sends what was not taken.
    fn send_again(&mut self) {
        let waiting = self.outbox.iter().filter(|(_, (_, sent))| !sent).map(|(lease, _)| *lease);
        waiting.collect::<Vec<_>>().into_iter().for_each(|lease| self.send(lease));
    }

    fn ask<A: DeserializeOwned + Send + 'static>(
        &mut self,
        kind: &'static str,
        message: &impl Serialize,
        heard: fn(Result<A, WireError>) -> Heard,
    ) {
        let (wire, id, message) = (self.wire.clone(), self.id.clone(), serde_json::to_vec(message));
        self.sending.spawn(async move { heard(wire.ask(&id, kind, message.unwrap_or_default()).await) });
    }

    fn send(&mut self, lease: LeaseId) {
        let Some((answer, sent)) = self.outbox.get_mut(&lease) else { return };
        *sent = true;
        let (wire, id, answer) = (self.wire.clone(), self.id.clone(), answer.clone());
        self.sending.spawn(async move { Heard::Taken(lease, wire.ask(&id, "result", answer).await) });
    }

    fn order(&mut self, payload: &[u8]) {
        match self.wire.read::<Order>(payload, true) {
            Ok(Order::Hello { .. }) => self.hello(),
            Ok(Order::Stop) => self.tally.stops.lock().push(now()),
            Ok(Order::Over | Order::Drop { .. } | Order::Barred { .. }) | Err(_) => {}
        }
    }

    fn job(&mut self, payload: &[u8]) {
        let Ok(job) = self.wire.read::<Job>(payload, false) else { return };
        if self.terms.as_ref().is_some_and(|terms| terms.epoch == job.epoch) {
            self.held.insert(job.lease, job);
        }
    }

    fn answer_all(&mut self) -> Result<()> {
        let Some(terms) = &self.terms else { return Ok(()) };
        let jobs = std::mem::take(&mut self.held);
        if let Some(job) = jobs.values().next().filter(|_| self.tally.script.get().is_none()) {
            let _made_by_another = self.tally.script.set(Script::of(job, terms, self.length)?);
        }
        for (lease, job) in jobs {
            let answer = self.tally.script.get().context("there is no script")?.answer(&job)?;
            self.outbox.insert(lease, (answer, false));
            self.send(lease);
        }
        Ok(())
    }

    async fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Hello(Ok(Welcome::Come(terms))) => {
                terms.verdicts.lost.iter().for_each(|lease| drop(self.held.remove(lease)));
                self.terms = Some(*terms);
                self.send_again();
                if !std::mem::replace(&mut self.present, true) {
                    self.tally.present.fetch_add(1, Relaxed);
                }
            }
            Heard::Hello(Ok(Welcome::Refused { why, for_good: true })) => {
                *self.tally.refusal.lock() = Some(why.to_string());
            }
            Heard::Hello(answer) => {
                if let Err(WireError::Unreadable(why)) = answer {
                    *self.tally.refusal.lock() = Some(why.to_string());
                }
                sleep(AGAIN).await;
                self.hello();
            }
            Heard::Beat(Ok(Beaten::Known(verdicts))) => {
                verdicts.lost.iter().for_each(|lease| drop(self.held.remove(lease)));
            }
            Heard::Beat(Ok(Beaten::HelloAgain)) => self.hello(),
            Heard::Beat(Err(_)) => {}
            Heard::Taken(lease, Ok(Taken::Committed)) => drop(self.outbox.remove(&lease)),
            Heard::Taken(lease, Ok(Taken::Refused { .. })) => {
                self.tally.refused.fetch_add(u64::from(self.outbox.remove(&lease).is_some()), Relaxed);
            }
            Heard::Taken(lease, Ok(Taken::Later) | Err(_)) => {
                if let Some((_, sent)) = self.outbox.get_mut(&lease) {
                    *sent = false;
                }
            }
        }
    }
}
