//! The operator's orders about games of an event: the dispatcher carries them out, as it alone knows what follows from a
//! result.

use crate::{
    away::Away,
    dispatcher::Dispatcher,
    operations::{Asked, Done, Intervention, command::Command},
};
use contest::schedule::Pairing;
use journal::{FullGame, Store, StoreError};
use notation::printable;
use plan::time_text;
use referee::{
    AbortBy, Color, Outcome,
    entry::{GameId, PlayerId},
    operation::{Action, InForce, NamedGame},
};
use std::time::Duration;
use words::{Message, refuse};

/// The outcome of a game that is adjourned.
const STOPPED: Outcome = Outcome::Aborted { by: AbortBy::Stopped };

/// Least and most time that the operator can give a player of an adjourned game.
const STATED: std::ops::RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(3_600_000);

/// Who has dropped a machine that hinders the event.
const MANAGER: &str = "renmei";

/// A game that is over.
#[derive(Clone, Copy)]
struct Past {
    pairing: Pairing,
    outcome: Outcome,
}

impl Dispatcher<'_> {
    /// Tells that the operator has paused the event, or resumed it.
    pub(crate) fn tell_pause(&self) {
        match self.operations.is_paused() {
            true => (self.say)(&format!(
                "the operator has paused `{}`: no new game begins until `renmei admin {} resume`",
                self.plan.name,
                self.plan.database.display()
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
            | Command::Withdraw { .. }
            | Command::Return { .. }
            | Command::Pair { .. } => self.arbitrate(&asked),
            Command::Reload => self.take_in(&mut asked),
            Command::Undo { number } if game == GameId(0) => self.take_decision_back(&asked, *number),
            Command::PlayOn { .. } => self.release(&asked, |game| Action::PlayedOn { game }),
            Command::Clock { color, left, .. } => self.set_clock(&asked, (*color).into(), left.trim()),
            Command::Replay { .. } if self.operations.is_held(game) => {
                self.release(&asked, |game| Action::Restarted { game })
            }
            _ if self.agenda.running.contains_key(&game) => return self.intervene(asked),
            _ => self.past(game).and_then(|past| {
                let done = self.correct(&asked, &past);
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
                let text = format!("adjourned {named}; it is played on from its position");
                let number = self.operated(&asked, None, Action::Adjourned { game: named, held });
                let again = match (hold, self.operations.is_paused()) {
                    (true, _) => "when `play-on` says so",
                    (false, true) => "when the event is resumed",
                    (false, false) => "at once",
                };
                Ok(Done { number, text: format!("{text} {again}") })
            }
            (Command::Rule { result, .. }, Some(outcome)) if result.outcome() == outcome => Ok(self.done(
                &asked,
                None,
                Action::Ruled { game: named, pairing: *pairing, was: None, outcome },
            )),
            (Command::Rule { .. }, Some(outcome)) => {
                self.correct(&asked, &Past { pairing: *pairing, outcome })
            }
            (_, Some(outcome)) => refuse(|words| words.ended_meanwhile(game.0, &words.outcome(outcome))),
        };
        asked.answer(done);
    }

    /// Changes what a game counts as that is over.
    fn correct(&mut self, asked: &Asked, past: &Past) -> Result<Done, Message> {
        let (Past { pairing, outcome: was }, game) = (*past, asked.game);
        if matches!(asked.order, Command::Rule { .. }) && self.operations.is_held(game) {
            return refuse(|words| words.rule_when_played_on(game.0));
        }
        let (undoes, action) = asked.correction(&self.operations, pairing, was)?;
        if matches!(action, Action::Appealed { .. }) {
            return Ok(self.done(asked, None, action));
        }
        let is_left_out = was.is_left_out() && matches!(action, Action::Ruled { .. });
        if !was.counts() && !is_left_out {
            return refuse(|words| words.another_counts(game.0, &words.outcome(was)));
        }
        if let Some(why) = self.forbids_change(&pairing) {
            return refuse(|words| words.stays_as_it_is(game.0, why.text(words)));
        }
        let replays = matches!(action, Action::Replayed { .. });
        let replaced = |player: &PlayerId| self.agenda.standings.is_replaced(*player);
        if let Some(player) = [pairing.black, pairing.white].into_iter().find(replaced).filter(|_| replays) {
            return refuse(|words| words.player_is_replaced(&printable(self.name_of(player).as_bytes())));
        }
        let done = self.done(asked, undoes, action);
        if replays {
            self.agenda.reopened(pairing);
        }
        self.operations.tell(&format!("##[OPERATOR] {}\n", done.text));
        Ok(done)
    }

    /// Lets an adjourned game begin that waited for the operator.
    fn release(&mut self, asked: &Asked, action: fn(NamedGame) -> Action) -> Result<Done, Message> {
        let Some(pairing) = self.held_place(asked.game) else {
            return refuse(|words| words.not_held(asked.game.0));
        };
        let game = self.operations.named(asked.game, &pairing);
        Ok(self.done(asked, None, action(game)))
    }

    /// The place of an adjourned game that waits for the operator.
    fn held_place(&self, game: GameId) -> Option<Pairing> {
        let held = |in_force: &InForce| in_force.held().find(|(held, _)| *held == game).map(|(_, at)| *at);
        self.operations.in_force(held)
    }

    /// States the clock of a player of an adjourned game that waits.
    fn set_clock(&mut self, asked: &Asked, color: Color, left: &str) -> Result<Done, Message> {
        let game = asked.game;
        let Some(pairing) = self.held_place(game) else {
            return refuse(|words| words.not_held(game.0));
        };
        let time = time_text::duration(left).ok().filter(|time| STATED.contains(time));
        let Some(time) = time else {
            return refuse(|words| words.not_a_time(&printable(left.as_bytes())));
        };
        if self.plan.times(&pairing)[color.index()].main.is_zero() {
            return refuse(|words| words.no_clock_to_set(game.0));
        }
        let left_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
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
        let is_known = self.away.as_ref().is_some_and(|away| away.desk.knows(machine));
        if !has_played && !is_known {
            return refuse(|words| words.no_such_machine(&shown));
        }
        let done = self.done(asked, None, Action::MachineDropped { machine: machine.to_owned() });
        self.away.iter_mut().for_each(|away| away.desk.bar(machine, &asked.reason));
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
        self.away.iter_mut().for_each(|away| away.desk.bar(machine, why));
        let (shown, database) = (printable(machine.as_bytes()), self.plan.database.display().to_string());
        (self.say)(&format!(
            "machine `{shown}` gets no more games: {why}; `renmei admin {database} readmit {shown}` lets it join again"
        ));
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
        self.away.iter_mut().for_each(|away| away.desk.readmit(machine));
        Ok(done)
    }

    /// What follows from the result at this place and would have to be undone, if anything does yet.
    fn forbids_change(&self, pairing: &Pairing) -> Option<Message> {
        if let Some(why) = self.agenda.standings.settled(pairing) {
            return Some(Message::of(|words| words.settled(why)));
        }
        let follows = |other: &&Pairing| (other.stage, other.round) > (pairing.stage, pairing.round);
        let away = self.away.iter().flat_map(Away::games);
        let handed_out = self.agenda.running.values().chain(self.agenda.pending()).chain(away).find(follows);
        let ranked = self.plan.stages.len() > 1 || self.agenda.standings.follows_results(pairing);
        let other = handed_out.filter(|_| ranked)?;
        Some(Message::of(|words| words.round_is_paired(other.round)))
    }

    /// Records an operation in the order in which this dispatcher folds entries.
    fn operated(&mut self, asked: &Asked, undoes: Option<u64>, action: Action) -> u64 {
        let operations = self.operations.clone();
        operations.record_by(&asked.by, &asked.reason, undoes, action, |entry| self.happened(entry))
    }

    pub(crate) fn done(&mut self, asked: &Asked, undoes: Option<u64>, action: Action) -> Done {
        let text = action.to_string();
        Done { number: self.operated(asked, undoes, action), text }
    }

    fn past(&self, game: GameId) -> Result<Past, Message> {
        let found = Store::read(&self.plan.database).and_then(|store| store.game(self.journal.event(), game));
        let Some(FullGame { row, .. }) = found.map_err(unreadable)? else {
            return refuse(|words| words.no_game_in_event(game.0));
        };
        match row.outcome {
            Some(_) if row.replayed => refuse(|words| words.is_played_again(game.0)),
            Some(outcome) => Ok(Past { pairing: row.pairing, outcome }),
            None => refuse(|words| words.just_ended(game.0)),
        }
    }
}

/// The refusal of an order because of the database.
fn unreadable(error: StoreError) -> Message {
    Message::of(|_| error.to_string())
}
