//! Training passes: each searches all samples and updates the parameters.

use parking_lot::Mutex;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::evaluation::Weights;
use crate::evaluation::parameters::Parameters;
use crate::evaluation::sharing::Sharing;

use super::gradient::{Gradient, Model};
use super::loss;
use super::optimizer::Optimizer;
use super::positions::Sample;
use super::settings::Settings;
use super::training_example::{self, Choice, Score, SearchSettings};

/// Samples per work item of a thread.
const HANDFUL: usize = 32;

/// The state of training.
pub struct Trainer {
    /// The mapping from weights to parameters.
    pub sharing: Sharing,
    pub parameters: Parameters,
    /// The parameters expanded to tables.
    pub weights: Weights,
    /// The optimiser's state.
    pub optimizer: Optimizer,
    pub settings: Settings,
    threads: usize,
    gradients: Vec<Gradient>,
}

/// Statistics of a pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassReport {
    /// Mean loss of an example at its last update.
    pub loss: f32,
    /// Positions searched.
    pub positions: usize,
    /// Training examples found.
    pub examples: usize,
    /// Seconds of searching.
    pub search_s: f64,
    /// Seconds of updates.
    pub update_s: f64,
}

/// The training examples of a chunk.
#[derive(Default)]
struct Examples {
    choices: Vec<Choice>,
    scores: Vec<Score>,
}

impl Trainer {
    /// Number of threads that learn.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Training from initial `parameters`.
    pub fn new(sharing: Sharing, parameters: Parameters, settings: Settings, threads: usize) -> Self {
        let weights = parameters.expand(&sharing);
        let optimizer = Optimizer::new(&sharing);
        let gradients = (0..threads.max(1)).map(|_| Gradient::new()).collect();
        Self { sharing, parameters, weights, optimizer, settings, threads: threads.max(1), gradients }
    }

    /// Restores the state of a checkpoint.
    pub fn restore(&mut self, parameters: Vec<f32>, squares: Vec<f32>) {
        self.parameters.values = parameters;
        self.optimizer.squares = squares;
        self.parameters.expand_into(&self.sharing, &mut self.weights);
    }

    /// Searches all samples in chunks and updates the parameters after each; `said` hears how many samples are done.
    pub fn pass(&mut self, samples: &[Sample], said: impl Fn(usize)) -> PassReport {
        let mut report = PassReport::default();
        // Interleaved, because the samples are sorted: every chunk gets a mixture of openings and endgames.
        let chunks = samples.len().div_ceil(self.settings.chunk.max(1));
        for chunk in 0..chunks {
            let chosen: Vec<&Sample> = samples.iter().skip(chunk).step_by(chunks).collect();
            let started = Instant::now();
            let examples = self.search(&chosen);
            report.search_s += started.elapsed().as_secs_f64();
            report.positions += chosen.len();
            report.examples += examples.choices.len() + examples.scores.len();
            let started = Instant::now();
            for _ in 0..self.settings.updates {
                report.loss = self.update(&examples);
            }
            report.update_s += started.elapsed().as_secs_f64();
            said(report.positions);
        }
        report
    }

    /// Share of the samples whose move a search of one ply plus quiescence finds.
    pub fn agreement(&self, samples: &[Sample], most: usize) -> Option<f32> {
        let step = samples.len().div_ceil(most.max(1)).max(1);
        let chosen: Vec<&Sample> = samples.iter().step_by(step).collect();
        let search = SearchSettings { depth: 1, window: 1 };
        let found = self.all(&chosen, |sample| {
            training_example::compare(&self.weights, sample, search, false)
                .map(|comparison| comparison.agreement)
        });
        let found: Vec<f32> = found.into_iter().flatten().collect();
        (!found.is_empty()).then(|| found.iter().sum::<f32>() / found.len() as f32)
    }

