//! An encounter with its players and colours.

use crate::ids::PlayerId;

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

/// The number of a round: rounds are counted from 1.
pub(super) fn round_number(round: u64) -> u32 {
    u32::try_from(round).unwrap_or(u32::MAX).saturating_add(1)
}
