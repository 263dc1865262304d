//! `renmei-pairwise bench`: search and evaluation speed on fixed positions.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::Args;
use platform::usage::processor_time;
use rsshogi::board::{Move32List, Position};
use rsshogi::movegen::generate_legal_all_move32;
use rsshogi::types::Move32;
use serde::Serialize;
use usi_shell::Game;

use crate::Fault;
use crate::evaluation::{Accumulator, Weights};
use crate::search::{Searcher, Task};

/// Middlegame positions from games of fairy-stockfish against itself.
const POSITIONS: &str = include_str!("../../../kifu/middlegames.sfen");

/// Measure search and evaluation speed
#[derive(Args, Clone, Debug)]
pub struct BenchArguments {
    /// Nodes per search of each of the eight middlegame positions
    #[arg(long, default_value_t = 300_000)]
    nodes: u64,
    /// Size of the transposition table in MiB
    #[arg(long, default_value_t = 64)]
    hash: usize,
    /// Weights file, or `default`, or `material`
    #[arg(long, default_value = "default")]
    eval: String,
    /// Search threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

/// The measurements.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Nodes searched.
    pub nodes: u64,
    /// Processor time in seconds, all threads together.
    pub cpu_s: f64,
    /// Wall time in seconds.
    pub wall_s: f64,
    /// Nodes per second of processor time. This is the engine's own speed: other load on the machine changes it
    /// little.
    pub nodes_per_s: u64,
    /// Nodes per second of wall time.
    pub nodes_per_wall_s: u64,
    /// Incremental evaluations per second.
    pub incremental_per_s: u64,
    /// Evaluations from scratch per second.
    pub scratch_per_s: u64,
    /// Ratio of the two.
    pub incremental_over_scratch: f64,
    /// Sum of the depths reached.
    pub depths: u32,
    /// Number of search threads.
    pub threads: usize,
}

/// Runs the benchmark.
///
/// # Errors
/// When the weights cannot be read.
pub fn measure(arguments: &BenchArguments) -> Result<Measured, Fault> {
    let weights = Weights::choose(&arguments.eval)?;
    let games: Vec<Game> = POSITIONS
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(Game::from_sfen)
        .collect::<Result<_, _>>()?;
    let mut searcher = Searcher::new(arguments.hash);
    let task = Task { nodes: Some(arguments.nodes), lines: 1, threads: arguments.threads, ..Task::default() };
    let (mut nodes, mut depths) = (0, 0);
    let (cpu, wall) = (processor_time()?, Instant::now());
    for game in &games {
        searcher.clear();
        let outcome = searcher.think(&weights, game, &task, |_| true);
        nodes += outcome.nodes;
        depths += outcome.depth;
    }
    let (cpu, wall) = (processor_time()?.saturating_sub(cpu), wall.elapsed());
    let (incremental, scratch) = evaluations(&weights, &games)?;
    Ok(Measured {
        nodes,
        cpu_s: cpu.as_secs_f64(),
        wall_s: wall.as_secs_f64(),
        nodes_per_s: per_second(nodes, cpu),
        nodes_per_wall_s: per_second(nodes, wall),
        incremental_per_s: incremental,
        scratch_per_s: scratch,
        incremental_over_scratch: incremental as f64 / scratch.max(1) as f64,
        depths,
        threads: arguments.threads,
    })
}

/// Runs the benchmark and prints the result.
///
/// # Errors
/// When the weights cannot be read or the result cannot be printed.
pub fn run(arguments: &BenchArguments, out: &mut impl Write) -> Result<(), Fault> {
    print(&measure(arguments)?, arguments.json, out).map_err(|fault| format!("result: {fault}").into())
}

fn print(measured: &Measured, json: bool, out: &mut impl Write) -> io::Result<()> {
    if json {
        serde_json::to_writer(&mut *out, measured)?;
        return writeln!(out);
    }
    let Measured { nodes, depths, threads, nodes_per_s, nodes_per_wall_s, .. } = measured;
    writeln!(out, "searched     {nodes:>12} nodes, sum of depths {depths}, threads {threads}")?;
    writeln!(out, "speed        {nodes_per_s:>12} nodes per second of processor time")?;
    writeln!(out, "             {nodes_per_wall_s:>12} nodes per second of wall time")?;
    writeln!(out, "evaluations  {:>12} per second, incremental", measured.incremental_per_s)?;
    writeln!(out, "             {:>12} per second, from scratch", measured.scratch_per_s)?;
    writeln!(out, "ratio        {:>12.1}", measured.incremental_over_scratch)
}

fn per_second(count: u64, time: Duration) -> u64 {
    (count as f64 / time.as_secs_f64().max(1e-9)) as u64
}

/// A legal move of a position, with the position after it.
struct Case {
    before: Position,
    sums: Accumulator,
    mv: Move32,
    after: Position,
}

/// Evaluations per second after each legal move of the positions: incremental, and from scratch.
fn evaluations(weights: &Weights, games: &[Game]) -> io::Result<(u64, u64)> {
    let cases: Vec<Case> = games.iter().flat_map(|game| cases(weights, game.position())).collect();
    let incremental = timed(&cases, |case| {
        weights.value(&weights.advance(&case.sums, &case.before, case.mv), &case.after)
    })?;
    let scratch = timed(&cases, |case| weights.value(&weights.accumulate(&case.after), &case.after))?;
    Ok((incremental, scratch))
}

fn cases(weights: &Weights, before: &Position) -> Vec<Case> {
    let mut moves = Move32List::new();
    generate_legal_all_move32(before, &mut moves);
    let sums = weights.accumulate(before);
    let case = |&mv: &Move32| {
        let mut after = before.clone_compact();
        after.try_apply_move32(mv).ok()?;
        Some(Case { before: before.clone_compact(), sums, mv, after })
    };
    moves.iter().filter_map(case).collect()
}

/// Calls of `f` per second of processor time.
fn timed(cases: &[Case], f: impl Fn(&Case) -> i32) -> io::Result<u64> {
    let begun = processor_time()?;
    let mut count = 0;
    loop {
        for case in cases {
            black_box(f(case));
        }
        count += cases.len() as u64;
        let time = processor_time()?.saturating_sub(begun);
        if time >= Duration::from_millis(300) {
            return Ok(per_second(count, time));
        }
    }
}
