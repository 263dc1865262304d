//! The configuration: TOML text to a checked [`Event`] - whose players are engines ([`Plan`]), whoever logs in
//! ([`ServeConfig`]), or an engine with a seat on a server ([`ClientConfig`]) - or every fault of the text at once. Nothing below this crate validates a plan again.
//!
//! Each key is declared once with its type, default and meaning: with the field that it sets, by `settings!`, or in
//! `keys` where a table becomes several values. `reader` checks values by these declarations and `reference` prints
//! them. The readers of the tables (`stages`, `engines`, `games`, `time`, `serve`, `client`) note every
//! fault and continue with a placeholder, so that one run lists everything that is wrong. `stored` is the plan as the
//! database keeps it.

pub mod attribute;
pub mod built_in;
pub mod client;
pub mod clocks;
mod engines;
mod environment;
mod event;
mod fault;
pub mod fault_limit;
mod fingerprint;
mod games;
pub mod hall;
mod hosts;
pub mod http;
pub mod judge;
mod keys;
pub mod library;
mod log;
pub mod notify;
pub mod password;
pub mod pattern;
mod places;
pub mod ranking;
mod reader;
mod reference;
mod round_break;
pub mod serve;
mod settings;
mod source;
mod stages;
pub mod stored;
#[cfg(test)]
mod tests;
mod time;
pub mod time_text;
pub mod trip;
pub mod tune;

pub use attribute::AttributeConfig;
pub use client::ClientConfig;
pub use engines::far_path;
pub use environment::{Environment, NoProgram, is_path, program_name};
pub use event::Event;
pub use fault::{Fault, Faults, nearest};
pub use fingerprint::Fingerprint;
pub use hall::HallConfig;
pub use hosts::{HostsFault, check_hosts};
pub use http::HttpConfig;
pub use judge::JudgePlan;
pub use library::LibraryEngine;
pub use log::LogPlan;
pub use notify::{NoticeKind, NotifyConfig};
pub use reader::{NAME, text_of};
pub use reference::reference;
pub use round_break::RoundBreak;
pub use serve::ServeConfig;
pub use source::{SourcePlan, WORKTREE};
pub use stored::{StoredPlan, StoredPlanError};
pub use time::{MARGIN, contradictions};
pub use tune::{ParameterPlan, TunePlan};

use contest::{
    fault_limit::FaultLimit,
    schedule::{Format, OpeningsPer, Pairing, ReplayDraws, Stage},
    standings::RankingRules,
};
use keys::{
    Fallback::{Is, Needed, Says},
    Kind::{self, Flag, Integer, IntegerOr, Number, Other, Path, Text, Words},
    TIME,
};
use referee::{
    Color,
    adjudicate::Adjudication,
    clock::TimeControl,
    entry::PlayerId,
    evaluation::ScoreScale,
    number::number,
    rules::Rules,
    sprt::{self, Sprt, SprtError},
};
use serde::{Deserialize, Serialize};
use settings::settings;
use std::{path::PathBuf, time::Duration};

/// Megabytes of free disk below which no new games begin, unless a plan says otherwise: room for the games that run then.
pub const RESERVE_MB: u64 = 512;

