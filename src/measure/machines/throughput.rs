//! How many results a second a manager takes, and what each worker costs it: simulated workers over the real door.

use crate::{
    machines::{
        blows::server_of,
        crowd::{Crowd, Habits, Phase},
        field::{Field, Players},
        goal::Goal,
        load::Look,
        script::Length,
    },
    table::columns,
};
use anyhow::{Context, Result, ensure};
use std::{path::Path, thread, time::Duration};

/// Wanted results a second, of games of 12 plies from 50 workers.
const WANTED: f64 = 2000.0;
/// Time for the first results, before anything is counted.
const WARM: Duration = Duration::from_secs(2);
/// Slots of a simulated worker.
const SLOTS: usize = 4;

/// A run with so many workers.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub workers: usize,
    /// Plies of each game.
    pub plies: u32,
    /// How long results are counted, and how long signs of life.
    pub lasts: Duration,
}

/// Measurements of a run.
#[derive(Debug)]
pub struct Seen {
    run: Run,
    /// Games a second that were stored.
    pub games: f64,
    joined: f64,
    /// Cores that the manager and the server keep busy while results come; KiB that they have then.
    busy: [f64; 2],
    resident: [u64; 2],
    /// The same while all workers only give signs of life.
    idle: [f64; 2],
    threads: Vec<(String, f64)>,
    here: f64,
    /// Bytes of a worker's messages until it was welcomed, and of its first pairs.
    hello: f64,
    beats: [f64; 2],
    refused: u64,
}

/// Measures a run.
///
/// # Errors
/// When a program fails, or a worker is turned away.
pub fn measure(directory: &Path, renmei: &Path, run: Run) -> Result<Seen> {
    let Run { workers, plies, lasts } = run;
    // More games than can be played meanwhile.
    let players = Players { think_ms: 0, seed: 1, plies: 400, games: 1_000_000, ..Players::default() };
    let field = Field::new(directory.join(format!("{workers}x{plies}")), renmei, players, "", "")?;
    let mut manager = field.manager(None, "127.0.0.1:0")?;
    let line = field.line(&mut manager)?.parse().context("the line of the manager")?;
    let server = server_of(&field).context("the manager has no server")?;
    let begun = std::time::Instant::now();
    let habits = Habits {
        line,
        directory: field.path("workers"),
        workers,
        slots: SLOTS,
        length: Length { plies, loser: None },
    };
    let crowd = Crowd::start(&habits)?;
    crowd.gather(workers)?;
    let joined = begun.elapsed().as_secs_f64();
    let hello = crowd.traffic().bytes as f64 / workers as f64;
    let looks = || -> Result<[Look; 3]> {
        Ok([Look::at(manager.pid())?, Look::at(server)?, Look::at(std::process::id())?])
    };
    // Everybody has had its first jobs.
    thread::sleep(WARM);
    let (before, traffic) = (looks()?, crowd.traffic());
    thread::sleep(lasts);
    let (after, since) = (looks()?, crowd.traffic());
    let idle = [0, 1].map(|at| after[at].cores_since(&before[at]));
    let each = 1.0 / (workers as f64 * lasts.as_secs_f64());
    let beats = [since.messages - traffic.messages, since.bytes - traffic.bytes].map(|sum| sum as f64 * each);
    crowd.turn_to(Phase::Play);
    thread::sleep(WARM);
    let stored = || field.count("SELECT max(number) FROM games");
    let (before, games, begun) = (looks()?, stored(), std::time::Instant::now());
    thread::sleep(lasts);
    let (games, took) = (stored() - games, begun.elapsed().as_secs_f64());
    let after = looks()?;
    let seen = Seen {
        run,
        games: games as f64 / took,
        joined,
        busy: [0, 1].map(|at| after[at].cores_since(&before[at])),
        resident: [after[0].resident, after[1].resident],
        idle,
        threads: after[0].threads_since(&before[0]),
        here: after[2].cores_since(&before[2]),
        hello,
        beats,
        refused: crowd.refused(),
    };
    crowd.end()?;
    manager.kill()?;
    ensure!(games > 0, "no result was stored: {}", field.log("manager.log"));
    field.remove()?;
    Ok(seen)
}

/// The table of runs.
pub fn rows(seen: &[Seen]) -> String {
    let row = |seen: &Seen| {
        let busiest = seen.threads.iter().take(3).map(|(name, share)| format!("{name} {share:.2}"));
        let mega = |kib: u64| format!("{:.0}", kib as f64 / 1024.0);
        vec![
            ("workers", seen.run.workers.to_string()),
            ("plies", seen.run.plies.to_string()),
            ("games/s", format!("{:.0}", seen.games)),
            ("answers/s", format!("{:.0}", seen.games / 2.0)),
            ("manager: cores", format!("{:.2}", seen.busy[0])),
            ("idle", format!("{:.3}", seen.idle[0])),
            ("MB", mega(seen.resident[0])),
            ("server: cores", format!("{:.2}", seen.busy[1])),
            ("idle", format!("{:.3}", seen.idle[1])),
            ("MB", mega(seen.resident[1])),
            ("join s", format!("{:.1}", seen.joined)),
            ("join B", format!("{:.0}", seen.hello)),
            ("beats: messages/s", format!("{:.2}", seen.beats[0])),
            ("B/s", format!("{:.0}", seen.beats[1])),
            ("refused", seen.refused.to_string()),
            ("workers: cores", format!("{:.2}", seen.here)),
            ("threads of the manager", busiest.collect::<Vec<_>>().join(", ")),
        ]
    };
    columns(&seen.iter().map(row).collect::<Vec<_>>())
}

/// The goals of throughput.
pub fn goals(seen: &[Seen]) -> Vec<Goal> {
    let of = |workers: usize, plies: u32| {
        seen.iter().find(|seen| (seen.run.workers, seen.run.plies) == (workers, plies))
    };
    let short = of(50, 12).map(|seen| {
        let figure = format!("{:.0} games/s in {:.0} answers/s", seen.games, seen.games / 2.0);
        Goal::measured("50 workers, games of 12 plies: 2000 results/s", figure, seen.games >= WANTED)
    });
    let long =
        of(50, 100).map(|seen| Goal::plain("the same with 100 plies", format!("{:.0} games/s", seen.games)));
    short.into_iter().chain(long).collect()
}
