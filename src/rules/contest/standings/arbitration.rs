//! What arbiters have decided about players: penalties, disqualifications, places, withdrawals and returns, pairings and byes of a Swiss;
//! a fold of the operations.

use referee::{
    ids::PlayerId,
    operation::{Action, Operation},
    points::Points,
};
use std::collections::{BTreeMap, BTreeSet};

/// A stage, from 0, and a round of it, from 1.
type When = (u8, u32);

/// What arbiters have decided about players.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arbitration {
    penalties: Vec<(When, PlayerId, Points)>,
    /// Withdrawals and returns in their order; `true`: the player is out from the next round on.
    withdrawals: Vec<(When, PlayerId, bool)>,
    /// Black and white of the pairings that were given for a round.
    pairings: Vec<(When, [PlayerId; 2])>,
    byes: BTreeSet<(When, PlayerId)>,
    /// Disqualifications in their order; `false`: it was taken back.
    disqualifications: Vec<(When, PlayerId, bool)>,
    /// What changed tables, and was not taken back, with its stage.
    decisions: Vec<(u8, Operation)>,
}

impl Arbitration {
    pub(super) fn fold(&mut self, operation: &Operation) {
        self.decisions.retain(|(_, decision)| Some(decision.number) != operation.undoes);
        if let Action::Penalised { stage, .. }
        | Action::Disqualified { stage, .. }
        | Action::Placed { stage, .. } = operation.action
            && operation.undoes.is_none()
        {
            self.decisions.push((stage, operation.clone()));
        }
        match &operation.action {
            Action::Penalised { player, points, stage, round, .. } => {
                self.penalties.push(((*stage, *round), *player, *points));
            }
            Action::Disqualified { player, stage, round, holds, .. } => {
                self.disqualifications.push(((*stage, *round), *player, *holds));
            }
            Action::Withdrawn { player, stage, round, holds, .. } => {
                self.withdrawals.push(((*stage, *round), *player, *holds));
            }
            Action::PairingGiven { players, stage, round, holds, .. } => {
                let given = ((*stage, round.saturating_add(1)), *players);
                match holds {
                    true => self.pairings.push(given),
                    false => self.pairings.retain(|other| *other != given),
                }
            }
            Action::ByeGiven { player, stage, round, holds, .. } => {
                let bye = ((*stage, *round), *player);
                _ = if *holds { self.byes.insert(bye) } else { self.byes.remove(&bye) };
            }
            _ => {}
        }
    }

    /// Black and white of the pairings that arbiters have given for a round of a Swiss: of players who are not out of it,
    /// the later decision where two name the same player.
    pub fn pairings(&self, round: When) -> Vec<[PlayerId; 2]> {
        let mut given: Vec<[PlayerId; 2]> = vec![];
        for (_, players) in self.pairings.iter().rev().filter(|(when, _)| *when == round) {
            let is_free = |player| !self.is_out(player, round) && !given.as_flattened().contains(&player);
            if players.iter().all(|player| is_free(*player)) {
                given.push(*players);
            }
        }
        given.reverse();
        given
    }

    /// The points that players have lost in a stage, from 0.
    pub fn penalties(&self, stage: u8) -> BTreeMap<PlayerId, Points> {
        self.before((stage, u32::MAX))
    }

    /// The points that players had lost in a stage before a round of it was paired: a penalty changes no pairing that was
    /// made before.
    pub(crate) fn before(&self, (stage, round): When) -> BTreeMap<PlayerId, Points> {
        let mut sums: BTreeMap<PlayerId, Points> = BTreeMap::new();
        for (when, player, points) in &self.penalties {
            if when.0 == stage && when.1 < round {
                *sums.entry(*player).or_default() += *points;
            }
        }
        sums.retain(|_, points| *points != Points::ZERO);
        sums
    }

    /// The players none of whose results count for what is made before a round is paired.
    pub fn disqualified(&self, round: When) -> BTreeSet<PlayerId> {
        let mut players = BTreeSet::new();
        for (_, player, holds) in self.disqualifications.iter().filter(|(when, ..)| *when < round) {
            _ = if *holds { players.insert(*player) } else { players.remove(player) };
        }
        players
    }

    /// Of level players in the table of a stage: who is above whom, also by way of others.
    pub fn places(&self, stage: u8) -> BTreeSet<[PlayerId; 2]> {
        let given = || {
            self.decisions.iter().filter_map(move |(of, decision)| match decision.action {
                Action::Placed { player, below, .. } if *of == stage => Some([player, below]),
                _ => None,
            })
        };
        let mut places: BTreeSet<_> = given().collect();
        for _ in given() {
            let below = |[above, by]: [PlayerId; 2]| {
                given().filter(move |[from, _]| *from == by).map(move |[_, below]| [above, below])
            };
            let further: Vec<_> = places.iter().copied().flat_map(below).collect();
            places.extend(further);
        }
        places
    }

    /// The number of the operation that has disqualified a player.
    pub fn disqualification(&self, player: PlayerId) -> Option<u64> {
        self.decision(|made| matches!(made.action, Action::Disqualified { player: out, .. } if out == player))
    }

    /// The number of the first decision on a table that is meant.
    pub fn decision(&self, is_meant: impl Fn(&Operation) -> bool) -> Option<u64> {
        self.decisions.iter().find(|(_, made)| is_meant(made)).map(|(_, made)| made.number)
    }

    /// The operations that changed the table of a stage: penalties, disqualifications, places.
    pub(super) fn decisions(&self, stage: u8) -> impl Iterator<Item = &Operation> {
        let changed = move |(of, operation): &&(u8, Operation)| match operation.action {
            Action::Disqualified { .. } => true,
            _ => *of == stage,
        };
        self.decisions.iter().filter(changed).map(|(_, operation)| operation)
    }

    /// The players who have not withdrawn and were given a bye in a round of a Swiss.
    pub fn byes(&self, round: When) -> impl Iterator<Item = PlayerId> {
        let given = self.byes.range((round, PlayerId(0))..=(round, PlayerId(u32::MAX)));
        given.map(|(_, player)| *player).filter(move |player| !self.has_left(*player, round))
    }

    /// True if a player plays no game of that round, because it had withdrawn or was disqualified before, or has a bye.
    pub fn is_out(&self, player: PlayerId, round: When) -> bool {
        self.byes.contains(&(round, player)) || self.has_left(player, round)
    }

    fn has_left(&self, player: PlayerId, round: When) -> bool {
        let before = |(when, of, _): &&(When, PlayerId, bool)| *of == player && *when < round;
        let last = [&self.withdrawals, &self.disqualifications].map(|decided| decided.iter().rfind(before));
        last.into_iter().flatten().any(|(_, _, is_out)| *is_out)
    }

    /// True if nobody is out of any round.
    pub(crate) fn is_untouched(&self) -> bool {
        self.withdrawals.is_empty() && self.disqualifications.is_empty() && self.byes.is_empty()
    }

    /// Number of these players who play in a round.
    pub(crate) fn playing(&self, players: &[PlayerId], round: When) -> u64 {
        match self.is_untouched() {
            true => players.len() as u64,
            false => players.iter().filter(|player| !self.is_out(**player, round)).count() as u64,
        }
    }

    /// True if a player has withdrawn and not come back, or is disqualified.
    pub fn has_withdrawn(&self, player: PlayerId) -> bool {
        self.is_out(player, (u8::MAX, u32::MAX))
    }
}
