//! Games to a verdict with a set of learned openings, beside the 600 lines that renmei carries: a league of
//! `renmei-pairwise` at twelve node counts is played from those lines, a set is learned from its games, and sequential tests
//! of other pairs of node counts are played from all lines, from the set, and from all lines chosen by what a test has seen.
//!
//! With `--from FILES`, games that were played before stand for the league. Everything is played with nodes for a clock, so
//! nothing depends on the machine's speed or load.

use crate::process::program;
use anyhow::{Context, Result, bail, ensure};
use rusqlite::{Connection, OpenFlags};
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};
use xtask::{
    args::Flags,
    workspace::{Scratch, release, run as run_command},
};

/// Flags with a value.
pub const FLAGS: [&str; 7] = ["--program", "--engine", "--games", "--tests", "--lines", "--from", "--keep"];

/// Nodes a move of the league's twelve builds: each has 15 % more than the one before.
const BUILDS: [u32; 12] = [60, 69, 79, 91, 105, 121, 139, 160, 184, 211, 243, 279];
/// Nodes of candidate and base in the tests; none of them is a build of the league.
const PAIRS: [[u32; 2]; 5] = [[100, 62], [130, 81], [150, 94], [175, 109], [200, 125]];
/// The hypotheses in normalized Elo.
const ELO: [u32; 2] = [0, 100];

/// A way to have openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    All,
    Learned,
    Chosen,
}

const WAYS: [(Way, &str); 3] = [
    (Way::All, "the 600 lines"),
    (Way::Learned, "the learned set"),
    (Way::Chosen, "the 600 lines, choose = \"sequential\""),
];

/// What a test came to.
struct Tested {
    verdict: String,
    games: u64,
    /// Pairs as `[LL, LD, level, WD, WW]`.
    pairs: [u64; 5],
}

/// Plays the league and the tests, and prints games by way.
///
/// # Errors
/// When a program cannot be started or an event does not come to its end.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let renmei = program(flags)?;
    let engine = flags.text("--engine").map_or_else(|| release("renmei-pairwise"), PathBuf::from);
    let scratch = Scratch::new("openings")?;
    let kept = flags.text("--keep").map(PathBuf::from);
    let file =
        |name: &str| kept.as_ref().map_or_else(|| scratch.file(name), |directory| directory.join(name));
    let games = match flags.text("--from") {
        Some(files) => files.split(',').map(PathBuf::from).collect(),
        None => vec![league(&renmei, &engine, &file("league.toml"), flags.number("--games", 12_000)?)?],
    };
    let set = file("learned.sfen");
    let mut learn = Command::new(&renmei);
    learn.args(["openings", "learn"]).args(&games).arg("-o").arg(&set);
    learn.args(["--lines", flags.text("--lines").unwrap_or("200")]);
    ensure!(run_command(&mut learn)?.success(), "nothing was learned");
    let tests: usize = flags.number("--tests", 24)?;
    let mut tested: Vec<Vec<Tested>> = WAYS.iter().map(|_| vec![]).collect();
    for number in 0..tests {
        for (way, (kind, _)) in WAYS.into_iter().enumerate() {
            let config = file(&format!("test-{number}-{way}.toml"));
            tested[way].push(test(&renmei, &engine, &config, number, (kind, &set))?);
        }
        println!("test {}: {}", number + 1, line(&tested));
    }
    print(&tested);
    Ok(ExitCode::SUCCESS)
}

/// The engines of an event, each with its nodes.
fn engines(engine: &Path, nodes: &[u32]) -> String {
    let mut text = format!(
        "[defaults]\ncommand = '{}'\noptions = {{ USI_Hash = 1, ResignValue = 1200 }}\n[rules]\nmax_moves = 320\n[time]\nnodes = 100\n",
        engine.display()
    );
    for nodes in nodes {
        let _infallible = writeln!(text, "[[engines]]\nname = \"n{nodes}\"\ntime = \"nodes {nodes}\"");
    }
    text
}

/// Plays the league that is learned from; returns its database.
fn league(renmei: &Path, engine: &Path, config: &Path, games: usize) -> Result<PathBuf> {
    let rounds = games.div_ceil(BUILDS.len()).max(1);
    let head = format!(
        "[event]\nname = \"league\"\nformat = \"random\"\nrounds = {rounds}\ngames = 2\n[openings]\nfile = \"built-in\"\norder = \"sequential\"\n"
    );
    play(renmei, config, &(head + &engines(engine, &BUILDS)))
}

