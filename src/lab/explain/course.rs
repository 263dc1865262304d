//! The expected score of the loser over a game, and the moves at which the game was lost. Pure.

use std::collections::BTreeMap;

/// Expected score above which nothing counts as lost: a missed win leaves a game that is still to be lost.
const ENOUGH: f64 = 0.6;

/// The expected score of one side in each position of a game, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    shares: Vec<f64>,
    /// By position, the expected score after the best move in it, where that was looked at.
    held: BTreeMap<usize, f64>,
}

/// A move at which expected score was lost for good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Number of the position that the move leads to.
    pub at: usize,
    /// Expected score before the move, and no more than what the best move in its place holds.
    pub before: f64,
    /// Highest expected score of two positions in a row from the move on.
    pub after: f64,
    /// The first of those two positions.
    pub lasting: usize,
    /// True if the best move in its place was looked at.
    pub is_held: bool,
}

impl Turn {
    /// Expected score that was lost for good, up to 60 %; at or below 0 if none was.
    pub fn drop(&self) -> f64 {
        self.before.min(ENOUGH) - self.after.min(ENOUGH)
    }
}

impl Course {
    /// The course of these shares, from position 0 on. A position without a share has that of the position before it, the
    /// first ones that of an even game.
    pub fn new(shares: impl IntoIterator<Item = Option<f64>>) -> Self {
        let mut last = 0.5;
        let shares = shares.into_iter().map(|share| {
            last = share.unwrap_or(last);
            last
        });
        Self { shares: shares.collect(), held: BTreeMap::new() }
    }

    /// The same with what the best moves in some positions hold.
    #[must_use]
    pub fn holding(self, held: BTreeMap<usize, f64>) -> Self {
        Self { held, ..self }
    }

    /// The share in a position.
    pub fn at(&self, position: usize) -> f64 {
        self.shares.get(position).copied().unwrap_or(0.5)
    }

    /// The share in the last position.
    pub fn end(&self) -> f64 {
        self.shares.last().copied().unwrap_or(0.5)
    }

    /// The moves for which `is_own` is true, given the position that they lead to, by what they lost for good: the largest
    /// loss first.
    ///
    /// What the opponent gives back does not count as lost. An advantage counts only if it lasts: before the move, for the
    /// position after the best move in its place, where that was looked at; after it, for two positions of the game. One position
    /// that the judge misjudges makes no mistake and hides none.
    pub fn turns(&self, is_own: impl Fn(usize) -> bool) -> Vec<Turn> {
        let mut turns = vec![];
        let (mut best, mut lasting) = (f64::NEG_INFINITY, 0);
        for at in (1..self.shares.len()).rev() {
            let here = self.shares.get(at + 1).map_or(self.shares[at], |next| next.min(self.shares[at]));
            // The end of the game alone lasts for no second position.
            if here > best || at + 2 == self.shares.len() {
                (best, lasting) = (here, at);
            }
            if is_own(at) {
                let held = self.held.get(&(at - 1)).copied();
                let before = held.map_or(self.shares[at - 1], |held| held.min(self.shares[at - 1]));
                turns.push(Turn { at, before, after: best, lasting, is_held: held.is_some() });
            }
        }
        turns.sort_by(|a, b| b.drop().total_cmp(&a.drop()).then(a.at.cmp(&b.at)));
        turns
    }

    /// The move that lost most for good. Where no move did, because the judge's moves do not hold what it saw either, the
    /// move that lost most by the shares of the positions alone; such a turn is not [held](Turn::is_held).
    pub fn turning_point(&self, is_own: impl Fn(usize) -> bool) -> Option<Turn> {
        let turns = self.turns(&is_own);
        let held = turns.iter().find(|turn| turn.is_held).or(turns.first()).copied();
        if held.is_some_and(|turn| turn.drop() > 0.0) {
            return held;
        }
        let seen = Self { shares: self.shares.clone(), held: BTreeMap::new() };
        seen.turns(is_own).first().copied()
    }