/// A checked event.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// Name of the event; an interrupted event is found by it in its database.
    pub name: String,
    /// The SQLite file.
    pub database: PathBuf,
    /// The directory that relative paths of the configuration start from.
    #[serde(skip)]
    pub base: PathBuf,
    /// Seed of every random choice of the event.
    pub seed: u64,
    /// Games at once.
    pub concurrency: usize,
    /// True if to play even if the engines need more cores than there are.
    pub oversubscribe: bool,
    /// Whether each game is pinned to cores of its own; `None`: where no engine loses by it.
    pub affinity: Option<bool>,
    /// Engines that may start up at the same time.
    pub startups: usize,
    /// The stages, in order; at least one.
    pub stages: Vec<Stage>,
    /// What games are worth in the tables, and what ranks players who are level.
    #[serde(skip_serializing_if = "RankingRules::is_usual")]
    pub ranking: RankingRules,
    /// Replays of drawn games.
    pub replay_draws: ReplayDraws,
    /// The break between the last game of a round and the first of the next.
    #[serde(skip)]
    pub round_break: RoundBreak,
    /// True if every engine has to make a move before the first game; otherwise only its handshake is read.
    pub look: bool,
    /// Faults that halt the games of an engine; `None`: none do.
    pub fault_limit: Option<FaultLimit>,
    /// The sequential test that ends an SPRT stage.
    pub sprt: Option<SprtPlan>,
    /// The tuning that the games serve, between two players that are one engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tune: Option<TunePlan>,
    /// Rules of the games.
    pub rules: Rules,
    /// Endings by score.
    pub adjudication: Adjudication,
    /// Start positions; `None`: every game starts from the even position.
    pub openings: Option<OpeningPlan>,
    /// The players, at least two.
    pub engines: Vec<EnginePlan>,
    /// Where notices go.
    #[serde(skip)]
    pub notify: NotifyConfig,
    /// Who may watch in a browser.
    #[serde(skip)]
    pub http: HttpConfig,
    /// The neutral engine that looks at the running games. It is not stored with the plan.
    #[serde(skip)]
    pub judge: Option<JudgePlan>,
    /// GPUs that the engines share.
    pub gpus: f64,
    /// Optional engines that do not take part.
    pub skipped: Vec<Skipped>,
    /// Which conversations with engines are kept.
    pub log: LogPlan,
    /// Megabytes of free disk below which no new games begin; 0: nobody looks.
    #[serde(skip)]
    pub reserve_mb: u64,
    /// Size of the difference between the two commits that are tested, in git's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}

impl Plan {
    /// The format in words, for reports: `swiss, 8 rounds of 2 games, then knock-out of the first 4, best of 3`.
    pub fn format_words(&self) -> String {
        words_of(&self.stages, self.tune.as_ref())
    }

    /// A plan for engines alone, with the defaults for everything else: for looking at engines, and for playing games that
    /// another plan has arranged.
    pub fn of_engines(name: &str, engines: Vec<EnginePlan>, database: PathBuf) -> Self {
        Self {
            name: name.to_owned(),
            database,
            seed: 1,
            concurrency: 1,
            startups: 1,
            look: true,
            gpus: engines.iter().map(|engine| engine.gpu).sum(),
            engines,
            log: LogPlan::Off,
            ..Self::default()
        }
    }

    /// What has an opening of its own.
    pub fn openings_per(&self) -> OpeningsPer {
        match &self.openings {
            Some(openings) if openings.change == OpeningChange::Round => OpeningsPer::Round,
            Some(openings) if !openings.pairs => OpeningsPer::Game,
            _ => OpeningsPer::Pair,
        }
    }

    /// The clocks of a game, black's first.
    pub fn times(&self, game: &Pairing) -> [TimeControl; 2] {
        let time = |(player, color): (PlayerId, Color)| {
            let engine = self.engines.get(player.index());
            engine.map(|engine| engine.time_in(game.stage, game.round, color)).unwrap_or_default()
        };
        [(game.black, Color::Black), (game.white, Color::White)].map(time)
    }

    /// The scales of the players' scores, black's first.
    pub fn scales(&self, game: &Pairing) -> [ScoreScale; 2] {
        let scale = |player: PlayerId| self.engines.get(player.index()).and_then(|engine| engine.scale);
        [game.black, game.white].map(|player| scale(player).unwrap_or_default())
    }

    /// True if an engine plays no further game: the file has withdrawn it, or another one has replaced it.
    pub fn has_left(&self, engine: &EnginePlan) -> bool {
        engine.withdrawn || self.engines.iter().any(|other| other.replaces.as_ref() == Some(&engine.name))
    }

    /// True if this program starts the engine.
    pub fn starts(&self, engine: &EnginePlan) -> bool {
        !engine.remote && !self.has_left(engine)
    }

