//! The pairs of a sequential test in schedule order.

use super::progress::{Half, Pair};
use rating::TestCounts;
use serde::Serialize;
use std::collections::BTreeMap;

/// The pairs of a sequential test, brought into schedule order.
///
/// Short games end first, and their results differ from those of long games, so a test on pairs in the order of their
/// ends would be biased. Pair k is therefore evaluated only when each of the pairs 0 to k is complete or left out; later
/// ones wait. A pair with a game that repeats an earlier one is no evidence and counts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sequence {
    /// The pairs from 0 on without a gap; those with a game that is left out, or repeats another, count nothing.
    pub in_order: TestCounts,
    /// Every finished game that is distinct, incomplete pairs included, and every such pair that is complete.
    pub finished: TestCounts,
    /// How many of the last pairs in order had a game that repeats an earlier one, without a pair of new games since.
    pub repeats_in_a_row: u64,
    /// The first pair that is neither in order nor left out.
    #[serde(skip)]
    next: u64,
    /// Later pairs; `None` for those that are left out.
    #[serde(skip)]
    waiting: BTreeMap<u64, Option<Pair>>,
}

impl Sequence {
    pub(super) fn add_game(&mut self, game: Half) {
        if game.is_new {
            self.finished.add_game(game.half_points);
        }
    }

    /// Takes back a game that counted.
    pub(super) fn take_game_back(&mut self, game: Half) {
        if game.is_new {
            self.finished.take_game_back(game.half_points);
        }
    }

    /// Takes back a pair that was complete or left out. Those after it wait until it is so again; `pair_of` gives a pair
    /// that is complete, `None` if it was left out.
    pub(super) fn take_pair_back(&mut self, pair: u64, pair_of: impl Fn(u64) -> Option<Pair>) {
        while self.next > pair {
            self.next -= 1;
            self.repeats_in_a_row = 0;
            let games = pair_of(self.next);
            if let Some(games) = games.filter(|games| games.is_new) {
                games.games.into_iter().for_each(|game| self.in_order.take_game_back(game));
                self.in_order.take_pair_back(games.half_points(), games.is_faulted);
            }
            self.waiting.insert(self.next, games);
        }
        if let Some(Some(games)) = self.waiting.remove(&pair)
            && games.is_new
        {
            self.finished.take_pair_back(games.half_points(), games.is_faulted);
        }
    }

    /// Adds a complete pair; `due` receives the counts after each new pair that is now in order.
    pub(super) fn add_pair(&mut self, pair: u64, games: Pair, due: &mut Vec<TestCounts>) {
        if games.is_new {
            self.finished.add_pair(games.half_points(), games.is_faulted);
        }
        self.waiting.insert(pair, Some(games));
        self.advance(due);
    }

    /// Skips a pair of which a game is left out for good.
    pub(super) fn leave_out(&mut self, pair: u64, due: &mut Vec<TestCounts>) {
        if pair >= self.next {
            self.waiting.insert(pair, None);
            self.advance(due);
        }
    }

    fn advance(&mut self, due: &mut Vec<TestCounts>) {
        while let Some(games) = self.waiting.remove(&self.next) {
            self.next += 1;
            match games {
                None => {}
                Some(games) if games.is_new => {
                    self.repeats_in_a_row = 0;
                    games.games.into_iter().for_each(|game| self.in_order.add_game(game));
                    self.in_order.add_pair(games.half_points(), games.is_faulted);
                    due.push(self.in_order);
                }
                Some(_) => self.repeats_in_a_row += 1,
            }
        }
    }
}
