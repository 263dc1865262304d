//! Arguments and settings of learning.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// Learns an evaluation from games.
///
/// It uses the Bonanza method: the evaluation is changed until a shallow search prefers the moves that the
/// teacher played. Sources are databases of Renmei, record files (CSA, KIF, USI lines, PSV, hcpe), lists of
/// scored lines, and directories of them. Some games are held out, and agreement with the teacher is reported
/// for both sets. An interrupted run is continued with --resume.
#[derive(Args, Clone, Debug)]
pub struct LearnArguments {
    /// Databases, record files or directories of them
    #[arg(required = true)]
    pub sources: Vec<PathBuf>,
    /// Weights file to write, for the option EvalFile
    #[arg(long, default_value = "weights.kpw")]
    pub output: PathBuf,
    /// Directory of report.json and report.txt [default: beside the weights]
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Initial weights: `material`, `default`, or a file
    #[arg(long, default_value = "material")]
    pub start: String,
    /// Continue from the checkpoint of an interrupted run
    #[arg(long)]
    pub resume: bool,
    /// Learn only from the moves of this player
    #[arg(long, value_name = "NAME")]
    pub player: Option<String>,
    /// Leave out games with fewer moves
    #[arg(long, default_value_t = 20, value_name = "PLIES")]
    pub min_plies: usize,
    /// Leave out moves with a score beyond this, in centipawns
    #[arg(long, default_value_t = 3000, value_name = "CENTIPAWNS")]
    pub max_score: i32,
    /// Percentage of the games to hold out
    #[arg(long, default_value_t = 10, value_name = "PERCENT", value_parser = clap::value_parser!(u64).range(0..=90))]
    pub held_out: u64,
    /// Number of positions per set to measure agreement on
    #[arg(long, default_value_t = 5000, value_name = "POSITIONS")]
    pub measure: usize,
    /// Threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Settings of the method
    #[command(flatten)]
    pub settings: Settings,
}

/// The settings that determine the result; a resumed run must have the same.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What to learn from
    #[arg(long, value_enum, default_value_t = Method::Bonanza)]
    pub method: Method,
    /// Loss of a move comparison
    #[arg(long, value_enum, default_value_t = Loss::Sigmoid)]
    pub loss: Loss,
    /// Passes: searches of all positions, each followed by updates
    #[arg(long, default_value_t = 2)]
    pub passes: usize,
    /// Updates per search of a position
    #[arg(long, default_value_t = 4)]
    pub updates: usize,
    /// Plies of search before quiescence, 1 or 2
    #[arg(long, default_value_t = 1, value_name = "PLIES", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub depth: u8,
    /// Positions searched at a time; their leaves are kept in memory
    #[arg(long, default_value_t = 60_000, value_name = "POSITIONS")]
    pub chunk: usize,
    /// Positions per update step
    #[arg(long, default_value_t = 1000, value_name = "POSITIONS")]
    pub batch: usize,
    /// Initial step of a weight, in centipawns
    #[arg(long, default_value_t = 8.0, value_name = "CENTIPAWNS")]
    pub rate: f32,
    /// Initial value under the root of AdaGrad: larger values make the first steps smaller
    #[arg(long, default_value_t = 30.0)]
    pub damping: f32,
    /// Temperature in centipawns: a difference of this size has a sigmoid of 73 %
    #[arg(long, default_value_t = 60.0, value_name = "CENTIPAWNS")]
    pub temperature: f32,
    /// Largest difference to the teacher's move in centipawns; moves beyond it are ignored
    #[arg(long, default_value_t = 400, value_name = "CENTIPAWNS")]
    pub window: i32,
    /// L2 regularisation: fraction of a weight subtracted in each step
    #[arg(long, default_value_t = 2e-4)]
    pub l2: f32,
    /// L1 regularisation: centipawns subtracted in each step, down to zero
    #[arg(long, default_value_t = 0.0, value_name = "CENTIPAWNS")]
    pub l1: f32,
    /// Weight of the game's result in the target, for `regression` and `both`; the score has the rest
    #[arg(long, default_value_t = 0.3)]
    pub outcome: f32,
    /// Weight of the score loss relative to the move loss, for `both`
    #[arg(long, default_value_t = 1.0)]
    pub score_weight: f32,
}

/// The learning method.
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
    /// True if moves are compared.
    pub fn compares(self) -> bool {
        self != Self::Regression
    }

    /// True if scores are used.
    pub fn scores(self) -> bool {
        self != Self::Bonanza
    }
}

/// The loss of a move comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Sum of sigmoids of the other moves' leads over the teacher's move: saturates for large differences.
    Sigmoid,
    /// Cross-entropy of a softmax over the moves: grows linearly with large differences.
    Softmax,
}
