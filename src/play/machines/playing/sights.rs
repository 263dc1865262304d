//! The games of a worker as people look at them.

use super::{Collector, Playing};
use crate::messages::Sight;
use journal::now;
use referee::{
    entry::{Entry, GameId, Moved, Stamped},
    lease::LeaseId,
};
use std::collections::HashMap;

/// A game is shown once it has lasted for so many ms: nobody could look at shorter ones.
const YOUNG: i64 = 500;
/// After so many sights a game is told from its first move on, for whoever has missed one.
const WHOLE: u32 = 20;
/// Moves whose expected line is told where a game comes as a whole.
const LINES: usize = 2;

/// What was shown of each game: its moves, and the sights since it came as a whole.
#[derive(Debug, Default)]
pub(super) struct Sights(HashMap<GameId, (usize, u32)>);

impl Playing {
    /// What is to be shown of these games: each with its lease, and its place in the pair.
    pub fn sights(&mut self, games: &[(GameId, LeaseId, usize)]) -> Vec<Sight> {
        self.sights.0.retain(|game, _| games.iter().any(|(shown, ..)| shown == game));
        let now = now();
        games.iter().filter_map(|game| self.sight(*game, now)).collect()
    }

    fn sight(&mut self, (number, lease, game): (GameId, LeaseId, usize), now: i64) -> Option<Sight> {
        let shown = self.sights.0.get(&number).copied();
        let (from, since) = shown.filter(|(_, since)| *since < WHOLE).unwrap_or_default();
        let moves = self.collector.moves(number, from, now)?;
        let told = from + moves.len();
        self.sights.0.insert(number, (told, since + 1));
        // Nothing new: a sign only now and then.
        let is_news = shown.is_none_or(|(before, _)| before != told || from == 0);
        is_news.then_some(Sight { lease, game, from, moves })
    }
}

impl Collector {
    /// The moves of a game from one on, if it has lasted for a while.
    fn moves(&self, game: GameId, from: usize, now: i64) -> Option<Vec<(i64, Moved)>> {
        let games = self.games.lock();
        let entries = games.get(&game)?;
        let begun = |stamped: &&Stamped| matches!(stamped.entry, Entry::GameStarted(_));
        entries.iter().find(begun).filter(|started| now.saturating_sub(started.at) >= YOUNG)?;
        let moved = entries.iter().filter_map(|stamped| match &stamped.entry {
            Entry::Moved(moved) => Some((stamped.at, moved)),
            _ => None,
        });
        let mut moves: Vec<(i64, Moved)> = moved.skip(from).map(|(at, moved)| (at, moved.clone())).collect();
        let old = moves.len().saturating_sub(LINES);
        for thought in moves[..old].iter_mut().filter_map(|(_, moved)| moved.thought.as_mut()) {
            thought.pv = None;
        }
        Some(moves)
    }
}
