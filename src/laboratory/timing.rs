//! What another division of an engine's clock is worth, estimated from its games before it is played.
//!
//! Three things are taken from the games of an engine:
//!
//! - **Where the expected score changes hands.** The expected score by the engine's own evaluations moves from 1/2 to the
//!   result of a game. What counts is what a move changes for good: the distance from both of the last two evaluations to
//!   both of the next two, where all of them agree on the direction; a change that the next search takes back does not count. The
//!   size of such steps is multiplied by how far results follow them in this phase of the game, the slope of a regression,
//!   because the same centipawns mean more at one ply than at another. The sum of it over a set of moves, as a share of
//!   that over all, is their *weight*. Moves are grouped by ply, by how far the last score was from even, and by
//!   whether the opponent played the expected reply; a decided game has little left that can change hands.
//! - **What a doubling is worth.** The Elo of twice the nodes at all moves, given or measured ([`Doubling`]).
//! - **What a policy spends** (`walk`): each game is walked move by move with a clock of its own.
//!
//! A doubling of the nodes of a set of moves is then taken to be worth its weight of a doubling of all, and every further
//! doubling as much as the one before. The interval is by bootstrap over games, and has the error of the doubling in it.

mod doubling;
mod text;
mod walk;
mod worth;

#[cfg(test)]
mod tests;

pub use doubling::{Doubling, Odds};

use referee::clock::TimeControl;
use serde::Serialize;
use std::time::Duration;
use usi_shell::TimePolicy;
use worth::Sums;

/// Least number of games.
pub const LEAST_GAMES: usize = 20;
/// Most games that are looked at.
pub const MOST_GAMES: usize = 20_000;
/// Plies of a phase, and the number of phases; the last one is open.
const PHASE: u32 = 20;
const PHASES: usize = 8;
/// Plies of a point of a course.
const STEP: u32 = 4;
/// Most plies of a course.
const MOST_PLIES: u32 = 400;
/// Least share of the own moves that have to have nodes and scores.
const LEAST_KNOWN: f64 = 0.5;

/// A game of the engine, seen from its side.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedGame {
    /// Its clock.
    pub control: TimeControl,
    /// Its result: 1, 0.5 or 0.
    pub result: f64,
    /// True if it lost on time.
    pub fell: bool,
    /// Its moves, in order.
    pub moves: Vec<OwnMove>,
}

/// A move of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnMove {
    /// The ply, from 1.
    pub ply: u32,
    /// Main time left before it.
    pub left: Duration,
    /// Time that it took, as measured.
    pub elapsed: Duration,
    /// Nodes searched; `None` if the engine did not say, as of a move from a book.
    pub nodes: Option<u64>,
    /// Score in centipawns from its side; `i32::MAX` or its negative for a mate.
    pub score: Option<i32>,
    /// True if the opponent had played the reply that the search before expected.
    pub expected: bool,
}

impl OwnMove {
    /// The nodes and the score of a move that was searched.
    fn searched(&self) -> Option<(u64, i32)> {
        Some((self.nodes.filter(|nodes| *nodes > 0)?, self.score?)).filter(|_| !self.elapsed.is_zero())
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// How the engine divided its time in the games; `None`: unknown, a policy is then taken to spend what it plans.
    pub present: Option<TimePolicy>,
    /// How it is to divide its time.
    pub policy: TimePolicy,
    /// Time of each move that is kept back for the latency between engine and clock.
    pub delay: Duration,
    /// Centipawns of one unit of log odds of a result.
    pub centipawns: f64,
    /// What twice the nodes are worth.
    pub doubling: Doubling,
}

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoEstimate {
    /// Too few games.
    #[error(
        "{games} games with a result over the board are too few: {LEAST_GAMES} at least, and some hundred for a useful interval"
    )]
    Games {
        /// Those that there are.
        games: usize,
    },
    /// Without a clock.
    #[error(
        "the games have no clock to divide: they were played with a fixed time, nodes or depth for each move"
    )]
    Clock,
    /// Without times.
    #[error("the games have no times of moves, as records of other programs often have none")]
    Times,
    /// Without nodes or scores.
    #[error(
        "only {known} of {moves} moves have nodes and a score: without them nobody knows what more time would have searched; \
         the engine has to print `info .. score .. nodes ..`"
    )]
    Nodes {
        /// Moves with both.
        known: usize,
        /// All moves of the engine.
        moves: usize,
    },
    /// The scores say nothing of the results.
    #[error(
        "the scores of the engine do not go with the results of its games, so where games are decided is unknown"
    )]
    Scores,
}

