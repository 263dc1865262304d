//! The commands that search after the game: `analyze`, `explain`, `mate` and `suite`.

use clap::{Args, builder::RangedU64ValueParser};
use notation::record::Format;
use std::{num::NonZeroUsize, path::PathBuf, str::FromStr};

/// The formats of records that have comments, at the head of the list of all.
const COMMENTED: usize = 7;
/// Most searches at once on another machine.
const MOST_JOBS: usize = 1024;

/// The engine that gives a second opinion.
#[derive(Clone, Debug, Args)]
pub struct JudgeArgs {
    /// Command line of the judge, any USI engine [default: renmei-pairwise].
    #[arg(long, value_name = "COMMAND")]
    pub judge: Option<String>,
    /// An option of the judge, NAME=VALUE; several may be given.
    #[arg(long, value_name = "NAME=VALUE")]
    pub judge_option: Vec<String>,
}

/// How much is searched, and on how many cores.
#[derive(Clone, Debug, Args)]
pub struct EffortArgs {
    /// Searches that run at once, each with an engine of its own [default: the cores of this machine].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Most seconds for one search; an engine that needs more is started again once, and then has failed.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = RangedU64ValueParser::<u64>::new().range(1..=86_400))]
    pub patience: u64,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The judge searches every position of the game with an eighth of the nodes, and the positions around the moves that cost
most with all of them. The move after which the loser's expected score never came back is where the game was lost. Then the
loser itself searches that position again, with up to --times as many nodes as in the game. Causes:
  time        it searched less than half of its usual nodes, and finds a better move with at most twice as many
  horizon     it finds a better move with more nodes
  evaluation  more nodes do not help, or it resigned a game that was open
  book        the turning point lies before the first move that it searched
  rules       it missed a win by declaration, or entered a repetition that loses
  fault       the game was open when it ended by a fault: time, an illegal move, a crash

The loser's program is the one on record, and only if its contents are still those on record. It runs in the strict sandbox,
as a database may be somebody else's; --trust runs it as the event did. What was searched is kept in DATABASE.searches, so
that an interrupted run continues.

Examples:
  renmei explain denou.db 17
  renmei explain denou.db --losses new --last 10 --trust
  renmei explain denou.db --losses new --suite new.sfen -o games/
  renmei explain denou.db 17 --judge '/opt/engine/usi --eval nn.bin' --nodes 1000000")]
pub struct ExplainArgs {
    /// The database.
    pub db: PathBuf,
    /// Number of a game.
    #[arg(value_name = "GAME", required_unless_present = "losses")]
    pub game: Option<u64>,
    /// Explain the games that this player lost.
    #[arg(long, value_name = "PLAYER", conflicts_with = "game")]
    pub losses: Option<String>,
    /// Of those, the last N.
    #[arg(long, value_name = "N", requires = "losses")]
    pub last: Option<NonZeroUsize>,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Nodes of the judge for a position.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub nodes: u64,
    /// The loser searches again with up to so many times its nodes.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = RangedU64ValueParser::<u64>::new().range(1..=1024))]
    pub times: u64,
    /// Start the losers' programs as the database says, outside the sandbox: only for events that you have played.
    #[arg(long)]
    pub trust: bool,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Write the worst positions of each player as a suite (`renmei suite`).
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,
    /// Write the games into this directory, as KIF with the judge's opinion as comments and as pictures.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Format of these records.
    #[arg(long, value_parser = super::one_of(&super::RECORD_FORMATS[..COMMENTED]), default_value = "kifu")]
    pub format: Format,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
A suite is a text file with a position a line: SFEN, then `bm` with moves in USI of which one has to be found, `am` with
moves to avoid, `id` with a name, each ended by `;`:
  lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 bm 7g7f 2g2f; id \"first move\";

Exit codes: 0 at least --least positions were solved (by default all), 20 fewer were.

Examples:
  renmei suite ./engine new.sfen --nodes 100000
  renmei suite './engine --threads 1' new.sfen --option USI_Hash=64 --least 8")]
pub struct SuiteArgs {
    /// Command line of the engine.
    pub engine: String,
    /// The suite; `-`: standard input.
    pub file: PathBuf,
    /// Nodes for a position.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub nodes: u64,
    /// An option of the engine, NAME=VALUE; several may be given.
    #[arg(long, value_name = "NAME=VALUE")]
    pub option: Vec<String>,
    /// Positions that have to be solved [default: all].
    #[arg(long, value_name = "N")]
    pub least: Option<usize>,
    #[command(flatten)]
    pub effort: EffortArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Records of any format that `renmei import` reads: CSA, KIF, KI2, JKF, USI lines. Each game becomes a record with the engine's
evaluation and line of play after every move as a comment, and a picture of the evaluations; where the record has none, the
first engine's evaluations become its scores, which GUIs draw. Every position is a piece of work for one core. What was
searched is kept in DIR/searches.jsonl, so that the same command continues after an interruption.

Examples:
  renmei analyze game.kif --engine ./engine --nodes 1000000 -o analyzed/
  renmei analyze games/ --engine ./old --engine './new --eval nn.bin' --jobs 16 -o analyzed/ --format jkf
  renmei analyze games/ --engine /opt/engine/usi --ssh box2,ann@192.0.2.7=4 -o analyzed/")]
pub struct AnalyzeArgs {
    /// Record files, and directories in and below which record files are read.
    #[arg(required = true)]
    pub records: Vec<PathBuf>,
    /// Command line of an engine; several may be given.
    #[arg(long, value_name = "COMMAND", required = true)]
    pub engine: Vec<String>,
    /// An option of the engines, NAME=VALUE; several may be given.
    #[arg(long, value_name = "NAME=VALUE")]
    pub option: Vec<String>,
    /// Another machine that searches, too, reached by `ssh HOST`, and how many searches run there at once [default: its cores];
    /// several by commas. The engines have to be there, in the same build and with the same files: an absolute path is the
    /// same there, a relative one begins in the home directory.
    #[arg(long, value_name = "HOST[=N]", value_delimiter = ',')]
    pub ssh: Vec<Host>,
    /// The program `ssh`, with options that stand before the host.
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "ssh")]
    pub ssh_command: String,
    /// Nodes for a position.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub nodes: u64,
    /// The directory for records and pictures; it is made if it is missing.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Format of the records.
    #[arg(long, value_parser = super::one_of(&super::RECORD_FORMATS[..COMMENTED]), default_value = "kifu")]
    pub format: Format,
    #[command(flatten)]
    pub effort: EffortArgs,
}

/// Another machine, and how many searches run there at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// As `ssh` takes it.
    pub name: String,
    /// Searches at once; `None`: as many as it has cores.
    pub jobs: Option<NonZeroUsize>,
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, jobs) = text.rsplit_once('=').map_or((text, None), |(name, jobs)| (name, Some(jobs)));
        plan::check_hosts(&[name.to_owned()]).map_err(|why| why.to_string())?;
        let number = |text: &str| {
            let number = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= MOST_JOBS);
            number.ok_or_else(|| format!("`{text}` is not a number from 1 to {MOST_JOBS}"))
        };
        Ok(Self { name: name.to_owned(), jobs: jobs.map(number).transpose()? })
    }
}
