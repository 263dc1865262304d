//! The dispatcher: schedule, free slot, game; and the verdict that stops the event.
//!
//! Workers report moves to the journal, and the end of a game to the dispatcher, which folds it into the standings,
//! hands it to the journal, and asks the schedule for more. Nothing downstream calls back.

mod absent;
mod admission;
mod context;
mod event;
mod fixtures;
mod machines;
mod verdict;

pub use crate::error::RunError;
pub use event::{Company, Finished, OpenEvent};

use context::DispatchContext;
use fixtures::Fixtures;
use verdict::VerdictRule;

use crate::{
    Say, Shutdown, Unplayed,
    absences::Absences,
    agenda::{Agenda, Choice, Place},
    away::Away,
    breaks::Break,
    desk::Closing,
    disk::DiskWatch,
    error::WAYS,
    identity::Engine,
    joining::own_name,
    note::{Ended, Note, Over},
    operations::{Asked, Operations},
    preflight::{self, Placement},
    slots::{Slot, Slots},
    watchdog::{self, Watchdog},
    worker::{Field, WorkerContext},
};
use contest::{fault_limit::Halt, schedule::Pairing};
use journal::{EventId, Journal};
use plan::{LogPlan, OpeningOrder, Plan};
use referee::{
    Color, Outcome,
    clock::Scale,
    entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped},
    opening::Openings,
    operation::Action,
    sink::{GameOptions, SideRecord, Sink},
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

/// Most time for remote players to receive the end of their last game, so that the transcripts are complete.
const SETTLED: Duration = Duration::from_secs(1);
/// Time between two looks at who has logged in, while games wait for remote players.
const GLANCE: Duration = Duration::from_millis(50);
/// How often is looked whether the workers have finished their last games.
const LAST_GAMES: Duration = Duration::from_millis(5);

pub(crate) struct Dispatcher<'a> {
    pub(crate) plan: Arc<Plan>,
    /// The players as the workers know them.
    pub(crate) field: Field,
    notes: Sender<Note>,
    inbox: Receiver<Note>,
    shutdown: &'a Shutdown,
    /// What is left to play.
    pub(crate) agenda: Agenda,
    pub(crate) slots: Slots,
    pub(crate) journal: Journal,
    verdict: VerdictRule,
    pub(crate) context: DispatchContext,
    fixtures: Fixtures,
    absences: Absences,
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
    watchdog: Watchdog,
}

