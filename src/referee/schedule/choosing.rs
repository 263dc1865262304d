//! Pairs whose opening line is chosen when they begin, by what was seen of all lines before.
//!
//! "Why this line": see [`LineChoice`]. A pair keeps its line through attempts, replays and restarts: what has begun is in
//! the standings with its opening. A restart chooses the lines of other pairs by the same results in the same way.

use crate::{
    opening::LineChoice,
    standings::{LineStep, Progress, Standings},
};
use std::collections::BTreeMap;

/// The choice of lines of an event.
#[derive(Clone, Debug)]
pub(super) struct Choosing {
    choice: LineChoice,
    /// Steps of the standings that the choice knows.
    known: usize,
    /// First index and opening of the pairs that were handed out and are not complete, by stage and number.
    handed_out: BTreeMap<(usize, u64), (u64, u64)>,
}

/// A pair of games.
pub(super) struct Pair<'a> {
    pub stage: usize,
    pub number: u64,
    /// Index of its first game.
    pub first: u64,
    /// Progress of its stage.
    pub progress: &'a Progress,
}

impl Choosing {
    pub fn new(choice: LineChoice) -> Self {
        Self { choice, known: 0, handed_out: BTreeMap::new() }
    }

    /// The opening of a pair.
    pub fn opening(&mut self, pair: &Pair<'_>, standings: &Standings) -> u64 {
        self.follow(standings);
        let key = (pair.stage, pair.number);
        if let Some(opening) = pair.begun().or_else(|| self.handed_out.get(&key).map(|known| known.1)) {
            return opening;
        }
        let is_open = |first: u64| !(first..first + 2).all(|index| pair.progress.finished.contains(index));
        self.handed_out.retain(|&(stage, _), &mut (first, _)| stage == pair.stage && is_open(first));
        let opening = self.choice.choose();
        self.handed_out.insert(key, (pair.first, opening));
        opening
    }

    fn follow(&mut self, standings: &Standings) {
        let steps = standings.line_steps();
        for step in steps.get(self.known..).unwrap_or_default() {
            match *step {
                LineStep::Used(opening) => self.choice.used(opening),
                LineStep::Scored(opening, black) => self.choice.scored(opening, black),
                LineStep::TakenBack(opening, black) => self.choice.take_back(opening, black),
            }
        }
        self.known = steps.len();
    }
}

impl Pair<'_> {
    /// The opening that a game of the pair has begun from.
    fn begun(&self) -> Option<u64> {
        let half = self.progress.halves.get(&self.number).map(|half| half.opening);
        half.or_else(|| {
            (self.first..self.first + 2).find_map(|index| Some(self.progress.open.get(&index)?.opening))
        })
    }
}
