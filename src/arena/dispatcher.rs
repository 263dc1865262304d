//! The dispatcher: schedule, free slot, game; and the verdict that stops the event.
//!
//! Workers report moves to the journal, and the end of a game to the dispatcher, which folds it into the standings,
//! hands it to the journal, and asks the schedule for more. Nothing downstream calls back.

use crate::{
    Say, Shutdown,
    away::Away,
    cores::ClaimedCores,
    desk::{Closing, RemoteDesk},
    disk::DiskWatch,
    identity::Engine,
    operations::{GamesDesk, Operations},
    pending::{Absences, Awaited},
    play::Fixture,
    preflight::{self, EngineFacts, Placement},
    remote::Remote,
    resume::{self, Resumed, WAYS},
    rulings::{NotesDesk, Orders},
    steering::Steering,
    turnstile::Lane,
    watchdog::{self, Watchdog},
    worker::{Ended, Note, Over, SPARE_ENGINES, Worker, WorkerContext, WorkerSpec},
};
use journal::{EventId, Fleet, Journal, Moves, Opening, Reader, StoreError, Writer};
use plan::{EnginePlan, LogPlan, OpeningOrder, Plan};
use referee::{
    Color, Outcome,
    entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped},
    fault_limit::Halt,
    game::Setup,
    identity::Identity,
    opening::Openings,
    operation::InForce,
    schedule::{Next, Pairing, Schedule, size::SizeFault},
    sink::{GameOptions, SideRecord, Sink},
    sprt::{Sprt, SprtError},
    standings::Standings,
};
use seat::recorder::{Recorded, RecorderSpec};
use std::{
    collections::HashMap,
    io,
    path::Path,
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    time::Duration,
};
use tokio::sync::Semaphore;

/// How often a game between remote players may be rejected; the player who rejects it once more loses it.
const REJECTIONS: u32 = 2;
/// Most time for remote players to receive the end of their last game, so that the transcripts are complete.
const SETTLED: Duration = Duration::from_secs(1);
/// Time between two looks at who has logged in, while games wait for remote players.
const GLANCE: Duration = Duration::from_millis(50);
/// How often is looked whether the workers have finished their last games.
const LAST_GAMES: Duration = Duration::from_millis(5);

/// Why an event cannot be played, or played on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration is not the one the event was begun with.
    #[error("`{name}` was begun with another configuration, and its games would not be comparable:\n  {}\n  take the change back; or {WAYS}", changes.join("\n  "))]
    Changed {
        /// The event.
        name: String,
        /// What changed.
        changes: Vec<String>,
    },
    /// The engines are not those that played before.
    #[error("{}:\n  {}\n  bring back what played before; or {WAYS}", other_builds(name, *complete), changes.join("\n  "))]
    Replaced {
        /// The event.
        name: String,
        /// What changed.
        changes: Vec<String>,
        /// Whether all its games were played.
        complete: bool,
    },
    /// The event has gone beyond the size that it is given.
    #[error("`{name}` cannot become smaller than what was played of it: {fault}")]
    Size {
        /// The event.
        name: String,
        /// What it needs.
        fault: SizeFault,
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

fn other_builds(name: &str, complete: bool) -> String {
    match complete {
        true => {
            format!("`{name}` is complete, and its standings are not those of the engines that are here now")
        }
        false => format!(
            "`{name}` was played by other engines than those that are here now, and one Elo must not mix both"
        ),
    }
}

/// How an event stands when this run of it ends.
#[derive(Debug)]
pub struct Finished {
    /// Everything that was played, earlier runs included.
    pub standings: Standings,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Whether it cannot be played to its end because engines are halted.
    pub halted: bool,
    /// The store, for reports.
    pub store: Writer,
    /// The event's row in it.
    pub event: EventId,
}

impl Finished {
    /// Whether the event was played to its end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.interrupted && !self.halted
    }
}

