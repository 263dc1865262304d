//! The command line.

use anyhow::{Context, Result, anyhow};
use clap::{Args, Parser, Subcommand, ValueEnum};
use opening_book::BookArguments;
use renmei_deep::{
    bench,
    evaluator::{DeviceChoice, Evaluator, TorchEvaluator, TorchOptions},
    label::{self, EngineOptions, LabelOptions},
    network::Description,
    search::Task,
    time_model::{self, ModelOptions},
    train::{self, AccuracyOptions, Loss, Session, Source, TrainOptions},
    usi::Deep,
};
use rsshogi::{board::MoveList, movegen::generate_legal_all};
use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};
use usi_shell::Game;

/// A shogi engine with a neural network on libtorch. Without a command it speaks USI on stdin and stdout.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Speak USI on stdin and stdout.
    Usi,
    /// Train a network from games, or continue an interrupted training.
    Train(Train),
    /// Measure a network on held-out games: how often it predicts the move played, and the winner.
    Exam(Exam),
    /// Label stored positions with the move and the score of an engine; continues an interrupted labelling.
    Label(Label),
    /// Measure how many positions per second a network evaluates, alone and for a search.
    Bench(Bench),
    /// Print a network's evaluation of a position: the probability of each legal move, and of winning.
    Ask(Ask),
    Book(BookArguments),
    /// Fit the stopping model, which decides when a search can end early, to searches of positions.
    TimeModel(TimeModel),
}

