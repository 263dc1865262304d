//! The dispatcher: schedule, free place, game; the one ordered stream of events; the verdict that stops it.
//!
//! Workers push what happens onto the [`Bus`]; the dispatcher folds it into the standings, hands it to the store, and
//! asks the schedule for more. Results are announced by the store's thread, after they are on the disk. Nothing
//! downstream calls back.

pub mod guests;
mod held;
pub mod preflight;
pub mod worker;

use crate::play::Table;
use guests::{Guests, Hosting};
use held::Absences;
use journal::bus::{Bus, Freed, Note, now};
use journal::{EventHead, EventId, Moves, Store, StoreError, Writer};
use plan::config::Fingerprint;
use plan::{OpeningOrder, Plan, StoredPlan};
use referee::{
    Outcome,
    event::{Event, GameId, Opened, Stamped},
    game::Setup,
    opening::Openings,
    schedule::{Next, Pairing, Schedule},
    sprt::{self, Sprt, SprtError},
    standings::{Standings, TestCounts},
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::{
    collections::HashMap,
    io::{self, Write},
    sync::Arc,
    thread,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use worker::{Hall, Place, Worker};

/// How often a game between players of the network may be turned down; whoever does it once more loses it.
const REJECTIONS: u32 = 2;

/// How long players of the network may take to hear of the end of their last game, so that it can be kept.
const SETTLED: std::time::Duration = std::time::Duration::from_secs(1);

/// Why an event cannot be played, or played on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration is not the one the event was begun with.
    #[error("`{name}` was begun with another configuration, and its games would not be comparable:\n  {}\n  take the change back, or give the event another name", changes.join("\n  "))]
    Changed {
        /// The event.
        name: String,
        /// What changed.
        changes: Vec<String>,
    },
    /// Engines that cannot play, before anything was started.
    #[error("{}", .0.join("\n"))]
    Engines(Vec<String>),
    /// An opening that leaves the rules, found only when it was to be played.
    #[error("game {0:?} cannot be set up: {1}")]
    Setup(GameId, String),
    /// A file or a thread.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// The sequential test.
    #[error("the sequential test: {0}")]
    Sprt(#[from] SprtError),
}

/// How an event stands when this run of it ends.
#[derive(Debug)]
pub struct Finished {
    /// Everything that was played, earlier runs included.
    pub standings: Standings,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// The store, for reports.
    pub store: Store,
    /// The event's row in it.
    pub event: EventId,
}

/// Plays an event, or goes on with it. `committed` is called on the store's thread with everything that happens, once
/// it is on the disk. Players of the network come from `hosting`.
///
/// # Errors
/// See [`RunError`]; whatever was committed stays.
pub fn run(
    plan: &Plan,
    openings: Openings,
    hosting: Option<Hosting>,
    committed: impl FnMut(Vec<Stamped>) + Send + 'static,
) -> Result<Finished, RunError> {
    let test = plan.sprt.map(|sprt| sprt.test()).transpose()?;
    let mut store = Store::open(&plan.database)?;
    let (event, next_game, resumed) = open_event(&mut store, plan)?;
    let (standings, closed) = played_before(&store, event, plan)?;
    if closed {
        return Ok(Finished { standings, interrupted: false, store, event });
    }
    let bus = Arc::new(Bus::default());
    listen_to_signals(&bus).map_err(|e| RunError::Io("signals".to_owned(), e))?;
    let adjourn = CancellationToken::new();
    let guests = hosting.as_ref().map(|hosting| hosting.guests.clone());
    let workers = start_workers(plan, &bus, guests, &adjourn)?;
    let paired = plan.openings.as_ref().is_none_or(|openings| openings.pairs);
    let schedule = Schedule::new(&plan.stages, plan.engines.len(), plan.seed, plan.replay_draws, paired);
    let writer = store.into_writer(event, committed)?;
    let mut dispatcher = Dispatcher {
        plan,
        openings,
        bus,
        adjourn,
        workers,
        schedule,
        standings,
        writer,
        test,
        running: HashMap::new(),
        hosting,
        held: vec![],
        absences: Absences::default(),
        next_game,
        wish: Wish::Play,
        batch: vec![],
    };
    dispatcher.happened(opened(plan, resumed));
    let played = dispatcher.play();
    dispatcher.close(played, event)
}

/// The standings of earlier runs, and whether the event is over.
fn played_before(store: &Store, event: EventId, plan: &Plan) -> Result<(Standings, bool), StoreError> {
    let mut standings = Standings::new(&plan.stages, plan.engines.len());
    let mut closed = false;
    store.replay(event, Moves::Without, &mut |stamped| {
        closed |= stamped.event == Event::Closed;
        standings.fold(&stamped.event);
    })?;
    Ok((standings, closed))
}

/// What the people want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Play,
    /// No new games; those that run are finished.
    Finish,
    /// Those that run are adjourned: played again when the event goes on.
    Adjourn,
}

/// A worker and the places that are free on it.
#[derive(Debug)]
struct Desk {
    worker: Worker,
    free: usize,
}

struct Dispatcher<'a> {
    plan: &'a Plan,
    openings: Openings,
    bus: Arc<Bus>,
    adjourn: CancellationToken,
    workers: Vec<Desk>,
    schedule: Schedule,
    standings: Standings,
    writer: Writer,
    test: Option<Sprt>,
    running: HashMap<GameId, Pairing>,
    /// Where players of the network come from.
    hosting: Option<Hosting>,
    /// Games that wait for a GPU or a player.
    held: Vec<Pairing>,
    absences: Absences,
    next_game: GameId,
    wish: Wish,
    batch: Vec<Stamped>,
}

