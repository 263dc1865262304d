//! The command line: commands, arguments, and the exit codes that scripts can rely on.

mod admin;
mod opinion;
mod queue;

pub use admin::{AdminArgs, AdminCommand};
pub use opinion::{AnalyzeArgs, EffortArgs, ExplainArgs, Host, SuiteArgs};
pub use queue::{QueueAddArgs, QueueArgs, QueueCommand, QueueHistoryArgs, QueueRunArgs};

use crate::commands::machines::Line;
use crate::{habits, missing};
use check::GoForm;
use clap::{
    ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
    parser::ValueSource,
};
use event::{Playing, Sharing, machines::ForeignServer};
use notation::record::Format;
use plan::{LogPlan, fault_limit::FaultLimitFault};
use referee::fault_limit::FaultLimit;
use std::{num::ParseIntError, path::PathBuf, str::FromStr};

/// Tournaments and match servers for computer shogi.
#[derive(Debug, Parser)]
#[command(name = "renmei", version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// Print diagnostics on stderr: -v engines, logins and databases, -vv more. RENMEI_LOG sets a filter instead.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The exit codes, as listed by `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0   done (SPRT: still undecided when the games ran out)
  1   the request failed; the reason is on stderr
  2   the command line or the configuration is wrong, or another build of an engine has played before; nothing was started
  3   stopped before the end; the same command resumes
  4   halted: an engine reached its limit of faults, and the rest cannot be played without it
  5   `worker`: the manager does not want this machine; the reason is on stderr
  10  SPRT accepted H1 (the difference is above elo0)
  11  SPRT accepted H0 (the difference is below elo1); `bisect`: nothing was lost
  12  SPRT without a verdict: faults of an engine decided, or halted it
  20  `check`: the engine has faults; `doctor`: no event can run here; `import --verify`: records disagree with the referee; `suite`: a position was not solved; `verify`: the database was altered";

/// Flags with which other machines play.
const OF_MACHINES: [&str; 7] = ["hub", "workers", "ssh", "credentials", "slots", "equal_clocks", "repeat"];

/// Flags that a command has in common with others, and refuses.
struct Refusal {
    /// The command, by the names that lead to it.
    command: &'static [&'static str],
    flags: &'static [&'static str],
    /// The end of the message, behind the flag.
    why: &'static str,
}

const REFUSALS: [Refusal; 4] = [
    Refusal {
        command: &["bisect"],
        flags: &OF_MACHINES,
        why: ": a search for a commit is played on this machine alone; `renmei test` plays two commits on several",
    },
    Refusal {
        command: &["bisect"],
        flags: &["events", "notify", "on_verdict", "fresh", "records", "http_linger"],
        why: " has no meaning in a search for a commit; leave it out",
    },
    Refusal {
        command: &["queue", "add"],
        flags: &OF_MACHINES,
        why: ": a queue is played on this machine alone; `renmei test` plays on several",
    },
    Refusal {
        command: &["queue", "add"],
        flags: &[
            "db",
            "fresh",
            "concurrency",
            "oversubscribe",
            "affinity",
            "no_affinity",
            "notify",
            "on_verdict",
            "reserve_mb",
            "events",
            "records",
            "quiet",
            "rating_interval",
            "no_dashboard",
            "http_linger",
        ],
        why: " belongs to who plays the queue, not to a test; leave it out",
    },
];

/// The command line as it is shown: a command does not offer what it refuses.
#[must_use]
pub fn command() -> clap::Command {
    let shown = hide(Cli::command(), &["serve"], &OF_MACHINES);
    REFUSALS.iter().fold(shown, |shown, refusal| hide(shown, refusal.command, refusal.flags))
}

fn hide(
    command: clap::Command,
    path: &'static [&'static str],
    flags: &'static [&'static str],
) -> clap::Command {
    match path {
        [] => command.mut_args(|arg| {
            let hidden = flags.contains(&arg.get_id().as_str());
            if hidden { arg.hide(true) } else { arg }
        }),
        [name, rest @ ..] => command.mut_subcommand(name, |inner| hide(inner, rest, flags)),
    }
}

/// The message about the first flag that its command refuses.
fn refused(matches: &ArgMatches) -> Option<String> {
    REFUSALS.iter().find_map(|Refusal { command, flags, why }| {
        let inner = command.iter().try_fold(matches, |outer, name| outer.subcommand_matches(name))?;
        let is_given = |flag: &&&str| inner.value_source(flag) == Some(ValueSource::CommandLine);
        let flag = flags.iter().find(is_given)?;
        Some(format!("--{}{why}", flag.replace('_', "-")))
    })
}

/// Parses the command line; prints help or the error and exits where there is no command to execute.
#[must_use]
pub fn parse() -> Cli {
    let translation = habits::translate(std::env::args_os().collect()).unwrap_or_else(|faults| {
        faults.0.iter().for_each(|fault| err_line!("renmei: {fault}"));
        std::process::exit(2)
    });
    translation.notes.iter().for_each(|line| err_line!("{line}"));
    let command = command().mut_subcommand("match", |command| command.after_long_help(match_help()));
    let matches = command.clone().try_get_matches_from(&translation.words).unwrap_or_else(|error| {
        match missing::explained(&error, command.clone(), &translation.words) {
            Some(message) => err_line!("renmei: {message}"),
            None => exit(&missing::advised(error, &command, &translation.words)),
        }
        std::process::exit(2)
    });
    if let Some(why) = refused(&matches) {
        err_line!("renmei: {why}");
        std::process::exit(2);
    }
    match from(&matches) {
        Ok(cli) => cli,
        Err(error) => exit(&error),
    }
}

/// Parses a command line that this program has composed.
///
/// # Errors
/// When clap refuses the words.
pub fn parse_words(words: &[String]) -> Result<Cli, clap::Error> {
    from(&command().try_get_matches_from(words)?)
}

/// Prints a message of clap and exits. Colours are for messages that do not repeat what a terminal would obey.
fn exit(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    if text.chars().any(|c| c != '\n' && notation::is_hidden(c)) {
        err_line!("{}", text.trim_end());
        std::process::exit(error.exit_code());
    }
    error.exit()
}

