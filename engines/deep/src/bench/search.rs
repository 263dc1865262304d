//! Throughput of a search relative to its network.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;
use usi_shell::{Budget, Clock, Game};

use super::rate;
use crate::{
    evaluator::{Evaluator, EvaluatorError},
    search::{Searcher, Task},
};

/// Middlegame positions of real games, one SFEN per line.
const MIDDLE_GAMES: &str = include_str!("../../../../kifu/middlegames.sfen");

/// Parameters of the measurement.
#[derive(Args, Clone, Copy, Debug)]
pub struct SearchOptions {
    /// Search threads.
    #[arg(long, default_value_t = 2)]
    search_threads: usize,
    /// Leaves per batch of a search thread.
    #[arg(long, default_value_t = 16)]
    search_batch: usize,
    /// MiB for the tree and the evaluation cache.
    #[arg(long, default_value_t = 256)]
    memory: usize,
}

impl SearchOptions {
    pub(super) fn batch(&self) -> usize {
        self.search_batch.max(1)
    }

    fn threads(&self) -> usize {
        self.search_threads.max(1)
    }
}

/// Results of the measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SearchSpeed {
    /// Leaves per batch.
    pub search_batch: usize,
    /// Search threads.
    pub search_threads: usize,
    /// Positions per second of the network alone at this batch size, measured alternately with the search.
    pub forward_per_s: f64,
    /// Positions per second evaluated by the network for the search, cache hits excluded.
    pub search_per_s: f64,
    /// `search_per_s` divided by `forward_per_s`.
    pub ratio: f64,
    /// Descents that ended at a leaf which waited for its evaluation, as a share of all.
    pub collisions: f64,
    /// Playouts per second, including those that ended by cache hits, rules or mates.
    pub playouts_per_s: f64,
}

/// Sums over positions.
#[derive(Default)]
struct Sums {
    forward: f64,
    evaluations: u64,
    collisions: u64,
    playouts: u64,
    searched: Duration,
}

/// Searches the start position and some middlegame positions for `time` each, from an empty tree, and after
/// each measures the network alone for half as long.
///
/// # Errors
/// When the device fails.
pub(super) fn measure(
    evaluator: &Arc<dyn Evaluator>,
    callers: usize,
    options: &SearchOptions,
    time: Duration,
) -> Result<SearchSpeed, EvaluatorError> {
    let mut sums = Sums::default();
    let games = games();
    let mut searcher = Searcher::new(Arc::clone(evaluator), options.memory << 20);
    for game in &games {
        let forward = rate(time / 2, callers, || evaluator.forward_only(options.batch()))?;
        sums.forward += options.batch() as f64 * forward;
        searcher.new_game();
        sums.search(&mut searcher, game, options, time)?;
    }
    let seconds = sums.searched.as_secs_f64();
    let forward_per_s = sums.forward / games.len() as f64;
    let search_per_s = sums.evaluations as f64 / seconds;
    Ok(SearchSpeed {
        search_batch: options.batch(),
        search_threads: options.threads(),
        forward_per_s,
        search_per_s,
        ratio: search_per_s / forward_per_s,
        collisions: sums.collisions as f64 / (sums.collisions + sums.playouts).max(1) as f64,
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
        let task = Task {
            clock: Some(clock),
            threads: options.threads(),
            batch: options.batch(),
            ..Task::default()
        };
        let found = searcher.think(game, &task, &mut |_| true)?.progress;
        self.searched += found.elapsed;
        self.evaluations += found.evaluations;
        self.collisions += found.collisions;
        self.playouts += found.playouts;
        Ok(())
    }
}
