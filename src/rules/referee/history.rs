//! Repetition, counted exactly: sennichite and perpetual check.
//!
//! The counter of rsshogi restarts when the same board occurred with other pieces in hand, and so misses some
//! fourfold repetitions. This module keeps every position of the game by its 128-bit key (board, hands and side to
//! move).

use crate::Color;
use rsshogi::board::{Position, zobrist::ZobristKey};

/// The positions of a game so far, and which moves gave check.
#[derive(Clone, Debug, Default)]
pub struct History {
    seen: Vec<Seen>,
    /// First index that counts as an occurrence: 1 if the start position does not count.
    counted_from: usize,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    key: ZobristKey,
    /// The side to move is in check: the move that led here gave check.
    check: bool,
}

/// The ruling on the fourth occurrence of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// A draw.
    Sennichite,
    /// This side gave check with every move since the first occurrence, and loses.
    PerpetualCheck(Color),
}

/// Length of the move stack at which a position is rebuilt.
const REMEMBERED: u16 = 16;

/// Clears the move stack of a position from time to time; to be called after each move. At every move rsshogi
/// searches the whole stack for repetitions, which this crate counts itself.
pub fn forget(position: &mut Position) {
    if position.game_ply().is_multiple_of(REMEMBERED) {
        position.init_stack();
    }
}

impl History {
    /// A history that begins with `start`, which is the first occurrence of its position if `count_start` says so.
    pub fn new(start: &Position, count_start: bool) -> Self {
        let mut history = Self { seen: Vec::with_capacity(160), counted_from: usize::from(!count_start) };
        history.seen.push(Seen::of(start));
        history
    }

    /// Adds the position after a move; returns the repetition if it ends the game. The fourth occurrence is
    /// sennichite, or a loss for the side whose moves since the first occurrence all gave check (rules of the Japan
    /// Shogi Association; one quiet move in between makes it sennichite).
    pub fn push(&mut self, position: &Position) -> Option<Repetition> {
        let now = Seen::of(position);
        let mut earlier = self.earlier(now.key);
        let first = earlier.nth(2);
        drop(earlier);
        self.seen.push(now);
        Some(self.judge(first?, Color::from(position.turn())))
    }

    /// Earlier indices of the position with `key`, latest first; `key` belongs to the next index. Only every other
    /// position has the same side to move.
    fn earlier(&self, key: ZobristKey) -> impl Iterator<Item = usize> + '_ {
        let next = self.seen.len();
        (self.counted_from..next)
            .rev()
            .filter(move |i| (next - i).is_multiple_of(2) && self.seen[*i].key == key)
    }

    fn judge(&self, first: usize, to_move: Color) -> Repetition {
        let last = self.seen.len() - 1;
        // The position at `last` came from a move of the side that is not to move now, and so on backwards.
        let all_check = |mover: Color| {
            let offset = usize::from(mover == to_move);
            (first + 1..=last).rev().skip(offset).step_by(2).all(|i| self.seen[i].check)
        };
        match (all_check(!to_move), all_check(to_move)) {
            (true, false) => Repetition::PerpetualCheck(!to_move),
            (false, true) => Repetition::PerpetualCheck(to_move),
            _ => Repetition::Sennichite,
        }
    }
}

impl Seen {
    fn of(position: &Position) -> Self {
        Self { key: position.key(), check: !position.checkers().is_empty() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsshogi::board::{self, hirate_position, move_from_usi};

    /// Plays USI moves from the even position; the ply and kind of the first repetition.
    fn first_repetition(moves: &str, count_start: bool) -> Option<(usize, Repetition)> {
        board::init();
        let mut position = hirate_position();
        position.init_stack();
        let mut history = History::new(&position, count_start);
        moves.split_whitespace().enumerate().find_map(|(i, mv)| {
            let mv = move_from_usi(&position, mv).unwrap();
            position.try_apply_move32(mv).unwrap();
            history.push(&position).map(|kind| (i + 1, kind))
        })
    }

    #[test]
    fn a_king_shuffle_is_sennichite_at_ply_12_and_at_13_where_the_start_does_not_count() {
        let shuffle = "5i5h 5a5b 5h5i 5b5a ".repeat(4);
        assert_eq!(first_repetition(&shuffle, true), Some((12, Repetition::Sennichite)));
        assert_eq!(first_repetition(&shuffle, false), Some((13, Repetition::Sennichite)));
    }

    const SETUP: &str = "7g7f 8b7b 8h3c+ 5a5b 8g8f 7a8b 5i4h 7b7a ";

    /// Both lines were recorded on the server that runs floodgate.
    #[test]
    fn the_side_that_gave_perpetual_check_loses_even_if_the_other_completes_the_cycle() {
        let black = SETUP.to_owned() + &"3c4c 5b5a 4c3c 5a5b ".repeat(4);
        assert_eq!(first_repetition(&black, true), Some((21, Repetition::PerpetualCheck(Color::Black))));
        let white = "6g6f 3c3d 1g1f 2b6f 1i1g 6f5g+ 1f1e ".to_owned() + &"5g6h 5i4h 6h5g 4h5i ".repeat(4);
        assert_eq!(first_repetition(&white, true), Some((19, Repetition::PerpetualCheck(Color::White))));
    }

    #[test]
    fn one_quiet_move_in_the_cycle_makes_it_sennichite() {
        let cycle = "3c4c 5b5a 4c3c 5a5b 6i6h 6a6b 3c4c 5b5a 4c3c 5a5b 6h6i 6b6a ";
        let kind = first_repetition(&(SETUP.to_owned() + &cycle.repeat(5)), true).map(|(_, kind)| kind);
        assert_eq!(kind, Some(Repetition::Sennichite));
    }
}
