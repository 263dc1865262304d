//! The command line.

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, Subcommand};
use renmei_deep::{
    bench::{self, BenchOptions},
    evaluator::{Evaluator, TorchEvaluator, TorchOptions},
    label::{self, LabelOptions},
    train::{self, AccuracyOptions, Session, Source, TrainOptions},
    usi::Deep,
};
use rsshogi::{board::MoveList, movegen::generate_legal_all};
use std::{
    fmt::Display,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
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
    Train(TrainOptions),
    /// Measure a network on held-out games: how often it predicts the move played, and the winner.
    Exam(Exam),
    /// Label stored positions with the move and the score of an engine; continues an interrupted labelling.
    Label(Label),
    /// Measure how many positions per second a network evaluates, alone and for a search.
    Bench(BenchOptions),
    /// Print a network's evaluation of a position: the probability of each legal move, and of winning.
    Ask(Ask),
}

#[derive(Debug, Args)]
struct Exam {
    /// Description file of the network.
    network: PathBuf,
    #[command(flatten)]
    options: AccuracyOptions,
    /// Game records (.csa, .kif, .psv, .hcpe ..), lists of scored lines, .labels; .txt and .xz (lines of play).
    #[arg(required = true)]
    sources: Vec<Source>,
}

#[derive(Debug, Args)]
struct Label {
    /// Game records (.csa, .kif, .psv, .hcpe ..), lists of scored lines, .labels; .txt and .xz (lines of play).
    #[arg(required = true)]
    sources: Vec<Source>,
    #[command(flatten)]
    options: LabelOptions,
}

#[derive(Debug, Args)]
struct Ask {
    /// Description file of the network.
    network: PathBuf,
    #[command(flatten)]
    torch: TorchOptions,
    /// The position in USI notation: `startpos`, `sfen ...`, `startpos moves 7g7f`.
    #[arg(default_value = "startpos", num_args = 1.., trailing_var_arg = true)]
    position: Vec<String>,
}

/// Prints a line. A closed pipe, as with `head`, is not an error.
fn put(line: impl Display) -> Result<()> {
    match writeln!(io::stdout().lock(), "{line}") {
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            None | Some(Command::Usi) => return Ok(usi_shell::run(Deep::default())),
            Some(Command::Train(options)) => run_training(options).map_err(train::plain),
            Some(Command::Exam(exam)) => exam.run().map_err(train::plain),
            Some(Command::Label(label)) => label.run(),
            Some(Command::Bench(options)) if options.json => {
                put(serde_json::to_string_pretty(&bench::measure(&options)?)?)
            }
            Some(Command::Bench(options)) => put(bench::measure(&options)?),
            Some(Command::Ask(ask)) => ask.run(),
        }?;
        Ok(ExitCode::SUCCESS)
    }
}

fn run_training(options: TrainOptions) -> Result<()> {
    let corpus = train::load(&options.sources)?;
    eprintln!("{} games, {} positions, {} games broken", corpus.games, corpus.samples.len(), corpus.broken);
    corpus.first_fault.iter().for_each(|fault| eprintln!("left out {fault}"));
    put(Session::begin(options, corpus)?.run()?.last_accuracy())
}

impl Exam {
    fn run(&self) -> Result<()> {
        put(train::measure_file(&self.network, train::load(&self.sources)?, &self.options)?)
    }
}

impl Label {
    fn run(&self) -> Result<()> {
        ensure!(!self.options.engine.command.trim().is_empty(), "--engine is empty");
        let done = label::label(train::load(&self.sources)?, &self.options)?;
        put(format_args!("{} positions labelled, {} were before", done.now, done.before))
    }
}

impl Ask {
    fn run(&self) -> Result<()> {
        let game = Game::parse(&format!("position {}", self.position.join(" ")))?;
        let evaluator = TorchEvaluator::open(Some(&self.network), &self.torch)?;
        let mut legal = MoveList::new();
        generate_legal_all(game.position(), &mut legal);
        let question = evaluator.encoding().question(game.position(), legal.as_slice(), 0);
        let answers = evaluator.evaluate(&[question])?;
        let answer = answers.first().context("no answer")?;
        let mut moves: Vec<_> = legal.iter().zip(&answer.priors).collect();
        moves.sort_by(|one, other| other.1.total_cmp(one.1));
        put(format_args!("value {:.4}", answer.value))?;
        moves.iter().try_for_each(|(mv, prior)| put(format_args!("{:<5} {prior:.5}", mv.to_usi())))
    }
}
