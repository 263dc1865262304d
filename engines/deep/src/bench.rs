//! How fast a network answers.

use crate::evaluator::{Evaluator, EvaluatorError, Question, TorchEvaluator, TorchOptions};
use rsshogi::{
    board::{MoveList, STARTPOS_SFEN, position_from_sfen},
    movegen::generate_legal_all,
};
use serde::Serialize;
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Positions per second at one batch size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// Positions at a time.
    pub batch: usize,
    /// The network alone, with its input on the device and its output fetched.
    pub forward_per_s: f64,
    /// Questions answered by one thread: planes expanded, network, priors.
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
    pub threads: i32,
    /// The highest of the rows.
    pub forward_per_s: f64,
    /// By batch size.
    pub batches: Vec<Row>,
}

/// Measures a network at each batch size, each of both speeds for at least `time`.
///
/// # Errors
/// When the network or the device cannot be had, or fails.
pub fn measure(
    network: &Path,
    options: &TorchOptions,
    batches: &[usize],
    time: Duration,
) -> Result<Bench, EvaluatorError> {
    let most = batches.iter().copied().max().unwrap_or(1);
    let evaluator = TorchEvaluator::open(network, &TorchOptions { batch: most, ..*options })?;
    let rows = batches.iter().map(|&batch| row(&evaluator, batch, time)).collect::<Result<Vec<_>, _>>()?;
    Ok(Bench {
        network: evaluator.description().name.clone(),
        evaluator: evaluator.kind().to_owned(),
        threads: tch::get_num_threads(),
        forward_per_s: rows.iter().map(|row| row.forward_per_s).fold(0.0, f64::max),
        batches: rows,
    })
}

fn row(evaluator: &TorchEvaluator, batch: usize, time: Duration) -> Result<Row, EvaluatorError> {
    let questions = questions(evaluator, batch);
    Ok(Row {
        batch,
        forward_per_s: batch as f64 * rate(time, || evaluator.forward_only(batch))?,
        evaluate_per_s: batch as f64 * rate(time, || evaluator.evaluate(&questions).map(drop))?,
    })
}

/// How often a second something can be done. The first time is not counted.
fn rate(time: Duration, mut work: impl FnMut() -> Result<(), EvaluatorError>) -> Result<f64, EvaluatorError> {
    work()?;
    let (begun, mut times) = (Instant::now(), 0);
    while begun.elapsed() < time {
        work()?;
        times += 1;
    }
    Ok(f64::from(times) / begun.elapsed().as_secs_f64())
}

fn questions(evaluator: &TorchEvaluator, batch: usize) -> Vec<Question> {
    let Ok(position) = position_from_sfen(STARTPOS_SFEN) else { return Vec::new() };
    let mut legal = MoveList::new();
    generate_legal_all(&position, &mut legal);
    vec![evaluator.encoding().question(&position, legal.as_slice(), 0); batch]
}
