//! Speed of a network, and of a search with it.

use crate::{
    evaluator::{
        Desk, DeviceChoice, Evaluator, EvaluatorError, Question, SimulatedDevice, TorchEvaluator,
        TorchOptions,
    },
    search::{self, Progress, Searcher, Task},
};
use anyhow::Context;
use clap::Args;
use rsshogi::{board::MoveList, movegen::generate_legal_all};
use serde::Serialize;
use std::{
    fmt,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use usi_shell::{Budget, Clock, Game};

/// A hundred positions of as many games, one SFEN per line.
const POSITIONS: &str = include_str!("../../../kifu/bench.sfen");

/// Arguments of a measurement.
#[derive(Args, Clone, Debug)]
pub struct BenchOptions {
    /// Description file of the network; default is the embedded one.
    network: Option<PathBuf>,
    #[command(flatten)]
    torch: TorchOptions,
    /// Batch sizes.
    #[arg(long, value_delimiter = ',', default_value = "1,8,32,64,128")]
    batches: Vec<usize>,
    /// Seconds per measurement.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Concurrent callers.
    #[arg(long, default_value_t = 2)]
    callers: usize,
    /// Search threads.
    #[arg(long, default_value_t = 2)]
    search_threads: usize,
    /// Leaves per batch of a search thread.
    #[arg(long, default_value_t = 16)]
    search_batch: usize,
    /// Positions that are searched, of 100.
    #[arg(long, default_value_t = 100)]
    positions: usize,
    /// Playouts of each search before it is measured: in a small tree its threads wait for each other.
    #[arg(long, default_value_t = 10_000)]
    warm: u64,
    /// Depth of the mate search at leaves, in plies: 0, 1 or 3; default is that of games: 3 on a processor, else 1.
    #[arg(long)]
    leaf_mate: Option<u32>,
    /// MiB for the tree and the evaluation cache.
    #[arg(long, default_value_t = 256)]
    memory: usize,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Benchmark results.
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// Name of the network.
    pub network: String,
    /// Kind of the evaluator.
    pub evaluator: String,
    /// CPU threads per batch.
    pub threads: usize,
    /// Concurrent callers, each with a lane of its own.
    pub callers: usize,
    /// Throughput by batch size.
    pub batches: Vec<BatchSpeed>,
    /// Throughput of the search, relative to the network's.
    pub search: SearchSpeed,
}

/// Throughput at one batch size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BatchSpeed {
    /// Positions per batch.
    pub batch: usize,
    /// Positions per second of the network alone, with host-device transfers.
    pub forward_per_s: f64,
    /// Positions per second of an evaluation: plane expansion, network, priors.
    pub evaluate_per_s: f64,
}

/// Throughput of a search relative to its network.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SearchSpeed {
    /// Leaves per batch.
    pub batch: usize,
    /// Search threads.
    pub threads: usize,
    /// Positions per second of the network alone at this batch size, measured alternately with the search.
    pub forward_per_s: f64,
    /// Positions per second evaluated by the network for the search, cache hits excluded.
    pub search_per_s: Spread,
    /// Descents that ended at a leaf which waited for its evaluation, as a share of all.
    pub collisions: f64,
    /// Playouts per second, including those that ended by cache hits, rules or mates.
    pub playouts_per_s: f64,
}

/// A speed over all positions searched.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Slowest position.
    pub least: f64,
}

/// Measures both throughputs of a network at each batch size, with as many callers as lanes; then a search.
///
/// # Errors
/// When the network or the device is unavailable, or libtorch fails.
pub fn measure(options: &BenchOptions) -> anyhow::Result<Bench> {
    let time = Duration::try_from_secs_f64(options.seconds)
        .context("--seconds must be a number of seconds, 0 or more")?;
    let mut options = options.clone();
    let at_least_one = [&mut options.callers, &mut options.search_threads, &mut options.search_batch];
    at_least_one.into_iter().chain(&mut options.batches).for_each(|number| *number = (*number).max(1));
    let most = options.batches.iter().copied().fold(options.search_batch, usize::max);
    let torch = TorchOptions { batch: most, lanes: options.callers, ..options.torch };
    let (network, evaluator): (_, Arc<dyn Evaluator>) = if let DeviceChoice::Simulated(times) = torch.device {
        ("none".to_owned(), Arc::new(SimulatedDevice::new(times, most)))
    } else {
        let evaluator = TorchEvaluator::open(options.network.as_deref(), &torch)?;
        (evaluator.description().name.clone(), Arc::new(evaluator))
    };
    let row = |&batch: &usize| {
        let questions = questions(&*evaluator, batch);
        let forward = rate(time, options.callers, || evaluator.forward_only(batch))?;
        let evaluate = rate(time, options.callers, || evaluator.evaluate(&questions).map(drop))?;
        let (forward_per_s, evaluate_per_s) = (batch as f64 * forward, batch as f64 * evaluate);
        Ok(BatchSpeed { batch, forward_per_s, evaluate_per_s })
    };
    Ok(Bench {
        network,
        evaluator: evaluator.kind().to_owned(),
        threads: torch.threads,
        callers: options.callers,
        batches: options.batches.iter().map(row).collect::<Result<_, EvaluatorError>>()?,
        search: measure_search(&evaluator, &options, time)?,
    })
}

