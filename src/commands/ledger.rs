//! `renmei ledger`: the games of many events in one rating.

use super::{Exit, Failure, pretty};
use crate::cli::{Kept, LedgerArgs};
use ledger::{Aim, Anchor, Apart, Ledger, Rated, Suggestion};
use report::{
    html::Language,
    ledger::{LedgerPage, LedgerText, events_left_out, suggestions},
};
use serde::Serialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Most directories below those that are given.
const DEPTH: usize = 8;
/// The first bytes of a SQLite database.
const SQLITE: &[u8] = b"SQLite format 3\0";

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
pub fn ledger(args: &LedgerArgs) -> Result<Exit, Failure> {
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
        let page =
            LedgerPage { ledger: &ledger, rated: &rated, suggestions, language: Language::English }.render();
        event::write(path, page.as_bytes())?;
        err_line!("{}: {:.1} MB", path.display(), page.len() as f64 / 1e6);
        return Ok(Exit::Done);
    }
    match suggested {
        Some(suggested) => out_line!("{}", suggestions(&ledger, &suggested).trim_end()),
        None => out_line!("{}", LedgerText { ledger: &ledger, rated: &rated }.to_string().trim_end()),
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
        } else if kind.is_file() && path.extension().is_some_and(|it| it == "db") && is_sqlite(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_sqlite(path: &Path) -> bool {
    use io::Read;
    let mut begin = [0; SQLITE.len()];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == SQLITE
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