/// Plays a sequential test. Tests of one number have the same players and, but for the lines, the same lot.
fn test(
    renmei: &Path,
    engine: &Path,
    config: &Path,
    number: usize,
    (way, set): (Way, &Path),
) -> Result<Tested> {
    let file = if way == Way::Learned { set.display().to_string() } else { "built-in".to_owned() };
    let choose = if way == Way::Chosen { "choose = \"sequential\"\n" } else { "" };
    let [elo0, elo1] = ELO;
    let head = format!(
        "[event]\nname = \"test {number}\"\nformat = \"sprt\"\nseed = {number}\n[sprt]\nelo0 = {elo0}\nelo1 = {elo1}\n\
         [openings]\nfile = '{file}'\norder = \"random\"\n{choose}"
    );
    let database = play(renmei, config, &(head + &engines(engine, &PAIRS[number % PAIRS.len()])))?;
    read(&database).with_context(|| format!("`{}`", database.display()))
}

/// Plays an event, or goes on with it.
fn play(renmei: &Path, config: &Path, text: &str) -> Result<PathBuf> {
    fs::write(config, text)?;
    let database = config.with_extension("db");
    let mut command = Command::new(renmei);
    command.arg("run").arg(config).arg("--db").arg(&database).stdin(Stdio::null()).stdout(Stdio::null());
    let log = fs::File::create(config.with_extension("log"))?;
    let status = command.stderr(log).status().with_context(|| format!("{command:?}"))?;
    match status.code() {
        // The verdict of a test is in its exit code too.
        Some(0 | 10 | 11) => Ok(database),
        _ => bail!("`{}` ended with {status}", config.display()),
    }
}

/// Verdict and games of a test.
fn read(database: &Path) -> Result<Tested> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let verdict = connection.query_row("SELECT verdict FROM verdicts", [], |row| row.get(0))?;
    let games = connection
        .query_row("SELECT count(*) FROM games WHERE state = 'counted'", [], |row| row.get::<_, i64>(0))?
        .unsigned_abs();
    let mut halves = connection.prepare(
        "SELECT sum(CASE WHEN result = 'draw' THEN 1 WHEN (result = 'black') = (black = 0) THEN 2 ELSE 0 END) FROM games
         WHERE state = 'counted' GROUP BY stage, pair HAVING count(*) = 2",
    )?;
    let mut pairs = [0; 5];
    let mut rows = halves.query([])?;
    while let Some(row) = rows.next()? {
        let half_points: usize = usize::try_from(row.get::<_, i64>(0)?)?;
        *pairs.get_mut(half_points).context("more than two points in a pair")? += 1;
    }
    Ok(Tested { verdict, games, pairs })
}

fn line(tested: &[Vec<Tested>]) -> String {
    let last = tested.iter().filter_map(|tests| tests.last());
    last.map(|test| format!("{} after {} games", test.verdict, test.games)).collect::<Vec<_>>().join(", ")
}

fn print(tested: &[Vec<Tested>]) {
    println!(
        "\n{:<40}{:>6}{:>6}{:>14}{:>8}{:>8}{:>10}",
        "openings", "H1", "H0", "games to H1", "+-", "level", "nElo"
    );
    for (tests, (_, name)) in tested.iter().zip(WAYS) {
        let passed: Vec<f64> =
            tests.iter().filter(|test| test.verdict == "H1").map(|test| test.games as f64).collect();
        let many = passed.len() as f64;
        let mean = passed.iter().sum::<f64>() / many;
        let variance = passed.iter().map(|games| (games - mean).powi(2)).sum::<f64>() / (many - 1.0);
        let error = 1.96 * (variance / many).sqrt();
        let (level, nelo) = pooled(tests);
        println!(
            "{name:<40}{:>6}{:>6}{mean:>14.0}{error:>8.0}{:>7.0}%{nelo:>10.0}",
            passed.len(),
            tests.len() - passed.len(),
            100.0 * level
        );
    }
}

/// The share of level pairs, and the normalized Elo of all pairs together.
fn pooled(tests: &[Tested]) -> (f64, f64) {
    let mut pairs = [0; 5];
    for test in tests {
        pairs.iter_mut().zip(test.pairs).for_each(|(sum, more)| *sum += more);
    }
    let all = pairs.iter().sum::<u64>().max(1) as f64;
    let numbers = referee::rating::Numbers::from(&referee::rating::Pentanomial(pairs).into());
    (pairs[2] as f64 / all, numbers.nelo.value().unwrap_or(f64::NAN))
}
