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

    #[test]
    fn an_opening_counts_the_plies_before_its_start_and_its_own() {
        let opening = |start: &str, moves| Opening::of_usi(start, moves).unwrap();
        assert_eq!(opening(EVEN, "").plies(), 0);
        assert_eq!(opening(EVEN, "7g7f 3c3d").plies(), 2);
        let late = EVEN.replace("- 1", "- 17");
        assert_eq!([opening(&late, "").plies(), opening(&late, "7g7f").plies()], [16, 17]);
        assert_eq!(opening(&EVEN.replace("- 1", "- 0"), "7g7f").plies(), 1);
        assert_eq!(opening("4k4/9/9/9/9/9/9/9/4K4 b -", "5i5h").plies(), 1, "the number may be absent");
        assert_eq!(Opening::of_usi(EVEN, "7g7f hello"), None);
    }

    #[test]
    fn an_opening_is_cut_to_the_plies_that_are_asked_for() {
        let opening = || Opening::of_usi(EVEN, "7g7f 3c3d 2g2f").unwrap();
        let left = [None, Some(0), Some(2), Some(3), Some(9)].map(|plies| opening().cut(plies).moves.len());
        assert_eq!(left, [3, 0, 2, 3, 3]);
    }

    #[test]
    fn lines_come_in_their_order_again_and_again_and_shuffled_ones_in_another_order_each_time() {
        let order = |openings: &Openings, round: u64| -> Vec<String> {
            (3 * round..3 * round + 3).map(|at| openings.pick(at).start.clone()).collect()
        };
        let plain = Openings::new(lines(3), None);
        assert_eq!(
            (plain.count(), order(&plain, 0), order(&plain, 5)),
            (3, vec!["0".to_owned(), "1".to_owned(), "2".to_owned()], order(&plain, 0))
        );
        let shuffled = Openings::new(lines(3), Some(7));
        let orders: HashSet<_> = (0..60).map(|round| order(&shuffled, round)).collect();
        assert_eq!(orders.len(), 6, "all orders of three lines");
        let none = Openings::new(vec![], Some(7));
        assert_eq!((none.count(), none.pick(12)), (1, &Opening::default()));
        assert_eq!(Opening::default(), Opening::of_usi(EVEN, "").unwrap());
    }

    /// A stored event is resumed with the same lines: the permutation is final.
    #[test]
    fn the_permutation_of_a_seed_is_the_one_that_events_were_stored_with() {
        for count in 1..70 {
            let mut places: Vec<u64> = (0..count).map(|place| permuted(place, count, 12)).collect();
            places.sort_unstable();
            assert_eq!(places, (0..count).collect::<Vec<_>>());
        }
        assert_eq!((0..8).map(|place| permuted(place, 8, 1)).collect::<Vec<_>>(), STORED);
    }

    /// Places of eight lines under seed 1.
    const STORED: [u64; 8] = [6, 7, 3, 2, 5, 4, 0, 1];

    #[test]
    fn a_goal_is_the_position_with_its_hands_and_without_its_number() {
        let goal = |moves| Opening::of_usi(EVEN, moves).unwrap().goal();
        assert_eq!(goal("").as_deref(), EVEN.strip_suffix(" 1"));
        let exchanged = "lnsgkgsnl/1r5+B1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL w B";
        assert_eq!(goal("7g7f 3c3d 8h2b+").as_deref(), Some(exchanged));
        assert_eq!(Opening { start: "hello".to_owned(), moves: vec![] }.goal(), None);
    }
}
