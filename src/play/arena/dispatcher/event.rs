//! An event that is open for play, what it is played with, and how it ends.

use super::{Dispatcher, verdict::VerdictRule};
use crate::{
    Say, Shutdown,
    cores::EngineFacts,
    desk::RemoteDesk,
    disk::DiskWatch,
    error::RunError,
    identity::Engine,
    note::{Note, NotesDesk},
    open_journal::OpenJournal,
    operations::{GamesDesk, Operations},
    remote::Remote,
    resume::{self, Resumed},
    steering::Steering,
    turnstile::Lane,
    worker::{Field, SPARE_ENGINES, WorkerContext},
};
use contest::standings::Standings;
use journal::{EventId, Reader, Writer};
use plan::{EnginePlan, Plan};
use referee::{
    entry::{Entry, PlayerId},
    identity::Identity,
    opening::Openings,
    sink::Sink,
};
use std::sync::{Arc, mpsc::Sender};
use tokio::sync::Semaphore;

/// How an event stands when this run of it ends.
#[derive(Debug)]
pub struct Finished {
    /// Everything that was played, earlier runs included.
    pub standings: Standings,
    /// True if it was stopped before its end.
    pub interrupted: bool,
    /// True if it cannot be played to its end because engines are halted.
    pub halted: bool,
    /// The store, for reports.
    pub store: Writer,
    /// The event's row in it.
    pub event: EventId,
    /// Its plan, with the engines that have joined.
    pub plan: Arc<Plan>,
}

impl Finished {
    /// True if the event was played to its end.
    pub fn is_complete(&self) -> bool {
        !self.interrupted && !self.halted
    }
}

/// An event that is open for play: nobody else can play it, and what was played before is known.
pub struct OpenEvent<'a> {
    pub(super) plan: &'a Plan,
    pub(super) verdict: VerdictRule,
    pub(super) journal: OpenJournal,
    pub(super) standings: Standings,
    /// What people should know before it goes on.
    pub words: Vec<String>,
    /// The parts of the fingerprint of the last engines of the plan, which are about to join.
    pending: Vec<String>,
    identities: Arc<[Option<Arc<Engine>>]>,
    pub(super) steering: Option<Box<dyn Steering>>,
    /// What is known of the engines that are started here, for the choice of cores; without it no game is pinned unless the
    /// plan says so.
    pub engines: Vec<EngineFacts>,
    /// The way to the places of games, where they are shared with other events.
    pub lane: Option<Arc<Lane>>,
    /// True if nothing is paired from the beginning until the operator resumes the event. One that has begun goes on as the
    /// operator left it.
    pub begins_paused: bool,
}

/// What an event is played with.
pub struct Company {
    /// The openings, in the order of the plan.
    pub openings: Openings,
    /// The network side; `None` where every player is an engine started here.
    pub remote: Option<Remote>,
    /// The machines that play games of the event; `None`: all are played here.
    pub machines: Option<Box<dyn RemoteDesk>>,
    /// The views of the event.
    pub readers: Vec<Reader>,
    /// Shows lines that are no entries.
    pub say: Say,
    /// Whether there is room on the disk for new games.
    pub disk: DiskWatch,
}

