//! How long it takes until an event goes on: after the loss of a worker, after a verdict, after the manager was killed. And
//! what three machines play in the time of one.

use crate::{
    machines::{
        crowd::{Crowd, Habits, Phase},
        field::{COUNTED, Field, Players, free_port, until},
        goal::Goal,
        script::{Length, now},
    },
    process::Process,
};
use anyhow::{Context, Result, ensure};
use referee::entry::PlayerId;
use std::{collections::BTreeSet, path::Path, thread, time::Duration};

/// Wanted: from the kill of a worker until its pairs are handed out again.
const REPLAYED_S: f64 = 35.0;
/// Wanted: from a verdict until the last worker has heard that no further pair begins.
const STOP_S: f64 = 1.0;
/// Wanted: from the start of a manager that was killed until its first lease or commit.
const BACK_S: f64 = 5.0;
/// Wanted: games of three machines to those of one in the same time.
const THREE: f64 = 2.9;
/// Simulated workers.
const WORKERS: usize = 20;

/// Kills a worker, and looks when its pairs are handed to another.
pub fn loss(directory: &Path, renmei: &Path) -> Result<Goal> {
    // Games of a second: a pair that is lost was being played.
    let players = Players { think_ms: 50, seed: 11, plies: 20, games: 100_000, stays: true };
    let field = Field::new(directory.join("loss"), renmei, players, "", "")?;
    let mut manager = field.manager(None, "127.0.0.1:0")?;
    let line = field.line(&mut manager)?;
    let mut ann = field.worker(None, "ann", 2, &line)?;
    let _others = ["bob", "cid"].map(|name| field.worker(None, name, 2, &line));
    let played = |name: &str| {
        field.count(&format!(
            "SELECT count(*) FROM leases WHERE machine = '{name}' AND committed_at IS NOT NULL"
        ))
    };
    until("all machines have played", || Ok(["ann", "bob", "cid"].iter().all(|name| played(name) >= 2)))?;
    ann.kill()?;
    let killed = now();
    // Nothing is committed of them from now on.
    let open = "SELECT id, games FROM leases WHERE machine = 'ann' AND committed_at IS NULL";
    thread::sleep(Duration::from_secs(1));
    let lost = field.rows(open)?;
    ensure!(!lost.is_empty(), "the worker had nothing when it was killed");
    let mut again: Vec<i64> = vec![];
    until("its pairs are handed out again", || {
        let later = "SELECT games, issued_at FROM leases WHERE machine <> 'ann'";
        let later: Vec<Vec<String>> = field.rows(later)?;
        let wanted: BTreeSet<&String> = lost.iter().map(|row| &row[1]).collect();
        let found: Vec<&Vec<String>> = later.iter().filter(|row| wanted.contains(&row[0])).collect();
        again = found.iter().filter_map(|row| row[1].parse().ok()).collect();
        Ok(again.len() >= wanted.len())
    })?;
    let since = |at: Option<&i64>| at.map_or(f64::NAN, |at| (at - killed) as f64 / 1e3);
    let (first, last) = (since(again.iter().min()), since(again.iter().max()));
    let figure = format!("{first:.1} s to {last:.1} s for {} pairs", lost.len());
    Ok(Goal::measured("a worker's loss is handed out again within 35 s", figure, last <= REPLAYED_S))
}

/// Simulated workers at a manager, and what they join with.
fn crowd(field: &Field, manager: &mut Process, loser: Option<PlayerId>) -> Result<Crowd> {
    let habits = Habits {
        line: field.line(manager)?.parse().context("the line of the manager")?,
        directory: field.path("workers"),
        workers: WORKERS,
        slots: 2,
        length: Length { plies: 12, loser },
    };
    let crowd = Crowd::start(&habits)?;
    crowd.gather(WORKERS)?;
    Ok(crowd)
}

/// Lets a sequential test come to its verdict, and looks when every worker has heard that no further pair begins.
pub fn stop(directory: &Path, renmei: &Path) -> Result<Goal> {
    let players = Players { think_ms: 0, seed: 1, plies: 60, games: 0, ..Players::default() };
    let test = "[sprt]\nelo0 = 0\nelo1 = 30\nmax_games = 100000";
    let field = Field::new(directory.join("stop"), renmei, players, "format = \"sprt\"", test)?;
    let mut manager = field.manager(None, "127.0.0.1:0")?;
    let crowd = crowd(&field, &mut manager, Some(PlayerId(1)))?;
    crowd.turn_to(Phase::Play);
    until("all workers have heard", || Ok(crowd.stops().len() >= WORKERS || !manager.is_running()?))?;
    let stops = crowd.stops();
    crowd.end()?;
    until("the verdict is stored", || Ok(field.count("SELECT count(*) FROM verdicts") == 1))?;
    let verdict: i64 = field.ask("SELECT at FROM verdicts").context("no verdict")?;
    let seconds = stops.iter().max().map_or(f64::NAN, |last| (last - verdict) as f64 / 1e3);
    let figure = format!("{seconds:.3} s until {} of {WORKERS} have heard", stops.len());
    let holds = stops.len() == WORKERS && seconds < STOP_S;
    Ok(Goal::measured("the stop of a test reaches all workers in under 1 s", figure, holds))
}

