//! Pairs that are played again on another machine, where engines always play the same. They never count: a difference
//! goes on record as a fault that names both machines.

use super::{Act, Manager};
use crate::{
    Moment,
    messages::{Answer, Taken},
};
use arena::play::Fixture;
use referee::{
    entry::{Entry, Stamped},
    lease::{LeaseId, Repeated},
    sink::SideRecord,
};
use rsshogi::types::Move;
use std::collections::{HashMap, VecDeque};

/// Pairs that wait to be played again at most.
const WAITING: usize = 16;

/// A pair that was played, and is played again.
#[derive(Clone)]
pub(super) struct Repeat {
    /// The worker that played it first.
    worker: String,
    fixtures: Vec<Fixture>,
    games: Vec<Vec<Move>>,
}

/// The pairs that wait to be played again, and those that another machine has.
#[derive(Default)]
pub(super) struct Repeats {
    waiting: VecDeque<Repeat>,
    /// True if none begins any more.
    stopped: bool,
    away: HashMap<LeaseId, Repeat>,
}

impl Repeats {
    /// Keeps a pair that was played, if it is one of those that are played again.
    pub(super) fn keep(&mut self, share: Option<u64>, worker: &str, answer: &Answer, fixtures: &[Fixture]) {
        let is_due = share.is_some_and(|share| answer.lease.0.is_multiple_of(share.max(1)));
        if is_due && !self.stopped && self.waiting.len() < WAITING {
            let games = answer.games.iter().map(|game| moves(game)).collect();
            self.waiting.push_back(Repeat { worker: worker.to_owned(), fixtures: fixtures.to_vec(), games });
        }
    }

    /// None begins any more.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
        self.waiting.clear();
    }

    /// The pair that this lease plays again.
    pub(super) fn take(&mut self, lease: LeaseId) -> Option<Repeat> {
        self.away.remove(&lease)
    }
}

impl Manager {
    /// Hands pairs that wait to other machines than those that have played them, as far as they have places.
    pub(super) fn repeat(&mut self, now: Moment) {
        self.repeats.away.retain(|lease, _| self.registry.has(*lease));
        // One that no machine has a place for now does not hold up those behind it.
        for repeat in std::mem::take(&mut self.repeats.waiting) {
            let lease = LeaseId((self.draw)());
            let fixtures = repeat.fixtures.clone();
            if self.registry.give_again(now.steady, lease, fixtures, &repeat.worker) {
                self.repeats.away.insert(lease, repeat);
                self.send_job(now, lease, true);
            } else {
                self.repeats.waiting.push_back(repeat);
            }
        }
    }

    /// Compares a pair that was played again with what was played first.
    pub(super) fn repeated(&mut self, worker: &str, answer: &Answer, repeat: &Repeat) -> Taken {
        self.registry.lose(answer.lease);
        let (machine, again) = (self.registry.name_of(&repeat.worker), self.registry.name_of(worker));
        let mut found: Option<String> = None;
        for ((again, before), fixture) in answer.games.iter().zip(&repeat.games).zip(&repeat.fixtures) {
            if let Some(difference) = difference(&moves(again), before) {
                let place = fixture.pairing.index + 1;
                let text = format!(
                    "the game at place {place}, played again here, is not the one that machine `{machine}` has played: \
                     {difference}; one of them, or an engine, does not always play the same"
                );
                self.fault(worker, None, &text);
                found = found.or_else(|| Some(format!("place {place}: {difference}")));
            }
        }
        if let Some(game) = repeat.fixtures.first().map(|fixture| fixture.pairing) {
            let repeated = Repeated { game, machine, again, difference: found };
            self.act(Act::Keep(SideRecord::Repeated(Box::new(repeated))));
        }
        Taken::Committed
    }
}

/// The moves of a game.
fn moves(game: &[Stamped]) -> Vec<Move> {
    let moved = game.iter().filter_map(|stamped| match &stamped.entry {
        Entry::Moved(moved) => Some(moved.mv),
        _ => None,
    });
    moved.collect()
}

/// Where a game differs from the one before.
fn difference(again: &[Move], before: &[Move]) -> Option<String> {
    let shown =
        |mv: Option<&Move>| mv.map_or_else(|| "the end".to_owned(), |mv| format!("`{}`", mv.to_usi()));
    let at = again.iter().zip(before).position(|(again, before)| again != before);
    let at = at.or_else(|| (again.len() != before.len()).then(|| again.len().min(before.len())))?;
    Some(format!("move {} is {} and was {}", at + 1, shown(again.get(at)), shown(before.get(at))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_move_that_differs_is_named_and_a_longer_game_is_another_one() {
        let moves = |text: &str| -> Vec<Move> {
            text.split_whitespace().map(|usi| Move::from_usi(usi).unwrap()).collect()
        };
        let before = moves("7g7f 3c3d 2g2f");
        assert_eq!(difference(&before, &before), None);
        assert_eq!(
            difference(&moves("7g7f 8c8d 2g2f"), &before).as_deref(),
            Some("move 2 is `8c8d` and was `3c3d`")
        );
        assert_eq!(
            difference(&moves("7g7f 3c3d"), &before).as_deref(),
            Some("move 3 is the end and was `2g2f`")
        );
    }
}