fn from(matches: &ArgMatches) -> Result<Cli, clap::Error> {
    let mut cli = Cli::from_arg_matches(matches)?;
    if let (Command::Match(args), Some((_, arguments))) = (&mut cli.command, matches.subcommand()) {
        let groups = arguments.get_occurrences::<String>("engine").into_iter().flatten();
        args.engines = groups.map(|words| words.cloned().collect()).collect();
    }
    Ok(cli)
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Play the event of a configuration file, or resume it.
    Run(RunArgs),
    /// Play engines against each other without a configuration file.
    Match(Box<MatchArgs>),
    /// Play two commits of a repository against each other.
    Test(Box<TestArgs>),
    /// Find the commit of a repository that lost strength.
    Bisect(Box<BisectArgs>),
    /// Play a league of builds, and tell which parts, and which pairs of parts, are worth how much.
    Attribute(Box<AttributeArgs>),
    /// Tune options of an engine by games: values that make it stronger.
    Tune(Box<TuneArgs>),
    /// Play tests of commits one after another, or by shares: add them, pause them, look at their history.
    Queue(Box<QueueArgs>),
    /// Play the events of all configuration files in a directory beside each other, on one machine and one page.
    Hall(HallArgs),
    /// List the builds of commits, or delete them.
    Cache(CacheArgs),
    /// Play games of an event that another machine manages.
    Worker(WorkerArgs),
    /// Host a league over the network, by the CSA server protocol.
    Serve(ServeArgs),
    /// Play with an engine on floodgate, or on any other CSA server.
    Floodgate(FloodgateArgs),
    /// Check what this machine has and lacks for events, and print the command that mends each.
    Doctor(DoctorArgs),
    /// Check what would go wrong with an engine in an event.
    Check(CheckArgs),
    /// Report an event of a database: standings, Elo and endings as text or JSON, a web page, or a picture.
    Report(ReportArgs),
    /// Show an event of a database while another process plays it, or after its end.
    Watch(WatchArgs),
    /// Show an event of a database in the browser, while another process plays it, or after its end.
    Web(WebArgs),
    /// Export games of a database as record files.
    Export(ExportArgs),
    /// Import record files into a database.
    Import(ImportArgs),
    /// Pack a database with its records and seals into one file to hand over; `verify` checks it.
    Pack(PackArgs),
    /// Verify that an event in a database is as it was played: recompute its seals, and name what was altered.
    Verify(VerifyArgs),
    /// Rate the players of many events together: every build in every database given, with error bars.
    Ledger(LedgerArgs),
    /// Explain why games were lost: the move, the phase and the cause, by a second opinion and the engine itself.
    Explain(ExplainArgs),
    /// Let engines search every position of record files, and write records with their evaluations and lines as comments.
    Analyze(AnalyzeArgs),
    /// Ask an engine for the moves of a suite of positions, and count those that it finds.
    Suite(SuiteArgs),
    /// Manage the players who may log in to a league with accounts or invitations.
    Account(AccountArgs),
    /// Drop the moves and lines of old games from a database, and make its file smaller; results and ratings stay.
    Prune(PruneArgs),
    /// Play games again that a player lost by a fault: a crash, an illegal move, no answer; what they were stays on record.
    Rerun(RerunArgs),
    /// Do what the operator of an event does while it is played: pause it, rule on a game, ban a player.
    Admin(AdminArgs),
    /// Print the transcript of a game line by line: what its engines and the network said and were told.
    Log(LogArgs),
    /// Compute an SPRT, Elo and error bounds from counts.
    Sprt(SprtArgs),
    /// Write a preset configuration into this directory; without a name, list the presets.
    Init(InitArgs),
    /// Print a hardened systemd unit that keeps an event, a host, or an engine on a server running.
    Systemd(SystemdArgs),
    /// Install an event, a host, an engine on a server, a worker or a queue as a Windows service, or remove it.
    Service(ServiceArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print what this program was built of, and the versions of what it speaks.
    Version(VersionArgs),
    /// Write manual pages into a directory, for packages.
    #[command(hide = true)]
    Man(ManArgs),
}

#[derive(Clone, Debug, Args)]
pub struct VersionArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// The directory; it is made if it is missing.
    pub directory: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The configuration file of the event.
    pub file: PathBuf,
    #[command(flatten)]
    pub playing: PlayingArgs,
}

#[derive(Clone, Debug, Args)]
pub struct WorkerArgs {
    /// The line that the manager prints: nats+tls://HOST:PORT#TOKEN. On a server of your own that wants a user:
    /// nats://USER:PASSWORD@HOST:PORT#TOKEN. It is a secret, and what is typed here is seen by everybody on this machine;
    /// without it RENMEI_JOIN is read, or else what this worker joined last.
    pub line: Option<Line>,
    /// A file that holds the line; `-`: standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "line")]
    pub join_file: Option<PathBuf>,
    /// A file with credentials (.creds) for a server of your own.
    #[arg(long, value_name = "FILE")]
    pub credentials: Option<PathBuf>,
    /// Name of this machine in the event [default: the name of the host].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Pairs of games at once [default: as many as the cores carry].
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub slots: Option<usize>,
    /// Say this of the machine; may be given several times.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// The directory for the key of this machine, for answers that the manager has not taken yet, and for engines that it
    /// was sent [default: `renmei/worker-NAME` in the directory for the state of programs].
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Play even if the engines need more cores than the machine has.
    #[arg(long)]
    pub oversubscribe: bool,
    /// `strict`: play only in events that have every engine in a strict sandbox, with nothing on this machine to write to.
    #[arg(long, value_name = "KIND")]
    pub sandbox: Option<SandboxArg>,
    /// Speak with the manager over standard input and output, and remove the directory at the end: how a manager starts it
    /// over `ssh`.
    #[arg(long, hide = true, requires = "state", conflicts_with_all = ["line", "join_file", "credentials"])]
    pub stdio: bool,
}

/// What a worker insists on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SandboxArg {
    /// Whatever the event has.
    Default,
    /// A strict sandbox.
    Strict,
}

