//! The training loop.

use super::{
    Corpus, Loss, Mark, Report, Source,
    accuracy::measure,
    average::Average,
    checkpoint::{self, Directory},
    loader::{Batch, BatchBuilder, Mix, Target},
    optimizer::{AdamW, Schedule},
    too_few,
};
use crate::{
    evaluator::{DeviceChoice, Encoding, device_name, kind_name, training_kind},
    network::{Description, Network, weights},
    samples::Sample,
};
use anyhow::{Result, anyhow, bail, ensure};
use clap::{ArgAction, Args};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    thread,
    time::Instant,
};
use tch::{Device, Kind, Reduction, Tensor, nn::VarStore};

/// Maximum norm of the gradient.
const LONGEST: f64 = 5.0;
/// Maximum number of threads that build batches.
const MOST_BUILDERS: usize = 8;

/// Parameters of a training.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub struct TrainOptions {
    /// Game records (.csa, .kif, .psv, .hcpe ..), lists of scored lines, .labels; .txt and .xz (lines of play, for the
    /// policy alone).
    #[arg(required = true)]
    pub sources: Vec<Source>,
    /// Share of each source in every batch, such as 6,3,1; without it all positions are as frequent.
    #[arg(long, value_delimiter = ',')]
    pub shares: Vec<f64>,
    /// Description file of the network to build. Those that come with Renmei are in engines/deep/networks: small.toml
    /// for a CPU, large.toml for a GPU.
    #[arg(long)]
    pub network: PathBuf,
    /// Directory for the network, its checkpoint and report.
    #[arg(long)]
    pub out: PathBuf,
    /// Positions per step.
    #[arg(long, default_value_t = 256)]
    pub batch: usize,
    /// Total number of steps.
    #[arg(long, default_value_t = 10_000)]
    pub steps: usize,
    /// End after so many seconds, however many steps they are; the learning rate falls accordingly.
    #[arg(long)]
    pub seconds: Option<f64>,
    /// Maximum learning rate.
    #[arg(long, default_value_t = 0.002)]
    pub rate: f64,
    /// Steps of learning rate warm-up.
    #[arg(long, default_value_t = 300)]
    pub warm_up: usize,
    /// Weight decay.
    #[arg(long, default_value_t = 0.01)]
    pub decay: f64,
    /// Weight of the game's result in the value target, 0 to 1; the rest is sigmoid(score / 600).
    #[arg(long, default_value_t = 0.5)]
    pub blend: f32,
    /// Moves in the softmax of the policy loss.
    #[arg(long, value_enum, default_value = "legal")]
    pub loss: Loss,
    /// Percent of the games that are held out.
    #[arg(long, default_value_t = 5)]
    pub held_out: u64,
    /// Seed of the initial weights and of the order of positions.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// auto, cpu, cuda or cuda:N.
    // The report has the one that was found.
    #[arg(long, default_value = "auto")]
    #[serde(skip)]
    pub device: DeviceChoice,
    /// Compute in 32-bit floats where 16-bit ones would be faster.
    // The body alone: weights are learned in 32-bit floats in any case.
    #[arg(long = "full", action = ArgAction::SetFalse)]
    pub half: bool,
    /// Steps between measurements on held-out games, and between checkpoints.
    #[arg(long, default_value_t = 1000)]
    pub every: usize,
    /// Maximum number of held-out positions per measurement; the last one uses up to ten times as many.
    #[arg(long, default_value_t = 4000)]
    pub exam: usize,
    /// CPU threads; 0 leaves the number to libtorch.
    #[arg(long, default_value_t = 0)]
    pub threads: i32,
    /// Description file of a network of the same shape to begin with; without it the weights begin at random.
    #[arg(long)]
    pub from: Option<PathBuf>,
    /// Measure and write the average of the weights over so many steps; 0 for the weights of the last step.
    #[arg(long, default_value_t = 0)]
    pub average: usize,
}

