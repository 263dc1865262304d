//! The dispatcher: schedule, free slot, game; and the verdict that stops the event.
//!
//! Workers report moves to the journal, and the end of a game to the dispatcher, which folds it into the standings,
//! hands it to the journal, and asks the schedule for more. Nothing downstream calls back.

mod admission;

pub use crate::error::RunError;

use crate::{
    Say, Shutdown, Unplayed,
    absences::{Absences, Ruling},
    adjourned,
    agenda::{Agenda, Choice, Place, RoundOf, Surroundings},
    away::{Away, numbered},
    breaks::Break,
    cores::EngineFacts,
    desk::{Closing, RemoteDesk},
    disk::DiskWatch,
    error::WAYS,
    identity::Engine,
    joining::own_name,
    note::{DeskNote, Ended, Note, NotesDesk, Over, PlayedJob},
    open_journal::OpenJournal,
    operations::{Asked, GamesDesk, Operations},
    play::Fixture,
    preflight::{self, Placement},
    remote::Remote,
    resume::{self, Resumed},
    slots::{Slot, Slots},
    steering::Steering,
    turnstile::Lane,
    watchdog::{self, Watchdog},
    worker::{Field, SPARE_ENGINES, WorkerContext},
};
use contest::{
    fault_limit::Halt,
    schedule::Pairing,
    stage,
    standings::{REPEATS, Standings},
};
use journal::{EventId, Fleet, Journal, Reader, StoreError, Writer};
use plan::{EnginePlan, LogPlan, OpeningOrder, Plan};
use referee::{
    Color, Outcome,
    clock::Scale,
    entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped},
    game::Setup,
    identity::Identity,
    lease::{Committed, LeaseId},
    opening::Openings,
    operation::{Action, InForce},
    rating::Pentanomial,
    sink::{GameOptions, SideRecord, Sink},
    sprt::Sprt,
};
use seat::recorder::{Recorded, RecorderSpec};
use std::{
    collections::HashMap,
    mem,
    path::Path,
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    time::{Duration, Instant},
};
use tokio::sync::Semaphore;

