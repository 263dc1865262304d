//! Games that end without a move, as a player has not come or has left the event.

use super::Dispatcher;
use crate::absences::Ruling;
use contest::schedule::Pairing;
use referee::{
    Outcome,
    entry::{Entry, GameEnded, PlayerId},
};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

impl Dispatcher<'_> {
    /// Rules on games whose players have not logged in for too long.
    pub(super) fn rule_absences(&mut self) {
        let Some(remote) = self.context.remote.clone() else { return };
        if self.operations.is_paused() {
            return self.absences.clear();
        }
        let substitutes: HashMap<_, _> = self.operations.substitutes().into_iter().collect();
        let plan = self.plan.clone();
        let name =
            |player: PlayerId| substitutes.get(&player).unwrap_or(&plan.engines[player.index()].name).clone();
        let Self { agenda, context, absences, .. } = self;
        let is_absent = |player| agenda.is_absent(player, context);
        let (rulings, line) = absences.look(agenda.pending(), &remote, Instant::now(), is_absent, name);
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
    pub(super) fn end_unplayed(&mut self, pairing: Pairing, outcome: Outcome, evidence: String) {
        let game = self.fixtures.number();
        let ended = GameEnded { evidence, ..GameEnded::new(game, pairing, outcome, 0) };
        self.happened(Entry::GameEnded(ended));
    }
}
