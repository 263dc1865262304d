//! What arbiters have decided about players: penalties, withdrawals and returns, and pairings of a Swiss; a fold of the
//! operations.

use referee::{ids::PlayerId, operation::Action, points::Points};
use std::collections::BTreeMap;

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
}

impl Arbitration {
    pub(super) fn fold(&mut self, action: &Action) {
        match action {
            Action::Penalised { player, points, stage, round, .. } => {
                self.penalties.push(((*stage, *round), *player, *points));
            }
            Action::Withdrawn { player, stage, round, .. } => {
                self.withdrawals.push(((*stage, *round), *player, true));
            }
            Action::Returned { player, stage, round, .. } => {
                self.withdrawals.push(((*stage, *round), *player, false));
            }
            Action::PairingGiven { players, stage, round, .. } => {
                self.pairings.push(((*stage, round.saturating_add(1)), *players));
            }
            Action::PairingDropped { players, stage, round, .. } => {
                let dropped = ((*stage, round.saturating_add(1)), *players);
                self.pairings.retain(|given| *given != dropped);
            }
            _ => {}
        }
    }

    /// Black and white of the pairings that arbiters have given for a round of a Swiss: of players who have not withdrawn,
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

    /// True if a player plays no game of that round, because it had withdrawn before.
    pub fn is_out(&self, player: PlayerId, round: When) -> bool {
        let before = |(when, of, _): &&(When, PlayerId, bool)| *of == player && *when < round;
        self.withdrawals.iter().rfind(before).is_some_and(|(_, _, is_out)| *is_out)
    }

    /// True if nobody has ever withdrawn.
    pub(crate) fn is_untouched(&self) -> bool {
        self.withdrawals.is_empty()
    }

    /// Number of these players who play in a round.
    pub(crate) fn playing(&self, players: &[PlayerId], round: When) -> u64 {
        match self.is_untouched() {
            true => players.len() as u64,
            false => players.iter().filter(|player| !self.is_out(**player, round)).count() as u64,
        }
    }

    /// True if a player has withdrawn, and not come back.
    pub fn has_withdrawn(&self, player: PlayerId) -> bool {
        self.is_out(player, (u8::MAX, u32::MAX))
    }
}