/// Options for playing that several commands share.
#[derive(Clone, Debug, Args)]
#[command(group(clap::ArgGroup::new("machines").args(["hub", "workers", "ssh"]).multiple(true)))]
pub struct PlayingArgs {
    /// The database; overrides the configuration.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Name of the event in the database; overrides the configuration.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Play the event from its beginning; what was played of it stays in the database under another name.
    #[arg(long)]
    pub fresh: bool,
    /// Begin a new event paused: players may log in and the arbiter may act, and nothing is paired until `renmei admin DB
    /// resume`.
    #[arg(long)]
    pub paused: bool,
    /// Games at once; overrides the configuration.
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub concurrency: Option<usize>,
    /// Have other machines play, too: starts a server at this address, such as 0.0.0.0:4222, and prints the line with
    /// which they join (`renmei worker`).
    #[arg(long, value_name = "ADDR", conflicts_with = "workers")]
    pub hub: Option<std::net::SocketAddr>,
    /// The same over a NATS server of your own: nats://HOST:PORT, tls://HOST:PORT, with USER:PASSWORD@ before the host if
    /// it wants one.
    #[arg(long, value_name = "URL")]
    pub workers: Option<ForeignServer>,
    /// Have machines play that are reached by `ssh HOST`, without a server or a service there; overrides `ssh` of
    /// `[machines]`.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub ssh: Vec<String>,
    /// A file with credentials (.creds) for that server.
    #[arg(long, value_name = "FILE", requires = "workers")]
    pub credentials: Option<PathBuf>,
    /// Games at once on this machine while others play; 0: this one plays none.
    #[arg(long, value_name = "N", conflicts_with = "concurrency")]
    pub slots: Option<usize>,
    /// Give every machine the clocks of the configuration, whatever its speed; otherwise they are scaled by it.
    #[arg(long, requires = "machines")]
    pub equal_clocks: bool,
    /// Where engines always play the same, one pair in so many is played again by another machine and compared; 0: none
    /// [default: 100].
    #[arg(long, value_name = "N", requires = "machines")]
    pub repeat: Option<u64>,
    /// Play even if the engines need more cores than the machine has.
    #[arg(long)]
    pub oversubscribe: bool,
    /// Pin each game's engines to cores of their own.
    #[arg(long)]
    pub affinity: bool,
    /// Leave every core to every game.
    #[arg(long, conflicts_with = "affinity")]
    pub no_affinity: bool,
    /// Faults that halt the games of an engine: `off`, a number in a row, or in_a_row=5,share=0.1,games=20; overrides the
    /// configuration.
    #[arg(long, value_name = "LIMIT")]
    pub fault_limit: Option<FaultLimitArg>,
    /// Do not have the engines make a move before the first game; only their handshakes are read.
    #[arg(long)]
    pub no_look: bool,
    /// Tell this command what happens, as JSON on its standard input: a verdict, the end, an engine that is halted;
    /// overrides `command` of `[notify]`.
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
    /// Tell this command how the sequential test ended, and nothing else.
    #[arg(long, value_name = "COMMAND")]
    pub on_verdict: Option<String>,
    /// Keep what engines say and are told: `faults` (the default) in the database, of games that ended by a fault; a
    /// directory: also of all games, a file for each side; or `off`. Overrides the configuration.
    #[arg(long, value_name = "DIR|faults|off", value_parser = log_plan)]
    pub log: Option<LogPlan>,
    /// Begin no new game while less than so many megabytes are free on the disk; 0: play on; overrides `reserve_mb`
    /// (512).
    #[arg(long, value_name = "MB")]
    pub reserve_mb: Option<u64>,
    /// Show the event in the browser on this address, such as 127.0.0.1:8080; overrides `listen` of `[http]`.
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
    /// Keep the pages open for so long after the event, such as 10m, or `forever`: until a signal. Without it they stay
    /// until Ctrl-C on a terminal, and end with the event elsewhere, as in scripts.
    #[arg(long, value_name = "DURATION|forever", value_parser = event::PagesStay::parse)]
    pub http_linger: Option<event::PagesStay>,
    /// Append every entry of the event to a file, as a line of JSON.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Append the record of every game to a file as it ends: CSA, or USI lines where the name ends in .usi.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// Print the final standings as JSON on stdout; everything else goes to stderr.
    #[arg(long)]
    pub json: bool,
    /// Print no line per game, only how the event stands every so often.
    #[arg(long, short)]
    pub quiet: bool,
    /// Without the dashboard: print score, Elo and the time to the end every N games, and once a minute while games end;
    /// 0: never [default: every 10 games, at most once in 2 seconds].
    #[arg(long, alias = "ratinginterval", value_name = "N")]
    pub rating_interval: Option<u64>,
    /// Print a line per game on a terminal, too, instead of showing the dashboard.
    #[arg(long)]
    pub no_dashboard: bool,
}

impl From<&PlayingArgs> for Playing {
    fn from(args: &PlayingArgs) -> Self {
        let PlayingArgs { hub, workers, credentials, equal_clocks, repeat, .. } = args.clone();
        let sharing = Sharing { hub, workers, credentials, equal_clocks, repeat };
        let PlayingArgs {
            fresh,
            paused,
            http,
            events,
            records,
            json,
            quiet,
            rating_interval,
            no_dashboard,
            ..
        } = args.clone();
        let report = true;
        let reread = None;
        let http_linger = args.http_linger.unwrap_or_default();
        Self {
            fresh,
            paused,
            sharing,
            http,
            http_linger,
            events,
            records,
            report,
            json,
            quiet,
            rating_interval,
            no_dashboard,
            reread,
        }
    }
}

/// The limit of `--fault-limit`; `None`: faults halt nobody.
#[derive(Clone, Copy, Debug)]
pub struct FaultLimitArg(pub Option<FaultLimit>);

impl FromStr for FaultLimitArg {
    type Err = FaultLimitFault;

    fn from_str(text: &str) -> Result<Self, FaultLimitFault> {
        plan::fault_limit::parse(text).map(Self)
    }
}

const MATCH_EXAMPLES: &str = "\
Games go to `match.db` in this directory, with `--name NAME` to `NAME.db`, with `--db FILE` to that file. The same command
resumes an interrupted match, or makes it longer (`--games`). A match of other engines, or with another clock, begins
`match-2` in `match-2.db` where neither is said. `renmei report match.db` shows the result again.

Examples:
  renmei match ./new ./old --each nodes=4000 option.USI_Hash=64 --games 1000
  renmei match --engine cmd=fairy-stockfish name=new nodes=4000 \\
               --engine cmd=fairy-stockfish name=old nodes=1000 option.Hash=16 \\
               --games 1000 --sprt elo0=0 elo1=10
  renmei match -engine cmd=./new name=new -engine cmd=./old name=old -each tc=10+0.1 \\
               -rounds 100 -repeat        # habits of fastchess, cutechess-cli: see --help";

/// The end of `renmei match --help`.
fn match_help() -> String {
    format!("{MATCH_EXAMPLES}\n\n{}", habits::help())
}

#[derive(Clone, Debug, Args)]
#[command(
    after_help = MATCH_EXAMPLES,
    override_usage = "renmei match [OPTIONS] <PROGRAM> <PROGRAM>...\n       \
                      renmei match [OPTIONS] --engine <KEY=VALUE>... --engine <KEY=VALUE>..."
)]
pub struct MatchArgs {
    /// The engines' programs, which are named after their files; before the options.
    #[arg(value_name = "PROGRAM")]
    pub programs: Vec<String>,
    /// An engine: cmd=PROGRAM name=NAME args="..." arg=ARG dir=DIR time=TIME fixed=TIME nodes=N depth=N margin=TIME
    /// reserve=TIME go=FORMS ponder=true restart=WHEN option.NAME=VALUE env.NAME=VALUE limits.NAME=TIME identity.ignore=FILES; to be given at least twice.
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE", action = clap::ArgAction::Append)]
    pub engine: Vec<String>,
    /// The same words, grouped by `--engine`.
    #[arg(skip)]
    pub engines: Vec<Vec<String>>,
    /// The first engine plays against each of the others, instead of everybody against everybody.
    #[arg(long, conflicts_with_all = ["sprt", "until"])]
    pub gauntlet: bool,
    /// How long it is played.
    #[command(flatten)]
    pub length: LengthArgs,
    /// What is played.
    #[command(flatten)]
    pub games: GamesArgs,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Both commits are built in a cache of Renmei's own; the repository is only read. The build runs as you, with all your
rights. `worktree` in place of a commit is the directory as it is, uncommitted work included. The same command resumes.

Examples:
  renmei test feature main --repo ../engine --build \"make -j2\" --program src/engine --sprt elo0=0 elo1=5 --time 10s+0.1s
  renmei test worktree HEAD --build \"cargo build --release\" --program target/release/engine --time \"nodes 10000\"")]
pub struct TestArgs {
    /// The new commit: anything that `git rev-parse` understands, or `worktree`.
    #[arg(value_name = "NEW")]
    pub new: String,
    /// The old commit.
    #[arg(value_name = "OLD")]
    pub old: String,
    /// The builds.
    #[command(flatten)]
    pub source: SourceArgs,
    /// How long it is played.
    #[command(flatten)]
    pub length: LengthArgs,
    /// What is played.
    #[command(flatten)]
    pub games: GamesArgs,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Plays commits between the two against the good one, each time the commit whose games are expected to say most, and ends
with the commit that lost strength and its probability. Commits that do not build, or do not play, are left out, and
commits that build the same program are one. The same command resumes.

Example:
  renmei bisect v1.2 main --repo ../engine --build \"make -j2\" --program src/engine --time \"nodes 10000\" --loss 20")]
