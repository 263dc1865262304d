//! One game: as it stands, and its end.

use crate::{
    board::Board,
    state::clean_lines,
    text::{clean, millis},
};
use referee::{
    Color, Outcome,
    entry::GameEnded,
    evaluation::Evaluation,
    running::{RunningGame, ShownClock},
};
use std::ops::{Deref, DerefMut};

/// The ending of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// The result.
    pub outcome: Outcome,
    /// Time in ms since 1970 UTC.
    pub at: i64,
    /// Evidence for disputes, printable.
    pub evidence: String,
    /// Why it ended so, printable; `None` where the result says it all.
    pub reason: Option<String>,
}

impl End {
    /// The ending of an entry.
    pub fn of(ended: &GameEnded, at: i64) -> Self {
        let reason = ended.reason().map(|reason| clean(&reason));
        Self { outcome: ended.outcome, at, evidence: clean_lines(&ended.evidence), reason }
    }
}

/// A game that runs or is over.
#[derive(Clone, Debug)]
pub struct Game {
    /// The game as it stands.
    pub running: RunningGame,
    /// The ending; `None` while the game runs.
    pub end: Option<End>,
}

impl From<RunningGame> for Game {
    fn from(running: RunningGame) -> Self {
        Self { running, end: None }
    }
}

impl Deref for Game {
    type Target = RunningGame;

    fn deref(&self) -> &RunningGame {
        &self.running
    }
}

impl DerefMut for Game {
    fn deref_mut(&mut self) -> &mut RunningGame {
        &mut self.running
    }
}

impl Game {
    /// The first `plies` moves in Japanese notation.
    pub fn words(&self, plies: usize) -> Vec<String> {
        let mut board = Board::of(self, 0);
        let mut spell = |mv| {
            let words = board.spell(mv);
            board.play(mv);
            words
        };
        self.plies.iter().take(plies).map(|ply| spell(ply.mv)).collect()
    }

    /// A move in Japanese notation, counted from 0.
    pub fn word(&self, at: usize) -> String {
        self.plies.get(at).map_or_else(String::new, |ply| Board::of(self, at).spell(ply.mv))
    }

    /// The clock of a side after so many plies, as [`RunningGame::clock`] gives it.
    pub fn clock(&self, color: Color, plies: usize, now: i64) -> Option<ShownClock> {
        self.running.clock(color, plies, self.end.is_none(), now)
    }

    /// The time of the side that has less of it left, in ms; untimed games have the most.
    pub fn least_left(&self, now: i64) -> u64 {
        let left = |color| self.clock(color, self.plies.len(), now).map(|clock| clock.main + clock.byoyomi);
        Color::BOTH.into_iter().filter_map(left).min().map_or(u64::MAX, millis)
    }

    /// Expected score of black, 0 to 1, by the last evaluation of the judge, else by the last that a player printed.
    pub fn expected(&self) -> Option<f64> {
        self.opinion(self.plies.len()).or_else(|| self.evaluation()).map(Evaluation::black_share)
    }
}
