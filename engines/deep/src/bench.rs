//! Speed of a network, and of a search with it.

mod search;

use crate::evaluator::{Evaluator, EvaluatorError, Question, TorchEvaluator, TorchOptions};
use rsshogi::{
    board::{MoveList, STARTPOS_SFEN, position_from_sfen},
    movegen::generate_legal_all,
};
use serde::Serialize;
use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

pub use search::{SearchOptions, SearchSpeed, measure_search};

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

/// Measures both throughputs of a network (without one, of the embedded one) at each batch size, for at least `time` each and with as many callers
/// as lanes; then a search.
///
/// # Errors
/// When the network or the device is unavailable, or libtorch fails.
pub fn measure(
    network: Option<&Path>,
    options: &TorchOptions,
    batches: &[usize],
    search: &SearchOptions,
    time: Duration,
) -> Result<Bench, EvaluatorError> {
    let most = batches.iter().copied().max().unwrap_or(1).max(search.batch);
    let options = &TorchOptions { batch: most, ..*options };
    let opened =
        network.map_or_else(|| TorchEvaluator::shipped(options), |path| TorchEvaluator::open(path, options));
    let evaluator = Arc::new(opened?);
    let callers = options.lanes.max(1);
    let rows = batches.iter().map(|&batch| row(&evaluator, batch, callers, time));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    Ok(Bench {
        network: evaluator.description().name.clone(),
        evaluator: evaluator.kind().to_owned(),
        threads: options.threads,
        callers,
        batches: rows,
        search: measure_search(&evaluator, callers, search, time)?,
    })
}

fn row(
    evaluator: &TorchEvaluator,
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

fn questions(evaluator: &TorchEvaluator, batch: usize) -> Vec<Question> {
    let Ok(position) = position_from_sfen(STARTPOS_SFEN) else { return Vec::new() };
    let mut legal = MoveList::new();
    generate_legal_all(&position, &mut legal);
    vec![evaluator.encoding().question(&position, legal.as_slice(), 0); batch]
}