pub struct BisectArgs {
    /// A commit before the loss.
    #[arg(value_name = "GOOD")]
    pub good: String,
    /// A later commit, after the loss.
    #[arg(value_name = "BAD")]
    pub bad: String,
    /// The builds.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Take each merge on the main line as one commit.
    #[arg(long)]
    pub first_parent: bool,
    /// About how much was lost, in Elo; a wrong guess costs games.
    #[arg(long, value_name = "ELO", default_value_t = 30.0, value_parser = from_to::<5, 800>)]
    pub loss: f64,
    /// The probability at which the search ends.
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = probability)]
    pub confidence: f64,
    /// Pairs of games before the commit to play is chosen anew.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = at_least_one::<u64>)]
    pub pairs: u64,
    /// Games of the whole search, at most.
    #[arg(long = "games", value_name = "N", default_value_t = 50_000)]
    pub most_games: u64,
    /// Draw the probabilities of the commits into a file, `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// What is played.
    #[command(flatten)]
    pub games: GamesArgs,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The file has one engine, `[tune]` with the number of pairs, and the options under `[[parameters]]`. Each pair of games is
played between two engines whose values lie above and below the tuned ones, and moves these towards the winner (SPSA). The
number of pairs is fixed before the first. The same command resumes.

Examples:
  renmei tune tune.toml --simulate
  renmei tune tune.toml --plot tune.svg --confirm
  renmei tune tune.toml --params engine.params --export tuned.params")]