    /// The highest share of two positions in a row from a position on.
    pub fn lasting(&self, from: usize) -> f64 {
        let tail = self.shares.get(from..).unwrap_or_default();
        tail.windows(2).map(|two| two[0].min(two[1])).reduce(f64::max).unwrap_or_else(|| self.end())
    }

    /// The move up to position `to`, of either side, that cost this side most.
    pub fn steepest(&self, to: usize) -> usize {
        let cost = |at: usize| self.at(at - 1) - self.at(at);
        (1..=to).max_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(b.cmp(&a))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(shares: &[f64]) -> (usize, f64) {
        let course = Course::new(shares.iter().copied().map(Some));
        // The side that is to move in position 0.
        let turn = course.turns(|at| at % 2 == 1)[0];
        (turn.at, (turn.drop() * 100.0).round() / 100.0)
    }

    #[test]
    fn the_largest_lasting_loss_is_the_turning_point() {
        assert_eq!(first(&[0.5, 0.5, 0.5, 0.2, 0.2, 0.1, 0.1]), (3, 0.3));
    }

    #[test]
    fn a_mistake_that_the_opponent_gives_back_is_none() {
        assert_eq!(first(&[0.6, 0.1, 0.7, 0.7, 0.7, 0.4, 0.3, 0.3, 0.2]), (5, 0.3));
    }

    #[test]
    fn a_single_position_that_is_misjudged_hides_no_mistake() {
        let course = Course::new([0.6, 0.2, 0.2, 0.2, 0.9, 0.2, 0.1, 0.1, 0.1].map(Some));
        let course = course.holding([(0, 0.6), (4, 0.2)].into());
        assert_eq!(course.turns(|at| at % 2 == 1)[0].at, 1);
    }

    #[test]
    fn an_advantage_that_no_move_holds_is_not_lost() {
        let shares = [0.5, 0.5, 0.5, 0.2, 0.6, 0.1, 0.1, 0.1].map(Some);
        let course = Course::new(shares);
        let first = |course: &Course| course.turns(|at| at % 2 == 1)[0];
        assert_eq!((first(&course).at, first(&course).is_held), (5, false));
        // The best move in position 4 leads to one that is as bad.
        let course = course.holding([(4, 0.1), (2, 0.5)].into());
        assert_eq!((first(&course).at, first(&course).is_held), (3, true));
    }

    #[test]
    fn a_win_that_was_seen_and_that_no_move_holds_is_lost_where_it_was_seen_last() {
        // Nothing is lost for good by any move, and the first of them is not the one that cost most.
        let course = Course::new([0.7, 0.7, 0.99, 0.99, 0.99, 0.05, 0.0, 0.0].map(Some));
        let course = course.holding([(0, 0.5), (2, 0.1), (4, 0.0), (6, 0.0)].into());
        let turn = course.turning_point(|at| at % 2 == 1).unwrap();
        assert_eq!((turn.at, turn.is_held, turn.before, turn.after), (5, false, 0.99, 0.0));
    }

    #[test]
    fn a_missed_win_is_not_what_lost_the_game() {
        assert_eq!(first(&[0.9, 0.9, 0.9, 0.5, 0.5, 0.1, 0.1]), (5, 0.4));
        assert_eq!(first(&[0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1]), (3, 0.5));
    }

    #[test]
    fn the_last_move_may_be_the_mistake() {
        assert_eq!(first(&[0.5, 0.5, 0.5, 0.5, 0.5, 0.0]), (5, 0.5));
        assert_eq!(first(&[0.5, 0.0]), (1, 0.5));
    }

    #[test]
    fn positions_without_a_share_have_that_before_them() {
        let course = Course::new([None, Some(0.3), None]);
        assert_eq!([course.at(0), course.at(1), course.at(2)], [0.5, 0.3, 0.3]);
    }
}