/// An event that is open for play: nobody else can play it, and what was played before is known.
pub struct OpenEvent<'a> {
    plan: &'a Plan,
    test: Option<Sprt>,
    opening: Opening,
    standings: Standings,
    closed: bool,
    words: Vec<String>,
    engines: Vec<EngineFacts>,
    identities: Arc<[Option<Arc<Engine>>]>,
    operations: Operations,
    steering: Option<Box<dyn Steering>>,
    lane: Option<Arc<Lane>>,
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
    /// in the order of [`preflight::started_here`].
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn open(plan: &'a Plan, identities: Vec<Engine>) -> Result<Self, RunError> {
        let test = plan.sprt.map(|sprt| sprt.test()).transpose()?;
        let identities = by_player(plan, identities);
        let Resumed { opening, words } = resume::open(plan, &identities)?;
        let mut standings =
            Standings::new(&plan.stages, plan.engines.len()).with_fault_limits(plan.fault_limits());
        let (mut closed, mut in_force) = (false, InForce::default());
        opening.replay(Moves::Without, &mut |stamped| {
            closed |= stamped.entry == Entry::Closed;
            if let Entry::Operator(operation) = &stamped.entry {
                in_force.fold(operation);
            }
            standings.fold(&stamped.entry);
        })?;
        let operations = Operations::new(in_force, opening.sink());
        Ok(Self {
            plan,
            test,
            opening,
            standings,
            closed,
            words,
            engines: vec![],
            identities,
            operations,
            steering: None,
            lane: None,
        })
    }

    /// What is known of the engines, for the choice of cores; without it no game is pinned unless the plan says so.
    #[must_use]
    pub fn with_engines(self, engines: Vec<EngineFacts>) -> Self {
        Self { engines, ..self }
    }

    /// What is known of the engines that are started here.
    #[must_use]
    pub fn engines(&self) -> &[EngineFacts] {
        &self.engines
    }

    /// The event, with options of their own for the engines of each game; what was played before is replayed for them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn steered_by(self, mut steering: Box<dyn Steering>) -> Result<Self, RunError> {
        self.opening.replay(Moves::Without, &mut |stamped| {
            let _heard_before = steering.fold(&stamped.entry);
        })?;
        Ok(Self { steering: Some(steering), ..self })
    }

    /// Shares the places of games with other events.
    #[must_use]
    pub fn sharing(self, lane: Arc<Lane>) -> Self {
        Self { lane: Some(lane), ..self }
    }

    /// What people should know before it goes on.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether it was played to its end before.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// What was played before.
    #[must_use]
    pub fn standings(&self) -> &Standings {
        &self.standings
    }

    /// The operator's handle.
    #[must_use]
    pub fn operations(&self) -> Operations {
        self.operations.clone()
    }

    /// The event's row in the database.
    #[must_use]
    pub fn event(&self) -> EventId {
        self.opening.event().event
    }

    /// What plays now, by player; `None` for those who are not started here.
    #[must_use]
    pub fn identities(&self) -> Vec<Option<Identity>> {
        self.identities.iter().map(|engine| engine.as_ref().map(|engine| engine.identity.clone())).collect()
    }

    /// Notes that this manager begins to hand games to machines; `key` names the event on the wire where it has no name
    /// yet.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_fleet(&self, key: &str) -> Result<Fleet, StoreError> {
        self.opening.writer().begin_fleet(self.event(), key)
    }

    /// Notes the speed that all machines of the event are compared with, as JSON.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_reference(&self, speed: &str) -> Result<(), StoreError> {
        self.opening.writer().set_reference(self.event(), speed)
    }

    /// The sink of the event, for seats and games.
    #[must_use]
    pub fn sink(&self) -> Arc<dyn Sink> {
        self.opening.sink()
    }

    /// Plays it to its end, or until `shutdown`.
    ///
    /// # Errors
    /// See [`RunError`]; whatever was committed stays.
    pub fn play(self, company: Company, shutdown: &Shutdown) -> Result<Finished, RunError> {
        let Self {
            plan,
            test,
            opening,
            standings,
            closed,
            words: _,
            engines,
            identities,
            operations,
            steering,
            lane,
        } = self;
        let event = opening.event().event;
        if closed {
            let store = opening.into_store();
            return Ok(Finished { standings, interrupted: false, halted: false, store, event });
        }
        let Company { openings, remote, machines, mut readers, say, disk } = company;
        readers.push(operations.reader());
        let recorded = start_recorder(&plan.name, &plan.log, opening.sink(), &say)?;
        let (notes, inbox) = mpsc::channel();
        watch(shutdown, notes.clone());
        if let Some(lane) = &lane {
            let notes = notes.clone();
            lane.on_turn(move || drop(notes.send(Note::Turn)));
        }
        let players = remote.as_ref().map(|remote| remote.players.clone());
        let context = WorkerContext {
            sink: opening.sink(),
            notes: notes.clone(),
            engines: plan.engines.iter().cloned().map(Arc::new).collect(),
            identities: identities.clone(),
            remote: players,
            startups: Arc::new(Semaphore::new(plan.startups.max(1))),
            spare: Arc::new(Semaphore::new(SPARE_ENGINES)),
            recorder: recorded.as_ref().map(Recorded::handle),
            adjourn: shutdown.adjourning().clone(),
            interventions: operations.interventions(),
        };
        let desk: Arc<dyn GamesDesk> = Arc::new(NotesDesk(notes.clone()));
        operations.set_games(Some(desk));
        let (next_game, resumed) = (opening.event().next_game, opening.event().resumed);
        let failed = notes.clone();
        let journal = opening.start(readers, move || drop(failed.send(Note::Failed)))?;
        let Placement { workers, claimed, words } = match plan.concurrency {
            0 if machines.is_some() => Placement::default(),
            _ => preflight::placement(plan, &engines),
        };
        let workers = start_workers(workers, &context)?;
        words.iter().for_each(|words| say(words));
        let paired = plan.openings.as_ref().is_none_or(|openings| openings.pairs);
        let schedule = Schedule::new(&plan.stages, plan.engines.len(), plan.seed, plan.replay_draws, paired);
        let mut dispatcher = Dispatcher {
            plan,
            openings,
            notes,
            inbox,
            shutdown,
            workers,
            _claimed: claimed,
            schedule,
            standings,
            journal,
            test,
            running: HashMap::new(),
            away: machines.map(Away::new),
            remote,
            pending: vec![],
            held: vec![],
            absences: Absences::default(),
            awaited: Awaited::default(),
            next_game,
            failed: false,
            told: false,
            replaced: false,
            say,
            disk,
            recorded,
            operations,
            orders: Orders::default(),
            steering,
            lane,
            watchdog: Watchdog::default(),
        };
        let substitutes = dispatcher.operations.substitutes();
        dispatcher.happened(opened(plan, substitutes, resumed));
        dispatcher.tell_halts();
        if dispatcher.operations.is_paused() {
            dispatcher.tell_pause();
        }
        dispatcher.record_identities(&identities);
        let notes = dispatcher.notes.clone();
        let played = dispatcher.open_desk(notes).and_then(|()| dispatcher.play());
        dispatcher.close(played, event)
    }
}

