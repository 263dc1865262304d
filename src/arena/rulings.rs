//! The operator's orders about games of an event: the dispatcher carries them out, as it alone knows what follows from a
//! result.

use crate::{
    away::Away,
    dispatcher::Dispatcher,
    operations::{Asked, Done, GameOrder, Intervention, request::DROPPED_BEFORE},
};
use journal::{GameRow, Store, StoreError};
use notation::printable;
use referee::{AbortBy, Outcome, entry::GameId, operation::Action, schedule::Pairing};

/// The outcome of a game that is adjourned.
const STOPPED: Outcome = Outcome::Aborted { by: AbortBy::Stopped };

/// Who has dropped a machine that hinders the event.
const MANAGER: &str = "renmei";

/// A game that is over.
struct Past {
    game: GameId,
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
    pub(crate) fn asked(&mut self, asked: Asked) {
        let game = match asked.order {
            GameOrder::Drop(ref machine) => {
                let done = self.drop_machine(&asked, machine);
                return asked.answer(done);
            }
            GameOrder::Readmit(ref machine) => {
                let done = self.readmit_machine(&asked, machine);
                return asked.answer(done);
            }
            GameOrder::PlayOn(game) => {
                let done = self.release(&asked, game, Action::PlayedOn { game });
                return asked.answer(done);
            }
            GameOrder::Replay(game) if self.operations.is_held(game) => {
                let done = self.release(&asked, game, Action::Restarted { game });
                return asked.answer(done);
            }
            GameOrder::Adjourn(game, _)
            | GameOrder::Rule(game, _)
            | GameOrder::Replay(game)
            | GameOrder::Appeal(game)
            | GameOrder::TakeBack(game, _) => game,
        };
        if self.agenda.running.contains_key(&game) {
            return self.intervene(game, asked);
        }
        let done = self.past(game).and_then(|past| self.correct(&asked, &past));
        asked.answer(done);
    }

    fn intervene(&mut self, game: GameId, asked: Asked) {
        let outcome = match asked.order {
            GameOrder::Adjourn(..) => STOPPED,
            GameOrder::Rule(_, outcome) => outcome,
            GameOrder::Appeal(_) => {
                let why = format!("game {} is still running: appeal when it is over", game.0);
                return asked.answer(Err(why));
            }
            GameOrder::Replay(_)
            | GameOrder::PlayOn(_)
            | GameOrder::TakeBack(..)
            | GameOrder::Drop(_)
            | GameOrder::Readmit(_) => {
                return asked.answer(Err(format!(
                    "game {} is still running; `adjourn --hold` ends it, then `replay` plays it again",
                    game.0
                )));
            }
        };
        let text = format!("the operator, {}", asked.words());
        if self.orders.contains_key(&game) {
            asked.answer(Err(format!("game {} is just being ended by another order", game.0)));
        } else if self.operations.interventions().send(game, Intervention { outcome, text }) {
            self.orders.insert(game, asked);
        } else {
            asked.answer(Err(format!("game {} is only being set up: ask again in a moment", game.0)));
        }
    }

    /// Records the order that a game has carried out; its end is recorded. A game may have ended by itself just before.
    pub(crate) fn carried_out(&mut self, game: GameId, pairing: &Pairing, outcome: Option<Outcome>) {
        let Some(asked) = self.orders.remove(&game) else { return };
        let done = match (&asked.order, outcome) {
            (_, None) => Err(format!("game {} could not be played at all", game.0)),
            (&GameOrder::Adjourn(_, hold), Some(STOPPED)) => {
                let held = hold.then_some(*pairing);
                let number = self.operated(&asked, None, Action::Adjourned { game, held });
                let again = match (hold, self.operations.is_paused()) {
                    (true, _) => "when `play-on` says so",
                    (false, true) => "when the event is resumed",
                    (false, false) => "at once",
                };
                let text = format!("adjourned game {}; it is played on from its position {again}", game.0);
                Ok(Done { number, text })
            }
            (GameOrder::Rule(_, ruled), Some(outcome)) if *ruled == outcome => {
                let action = Action::Ruled { game, pairing: *pairing, was: None, outcome };
                let text = action.to_string();
                Ok(Done { number: self.operated(&asked, None, action), text })
            }
            (GameOrder::Rule(..), Some(outcome)) => {
                self.correct(&asked, &Past { game, pairing: *pairing, outcome })
            }
            (_, Some(outcome)) => Err(format!("game {} ended by itself meanwhile: {outcome}", game.0)),
        };
        asked.answer(done);
    }

