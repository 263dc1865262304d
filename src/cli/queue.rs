//! `renmei queue` on the command line.

use super::{FaultLimitArg, TestArgs, at_least_one};
use clap::{Args, Subcommand};
use plan::LogPlan;
use std::path::PathBuf;

/// `renmei queue`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Without a command the tests of the queue are played, and those that are added later, until a signal ends it: Ctrl-C once
finishes the running games, again ends them. Tests of a higher priority come first, then those that were added first. The
games of a test are the event `test-N` of DIR/queue.db, for `renmei report`, `watch` and `export`.

Examples:
  renmei queue tests add feature main --repo ../engine --build \"make -j2\" --program src/engine --sprt elo0=0 elo1=5
  renmei queue tests --concurrency 2
  renmei queue tests list
  renmei queue tests history --html history.html")]
pub struct QueueArgs {
    /// The directory of the queue, with its database `queue.db`; `add` makes it.
    pub dir: PathBuf,
    /// What to do with the queue, instead of playing it.
    #[command(subcommand)]
    pub command: Option<QueueCommand>,
    /// How it is played.
    #[command(flatten)]
    pub run: QueueRunArgs,
}

/// How a queue is played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct QueueRunArgs {
    /// Tests of the same priority that are played together, by their shares [default: 1].
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub at_once: Option<usize>,
    /// Games at once, of all tests together [default: as many as the usable cores carry].
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub concurrency: Option<usize>,
    /// Play even if the engines need more cores than the machine has.
    #[arg(long)]
    pub oversubscribe: bool,
    /// End when no test waits, instead of waiting for the next one.
    #[arg(long)]
    pub until_empty: bool,
    /// Tests that are over and keep their moves; older ones keep their results only [default: 20].
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Begin no new game while less than so many megabytes are free on the disk; 0: play on [default: 512].
    #[arg(long, value_name = "MB")]
    pub reserve_mb: Option<u64>,
    /// Tell this command what happens in each test, as JSON on its standard input.
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
    /// Show the tests in the browser on this address, such as 127.0.0.1:8080: a list, and the pages of each.
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
}

impl From<&QueueRunArgs> for event::queue::Options {
    fn from(args: &QueueRunArgs) -> Self {
        let QueueRunArgs { at_once, concurrency, oversubscribe, until_empty, keep, reserve_mb, notify, http } =
            args.clone();
        Self { at_once, concurrency, oversubscribe, until_empty, keep, reserve_mb, notify, http }
    }
}

/// What is to be done with a queue.
#[derive(Clone, Debug, Subcommand)]
pub enum QueueCommand {
    /// Add a test of two commits, as `renmei test` plays it.
    Add(Box<QueueAddArgs>),
    /// List the tests that are not over.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Begin no new game of a test, or of any.
    Pause {
        /// The test; without it, the whole queue.
        test: Option<u64>,
    },
    /// Begin games again of a test, also of one that failed, or of the whole queue.
    Resume {
        /// The test; without it, the whole queue.
        test: Option<u64>,
    },
    /// Change the priority of a test; a higher one is played first.
    Priority {
        /// The test.
        test: u64,
        /// Its priority.
        #[arg(allow_negative_numbers = true)]
        priority: i64,
    },
    /// Change the share of a test among those that are played together.
    Share {
        /// The test.
        test: u64,
        /// Its share; 100 is that of other tests.
        #[arg(value_parser = at_least_one::<u32>)]
        share: u32,
    },
    /// Write a note beside a test, also one that is over; an empty one removes it.
    Note {
        /// The test.
        test: u64,
        /// The note.
        text: String,
    },
    /// Have tests that are added from now on wait until somebody approves them, or play them at once again.
    Approval {
        /// Whether they wait.
        #[arg(value_parser = ["on", "off"])]
        wanted: String,
    },
    /// Approve a test, so that its games may begin.
    Approve {
        /// The test.
        test: u64,
        /// Who approves it [default: the user of this command].
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Take a test off the queue; the games that were played stay.
    Remove {
        /// The test.
        test: u64,
    },
    /// Show what became of the tests: verdicts, Elo, games, commits.
    History(QueueHistoryArgs),
}

/// `renmei queue DIR add`.
#[derive(Clone, Debug, Args)]
pub struct QueueAddArgs {
    /// The test.
    #[command(flatten)]
    pub test: TestArgs,
    /// Tests of a higher priority are played first.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub priority: i64,
    /// Its share of the games among tests that are played together.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one::<u32>)]
    pub share: u32,
    /// What is to be known of it, for lists and pages.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
    /// Who adds it [default: the user of this command].
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
}

/// `renmei queue DIR history`.
#[derive(Clone, Debug, Args)]
pub struct QueueHistoryArgs {
    /// Only tests of this repository.
    #[arg(long, value_name = "DIR|URL")]
    pub repo: Option<String>,
    /// The newest tests, so many.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one::<usize>)]
    pub last: usize,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Write a page with a chart of Elo over the tests.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the chart, `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

impl QueueAddArgs {
    /// Keys of `[event]` for what the options say.
    #[must_use]
    pub fn event_keys(&self) -> Vec<(&'static str, toml::Value)> {
        let playing = &self.test.games.playing;
        let mut keys = vec![("look", toml::Value::from(!playing.no_look))];
        keys.extend(playing.fault_limit.map(|FaultLimitArg(limit)| {
            let words = limit.map_or_else(
                || "off".to_owned(),
                |limit| {
                    let in_a_row =
                        limit.in_a_row.map_or_else(|| "off".to_owned(), |faults| faults.to_string());
                    let share = limit.share.map(|share| format!(",share={share}")).unwrap_or_default();
                    format!("in_a_row={in_a_row}{share},games={}", limit.games)
                },
            );
            ("fault_limit", words.into())
        }));
        keys.extend(playing.log.as_ref().map(|log| {
            let word = match log {
                LogPlan::Faults => "faults".to_owned(),
                LogPlan::Off => "off".to_owned(),
                LogPlan::All(directory) => directory.display().to_string(),
            };
            ("log", word.into())
        }));
        keys
    }
}