impl<'a> Dispatcher<'a> {
    /// Starts the journal and the workers.
    fn start(event: OpenEvent<'a>, company: Company, shutdown: &'a Shutdown) -> Result<Self, RunError> {
        let plan = Arc::new(event.plan.clone());
        let mut rest = Break::new(plan.round_break.clone());
        let Company { openings, remote, machines, readers, say, disk } = company;
        let recorded = start_recorder(&plan.name, &plan.log, event.sink(), &say)?;
        let (notes, inbox) = mpsc::channel();
        let shared = WorkerContext {
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
        let slots = Slots::start(workers, claimed, event.lane, &shared)?;
        if event.standings.total().games() > 0 {
            rest.begin(Instant::now(), journal::now());
        }
        words.iter().for_each(|words| say(words));
        let (steering, away) = (event.steering, machines.map(Away::new));
        Ok(Self {
            field: shared.field.clone(),
            notes,
            inbox,
            shutdown,
            agenda: Agenda::new(plan.clone(), event.standings, !slots.is_empty()),
            fixtures: Fixtures::new(openings, &plan, next_game),
            plan,
            slots,
            journal,
            verdict: event.verdict,
            context: DispatchContext { operations: operations.clone(), steering, remote, away, rest },
            absences: Absences::default(),
            failed: false,
            told: false,
            replaced: false,
            say,
            disk,
            recorded,
            operations,
            orders: HashMap::new(),
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

    /// True if the event waits for players, for a place, or for the operator, who has paused it.
    fn is_waiting(&self) -> bool {
        self.agenda.is_waiting() || self.operations.is_paused() || self.slots.waits_for_turn()
    }

    /// True if new games begin.
    pub(crate) fn goes_on(&self) -> bool {
        !self.shutdown.is_finishing()
    }

    /// True if a place is free and new games may begin.
    fn is_idle(&self) -> bool {
        let may_begin = self.goes_on() && !self.operations.is_paused() && !self.disk.is_low();
        may_begin
            && !self.slots.waits_for_turn()
            && (self.slots.has_free() || self.context.has_places_elsewhere())
    }

    /// The next note; `None` when it is time to look again at who has logged in, at the disk, or at free places.
    fn next_note(&self) -> Option<Note> {
        let until = match () {
            () if self.context.remote.is_some() || self.disk.is_low() => GLANCE,
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
        let is_done = self.agenda.is_done();
        let halted = !is_done && self.goes_on() && !self.agenda.standings.halts().is_empty();
        let interrupted = !is_done && !halted;
        if interrupted && self.goes_on() {
            let why =
                self.agenda.why_idle(false, &self.context).unwrap_or_else(|| "no game can begin".to_owned());
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
        if let Some(away) = self.context.away.take() {
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
        if let Some(remote) = &self.context.remote {
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
        if let Some(line) = self.context.steering.as_mut().and_then(|steering| steering.fold(&stamped.entry))
        {
            (self.say)(&line);
        }
        if matches!(stamped.entry, Entry::GameEnded(_)) {
            self.context.rest.begin(Instant::now(), journal::now());
        }
        let ended = matches!(stamped.entry, Entry::GameEnded(_) | Entry::Operator(_));
        batch.push(stamped);
        let at = journal::now();
        for halt in self.agenda.standings.halts().get(halts..).unwrap_or_default() {
            let text = format!("{}; no further game of it begins", halt_words(&self.plan, halt));
            batch.push(Stamped { at, entry: Entry::Fault { player: Some(halt.player), text } });
        }
        if let Some(entry) = ended.then(|| self.verdict.reached(&self.agenda.standings)).flatten() {
            self.fold_into(Stamped { at, entry }, batch);
        }
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
        self.context.away.iter_mut().for_each(|away| away.ended_here(game));
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
                Slot::Full if self.context.has_places_elsewhere() => self.send_away(),
                // Machines may come as long as there is a game to play.
                Slot::Full if self.context.away.is_some() => return self.hold_back(),
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
            match self.agenda.next(place, &self.context) {
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

    /// Says when the next round begins.
    fn tell_break(&mut self) {
        let Some(round) = self.agenda.resting().filter(|_| !self.awaits_machines()) else { return };
        let words = self.context.rest.words(round, self.plan.stages.len(), Instant::now());
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
        self.context.away.iter_mut().for_each(|away| away.tell_that_others_wait(is_free));
        let Some(idle) = self.watchdog.stalled(now) else { return };
        let plays = self.plays_here() || self.awaits_machines();
        let Some(reason) = self.agenda.why_idle(plays, &self.context) else { return };
        if self.watchdog.is_due(now) {
            (self.say)(&format!(
                "no game has begun for {} s, although places are free and games are left: {reason}",
                idle.as_secs()
            ));
        }
    }

    fn seat(&mut self, worker: usize, pairing: Pairing) {
        let game = self.fixtures.number();
        let (fixture, is_played_on) = self.fixture(game, pairing);
        // Such a game keeps the clocks that it had here.
        let scale = self.context.away.as_ref().filter(|_| !is_played_on).map_or(Scale::ONE, Away::scale_here);
        let fixture = fixture.scaled(scale);
        option_records(game, &fixture.options).for_each(|record| self.journal.sink().keep(record));
        let draws = fixture.draws;
        self.agenda.running.insert(game, pairing);
        self.watchdog.calm();
        self.context.away.iter_mut().for_each(|away| away.begins_here(game));
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
