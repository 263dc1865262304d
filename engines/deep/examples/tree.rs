//! The search without its network: a fixed number of playouts with equal priors and values, on one thread and without a
//! clock, so that the work is the same in every run. For instruction counts, which other programs do not disturb:
//!
//! `valgrind --tool=callgrind target/release/examples/tree --playouts 20000`, less the same with `--playouts 0`.
//!
//! `--threads N` searches on several, for `time`; `--mate N` sets the plies of the mate search at the leaves.

use renmei_deep::{
    evaluator::UniformEvaluator,
    search::{Searcher, Task},
};
use std::{error::Error, sync::Arc, time::Instant};
use usi_shell::Game;

/// A middlegame.
const POSITION: &str = include_str!("../../../kifu/middlegames.sfen");

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |flag: &str, otherwise: u64| {
        let value = words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
        value.map_or(Ok(otherwise), |value| value.parse())
    };
    let (playouts, threads) = (number("--playouts", 20_000)?, number("--threads", 1)? as usize);
    let leaf_mate = number("--mate", 1)? as u32;
    let game = Game::from_sfen(POSITION.lines().find(|line| !line.starts_with('#')).unwrap_or_default())?;
    let task = Task {
        playouts: Some(playouts.max(1)),
        threads,
        batch: 16,
        leaf_mate,
        root_mate: false,
        deterministic: threads == 1,
        ..Task::default()
    };
    let mut searcher = Searcher::new(Arc::new(UniformEvaluator::new(16)), 256 << 20);
    let begun = Instant::now();
    let found = searcher.think(&game, &task, &mut |_| true)?.progress;
    println!(
        "{} playouts, {} evaluations, deepest {}, best {:?} with {} visits; {:.0} playouts/s",
        found.playouts,
        found.evaluations,
        found.deepest,
        found.moves.first().map(|best| best.mv.to_usi()),
        found.moves.first().map_or(0, |best| best.visits),
        found.playouts as f64 / begun.elapsed().as_secs_f64(),
    );
    Ok(())
}
