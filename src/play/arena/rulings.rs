//! The operator's orders about games of an event: the dispatcher carries them out, as it alone knows what follows from a
//! result.

use crate::{
    arbitration::{Bench, Past},
    away::Away,
    dispatcher::Dispatcher,
    operations::{Asked, Done, Intervention, command::Command},
};
use contest::schedule::Pairing;
use journal::{EventId, FullGame, Store, StoreError};
use notation::printable;
use plan::time_text;
use referee::{
    AbortBy, Color, Outcome,
    entry::GameId,
    operation::{Action, InForce, NamedGame},
};
use std::{path::Path, time::Duration};
use words::{Message, refuse};

/// The outcome of a game that is adjourned.
const STOPPED: Outcome = Outcome::Aborted { by: AbortBy::Stopped };

/// Least and most time that the operator can give a player of an adjourned game.
const STATED: std::ops::RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(3_600_000);

/// Who has dropped a machine that hinders the event.
const MANAGER: &str = "renmei";

impl Dispatcher<'_> {
    /// Tells that the operator has paused the event, or resumed it.
    pub(crate) fn tell_pause(&self) {
        match self.operations.is_paused() {
            true => (self.say)(&format!(
                "the operator has paused `{}`: no new game begins until `{}`",
                self.plan.name,
                Command::line(&self.plan.database, &self.plan.name, "resume")
            )),
            false => (self.say)(&format!("`{}` is not paused any more", self.plan.name)),
        }
    }

    /// Carries out an order, or passes it to the running game that it is about.
    pub(crate) fn asked(&mut self, mut asked: Asked) {
        let game = asked.game;
        let done = match &asked.order {
            Command::DropMachine { machine } => self.drop_machine(&asked, machine.trim()),
            Command::ReadmitMachine { machine } => self.readmit_machine(&asked, machine.trim()),
            Command::Penalty { .. }
            | Command::Disqualify { .. }
            | Command::Place { .. }
            | Command::Withdraw { .. }
            | Command::Return { .. }
            | Command::Pair { .. }
            | Command::Bye { .. } => {
                let action = self.bench().about_player(&asked);
                action.map(|action| self.decided(&asked, None, action))
            }
            Command::Reload => self.take_in(&mut asked),
            Command::Undo { number } if game == GameId(0) => {
                let action = self.bench().back(*number);
                action.map(|action| self.decided(&asked, Some(*number), action))
            }
            Command::PlayOn { .. } => self.release(&asked, |game| Action::PlayedOn { game }),
            Command::Clock { color, left, .. } => self.set_clock(&asked, *color, left.trim()),
            Command::Replay { .. } if self.operations.is_held(game) => {
                self.release(&asked, |game| Action::Restarted { game })
            }
            _ if let Some(&pairing) = self.agenda.running.get(&game) => match &asked.order {
                Command::Adjourn { .. } if let Err(why) = self.bench().is_still_played(&pairing) => Err(why),
                _ => return self.intervene(asked),
            },
            _ => self.past(game).and_then(|past| {
                let done = self.correct(&asked, past);
                done.map_err(|why| self.operations.about(&why, game, &past.pairing, past.outcome))
            }),
        };
        asked.answer(done);
    }

    fn intervene(&mut self, asked: Asked) {
        let game = asked.game;
        let outcome = match asked.order {
            Command::Adjourn { .. } => STOPPED,
            Command::Rule { result, .. } => result.outcome(),
            Command::Appeal { .. } => return asked.answer(refuse(|words| words.still_running(game.0))),
            _ => return asked.answer(refuse(|words| words.replay_needs_end(game.0))),
        };
        let text = format!("the operator, {}", asked.words());
        if self.orders.contains_key(&game) {
            asked.answer(refuse(|words| words.ended_by_another_order(game.0)));
        } else if self.operations.interventions().send(game, Intervention { outcome, text }) {
            self.orders.insert(game, asked);
        } else {
            asked.answer(refuse(|words| words.being_set_up(game.0)));
        }
    }

    /// Records the order that a game has carried out; its end is recorded. A game may have ended by itself just before.
    pub(crate) fn carried_out(&mut self, game: GameId, pairing: &Pairing, outcome: Option<Outcome>) {
        let Some(asked) = self.orders.remove(&game) else { return };
        let named = self.operations.named(game, pairing);
        let done = match (&asked.order, outcome) {
            (_, None) => refuse(|words| words.could_not_be_played(game.0)),
            (&Command::Adjourn { hold, .. }, Some(STOPPED)) => {
                let held = hold.then_some(*pairing);
                let done = self.done(&asked, None, Action::Adjourned { game: named, held });
                let again = match (hold, self.operations.is_paused()) {
                    (true, _) => "when `play-on` says so",
                    (false, true) => "when the event is resumed",
                    (false, false) => "at once",
                };
                Ok(Done { text: format!("{}; it is played on from its position {again}", done.text), ..done })
            }
            (Command::Rule { result, .. }, Some(outcome)) if result.outcome() == outcome => Ok(self.done(
                &asked,
                None,
                Action::Ruled { game: named, pairing: *pairing, was: None, outcome },
            )),
            (Command::Rule { .. }, Some(outcome)) => {
                self.correct(&asked, Past { pairing: *pairing, outcome })
            }
            (_, Some(outcome)) => refuse(|words| words.ended_meanwhile(game.0, &words.outcome(outcome))),
        };
        asked.answer(done);
    }

    /// A game that is over, after everything that was decided so far.
    fn past(&self, game: GameId) -> Result<Past, Message> {
        // The order before this one may still be on its way to the disk.
        self.await_disk().map_err(|why| Message::of(|_| why.to_owned()))?;
        past(&self.plan.database, self.journal.event(), game)
    }

    /// What orders are decided by now.
    pub(crate) fn bench(&self) -> Bench<'_> {
        let away = self.context.away.iter().flat_map(Away::games);
        let handed_out = self.agenda.running.values().chain(self.agenda.pending()).chain(away);
        Bench {
            stages: &self.plan.stages,
            names: self.plan.engines.iter().map(|engine| engine.name.as_str()).collect(),
            standings: &self.agenda.standings,
            operations: &self.operations,
            handed_out: Some(handed_out.copied().collect()),
        }
    }

    /// Changes what a game counts as that is over.
    fn correct(&mut self, asked: &Asked, past: Past) -> Result<Done, Message> {
        let (undoes, action) = self.bench().correction(asked, past)?;
        if matches!(action, Action::Appealed { .. }) {
            return Ok(self.done(asked, None, action));
        }
        let replays = matches!(action, Action::Replayed { .. });
        let done = self.decided(asked, undoes, action);
        if replays {
            self.agenda.reopened(past.pairing);
        }
        Ok(done)
    }

    /// Records a decision, and shows it to who is connected.
    fn decided(&mut self, asked: &Asked, undoes: Option<u64>, action: Action) -> Done {
        let (game, done) = (action.game(), self.done(asked, undoes, action));
        self.operations.tell(game, &format!("##[OPERATOR] {}\n", done.text));
        done
    }

    /// Lets an adjourned game begin that waited for the operator.
    fn release(&mut self, asked: &Asked, action: fn(NamedGame) -> Action) -> Result<Done, Message> {
        let pairing = self.held_place(asked.game)?;
        let game = self.operations.named(asked.game, &pairing);
        Ok(self.done(asked, None, action(game)))
    }

    /// The place of an adjourned game that waits for the operator.
    fn held_place(&self, game: GameId) -> Result<Pairing, Message> {
        let held = |in_force: &InForce| in_force.held().find(|(held, _)| *held == game).map(|(_, at)| *at);
        let held = self.operations.in_force(held);
        let finished = |at: &Pairing| self.agenda.standings.finished(at.stage.into());
        let is_open = |at: &Pairing| !finished(at).is_some_and(|finished| finished.contains(at.index));
        let past = self.past(game).ok();
        let stopped = past.filter(|past| past.outcome == STOPPED && is_open(&past.pairing));
        let at = held.or_else(|| stopped.map(|past| past.pairing));
        if let Some(name) = at.and_then(|at| self.bench().replaced(&at)) {
            return refuse(|words| words.given_up(game.0, &name));
        }
        held.map_or_else(|| refuse(|words| words.not_held(game.0)), Ok)
    }

    /// States the clock of a player of an adjourned game that waits.
    fn set_clock(&mut self, asked: &Asked, color: Color, left: &str) -> Result<Done, Message> {
        let game = asked.game;
        let pairing = self.held_place(game)?;
        let time = time_text::duration(left).ok().filter(|time| STATED.contains(time));
        let Some(time) = time else {
            return refuse(|words| words.not_a_time(&printable(left.as_bytes())));
        };
        let control = self.plan.times(&pairing)[color.index()];
        if control.main.is_zero() {
            return refuse(|words| words.no_clock_to_set(game.0));
        }
        let left_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        if !left_ms.is_multiple_of(control.unit_ms()) {
            return refuse(|words| words.no_whole_seconds(left));
        }
        let game = self.operations.named(game, &pairing);
        Ok(self.done(asked, None, Action::ClockSet { game, color, left_ms }))
    }

    /// Gives a machine no more games, from now on and in later runs; what it has is lost.
    fn drop_machine(&mut self, asked: &Asked, machine: &str) -> Result<Done, Message> {
        let shown = printable(machine.as_bytes());
        if self.is_dropped(machine) {
            return refuse(|words| words.machine_dropped_before(&shown));
        }
        let has_played = Store::read(&self.plan.database)
            .and_then(|store| store.has_machine(self.journal.event(), machine))
            .map_err(unreadable)?;
        let is_known = self.context.away.as_ref().is_some_and(|away| away.desk.knows(machine));
        if !has_played && !is_known {
            return refuse(|words| words.no_such_machine(&shown));
        }
        let done = self.done(asked, None, Action::MachineDropped { machine: machine.to_owned() });
        self.context.away.iter_mut().for_each(|away| away.desk.bar(machine, &asked.reason));
        Ok(done)
    }

    /// Drops a machine that hinders the event, by the manager's own order. The games that it has played stay.
    pub(crate) fn drop_hindering(&mut self, machine: &str, why: &str) {
        if self.is_dropped(machine) {
            return;
        }
        let action = Action::MachineDropped { machine: machine.to_owned() };
        let operations = self.operations.clone();
        operations.record_by(MANAGER, why, None, action, |entry| self.happened(entry));
        self.context.away.iter_mut().for_each(|away| away.desk.bar(machine, why));
        let shown = printable(machine.as_bytes());
        let readmit = Command::line(&self.plan.database, &self.plan.name, &format!("readmit {shown}"));
        (self.say)(&format!("machine `{shown}` gets no more games: {why}; `{readmit}` lets it join again"));
    }

    /// True if the operator has dropped a machine.
    pub(crate) fn is_dropped(&self, machine: &str) -> bool {
        self.operations.in_force(|in_force| in_force.dropped_machines().any(|(name, _)| name == machine))
    }

    /// Lets a machine that was dropped join again, now and in later runs.
    fn readmit_machine(&mut self, asked: &Asked, machine: &str) -> Result<Done, Message> {
        if !self.is_dropped(machine) {
            return refuse(|words| words.machine_not_dropped(&printable(machine.as_bytes())));
        }
        let done = self.done(asked, None, Action::MachineReadmitted { machine: machine.to_owned() });
        self.context.away.iter_mut().for_each(|away| away.desk.readmit(machine));
        Ok(done)
    }

    /// Records an operation in the order in which this dispatcher folds entries.
    pub(crate) fn done(&mut self, asked: &Asked, undoes: Option<u64>, action: Action) -> Done {
        let operations = self.operations.clone();
        operations.record_by(&asked.by, &asked.reason, undoes, action, |entry| self.happened(entry))
    }
}

/// A game that is over, as the database has it.
///
/// # Errors
/// When the game is not over or does not count any more, or the database cannot be read.
pub fn past(database: &Path, event: EventId, game: GameId) -> Result<Past, Message> {
    let found = Store::read(database).and_then(|store| store.game(event, game));
    let Some(FullGame { row, .. }) = found.map_err(unreadable)? else {
        return refuse(|words| words.no_game_in_event(game.0));
    };
    match row.outcome {
        Some(_) if row.replayed => refuse(|words| words.is_played_again(game.0)),
        Some(outcome) => Ok(Past { pairing: row.pairing, outcome }),
        None => refuse(|words| words.not_over(game.0)),
    }
}

/// The refusal of an order because of the database.
pub(crate) fn unreadable(error: StoreError) -> Message {
    Message::of(|_| error.to_string())
}
