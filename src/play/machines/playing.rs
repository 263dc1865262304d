//! The threads on which a worker's games are played: the arena's own, with its seats and clocks.

mod sights;

use crate::messages::Told;
use arena::{
    identity::Engine,
    note::Note,
    operations::{Intervention, Interventions},
    play::Fixture,
    worker::{Field, SPARE_ENGINES, Worker, WorkerContext, WorkerSpec},
};
use journal::now;
use parking_lot::Mutex;
use plan::EnginePlan;
use referee::{
    AbortBy, Outcome,
    entry::{Entry, GameId, Stamped},
    sink::{SideRecord, Sink},
};
use sights::Sights;
use std::{
    collections::HashMap,
    io, mem,
    sync::{Arc, mpsc::Sender},
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Most faults outside of games that wait to be reported.
const TOLD: usize = 20;

/// The threads, and the entries of their games.
pub struct Playing {
    threads: Vec<Worker>,
    collector: Arc<Collector>,
    interventions: Arc<Interventions>,
    sights: Sights,
}

impl Playing {
    /// Starts the threads. `plans` and `engines` are by player: how they are started here, and what they are; `adjourn`
    /// ends all games; `notes` hears of them.
    ///
    /// # Errors
    /// When the system has none.
    pub fn start(
        threads: Vec<WorkerSpec>,
        (plans, engines): (Vec<EnginePlan>, Vec<Engine>),
        adjourn: CancellationToken,
        notes: Sender<Note>,
    ) -> io::Result<Self> {
        let (collector, interventions) = (Arc::<Collector>::default(), Arc::<Interventions>::default());
        let context = WorkerContext {
            sink: collector.clone(),
            notes,
            field: Field::new(
                plans.into_iter().map(Arc::new).zip(engines.into_iter().map(|engine| Some(Arc::new(engine)))),
            ),
            remote: None,
            startups: Arc::new(Semaphore::new(crate::work::cores())),
            spare: Arc::new(Semaphore::new(SPARE_ENGINES)),
            recorder: None,
            adjourn,
            interventions: interventions.clone(),
        };
        let threads = Worker::start_all(threads, &context)?;
        Ok(Self { threads, collector, interventions, sights: Sights::default() })
    }

    /// Plays a game; false if its thread is gone.
    pub fn play(&self, thread: usize, fixture: Fixture) -> bool {
        self.threads.get(thread).is_some_and(|thread| thread.play(fixture, None))
    }

    /// Stops a game. One that is only being set up does not hear it.
    pub fn stop(&self, game: GameId) {
        let outcome = Outcome::Aborted { by: AbortBy::Stopped };
        let _set_up_later = self.interventions.send(game, Intervention { outcome, text: String::new() });
    }

    /// Takes the entries of a game that is over.
    pub fn entries(&self, game: GameId) -> Vec<Stamped> {
        self.collector.games.lock().remove(&game).unwrap_or_default()
    }

    /// Takes the faults of engines that happened outside of games.
    pub fn told(&self) -> Vec<Told> {
        mem::take(&mut *self.collector.told.lock())
    }

    /// Ends the threads and their engines, after the games.
    pub fn close(self) {
        let threads: Vec<_> = self.threads.into_iter().map(Worker::let_go).collect();
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
            Some(game) => self.games.lock().entry(game).or_default().push(Stamped { at: now(), entry }),
            None => {
                tracing::info!(target: "machines", ?entry, "outside a game");
                if let Entry::Fault { player, text } = entry {
                    let mut told = self.told.lock();
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
