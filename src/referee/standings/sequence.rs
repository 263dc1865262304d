//! The pairs of a sequential test in schedule order.

use super::progress::Half;
use rating::TestCounts;
use serde::Serialize;
use std::collections::BTreeMap;

/// The half points of a pair, and whether a fault ended one of its games.
fn sum(pair: [Half; 2]) -> (u8, bool) {
    (pair[0].half_points + pair[1].half_points, pair.iter().any(|game| game.faulted))
}

/// The pairs of a sequential test, brought into schedule order.
///
/// Short games end first, and their results differ from those of long games, so a test on pairs in the order of their
/// ends would be biased. Pair k is therefore evaluated only when each of the pairs 0 to k is complete or left out; later
/// ones wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sequence {
    /// The pairs from 0 on without a gap; those with a game that is left out count nothing.
    pub in_order: TestCounts,
    /// Every finished game, incomplete pairs included, and every complete pair.
    pub finished: TestCounts,
    /// The first pair that is neither in order nor left out.
    #[serde(skip)]
    next: u64,
    /// Later pairs; `None` for those that are left out.
    #[serde(skip)]
    waiting: BTreeMap<u64, Option<[Half; 2]>>,
}

impl Sequence {
    pub(super) fn add_game(&mut self, half_points: u8) {
        self.finished.add_game(half_points);
    }

    /// Takes back a game that counted.
    pub(super) fn take_game_back(&mut self, half_points: u8) {
        self.finished.take_game_back(half_points);
    }

    /// Takes back a pair that was complete or left out. Those after it wait until it is so again; `games` of a pair are
    /// the games that it had, `None` if it was left out.
    pub(super) fn take_pair_back(&mut self, pair: u64, games: impl Fn(u64) -> Option<[Half; 2]>) {
        while self.next > pair {
            self.next -= 1;
            let games = games(self.next);
            if let Some(games) = games {
                games.into_iter().for_each(|game| self.in_order.take_game_back(game.half_points));
                let (half_points, is_faulted) = sum(games);
                self.in_order.take_pair_back(half_points, is_faulted);
            }
            self.wait(self.next, games);
        }
        if let Some(Some(games)) = self.waiting.remove(&pair) {
            let (half_points, is_faulted) = sum(games);
            self.finished.take_pair_back(half_points, is_faulted);
        }
    }

    /// Keeps a pair for its turn. What counts of it has neither an order nor an opening.
    fn wait(&mut self, pair: u64, games: Option<[Half; 2]>) {
        let games = games.map(|games| {
            let mut games = games.map(|game| Half { opening: 0, ..game });
            games.sort_by_key(|game| (game.half_points, game.faulted));
            games
        });
        self.waiting.insert(pair, games);
    }

    /// Adds a complete pair; `due` receives the counts after each pair that is now in order.
    pub(super) fn add_pair(&mut self, pair: u64, games: [Half; 2], due: &mut Vec<TestCounts>) {
        let (half_points, is_faulted) = sum(games);
        self.finished.add_pair(half_points, is_faulted);
        self.wait(pair, Some(games));
        self.advance(due);
    }

    /// Skips a pair of which a game is left out for good.
    pub(super) fn leave_out(&mut self, pair: u64, due: &mut Vec<TestCounts>) {
        if pair >= self.next {
            self.wait(pair, None);
            self.advance(due);
        }
    }

    fn advance(&mut self, due: &mut Vec<TestCounts>) {
        while let Some(games) = self.waiting.remove(&self.next) {
            self.next += 1;
            let Some(games) = games else { continue };
            games.into_iter().for_each(|game| self.in_order.add_game(game.half_points));
            let (half_points, is_faulted) = sum(games);
            self.in_order.add_pair(half_points, is_faulted);
            due.push(self.in_order);
        }
    }
}
