//! Weeks of a league in minutes: clients play very short games, drop, return, stall and lie, and the host is restarted
//! again and again, half of the times by SIGKILL. In the end every game that a client saw end must be in the database
//! exactly once with that result, the ratings must be those of the games, and memory, threads and descriptors flat.
//!
//! All clients live on one thread, each with an address of its own in 127.3. The host keeps its port, its database and
//! its records from run to run.

mod check;
mod client;
mod host;
mod ledger;

use crate::{process::program, siege::moves, table::columns};
use anyhow::{Context, Result, ensure};
use client::{Client, Life};
use host::{Host, Sample};
use ledger::Ledger;
use std::{
    cell::{Cell, RefCell},
    process::ExitCode,
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::{task::LocalSet, time::timeout};
use usi_shell::SplitMix64;
use xtask::args::Flags;

/// How long the clients may take to end their games.
const FAREWELL: Duration = Duration::from_secs(120);
/// Without an end of a game for so long, the host hangs.
const SILENCE: Duration = Duration::from_secs(60);
/// Descriptors that a host may open for itself from start to end.
const OPENED: usize = 8;
/// Plies that a client has to play before it resigns, at most.
const PLIES: usize = 20;

/// The size of the soak.
struct Plan {
    games: usize,
    clients: usize,
    restarts: usize,
    seed: u64,
}

/// Plays, restarts, counts and prints.
///
/// # Errors
/// When the host cannot be run, and when anything was lost, doubled or grew.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let plan = Plan {
        games: flags.number("--games", 100_000)?,
        clients: flags.number("--clients", 200)?,
        restarts: flags.number("--restarts", 20)?,
        seed: flags.number("--seed", 1)?,
    };
    ensure!(plan.clients >= 2, "`--clients` has to be at least 2");
    let mut host = Host::prepare(program(flags)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let begun = Instant::now();
    let (ledger, runs, quiet) = LocalSet::new().block_on(&runtime, weeks(&mut host, &plan))?;
    let took = begun.elapsed();
    let checked = check::check(&host, &ledger)?;
    print!("{}", columns(&runs.iter().map(Run::cells).collect::<Vec<_>>()));
    let size = host.disk();
    println!(
        "soak --days: {} games seen to end by {} clients in {:.0} s, {} restarts, {} of them SIGKILL (seed {}); each is in the \
         database once with its result; {} broken off, {} that nobody saw end; {} ratings as recomputed from {} games; \
         {:.1} KB a game on the disk",
        ledger.ended(),
        plan.clients,
        took.as_secs_f64(),
        plan.restarts,
        runs.iter().filter(|run| run.ended == "SIGKILL").count(),
        plan.seed,
        checked.broken_off,
        checked.unseen,
        checked.ratings,
        checked.rated_games,
        size as f64 / 1e3 / checked.games.max(1) as f64,
    );
    expect_flat(&runs, quiet)?;
    Ok(ExitCode::SUCCESS)
}

/// A run of the host: from one start to its end.
struct Run {
    number: usize,
    ended: &'static str,
    /// Games that had ended before its end.
    games: usize,
    start: Sample,
    end: Sample,
}

impl Run {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let Self { number, ended, games, start, end } = self;
        vec![
            ("run", number.to_string()),
            ("ended by", (*ended).to_owned()),
            ("games", games.to_string()),
            ("MB at start", start.megabytes.to_string()),
            ("MB at end", end.megabytes.to_string()),
            ("threads", start.threads.to_string()),
            ("at end", end.threads.to_string()),
            ("descriptors", end.descriptors.to_string()),
            ("without clients", start.descriptors.to_string()),
        ]
    }
}

/// All runs; returns what the clients saw, and the last host after all clients have left.
async fn weeks(host: &mut Host, plan: &Plan) -> Result<(Ledger, Vec<Run>, Sample)> {
    let life = Rc::new(Life {
        address: host.address(),
        moves: moves().take(PLIES).collect(),
        over: Cell::new(false),
        ledger: RefCell::new(Ledger::default()),
    });
    let mut start = host.start()?;
    let clients: Vec<_> = (0..plan.clients)
        .map(|number| tokio::task::spawn_local(Client::new(life.clone(), number, plan.seed).live()))
        .collect();
    let mut runs = vec![];
    let mut random = SplitMix64::new(plan.seed);
    for number in 0..plan.restarts {
        // Somewhere in its share of the games, and not only between two.
        let share = plan.games as f64 / (plan.restarts + 1) as f64;
        let until = share * (number as f64 + 0.6 + 0.8 * random.uniform());
        play_until(host, &life, until as usize).await?;
        let end = host.sample()?;
        let games = life.ledger.borrow().ended();
        let ended = host.end(number)?;
        runs.push(Run { number: number + 1, ended, games, start, end });
        start = host.start()?;
    }
    play_until(host, &life, plan.games).await?;
    let end = host.sample()?;
    life.over.set(true);
    for client in clients {
        timeout(FAREWELL, client).await.context("a client's game does not end")??;
    }
    let quiet = host.settled(start.descriptors + OPENED)?;
    let games = life.ledger.borrow().ended();
    host.finish()?;
    runs.push(Run { number: plan.restarts + 1, ended: "SIGTERM", games, start, end });
    Ok((life.ledger.take(), runs, quiet))
}

/// Waits until so many games have been seen to end.
async fn play_until(host: &mut Host, life: &Life, games: usize) -> Result<()> {
    let (mut last, mut since) = (0, Instant::now());
    loop {
        let ended = life.ledger.borrow().ended();
        if ended >= games {
            return Ok(());
        }
        if ended > last {
            (last, since) = (ended, Instant::now());
        }
        ensure!(since.elapsed() < SILENCE, "no game has ended for {SILENCE:?}, after {ended}");
        host.expect_alive()?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Memory, threads and descriptors must not grow with the games. Memory may by what a host keeps of each game (its
/// players, its result): little, and it is there again after a restart.
fn expect_flat(runs: &[Run], quiet: Sample) -> Result<()> {
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return Ok(()) };
    let most = first.end.megabytes * 3 / 2 + 64;
    ensure!(
        last.end.megabytes <= most,
        "memory grew from {} MB at the end of the first run to {} MB",
        first.end.megabytes,
        last.end.megabytes
    );
    ensure!(
        quiet.threads <= first.start.threads + 1,
        "{} threads, {} at first",
        quiet.threads,
        first.start.threads
    );
    ensure!(
        quiet.descriptors <= first.start.descriptors + OPENED,
        "{} descriptors are open without a client, {} at first",
        quiet.descriptors,
        first.start.descriptors
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: u64, end: u64) -> Run {
        let sample = |megabytes| Sample { megabytes, threads: 9, descriptors: 20 };
        Run { number: 1, ended: "SIGKILL", games: 10, start: sample(start), end: sample(end) }
    }

    #[test]
    fn what_grows_is_told() {
        let quiet = Sample { megabytes: 30, threads: 9, descriptors: 21 };
        assert!(expect_flat(&[run(20, 40), run(30, 60)], quiet).is_ok());
        let grown = expect_flat(&[run(20, 40), run(30, 500)], quiet).unwrap_err().to_string();
        assert_eq!(grown, "memory grew from 40 MB at the end of the first run to 500 MB");
        let open = expect_flat(&[run(20, 40)], Sample { descriptors: 99, ..quiet }).unwrap_err().to_string();
        assert_eq!(open, "99 descriptors are open without a client, 20 at first");
    }
}