impl<'a> OpenEvent<'a> {
    /// Opens the event of a plan, or takes it up where it was left. `identities` are those of the engines that play now,
    /// in the order of [`started_here`](crate::preflight::started_here); `steering` sets options for the engines of each game.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn open(
        plan: &'a Plan,
        identities: Vec<Engine>,
        steering: Option<Box<dyn Steering>>,
    ) -> Result<Self, RunError> {
        let verdict = VerdictRule::of(plan)?;
        let identities = by_player(plan, identities);
        let (journal, resumed) = resume::open(plan, &identities, steering)?;
        let Resumed { standings, steering, words, pending } = resumed;
        Ok(Self {
            plan,
            verdict,
            journal,
            standings,
            words,
            pending,
            engines: vec![],
            identities,
            steering,
            lane: None,
            begins_paused: false,
        })
    }

    /// True if it was played to its end before.
    pub fn is_closed(&self) -> bool {
        self.journal.is_closed
    }

    /// What was played before.
    pub fn standings(&self) -> &Standings {
        &self.standings
    }

    /// The operator's handle.
    pub fn operations(&self) -> Operations {
        self.journal.operations.clone()
    }

    /// The event's row in the database.
    pub fn event(&self) -> EventId {
        self.journal.opening.event().event
    }

    /// What plays now, by player; `None` for those who are not started here.
    pub fn identities(&self) -> Vec<Option<Identity>> {
        self.identities.iter().map(|engine| engine.as_ref().map(|engine| engine.identity.clone())).collect()
    }

    /// The writer of its database, for what is known before the first game.
    pub fn writer(&self) -> &Writer {
        self.journal.opening.writer()
    }

    /// The sink of the event, for seats and games.
    pub fn sink(&self) -> Arc<dyn Sink> {
        self.journal.opening.sink()
    }

    /// What the look has seen of the engines that are started here.
    fn warnings(&self) -> Vec<Entry> {
        let engines =
            (0..).map(PlayerId).zip(&self.plan.engines).filter(|(_, engine)| self.plan.starts(engine));
        let of = |((player, _), facts): ((PlayerId, _), &EngineFacts)| {
            facts.warnings.clone().into_iter().map(move |text| Entry::Fault { player: Some(player), text })
        };
        engines.zip(&self.engines).flat_map(of).collect()
    }

    /// Plays it to its end, or until `shutdown`.
    ///
    /// # Errors
    /// See [`RunError`]; whatever was committed stays.
    pub fn play(self, company: Company, shutdown: &Shutdown) -> Result<Finished, RunError> {
        let event = self.event();
        if self.is_closed() {
            let (standings, store) = (self.standings, self.journal.opening.into_store());
            let plan = Arc::new(self.plan.clone());
            return Ok(Finished { standings, interrupted: false, halted: false, store, event, plan });
        }
        let (identities, resumed) = (self.identities.clone(), self.journal.opening.event().resumed);
        let (pending, begins_paused) = (self.pending.clone(), self.begins_paused && !resumed);
        let warnings = self.warnings();
        let mut dispatcher = Dispatcher::start(self, company, shutdown)?;
        dispatcher.open(&identities, resumed, pending);
        warnings.into_iter().for_each(|warning| dispatcher.happened(warning));
        if begins_paused {
            dispatcher.pause();
        }
        let played = dispatcher.open_desk().and_then(|()| dispatcher.play());
        dispatcher.close(played, event)
    }

    /// What all workers share; the dispatcher hears of shutdown, turns and orders from now on.
    pub(super) fn connect(
        &self,
        notes: &Sender<Note>,
        remote: Option<&Remote>,
        shutdown: &Shutdown,
    ) -> WorkerContext {
        let (turns, ends) = (notes.clone(), notes.clone());
        shutdown.watch(move || drop(ends.send(Note::Shutdown)));
        if let Some(lane) = &self.lane {
            lane.on_turn(move || drop(turns.send(Note::Turn)));
        }
        let desk: Arc<dyn GamesDesk> = Arc::new(NotesDesk(notes.clone()));
        self.journal.operations.set_games(Some(desk));
        WorkerContext {
            sink: self.sink(),
            notes: notes.clone(),
            field: Field::new(
                self.plan.engines.iter().cloned().map(Arc::new).zip(self.identities.iter().cloned()),
            ),
            remote: remote.map(|remote| remote.players.clone()),
            startups: Arc::new(Semaphore::new(self.plan.startups.max(1))),
            spare: Arc::new(Semaphore::new(SPARE_ENGINES)),
            recorder: None,
            adjourn: shutdown.adjourning().clone(),
            interventions: self.journal.operations.interventions(),
        }
    }
}

/// The engines by player; `None` for one that is not started here.
fn by_player(plan: &Plan, engines: Vec<Engine>) -> Arc<[Option<Arc<Engine>>]> {
    let mut engines = engines.into_iter().map(Arc::new);
    let of = |engine: &EnginePlan| if plan.starts(engine) { engines.next() } else { None };
    plan.engines.iter().map(of).collect()
}