#[derive(Debug, Args)]
struct Train {
    /// Files of games: .db and .sqlite (stores of renmei), .tsv, .psv, .hcpe.
    #[arg(required = true)]
    sources: Vec<Source>,
    /// Description file of the network to build. Those that come with Renmei are in engines/deep/networks: small.toml
    /// for a CPU, large.toml for a GPU.
    #[arg(long)]
    network: PathBuf,
    /// Directory for the network, its checkpoint, report and plot.
    #[arg(long)]
    out: PathBuf,
    /// Positions per step.
    #[arg(long, default_value_t = 256)]
    batch: usize,
    /// Total number of steps.
    #[arg(long, default_value_t = 10_000)]
    steps: usize,
    /// Maximum learning rate.
    #[arg(long, default_value_t = 0.002)]
    rate: f64,
    /// Steps of learning rate warm-up.
    #[arg(long, default_value_t = 300)]
    warm_up: usize,
    /// Weight decay.
    #[arg(long, default_value_t = 0.01)]
    decay: f64,
    /// Weight of the game's result in the value target, 0 to 1; the rest is sigmoid(score / 600).
    #[arg(long, default_value_t = 0.5)]
    blend: f32,
    /// Moves in the softmax of the policy loss.
    #[arg(long, value_enum, default_value = "legal")]
    loss: LossChoice,
    /// Percent of the games that are held out.
    #[arg(long, default_value_t = 5)]
    held_out: u64,
    /// Seed of the initial weights and of the order of positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// auto, cpu, cuda or cuda:N.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Compute in 32-bit floats where 16-bit ones would be faster.
    #[arg(long)]
    full: bool,
    /// Steps between measurements on held-out games, and between checkpoints.
    #[arg(long, default_value_t = 1000)]
    every: usize,
    /// Maximum number of held-out positions per measurement; the last one uses up to ten times as many.
    #[arg(long, default_value_t = 4000)]
    exam: usize,
    /// CPU threads; 0 leaves the number to libtorch.
    #[arg(long, default_value_t = 0)]
    threads: i32,
    /// Description file of a network of the same shape to begin with; without it the weights begin at random.
    #[arg(long)]
    from: Option<PathBuf>,
    /// Measure and write the average of the weights over so many steps; 0 for the weights of the last step.
    #[arg(long, default_value_t = 0)]
    average: usize,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LossChoice {
    /// The legal moves.
    Legal,
    /// All moves that have a label.
    All,
}

#[derive(Debug, Args)]
struct Exam {
    /// Description file of the network.
    network: PathBuf,
    #[command(flatten)]
    device: Device,
    /// Files of games: .db and .sqlite (stores of renmei), .tsv, .psv, .hcpe.
    #[arg(required = true)]
    sources: Vec<Source>,
    /// Percent of the games to measure on: those that a training with the same number holds out.
    #[arg(long, default_value_t = 5)]
    held_out: u64,
    /// Maximum number of positions.
    #[arg(long, default_value_t = 20_000)]
    most: usize,
    /// Instead, compare how well the network, the scores of the sources and the quiescence value of renmei-pairwise predict
    /// the winner, and fit the share of the latter in a leaf's value.
    #[arg(long)]
    against: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Label {
    /// Files of games: .db and .sqlite (stores of renmei), .tsv, .psv, .hcpe.
    #[arg(required = true)]
    sources: Vec<Source>,
    /// Command line of the engine.
    #[arg(long)]
    engine: String,
    /// An option of the engine, NAME=VALUE.
    #[arg(long = "option", value_parser = option)]
    options: Vec<(String, String)>,
    /// Search limits per position, the arguments of `go`.
    #[arg(long, default_value = "nodes 20000")]
    go: String,
    /// Timeout per position, in seconds.
    #[arg(long, default_value_t = 60)]
    patience: u64,
    /// Number of engine processes.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// The file of labels to write, itself a source for `train`.
    #[arg(long)]
    out: PathBuf,
    /// Maximum number of positions in the file.
    #[arg(long)]
    most: Option<usize>,
}

/// Prints a line. A closed pipe, as with `head`, is not an error.
fn put(line: &str) -> Result<()> {
    match writeln!(io::stdout().lock(), "{line}") {
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

fn option(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').with_context(|| format!("`{text}` is not NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

#[derive(Debug, Args)]
struct Device {
    /// auto, cpu, cuda or cuda:N.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Compute in 32-bit floats where 16-bit ones would be faster.
    #[arg(long)]
    full: bool,
    /// CPU threads per batch; 0 leaves the number to libtorch.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

#[derive(Debug, Args)]
struct Bench {
    /// Description file of the network; default is the embedded one.
    network: Option<PathBuf>,
    #[command(flatten)]
    device: Device,
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
    /// MiB for the tree and the evaluation cache.
    #[arg(long, default_value_t = 256)]
    memory: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Ask {
    /// Description file of the network.
    network: PathBuf,
    #[command(flatten)]
    device: Device,
    /// The position in USI notation: `startpos`, `sfen ...`, `startpos moves 7g7f`.
    #[arg(default_value = "startpos", num_args = 1.., trailing_var_arg = true)]
    position: Vec<String>,
}

#[derive(Debug, Args)]
struct TimeModel {
    /// Databases of renmei, game records, lists of openings, or directories of them.
    #[arg(required = true)]
    sources: Vec<PathBuf>,
    /// Description file of the network; default is the embedded one.
    #[arg(long)]
    network: Option<PathBuf>,
    /// auto, cpu, cuda or cuda:N.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Maximum number of positions to search, one per game.
    #[arg(long, default_value_t = 500)]
    positions: usize,
    /// Visits per search.
    #[arg(long, default_value_t = 16_384)]
    visits: u64,
    /// Leaves per batch.
    #[arg(long, default_value_t = 8)]
    batch: usize,
    /// Search threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Seed of the selection of positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file of coefficients to write; a plot is written beside it.
    #[arg(long, default_value = "stopping.toml")]
    out: PathBuf,
}

impl TimeModel {
    fn run(self) -> Result<()> {
        let options = TorchOptions {
            device: self.device,
            batch: self.batch.max(1),
            lanes: self.threads,
            ..TorchOptions::default()
        };
        let evaluator = match &self.network {
            Some(network) => TorchEvaluator::open(network, &options)?,
            None => TorchEvaluator::shipped(&options)?,
        };
        let task = Task { threads: self.threads.max(1), batch: self.batch.max(1), ..Task::default() };
        let options = ModelOptions {
            sources: self.sources,
            positions: self.positions,
            visits: self.visits,
            seed: self.seed,
            out: self.out,
            task: Task { root_mate: false, deterministic: self.threads <= 1, ..task },
            memory: 1 << 29,
        };
        let report = time_model::run(&options, Arc::new(evaluator))?;
        put(&format!("{report}{:#?}", report.model))
    }
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        let Some(command) = self.command else { return Ok(usi_shell::run(Deep::default())) };
        match command {
            Command::Usi => return Ok(usi_shell::run(Deep::default())),
            Command::Train(train) => train.run(),
            Command::Exam(exam) => exam.run(),
            Command::Label(label) => label.run(),
            Command::Bench(bench) => bench.run(),
            Command::Ask(ask) => ask.run(),
            Command::Book(book) => Ok(opening_book::run(&book, &mut io::stdout().lock())?),
            Command::TimeModel(model) => model.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Train {
    fn run(self) -> Result<()> {
        let corpus = train::load(&self.sources)?;
        eprintln!(
            "{} games, {} positions, {} games broken",
            corpus.games,
            corpus.samples.len(),
            corpus.broken
        );
        let report = Session::begin(self.options()?, corpus)?.run()?;
        put(&report.last_accuracy())
    }

    fn options(self) -> Result<TrainOptions> {
        let mut network = Description::read(&self.network).map_err(|fault| {
            anyhow!("{fault}; descriptions come with Renmei's source, in engines/deep/networks")
        })?;
        network.weights = format!("{}.safetensors", network.name).into();
        Ok(TrainOptions {
            network,
            sources: self.sources,
            out: self.out,
            batch: self.batch.max(1),
            steps: self.steps,
            rate: self.rate,
            warm_up: self.warm_up.max(1),
            decay: self.decay,
            blend: self.blend.clamp(0.0, 1.0),
            loss: match self.loss {
                LossChoice::Legal => Loss::Legal,
                LossChoice::All => Loss::All,
            },
            held_out: self.held_out.min(100),
            seed: self.seed,
            device: self.device,
            half: !self.full,
            every: self.every.max(1),
            exam: self.exam.max(1),
            threads: self.threads,
            from: self.from,
            average: self.average,
        })
    }
}

impl Exam {
    fn run(self) -> Result<()> {
        let options = AccuracyOptions {
            device: self.device.device,
            half: !self.device.full,
            held_out: self.held_out.min(100),
            most: self.most.max(1),
            threads: self.device.threads as i32,
        };
        if self.against {
            let against = train::measure_against(&self.network, train::load(&self.sources)?, &options)?;
            return put(&if self.json {
                serde_json::to_string_pretty(&against)?
            } else {
                against.to_string()
            });
        }
        let exam = train::measure_file(&self.network, train::load(&self.sources)?, &options)?;
        put(&if self.json { serde_json::to_string_pretty(&exam)? } else { exam.to_string() })
    }
}

impl Label {
    fn run(self) -> Result<()> {
        let mut words = self.engine.split_ascii_whitespace().map(str::to_owned);
        let engine = EngineOptions {
            program: words.next().context("--engine is empty")?.into(),
            arguments: words.collect(),
            options: self.options,
            go: self.go,
            patience: Duration::from_secs(self.patience),
        };
        let options = LabelOptions { engine, jobs: self.jobs, out: self.out, most: self.most };
        let done = label::label(train::load(&self.sources)?, &options)?;
        put(&format!("{} positions labelled, {} were before", done.now, done.before))
    }
}

impl Device {
    fn options(&self) -> TorchOptions {
        TorchOptions {
            device: self.device,
            half: !self.full,
            threads: self.threads,
            ..TorchOptions::default()
        }
    }
}

impl Bench {
    fn run(self) -> Result<()> {
        let time = Duration::try_from_secs_f64(self.seconds)
            .context("--seconds must be a number of seconds, 0 or more")?;
        let batches: Vec<usize> = self.batches.iter().map(|&batch| batch.max(1)).collect();
        let options = TorchOptions { lanes: self.callers, ..self.device.options() };
        let search = bench::SearchOptions {
            batch: self.search_batch.max(1),
            threads: self.search_threads.max(1),
            memory: self.memory << 20,
        };
        let measured = bench::measure(self.network.as_deref(), &options, &batches, &search, time)?;
        if self.json {
            return put(&serde_json::to_string_pretty(&measured)?);
        }
        let bench::Bench { network, evaluator, threads, callers, .. } = &measured;
        put(&format!(
            "{network} on {evaluator}, {threads} threads (0: libtorch's choice), {callers} callers"
        ))?;
        put(&format!("{:>6} {:>14} {:>14}", "batch", "forward/s", "evaluate/s"))?;
        let row = |row: &bench::Row| {
            put(&format!("{:>6} {:>14.0} {:>14.0}", row.batch, row.forward_per_s, row.evaluate_per_s))
        };
        measured.batches.iter().try_for_each(row)?;
        let search = &measured.search;
        put(&format!(
            "search, batch {}, {} threads: {:.0} of {:.0} positions/s, ratio {:.3}; {:.0} playouts/s",
            search.search_batch,
            search.search_threads,
            search.search_per_s,
            search.forward_per_s,
            search.ratio,
            search.playouts_per_s
        ))
    }
}

impl Ask {
    fn run(self) -> Result<()> {
        let game = Game::parse(&format!("position {}", self.position.join(" ")))?;
        let evaluator = TorchEvaluator::open(&self.network, &self.device.options())?;
        let mut legal = MoveList::new();
        generate_legal_all(game.position(), &mut legal);
        let question = evaluator.encoding().question(game.position(), legal.as_slice(), 0);
        let answers = evaluator.evaluate(&[question])?;
        let answer = answers.first().context("no answer")?;
        let mut moves: Vec<_> = legal.iter().zip(&answer.priors).collect();
        moves.sort_by(|one, other| other.1.total_cmp(one.1));
        put(&format!("value {:.4}", answer.value))?;
        moves.iter().try_for_each(|(mv, prior)| put(&format!("{:<5} {prior:.5}", mv.to_usi())))
    }
}