    /// The limits of faults of the players. Those who log in have none, as a host has its own rules for them, and none has
    /// an engine whose games after a fault are to be lost.
    pub fn fault_limits(&self) -> impl Iterator<Item = Option<FaultLimit>> {
        self.engines
            .iter()
            .map(|engine| self.fault_limit.filter(|_| is_limited(engine.remote, engine.restart)))
    }
}

/// True if a player has a limit of faults where the event has one.
fn is_limited(remote: bool, restart: Restart) -> bool {
    !remote && restart != Restart::Never
}

/// Stages in words.
pub fn format_words(stages: &[Stage]) -> String {
    stages.iter().map(stage_words).collect::<Vec<_>>().join(", then ")
}

impl SprtPlan {
    /// The test itself.
    ///
    /// # Errors
    /// When the numbers are not those of a test.
    pub fn test(&self) -> Result<Sprt, SprtError> {
        let model = match self.model {
            SprtModel::Normalized => sprt::Model::Normalized,
            SprtModel::Logistic => sprt::Model::Logistic,
        };
        Sprt::new(model, self.elo0, self.elo1, self.alpha, self.beta)
    }
}

/// The format of an event in words; games of a tuning are no encounter.
fn words_of(stages: &[Stage], tune: Option<&TunePlan>) -> String {
    match tune {
        Some(tune) => format!("tuning, {} of games", number(tune.pairs, "pair")),
        None => format_words(stages),
    }
}

fn stage_words(stage: &Stage) -> String {
    let each = number(stage.games, "game");
    let entrants = stage.entrants.map(|n| format!(" of the first {n}")).unwrap_or_default();
    match stage.format {
        Format::RoundRobin { cycles: 1 } => format!("round robin{entrants}, {each} a pair"),
        Format::RoundRobin { cycles } => {
            format!("round robin{entrants}, {cycles} times {each} a pair")
        }
        Format::Gauntlet { challengers, cycles } => {
            let games = u64::from(cycles) * u64::from(stage.games);
            format!("gauntlet of {challengers}{entrants}, {} a pair", number(games, "game"))
        }
        Format::Random { rounds } => {
            format!("random pairing{entrants}, {} of {each}", number(rounds, "round"))
        }
        Format::Information { rounds } => {
            format!("pairing by information{entrants}, {} of {each}", number(rounds, "round"))
        }
        Format::Swiss { rounds } => format!("swiss{entrants}, {} of {each}", number(rounds, "round")),
        Format::Knockout { .. } => format!("knock-out{entrants}, best of {}", stage.games),
        Format::Sprt { max_games } => format!("sprt, at most {max_games} games"),
        Format::Precision { max_games, within } => {
            format!("until Elo is known within {within}, at most {max_games} games")
        }
    }
}

/// An optional engine that does not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Name of the engine.
    pub name: String,
    /// Why it is left out, as a lowercase fragment.
    pub reason: String,
}

settings! {
    /// A sequential probability ratio test.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    pub struct SprtPlan in "`[sprt]`",
        "For `format = \"sprt\"`: under H0 the first engine is `elo0` better than the second, under H1 `elo1` better.";

    elo0: f64 = 0.0 shown Needed, Number(-1000.0, 1000.0), "Elo of H0";
    elo1: f64 = 1001.0 shown Needed, Number(-1000.0, 1000.0), "Elo of H1; above `elo0`";
    alpha: f64 = 0.05, Number(0.0001, 0.4999), "probability of accepting H1 when H0 is true";
    beta: f64 = 0.05, Number(0.0001, 0.4999), "probability of accepting H0 when H1 is true";
    model: SprtModel = (SprtModel::Normalized) shown Is("\"normalized\""), Words(&["normalized", "logistic"]),
        "the scale of the two";
    max_games shown Is("20000"), Integer(2, 1_000_000_000), "games at most; even";
}

/// Scale of the hypotheses of an SPRT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SprtModel {
    /// Normalized Elo.
    #[default]
    Normalized,
    /// Logistic Elo.
    Logistic,
}

