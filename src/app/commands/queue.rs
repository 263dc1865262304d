//! `renmei queue`: tests that wait, in one database.
//!
//! The tests stand in a table beside the events that are their games: one file is one state, and a test is over when its
//! event is. Whoever adds or pauses a test writes to the database; whoever plays the queue looks at it again and again, so
//! that there is nothing between the two that a kill could lose.

mod cache;
mod history;

use super::{
    Exit, Failure,
    games::{self, Length},
    playing::EnginesArgs,
    test::{CommitsArgs, Tested},
    values::at_least_one,
};
use ::laboratory::{Cache, Surroundings, git::short};
use arena::Shutdown;
use clap::{Args, Subcommand};
use event::{listen, queue::state};
use journal::{MOST_QUEUED, NewTest, Store, TestChange, Tests, Writer};
use plan::{Environment, Plan};
use platform::account::User;
use report::{Commits, TestedCommit};
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

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
    /// Run this command for each notice of a test, with JSON on its standard input.
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
    /// List the builds of commits, or delete them.
    Cache(cache::CacheArgs),
    /// Show what became of the tests: verdicts, Elo, games, commits.
    History(history::QueueHistoryArgs),
}

/// `renmei queue DIR add`.
#[derive(Clone, Debug, Args)]
pub struct QueueAddArgs {
    /// The test.
    #[command(flatten)]
    pub test: CommitsArgs,
    #[command(flatten)]
    pub engines: EnginesArgs,
    /// Title of the test [default: the subject of the new commit].
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
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
    /// Print the number of the test as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The database of a queue, in its directory.
const DATABASE: &str = "queue.db";

/// Plays a queue, or does what is asked for with it.
pub fn queue(args: &QueueArgs) -> Result<Exit, Failure> {
    let Some(command) = &args.command else {
        return event::queue::run(&existing(&args.dir)?, &(&args.run).into());
    };
    if args.run != QueueRunArgs::default() {
        let why = "options before a command are for playing the queue; leave them out, or write them behind the command";
        return Err(Failure::Usage(why.to_owned()));
    }
    match command {
        QueueCommand::Add(add) => return self::add(&args.dir, add),
        QueueCommand::Cache(args) => return cache::cache(*args),
        QueueCommand::List { json } => return list(&existing(&args.dir)?, *json),
        QueueCommand::History(history) => return history::history(&existing(&args.dir)?, history),
        _ => {}
    }
    let store = Writer::open(&existing(&args.dir)?)?;
    match command {
        QueueCommand::Pause { test: None } => {
            store.pause_queue(true)?;
            out_line!("the queue is paused: no new game begins; running games go on");
        }
        QueueCommand::Resume { test: None } => {
            store.pause_queue(false)?;
            out_line!("the queue goes on");
        }
        QueueCommand::Pause { test: Some(test) } => {
            change(&store, *test, &TestChange::Pause, "is paused: no new game of it begins")?;
        }
        QueueCommand::Resume { test: Some(test) } => change(&store, *test, &TestChange::Resume, "goes on")?,
        QueueCommand::Priority { test, priority } => {
            change(&store, *test, &TestChange::Priority(*priority), &format!("has priority {priority}"))?;
        }
        QueueCommand::Share { test, share } => {
            change(&store, *test, &TestChange::Share(*share), &format!("has share {share}"))?;
        }
        QueueCommand::Note { test, text } => note(&store, *test, text)?,
        QueueCommand::Approval { wanted } => {
            store.let_queue_ask(wanted == "on")?;
            match wanted.as_str() {
                "on" => out_line!("tests that are added from now on wait for `approve`"),
                _ => out_line!("tests that are added from now on are played without an approval"),
            }
        }
        QueueCommand::Approve { test, by } => {
            let by = who(by.as_deref());
            change(&store, *test, &TestChange::Approve(&by), &format!("is approved by {}", shown(&by)))?;
        }
        QueueCommand::Remove { test } => {
            change(&store, *test, &TestChange::Remove, "is removed; games that were played stay")?;
        }
        QueueCommand::Add(_)
        | QueueCommand::List { .. }
        | QueueCommand::History(_)
        | QueueCommand::Cache(_) => {}
    }
    Ok(Exit::Done)
}

/// Most characters of a note.
const NOTE: usize = 500;

/// Writes a note beside a test.
fn note(store: &Writer, number: u64, text: &str) -> Result<(), Failure> {
    check_note(text)?;
    match store.change_test(number, &TestChange::Note(text))? {
        true => out_line!("test {number} has the note"),
        false => return Err(no_test(number)),
    }
    Ok(())
}

fn check_note(text: &str) -> Result<(), Failure> {
    match text.chars().count() {
        length if length > NOTE => {
            Err(Failure::Usage(format!("a note has at most {NOTE} characters, and this one {length}")))
        }
        _ => Ok(()),
    }
}

/// Who gives a command: the name that is given, or the user of the system.
fn who(named: Option<&str>) -> String {
    let user = || User::own().ok().and_then(|user| user.name());
    named.map(str::to_owned).or_else(user).unwrap_or_else(|| "somebody".to_owned())
}

fn shown(text: &str) -> String {
    notation::printable(text.as_bytes())
}

fn no_test(number: u64) -> Failure {
    Failure::Usage(format!("there is no test {number} in the queue; `list` and `history` show them"))
}

/// The database of a queue that is there.
pub(super) fn existing(directory: &Path) -> Result<PathBuf, Failure> {
    let database = directory.join(DATABASE);
    if database.is_file() {
        return Ok(database);
    }
    let shown = directory.display();
    Err(Failure::Usage(format!("there is no queue in `{shown}`: `renmei queue {shown} add` begins one")))
}

fn change(store: &Writer, number: u64, change: &TestChange<'_>, done: &str) -> Result<(), Failure> {
    let Some(test) = store.queued_test(number)?.filter(|test| !test.removed) else {
        return Err(no_test(number));
    };
    if test.over {
        return Err(Failure::Usage(format!("test {number} is over; `history` shows its result")));
    }
    store.change_test(number, change)?;
    out_line!("test {number} {done}");
    Ok(())
}

/// Adds a test whose configuration is checked and whose commits exist.
fn add(directory: &Path, args: &QueueAddArgs) -> Result<Exit, Failure> {
    check_note(&args.note)?;
    let shutdown = Shutdown::default();
    listen(&shutdown)?;
    let (say, stopped) = (|line: &str| err_line!("{line}"), || shutdown.is_finishing());
    let around = Surroundings { say: &say, stopped: &stopped };
    let tested = Tested::resolve(&args.test, &Cache::here()?, &around)?;
    let [(_, new), (_, old)] = &tested.commits;
    if new.id == old.id {
        return Err(Failure::Usage(format!("both are the commit {new}: there is nothing to test")));
    }
    let config = configuration(args, &tested)?;
    let base = std::env::current_dir().map_err(|error| Failure::Other(error.to_string()))?;
    let environment = Environment::here(&base).map_err(|error| Failure::Other(error.to_string()))?;
    Plan::parse(&config, None, &environment).map_err(Failure::Config)?;
    let commits = serde_json::to_string(&commits(&tested)).map_err(|e| Failure::Other(e.to_string()))?;
    let title = args.name.as_deref().unwrap_or(&new.subject);
    let test = NewTest {
        title,
        repository: &tested.repository,
        config: &config,
        base: &environment.base.display().to_string(),
        commits: &commits,
        priority: args.priority,
        share: args.share,
        note: &args.note,
        by: &who(args.by.as_deref()),
    };
    fs::create_dir_all(directory).map_err(|error| {
        Failure::Usage(format!("no queue can be made in `{}`: {error}", directory.display()))
    })?;
    let database = directory.join(DATABASE);
    let Some(number) = Writer::open(&database)?.queue_test(&test)? else {
        return Err(Failure::Usage(format!(
            "{MOST_QUEUED} tests wait already, which is as many as a queue holds; remove some"
        )));
    };
    match args.json {
        true => out_line!("{}", serde_json::json!({ "test": number, "event": format!("test-{number}") })),
        false => out_line!("test {number}: {new} against {}", short(&old.id)),
    }
    Ok(Exit::Done)
}

/// The configuration of a test's event, as TOML.
fn configuration(args: &QueueAddArgs, tested: &Tested) -> Result<String, Failure> {
    let length = Length::of("round-robin", &args.test.length);
    let engines = tested.engines(&args.test.source);
    let mut config = games::configuration("test", &args.test.games, length, engines)?;
    if let Some(event) = config.get_mut("event").and_then(toml::Value::as_table_mut) {
        event.extend(args.engines.keys().into_iter().map(|(key, value)| (key.to_owned(), value)));
    }
    toml::to_string(&config).map_err(|error| Failure::Usage(error.to_string()))
}

fn commits(tested: &Tested) -> Commits {
    let player = |(name, (_, commit)): (String, &(String, ::laboratory::git::Commit))| TestedCommit {
        name,
        commit: commit.id.clone(),
        subject: commit.subject.clone(),
    };
    Commits {
        players: tested.names().into_iter().zip(&tested.commits).map(player).collect(),
        difference: Some(tested.difference.clone()),
    }
}

/// A test that is not over, as it is listed.
#[derive(Debug, Serialize)]
struct Listed {
    test: u64,
    state: &'static str,
    priority: i64,
    share: u32,
    games: u64,
    title: String,
    note: String,
    added_by: Option<String>,
    approved_by: Option<String>,
    /// Why it failed.
    fault: Option<String>,
}

fn list(database: &Path, json: bool) -> Result<Exit, Failure> {
    let store = Store::read(database)?;
    let events = store.events()?;
    let paused = store.queue_is_paused()?;
    let tests = store.queued_tests(Tests::All)?;
    let open = tests.iter().filter(|test| !test.over && !test.removed);
    let listed: Vec<Listed> = open
        .map(|test| {
            let event = events.iter().find(|event| event.name == test.event);
            let played = event.is_some_and(|event| store.is_played(event.id));
            Listed {
                test: test.number,
                state: state(test, played, paused),
                priority: test.priority,
                share: test.share,
                games: event.map_or(0, |event| event.counted),
                title: test.title.clone(),
                note: test.note.clone(),
                added_by: test.added_by.clone(),
                approved_by: test.approved_by.clone(),
                fault: test.fault.clone(),
            }
        })
        .collect();
    if json {
        out_line!("{}", super::pretty(&listed)?);
        return Ok(Exit::Done);
    }
    if !listed.is_empty() {
        out_line!("test  state       priority  share  games  title");
    }
    for Listed { test, state, priority, share, games, title, note, added_by, fault, .. } in &listed {
        let by = match added_by {
            Some(by) if *state == "unapproved" => format!(" (by {})", shown(by)),
            _ => String::new(),
        };
        out_line!("{test:>4}  {state:<10}  {priority:>8}  {share:>5}  {games:>5}  {}{by}", shown(title));
        if !note.is_empty() {
            out_line!("      {}", shown(note));
        }
        fault.iter().for_each(|fault| out_line!("      {}", fault.replace('\n', "\n      ")));
    }
    let pause = if paused { "; the queue is paused" } else { "" };
    match store.queue_holder() {
        Some(holder) => out_line!("{} to play, by {holder}{pause}", tests_words(&listed)),
        None => out_line!("{} to play, and nobody plays the queue{pause}", tests_words(&listed)),
    }
    Ok(Exit::Done)
}

fn tests_words(listed: &[Listed]) -> String {
    referee::number::number(listed.iter().filter(|test| test.fault.is_none()).count(), "test")
}