pub struct TuneArgs {
    /// The configuration file.
    pub file: PathBuf,
    /// Take the options from a parameter file of YaneuraOu instead of `[[parameters]]`.
    #[arg(long, value_name = "FILE")]
    pub params: Option<PathBuf>,
    /// Write the tuned values as a parameter file of YaneuraOu.
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    /// Draw the values over the pairs into a file, `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// At the end, test the tuned values against those before: SPRT with 0 and 5 normalized Elo at the same time, then with
    /// four times as much.
    #[arg(long)]
    pub confirm: bool,
    /// Play nothing: propose pairs, perturbations and steps for an assumed landscape.
    #[arg(long, conflicts_with_all = ["confirm", "export", "plot"])]
    pub simulate: bool,
    /// With --simulate: Elo that an option costs at `c_end` from its best value, for all or for one. May be repeated
    /// [default: 2.5].
    #[arg(long, value_name = "ELO|OPTION=ELO", requires = "simulate")]
    pub cost: Vec<String>,
    /// With --simulate: distance of the best values from the starts, in perturbations.
    #[arg(long, value_name = "C", default_value_t = 2.0, value_parser = from_to::<0, 100>)]
    pub distance: f64,
    /// With --simulate: share of the games that are drawn.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, value_parser = from_to::<0, 1>)]
    pub draws: f64,
    /// With --simulate: Elo that the tuned values may lose against the best, in 95 of 100 tunings.
    #[arg(long, value_name = "ELO", default_value_t = 1.0, value_parser = from_to::<0, 100>)]
    pub within: f64,
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// Parses a number between two bounds.
fn from_to<const LEAST: i32, const MOST: i32>(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    let within = (f64::from(LEAST)..=f64::from(MOST)).contains(&number);
    if within { Ok(number) } else { Err(format!("it must be from {LEAST} to {MOST}")) }
}

/// How commits are built.
#[derive(Clone, Debug, Args)]
pub struct SourceArgs {
    /// The repository: a directory, or a URL.
    #[arg(long, value_name = "DIR|URL", default_value = ".")]
    pub repo: String,
    /// The command that builds the engine, for `sh -c` in the top directory of the checkout.
    #[arg(long, value_name = "COMMAND")]
    pub build: String,
    /// The program that the build makes, relative to the top directory.
    #[arg(long, value_name = "PATH")]
    pub program: String,
    /// A file or directory that the program reads and git does not track, relative to the top directory.
    #[arg(long, value_name = "PATH")]
    pub keep: Vec<String>,
    /// Time after which a build is given up.
    #[arg(long, value_name = "TIME", default_value = "1h")]
    pub build_timeout: String,
    /// Leave what git ignores in the checkout from build to build.
    #[arg(long)]
    pub incremental: bool,
}

#[derive(Clone, Debug, Args)]
pub struct AttributeArgs {
    /// The configuration file: the engine, its parts, and how much is played.
    pub file: PathBuf,
    /// Play nothing: tell what the database says so far, also while another process plays.
    #[arg(long)]
    pub report: bool,
    /// Predict a build, played or not; parts that are not named are at their first level.
    #[arg(long, value_name = "PART=LEVEL,...")]
    pub predict: Vec<String>,
    /// After the league, play the best build that was not in it against all others, so many games, and tell whether it
    /// is as strong as was expected.
    #[arg(long, value_name = "GAMES", value_parser = at_least_one::<u64>, conflicts_with = "report")]
    pub confirm: Option<u64>,
    /// Draw what pairs are worth into a file, `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write a page with everything.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Options for playing; `--json` prints what parts are worth as JSON.
    #[command(flatten)]
    pub playing: PlayingArgs,
}

#[derive(Clone, Copy, Debug, Args)]
pub struct CacheArgs {
    /// Delete all builds that nobody uses, with their clones and checkouts.
    #[arg(long)]
    pub clear: bool,
}

/// How long a match is played.
#[derive(Clone, Debug, Args)]
pub struct LengthArgs {
    /// Games of each encounter [default: 100]; with --sprt or --until: the most games that are played [default: 20000].
    #[arg(long)]
    pub games: Option<u64>,
    /// Stop at a verdict: elo0=0 elo1=5 [alpha=0.05] [beta=0.05] [model=normalized|logistic].
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub sprt: Vec<String>,
    /// Stop when the Elo of two engines is known so well, such as "5 elo": within ±5 at 95 %, corrected for looking after
    /// every pair.
    #[arg(long, value_name = "ELO", conflicts_with = "sprt")]
    pub until: Option<String>,
}

/// Options for what is played, which several commands share.
#[derive(Clone, Debug, Args)]
pub struct GamesArgs {
    /// The same words for every engine that does not say otherwise itself.
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub each: Vec<String>,
    /// Time for every engine: `10s`, `5m+10s`, `byoyomi 1s`, `10m byoyomi 30s`, `nodes 1000`, `depth 6`, `fixed 100ms`.
    #[arg(long, default_value = "byoyomi 1s")]
    pub time: String,
    /// Overrun of a move that is forgiven; `0`: the flag falls at once [default: 100ms].
    #[arg(long, value_name = "TIME")]
    pub margin: Option<String>,
    /// Openings: SFEN or USI move lines, CSA, KIF, KI2 or JKF records; `built-in`: the built-in collection, which is
    /// the default; `none`: every game begins from the start position.
    #[arg(long, value_name = "FILE")]
    pub openings: Vec<PathBuf>,
    /// Number of plies to use of each opening.
    #[arg(long, value_name = "N")]
    pub plies: Option<u32>,
    /// Use the openings in the order of the file instead of in random order.
    #[arg(long)]
    pub sequential: bool,
    /// End a game that a side has evaluated as lost for long enough: score=CENTIPAWNS [moves=3] [two_sided=false].
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub resign: Vec<String>,
    /// End a game that both sides have evaluated as level for long enough: score=CENTIPAWNS [plies=20] [from_ply=80].
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub draw: Vec<String>,
    /// Move limit in plies.
    #[arg(long, default_value_t = 512, value_name = "PLIES")]
    pub max_moves: u32,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub playing: PlayingArgs,
}

/// Parses what to keep of the conversations with engines; a directory is made absolute, because the event keeps it.
fn log_plan(text: &str) -> Result<LogPlan, String> {
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    LogPlan::of(text, |directory| here.join(directory)).map_err(str::to_owned)
}

/// Parses a whole number of at least 1.
fn at_least_one<T: FromStr<Err = ParseIntError> + From<u8> + PartialOrd>(text: &str) -> Result<T, String> {
    let number: T = text.parse().map_err(|error: ParseIntError| error.to_string())?;
    if number < T::from(1) { Err("it must be at least 1".to_owned()) } else { Ok(number) }
}

/// Parses the probability at which a search ends.
fn probability(text: &str) -> Result<f64, String> {
    let probability: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    match (0.5..1.0).contains(&probability) {
        true => Ok(probability),
        false => Err("it must be at least 0.5, and less than 1".to_owned()),
    }
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
An open league (a file with [serve] and neither [event] nor [[engines]]) starts no engines and has no end: it refuses
--concurrency, --fresh, --oversubscribe, --affinity and --json.")]
pub struct ServeArgs {
    /// Configuration file of the league, or of an event with remote players.
    pub file: PathBuf,
    /// Address to listen on; overrides the configuration.
    #[arg(long, value_name = "ADDR")]
    pub listen: Vec<std::net::SocketAddr>,
    /// Options for playing an event.
    #[command(flatten)]
    pub playing: PlayingArgs,
}

#[derive(Clone, Debug, Args)]
pub struct FloodgateArgs {
    /// Configuration file with the server, the login and the engine.
    pub file: PathBuf,
    /// The database; overrides the configuration.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Games to play; overrides the configuration.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    pub games: Option<u64>,
    /// Tell this command of the end and of new starts, as JSON on its standard input; overrides `command` of `[notify]`.
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
    /// Show the games in the browser on this address, such as 127.0.0.1:8080; overrides `listen` of `[http]`.
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
    /// Do not have the engine make a move before the first login.
    #[arg(long)]
    pub no_look: bool,
    /// Keep what the engine says and is told: `faults`, a directory, or `off`; overrides the configuration.
    #[arg(long, value_name = "DIR|faults|off", value_parser = log_plan)]
    pub log: Option<LogPlan>,
    /// Wait with the next game while less than so many megabytes are free on the disk; 0: play on; overrides
    /// `reserve_mb` (512).
    #[arg(long, value_name = "MB")]
    pub reserve_mb: Option<u64>,
    /// Print the final standings as JSON on stdout; everything else goes to stderr.
    #[arg(long)]
    pub json: bool,
    /// Print a line per game on a terminal too, instead of showing the dashboard.
    #[arg(long)]
    pub no_dashboard: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
A password is asked for at the terminal, or read from the first line of stdin; it is never an argument.
In CSA mode it is what follows the game's name: LOGIN name game-600-10,password

Examples:
  renmei account add gps --db league.db
  echo $PASSWORD | renmei account add gps --db league.db
  renmei account invite gps      # a line for `[serve] invited`")]
pub struct AccountArgs {
    /// The operation.
    #[command(subcommand)]
    pub command: AccountCommand,
}

/// Operations on accounts.
#[derive(Clone, Debug, Subcommand)]
pub enum AccountCommand {
    /// Create an account, or change its password.
    Add {
        /// The player's name: 1 to 32 letters, digits, `_`, `-`, `@` or `.`.
        name: String,
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// List the accounts.
    List {
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// Delete an account; a game that its player is playing continues.
    Remove {
        /// The player's name.
        name: String,
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// Accounts of those who run the event from its page: `renmei serve --http`, see the guide to the arbiter's page.
    Web {
        /// The operation.
        #[command(subcommand)]
        command: WebAccountCommand,
    },
    /// Print the invitation of a player with a trip, a line for `[serve] invited`.
    Invite {
        /// The player's name.
        name: String,
    },
}

/// Operations on accounts of the pages.
#[derive(Clone, Debug, Subcommand)]
pub enum WebAccountCommand {
    /// Create an account, or change its password and role; who is logged in with it is logged out.
    Add {
        /// The name: 1 to 32 letters, digits, `_`, `-`, `@` or `.`.
        name: String,
        /// What it may do: an `operator` pauses, announces and sends away, an `arbiter` also decides.
        #[arg(long, value_name = "ROLE")]
        role: journal::Role,
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// List the accounts.
    List {
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
    /// Delete an account; who is logged in with it is logged out.
    Remove {
        /// The name.
        name: String,
        /// The database.
        #[arg(long, value_name = "FILE", default_value = "league.db")]
        db: PathBuf,
    },
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each line: the time in UTC, the colour of the player whose connection it is, `<` received or `>` sent by this program, and
the line itself; what a terminal would not print as it is, is escaped. In the database of a host a line that was sent went to
the player; in that of `renmei floodgate` the colour is our own, and what was sent went to the server.

Examples:
  renmei log 7 --db league.db
  renmei log 7 --db floodgate.db
  renmei log league+t-600-10+gps+fairy+20261121120000")]
pub struct LogArgs {
    /// The game: its number or its Game_ID.
    pub game: String,
    /// The database; by default the one in the current directory, or the newest of several.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
}

#[derive(Clone, Debug, Args)]
#[command(group(clap::ArgGroup::new("bounds").required(true).multiple(true).args(["days", "games"])))]
#[command(after_help = "\
A game keeps its moves if it is within both bounds. Players, results, times and Game_IDs of every game stay, so that
standings, ratings and a resumed event do not change. Nobody may play the event meanwhile; a league that runs for ever
does the same while it runs, by `[serve.retention]`.

Examples:
  renmei prune --db league.db --days 90 --dry-run
  renmei prune --db league.db --days 90 --games 10000")]
pub struct PruneArgs {
    /// The database.
    #[arg(long, value_name = "FILE", default_value = "league.db")]
    pub db: PathBuf,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Drop the moves of games that ended more than so many days ago.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub days: Option<u32>,
    /// Drop the moves of all games but so many newest.
    #[arg(long, value_name = "N")]
    pub games: Option<u64>,
    /// Only say what would be dropped.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// The directory of an event's configuration, where its database is written.
    #[arg(default_value = ".")]
    pub directory: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Options of `check` stand before the engine's command; what follows the command goes to the engine.

Examples:
  renmei check fairy-stockfish
  renmei check --option LimitDepth=4 gpsusi --num-cpus 1")]
pub struct CheckArgs {
    /// The engine's program.
    pub command: PathBuf,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
    /// Set an option before the checks: NAME=VALUE.
    #[arg(long, value_name = "NAME=VALUE")]
    pub option: Vec<String>,
    /// Another machine that the engine is started on, as `ssh` takes it; its program and directory are paths there.
    #[arg(long, value_name = "HOST", conflicts_with = "sandbox")]
    pub host: Option<String>,
    /// The program `ssh` for --host, with options that stand before the host.
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "host")]
    pub ssh_command: String,
    /// Directory that the engine runs in; by default its own if its program is given as a path.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// File of positions to ask for moves in (SFEN lines); by default the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub positions: Option<PathBuf>,
    /// A form of `go` to leave out because the engine does not support it. May be repeated.
    #[arg(long, value_parser = one_of(&GO_FORMS), value_name = "FORM")]
    pub skip: Vec<GoForm>,
    /// Time limit of `isready`.
    #[arg(long, default_value = "120s", value_name = "TIME")]
    pub ready: String,
    /// Examine it in a strict sandbox, as with `sandbox = "strict"`.
    #[arg(long)]
    pub sandbox: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  renmei report league.db
  renmei report league.db --html league.html
  renmei report league.db --plot elo.svg
  renmei report league.db --plot game.png --of eval:12")]
pub struct ReportArgs {
    /// The database; by default the one in the current directory, or the newest of several.
    pub db: Option<PathBuf>,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// List the events of the database.
    #[arg(long, conflicts_with_all = ["json", "event"])]
    pub list: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print black's score, level pairs and the strength of the players from each set of openings: families by what became of
    /// rooks and bishops, each line alone (`lines`), or the given files of lines.
    #[arg(long, value_name = "FILE", num_args = 0.., value_delimiter = ',', conflicts_with_all = ["list", "html", "plot"])]
    pub openings: Option<Vec<PathBuf>>,
    /// Fit each player's scores to its results: how many of its centipawns are one unit of log odds (600 on the common scale).
    #[arg(long, conflicts_with_all = ["list", "html", "plot"])]
    pub scales: bool,
    /// Write a self-contained web page with all figures and every game on a board.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "list"])]
    pub html: Option<PathBuf>,
    /// Language of the page and the pictures [default: that of LC_ALL, LC_MESSAGES or LANG].
    #[arg(long, value_name = "en|ja", value_parser = language)]
    pub language: Option<words::Language>,
    /// Draw a picture: FILE.svg or FILE.png.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "list"])]
    pub plot: Option<PathBuf>,
    /// Content of the picture: elo, ratings (over the games), sprt, tuning, endings, time (by ply), or eval:N for game N.
    #[arg(long, value_name = "WHAT", default_value = "elo", requires = "plot")]
    pub of: Picture,
}

fn language(code: &str) -> Result<words::Language, String> {
    words::Language::of(code).ok_or_else(|| "expected en or ja".to_owned())
}

/// Content of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Elo of every player with its interval.
    Elo,
    /// The ratings over the games.
    Ratings,
    /// The log-likelihood ratio of a sequential test between its bounds.
    Sprt,
    /// The values of a tuning over its pairs.
    Tuning,
    /// Number of games by ending.
    Endings,
    /// The mean time of a move by ply.
    Time,
    /// Evaluations of the game with this number.
    Eval(u64),
}

impl std::str::FromStr for Picture {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let game = |number: &str| number.parse().map(Self::Eval).ok();
        match text {
            "elo" => Some(Self::Elo),
            "ratings" => Some(Self::Ratings),
            "sprt" => Some(Self::Sprt),
            "tuning" => Some(Self::Tuning),
            "endings" => Some(Self::Endings),
            "time" => Some(Self::Time),
            _ => text.strip_prefix("eval:").and_then(game),
        }
        .ok_or_else(|| "expected elo, ratings, sprt, tuning, endings, time or eval:N".to_owned())
    }
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  renmei web league.db
  renmei web league.db --http 0.0.0.0:8080 --delay \"5 moves\"")]
pub struct WebArgs {
    /// The database.
    pub db: PathBuf,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Address of the pages [default: 127.0.0.1:8080].
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
    /// How far the pages are behind the games: `5 moves`, `30s`.
    #[arg(long, value_name = "DELAY", value_parser = plan::http::Delay::parse)]
    pub delay: Option<plan::http::Delay>,
    /// Players and Game_IDs whose games nobody is shown; `*` stands for any letters. May be repeated.
    #[arg(long, value_name = "PATTERN")]
    pub private: Vec<String>,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each file in DIR whose name ends in .toml is an event, but for hall.toml, which says what the events share: cores, licences
of engines, priorities, hours, pages. Ctrl-C once finishes the running games of all events, again ends them; the same
command goes on with every event.

Examples:
  renmei hall events
  renmei hall events --http 127.0.0.1:8080 --concurrency 8")]
pub struct HallArgs {
    /// The directory.
    pub dir: PathBuf,
    /// Show all events in the browser on this address; overrides `listen` of `[http]` in hall.toml.
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
    /// Cores that the games of all events take together [default: the usable ones].
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub concurrency: Option<usize>,
    /// Take more cores than the machine has.
    #[arg(long)]
    pub oversubscribe: bool,
    /// End when every event is over, instead of waiting for further files.
    #[arg(long)]
    pub until_done: bool,
    /// Print no line per game, only how the events stand every minute.
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each game is an action of the operator, on record with who did it and why: `renmei report DATABASE` lists them. While a
process plays the event, it plays them at once; otherwise the command that played it goes on with them, also when it was
over.

Example:
  renmei rerun cup.db --faults --reason \"the power was cut\"")]
pub struct RerunArgs {
    /// The database of the event.
    pub database: PathBuf,
    /// The games that a player lost by a fault.
    #[arg(long, required = true)]
    pub faults: bool,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "games lost by faults are played again")]
    pub reason: String,
    /// Who you are, beside the name of your user.
    #[arg(long = "as", value_name = "NAME")]
    pub named: Option<String>,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The file has a copy of the database without passwords, registrations and keys, the records of all games, and a manifest with
SHA-256 and the seal of each event. The event may be played meanwhile.

Example:
  renmei pack cup.db -o cup.tar.gz")]
pub struct PackArgs {
    /// The database.
    pub database: PathBuf,
    /// The file to write; it must not exist.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct WatchArgs {
    /// The database; by default the one in the current directory, or the newest of several.
    pub db: Option<PathBuf>,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
}

/// Record formats for export.
const RECORD_FORMATS: [(&str, Format, &str); 11] = [
    ("csa", Format::Csa, "CSA 2.2"),
    ("csa3", Format::Csa3, "CSA 3.0"),
    ("kif", Format::Kif, "KIF in Shift_JIS"),
    ("kifu", Format::Kifu, "KIF in UTF-8"),
    ("ki2", Format::Ki2, "KI2 in Shift_JIS"),
    ("ki2u", Format::Ki2u, "KI2 in UTF-8"),
    ("jkf", Format::Jkf, "JSON kifu format"),
    ("usi", Format::Usi, "USI position lines, one game per line"),
    ("usen", Format::Usen, "URL-safe USEN, one game per line"),
    ("psv", Format::Psv, "Packed positions with scores (YaneuraOu)"),
    ("hcpe", Format::Hcpe, "Packed positions with scores (Apery, dlshogi)"),
];

/// Forms of `go` that `check` can leave out.
const GO_FORMS: [(&str, GoForm, &str); 5] = [
    ("nodes", GoForm::Nodes, "`go nodes`"),
    ("depth", GoForm::Depth, "`go depth`"),
    ("movetime", GoForm::Movetime, "`go movetime`"),
    ("increment", GoForm::Increment, "`go` with `binc` and `winc`"),
    ("ponder", GoForm::Ponder, "`go ponder`"),
];

/// A parser for a word of a list, with a line of help for each.
fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let values = words.iter().map(|(name, _, about)| PossibleValue::new(*name).help(*about));
    PossibleValuesParser::new(values).try_map(|word| {
        let found = words.iter().find(|(name, ..)| *name == word);
        found.map(|(_, value, _)| *value).ok_or("not one of the listed values")
    })
}

#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// The database.
    pub db: PathBuf,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Games by number (`7`, `10-20`); by default all that count.
    #[arg(long, value_name = "N")]
    pub game: Vec<String>,
    /// Include games that do not count: aborted ones, and draws that were played again.
    #[arg(long, conflicts_with = "game")]
    pub all: bool,
    /// The format; by default that of the output file's extension, otherwise csa.
    #[arg(long, value_parser = one_of(&RECORD_FORMATS))]
    pub format: Option<Format>,
    /// A directory (`DIR/`) for one file per game, a file for all games, or `-` for stdout.
    #[arg(long, short, default_value = "-", value_name = "PATH")]
    pub output: PathBuf,
}

impl From<&ExportArgs> for records::Export {
    fn from(args: &ExportArgs) -> Self {
        let ExportArgs { db, event, game, all, format, output } = args.clone();
        let extension = output.extension().and_then(|extension| extension.to_str());
        let format = format.or_else(|| extension.and_then(Format::from_extension)).unwrap_or(Format::Csa);
        // Who exports games wants to hand them on.
        Self { db, event, game, all, format, output, access: platform::files::Access::Shared }
    }
}

impl From<&ImportArgs> for records::Import {
    fn from(args: &ImportArgs) -> Self {
        let ImportArgs { files, db, verify, event, .. } = args.clone();
        Self { files, db, verify, event }
    }
}

impl From<&CheckArgs> for check::Request {
    fn from(from: &CheckArgs) -> Self {
        let CheckArgs { command, args, host, dir, option, positions, skip, ready, .. } = from.clone();
        let ssh_command = from.ssh_command.split_whitespace().map(str::to_owned).collect();
        let sandbox = if from.sandbox { plan::Sandbox::Strict } else { plan::Sandbox::Default };
        Self { command, args, host, ssh_command, dir, option, positions, skip, ready, sandbox }
    }
}

#[derive(Clone, Debug, Args)]
pub struct ImportArgs {
    /// Record files of any format, and directories with them; format and encoding are detected. Or one file .tsv or .csv
    /// with results of games without moves: columns `round`, `black`, `white`, `result`, or a table with a column a round or
    /// a player.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The database to import into; not needed with --verify.
    #[arg(long, value_name = "FILE", required_unless_present = "verify")]
    pub db: Option<PathBuf>,
    /// Replay each record through the referee and report disagreements.
    #[arg(long)]
    pub verify: bool,
    /// Name of the event that receives the games.
    #[arg(long, default_value = "import", value_name = "NAME", requires = "db")]
    pub event: String,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each finished game, bye, verdict and run has a seal: a SHA-256 of its content and of the seal before it. `verify` computes
them anew and names what differs. Whoever can write to the file can also compute new seals: note the head, which the end of
an event and `renmei report` print, where others cannot change it, and compare with `--head`. A head that was noted earlier
is found too, and covers what was played until then. Records are verified by `renmei import --verify`.

Exit codes: 0 nothing was altered, 20 something was, or the head is not in the chain.

Examples:
  renmei verify league.db
  renmei verify league.db --event spring --head 1f0c...
  renmei verify league.tar.gz --replay 5 --engine ./engine-a --engine ./engine-b")]
pub struct VerifyArgs {
    /// The database, or a file that `renmei pack` has written (its name ends in .tar.gz).
    pub db: PathBuf,
    /// Name of the event; by default all events.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// A head that was noted earlier: 64 hexadecimal digits.
    #[arg(long, value_name = "SHA256", value_parser = head)]
    pub head: Option<String>,
    /// Play so many percent of the games again that can come out but one way: of engines that are limited by nodes or
    /// depth, think with one thread, and are among those of --engine.
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "engine")]
    pub replay: Option<f64>,
    /// A program that may be an engine of the event, by its SHA-256; may be repeated. It runs in the strict sandbox.
    #[arg(long, value_name = "PATH")]
    pub engine: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
A player is a build: a program by its contents, with its arguments and options, at a clock. `--apart` says what keeps two
players apart: `--apart build` rates a build over all clocks, `--apart clock` a name over all builds. Elo is by maximum
likelihood; players without a chain of games between them are listed apart. An event that is in two files counts once, and
tunings are left out.

Examples:
  renmei ledger results/
  renmei ledger spring.db summer.db --anchor old=2000 --half-life 90
  renmei ledger results/ --suggest
  renmei ledger results/ --html ledger.html
  renmei ledger results/ --about new,old")]
pub struct LedgerArgs {
    /// Databases, and directories in and below which files `*.db` are read.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// What keeps two players apart, separated by commas.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "build,clock")]
    pub apart: Vec<Kept>,
    /// A player of known Elo: NAME=ELO; several may be given.
    #[arg(long, value_name = "NAME=ELO", value_parser = anchor)]
    pub anchor: Vec<(String, f64)>,
    /// Days in which a game loses half of its weight, counted from the newest game.
    #[arg(long, value_name = "DAYS", value_parser = days)]
    pub half_life: Option<f64>,
    /// Print the encounters whose games would shrink the errors of all most per second of playing.
    #[arg(long)]
    pub suggest: bool,
    /// Print the encounters that would shrink the error of the difference of two players most per second of playing.
    #[arg(long, value_name = "A,B", value_parser = two_names, conflicts_with = "suggest")]
    pub about: Option<(String, String)>,
    /// Write a page with a picture, the table and the encounters to play next.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub html: Option<PathBuf>,
    /// Encounters that are printed, at most.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub most: usize,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What keeps two players of a ledger apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kept {
    /// Programs of other contents, arguments or options.
    Build,
    /// Other clocks, node counts or depths.
    Clock,
    /// Other machines.
    Machine,
    /// Names alone.
    Name,
}

/// Parses an anchor.
fn anchor(text: &str) -> Result<(String, f64), String> {
    let (name, elo) = text.rsplit_once('=').ok_or("an anchor is a name and its Elo: `old=2000`")?;
    match elo.parse::<f64>() {
        Ok(elo) if elo.abs() <= 100_000.0 => Ok((name.to_owned(), elo)),
        _ => Err(format!("`{elo}` is no Elo from -100000 to 100000")),
    }
}

/// Parses the names of two players.
fn two_names(text: &str) -> Result<(String, String), String> {
    let (one, other) = text.split_once(',').ok_or("two names are separated by a comma: `new,old`")?;
    Ok((one.to_owned(), other.to_owned()))
}

/// Parses a half-life.
fn days(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(days) if (0.01..=100_000.0).contains(&days) => Ok(days),
        _ => Err("a half-life is a number of days from 0.01 to 100000".to_owned()),
    }
}

/// Parses a percentage.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a number from 0 to 100".to_owned()),
    }
}