settings! {
    /// Source of start positions.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct OpeningPlan in "`[openings]`", ""
    with {
        /// True if nobody has named openings, so that they are the built-in ones.
        #[serde(skip)]
        by_default: bool = false;
    };

    file shown Says("`files`"), Path,
        "a file of SFEN or USI move lines, or a CSA, KIF, KI2 or JKF record; `\"built-in\"`: the 20,000 openings that \
         renmei carries";
    files: Vec<PathBuf> = (vec![]) by (games::files) shown Says("`file`"), Other("paths"), "several of them";
    plies: Option<u32> = None shown Is("\"all\""), IntegerOr(0, 1000, "all"), "plies taken from each line";
    order: OpeningOrder = (OpeningOrder::Sequential) shown Is("\"sequential\""), Words(&["sequential", "random"]),
        "as they stand in the files, or shuffled by the seed";
    pairs: bool = true, Flag, "the two games of a pair use the same opening with colours swapped";
    change: OpeningChange = (OpeningChange::Encounter) shown Is("\"encounter\""), Words(&["encounter", "round"]),
        "when the next opening comes: for every encounter (every pair of its games, or every game without `pairs`), or \
         for every round, so that all boards of a round begin alike";
    dedupe: bool = true, Flag, "use a position once, even if several lines lead to it";
}

/// When the next opening comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpeningChange {
    /// For every pair of games, or every game.
    #[default]
    Encounter,
    /// For every round.
    Round,
}

/// Order in which openings are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpeningOrder {
    /// The order of the files.
    #[default]
    Sequential,
    /// Shuffled with the seed of the event.
    Random,
}

