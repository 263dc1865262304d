//! The expected score of the loser over a game, and the moves at which the game was lost. Pure.

/// The expected score of one side in each position of a game, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    shares: Vec<f64>,
}

/// A move at which expected score was lost for good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Number of the position that the move leads to.
    pub at: usize,
    /// Lower expected score of the two positions before the move.
    pub before: f64,
    /// Highest expected score of two positions in a row from the move on.
    pub after: f64,
}

impl Turn {
    /// Expected score that was lost for good; at or below 0 if none was.
    #[must_use]
    pub fn drop(&self) -> f64 {
        self.before - self.after
    }
}

impl Course {
    /// The course of these shares, from position 0 on. A position without a share has that of the position before it, the
    /// first ones that of an even game.
    #[must_use]
    pub fn new(shares: impl IntoIterator<Item = Option<f64>>) -> Self {
        let mut last = 0.5;
        let shares = shares.into_iter().map(|share| {
            last = share.unwrap_or(last);
            last
        });
        Self { shares: shares.collect() }
    }

    /// The share in a position.
    #[must_use]
    pub fn at(&self, position: usize) -> f64 {
        self.shares.get(position).copied().unwrap_or(0.5)
    }

    /// The share in the last position.
    #[must_use]
    pub fn end(&self) -> f64 {
        self.shares.last().copied().unwrap_or(0.5)
    }

    /// The moves for which `is_own` is true, given the position that they lead to, by what they lost for good: the largest
    /// loss first.
    ///
    /// What the opponent gives back does not count as lost. An advantage counts only if it lasts for two positions, before the
    /// move and after it: one position that the judge misjudges makes no mistake and hides none.
    #[must_use]
    pub fn turns(&self, is_own: impl Fn(usize) -> bool) -> Vec<Turn> {
        let mut turns = vec![];
        let mut best = f64::NEG_INFINITY;
        for at in (1..self.shares.len()).rev() {
            let lasting = match self.shares.get(at + 1) {
                Some(next) => next.min(self.shares[at]),
                None => self.shares[at],
            };
            // The end of the game alone lasts for no second position.
            best = if at + 2 == self.shares.len() { lasting } else { best.max(lasting) };
            if is_own(at) {
                let earlier = at.checked_sub(2).map_or(f64::INFINITY, |at| self.shares[at]);
                turns.push(Turn { at, before: self.shares[at - 1].min(earlier), after: best });
            }
        }
        turns.sort_by(|a, b| b.drop().total_cmp(&a.drop()).then(a.at.cmp(&b.at)));
        turns
    }

    /// The move up to position `to`, of either side, that cost this side most.
    #[must_use]
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
        assert_eq!(first(&[0.6, 0.1, 0.7, 0.7, 0.7, 0.4, 0.3, 0.3, 0.2]), (5, 0.4));
    }

    #[test]
    fn a_single_position_that_is_misjudged_hides_no_mistake() {
        assert_eq!(first(&[0.6, 0.2, 0.2, 0.2, 0.9, 0.2, 0.1, 0.1, 0.1]).0, 1);
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
