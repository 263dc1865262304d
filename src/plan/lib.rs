//! A checked event: what `run`, `match` and `serve` work from. Nothing below validates it again.

pub mod client;
pub mod config;
pub mod password;
pub mod serve;

use referee::{
    adjudicate::Adjudication,
    clock::TimeControl,
    rules::Rules,
    schedule::{Format, ReplayDraws, Stage},
    sprt::{self, Sprt, SprtError},
};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// Everything an event needs to be played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The event's name: with it an interrupted event is found again in its database.
    pub name: String,
    /// The SQLite file.
    pub database: PathBuf,
    /// Seed of every random choice of the event.
    pub seed: u64,
    /// Games at once.
    pub concurrency: usize,
    /// Play even if the engines need more cores than there are.
    pub oversubscribe: bool,
    /// Pin each game's engines to cores of their own.
    pub affinity: bool,
    /// How many engines may be starting up at once.
    pub startups: usize,
    /// The stages, in order; at least one.
    pub stages: Vec<Stage>,
    /// Whether draws are played again.
    pub replay_draws: ReplayDraws,
    /// The sequential test that ends an SPRT stage.
    pub sprt: Option<SprtPlan>,
    /// Rules of the games.
    pub rules: Rules,
    /// Endings by score.
    pub adjudication: Adjudication,
    /// Start positions; `None`: every game starts from the even position.
    pub openings: Option<OpeningPlan>,
    /// The players, at least two.
    pub engines: Vec<EnginePlan>,
    /// GPUs that the engines share.
    pub gpus: f64,
    /// Optional engines that do not take part.
    pub skipped: Vec<Skipped>,
}

impl Plan {
    /// The format in words, as reports print it: `swiss, 8 rounds of 2 games, then knock-out of the first 4, best of 3`.
    #[must_use]
    pub fn format_words(&self) -> String {
        format_words(&self.stages)
    }
}

/// Stages in words.
#[must_use]
pub fn format_words(stages: &[Stage]) -> String {
    stages.iter().map(stage_words).collect::<Vec<_>>().join(", then ")
}

impl SprtPlan {
    /// The test it plans.
    ///
    /// # Errors
    /// When its numbers make no test.
    pub fn test(&self) -> Result<Sprt, SprtError> {
        let model = match self.model {
            SprtModel::Normalized => sprt::Model::Normalized,
            SprtModel::Logistic => sprt::Model::Logistic,
        };
        Sprt::new(model, self.elo0, self.elo1, self.alpha, self.beta)
    }
}

fn stage_words(stage: &Stage) -> String {
    let games = stage.games;
    let entrants = stage.entrants.map(|n| format!(" of the first {n}")).unwrap_or_default();
    match stage.format {
        Format::RoundRobin { cycles: 1 } => format!("round robin{entrants}, {games} games a pair"),
        Format::RoundRobin { cycles } => {
            format!("round robin{entrants}, {cycles} times {games} games a pair")
        }
        Format::Gauntlet { challengers, cycles } => {
            format!(
                "gauntlet of {challengers}{entrants}, {} games a pair",
                u64::from(cycles) * u64::from(games)
            )
        }
        Format::Swiss { rounds } => format!("swiss{entrants}, {rounds} rounds of {games} games"),
        Format::Knockout { .. } => format!("knock-out{entrants}, best of {games}"),
        Format::Sprt { max_games } => format!("sprt, at most {max_games} games"),
    }
}

/// An optional engine that does not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// Why: a lowercase fragment.
    pub reason: String,
}

/// A sequential probability ratio test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SprtPlan {
    /// The scale of the two hypotheses.
    pub model: SprtModel,
    /// Elo of H0.
    pub elo0: f64,
    /// Elo of H1.
    pub elo1: f64,
    /// Probability of accepting H1 when H0 is true.
    pub alpha: f64,
    /// Probability of accepting H0 when H1 is true.
    pub beta: f64,
}

/// The scale the hypotheses of an SPRT are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SprtModel {
    /// Normalized Elo.
    #[default]
    Normalized,
    /// Logistic Elo.
    Logistic,
}

