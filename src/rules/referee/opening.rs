//! Openings: start positions with first moves, and which game uses which one.

mod family;

pub use family::{Family, Rook};

use rating::mix::mix;
use rsshogi::{board::position_from_sfen, types::Move};

/// The even start position.
pub const EVEN: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

/// A start position and the moves that are on the board before the players begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The start position as SFEN.
    pub start: String,
    /// Legal moves from the start position.
    pub moves: Vec<Move>,
}

impl Default for Opening {
    fn default() -> Self {
        Self { start: EVEN.to_owned(), moves: vec![] }
    }
}

impl Opening {
    /// The opening of a start position as SFEN and moves in USI, separated by blanks; `None` if one is not a move.
    pub fn of_usi(start: &str, moves: &str) -> Option<Self> {
        let moves = moves.split_ascii_whitespace().map(Move::from_usi).collect::<Option<Vec<_>>>()?;
        Some(Self { start: start.to_owned(), moves })
    }

    /// The opening cut to at most `plies` moves.
    #[must_use]
    pub fn cut(mut self, plies: Option<u32>) -> Self {
        let plies = plies.and_then(|plies| usize::try_from(plies).ok());
        self.moves.truncate(plies.unwrap_or(usize::MAX));
        self
    }

    /// Plies that have been played where the players begin, including those before the start position.
    pub fn plies(&self) -> u32 {
        let before = self.start.rsplit(' ').next().and_then(|number| number.parse::<u32>().ok());
        let own = u32::try_from(self.moves.len()).unwrap_or(u32::MAX);
        before.unwrap_or(1).saturating_sub(1).saturating_add(own)
    }

    /// The position after its moves, as SFEN without the move number, to find lines that transpose; `None` if a move
    /// is illegal.
    pub fn goal(&self) -> Option<String> {
        rsshogi::board::init();
        let mut position = position_from_sfen(&self.start).ok()?;
        position.init_stack();
        for &mv in &self.moves {
            let piece = position.moved_piece_after_move(mv);
            let mv = rsshogi::types::Move32::from_move_with_piece(mv, piece);
            position.try_apply_move32(mv).ok()?;
        }
        let sfen = position.to_sfen(None);
        sfen.rsplit_once(' ').map(|(position, _)| position.to_owned())
    }
}

/// The openings of an event, in the order they are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Openings {
    lines: Vec<Opening>,
    shuffle: Option<u64>,
}

impl Openings {
    /// The lines in order, or shuffled by a seed. Without lines every game begins from the even start.
    pub fn new(lines: Vec<Opening>, shuffle: Option<u64>) -> Self {
        let lines = if lines.is_empty() { vec![Opening::default()] } else { lines };
        Self { lines, shuffle }
    }

    /// Number of lines.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// The opening with number `index`. Every line is used once before any is used again; shuffled lines come in
    /// another order each time round. The same seed gives the same line to the same number, in a resumed event too.
    pub fn pick(&self, index: u64) -> &Opening {
        let count = self.lines.len() as u64;
        let (round, place) = (index / count, index % count);
        let place = match self.shuffle {
            Some(seed) => permuted(place, count, mix(seed ^ mix(round))),
            None => place,
        };
        &self.lines[usize::try_from(place).unwrap_or(0)]
    }
}

/// A permutation of `0..count` by a seed, computed for one place at a time: a Feistel network over the next even
/// power of two, walked until it falls into the range (cycle walking; Black and Rogaway 2002).
pub(crate) fn permuted(place: u64, count: u64, seed: u64) -> u64 {
    let half = (64 - count.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut x = place;
    loop {
        let (mut left, mut right) = (x >> half, x & mask);
        for round in 0..4 {
            (left, right) = (right, left ^ (mix(right ^ mix(seed.wrapping_add(round))) & mask));
        }
        x = left << half | right;
        if x < count {
            return x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn lines(count: usize) -> Vec<Opening> {
        (0..count).map(|n| Opening { start: n.to_string(), moves: vec![] }).collect()
    }

    #[test]
    fn every_line_is_used_once_before_any_is_used_again() {
        for count in [1, 2, 3, 7, 64, 65, 1000] {
            for shuffle in [None, Some(1), Some(99)] {
                let openings = Openings::new(lines(count), shuffle);
                for round in 0..3 {
                    let first = round * count as u64;
                    let used: HashSet<_> =
                        (first..first + count as u64).map(|i| &openings.pick(i).start).collect();
                    assert_eq!(used.len(), count);
                }
            }
        }
    }

    #[test]
    fn a_seed_always_gives_the_same_order_and_another_seed_another() {
        let order = |seed| -> Vec<String> {
            let openings = Openings::new(lines(50), Some(seed));
            (0..50).map(|i| openings.pick(i).start.clone()).collect()
        };
        assert_eq!(order(5), order(5));
        assert_ne!(order(5), order(6));
    }

    #[test]
    fn the_first_places_of_a_shuffle_are_not_biased() {
        let first: Vec<u64> = (0..4000).map(|seed| permuted(0, 4, mix(seed))).collect();
        for line in 0..4 {
            let times = first.iter().filter(|&&x| x == line).count();
            assert!((900..1100).contains(&times), "line {line} came first {times} times of 4000");
        }
    }

    #[test]
    fn lines_that_meet_have_the_same_goal() {
        let opening = |moves: &str| Opening {
            moves: moves.split(' ').filter_map(Move::from_usi).collect(),
            ..Opening::default()
        };
        assert_eq!(opening("7g7f 3c3d 2g2f").goal(), opening("2g2f 3c3d 7g7f").goal());
        assert_eq!(opening("7g7e").goal(), None);
        assert_eq!(opening("7g7f 3c3d").cut(Some(1)).moves.len(), 1);
    }
}