    /// Changes what a game counts as that is over.
    fn correct(&mut self, asked: &Asked, past: &Past) -> Result<Done, String> {
        let Past { game, pairing, outcome: was } = *past;
        let (undoes, action) = match asked.order {
            GameOrder::Rule(..) if self.operations.is_held(game) => {
                return Err(format!("game {} is adjourned: play it on, and rule on it then", game.0));
            }
            GameOrder::Adjourn(..) | GameOrder::PlayOn(_) | GameOrder::Drop(_) | GameOrder::Readmit(_) => {
                return Err(format!("game {} is over: {was}", game.0));
            }
            GameOrder::Rule(_, outcome) if outcome == was => {
                return Err(format!("game {} has that result already", game.0));
            }
            GameOrder::Rule(_, outcome) => (None, Action::Ruled { game, pairing, was: Some(was), outcome }),
            GameOrder::Replay(_) => (None, Action::Replayed { game, pairing, was }),
            GameOrder::Appeal(_) => {
                let action = Action::Appealed { game, was };
                let text = action.to_string();
                return Ok(Done { number: self.operated(asked, None, action), text });
            }
            GameOrder::TakeBack(_, number) => (Some(number), self.operations.inverse(number)?),
        };
        let is_left_out = was.is_left_out() && matches!(action, Action::Ruled { .. });
        if !was.counts() && !is_left_out {
            return Err(format!("game {} does not count ({was}); the game played in its place does", game.0));
        }
        self.may_change(&pairing).map_err(|why| format!("game {} stays as it is: {why}", game.0))?;
        let text = action.to_string();
        let replays = matches!(action, Action::Replayed { .. });
        let number = self.operated(asked, undoes, action);
        if replays {
            self.agenda.reopened(pairing);
        }
        self.operations.tell(&format!("##[OPERATOR] {text}\n"));
        Ok(Done { number, text })
    }

    /// Lets an adjourned game begin that waited for the operator.
    fn release(&mut self, asked: &Asked, game: GameId, action: Action) -> Result<Done, String> {
        if !self.operations.is_held(game) {
            return Err(format!("game {} does not wait to be played on; `list` shows those that do", game.0));
        }
        let text = action.to_string();
        Ok(Done { number: self.operated(asked, None, action), text })
    }

    /// Gives a machine no more games, from now on and in later runs; what it has is lost.
    fn drop_machine(&mut self, asked: &Asked, machine: &str) -> Result<Done, String> {
        if self.operations.dropped_machines().iter().any(|(name, _)| name == machine) {
            return Err(format!("`{}` {DROPPED_BEFORE}", printable(machine.as_bytes())));
        }
        let has_played = Store::read(&self.plan.database)
            .and_then(|store| store.has_machine(self.journal.event(), machine))
            .map_err(|error| error.to_string())?;
        let is_known = self.away.as_ref().is_some_and(|away| away.desk.knows(machine));
        if !has_played && !is_known {
            let shown = printable(machine.as_bytes());
            return Err(format!("no machine `{shown}` has a part in this event; `renmei report` lists them"));
        }
        let action = Action::MachineDropped { machine: machine.to_owned() };
        let text = action.to_string();
        let number = self.operated(asked, None, action);
        self.away.iter_mut().for_each(|away| away.desk.bar(machine, &asked.reason));
        Ok(Done { number, text })
    }

    /// Drops a machine that hinders the event, by the manager's own order. The games that it has played stay.
    pub(crate) fn drop_hindering(&mut self, machine: &str, why: &str) {
        if self.operations.dropped_machines().iter().any(|(name, _)| name == machine) {
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

    /// Lets a machine that was dropped join again, now and in later runs.
    fn readmit_machine(&mut self, asked: &Asked, machine: &str) -> Result<Done, String> {
        if !self.operations.dropped_machines().iter().any(|(name, _)| name == machine) {
            let shown = printable(machine.as_bytes());
            return Err(format!("no machine `{shown}` is dropped; `list` shows those that are"));
        }
        let action = Action::MachineReadmitted { machine: machine.to_owned() };
        let text = action.to_string();
        let number = self.operated(asked, None, action);
        self.away.iter_mut().for_each(|away| away.desk.readmit(machine));
        Ok(Done { number, text })
    }

    /// Whether nothing follows from the result at this place yet that would have to be undone.
    fn may_change(&self, pairing: &Pairing) -> Result<(), String> {
        if let Some(why) = self.agenda.standings.settled(pairing) {
            return Err(why);
        }
        let follows = |other: &&Pairing| (other.stage, other.round) > (pairing.stage, pairing.round);
        let away = self.away.iter().flat_map(Away::games);
        let handed_out = self.agenda.running.values().chain(self.agenda.pending()).chain(away).find(follows);
        let ranked = self.plan.stages.len() > 1 || self.agenda.standings.follows_results(pairing);
        match handed_out.filter(|_| ranked) {
            Some(other) => Err(format!("round {} is paired already", other.round)),
            None => Ok(()),
        }
    }

    /// Records an operation in the order in which this dispatcher folds entries.
    fn operated(&mut self, asked: &Asked, undoes: Option<u64>, action: Action) -> u64 {
        let operations = self.operations.clone();
        operations.record_by(&asked.by, &asked.reason, undoes, action, |entry| self.happened(entry))
    }

    fn past(&self, game: GameId) -> Result<Past, String> {
        let found = self.row(game).map_err(|error| error.to_string())?;
        let row = found.ok_or_else(|| format!("there is no game {} in this event", game.0))?;
        match row.outcome {
            Some(_) if row.replayed => Err(format!("game {} does not count: it is played again", game.0)),
            Some(outcome) => Ok(Past { game, pairing: row.pairing, outcome }),
            None => Err(format!("game {} has only just ended: ask again in a moment", game.0)),
        }
    }

    fn row(&self, game: GameId) -> Result<Option<GameRow>, StoreError> {
        let found = Store::read(&self.plan.database)?.game(self.journal.event(), game)?;
        Ok(found.map(|found| found.row))
    }
}