/// Sends a note at each change of the shutdown.
fn watch(shutdown: &Shutdown, notes: Sender<Note>) {
    shutdown.watch(move || drop(notes.send(Note::Shutdown)));
}

/// A worker and its free slots.
#[derive(Debug)]
struct Slots {
    worker: Worker,
    free: usize,
}

pub(crate) struct Dispatcher<'a> {
    pub(crate) plan: &'a Plan,
    openings: Openings,
    notes: Sender<Note>,
    inbox: Receiver<Note>,
    shutdown: &'a Shutdown,
    workers: Vec<Slots>,
    /// Keeps the cores of the workers from other managers.
    _claimed: Option<ClaimedCores>,
    pub(crate) schedule: Schedule,
    pub(crate) standings: Standings,
    pub(crate) journal: Journal,
    test: Option<Sprt>,
    pub(crate) running: HashMap<GameId, Pairing>,
    /// Games that other machines play.
    pub(crate) away: Option<Away>,
    pub(crate) remote: Option<Remote>,
    /// Games that wait for a GPU or a player.
    pub(crate) pending: Vec<Pairing>,
    /// Adjourned games that the schedule has handed out again, and that wait for the operator.
    pub(crate) held: Vec<Pairing>,
    pub(crate) absences: Absences,
    pub(crate) awaited: Awaited,
    next_game: GameId,
    /// The database has failed.
    failed: bool,
    /// Whether it was announced that the running games will be finished.
    told: bool,
    /// An engine has become another one, which halts the event.
    replaced: bool,
    pub(crate) say: Say,
    disk: DiskWatch,
    recorded: Option<Recorded>,
    pub(crate) operations: Operations,
    /// The operator's orders that running games have yet to carry out.
    pub(crate) orders: Orders,
    /// Options for the engines of each game.
    pub(crate) steering: Option<Box<dyn Steering>>,
    /// The way to the places of games, where other events have games on them too.
    lane: Option<Arc<Lane>>,
    pub(crate) watchdog: Watchdog,
}