    fn search(&self, samples: &[&Sample]) -> Examples {
        let search = SearchSettings { depth: self.settings.depth.into(), window: self.settings.window };
        let method = self.settings.method;
        let found = self.all(samples, |sample| {
            let choice = method
                .compares()
                .then(|| training_example::compare(&self.weights, sample, search, true)?.choice)
                .flatten();
            let target = self.target(sample).filter(|_| method.scores());
            (choice, target.and_then(|target| training_example::quiet_score(&self.weights, sample, target)))
        });
        let (choices, scores): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        Examples {
            choices: choices.into_iter().flatten().collect(),
            scores: scores.into_iter().flatten().collect(),
        }
    }

    /// The target win probability of a sample.
    fn target(&self, sample: &Sample) -> Option<f32> {
        let said = loss::chances(sample.score? as f32);
        let part = self.settings.outcome;
        Some(sample.outcome.map_or(said, |outcome| part * outcome + (1.0 - part) * said))
    }

    /// Runs one update over all examples in batches; returns the mean loss.
    fn update(&mut self, examples: &Examples) -> f32 {
        let count = examples.choices.len() + examples.scores.len();
        let batches = examples.choices.len().max(examples.scores.len()).div_ceil(self.settings.batch.max(1));
        let mut loss = 0.0;
        let mut slopes = vec![0.0; self.sharing.parameters()];
        for batch in 0..batches {
            slopes.fill(0.0);
            loss += self.slopes(examples, batch, batches, &mut slopes);
            self.optimizer.step(&mut self.parameters, &slopes, &self.sharing, &self.settings);
            self.parameters.expand_into(&self.sharing, &mut self.weights);
        }
        loss / count.max(1) as f32
    }

    /// The loss of a batch; adds its gradient to `slopes`.
    fn slopes(&mut self, examples: &Examples, batch: usize, batches: usize, slopes: &mut [f32]) -> f32 {
        let model = Model { weights: &self.weights, parameters: &self.parameters, sharing: &self.sharing };
        let (settings, stride) = (&self.settings, batches * self.threads);
        let loss = thread::scope(|scope| {
            let work = self.gradients.iter_mut().enumerate().map(|(thread, gradient)| {
                let first = batch + thread * batches;
                scope.spawn(move || {
                    let choices = examples.choices.iter().skip(first).step_by(stride);
                    let scores = examples.scores.iter().skip(first).step_by(stride);
                    choices.map(|choice| learn_choice(model, gradient, choice, settings)).sum::<f32>()
                        + scores.map(|score| learn_score(model, gradient, score, settings)).sum::<f32>()
                })
            });
            let work: Vec<_> = work.collect();
            work.into_iter().map(|work| work.join().unwrap_or_else(|fault| resume_unwind(fault))).sum()
        });
        for gradient in &mut self.gradients {
            gradient.drain_into(&self.sharing, slopes);
        }
        loss
    }

    /// Applies `each` to all samples on all threads; the results keep the order of the samples.
    fn all<T: Send>(&self, samples: &[&Sample], each: impl Fn(&Sample) -> T + Sync) -> Vec<T> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    loop {
                        let first = next.fetch_add(HANDFUL, Ordering::Relaxed);
                        let Some(rest) = samples.get(first..).filter(|rest| !rest.is_empty()) else { return };
                        let taken = &rest[..rest.len().min(HANDFUL)];
                        let results: Vec<T> = taken.iter().map(|sample| each(sample)).collect();
                        done.lock().push((first, results));
                    }
                });
            }
        });
        let mut done = done.into_inner();
        done.sort_by_key(|&(first, _)| first);
        done.into_iter().flat_map(|(_, results)| results).collect()
    }
}

fn learn_choice(of: Model<'_>, gradient: &mut Gradient, choice: &Choice, settings: &Settings) -> f32 {
    let (loss, slopes) = loss::of_choice(&of.values(choice), settings.loss, settings.temperature);
    gradient.add_choice(choice, &slopes);
    loss
}

fn learn_score(of: Model<'_>, gradient: &mut Gradient, score: &Score, settings: &Settings) -> f32 {
    let (loss, slope) = loss::of_score(of.value(score), score.target);
    gradient.add_score(score, slope * settings.score_weight);
    loss * settings.score_weight
}