impl Dispatcher<'_> {
    fn play(&mut self) -> Result<(), RunError> {
        let mut notes = Vec::new();
        self.fill();
        while !self.running.is_empty() || (self.wish == Wish::Play && !self.held.is_empty()) {
            self.flush()?;
            self.bus.drain(&mut notes);
            for note in notes.drain(..) {
                self.handle(note)?;
            }
            self.rule_absences();
            self.fill();
        }
        Ok(())
    }

    /// Ends every engine, and the store's thread after the last event; only then are faults passed on.
    fn close(mut self, played: Result<(), RunError>, event: EventId) -> Result<Finished, RunError> {
        let interrupted = self.wish != Wish::Play && !self.is_done();
        if played.is_ok() && !interrupted {
            self.happened(Event::Closed);
        }
        let flushed = self.flush();
        self.workers.into_iter().for_each(|desk| desk.worker.finish());
        let flushed = flushed.and_then(|()| {
            self.hosting.map_or(Ok(()), |hosting| {
                hosting.asides.settle(SETTLED);
                self.writer.keep(hosting.asides.take())
            })
        });
        let finished = self.writer.finish();
        played?;
        flushed?;
        Ok(Finished { standings: self.standings, interrupted, store: finished?, event })
    }

    fn handle(&mut self, note: Note) -> Result<(), RunError> {
        match note {
            Note::Event(stamped) => self.record(stamped),
            Note::Free(freed) => self.freed(freed)?,
            Note::Stop { adjourn } => self.stop(adjourn),
        }
        Ok(())
    }

    fn happened(&mut self, event: Event) {
        self.record(Stamped { at: now(), event });
    }

    fn record(&mut self, stamped: Stamped) {
        if !matches!(stamped.event, Event::Moved(_)) {
            self.standings.fold(&stamped.event);
        }
        let ended = matches!(stamped.event, Event::GameEnded(_));
        self.batch.push(stamped);
        if ended {
            self.judge();
        }
    }

    /// The sequential test, evaluated after each pair in schedule order.
    fn judge(&mut self) {
        let Some(test) = &self.test else { return };
        if self.standings.verdict().is_some() {
            return;
        }
        let reached = self.standings.due().iter().find_map(|counts| verdict(test, counts));
        if let Some(event) = reached {
            self.happened(event);
        }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if let Some(hosting) = &self.hosting {
            self.writer.keep(hosting.asides.take())?;
        }
        match self.batch.is_empty() {
            true => Ok(()),
            false => self.writer.write(self.batch.drain(..)),
        }
    }

    fn freed(&mut self, freed: Freed) -> Result<(), RunError> {
        self.running.remove(&freed.game);
        self.workers[freed.worker].free += 1;
        match freed.outcome {
            Ok(Outcome::Aborted { .. }) => self.schedule.returned(freed.pairing),
            Ok(_) if self.standings.replays(&freed.pairing) > freed.pairing_replays => {
                self.schedule.returned(freed.pairing);
            }
            Ok(_) => {}
            Err(reason) => return Err(RunError::Setup(freed.game, reason)),
        }
        Ok(())
    }

    /// First the running games may end; asked again, or by the system, they are adjourned.
    fn stop(&mut self, adjourn: bool) {
        if adjourn || self.wish != Wish::Play {
            self.wish = Wish::Adjourn;
            self.adjourn.cancel();
        } else {
            self.wish = Wish::Finish;
            let _nobody_reads = writeln!(
                io::stderr(),
                "finishing {} running games; once more adjourns them",
                self.running.len()
            );
        }
    }

    /// Gives every free place a game.
    fn fill(&mut self) {
        while self.wish == Wish::Play {
            let Some(desk) =
                self.workers.iter().enumerate().max_by_key(|(_, desk)| desk.free).map(|(at, _)| at)
            else {
                return;
            };
            if self.workers[desk].free == 0 {
                return;
            }
            match self.next_game() {
                Some(pairing) => self.seat(desk, pairing),
                None => return,
            }
        }
    }

    fn is_done(&mut self) -> bool {
        self.running.is_empty() && self.held.is_empty() && self.schedule.next(&self.standings) == Next::Done
    }

    fn lacks_gpu(&self, pairing: &Pairing) -> bool {
        let share = |pairing: &Pairing| {
            let gpu = |player: referee::event::PlayerId| self.plan.engines[player.index()].gpu;
            gpu(pairing.black) + gpu(pairing.white)
        };
        let needed = share(pairing);
        let used: f64 = self.running.values().map(share).sum();
        needed > 0.0 && used > 0.0 && used + needed > self.plan.gpus
    }

    /// The number of a new game.
    fn number(&mut self) -> GameId {
        let game = self.next_game;
        self.next_game = GameId(game.0 + 1);
        game
    }

    fn seat(&mut self, desk: usize, pairing: Pairing) {
        let game = self.number();
        let engines = [pairing.black, pairing.white].map(|player| &self.plan.engines[player.index()]);
        let opening = self.openings.pick(pairing.opening);
        let setup = Setup {
            game,
            rules: self.plan.rules,
            adjudication: self.plan.adjudication,
            times: engines.map(|engine| engine.time),
            start: opening.start.clone(),
            opening: opening.moves.clone(),
            hears: engines.map(|engine| engine.remote),
            may_reject: pairing.attempt < REJECTIONS,
        };
        let draws = self.standings.replays(&pairing);
        let replays_draws = draws < self.plan.replay_draws.times;
        let table = Table { setup, pairing, draws, replays_draws, tells_times: false };
        self.running.insert(game, pairing);
        self.workers[desk].free -= 1;
        if !self.workers[desk].worker.play(table) {
            let outcome = Err("its worker is gone".to_owned());
            self.bus.note(Note::Free(Freed { worker: desk, game, pairing, pairing_replays: draws, outcome }));
        }
    }
}