/// Parses a head.
fn head(text: &str) -> Result<String, String> {
    match text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text.to_owned()),
        false => Err("a head is 64 hexadecimal digits, as `renmei report` prints it".to_owned()),
    }
}

#[derive(Clone, Debug, Args)]
#[command(
    after_help = "\
Examples:
  renmei sprt --wdl 136 111 96
  renmei sprt --pentanomial 34 54 63 64 75 --elo0 0 --elo1 5
  renmei sprt plan elo0=0 elo1=5 --draws 30 --bias 60",
    args_conflicts_with_subcommands = true
)]
pub struct SprtArgs {
    /// What else is asked.
    #[command(subcommand)]
    pub ask: Option<SprtAsk>,
    /// Wins, draws and losses of single games.
    #[arg(long, num_args = 3, value_names = ["WINS", "DRAWS", "LOSSES"], conflicts_with = "pentanomial")]
    pub wdl: Option<Vec<u64>>,
    /// Pairs of games by their score: 0, 1/2, 1, 3/2, 2.
    #[arg(long, num_args = 5, value_names = ["LL", "LD", "WL_DD", "WD", "WW"])]
    pub pentanomial: Option<Vec<u64>>,
    /// Elo of H0.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub elo0: f64,
    /// Elo of H1.
    #[arg(long, default_value_t = 5.0, allow_negative_numbers = true)]
    pub elo1: f64,
    /// Probability of accepting H1 when H0 is true.
    #[arg(long, default_value_t = 0.05)]
    pub alpha: f64,
    /// Probability of accepting H0 when H1 is true.
    #[arg(long, default_value_t = 0.05)]
    pub beta: f64,
    /// Scale of elo0 and elo1.
    #[arg(long, value_enum, default_value_t = SprtScale::Normalized)]
    pub model: SprtScale,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Questions about a test that is not played yet.
#[derive(Clone, Debug, Subcommand)]
pub enum SprtAsk {
    /// Compute the chance to pass and the number of games of a test, by the true difference.
    Plan(SprtPlanArgs),
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Pairs of games are those of Davidson's model with the draws and the openings given, or those that two engines have shown in
a database.

Examples:
  renmei sprt plan elo0=0 elo1=5
  renmei sprt plan elo0=0 elo1=10 alpha=0.05 beta=0.1 model=logistic --draws 30 --bias 60
  renmei sprt plan elo0=0 elo1=5 --db match.db")]
pub struct SprtPlanArgs {
    /// The test, as in `[sprt]` of a configuration: elo0, elo1, alpha, beta and model, each as KEY=VALUE.
    #[arg(value_name = "KEY=VALUE", required = true)]
    pub test: Vec<String>,
    /// Games in a hundred that equals draw from a level opening.
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "30")]
    pub draws: f64,
    /// Elo by which an opening favours one side.
    #[arg(long, value_name = "ELO", default_value_t = 0.0)]
    pub bias: f64,
    /// A database: take the pairs of games as its two players have played them.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["draws", "bias"])]
    pub db: Option<PathBuf>,
    /// The event of the database [default: the newest].
    #[arg(long, value_name = "NAME", requires = "db")]
    pub event: Option<String>,
    /// The two players, where the event has more.
    #[arg(long, value_name = "A,B", value_parser = two_names, requires = "db")]
    pub players: Option<(String, String)>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The scale of an SPRT's hypotheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SprtScale {
    /// Normalized Elo.
    Normalized,
    /// Logistic Elo.
    Logistic,
}

