//! Speed of a network, and of a search with it.

mod search;

use crate::evaluator::{
    Desk, DeviceChoice, Evaluator, EvaluatorError, Question, SimulatedDevice, TorchEvaluator, TorchOptions,
};
use anyhow::Context;
use clap::Args;
use rsshogi::{
    board::{MoveList, STARTPOS_SFEN, position_from_sfen},
    movegen::generate_legal_all,
};
use serde::Serialize;
use std::{
    fmt,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

pub use search::{SearchOptions, SearchSpeed};

/// Throughput at one batch size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// Positions per batch.
    pub batch: usize,
    /// Positions per second of the network alone, with host-device transfers.
    pub forward_per_s: f64,
    /// Positions per second of an evaluation: plane expansion, network, priors.
    pub evaluate_per_s: f64,
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
    pub batches: Vec<Row>,
    /// Throughput of the search, relative to the network's.
    #[serde(flatten)]
    pub search: SearchSpeed,
}

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
    #[command(flatten)]
    search: SearchOptions,
}

/// Measures both throughputs of a network at each batch size, with as many callers as lanes; then a search.
///
/// # Errors
/// When the network or the device is unavailable, or libtorch fails.
pub fn measure(options: &BenchOptions) -> anyhow::Result<Bench> {
    let time = Duration::try_from_secs_f64(options.seconds)
        .context("--seconds must be a number of seconds, 0 or more")?;
    let batches: Vec<usize> = options.batches.iter().map(|&batch| batch.max(1)).collect();
    let most = batches.iter().copied().max().unwrap_or(1).max(options.search.batch());
    let torch = TorchOptions { batch: most, lanes: options.callers, ..options.torch };
    let (network, evaluator): (_, Arc<dyn Evaluator>) = if let DeviceChoice::Simulated(times) = torch.device {
        ("none".to_owned(), Arc::new(SimulatedDevice::new(times, most)))
    } else {
        let evaluator = TorchEvaluator::open(options.network.as_deref(), &torch)?;
        (evaluator.description().name.clone(), Arc::new(evaluator))
    };
    let is_processor = torch.device.find().is_ok_and(|device| !device.is_cuda());
    // As the engine does: a device of its own has owners that form its batches.
    let searched: Arc<dyn Evaluator> = if is_processor {
        Arc::clone(&evaluator)
    } else {
        Arc::new(Desk::of_device(Arc::clone(&evaluator), options.callers))
    };
    let callers = options.callers.max(1);
    let rows = batches.iter().map(|&batch| row(&*evaluator, batch, callers, time));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    Ok(Bench {
        network,
        evaluator: evaluator.kind().to_owned(),
        threads: torch.threads,
        callers,
        batches: rows,
        search: search::measure(&searched, callers, &options.search, time)?,
    })
}

/// A table of the batch sizes and a line about the search.
impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { network, evaluator, threads, callers, batches, search } = self;
        writeln!(f, "{network} on {evaluator}, {threads} threads (0: libtorch's choice), {callers} callers")?;
        writeln!(f, "{:>6} {:>14} {:>14}", "batch", "forward/s", "evaluate/s")?;
        for Row { batch, forward_per_s, evaluate_per_s } in batches {
            writeln!(f, "{batch:>6} {forward_per_s:>14.0} {evaluate_per_s:>14.0}")?;
        }
        write!(
            f,
            "search, batch {}, {} threads: {:.0} of {:.0} positions/s, ratio {:.3}; {:.0} playouts/s, {:.1} % collisions",
            search.search_batch,
            search.search_threads,
            search.search_per_s,
            search.forward_per_s,
            search.ratio,
            search.playouts_per_s,
            100.0 * search.collisions
        )
    }
}

fn row(
    evaluator: &dyn Evaluator,
    batch: usize,
    callers: usize,
    time: Duration,
) -> Result<Row, EvaluatorError> {
    let questions = questions(evaluator, batch);
    Ok(Row {
        batch,
        forward_per_s: batch as f64 * rate(time, callers, || evaluator.forward_only(batch))?,
        evaluate_per_s: batch as f64 * rate(time, callers, || evaluator.evaluate(&questions).map(drop))?,
    })
}

/// Calls per second of `f` on this many threads; the first call of each is a warm-up.
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
    let Ok(position) = position_from_sfen(STARTPOS_SFEN) else { return Vec::new() };
    let mut legal = MoveList::new();
    generate_legal_all(&position, &mut legal);
    vec![evaluator.encoding().question(&position, legal.as_slice(), 0); batch]
}