/// An estimate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Games that it comes from, and searched moves in them.
    pub games: usize,
    /// Searched moves in them.
    pub moves: u64,
    /// Share of the moves after the first searched one that have no nodes or no score: the clock, or a busy machine, left no
    /// time for an iteration. They keep their time, and what it is worth there is unknown.
    pub unsearched: f64,
    /// Nodes a millisecond.
    pub speed: f64,
    /// What twice the nodes are worth.
    pub doubling: Doubling,
    /// Elo of the policy against the present one.
    pub elo: f64,
    /// The 95 % interval.
    pub interval: [f64; 2],
    /// Games lost on time: as played, of all games; and of those walked with the policy.
    pub lost_on_time: [usize; 2],
    /// Mean seconds of main time that are left at the end of a game: as played, and by the policy.
    pub left: [f64; 2],
    /// Share of moves that the policy gives less than a quarter or more than four times their time: the law of doublings
    /// was not measured for them.
    pub far: f64,
    /// The phases of the game.
    pub phases: Vec<Phase>,
    /// Mean seconds of a move by ply, as played and by the policy.
    pub course: Vec<(f64, f64, f64)>,
}

/// A phase of the game.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phase {
    /// Its first ply.
    pub from: u32,
    /// Its last ply; `None`: the end of the game.
    pub to: Option<u32>,
    /// Searched moves a game.
    pub moves: f64,
    /// Share of what changes hands for good in it.
    pub weight: f64,
    /// Seconds of a game: as played, and by the policy.
    pub seconds: [f64; 2],
    /// Elo that the change of its time is worth.
    pub elo: f64,
}

/// Estimates what a policy is worth.
///
/// # Errors
/// [`NoEstimate`]: what the games lack.
pub fn estimate(games: &[PlayedGame], question: &Question) -> Result<Estimate, NoEstimate> {
    check(games)?;
    let fell = games.iter().filter(|game| game.fell).count();
    let over: Vec<&PlayedGame> = games.iter().filter(|game| !game.fell).collect();
    let habits = walk::Habits::of(&over, question);
    let walked: Vec<Walked<'_>> = over
        .iter()
        .map(|game| {
            let (spent, left, fell) = habits.walk(game, question);
            Walked { game, spent, left, fell }
        })
        .collect();
    let sums: Vec<Sums> = walked.iter().map(|walked| Sums::of(walked, question.centipawns)).collect();
    let worth = worth::Worth::of(&sums, &question.doubling).ok_or(NoEstimate::Scores)?;
    let mut estimate = worth.estimate(question.doubling);
    estimate.lost_on_time = [fell, walked.iter().filter(|walked| walked.fell).count()];
    let own_book = |own: &&OwnMove| own.searched().is_none();
    let played: Vec<&OwnMove> = over.iter().flat_map(|game| game.moves.iter().skip_while(own_book)).collect();
    estimate.unsearched = played.iter().copied().filter(own_book).count() as f64 / played.len() as f64;
    describe(&mut estimate, &walked);
    Ok(estimate)
}

/// A game with what a policy spends on its moves: on fewer, if its flag falls.
struct Walked<'a> {
    game: &'a PlayedGame,
    spent: Vec<Duration>,
    left: Duration,
    fell: bool,
}

