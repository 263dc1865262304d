//! Blows of all kinds: no game is lost or doubled, and the event is the one that a single machine plays.

use crate::machines::{
    blows::{Stage, Tally, inside},
    field::{COUNTED, Field, Players},
    goal::Goal,
};
use anyhow::{Context, Result, ensure};
use std::path::Path;
use trial::Namespaces;

/// Games of the event while it is struck: more than can be played meanwhile.
const ENDLESS: u64 = 1_000_000;
/// Fewest games of the event, however short it was.
const LEAST: u64 = 40;
/// Openings of both events.
const OPENINGS: &str = "[openings]\nfile = \"built-in\"\norder = \"random\"";
/// Keys of the sequential test.
const TEST: &str = "[sprt]\nelo0 = 0\nelo1 = 60\nmax_games = 2000";
/// Highest place that was handed out, from 0.
const LAST_PLACE: &str = "SELECT max(json_extract(value, '$.index')) FROM leases, json_each(leases.games)";

/// How an event is struck.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    pub blows: u32,
    /// Decides which, when, and how long.
    pub seed: u64,
    /// True if some last longer than a lease.
    pub may_be_long: bool,
}

/// Plays an event under blows, gives it the size that it has then, and compares it with the same event on one machine.
pub fn games(directory: &Path, renmei: &Path, storm: Storm) -> Result<Vec<Goal>> {
    let event = |name: &str, games: u64| {
        let players = Players { think_ms: 20, seed: 11, plies: 60, games, ..Players::default() };
        Field::new(directory.join(name), renmei, players, "", OPENINGS)
    };
    let (field, namespaces) = (event("struck", ENDLESS)?, machines()?);
    let (tally, size) = inside(namespaces.as_ref().ok(), || {
        let mut stage = Stage::start(&field, namespaces.as_ref().ok(), storm.seed, storm.may_be_long)?;
        stage.deal(storm.blows)?;
        stage.interrupt()?;
        let last: i64 = field.ask(LAST_PLACE).context("no pair was handed out")?;
        // Whole pairs.
        let size = ((u64::try_from(last)? / 2 + 1) * 2).max(LEAST);
        event("struck", size)?;
        stage.resume()?;
        Ok((stage.end()?, size))
    })?;
    let alone = event("alone", size)?;
    alone.alone()?;
    let goals = compare(&field, &alone, size, &tally)?;
    field.remove()?;
    alone.remove()?;
    Ok([goals, vec![partition(&namespaces)]].concat())
}

fn compare(field: &Field, alone: &Field, size: u64, tally: &Tally) -> Result<Vec<Goal>> {
    let places = field
        .count("SELECT count(*) FROM (SELECT DISTINCT stage, index_ FROM games WHERE state = 'counted')");
    let (counted, numbers) = (field.count(COUNTED), field.count("SELECT count(DISTINCT number) FROM games"));
    let rows = field.count("SELECT count(*) FROM games");
    let (ours, theirs) = (field.games()?, alone.games()?);
    let differ = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).count()
        + ours.len().abs_diff(theirs.len());
    let lost = field.count("SELECT count(*) FROM leases WHERE committed_at IS NULL");
    let late = field.count("SELECT count(*) FROM faults WHERE text LIKE '%was answered after it was lost%'");
    let bad = field.count("SELECT count(*) FROM faults WHERE text LIKE '%this machine gets nothing more%'");
    println!("{}", tally.words());
    Ok(vec![
        Goal::plain("blows", tally.sum().to_string()),
        Goal::plain("meanwhile", format!("{size} games; {lost} leases lost, {late} late answers on record")),
        Goal::measured("0 games lost", format!("{} of {size}", size - places.min(size)), places == size),
        Goal::measured(
            "0 games doubled",
            format!("{}", counted - places + rows - numbers),
            counted == places && rows == numbers,
        ),
        Goal::measured("games by place as on one machine", format!("{differ} of {size} differ"), differ == 0),
        Goal::measured("no honest machine barred", format!("{bad}"), bad == 0),
    ])
}

/// A sequential test under blows: the verdict of one machine, at its pair.
pub fn test(directory: &Path, renmei: &Path, storm: Storm) -> Result<Vec<Goal>> {
    let event = |name: &str, think_ms: u64| {
        let players = Players { think_ms, seed: 11, plies: 60, games: 0, ..Players::default() };
        Field::new(directory.join(name), renmei, players, "format = \"sprt\"", &format!("{OPENINGS}\n{TEST}"))
    };
    let (field, namespaces) = (event("test", 20)?, machines()?);
    let seed = storm.seed.wrapping_add(1);
    let tally = inside(namespaces.as_ref().ok(), || {
        let mut stage = Stage::start(&field, namespaces.as_ref().ok(), seed, storm.may_be_long)?;
        stage.deal(storm.blows)?;
        stage.end()
    })?;
    let alone = event("test-alone", 0)?;
    alone.alone()?;
    let verdict = "SELECT verdict || ' at pair ' || pairs, llr FROM verdicts";
    let (ours, theirs) = (field.rows(verdict)?, alone.rows(verdict)?);
    ensure!(!theirs.is_empty(), "the test alone has no verdict: {}", alone.log("alone.log"));
    let shown = |rows: &[Vec<String>]| rows.first().map_or_else(|| "none".to_owned(), |row| row[0].clone());
    let figure = format!("{}, alone {}, {} blows", shown(&ours), shown(&theirs), tally.sum());
    field.remove()?;
    alone.remove()?;
    Ok(vec![Goal::measured("a test ends at the same pair with the same verdict", figure, ours == theirs)])
}

/// Two network namespaces, or why there are none.
fn machines() -> Result<Result<Namespaces, String>> {
    Ok(Namespaces::new())
}

fn partition(namespaces: &Result<Namespaces, String>) -> Goal {
    let figure = match namespaces {
        Ok(_) => "a machine in a network namespace of its own".to_owned(),
        Err(why) => format!("not run: {why}"),
    };
    Goal::plain("partition", figure)
}
