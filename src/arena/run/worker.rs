//! A worker: one thread on which games live wholly, with their seats, alarms and processes.

use super::guests::Guests;
use crate::play::{Surroundings, Table, play};
use crate::pulse::Pulse;
use journal::bus::{Bus, Freed, Note};
use nix::{
    sched::{CpuSet, sched_setaffinity},
    unistd::Pid,
};
use plan::EnginePlan;
use referee::{AbortBy, Outcome, event::PlayerId};
use seat::{
    Seat,
    usi::{self, UsiPlayer},
};
use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Engines kept running on a worker though no game needs them now.
const IDLE_ENGINES: usize = 8;

/// What all workers share.
#[derive(Clone)]
pub struct Hall {
    /// Where everything that happens goes.
    pub bus: Arc<Bus>,
    /// The engines, by [`PlayerId`].
    pub engines: Arc<[Arc<EnginePlan>]>,
    /// Where the players of the network come from.
    pub guests: Option<Arc<dyn Guests>>,
    /// How many engines may be starting at once.
    pub startups: Arc<Semaphore>,
    /// Adjourns the running games.
    pub adjourn: CancellationToken,
}

/// The dispatcher's end of a worker.
#[derive(Debug)]
pub struct Worker {
    jobs: mpsc::UnboundedSender<Table>,
    thread: JoinHandle<()>,
}

/// Where a worker's games run.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Its number.
    pub number: usize,
    /// Games at once on it.
    pub slots: usize,
    /// The cores its engines are pinned to; empty: any.
    pub cores: Vec<usize>,
}

impl Worker {
    /// Starts a worker.
    ///
    /// # Errors
    /// When the system has no thread or event queue for it.
    pub fn start(place: Place, hall: Hall) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (jobs, inbox) = mpsc::unbounded_channel();
        let name = format!("games-{}", place.number);
        let thread = thread::Builder::new().name(name).spawn(move || {
            take_place(&place);
            runtime.block_on(work(place, hall, inbox));
        })?;
        Ok(Self { jobs, thread })
    }

    /// Gives it a game to play; false when the worker is gone.
    #[must_use]
    pub fn play(&self, table: Table) -> bool {
        self.jobs.send(table).is_ok()
    }

    /// Lets it finish its games, ends its engines and waits for all of it.
    pub fn finish(self) {
        drop(self.jobs);
        let _panicked_already_told = self.thread.join();
    }
}

/// With affinity the thread shares the cores of its engines: whoever waits for the other's line is woken where the
/// line is already in the cache.
fn take_place(place: &Place) {
    let mut set = CpuSet::new();
    let all_set = place.cores.iter().all(|&core| set.set(core).is_ok());
    if all_set && !place.cores.is_empty() {
        let _unpinned_is_only_slower = sched_setaffinity(Pid::from_raw(0), &set);
    }
}

async fn work(place: Place, hall: Hall, mut jobs: mpsc::UnboundedReceiver<Table>) {
    let bench = Arc::new(Bench::new(place, hall));
    let games = TaskTracker::new();
    let beating = bench.clone();
    let pulse = tokio::spawn(async move { beating.pulse.beat().await });
    while let Some(table) = jobs.recv().await {
        games.spawn(host(table, bench.clone()));
    }
    games.close();
    games.wait().await;
    pulse.abort();
    bench.clear();
    bench.actors.close();
    bench.actors.wait().await;
}

/// Seats both players, plays, and puts them back.
async fn host(table: Table, bench: Arc<Bench>) {
    let (game, pairing, pairing_replays) = (table.setup.game, table.pairing, table.draws);
    let outcome = Err("its task ended without a word".to_owned());
    let worker = bench.place.number;
    let mut place =
        Held { bus: &bench.hall.bus, freed: Some(Freed { worker, game, pairing, pairing_replays, outcome }) };
    let Some(mut seats) = bench.seats(&table) else {
        // Somebody has left since the game was given out: it comes again.
        if let Some(freed) = &mut place.freed {
            freed.outcome = Ok(Outcome::Aborted { by: AbortBy::NotStarted });
        }
        return;
    };
    let surroundings = Surroundings { bus: &bench.hall.bus, pulse: &bench.pulse, stop: &bench.hall.adjourn };
    let outcome = play(table, &mut seats, surroundings).await.map_err(|error| error.to_string());
    for (player, seat) in [pairing.black, pairing.white].into_iter().zip(seats) {
        bench.put_back(player, seat);
    }
    if let Some(freed) = &mut place.freed {
        freed.outcome = outcome;
    }
}

/// A place that is told free when this is dropped, whatever happened: the dispatcher waits for it.
struct Held<'a> {
    bus: &'a Bus,
    freed: Option<Freed>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(freed) = self.freed.take() {
            self.bus.note(Note::Free(freed));
        }
    }
}

/// The engines of a worker that wait for a game.
struct Bench {
    place: Place,
    hall: Hall,
    actors: TaskTracker,
    pulse: Pulse,
    /// The longest waiting first.
    idle: Mutex<Vec<(PlayerId, Seat)>>,
}

impl Bench {
    fn new(place: Place, hall: Hall) -> Self {
        Self { place, hall, actors: TaskTracker::new(), pulse: Pulse::default(), idle: Mutex::default() }
    }

    /// Both players; `None` when one of the network is not there.
    fn seats(&self, table: &Table) -> Option<[Seat; 2]> {
        let guests = match &self.hall.guests {
            Some(guests) => guests.seat(table)?,
            None => [None, None],
        };
        let [black, white] = guests;
        let pairing = &table.pairing;
        let seat = |player: PlayerId, guest: Option<Seat>| match self.hall.engines[player.index()].remote {
            true => guest,
            false => Some(self.seat(player)),
        };
        Some([seat(pairing.black, black)?, seat(pairing.white, white)?])
    }

    fn seat(&self, player: PlayerId) -> Seat {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        match idle.iter().rposition(|(who, _)| *who == player) {
            Some(at) => idle.remove(at).1,
            None => self.open(player),
        }
    }

    fn open(&self, player: PlayerId) -> Seat {
        let engine = self.hall.engines[player.index()].clone();
        let (cores, startups) = (self.place.cores.clone(), self.hall.startups.clone());
        let faults = Some((self.hall.bus.clone(), player));
        let (seat, actor) = usi::open(UsiPlayer { engine, cores, startups, faults });
        self.actors.spawn(actor);
        seat
    }

    /// Engines stay for the next game; who came over the network is let go.
    fn put_back(&self, player: PlayerId, seat: Seat) {
        if self.hall.engines[player.index()].remote {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((player, seat));
        let most = IDLE_ENGINES.max(2 * self.place.slots);
        if idle.len() > most {
            idle.remove(0);
        }
    }

    fn clear(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
