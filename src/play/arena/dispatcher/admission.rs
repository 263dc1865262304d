//! Has engines join that are added to the file of a running event.

use super::Dispatcher;
use crate::{
    joining::{Newcomer, forbidden, own_name},
    operations::{Asked, Done},
};
use contest::schedule::Pairing;
use journal::now;
use notation::printable;
use plan::{EnginePlan, Plan, StoredPlan};
use referee::{
    entry::{Entry, PlayerId, Stamped},
    identity::Identity,
    operation::Action,
    sink::SideRecord,
};
use std::{mem, sync::Arc};
use words::{Language, Message, refuse};

impl Dispatcher<'_> {
    /// Has the engines of a reloaded file join.
    pub(crate) fn take_in(&mut self, asked: &mut Asked) -> Result<Done, Message> {
        let newcomers = mem::take(&mut asked.newcomers);
        if !self.goes_on() {
            return refuse(Language::event_is_stopping);
        }
        // A round may have been paired while the newcomers were tried.
        if let Some(why) = forbidden(&self.plan, self.agenda.standings.now() > (0, 0)) {
            return refuse(|_| why);
        }
        for Newcomer { engine, facts, .. } in &newcomers {
            if self.plan.engines.iter().any(|known| known.name == engine.name) {
                return refuse(|words| words.engine_plays_already(&printable(engine.name.as_bytes())));
            }
            if self.slots.cores.is_some_and(|cores| facts.cores > cores as f64) {
                return refuse(|words| words.engine_needs_cores(&printable(engine.name.as_bytes())));
            }
        }
        let mut done: Option<Done> = None;
        for newcomer in newcomers {
            let joined = self.admit(newcomer, (&asked.by, &asked.reason));
            done = Some(match done {
                None => joined,
                Some(before) => {
                    Done { number: joined.number, text: format!("{}; {}", before.text, joined.text) }
                }
            });
        }
        done.map_or_else(|| refuse(Language::file_has_no_newcomer), Ok)
    }

    /// Adds an engine to the plan, to the players of the workers, and to the schedule.
    fn admit(&mut self, newcomer: Newcomer, by: (&str, &str)) -> Done {
        let Newcomer { engine, identity, configuration, .. } = newcomer;
        let player = PlayerId::at(self.plan.engines.len());
        let mut plan = Plan::clone(&self.plan);
        plan.engines.push(engine.clone());
        let limit = plan.fault_limits().last().flatten();
        self.plan = Arc::new(plan);
        self.agenda.plan = self.plan.clone();
        let kept = Box::new(identity.identity.clone());
        self.field.join(engine, identity);
        self.agenda.standings.limit_faults(player, limit);
        self.join(player, Some(kept), configuration, by)
    }

    /// Has the engines join that the file has got since the last run.
    pub(crate) fn take_in_pending(&mut self, pending: Vec<String>) {
        let by = own_name();
        let first = self.plan.engines.len() - pending.len();
        for (at, configuration) in pending.into_iter().enumerate() {
            self.join(PlayerId::at(first + at), None, configuration, (&by, "in the file of the event"));
        }
    }

    /// Withdraws the engines that the file says play no more.
    pub(crate) fn withdraw_by_file(&mut self) {
        let (plan, operations, by) = (self.plan.clone(), self.operations.clone(), own_name());
        let withdrawn = (0..).map(PlayerId).zip(&plan.engines).filter(|(_, engine)| engine.withdrawn);
        for (player, EnginePlan { name, .. }) in withdrawn {
            if self.agenda.standings.arbitration().has_withdrawn(player) {
                continue;
            }
            let (stage, round) = self.bench().last_paired();
            let action = Action::Withdrawn { player, name: name.clone(), stage, round, holds: true };
            let happened = |entry| self.happened(entry);
            operations.record_by(&by, "in the file of the event", None, action, happened);
        }
    }

    /// Records that an engine of the plan has joined, in one transaction with what it is.
    pub(super) fn join(
        &mut self,
        player: PlayerId,
        identity: Option<Box<Identity>>,
        configuration: String,
        (by, reason): (&str, &str),
    ) -> Done {
        let plan = self.plan.clone();
        let EnginePlan { name, replaces: out, .. } = plan.engines[player.index()].clone();
        let place =
            |out: &String| plan.engines.iter().position(|engine| engine.name == *out).map(PlayerId::at);
        let replaces = out.as_ref().and_then(place);
        let is_given_up = |at: &Pairing| [at.black, at.white].iter().any(|player| Some(*player) == replaces);
        let given_up: String = self.operations.in_force(|in_force| {
            let held = in_force.held().filter(|(_, at)| is_given_up(at));
            held.map(|(game, _)| format!("; adjourned game {} is given up", game.0)).collect()
        });
        let action = Action::Joined { player, name: name.clone(), replaces, out, configuration };
        let mut records = vec![SideRecord::Replanned(StoredPlan::from(&*plan).to_json())];
        records.extend(identity.map(|identity| SideRecord::Identified(player, identity)));
        let operations = self.operations.clone();
        let Done { number, text } = operations.record_by(by, reason, None, action, |entry| {
            let mut batch = vec![];
            self.fold_into(Stamped { at: now(), entry }, &mut batch);
            self.fold_into(Stamped { at: now(), entry: Entry::Entered { player, name } }, &mut batch);
            self.journal.append_with(batch, records);
        });
        let text = text + &given_up;
        self.operations.tell(None, &format!("##[OPERATOR] {text}\n"));
        Done { number, text }
    }
}
