//! `renmei ledger`: the games of many events in one rating.

use super::{Exit, Failure, pretty, values::two_names};
use clap::{Args, ValueEnum};
use ledger::{Aim, Anchor, Apart, Ledger, Rated, Suggestion};
use platform::files::is_database;
use report::{
    html::Language,
    ledger::{LedgerPage, LedgerText, events_left_out, suggestions},
};
use serde::Serialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

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

/// Parses a half-life.
fn days(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(days) if (0.01..=100_000.0).contains(&days) => Ok(days),
        _ => Err("a half-life is a number of days from 0.01 to 100000".to_owned()),
    }
}

/// Most directories below those that are given.
const DEPTH: usize = 8;

/// The ratings as JSON.
#[derive(Serialize)]
struct Document<'a> {
    counts: ledger::Counts,
    players: &'a [ledger::Node],
    #[serde(flatten)]
    rated: &'a Rated,
    left_out: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestions: Option<Vec<Suggestion>>,
}

/// Rates the players of all databases that are given.
pub fn ledger(args: &LedgerArgs, language: Language) -> Result<Exit, Failure> {
    let (ledger, rated) = rated(args)?;
    let suggested = (args.suggest || args.about.is_some() || args.html.is_some())
        .then(|| suggest(args, &ledger, &rated))
        .transpose()?;
    if args.json {
        let (counts, players) = (ledger.counts(), ledger.nodes());
        let left_out = events_left_out(&ledger, Language::English);
        let document = Document { counts, players, rated: &rated, left_out, suggestions: suggested };
        out_line!("{}", pretty(&document)?);
        return Ok(Exit::Done);
    }
    if let Some(path) = &args.html {
        let suggestions = suggested.as_deref().unwrap_or_default();
        let page = LedgerPage { ledger: &ledger, rated: &rated, suggestions, language }.render();
        event::write(path, page.as_bytes())?;
        err_line!("{}: {:.1} MB", path.display(), page.len() as f64 / 1e6);
        return Ok(Exit::Done);
    }
    match suggested {
        Some(suggested) => out_line!("{}", suggestions(&ledger, &suggested, language).trim_end()),
        None => {
            out_line!("{}", LedgerText { ledger: &ledger, rated: &rated, language }.to_string().trim_end())
        }
    }
    Ok(Exit::Done)
}

/// Reads the databases that are given and rates their players.
fn rated(args: &LedgerArgs) -> Result<(Ledger, Rated), Failure> {
    let kept = |what| args.apart.contains(&what);
    let apart = Apart { build: kept(Kept::Build), clock: kept(Kept::Clock), machine: kept(Kept::Machine) };
    let mut ledger = Ledger::new(apart, args.half_life);
    read(&args.paths, &mut ledger)?;
    let anchors: Vec<Anchor> =
        args.anchor.iter().map(|(name, elo)| Anchor { name: name.clone(), elo: *elo }).collect();
    let rated = ledger.rate(&anchors).map_err(|why| Failure::Usage(why.to_string()))?;
    Ok((ledger, rated))
}

/// Reads all databases. One that is named has to be readable; of a directory, files that are none are passed over, and
/// those that cannot be read are reported.
fn read(paths: &[PathBuf], ledger: &mut Ledger) -> Result<(), Failure> {
    for path in paths {
        if !path.is_dir() {
            ledger.read(path).map_err(|why| Failure::Usage(why.to_string()))?;
            continue;
        }
        let mut found = vec![];
        databases(path, DEPTH, &mut found)
            .map_err(|why| Failure::Usage(format!("directory `{}`: {why}", path.display())))?;
        for path in found {
            if let Err(why) = ledger.read(&path) {
                err_line!("left out: {why}");
            }
        }
    }
    match ledger.counts().events {
        0 => Err(Failure::Usage("there is no event in what is given".to_owned())),
        _ => Ok(()),
    }
}

/// The SQLite files below a directory, in the order of their names; links are not followed.
fn databases(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        let path = entry.path();
        if kind.is_dir() && depth > 0 {
            databases(&path, depth - 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|it| it == "db") && is_database(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn suggest(args: &LedgerArgs, ledger: &Ledger, rated: &Rated) -> Result<Vec<Suggestion>, Failure> {
    let aim = match &args.about {
        Some((a, b)) => Aim::Difference(only(ledger, a)?, only(ledger, b)?),
        None => Aim::Everyone,
    };
    Ok(rated.suggest(aim, |a, b| ledger.may_meet(a, b), args.most))
}

/// The player that is called so, if it is one.
fn only(ledger: &Ledger, name: &str) -> Result<usize, Failure> {
    let nodes = ledger.nodes();
    let called: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].is_called(name)).collect();
    match called[..] {
        [node] => Ok(node),
        [] => Err(Failure::Usage(format!("no player is called `{name}`"))),
        _ => Err(Failure::Usage(format!(
            "{} players are called `{name}`: name one by the first digits of its build, or leave `clock` out of `--apart`",
            called.len()
        ))),
    }
}