/// Searches positions for `time` each, in a tree that is no longer small, and before each measures the network alone for
/// half as long.
fn measure_search(
    evaluator: &Arc<dyn Evaluator>,
    options: &BenchOptions,
    time: Duration,
) -> Result<SearchSpeed, EvaluatorError> {
    let (batch, threads) = (options.search_batch, options.search_threads);
    let is_processor = options.torch.device.find().is_ok_and(|device| !device.is_cuda());
    // As the engine does: a device of its own has owners that form its batches.
    let searched: Arc<dyn Evaluator> = if is_processor {
        Arc::clone(evaluator)
    } else {
        Arc::new(Desk::new(Arc::clone(evaluator), options.callers, true))
    };
    let leaf_mate = options.leaf_mate.unwrap_or(search::leaf_mate(!is_processor));
    let mut searcher = Searcher::new(searched, options.memory << 20);
    let games = POSITIONS.lines().filter_map(|line| Game::from_sfen(line).ok());
    let (mut forward, mut searches) = (Vec::new(), Vec::new());
    for game in games.take(options.positions.max(1)) {
        forward.push(batch as f64 * rate(time / 2, options.callers, || evaluator.forward_only(batch))?);
        searcher.new_game();
        let task = Task { threads, batch, leaf_mate, ..Task::default() };
        searcher.think(&game, &Task { playouts: Some(options.warm), ..task.clone() }, &mut |_| true)?;
        let clock = Some(Clock::start(Instant::now(), Some(Budget { soft: time, hard: time })));
        let search = searcher.think(&game, &Task { clock, ..task }, &mut |_| true)?.progress;
        // One that is decided by now ends at once, and says nothing of the speed.
        if search.elapsed >= time / 2 {
            searches.push(search);
        }
    }
    let per_s = |number: u64, search: &Progress| number as f64 / search.elapsed.as_secs_f64();
    let playouts: u64 = searches.iter().map(|search| search.playouts).sum();
    let collisions: u64 = searches.iter().map(|search| search.collisions).sum();
    Ok(SearchSpeed {
        batch,
        threads,
        forward_per_s: mean(forward),
        search_per_s: Spread::of(searches.iter().map(|search| per_s(search.evaluations, search)).collect()),
        collisions: collisions as f64 / (collisions + playouts).max(1) as f64,
        playouts_per_s: mean(searches.iter().map(|search| per_s(search.playouts, search))),
    })
}

fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) =
        numbers.into_iter().fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    sum / f64::max(count, 1.0)
}

impl Spread {
    fn of(mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        let at = |index: usize| numbers.get(index).copied().unwrap_or_default();
        Self { mean: mean(numbers.iter().copied()), median: at(numbers.len() / 2), least: at(0) }
    }
}

/// A table of the batch sizes and a line about the search.
impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { network, evaluator, threads, callers, batches, search } = self;
        writeln!(f, "{network} on {evaluator}, {threads} threads (0: libtorch's choice), {callers} callers")?;
        writeln!(f, "{:>6} {:>14} {:>14}", "batch", "forward/s", "evaluate/s")?;
        for BatchSpeed { batch, forward_per_s, evaluate_per_s } in batches {
            writeln!(f, "{batch:>6} {forward_per_s:>14.0} {evaluate_per_s:>14.0}")?;
        }
        let SearchSpeed { batch, threads, forward_per_s, search_per_s, collisions, playouts_per_s } = search;
        let Spread { mean, median, least } = search_per_s;
        write!(
            f,
            "search, batch {batch}, {threads} threads: {mean:.0} (median {median:.0}, least {least:.0}) of {forward_per_s:.0} \
             positions/s, ratio {:.3}; {playouts_per_s:.0} playouts/s, {:.1} % collisions",
            mean / forward_per_s,
            100.0 * collisions
        )
    }
}

/// Calls per second of `work` on this many threads; the first call of each is a warm-up.
fn rate(
    time: Duration,
    callers: usize,
    work: impl Fn() -> Result<(), EvaluatorError> + Sync,
) -> Result<f64, EvaluatorError> {
    let one = || {
        work()?;
        let (begun, mut times) = (Instant::now(), 0);
        while begun.elapsed() < time {
            work()?;
            times += 1;
        }
        Ok(f64::from(times) / begun.elapsed().as_secs_f64())
    };
    thread::scope(|scope| {
        let callers: Vec<_> = (0..callers).map(|_| scope.spawn(one)).collect();
        callers.into_iter().map(|caller| caller.join().unwrap_or(Ok(0.0))).sum()
    })
}

fn questions(evaluator: &dyn Evaluator, batch: usize) -> Vec<Question> {
    let start = Game::startpos();
    let mut legal = MoveList::new();
    generate_legal_all(start.position(), &mut legal);
    vec![evaluator.encoding().question(start.position(), legal.as_slice(), 0); batch]
}