fn open_event(store: &mut Store, plan: &Plan) -> Result<(EventId, GameId, bool), RunError> {
    let fingerprint = Fingerprint::of(plan).map_err(|e| RunError::Io("openings".to_owned(), e))?;
    let json = |e: serde_json::Error| RunError::Io("the fingerprint as JSON".to_owned(), e.into());
    let plan_json = StoredPlan::of_event(plan).to_json();
    let fingerprint_json = serde_json::to_string(&fingerprint).map_err(json)?;
    let head = EventHead { name: &plan.name, kind: "run", plan: &plan_json, fingerprint: &fingerprint_json };
    let opened = store.open_event(&head)?;
    let before: Fingerprint = serde_json::from_str(&opened.fingerprint).map_err(json)?;
    let changes = before.changes_to(&fingerprint);
    match changes.is_empty() {
        true => Ok((opened.event, opened.next_game, opened.resumed)),
        false => Err(RunError::Changed { name: plan.name.clone(), changes }),
    }
}

fn opened(plan: &Plan, resumed: bool) -> Event {
    Event::Opened(Opened {
        name: plan.name.clone(),
        players: plan.engines.iter().map(|engine| engine.name.clone()).collect(),
        format: plan.format_words(),
        resumed,
    })
}

/// The verdict that these counts are enough for.
fn verdict(test: &Sprt, counts: &TestCounts) -> Option<Event> {
    let llr = test.llr(&referee::rating::Pentanomial(counts.pentanomial).into()).ok()?;
    let verdict = match test.verdict(llr) {
        sprt::Verdict::H0 => "H0",
        sprt::Verdict::H1 => "H1",
        sprt::Verdict::Continue => return None,
    };
    Some(Event::Verdict { verdict: verdict.to_owned(), llr, pairs: counts.pairs })
}

fn start_workers(
    plan: &Plan,
    bus: &Arc<Bus>,
    guests: Option<Arc<dyn Guests>>,
    adjourn: &CancellationToken,
) -> Result<Vec<Desk>, RunError> {
    let hall = Hall {
        bus: bus.clone(),
        engines: plan.engines.iter().cloned().map(Arc::new).collect(),
        guests,
        startups: Arc::new(Semaphore::new(plan.startups.max(1))),
        adjourn: adjourn.clone(),
    };
    let places = preflight::places(plan);
    let start = |place: Place| {
        let free = place.slots;
        Worker::start(place, hall.clone()).map(|worker| Desk { worker, free })
    };
    let started: io::Result<Vec<Desk>> = places.into_iter().map(start).collect();
    started.map_err(|e| RunError::Io("a worker thread".to_owned(), e))
}

/// Ctrl-C asks; SIGTERM and SIGHUP mean that somebody wants the machine or the terminal back: adjourn at once.
fn listen_to_signals(bus: &Arc<Bus>) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let bus = bus.clone();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            bus.note(Note::Stop { adjourn: signal != SIGINT });
        }
    })?;
    Ok(())
}

/// The openings of a plan in the order it wants.
#[must_use]
pub fn in_order(lines: Vec<referee::opening::Opening>, plan: &Plan) -> Openings {
    let random = plan.openings.as_ref().is_some_and(|openings| openings.order == OpeningOrder::Random);
    Openings::new(lines, random.then_some(plan.seed))
}
