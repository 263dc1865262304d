//! How much of a network's speed a search gets.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Serialize;
use usi_shell::{Budget, Clock, Game};

use super::rate;
use crate::{
    evaluator::{EvaluatorError, TorchEvaluator},
    search::{Searcher, Task},
};

/// Middle games of real games, one SFEN a line.
const MIDDLE_GAMES: &str = include_str!("../../../../kifu/middlegames.sfen");

/// How a search is measured.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// Leaves that a thread asks about at a time.
    pub batch: usize,
    /// Threads that search.
    pub threads: usize,
    /// Bytes for tree and cache.
    pub memory: usize,
}

/// What a search reached.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SearchSpeed {
    /// Leaves that a thread asked about at a time.
    pub search_batch: usize,
    /// Threads that searched.
    pub search_threads: usize,
    /// Positions a second that the network alone computes at this batch size, measured in turns with the search.
    pub forward_per_s: f64,
    /// Positions a second that the network answered to the search. What the cache answered does not count.
    pub search_per_s: f64,
    /// The second over the first.
    pub ratio: f64,
    /// Playouts a second: what the cache, the rules and mates answered counts too.
    pub playouts_per_s: f64,
}

/// Sums over positions.
#[derive(Default)]
struct Sums {
    forward: f64,
    evaluations: u64,
    playouts: u64,
    searched: Duration,
}

/// Searches the first position of the game and some middle games, each anew for `time`, and between them measures the
/// network alone for half as long.
///
/// # Errors
/// When the device fails.
pub fn measure_search(
    evaluator: &Arc<TorchEvaluator>,
    callers: usize,
    options: &SearchOptions,
    time: Duration,
) -> Result<SearchSpeed, EvaluatorError> {
    let mut sums = Sums::default();
    let games = games();
    let mut searcher = Searcher::new(evaluator.clone(), options.memory);
    for game in &games {
        let forward = rate(time / 2, callers, || evaluator.forward_only(options.batch))?;
        sums.forward += options.batch as f64 * forward;
        searcher.new_game();
        sums.search(&mut searcher, game, options, time)?;
    }
    let seconds = sums.searched.as_secs_f64();
    let forward_per_s = sums.forward / games.len() as f64;
    let search_per_s = sums.evaluations as f64 / seconds;
    Ok(SearchSpeed {
        search_batch: options.batch,
        search_threads: options.threads,
        forward_per_s,
        search_per_s,
        ratio: search_per_s / forward_per_s,
        playouts_per_s: sums.playouts as f64 / seconds,
    })
}

fn games() -> Vec<Game> {
    let positions = MIDDLE_GAMES.lines().filter_map(|line| Game::from_sfen(line).ok());
    std::iter::once(Game::startpos()).chain(positions).collect()
}

impl Sums {
    fn search(
        &mut self,
        searcher: &mut Searcher,
        game: &Game,
        options: &SearchOptions,
        time: Duration,
    ) -> Result<(), EvaluatorError> {
        let clock = Clock::start(Instant::now(), Some(Budget { soft: time, hard: time }));
        let task =
            Task { clock: Some(clock), threads: options.threads, batch: options.batch, ..Task::default() };
        let found = searcher.think(game, &task, &mut |_| true)?.progress;
        self.searched += found.elapsed;
        self.evaluations += found.evaluations;
        self.playouts += found.playouts;
        Ok(())
    }
}
