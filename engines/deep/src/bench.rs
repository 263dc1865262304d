//! How fast a network answers, and a search that asks it.

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

/// Positions per second at one batch size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// Positions at a time.
    pub batch: usize,
    /// The network alone, with its input on the device and its output fetched.
    pub forward_per_s: f64,
    /// Questions answered: planes expanded, network, priors.
    pub evaluate_per_s: f64,
}

/// A measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Bench {
    /// The network.
    pub network: String,
    /// What answered.
    pub evaluator: String,
    /// Threads of the processor for a batch.
    pub threads: usize,
    /// Threads that ask at the same time, each in a lane of its own.
    pub callers: usize,
    /// By batch size.
    pub batches: Vec<Row>,
    /// What a search reaches, with the ratio of the two.
    #[serde(flatten)]
    pub search: SearchSpeed,
}

/// Measures a network at each batch size, each of both speeds for at least `time`, with as many callers as lanes; then
/// a search.
///
/// # Errors
/// When the network or the device cannot be had, or fails.
pub fn measure(
    network: &Path,
    options: &TorchOptions,
    batches: &[usize],
    search: &SearchOptions,
    time: Duration,
) -> Result<Bench, EvaluatorError> {
    let most = batches.iter().copied().max().unwrap_or(1).max(search.batch);
    let evaluator = Arc::new(TorchEvaluator::open(network, &TorchOptions { batch: most, ..*options })?);
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

/// How often a second something can be done by so many threads at once. The first time of each is not counted.
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
