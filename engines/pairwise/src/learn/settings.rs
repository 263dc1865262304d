//! What can be chosen about learning.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// Learns an evaluation from games.
///
/// By the Bonanza method: where the teacher chose a move, the evaluation is changed until a shallow search
/// chooses it too. Sources are databases of Renmei, record files (CSA, KIF, USI lines, PSV, hcpe), lists of
/// scored lines, and directories of them. Some games are kept aside, and agreement with the teacher is told
/// on both. An interrupted run goes on with --resume.
#[derive(Args, Clone, Debug)]
pub struct LearnArguments {
    /// Databases, record files or directories of them
    #[arg(required = true)]
    pub sources: Vec<PathBuf>,
    /// Where the weights go, for the option EvalFile
    #[arg(long, default_value = "weights.kpw")]
    pub output: PathBuf,
    /// Where the report goes: report.json, report.txt and agreement.svg [default: beside the weights]
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Weights to begin with: `material`, `default`, or a file
    #[arg(long, default_value = "material")]
    pub start: String,
    /// Go on from the checkpoint of an interrupted run
    #[arg(long)]
    pub resume: bool,
    /// Learn only the moves of the player of this name
    #[arg(long, value_name = "NAME")]
    pub player: Option<String>,
    /// Games of fewer moves are trivial and left out
    #[arg(long, default_value_t = 20, value_name = "PLIES")]
    pub min_plies: usize,
    /// Leave out moves whose player thought to be further ahead or behind
    #[arg(long, default_value_t = 3000, value_name = "CENTIPAWNS")]
    pub max_score: i32,
    /// Games of a hundred that are kept aside
    #[arg(long, default_value_t = 10, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(0..=90))]
    pub held_out: u64,
    /// Positions of each kind to measure agreement on
    #[arg(long, default_value_t = 5000, value_name = "POSITIONS")]
    pub measure: usize,
    /// Threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// How to learn
    #[command(flatten)]
    pub settings: Settings,
}

/// What learning depends on; a run is resumed only with the same.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What to learn from
    #[arg(long, value_enum, default_value_t = Method::Bonanza)]
    pub method: Method,
    /// What it costs that another move looks better
    #[arg(long, value_enum, default_value_t = Loss::Sigmoid)]
    pub loss: Loss,
    /// Passes: searches of all positions, each followed by updates
    #[arg(long, default_value_t = 2)]
    pub passes: usize,
    /// Times that what a search found is learned from before the next
    #[arg(long, default_value_t = 4)]
    pub updates: usize,
    /// Plies of search before quiescence, 1 or 2
    #[arg(long, default_value_t = 1, value_name = "PLIES", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub depth: u8,
    /// Positions that are searched at a time; their lines are kept in memory
    #[arg(long, default_value_t = 60_000, value_name = "POSITIONS")]
    pub chunk: usize,
    /// Positions for one step
    #[arg(long, default_value_t = 1000, value_name = "POSITIONS")]
    pub batch: usize,
    /// First step of a weight, in centipawns
    #[arg(long, default_value_t = 8.0, value_name = "CENTIPAWNS")]
    pub rate: f32,
    /// How much a weight must have been asked for before it takes whole steps
    #[arg(long, default_value_t = 30.0)]
    pub damping: f32,
    /// Centipawns of difference that the sigmoid takes from 1/2 to 73 %
    #[arg(long, default_value_t = 60.0, value_name = "CENTIPAWNS")]
    pub temperature: f32,
    /// Moves that are further than this from the teacher's teach nothing
    #[arg(long, default_value_t = 400, value_name = "CENTIPAWNS")]
    pub window: i32,
    /// Part of a weight that each step takes away
    #[arg(long, default_value_t = 2e-4)]
    pub l2: f32,
    /// Centipawns that each step takes away, down to zero
    #[arg(long, default_value_t = 0.0, value_name = "CENTIPAWNS")]
    pub l1: f32,
    /// Part of the result in what a score should say, for `regression` and `both`
    #[arg(long, default_value_t = 0.3)]
    pub outcome: f32,
    /// How much a score counts beside a choice, for `both`
    #[arg(long, default_value_t = 1.0)]
    pub score_weight: f32,
}

/// What is learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The teacher's moves.
    Bonanza,
    /// The teacher's scores and the results.
    Regression,
    /// Moves, scores and results.
    Both,
}

impl Method {
    /// Whether moves are compared.
    pub fn compares(self) -> bool {
        self != Self::Regression
    }

    /// Whether scores are.
    pub fn scores(self) -> bool {
        self != Self::Bonanza
    }
}

/// How the values of moves become a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// For each other move, the sigmoid of how much better it looks: near misses count.
    Sigmoid,
    /// Cross-entropy of a choice by softmax: far misses count as well.
    Softmax,
}