settings! {
    /// A player: an engine that is started here, or a program in the network.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct EnginePlan in "`[[engines]]`",
        "In `[defaults]` all keys but `name` stand for every engine; tables are taken together key by key."
    with {
        /// Name in the event; unique.
        name: String = String::new();
        /// Absolute path of the program; empty until it is built, if it has a `source`.
        command: PathBuf = PathBuf::new();
        /// True if nobody has named the directory, so that it is the program's own.
        #[serde(skip)]
        directory_by_default: bool = false;
        /// USI options, by their names as the engine declares them.
        options: Vec<(String, String)> = vec![];
        /// Origin of each option (`file:line`, or `command line`), in the order of `options`, for messages about options
        /// that the engine does not have.
        #[serde(skip)]
        option_sources: Vec<String> = vec![];
        /// The usual clock.
        time: TimeControl = TimeControl::default();
        /// Clocks in some games in place of it; the last one that holds counts. See [`EnginePlan::time_in`].
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        clocks: Vec<clocks::ClockIn> = vec![];
        /// True if the configuration gives the margin of the clock; otherwise it is a default.
        #[serde(skip)]
        margin_given: bool = false;
        /// In games on a server: `stop` is sent this long before the time for a move ends; `None`: never, as in every game
        /// that is refereed here.
        hurry: Option<Duration> = None;
        /// Cores that it keeps busy while it thinks.
        cores: f64 = 0.0;
    };

    name shown Says("the program's name"), Text, "its name in the event; unique";
    command shown Says("needed, unless there is a `source`"), Text,
        "the program: with a `/` a path, else a name that is searched beside `renmei` if it begins with `renmei-`, on \
         `PATH`, in `/usr/games` and beside `renmei`";
    source: #[serde(skip_serializing_if = "Option::is_none")] Option<SourcePlan> = None by (source::source)
        shown Says("none"), Other("table"),
        "a commit of a repository that the program is built from, in place of `command`; see below";
    host: #[serde(default, skip_serializing_if = "Option::is_none")] Option<String> = None by (engines::host)
        shown Says("this machine"), Text,
        "another machine that it is started on, as `ssh` takes it: `command`, `directory` and files in options are then paths \
         there, which begin in the home directory of the user; its program and files are hashed there";
    ssh_command: #[serde(default, skip_serializing_if = "Vec::is_empty")] Vec<String> = (vec![])
        by (hosts::ssh_command) shown Says("`[\"ssh\"]`"), Other("texts"),
        "for an engine with a `host`: the program, with options that stand before the host, such as \
         `[\"ssh\", \"-p\", \"2222\"]`";
    remote: bool = false, Flag,
        "a program in the network that logs in under this name (`renmei serve`); of the other keys only `time` applies";
    args: Vec<String> = (vec![]) by (engines::args) shown Is("[]"), Other("texts"), "its arguments";
    directory: Option<PathBuf> = None by (engines::directory) shown Says("that of the program, if `command` is a path; else that of `renmei`"),
        Path,
        "the directory it runs in, where relative paths in its arguments and options begin; `\".\"` is that of this \
         file";
    environment: Vec<(String, String)> = (vec![]) by (engines::environment) shown Is("{}"), Other("table"),
        "environment variables on top of those of `renmei`";
    options shown Is("{}"), Other("table"), "USI options by their names: texts, numbers, `true` or `false`";
    time shown Says("`time` of the file"), TIME, "its clock, see `[time]`";
    reserve: Duration = (Duration::ZERO) shown Is("\"0\""), Kind::Duration { zero: true },
        "time kept back from what `go` says, for engines that overshoot";
    go: GoForms = (GoForms::default()) by (engines::go) shown Is("\"all\""),
        Other("list, `\"all\"` or `\"byoyomi-only\"`"),
        "the forms of `go` it understands beside the clock with byoyomi: `\"increment\"` (else the increment is sent \
         as time left), `\"movetime\"` (else it is sent as byoyomi), `\"nodes\"`, `\"depth\"`";
    zero_time shown Is("true"), Flag, "`btime 0 wtime 0` may be sent with a byoyomi";
    own_time_only shown Is("false"), Flag,
        "`go` gives its own time as that of both players, for engines that mix them up (fairy-stockfish 11.1)";
    ponder: bool = false, Flag, "think on the opponent's time";
    limits: SeatLimits = (SeatLimits::default()) by (engines::limits) shown Says("all its defaults"), Other("table"),
        "time limits outside its own turns, see below";
    restart: Restart = (Restart::OnFault) shown Is("\"on-fault\""), Words(&["on-fault", "every-game", "never"]),
        "when a new process is started; `never`: after a fault its remaining games are lost by default";
    cores shown Says("its option `Threads`, else 1"), Number(0.0, 4096.0), "cores that it keeps busy while it thinks";
    gpu: f64 = 0.0 shown Is("0"), Number(0.0, 1024.0), "share of a GPU it needs";
    sandbox: #[serde(skip)] SandboxPlan = (SandboxPlan::default()) by (engines::sandbox) shown Is("\"default\""),
        Words(&["default", "strict"]),
        "`strict`: for an engine that nobody trusts: no network, files read-only, limited memory, no other processes, \
         no processor while its opponent is to move; needs `bubblewrap`";
    sandbox_write shown Is("[]"), Other("list of paths"),
        "files and directories that it may write to in a strict sandbox, beside a `/tmp` of its own";
    sandbox_memory_mb shown Is("4096"), Integer(16, 16_777_216),
        "memory in a strict sandbox, in MiB: of all its processes, its files in `/tmp`, and what the kernel keeps for \
         it; with more it is ended";
    identity: IdentityPlan = (IdentityPlan::default()) by (engines::identity) shown Says("all its defaults"),
        Other("table"),
        "the files that belong to the engine, see below";
    rating: #[serde(default, skip_serializing_if = "Option::is_none")] Option<u32> = None shown Says("none"),
        Integer(0, 10_000),
        "its declared rating, for the tie-break `rating`";
    scale: #[serde(default, skip_serializing_if = "Option::is_none")] Option<ScoreScale> = None
        shown Says("`600`, the common scale"), Integer(1, 1_000_000),
        "centipawns of it that are one unit of log odds of its results, as `renmei report --scales` prints them: \
         `[adjudication]` then reads its evaluations on the common scale of 600, and the curves of its games show them so";
    scores: #[serde(default)] ScoreView = (ScoreView::Mover) shown Is("\"mover\""), Words(&["mover", "black"]),
        "whose side its evaluations are given from: that of the player to move, as USI says, or always black's; \
         `[adjudication]` would take an engine of the second kind for lost where it wins";
    replaces: #[serde(default, skip_serializing_if = "Option::is_none")] Option<String> = None shown Says("none"), Text,
        "an engine above that begins no further game once this one joins the event while it is played; see \
         [engines that join](arbiter.md#engines-that-join)";
    withdrawn: #[serde(default, skip_serializing_if = "std::ops::Not::not")] bool = false, Flag,
        "it is not started, and plays no further game: from its next start on the event has it withdrawn, as \
         `renmei admin withdraw` does; for an engine that can no longer play in an event that has begun";
    optional: bool = false, Flag, "leave the engine out if its program is absent";
}

