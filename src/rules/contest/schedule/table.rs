//! An encounter with its players and colours.

use super::lot::lot;
use referee::ids::PlayerId;

/// Number of the lot for the colours of an encounter.
const COLOURS: u64 = 0xC0;

/// An encounter with the colours of its first game. Players are [`PlayerId`]s, or seats in the list of entrants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Table<P> {
    pub round: u32,
    pub black: P,
    pub white: P,
}

impl Table<usize> {
    /// The players at these seats; `None` if a seat lies outside the list.
    pub fn seated(self, entrants: &[PlayerId]) -> Option<Table<PlayerId>> {
        let (black, white) = (*entrants.get(self.black)?, *entrants.get(self.white)?);
        Some(Table { round: self.round, black, white })
    }
}

impl Table<PlayerId> {
    /// With the colours that this lot gives, whichever they were before.
    pub fn by_lot(self, seed: u64) -> Self {
        let swapped = self.black > self.white;
        if swapped == lot(seed, COLOURS) { self } else { self.swapped() }
    }

    /// With black for the player who entered first.
    pub fn by_entry(self, entrants: &[PlayerId]) -> Self {
        let seat = |player| entrants.iter().position(|entrant| *entrant == player);
        if seat(self.black) <= seat(self.white) { self } else { self.swapped() }
    }

    fn swapped(self) -> Self {
        Self { round: self.round, black: self.white, white: self.black }
    }
}

/// The number of a round: rounds are counted from 1.
pub(super) fn round_number(round: u64) -> u32 {
    u32::try_from(round).unwrap_or(u32::MAX).saturating_add(1)
}