/// How often a game between remote players may be rejected; the player who rejects it once more loses it.
const REJECTIONS: u32 = 2;
/// Most time for remote players to receive the end of their last game, so that the transcripts are complete.
const SETTLED: Duration = Duration::from_secs(1);
/// Time between two looks at who has logged in, while games wait for remote players.
const GLANCE: Duration = Duration::from_millis(50);
/// Most time until a draw is on the disk whose clocks another game takes over.
const DISK: Duration = Duration::from_secs(20);
/// How often is looked whether the workers have finished their last games.
const LAST_GAMES: Duration = Duration::from_millis(5);

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
    plan: &'a Plan,
    test: Option<Sprt>,
    journal: OpenJournal,
    standings: Standings,
    words: Vec<String>,
    /// The parts of the fingerprint of the last engines of the plan, which are about to join.
    pending: Vec<String>,
    identities: Arc<[Option<Arc<Engine>>]>,
    steering: Option<Box<dyn Steering>>,
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
    /// in the order of [`preflight::started_here`]; `steering` sets options for the engines of each game.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn open(
        plan: &'a Plan,
        identities: Vec<Engine>,
        steering: Option<Box<dyn Steering>>,
    ) -> Result<Self, RunError> {
        let test = plan.sprt.map(|sprt| sprt.test()).transpose()?;
        let identities = by_player(plan, identities);
        let (journal, resumed) = resume::open(plan, &identities, steering)?;
        let Resumed { standings, steering, words, pending } = resumed;
        Ok(Self {
            plan,
            test,
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

    /// What people should know before it goes on.
    pub fn words(&self) -> &[String] {
        &self.words
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

    /// Notes that this manager begins to hand games to machines; `key` names the event on the wire where it has no name
    /// yet.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_fleet(&self, key: &str) -> Result<Fleet, StoreError> {
        self.journal.opening.writer().begin_fleet(self.event(), key)
    }

    /// Notes the speed that all machines of the event are compared with, as JSON.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_reference(&self, speed: &str) -> Result<(), StoreError> {
        self.journal.opening.writer().set_reference(self.event(), speed)
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
    fn connect(&self, notes: &Sender<Note>, remote: Option<&Remote>, shutdown: &Shutdown) -> WorkerContext {
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

pub(crate) struct Dispatcher<'a> {
    pub(crate) plan: Arc<Plan>,
    /// The players as the workers know them.
    pub(crate) field: Field,
    /// Players that this run began with.
    began_with: usize,
    openings: Openings,
    notes: Sender<Note>,
    inbox: Receiver<Note>,
    shutdown: &'a Shutdown,
    /// What is left to play.
    pub(crate) agenda: Agenda,
    pub(crate) slots: Slots,
    pub(crate) journal: Journal,
    test: Option<Sprt>,
    /// Games that other machines play.
    pub(crate) away: Option<Away>,
    pub(crate) remote: Option<Remote>,
    absences: Absences,
    next_game: GameId,
    /// The database has failed.
    failed: bool,
    /// True if it was announced that the running games will be finished.
    told: bool,
    /// An engine has become another one, which halts the event.
    replaced: bool,
    pub(crate) say: Say,
    disk: DiskWatch,
    recorded: Option<Recorded>,
    pub(crate) operations: Operations,
    /// The operator's orders that running games have yet to carry out.
    pub(crate) orders: HashMap<GameId, Asked>,
    /// Options for the engines of each game.
    steering: Option<Box<dyn Steering>>,
    watchdog: Watchdog,
    rest: Break,
}

/// What the choice of a game depends on, beside the agenda.
struct Around<'d> {
    operations: &'d Operations,
    steering: Option<&'d dyn Steering>,
    remote: Option<&'d Remote>,
    away: Option<&'d Away>,
    rest: &'d Break,
}

impl Surroundings for Around<'_> {
    fn held(&self, pairing: &Pairing) -> Option<GameId> {
        self.operations.held_at(pairing)
    }

    fn has_adjourned(&self) -> bool {
        self.operations.in_force(InForce::has_adjourned)
    }

    fn knows_options(&self, pairing: &Pairing) -> bool {
        self.steering.is_none_or(|steering| steering.is_known(pairing))
    }

    fn has_network(&self) -> bool {
        self.remote.is_some()
    }

    fn waits(&self, player: PlayerId) -> bool {
        self.remote.is_some_and(|remote| remote.players.waits(player))
    }

    fn machine_slots(&self) -> Option<usize> {
        self.away.map(|away| away.desk.slots())
    }

    fn holder(&self, stage: u8, pair: u64) -> Option<String> {
        self.away?.holder(stage, pair)
    }

    fn break_is_over(&self, before: RoundOf) -> bool {
        let mut away = self.away.iter().flat_map(|away| away.games());
        !away.any(|game| (game.stage, game.round) < before) && self.rest.is_over(Instant::now())
    }
}

impl<'a> Dispatcher<'a> {
    /// Starts the journal and the workers.
    fn start(event: OpenEvent<'a>, company: Company, shutdown: &'a Shutdown) -> Result<Self, RunError> {
        let plan = Arc::new(event.plan.clone());
        let mut rest = Break::new(plan.round_break.clone());
        let Company { openings, remote, machines, readers, say, disk } = company;
        let recorded = start_recorder(&plan.name, &plan.log, event.sink(), &say)?;
        let (notes, inbox) = mpsc::channel();
        let context = WorkerContext {
            recorder: recorded.as_ref().map(Recorded::handle),
            ..event.connect(&notes, remote.as_ref(), shutdown)
        };
        let (next_game, failed) = (event.journal.opening.event().next_game, notes.clone());
        let operations = event.operations();
        let journal = event.journal.start(readers, move || drop(failed.send(Note::Failed)))?;
        let Placement { workers, claimed, words } = match plan.concurrency {
            0 if machines.is_some() => Placement::default(),
            _ => preflight::placement(&plan, &event.engines),
        };
        let slots = Slots::start(workers, claimed, event.lane, &context)?;
        if event.standings.total().games() > 0 {
            rest.begin(Instant::now(), journal::now());
        }
        words.iter().for_each(|words| say(words));
        Ok(Self {
            field: context.field.clone(),
            began_with: plan.engines.len(),
            notes,
            inbox,
            shutdown,
            agenda: Agenda::new(plan.clone(), event.standings, !slots.is_empty()),
            openings,
            plan,
            slots,
            journal,
            test: event.test,
            away: machines.map(Away::new),
            remote,
            absences: Absences::default(),
            next_game,
            failed: false,
            told: false,
            replaced: false,
            say,
            disk,
            recorded,
            operations,
            orders: HashMap::new(),
            steering: event.steering,
            rest,
            watchdog: Watchdog::default(),
        })
    }

    /// Records the head of this run, and says what keeps games from beginning.
    fn open(&mut self, identities: &[Option<Arc<Engine>>], resumed: bool, pending: Vec<String>) {
        let known = self.plan.engines.len() - pending.len();
        self.absences = Absences::of(resumed);
        self.happened(opened(&self.plan, known, self.operations.substitutes(), resumed));
        self.tell_halts();
        if self.operations.is_paused() {
            self.tell_pause();
        }
        self.take_in_pending(pending);
        self.withdraw_by_file();
        self.record_identities(identities);
    }

    /// Pauses the event before its first game.
    fn pause(&mut self) {
        let operations = self.operations.clone();
        operations.record_by(&own_name(), "", None, Action::Paused, |entry| self.happened(entry));
        self.tell_pause();
    }

    /// The agenda, and what its choices depend on.
    fn parts(&mut self) -> (&mut Agenda, Around<'_>) {
        let Self { agenda, operations, steering, remote, away, rest, .. } = self;
        let steering = steering.as_deref();
        (agenda, Around { operations, steering, remote: remote.as_ref(), away: away.as_ref(), rest })
    }

    fn play(&mut self) -> Result<(), RunError> {
        self.fill();
        while !self.failed
            && (self.plays_here() || self.awaits_machines() || (self.goes_on() && self.is_waiting()))
        {
            if let Some(note) = self.next_note() {
                self.handle(note)?;
                while let Ok(note) = self.inbox.try_recv() {
                    self.handle(note)?;
                }
            }
            self.rule_absences();
            self.fill();
            self.tell_break();
            self.look_for_a_stall();
            self.stop_machines();
        }
        Ok(())
    }

    fn plays_here(&self) -> bool {
        !self.agenda.running.is_empty()
    }

    /// True if games are away whose results are awaited.
    fn awaits_machines(&self) -> bool {
        let away = self.away.as_ref().is_some_and(|away| away.games().next().is_some());
        away && !self.shutdown.is_adjourning()
    }

    /// True if the event waits for players, for a place, or for the operator, who has paused it.
    fn is_waiting(&self) -> bool {
        self.agenda.is_waiting() || self.operations.is_paused() || self.slots.waits_for_turn()
    }

    /// True if new games begin.
    pub(crate) fn goes_on(&self) -> bool {
        !self.shutdown.is_finishing()
    }

    /// True if a machine has a place.
    fn has_places_elsewhere(&self) -> bool {
        self.away.as_ref().is_some_and(|away| away.desk.places() > 0)
    }

    /// True if a place is free and new games may begin.
    fn is_idle(&self) -> bool {
        let may_begin = self.goes_on() && !self.operations.is_paused() && !self.disk.is_low();
        may_begin && !self.slots.waits_for_turn() && (self.slots.has_free() || self.has_places_elsewhere())
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

    /// Opens the desk, and takes over what machines still have of an earlier run, before anything is handed out.
    fn open_desk(&mut self) -> Result<(), RunError> {
        let Some(away) = &mut self.away else { return Ok(()) };
        let leases = away.open(self.notes.clone(), self.journal.sink())?;
        let mut search = self.agenda.search(leases);
        while let Some(bye) = self.agenda.find(&mut search) {
            self.happened(bye);
        }
        for lease in self.agenda.adopt(search) {
            let fixtures = lease.games.iter().map(|game| self.fixture(GameId(0), *game).0).collect();
            if let Some(away) = &mut self.away {
                away.adopt(lease, fixtures);
            }
        }
        self.away.as_mut().map_or(Ok(()), Away::begin)
    }

    /// Ends every engine, and the journal after the last entry; only then are faults passed on.
    fn close(mut self, played: Result<(), RunError>, event: EventId) -> Result<Finished, RunError> {
        self.operations.set_games(None);
        if self.failed || played.is_err() {
            self.shutdown.adjourn();
        }
        let is_done = self.agenda.is_done();
        let halted = !is_done && self.goes_on() && !self.agenda.standings.halts().is_empty();
        let interrupted = !is_done && !halted;
        if interrupted && self.goes_on() {
            let (agenda, around) = self.parts();
            let why = agenda.why_idle(false, &around).unwrap_or_else(|| "no game can begin".to_owned());
            (self.say)(&format!("`{}` is not complete, and no game is played: {why}", self.plan.name));
        }
        let threads = self.slots.let_go();
        // The last games wait for their ends to be kept.
        while threads.iter().any(|thread| !thread.is_finished()) {
            if let Ok(note) = self.inbox.recv_timeout(LAST_GAMES) {
                self.late(note);
            }
        }
        threads.into_iter().for_each(|thread| drop(thread.join()));
        if let Some(away) = self.away.take() {
            let is_over = !interrupted && !halted && played.is_ok() && !self.failed;
            let closing = if is_over { Closing::Over } else { Closing::Interrupted };
            away.close(&*self.journal.sink(), closing);
        }
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
        let (plan, standings, say) = (self.plan, self.agenda.standings, self.say);
        let store = finished?;
        if let Some(log) = store.unmoved_log() {
            let (database, log) = (store.path().display(), log.display());
            say(&format!(
                "`{database}` is read by another program, so a part of the event is in `{log}`: copy both"
            ));
        }
        Ok(Finished { standings, interrupted, halted, store, event, plan })
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
                let games = self.agenda.running.len();
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
        if mem::replace(&mut self.replaced, true) {
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
        let halts = self.agenda.standings.halts().len();
        self.agenda.standings.fold(&stamped.entry);
        if let Some(line) = self.steering.as_mut().and_then(|steering| steering.fold(&stamped.entry)) {
            (self.say)(&line);
        }
        if matches!(stamped.entry, Entry::GameEnded(_)) {
            self.rest.begin(Instant::now(), journal::now());
        }
        let ended = matches!(stamped.entry, Entry::GameEnded(_) | Entry::Operator(_));
        batch.push(stamped);
        let at = journal::now();
        for halt in self.agenda.standings.halts().get(halts..).unwrap_or_default() {
            let text = format!("{}; no further game of it begins", halt_words(&self.plan, halt));
            batch.push(Stamped { at, entry: Entry::Fault { player: Some(halt.player), text } });
        }
        if let Some(entry) = ended.then(|| self.verdict()).flatten() {
            self.fold_into(Stamped { at, entry }, batch);
        }
    }

    /// The sequential test, evaluated after each pair in schedule order: the verdict, if it is reached now.
    fn verdict(&self) -> Option<Entry> {
        // A halted test has no verdict, whatever the games end with that are still running.
        if self.agenda.standings.verdict().is_some() || !self.agenda.standings.halts().is_empty() {
            return None;
        }
        let heeds_faults = self.plan.fault_limit.is_some();
        let precision = stage::precision(&self.plan.stages);
        let decided = self.agenda.standings.due().iter().find_map(|counts| {
            let (verdict, llr) = match (&self.test, precision) {
                (Some(test), _) => test.verdict_on(counts, heeds_faults)?,
                (None, precision) => (precision?.verdict_on(counts)?, 0.0),
            };
            Some(Entry::Verdict { verdict: verdict.to_owned(), llr, pairs: counts.pairs })
        });
        decided.or_else(|| self.exhausted())
    }

    /// The end of a test whose games only repeat earlier ones: it would go on to its last game without a verdict.
    fn exhausted(&self) -> Option<Entry> {
        let standings = &self.agenda.standings;
        let counts = standings.sequence().filter(|_| standings.only_repeats())?.in_order;
        let llr = self.test.and_then(|test| test.llr(&Pentanomial(counts.pentanomial).into()).ok());
        let (verdict, llr) = (REPEATS.to_owned(), llr.unwrap_or_default());
        Some(Entry::Verdict { verdict, llr, pairs: counts.pairs })
    }

    /// Shows which engines an earlier run has left halted.
    fn tell_halts(&self) {
        for halt in self.agenda.standings.halts() {
            (self.say)(&format!("{}, and no game of it begins", halt_words(&self.plan, halt)));
        }
    }

    fn record(&mut self, started: &Option<GameStarted>, ended: Option<GameEnded>) {
        if let Some(started) = started {
            self.agenda.standings.fold(&Entry::GameStarted(started.clone()));
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
        self.agenda.over(game);
        self.away.iter_mut().for_each(|away| away.ended_here(game));
        self.slots.leave(worker);
        self.carried_out(game, &pairing, outcome.as_ref().ok().copied());
        match outcome {
            Ok(Outcome::Aborted { .. }) => self.agenda.returned(pairing),
            Ok(_) => self.return_draw(pairing, draws),
            Err(reason) => return Err(RunError::Setup(game, reason)),
        }
        Ok(())
    }

    /// Hands a game out again that is to be replayed; `draws` are the replays before.
    fn return_draw(&mut self, pairing: Pairing, draws: u32) {
        if self.agenda.standings.replays(&pairing) > draws {
            self.agenda.returned(pairing);
        }
    }

    /// Gives every free slot a game.
    fn fill(&mut self) {
        while self.goes_on() && !self.operations.is_paused() {
            if self.disk.is_low() {
                self.hold_back();
                break;
            }
            let has_begun = match self.slots.enter() {
                Slot::Free(worker) => match self.next_game(Place::Here) {
                    Some(game) if !self.slots.license(&game) => return self.agenda.put_back([game]),
                    game => self.fill_slot(worker, game),
                },
                Slot::NotYet => return,
                Slot::Full if self.has_places_elsewhere() => self.send_away(),
                // Machines may come as long as there is a game to play.
                Slot::Full if self.away.is_some() => return self.hold_back(),
                Slot::Full => return,
            };
            if !has_begun {
                break;
            }
        }
        self.slots.pass();
    }

    /// The next game that can begin at this place.
    fn next_game(&mut self, place: Place) -> Option<Pairing> {
        loop {
            let (agenda, around) = self.parts();
            match agenda.next(place, &around) {
                Choice::Game(pairing) => return Some(pairing),
                Choice::Bye(bye) => self.happened(bye),
                Choice::Default(pairing, out) => {
                    let (outcome, evidence) = self.bench().default_of(&pairing, out);
                    self.end_unplayed(pairing, outcome, evidence);
                }
                Choice::Nothing => return None,
            }
        }
    }

    /// Gives a free slot a game; false if there is none, and then its turn is given back.
    fn fill_slot(&mut self, worker: usize, pairing: Option<Pairing>) -> bool {
        match pairing {
            Some(pairing) => self.seat(worker, pairing),
            None => self.slots.back_out(),
        }
        pairing.is_some()
    }

    /// Takes a game from the schedule that has to wait until there is room on the disk; an event without one is over.
    fn hold_back(&mut self) {
        if self.agenda.pending().is_empty() {
            let next = self.next_game(Place::Here);
            self.agenda.put_back(next);
        }
    }

    /// Gives a pair to a machine; false if there is none to give.
    fn send_away(&mut self) -> bool {
        let Some(first) = self.next_game(Place::Elsewhere) else { return false };
        let mut games = vec![first];
        games.extend(self.next_game(Place::With(first)));
        let fixtures = games.iter().map(|game| self.fixture(GameId(0), *game).0).collect();
        let is_given = self.away.as_mut().is_some_and(|away| away.give(&games, fixtures));
        match is_given {
            true => self.watchdog.calm(),
            false => self.agenda.put_back(games),
        }
        is_given
    }

    fn heard(&mut self, note: DeskNote) {
        match note {
            DeskNote::Free => {}
            DeskNote::Played(job) => self.came_back(*job),
            DeskNote::Lost(lease) => self.lost(lease),
            DeskNote::Hinders(machine, why) => self.drop_hindering(&machine, &why),
            DeskNote::Fault(player, text) => self.happened(Entry::Fault { player, text }),
        }
    }

    /// Hands the games of a lease out again, before all others; after a verdict they are not played any more.
    fn lost(&mut self, lease: LeaseId) {
        let games = self.away.as_mut().and_then(|away| away.take(lease));
        self.agenda.put_back(games.into_iter().flatten());
    }

    /// Stores the games of a lease in one transaction with the lease itself.
    fn came_back(&mut self, job: PlayedJob) {
        let PlayedJob { lease, machine, sha256, games, kept } = job;
        // Its answer was on the way when the operator dropped it.
        if self.is_dropped(&machine) {
            return self.lost(lease);
        }
        let Some(pairings) = self.away.as_mut().and_then(|away| away.take(lease)) else { return };
        let draws: Vec<u32> = pairings.iter().map(|game| self.agenda.standings.replays(game)).collect();
        let options: Vec<[GameOptions; 2]> = pairings.iter().map(|pairing| self.options(pairing)).collect();
        let (mut batch, mut numbers, mut records) = (vec![], vec![], vec![]);
        for (entries, options) in games.into_iter().zip(&options) {
            let number = self.number();
            numbers.push(number);
            records.extend(option_records(number, options));
            for Stamped { at, entry } in entries {
                let entry = numbered(entry, number);
                self.fold_into(Stamped { at: at.min(journal::now()), entry }, &mut batch);
            }
        }
        let committed = Committed { lease, machine, sha256, games: numbers };
        records.push(SideRecord::Committed(Box::new(committed)));
        self.journal.append_with(batch, records);
        self.journal.sink().when_kept(kept);
        pairings.into_iter().zip(draws).for_each(|(pairing, draws)| self.return_draw(pairing, draws));
    }

    /// Tells the machines that no further pair begins, once.
    fn stop_machines(&mut self) {
        if self.agenda.standings.verdict().is_some() || !self.goes_on() {
            self.away.iter_mut().for_each(Away::stop);
        }
    }

    /// Says when the next round begins.
    fn tell_break(&mut self) {
        let Some(round) = self.agenda.resting().filter(|_| !self.awaits_machines()) else { return };
        let words = self.rest.words(round, self.plan.stages.len(), Instant::now());
        words.iter().for_each(|words| (self.say)(words));
    }

    /// Looks whether places have been free for long although games are left. Pairs that a machine hoards meanwhile are
    /// taken back.
    fn look_for_a_stall(&mut self) {
        if !self.is_idle() {
            return self.watchdog.calm();
        }
        let now = Instant::now();
        if !self.watchdog.is_time(now) {
            return;
        }
        let is_free = self.slots.has_free();
        self.away.iter_mut().for_each(|away| away.tell_that_others_wait(is_free));
        let Some(idle) = self.watchdog.stalled(now) else { return };
        let plays = self.plays_here() || self.awaits_machines();
        let (agenda, around) = self.parts();
        let Some(reason) = agenda.why_idle(plays, &around) else { return };
        if self.watchdog.is_due(now) {
            (self.say)(&format!(
                "no game has begun for {} s, although places are free and games are left: {reason}",
                idle.as_secs()
            ));
        }
    }

    /// Rules on games whose players have not logged in for too long.
    fn rule_absences(&mut self) {
        let Some(remote) = self.remote.clone() else { return };
        if self.operations.is_paused() {
            return self.absences.clear();
        }
        let mut absences = mem::take(&mut self.absences);
        let substitutes: HashMap<_, _> = self.operations.substitutes().into_iter().collect();
        let plan = self.plan.clone();
        let name =
            |player: PlayerId| substitutes.get(&player).unwrap_or(&plan.engines[player.index()].name).clone();
        let (agenda, around) = self.parts();
        let is_absent = |player| agenda.is_absent(player, &around);
        let (rulings, line) = absences.look(agenda.pending(), &remote, Instant::now(), is_absent, name);
        self.absences = absences;
        line.iter().for_each(|line| (self.say)(line));
        rulings.iter().for_each(|ruling| self.settle(ruling, &name, remote.wait));
    }

    /// Ends a game that never began.
    fn settle(&mut self, ruling: &Ruling, name: &impl Fn(PlayerId) -> String, wait: Duration) {
        let Ruling { pairing, outcome, absent } = *ruling;
        self.agenda.drop_pending(&pairing);
        let missing = [pairing.black, pairing.white].into_iter().zip(absent).filter(|(_, absent)| *absent);
        let words = |(player, _)| format!("{} did not log in within {} s", name(player), wait.as_secs());
        let evidence = missing.map(words).collect::<Vec<_>>().join("; ");
        self.end_unplayed(pairing, outcome, evidence);
    }

    /// Records the end of a game that never began.
    fn end_unplayed(&mut self, pairing: Pairing, outcome: Outcome, evidence: String) {
        let game = self.number();
        let ended = GameEnded { evidence, ..GameEnded::new(game, pairing, outcome, 0) };
        self.happened(Entry::GameEnded(ended));
    }

    /// The number of a new game.
    fn number(&mut self) -> GameId {
        let game = self.next_game;
        self.next_game = GameId(game.0 + 1);
        game
    }

    /// A game as it is to be played, and whether its clocks are those of a game before it: one that was adjourned, or a draw.
    fn fixture(&mut self, game: GameId, pairing: Pairing) -> (Fixture, bool) {
        let plan = self.plan.clone();
        let engines = [pairing.black, pairing.white].map(|player| &plan.engines[player.index()]);
        let times = self.plan.times(&pairing);
        let opening = self.openings.pick(pairing.opening);
        let mut setup = Setup {
            game,
            rules: self.plan.rules,
            adjudication: self.plan.adjudication,
            scales: self.plan.scales(&pairing),
            times,
            start: opening.start.clone(),
            opening: opening.moves.clone(),
            scores: vec![],
            hears: engines.map(|engine| engine.remote),
            may_reject: pairing.attempt < REJECTIONS,
            seed: pairing.seed(plan.seed),
        };
        let draws = self.agenda.standings.replays(&pairing);
        let options = self.options(&pairing);
        let has_joined = |player: PlayerId| player.index() >= self.began_with;
        let tells_times = times != engines.map(|engine| engine.time)
            || has_joined(pairing.black)
            || has_joined(pairing.white);
        let is_played_on = self.play_on(&pairing, &mut setup) || self.take_clocks_over(&pairing, &mut setup);
        // Who follows the event since its start does not know the clocks of newcomers.
        let tells_times = is_played_on || tells_times;
        (
            Fixture { setup, pairing, draws, replay: self.plan.replay_draws, tells_times, options },
            is_played_on,
        )
    }

    /// Options of its own that the engines of a game are given, black first.
    fn options(&self, pairing: &Pairing) -> [GameOptions; 2] {
        self.steering.as_ref().map(|steering| steering.options(pairing)).unwrap_or_default()
    }

    /// Sets an adjourned game up with its position and its clocks; false for every other game.
    fn play_on(&mut self, pairing: &Pairing, setup: &mut Setup) -> bool {
        let (agenda, around) = self.parts();
        if !agenda.may_be_played_on(pairing, &around) {
            return false;
        }
        let game = setup.game.0;
        // The games before it at its place have to be on the disk as well as the operations: another one may have gone on
        // from the adjourned game since.
        let found = self.await_disk().map_err(str::to_owned).and_then(|()| {
            let stated = |game| self.operations.in_force(|in_force| in_force.clocks(game));
            let found = adjourned::play_on(&self.plan.database, self.journal.event(), pairing, setup, stated);
            found.map_err(|error| error.to_string())
        });
        found.unwrap_or_else(|why| {
            (self.say)(&format!("game {game} begins from its opening, not where it was adjourned: {why}"));
            false
        })
    }

    /// Gives the players of a replayed draw the time that it left them; false for every other game.
    fn take_clocks_over(&mut self, pairing: &Pairing, setup: &mut Setup) -> bool {
        if !self.agenda.carries_clocks(pairing) {
            return false;
        }
        let game = setup.game.0;
        let found = self.await_disk().map_err(str::to_owned).and_then(|()| {
            let plan = self.plan.clone();
            let found =
                adjourned::take_clocks_over(&plan.database, self.journal.event(), pairing, setup, &plan);
            found.map_err(|error| error.to_string())
        });
        found.unwrap_or_else(|why| {
            (self.say)(&format!(
                "game {game} begins with full clocks, not with those of the draw before it: {why}"
            ));
            false
        })
    }

    /// Waits until everything so far is on the disk.
    pub(crate) fn await_disk(&self) -> Result<(), &'static str> {
        let (kept, answer) = mpsc::channel();
        self.journal.sink().when_kept(Box::new(move || {
            let _waits_no_more = kept.send(());
        }));
        answer.recv_timeout(DISK).map_err(|_| "the database does not answer")
    }

    fn seat(&mut self, worker: usize, pairing: Pairing) {
        let game = self.number();
        let (fixture, is_played_on) = self.fixture(game, pairing);
        // Such a game keeps the clocks that it had here.
        let scale = self.away.as_ref().filter(|_| !is_played_on).map_or(Scale::ONE, Away::scale_here);
        let fixture = fixture.scaled(scale);
        option_records(game, &fixture.options).for_each(|record| self.journal.sink().keep(record));
        let draws = fixture.draws;
        self.agenda.running.insert(game, pairing);
        self.watchdog.calm();
        self.away.iter_mut().for_each(|away| away.begins_here(game));
        if !self.slots.play(worker, fixture) {
            let outcome = Err(Unplayed::NoWorker);
            let over = Over { worker, game, pairing, draws, started: None, ended: None, outcome };
            let _ours = self.notes.send(Note::Over(Box::new(over)));
        }
    }
}

/// What is kept of the options of a game's own.
fn option_records(game: GameId, options: &[GameOptions; 2]) -> impl Iterator<Item = SideRecord> {
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

/// The head of the event with the engines that it is known to have; places that were given to substitutes have their names.
fn opened(plan: &Plan, known: usize, substitutes: Vec<(PlayerId, String)>, resumed: bool) -> Entry {
    let mut players: Vec<String> =
        plan.engines.iter().take(known).map(|engine| engine.name.clone()).collect();
    for (player, substitute) in substitutes {
        players.get_mut(player.index()).into_iter().for_each(|name| name.clone_from(&substitute));
    }
    Entry::Opened(Opened { name: plan.name.clone(), players, format: plan.format_words(), resumed })
}

/// The engines by player; `None` for one that is not started here.
fn by_player(plan: &Plan, engines: Vec<Engine>) -> Arc<[Option<Arc<Engine>>]> {
    let mut engines = engines.into_iter().map(Arc::new);
    let of = |engine: &EnginePlan| if plan.starts(engine) { engines.next() } else { None };
    plan.engines.iter().map(of).collect()
}

/// A halt in words: which engine, and why.
pub fn halt_words(plan: &Plan, halt: &Halt) -> String {
    let name = plan.engines.get(halt.player.index()).map_or("?", |engine| &engine.name);
    format!("engine `{name}` is halted: {halt}")
}

/// The openings of a plan in its order.
pub fn in_order(lines: Vec<referee::opening::Opening>, plan: &Plan) -> Openings {
    let random = plan.openings.as_ref().is_some_and(|openings| openings.order == OpeningOrder::Random);
    Openings::new(lines, random.then_some(plan.seed))
}

#[cfg(test)]
#[path = "adjourned_tests.rs"]
mod adjourned_tests;
#[cfg(test)]
#[path = "away_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "world_tests.rs"]
mod world_tests;