impl Dispatcher<'_> {
    fn play(&mut self) -> Result<(), RunError> {
        self.fill();
        while !self.failed
            && (!self.running.is_empty() || self.awaits_machines() || (self.goes_on() && self.is_waiting()))
        {
            if let Some(note) = self.next_note() {
                self.handle(note)?;
                while let Ok(note) = self.inbox.try_recv() {
                    self.handle(note)?;
                }
            }
            self.rule_absences();
            self.fill();
            self.look_for_a_stall();
            self.stop_machines();
        }
        Ok(())
    }

    /// Whether the event waits for players, for a place, or for the operator, who has paused it.
    fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
            || !self.held.is_empty()
            || self.operations.is_paused()
            || self.waits_for_turn()
    }

    /// Whether new games begin.
    pub(crate) fn goes_on(&self) -> bool {
        !self.shutdown.is_finishing()
    }

    /// Whether games end now.
    pub(crate) fn is_adjourning(&self) -> bool {
        self.shutdown.is_adjourning()
    }

    /// Whether every game is played elsewhere.
    pub(crate) fn has_no_slots(&self) -> bool {
        self.workers.is_empty()
    }

    /// Whether less is free on the disk than the reserve.
    pub(crate) fn has_low_disk(&self) -> bool {
        self.disk.is_low()
    }

    /// Whether another event has the next place.
    pub(crate) fn waits_for_turn(&self) -> bool {
        self.lane.as_ref().is_some_and(|lane| lane.waits())
    }

    /// Whether a slot of this machine is free.
    pub(crate) fn has_free_slot(&self) -> bool {
        self.workers.iter().any(|slots| slots.free > 0)
    }

    /// The next note; `None` when it is time to look again at who has logged in, at the disk, or at free places.
    fn next_note(&self) -> Option<Note> {
        let until = match () {
            () if self.remote.is_some() || self.disk.is_low() => GLANCE,
            () if self.is_idle() => watchdog::LOOK,
            () => return self.inbox.recv().ok(),
        };
        self.inbox.recv_timeout(until).ok()
    }

    /// Ends every engine, and the journal after the last entry; only then are faults passed on.
    fn close(mut self, played: Result<(), RunError>, event: EventId) -> Result<Finished, RunError> {
        self.operations.set_games(None);
        if self.failed || played.is_err() {
            self.shutdown.adjourn();
        }
        let interrupted = !self.goes_on() && !self.is_done();
        let halted = !interrupted && !self.standings.halts().is_empty() && !self.is_done();
        let workers = std::mem::take(&mut self.workers);
        let threads: Vec<_> = workers.into_iter().map(|slots| slots.worker.let_go()).collect();
        // The last games wait for their ends to be kept.
        while threads.iter().any(|thread| !thread.is_finished()) {
            if let Ok(note) = self.inbox.recv_timeout(LAST_GAMES) {
                self.late(note);
            }
        }
        threads.into_iter().for_each(|thread| drop(thread.join()));
        self.close_desk(if interrupted || halted || played.is_err() || self.failed {
            Closing::Interrupted
        } else {
            Closing::Over
        });
        if let Some(recorded) = self.recorded.take() {
            recorded.finish();
        }
        while let Ok(note) = self.inbox.try_recv() {
            self.late(note);
        }
        if played.is_ok() && !interrupted && !halted {
            self.happened(Entry::Closed);
        }
        if let Some(remote) = &self.remote {
            remote.players.settle(SETTLED);
        }
        let finished = self.journal.finish();
        played?;
        Ok(Finished { standings: self.standings, interrupted, halted, store: finished?, event })
    }

    /// Keeps what games report that end while the workers are awaited.
    fn late(&mut self, note: Note) {
        match note {
            Note::Ended(ended) => self.ended(*ended),
            Note::Over(over) => self.record(&over.started, over.ended),
            Note::Desk(note) => self.heard(note),
            _ => {}
        }
    }

    fn handle(&mut self, note: Note) -> Result<(), RunError> {
        match note {
            Note::Ended(ended) => self.ended(*ended),
            Note::Over(over) => self.over(*over)?,
            Note::Shutdown if !self.shutdown.is_adjourning() && !self.told => {
                self.told = true;
                let games = self.running.len();
                (self.say)(&format!("finishing {games} running games; once more adjourns them"));
            }
            Note::Shutdown | Note::Turn => {}
            Note::Asked(asked) => self.asked(*asked),
            Note::Switched => self.tell_pause(),
            Note::Desk(note) => self.heard(note),
            Note::Failed => self.failed = true,
            Note::Replaced(player, changes) => self.replaced(player, &changes),
        }
        Ok(())
    }

    /// Keeps what plays in this run.
    fn record_identities(&self, engines: &[Option<Arc<Engine>>]) {
        for (number, engine) in (0..).zip(engines) {
            let Some(engine) = engine else { continue };
            let identity = Box::new(engine.identity.clone());
            self.journal.sink().keep(SideRecord::Identified(PlayerId(number), identity));
        }
    }

    /// Ends this run: an engine has become another one while it was played.
    fn replaced(&mut self, player: PlayerId, changes: &[String]) {
        if std::mem::replace(&mut self.replaced, true) {
            return;
        }
        let (name, changes) = (&self.plan.name, changes.join("\n  "));
        let text = format!(
            "`{name}` is stopped, because an engine is another one now:\n  {changes}\n  with what played before, the same \
             command continues; otherwise {WAYS}"
        );
        (self.say)(&text);
        self.happened(Entry::Fault { player: Some(player), text });
        self.shutdown.adjourn();
    }

    /// Folds an entry and hands it to the journal.
    pub(crate) fn happened(&mut self, entry: Entry) {
        let mut batch = vec![];
        self.fold_into(Stamped { at: journal::now(), entry }, &mut batch);
        self.journal.append(batch);
    }

    /// Folds an entry, and adds it to a batch with what follows from it: halts of engines, and the verdict.
    pub(crate) fn fold_into(&mut self, stamped: Stamped, batch: &mut Vec<Stamped>) {
        let halts = self.standings.halts().len();
        self.standings.fold(&stamped.entry);
        if let Some(line) = self.steering.as_mut().and_then(|steering| steering.fold(&stamped.entry)) {
            (self.say)(&line);
        }
        let ended = matches!(stamped.entry, Entry::GameEnded(_) | Entry::Operator(_));
        batch.push(stamped);
        let at = journal::now();
        for halt in &self.standings.halts()[halts..] {
            let text = format!("{}; no further game of it begins", halt_words(self.plan, halt));
            batch.push(Stamped { at, entry: Entry::Fault { player: Some(halt.player), text } });
        }
        if let Some(entry) = ended.then(|| self.judge()).flatten() {
            self.fold_into(Stamped { at, entry }, batch);
        }
    }

    /// The sequential test, evaluated after each pair in schedule order: the verdict, if it is reached now.
    fn judge(&self) -> Option<Entry> {
        let test = self.test.as_ref()?;
        // A halted test has no verdict, whatever the games end with that are still running.
        if self.standings.verdict().is_some() || !self.standings.halts().is_empty() {
            return None;
        }
        let heeds_faults = self.plan.fault_limit.is_some();
        self.standings.due().iter().find_map(|counts| {
            let (verdict, llr) = test.verdict_on(counts, heeds_faults)?;
            Some(Entry::Verdict { verdict: verdict.to_owned(), llr, pairs: counts.pairs })
        })
    }

    /// Shows which engines an earlier run has left halted.
    fn tell_halts(&self) {
        for halt in self.standings.halts() {
            (self.say)(&format!("{}, and no game of it begins", halt_words(self.plan, halt)));
        }
    }

    fn record(&mut self, started: &Option<GameStarted>, ended: Option<GameEnded>) {
        if let Some(started) = started {
            self.standings.fold(&Entry::GameStarted(started.clone()));
        }
        if let Some(ended) = ended {
            self.happened(Entry::GameEnded(ended));
        }
    }

    /// Keeps the end of a game whose players elsewhere are told of it afterwards.
    fn ended(&mut self, ended: Ended) {
        let Ended { entries: (started, end), kept } = ended;
        self.record(&started, end);
        self.journal.sink().when_kept(kept);
    }

    fn over(&mut self, over: Over) -> Result<(), RunError> {
        let Over { worker, game, pairing, draws, started, ended, outcome } = over;
        self.record(&started, ended);
        self.running.remove(&game);
        self.ended_here(game);
        self.workers[worker].free += 1;
        if let Some(lane) = &self.lane {
            lane.leave();
        }
        self.carried_out(game, &pairing, outcome.as_ref().ok().copied());
        match outcome {
            // The games that wait for its result must not keep it from being handed out again.
            Ok(ended) if self.steering.is_some() && !ended.counts() && !ended.is_left_out() => {
                self.pending.insert(0, Pairing { attempt: pairing.attempt.saturating_add(1), ..pairing });
            }
            Ok(Outcome::Aborted { .. }) => self.schedule.returned(pairing),
            Ok(_) if self.standings.replays(&pairing) > draws => self.schedule.returned(pairing),
            Ok(_) => {}
            Err(reason) => return Err(RunError::Setup(game, reason)),
        }
        Ok(())
    }

    /// Gives every free slot a game.
    fn fill(&mut self) {
        while self.goes_on() && !self.operations.is_paused() {
            if self.disk.is_low() {
                self.hold_back();
                break;
            }
            let freest = self.workers.iter().enumerate().max_by_key(|(_, slots)| slots.free);
            match freest {
                Some((worker, Slots { free: 1.., .. })) => {
                    if self.lane.as_ref().is_some_and(|lane| !lane.enter()) {
                        return;
                    }
                    if !self.fill_slot(worker) {
                        break;
                    }
                }
                _ if self.has_places_elsewhere() => {
                    if !self.send_away() {
                        break;
                    }
                }
                // Machines may come as long as there is a game to play.
                _ if self.away.is_some() => return self.hold_back(),
                _ => return,
            }
        }
        if let Some(lane) = &self.lane {
            lane.pass();
        }
    }

    /// Gives a free slot a game; false if there is none, and then its turn is given back.
    fn fill_slot(&mut self, worker: usize) -> bool {
        if let Some(pairing) = self.next_game() {
            self.seat(worker, pairing);
            return true;
        }
        if let Some(lane) = &self.lane {
            lane.back_out();
        }
        false
    }

    /// Takes a game from the schedule that has to wait until there is room on the disk; an event without one is over.
    fn hold_back(&mut self) {
        if self.pending.is_empty()
            && let Some(pairing) = self.next_game()
        {
            self.pending.push(pairing);
        }
    }

    fn is_done(&mut self) -> bool {
        self.running.is_empty()
            && self.pending.is_empty()
            && self.held.is_empty()
            && self.schedule.next(&self.standings) == Next::Done
    }

    pub(crate) fn lacks_gpu(&self, pairing: &Pairing) -> bool {
        let share = |pairing: &Pairing| {
            let gpu = |player: referee::entry::PlayerId| self.plan.engines[player.index()].gpu;
            gpu(pairing.black) + gpu(pairing.white)
        };
        let needed = share(pairing);
        let used: f64 = self.running.values().map(share).sum();
        needed > 0.0 && used > 0.0 && used + needed > self.plan.gpus
    }

    /// The number of a new game.
    pub(crate) fn number(&mut self) -> GameId {
        let game = self.next_game;
        self.next_game = GameId(game.0 + 1);
        game
    }

    /// A game as it is to be played.
    pub(crate) fn fixture(&mut self, game: GameId, pairing: Pairing) -> Fixture {
        let engines = [pairing.black, pairing.white].map(|player| &self.plan.engines[player.index()]);
        let opening = self.openings.pick(pairing.opening);
        let mut setup = Setup {
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
        let options = self.options(&pairing);
        let tells_times = self.play_on(&pairing, &mut setup);
        Fixture { setup, pairing, draws, replays_draws, tells_times, options }
    }

    /// Options of its own that the engines of a game are given, black first.
    pub(crate) fn options(&self, pairing: &Pairing) -> [GameOptions; 2] {
        self.steering.as_ref().map(|steering| steering.options(pairing)).unwrap_or_default()
    }

    fn seat(&mut self, worker: usize, pairing: Pairing) {
        let game = self.number();
        let fixture = self.fixture(game, pairing);
        // An adjourned game keeps the clocks that it had here.
        let fixture = if fixture.tells_times { fixture } else { fixture.scaled(self.scale_here()) };
        option_records(game, &fixture.options).for_each(|record| self.journal.sink().keep(record));
        let draws = fixture.draws;
        self.running.insert(game, pairing);
        self.begins_here(game);
        self.workers[worker].free -= 1;
        if !self.workers[worker].worker.play(fixture) {
            let outcome = Err("its worker is gone".to_owned());
            let over = Over { worker, game, pairing, draws, started: None, ended: None, outcome };
            let _ours = self.notes.send(Note::Over(Box::new(over)));
        }
    }
}