impl TrainOptions {
    /// The same with values in their ranges.
    fn clamped(self) -> Self {
        let (batch, warm_up) = (self.batch.max(1), self.warm_up.max(1));
        Self { batch, warm_up, blend: self.blend.clamp(0.0, 1.0), every: self.every.max(1), ..self }
    }

    /// The network to build; its weights are written into `out` under its name.
    fn description(&self) -> Result<Description> {
        let mut network = Description::read(&self.network).map_err(|fault| {
            anyhow!("{fault}; descriptions come with Renmei's source, in engines/deep/networks")
        })?;
        network.weights = format!("{}.safetensors", network.name).into();
        Ok(network)
    }
}

/// A training ready to run.
#[derive(Debug)]
pub struct Session {
    options: TrainOptions,
    place: Directory,
    batch_builder: BatchBuilder,
    device: Device,
    /// Float type of the body.
    kind: Kind,
    store: VarStore,
    network: Network,
    /// Measured and written in place of `network`.
    average: Option<Average>,
    optimizer: AdamW,
    training: Mix,
    held_out: Vec<Sample>,
    report: Report,
    /// Sums of the policy and value loss since the last mark, on the device, and their number of steps.
    sums: (Tensor, usize),
    /// When this run of the training began, and the step it began at.
    since: (Instant, usize),
}

impl Session {
    /// Starts a training with the games of the sources, or resumes the one in its directory.
    ///
    /// # Errors
    /// When games, device or network are unavailable, or the directory holds another training.
    pub fn begin(options: TrainOptions, corpus: Corpus) -> Result<Self> {
        let options = options.clamped();
        let description = options.description()?;
        if options.threads > 0 {
            tch::set_num_threads(options.threads);
        }
        let device = options.device.find()?;
        let kind = training_kind(device, options.half);
        let (games, broken) = (corpus.games, corpus.broken);
        let split = corpus.split(options.held_out);
        ensure!(
            options.shares.is_empty() || options.shares.len() == options.sources.len(),
            "--shares has {} numbers for {} sources",
            options.shares.len(),
            options.sources.len()
        );
        ensure!(options.shares.iter().all(|share| *share >= 0.0), "a share is less than 0");
        if split.training.len() < options.batch || split.held_out.is_empty() {
            return Err(too_few(split.training.len(), split.held_out.len(), options.batch));
        }
        tch::manual_seed(options.seed as i64);
        let mut store = VarStore::new(device);
        let network = Network::untrained(&description, &store.root())?;
        if let Some(from) = &options.from {
            start_from(from, &description, &mut store)?;
        }
        let average = match options.average {
            0 => None,
            steps => Some(Average::new(&description, &store, steps)?),
        };
        let encoding = Encoding { features: description.features, labels: description.labels };
        let report = Report {
            network: description,
            options: options.clone(),
            games,
            broken_games: broken,
            positions: split.training.len(),
            held_out: split.held_out.len(),
            duplicates: split.duplicates,
            steps: 0,
            device: format!("{} {}", device_name(device), kind_name(kind)),
            seconds: 0.0,
            marks: Vec::new(),
            exams: Vec::new(),
        };
        let session = Self {
            place: Directory::new(&options.out)?,
            batch_builder: BatchBuilder { encoding, batch: options.batch, blend: options.blend },
            device,
            kind,
            optimizer: AdamW::new(&store, options.decay)?,
            store,
            network,
            average,
            training: Mix::new(split.training, &options.shares, options.batch)?,
            held_out: split.held_out,
            report,
            options,
            sums: (Tensor::zeros([2], (Kind::Float, device)), 0),
            since: (Instant::now(), 0),
        };
        session.resumed()
    }