/// Kills the manager and starts it again, as often as wanted, with real workers; looks when the first lease is given, or
/// games are stored.
pub fn restart(directory: &Path, renmei: &Path, times: u32) -> Result<Goal> {
    let players = Players { think_ms: 50, seed: 11, plies: 20, games: 100_000, stays: true };
    let field = Field::new(directory.join("restart"), renmei, players, "", "")?;
    let listens = format!("127.0.0.1:{}", free_port()?);
    let mut manager = field.manager(None, &listens)?;
    let line = field.line(&mut manager)?;
    let _workers = ["ann", "bob", "cid"].map(|name| field.worker(None, name, 2, &line));
    let took = restarts(&field, manager, &listens, times, 4)?;
    let shown: Vec<String> = took.iter().map(|seconds| format!("{seconds:.1}")).collect();
    let figure = format!("{} s with 3 machines", shown.join(", "));
    let longest = took.iter().copied().fold(0.0, f64::max);
    Ok(Goal::measured("a manager that was killed goes on within 5 s of its start", figure, longest <= BACK_S))
}

/// The same with twenty simulated workers that play fast, and with the games that they play.
pub fn restart_of_many(directory: &Path, renmei: &Path, times: u32) -> Result<Goal> {
    let players = Players { think_ms: 0, seed: 1, plies: 60, games: 1_000_000, ..Players::default() };
    let field = Field::new(directory.join("many"), renmei, players, "", "")?;
    let listens = format!("127.0.0.1:{}", free_port()?);
    let mut manager = field.manager(None, &listens)?;
    let crowd = crowd(&field, &mut manager, None)?;
    crowd.turn_to(Phase::Play);
    let took = restarts(&field, manager, &listens, times, 1000)?;
    crowd.end()?;
    let shown: Vec<String> = took.iter().map(|seconds| format!("{seconds:.1}")).collect();
    let figure = format!("{} s at {} games", shown.join(", "), field.count(COUNTED));
    let longest = took.iter().copied().fold(0.0, f64::max);
    Ok(Goal::measured("the same with 20 simulated workers", figure, longest <= BACK_S))
}

/// How many seconds each restart of a manager took; so many games are played between two of them.
fn restarts(
    field: &Field,
    mut manager: Process,
    listens: &str,
    times: u32,
    between: u64,
) -> Result<Vec<f64>> {
    let mut took = vec![];
    for _ in 0..times {
        let stored = field.count(COUNTED);
        until("games are played", || Ok(field.count(COUNTED) >= stored + between))?;
        manager.kill()?;
        // Long enough for the workers to have given up their first attempts.
        thread::sleep(Duration::from_secs(3));
        let begun = now();
        manager = field.manager(None, listens)?;
        let sql = format!(
            "SELECT min(at) FROM (SELECT max(issued_at) AS at FROM leases UNION ALL SELECT max(committed_at) FROM leases)
             WHERE at >= {begun}"
        );
        let mut first = None;
        until("the event goes on", || {
            first = field.ask::<i64>(&sql);
            ensure!(manager.is_running()?, "the manager has ended: {}", field.log("manager.log"));
            Ok(first.is_some())
        })?;
        took.push((first.unwrap_or(i64::MAX) - begun) as f64 / 1e3);
    }
    Ok(took)
}

/// Games of three machines relative to those of one, where engines sleep and games last a second.
pub fn three(directory: &Path, renmei: &Path, lasts: Duration) -> Result<Goal> {
    let rate = |names: &[&str]| -> Result<f64> {
        // 20 plies of 50 ms.
        let players = Players { think_ms: 50, seed: 11, plies: 20, games: 1_000_000, stays: true };
        let field = Field::new(directory.join(format!("three-{}", names.len())), renmei, players, "", "")?;
        let mut manager = field.manager(None, "127.0.0.1:0")?;
        let line = field.line(&mut manager)?;
        let _workers =
            names.iter().map(|name| field.worker(None, name, 2, &line)).collect::<Result<Vec<_>>>()?;
        let sql = "SELECT count(DISTINCT machine) FROM games WHERE state = 'counted'";
        until("all machines have played", || Ok(field.count(sql) == names.len() as u64))?;
        let (before, begun) = (field.count(COUNTED), std::time::Instant::now());
        thread::sleep(lasts);
        Ok((field.count(COUNTED) - before) as f64 / begun.elapsed().as_secs_f64())
    };
    let (one, three) = (rate(&["ann"])?, rate(&["ann", "bob", "cid"])?);
    let times = three / one;
    let figure = format!("{times:.2} times: {one:.2} games/s, with three {three:.2}");
    Ok(Goal::measured("three machines play 2.9 times as much as one", figure, times >= THREE))
}