/// What is kept of the options of a game's own.
pub(crate) fn option_records(game: GameId, options: &[GameOptions; 2]) -> impl Iterator<Item = SideRecord> {
    let sides = Color::BOTH.into_iter().zip(options).filter(|(_, options)| !options.is_empty());
    sides.map(move |(color, options)| SideRecord::Options(game, color, options.clone()))
}

/// Starts what keeps the lines of engines, if the event wants them.
///
/// # Errors
/// When the directory cannot be made, or the system has no thread.
pub fn start_recorder(
    event: &str,
    log: &LogPlan,
    sink: Arc<dyn Sink>,
    say: &Say,
) -> Result<Option<Recorded>, RunError> {
    if *log == LogPlan::Off {
        return Ok(None);
    }
    let directory = log.directory().map(Path::to_owned);
    let place = directory.as_ref().map_or_else(|| "a thread".to_owned(), |path| path.display().to_string());
    let spec = RecorderSpec { event: event.to_owned(), directory, sink, say: say.clone() };
    Recorded::start(spec).map(Some).map_err(|error| RunError::Io(format!("--log {place}"), error))
}

/// The head of the event; places that were given to substitutes have their names.
fn opened(plan: &Plan, substitutes: Vec<(PlayerId, String)>, resumed: bool) -> Entry {
    let mut players: Vec<String> = plan.engines.iter().map(|engine| engine.name.clone()).collect();
    for (player, substitute) in substitutes {
        players.get_mut(player.index()).into_iter().for_each(|name| name.clone_from(&substitute));
    }
    Entry::Opened(Opened { name: plan.name.clone(), players, format: plan.format_words(), resumed })
}