    fn resumed(mut self) -> Result<Self> {
        let Some(before) = self.place.begun()? else { return Ok(self) };
        let (old, new) = (&before.options, &self.options);
        let same = before.network == self.report.network && before.positions == self.report.positions;
        if !same || (&old.shares, old.batch, old.average) != (&new.shares, new.batch, new.average) {
            let reason = "network, positions, shares, batch or average are others; give another --out";
            return Err(checkpoint::other(&self.options.out, reason));
        }
        let steps = self.place.restore(&self.store, self.average.as_ref(), &self.optimizer)?;
        self.report = Report { steps, options: self.options.clone(), ..before };
        Ok(self)
    }

    /// The report so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Runs the remaining steps, then writes network and report.
    ///
    /// # Errors
    /// When libtorch fails, the loss is not finite, or a file cannot be written.
    pub fn run(mut self) -> Result<Report> {
        let (seed, skip) = (self.options.seed, self.report.steps);
        let mut batches = self.batch_builder.endless(&self.training, seed, skip, builders(self.device));
        eprintln!("{}", self.head());
        self.since = (Instant::now(), self.report.steps);
        if self.report.exams.is_empty() {
            self.measure(self.options.exam)?;
        }
        let mut begun = Instant::now();
        while self.gone() < 1.0 {
            let Some(batch) = batches.next() else { break };
            self.learn(&batch.to(self.batch_builder.encoding.features, self.device, self.kind))?;
            // After the last step comes the last measurement, on more positions.
            let last = self.gone() >= 1.0;
            if self.report.steps.is_multiple_of(self.options.every) && !last {
                self.mark()?;
                self.report.seconds += begun.elapsed().as_secs_f64();
                begun = Instant::now();
                self.measure(self.options.exam)?;
                self.save()?;
            } else if self.report.steps.is_multiple_of((self.options.every / 10).max(1)) {
                self.mark()?;
            }
        }
        self.report.seconds += begun.elapsed().as_secs_f64();
        self.examine(10 * self.options.exam)?;
        self.save()?;
        Ok(self.report)
    }

    fn learn(&mut self, batch: &Batch) -> Result<()> {
        let step = self.report.steps;
        let outputs = self.network.forward(&batch.planes, true)?;
        let policy = outputs.policy.map(|logits| self.policy_loss(&logits, batch)).transpose()?;
        let value = outputs.value.map(|logits| value_loss(&logits, batch)).transpose()?;
        let loss = match (&policy, &value) {
            (Some(policy), Some(value)) => policy.f_add(value)?,
            (Some(one), None) | (None, Some(one)) => one.shallow_clone(),
            (None, None) => return Ok(()),
        };
        let schedule = Schedule { rate: self.options.rate, warm_up: self.options.warm_up };
        let rate = schedule.at(step, self.gone());
        self.optimizer.step(&loss, rate, step, LONGEST)?;
        if let Some(average) = &mut self.average {
            average.follow(step)?;
        }
        let number =
            |loss: Option<Tensor>| loss.map_or_else(|| self.sums.0.zeros_like().select(0, 0), |l| l.detach());
        // Nothing here waits for the device, so that a GPU never waits for the next step.
        self.sums = (&self.sums.0 + Tensor::f_stack(&[number(policy), number(value)], 0)?, self.sums.1 + 1);
        self.report.steps += 1;
        Ok(())
    }

    fn policy_loss(&self, logits: &Tensor, batch: &Batch) -> Result<Tensor> {
        let logits = match self.options.loss {
            Loss::Legal => logits.f_add(&batch.mask)?,
            Loss::All => logits.shallow_clone(),
        };
        Ok(logits.f_cross_entropy_loss(&batch.played, None::<&Tensor>, Reduction::Mean, -100, 0.0)?)
    }

    /// How much of the training is over, 1 at its end.
    fn gone(&self) -> f64 {
        let steps = self.report.steps as f64 / self.options.steps.max(1) as f64;
        let time = self.options.seconds.map_or(0.0, |most| self.since.0.elapsed().as_secs_f64() / most);
        steps.max(time)
    }