#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// The preset.
    #[arg(value_enum)]
    pub preset: Option<Preset>,
    /// Overwrite existing files.
    #[arg(long)]
    pub force: bool,
}

/// A preset configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// A first league of the installed engines; two minutes.
    Quickstart,
    /// Is one version better than another? A sequential test.
    Sprt,
    /// A sequential test on many machines (`renmei worker`).
    Machines,
    /// One engine against all others.
    Gauntlet,
    /// A whole tournament: a Swiss stage, then a knock-out final.
    Denou,
    /// Training games for renmei-pairwise.
    Learn,
    /// The values of options by which an engine is strongest (`renmei tune`).
    Tune,
    /// What the parts of an engine are worth: a league of its builds (`renmei attribute`).
    Attribute,
    /// Games on floodgate's clock, to test whether an engine keeps it.
    FloodgateTime,
    /// The first Denryu-sen, and TSEC with its designated positions: whole events, from the first round to the final.
    Denryu,
    /// The World Computer Shogi Championship since 2019: both qualifiers and the final.
    Wcsc,
    /// The first Shogi Denou tournament: a Swiss, a knock-out and a play-off for the fifth place.
    Sdt,
    /// A host with the rules and the rounds of floodgate (`renmei serve`).
    FloodgateHost,
    /// An engine on floodgate or another CSA server (`renmei floodgate`).
    Floodgate,
    /// An open league over the network (`renmei serve`).
    Serve,
    /// An event of local engines and remote players (`renmei serve`).
    League,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  renmei systemd serve league.toml | sudo tee /etc/systemd/system/renmei-league.service
  renmei systemd --user floodgate floodgate.toml > ~/.config/systemd/user/renmei-floodgate.service
  renmei systemd hall events | sudo tee /etc/systemd/system/renmei-events.service
  renmei systemd --user queue tests > ~/.config/systemd/user/renmei-tests.service")]