/// The engines by player; `None` for one that is not started here.
fn by_player(plan: &Plan, engines: Vec<Engine>) -> Arc<[Option<Arc<Engine>>]> {
    let mut engines = engines.into_iter().map(Arc::new);
    let of = |engine: &EnginePlan| if engine.remote { None } else { engines.next() };
    plan.engines.iter().map(of).collect()
}

fn start_workers(specs: Vec<WorkerSpec>, context: &WorkerContext) -> Result<Vec<Slots>, RunError> {
    let start = |spec: WorkerSpec| {
        let free = spec.slots;
        Worker::start(spec, context.clone()).map(|worker| Slots { worker, free })
    };
    let started: io::Result<Vec<Slots>> = specs.into_iter().map(start).collect();
    started.map_err(|e| RunError::Io("a worker thread".to_owned(), e))
}

/// A halt in words: which engine, and why.
#[must_use]
pub fn halt_words(plan: &Plan, halt: &Halt) -> String {
    let name = plan.engines.get(halt.player.index()).map_or("?", |engine| &engine.name);
    format!("engine `{name}` is halted: {halt}")
}

/// The openings of a plan in its order.
#[must_use]
pub fn in_order(lines: Vec<referee::opening::Opening>, plan: &Plan) -> Openings {
    let random = plan.openings.as_ref().is_some_and(|openings| openings.order == OpeningOrder::Random);
    Openings::new(lines, random.then_some(plan.seed))
}