    /// Records the mean losses since the last mark and prints them.
    fn mark(&mut self) -> Result<()> {
        let none = (self.sums.0.zeros_like(), 0);
        let (sums, steps) = std::mem::replace(&mut self.sums, none);
        if steps == 0 {
            return Ok(());
        }
        let mean = |index| sums.double_value(&[index]) / steps as f64;
        let mark = Mark { step: self.report.steps, policy: mean(0), value: mean(1) };
        if !(mark.policy + mark.value).is_finite() {
            bail!("the loss is not finite before step {}: try a lower learning rate", mark.step);
        }
        self.report.marks.push(mark);
        let (Mark { step, policy, value }, all, pace) = (mark, self.options.steps, self.pace());
        eprintln!("step {step} of {all}: policy {policy:.3} value {value:.3}; {pace}");
        Ok(())
    }

    /// The first line: network, device, steps and positions.
    fn head(&self) -> String {
        format!(
            "network {} on {}: steps {} to {} of {} positions each, from {} positions; written into {}",
            self.report.network.name,
            self.report.device,
            self.report.steps,
            self.options.steps,
            self.options.batch,
            self.report.positions,
            self.options.out.display()
        )
    }

    /// The speed of this run, and the time that the rest takes at that speed.
    fn pace(&self) -> String {
        let (begun, from) = self.since;
        let done = self.report.steps.saturating_sub(from).max(1) as f64;
        let seconds = begun.elapsed().as_secs_f64();
        let left = seconds / done * self.options.steps.saturating_sub(self.report.steps) as f64;
        let left = self.options.seconds.map_or(left, |most| left.min(most - seconds));
        let speed = done * self.options.batch as f64 / seconds.max(f64::EPSILON);
        format!("{speed:.0} positions/s, {:.0} min to the end", left / 60.0)
    }

    fn measure(&mut self, most: usize) -> Result<()> {
        self.examine(most)?;
        eprintln!("{}", self.report.last_accuracy());
        Ok(())
    }

    /// Measures on held-out positions.
    fn examine(&mut self, most: usize) -> Result<()> {
        let network = self.average.as_ref().map_or(&self.network, Average::network);
        let accuracy = measure(network, &self.batch_builder, &self.held_out, most, (self.device, self.kind))?;
        self.report.exams.push((self.report.steps, accuracy));
        Ok(())
    }

    fn save(&self) -> Result<()> {
        let network = &self.report.network;
        let store = self.average.as_ref().map_or(&self.store, Average::store);
        weights::write(store, &self.place.file(&format!("{}.safetensors", network.name)), Kind::Half)?;
        network.write(&self.place.file(&format!("{}.toml", network.name)))?;
        self.place.save(&self.store, self.average.as_ref(), &self.optimizer, &self.report)
    }
}

/// Number of threads that build batches: a CPU that learns has none to spare; a GPU waits for a single one.
fn builders(device: Device) -> usize {
    if device.is_cuda() {
        thread::available_parallelism().map_or(1, usize::from).clamp(1, MOST_BUILDERS)
    } else {
        1
    }
}

/// Fills the weights of a network with those of another one of the same shape.
fn start_from(from: &Path, wanted: &Description, store: &mut VarStore) -> Result<()> {
    let found = Description::read(from)?;
    if (found.features, found.labels) != (wanted.features, wanted.labels) {
        bail!(
            "a training cannot begin with network `{}`: its features or labels are others, so its weights mean something else",
            from.display()
        );
    }
    Ok(weights::read(store, &found.weights)?)
}

fn value_loss(logits: &Tensor, batch: &Batch) -> Result<Tensor> {
    // The mean over the positions whose value is known.
    let Target { number, known } = &batch.value;
    let none = None::<&Tensor>;
    let sum = logits.f_binary_cross_entropy_with_logits(number, Some(known), none, Reduction::Sum)?;
    Ok(sum.f_div(&known.f_sum(Kind::Float)?.f_clamp_min(1.0)?)?)
}
