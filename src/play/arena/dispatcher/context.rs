//! What the choice of a game depends on, beside the agenda.

use crate::{
    agenda::{RoundOf, Surroundings},
    away::Away,
    breaks::Break,
    operations::Operations,
    remote::Remote,
    steering::Steering,
};
use contest::schedule::Pairing;
use referee::{
    entry::{GameId, PlayerId},
    operation::InForce,
    sink::GameOptions,
};
use std::time::Instant;

/// What surrounds the games of an event: the operator, the players of the network, the machines, the break between rounds.
pub(crate) struct DispatchContext {
    pub operations: Operations,
    /// Options for the engines of each game.
    pub steering: Option<Box<dyn Steering>>,
    /// The players of the network.
    pub remote: Option<Remote>,
    /// Games that other machines play.
    pub away: Option<Away>,
    pub rest: Break,
}

impl DispatchContext {
    /// Options of its own that the engines of a game are given, black first.
    pub fn options(&self, pairing: &Pairing) -> [GameOptions; 2] {
        self.steering.as_ref().map(|steering| steering.options(pairing)).unwrap_or_default()
    }

    /// The games that machines have.
    pub fn games_away(&self) -> impl Iterator<Item = &Pairing> {
        self.away.iter().flat_map(Away::games)
    }

    /// True if a machine has a place.
    pub fn has_places_elsewhere(&self) -> bool {
        self.away.as_ref().is_some_and(|away| away.desk.places() > 0)
    }
}

impl Surroundings for DispatchContext {
    fn held(&self, pairing: &Pairing) -> Option<GameId> {
        self.operations.held_at(pairing)
    }

    fn has_adjourned(&self) -> bool {
        self.operations.in_force(InForce::has_adjourned)
    }

    fn knows_options(&self, pairing: &Pairing) -> bool {
        self.steering.as_ref().is_none_or(|steering| steering.is_known(pairing))
    }

    fn has_network(&self) -> bool {
        self.remote.is_some()
    }

    fn waits(&self, player: PlayerId) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.players.waits(player))
    }

    fn machine_slots(&self) -> Option<usize> {
        self.away.as_ref().map(|away| away.desk.slots())
    }

    fn holder(&self, stage: u8, pair: u64) -> Option<String> {
        self.away.as_ref()?.holder(stage, pair)
    }

    fn break_is_over(&self, before: RoundOf) -> bool {
        !self.games_away().any(|game| (game.stage, game.round) < before) && self.rest.is_over(Instant::now())
    }
}
