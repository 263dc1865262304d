//! What a stage answers when it is asked for a game.

use crate::standings::{Progress, Ranges};
use referee::ids::PlayerId;
use std::ops::Range;

/// The answer of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Play the game at this index.
    Play(u64),
    /// Record a bye.
    Bye { round: u32, player: PlayerId, half_points: u8 },
    /// A later game depends on a running one.
    Wait,
    /// No game of the stage is left to play.
    Over,
}

/// The first index of the window that is neither handed out nor finished.
pub(super) fn pick(window: Range<u64>, issued: &Ranges, progress: &Progress) -> Option<u64> {
    let mut index = window.start;
    loop {
        let next = progress.finished.first_absent(issued.first_absent(index));
        if next >= window.end {
            return None;
        }
        if next == index {
            return Some(index);
        }
        index = next;
    }
}