pub struct SystemdArgs {
    /// The command that the service runs.
    #[arg(value_enum)]
    pub service: Service,
    /// Its configuration file; of a hall or a queue, the directory; of a worker, the file with the line to join with.
    pub file: PathBuf,
    /// Print a unit for a user's service manager, which needs no root.
    #[arg(long)]
    pub user: bool,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples (in a terminal of an administrator):
  renmei service install serve league.toml
  renmei service print floodgate floodgate.toml
  renmei service remove renmei-league")]
pub struct ServiceArgs {
    #[command(subcommand)]
    pub command: ServiceCommand,
}

/// What is done with a Windows service.
#[derive(Clone, Debug, Subcommand)]
pub enum ServiceCommand {
    /// Install a service that starts with the machine, and start it now.
    Install(ServiceWork),
    /// Stop a service, and remove it; its files stay.
    Remove {
        /// The name that `install` printed.
        name: String,
    },
    /// Print the commands that `install` runs.
    Print(ServiceWork),
    /// Do the work of a service; for the system alone.
    #[command(hide = true)]
    Start {
        /// Name of the service.
        name: String,
        #[command(flatten)]
        work: ServiceWork,
    },
}

/// What a Windows service does.
#[derive(Clone, Debug, Args)]
pub struct ServiceWork {
    /// The command that the service runs.
    #[arg(value_enum)]
    pub service: Service,
    /// Its configuration file; of a hall or a queue, the directory; of a worker, the file with the line to join with.
    pub file: PathBuf,
}

/// A command that runs as a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// `renmei run`.
    Run,
    /// `renmei serve`.
    Serve,
    /// `renmei floodgate`.
    Floodgate,
    /// `renmei worker`.
    Worker,
    /// `renmei hall`.
    Hall,
    /// `renmei queue`; with systemd, that of a user.
    Queue,
}