/// What an engine may do to the machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SandboxPlan {
    /// How much is kept from it.
    pub kind: Sandbox,
    /// Directories and files that it may write to, in a strict sandbox.
    pub write: Vec<PathBuf>,
    /// Most memory of all its processes in a strict sandbox, in MiB.
    pub memory_mb: u64,
}

impl Default for SandboxPlan {
    fn default() -> Self {
        Self { kind: Sandbox::default(), write: vec![], memory_mb: 4096 }
    }
}

/// How much is kept from an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// The terminal, other descriptors, and a life beyond its end.
    #[default]
    Default,
    /// The network, files, memory, and all other processes, too.
    Strict,
}

settings! {
    /// The files that belong to an engine, apart from those that its arguments and options name: patterns, relative to its
    /// directory.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct IdentityPlan in "`identity` of an engine",
        "An engine is its program, its `id name`, and the files and directories that its arguments and its options \
         name, options at the default that the engine declares included. Paths are relative to its directory; `*` and \
         `?` stand within a name, `**` for any number of directories.";

    files: Vec<String> = (vec![]) by (engines::identity_files) shown Is("[]"), Other("texts"),
        "further files: what a script starts or reads";
    ignore: Vec<String> = (vec![]) by (engines::ignored_files) shown Is("[]"), Other("texts"),
        "files that do not count, because the engine writes them itself: learned books, logs; without a `/`, files of \
         that name in any directory; a directory stands for all that is in it";
}

/// Forms of `go` that an engine understands, in addition to the clock form with `byoyomi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoForms {
    /// `binc`/`winc`; otherwise the increment is added to the time left.
    pub increment: bool,
    /// `movetime`; otherwise the fixed time is sent as byoyomi.
    pub movetime: bool,
    /// `nodes`.
    pub nodes: bool,
    /// `depth`.
    pub depth: bool,
    /// `btime 0 wtime 0` with a byoyomi; otherwise `byoyomi` is sent alone once the main time is used up.
    pub zero_time: bool,
    /// Its own time as that of both players, for engines that mix them up.
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

settings! {
    /// Time limits of an engine outside its own turns.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SeatLimits in "`limits` of an engine", "";

    start: Duration = (Duration::from_secs(30)) shown Is("\"30s\""), Kind::Duration { zero: false },
        "from its start to `usiok`";
    ready: Duration = (Duration::from_secs(120)) shown Is("\"2m\""), Kind::Duration { zero: false },
        "from the first `isready` of a process to `readyok`";
    new_game: Duration = (Duration::from_secs(30)) shown Is("\"30s\""), Kind::Duration { zero: false },
        "from a later `isready` to `readyok`, between games";
    stop: Duration = (Duration::from_secs(5)) shown Is("\"5s\""), Kind::Duration { zero: false },
        "from `stop` to `bestmove`";
    quit: Duration = (Duration::from_secs(2)) shown Is("\"2s\""), Kind::Duration { zero: true },
        "from `quit` to its end; then SIGTERM";
    terminate: Duration = (Duration::from_secs(1)) shown Is("\"1s\""), Kind::Duration { zero: true },
        "from SIGTERM to its end; then SIGKILL";
}

/// Whose side an engine gives its evaluations from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreView {
    /// The side to move, as USI says.
    #[default]
    Mover,
    /// Black.
    Black,
}

/// When a new process is started for an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// After a fault; otherwise one process plays all games.
    #[default]
    OnFault,
    /// For every game.
    EveryGame,
    /// Never: after a fault its remaining games are lost by default.
    Never,
}