/// Where start positions come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpeningPlan {
    /// Files: SFEN or USI move lines, CSA, KIF, KI2, JKF records; or [`NAME`](config::built_in::NAME).
    pub files: Vec<PathBuf>,
    /// Plies taken from each line; `None`: all.
    pub plies: Option<u32>,
    /// The order they are used in.
    pub order: OpeningOrder,
    /// The two games of a pair use the same opening with colours swapped.
    pub pairs: bool,
    /// Positions that two lines lead to are used once.
    pub dedupe: bool,
}

/// The order openings are used in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpeningOrder {
    /// As they stand in the files.
    #[default]
    Sequential,
    /// Shuffled by the event's seed.
    Random,
}

/// One player: an engine that is started here, or a program in the network.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EnginePlan {
    /// Its name in the event; unique.
    pub name: String,
    /// It is a program somewhere in the network that logs in under its name; nothing is started for it.
    pub remote: bool,
    /// The program, already found on the path or relative to the configuration file.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// The directory it runs in.
    pub directory: Option<PathBuf>,
    /// Environment variables on top of this program's.
    pub environment: Vec<(String, String)>,
    /// USI options, by their names as the engine declares them.
    pub options: Vec<(String, String)>,
    /// Where each of the options was written (`file:line`, or `command line`), in their order: for the message that
    /// the engine does not offer it.
    #[serde(skip)]
    pub option_sources: Vec<String>,
    /// Its clock.
    pub time: TimeControl,
    /// Time kept back from what it is told in `go`, for engines that overshoot.
    pub reserve: Duration,
    /// Told `stop` so long before its time for a move is over, where a server rules; `None`: never, as in every game
    /// that is refereed here.
    pub hurry: Option<Duration>,
    /// Which `go` forms it understands.
    pub go: GoForms,
    /// Let it think on the opponent's time.
    pub ponder: bool,
    /// How long it may take outside its own turns.
    pub limits: SeatLimits,
    /// When a new process is started.
    pub restart: Restart,
    /// Cores it keeps busy while it thinks.
    pub cores: f64,
    /// Share of a GPU it needs; at most `gpus` of the event run at once.
    pub gpu: f64,
    /// The event goes on without it when its program is not there.
    pub optional: bool,
}

/// Which forms of `go` an engine understands; the clock form with `byoyomi` every engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GoForms {
    /// `binc`/`winc`; else the increment is added to the time told.
    pub increment: bool,
    /// `movetime`; else the fixed time is told as byoyomi.
    pub movetime: bool,
    /// `nodes`.
    pub nodes: bool,
    /// `depth`.
    pub depth: bool,
    /// `btime 0 wtime 0` may be sent with a byoyomi; else `byoyomi` stands alone when no main time is left.
    pub zero_time: bool,
    /// Its own time is told as both players', for engines that take one for the other.
    pub own_time_only: bool,
}

impl Default for GoForms {
    fn default() -> Self {
        Self {
            increment: true,
            movetime: true,
            nodes: true,
            depth: true,
            zero_time: true,
            own_time_only: false,
        }
    }
}

/// How long an engine may take outside its own turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SeatLimits {
    /// From its start to `usiok`.
    pub start: Duration,
    /// From the first `isready` of a process to `readyok`.
    pub ready: Duration,
    /// From a later `isready` to `readyok`, between games.
    pub new_game: Duration,
    /// From `stop` to `bestmove`.
    pub stop: Duration,
    /// From `quit` to its end; then SIGTERM.
    pub quit: Duration,
    /// From SIGTERM to its end; then SIGKILL.
    pub terminate: Duration,
}

impl Default for SeatLimits {
    fn default() -> Self {
        let secs = Duration::from_secs;
        Self {
            start: secs(30),
            ready: secs(120),
            new_game: secs(30),
            stop: secs(5),
            quit: secs(2),
            terminate: secs(1),
        }
    }
}

/// When a new process is started for an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// After a fault; else one process plays game after game.
    #[default]
    OnFault,
    /// For every game.
    EveryGame,
    /// Never: after a fault its remaining games are lost by default.
    Never,
}