impl Walked<'_> {
    /// The searched moves, each with its nodes and what the policy spends on it.
    fn searched(&self) -> impl Iterator<Item = (&OwnMove, u64, Duration)> {
        let moves = self.game.moves.iter().zip(&self.spent);
        moves.filter_map(|(own, spent)| Some((own, own.searched()?.0, *spent)))
    }
}

/// Whether an estimate can be made from these games.
///
/// # Errors
/// [`NoEstimate`]: what they lack. That scores do not go with results comes to light in the estimate alone.
pub fn check(games: &[PlayedGame]) -> Result<(), NoEstimate> {
    let games: Vec<&PlayedGame> = games.iter().filter(|game| !game.fell).collect();
    if games.len() < LEAST_GAMES {
        return Err(NoEstimate::Games { games: games.len() });
    }
    let is_divided = |control: &TimeControl| control.fixed.is_none() && control.is_timed();
    if !games.iter().all(|game| is_divided(&game.control)) {
        return Err(NoEstimate::Clock);
    }
    let moves = || games.iter().flat_map(|game| &game.moves);
    if moves().all(|own| own.elapsed.is_zero()) {
        return Err(NoEstimate::Times);
    }
    let (all, known) = (moves().count(), moves().filter(|own| own.searched().is_some()).count());
    match (known as f64) < LEAST_KNOWN * all as f64 {
        true => Err(NoEstimate::Nodes { known, moves: all }),
        false => Ok(()),
    }
}

/// Adds times and speeds to an estimate.
fn describe(estimate: &mut Estimate, walked: &[Walked<'_>]) {
    let games = walked.len() as f64;
    let (mut nodes, mut far, mut moves) = (0.0, 0, 0_u64);
    let mut course: Vec<(f64, [f64; 2])> = vec![(0.0, [0.0; 2]); (MOST_PLIES / STEP) as usize];
    for (own, searched, spent) in walked.iter().flat_map(Walked::searched) {
        let seconds = [own.elapsed, spent].map(|time| time.as_secs_f64());
        (nodes, moves) = (nodes + searched as f64, moves + 1);
        far += u64::from(!(0.25..=4.0).contains(&(seconds[1] / seconds[0])));
        let phase = &mut estimate.phases[phase_of(own.ply)];
        let point = course.get_mut((own.ply.saturating_sub(1) / STEP) as usize);
        for (sum, time) in phase.seconds.iter_mut().zip(seconds) {
            *sum += time / games;
        }
        if let Some((count, sums)) = point {
            *count += 1.0;
            (sums[0], sums[1]) = (sums[0] + seconds[0], sums[1] + seconds[1]);
        }
    }
    let milliseconds = 1000.0 * games * estimate.phases.iter().map(|phase| phase.seconds[0]).sum::<f64>();
    estimate.speed = nodes / milliseconds;
    estimate.far = far as f64 / moves as f64;
    estimate.course = points(&course, games);
    let last = |game: &PlayedGame| {
        game.moves.last().map_or(game.control.main, |own| {
            let clock = referee::clock::Clock::resumed(game.control, own.left);
            walk::after(clock, own.elapsed).0
        })
    };
    let mean = |sum: f64| sum / games;
    estimate.left = [
        mean(walked.iter().map(|walked| last(walked.game).as_secs_f64()).sum()),
        mean(walked.iter().map(|walked| walked.left.as_secs_f64()).sum()),
    ];
}

/// The points of a course that enough games reach for their means to say something.
fn points(course: &[(f64, [f64; 2])], games: f64) -> Vec<(f64, f64, f64)> {
    let least = (0.05 * games).max(5.0);
    let known = course.iter().enumerate().filter(|(_, (count, _))| *count >= least);
    let ply = |at: usize| (at as f64 + 0.5) * f64::from(STEP);
    known.map(|(at, (count, [now, then]))| (ply(at), now / count, then / count)).collect()
}

/// The phase of a ply.
fn phase_of(ply: u32) -> usize {
    ((ply.saturating_sub(1) / PHASE) as usize).min(PHASES - 1)
}
