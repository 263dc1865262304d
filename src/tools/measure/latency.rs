//! Latency of replies while many games run at once.

use crate::{
    database::Database,
    manager::{Load, Mode, expect_success, silence},
    measure::{measured, percentile},
    table::table,
};
use anyhow::{Context, Result, ensure};
use platform::cores::usable;
use std::{
    fs,
    process::{Command, ExitCode},
};
use xtask::{
    args::Flags,
    workspace::{self, Scratch},
};

/// Flags of the command.
pub const FLAGS: [&str; 2] = ["--games", "--concurrency"];

/// Time of an engine per move in microseconds; also its byoyomi, apart from the margin.
const MOVE_US: u32 = 10_000;
const TIME: &str = "byoyomi 10ms";
const MARGIN: &str = "50ms";

/// Measures and prints the table.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let games = flags.number("--games", 1280_u32)?;
    let load =
        Load { mode: Mode::King, games, concurrency: flags.number("--concurrency", 128)?, sleep_us: MOVE_US };
    workspace::build_release(true)?;
    let scratch = Scratch::new("bench-latency")?;
    let file = scratch.file("times");
    let floor_seconds = play(load.floor(Some(&file)), &scratch)?;
    let floor = read_times(&fs::read_to_string(&file)?)?;
    let db = scratch.file("latency.db");
    let seconds = play(load.manager(&db, TIME, MARGIN), &scratch)?;
    let played = Database::open(&db)?;
    ensure!(played.finished()? == i64::from(games), "{} of {games} games were played", played.finished()?);
    println!(
        "{} games at once of engines that take 10 ms a move: measured time - 10 ms, in ms\n",
        load.concurrency
    );
    let lost = played.lost_on_time()?;
    let rows = [
        row("renmei", &played.times()?, seconds, &lost.to_string()),
        row("floor", &floor, floor_seconds, ""),
    ];
    print!("{}", table(&["", "plies", "p50", "p99", "max", "wall s", "lost on time (50 ms margin)"], &rows));
    Ok(ExitCode::SUCCESS)
}

fn play(mut command: Command, scratch: &Scratch) -> Result<f64> {
    let log = scratch.file("log");
    silence(&mut command, &log)?;
    let usage = measured(&mut command, &usable())?;
    expect_success(&command, usage.status.success(), &log)?;
    Ok(usage.wall.as_secs_f64())
}

fn read_times(lines: &str) -> Result<Vec<i64>> {
    let times: Result<Vec<i64>, _> = lines.lines().map(str::parse).collect();
    let mut times = times.context("the floor wrote a line that is not a number")?;
    times.sort_unstable();
    Ok(times)
}

fn row(name: &str, times: &[i64], seconds: f64, lost: &str) -> Vec<String> {
    let late = |percent| (percentile(times, percent) as f64 - f64::from(MOVE_US)) / 1000.0;
    let lateness = [50, 99, 100].map(|percent| format!("{:.2}", late(percent)));
    let mut row = vec![name.to_owned(), times.len().to_string()];
    row.extend(lateness);
    row.extend([format!("{seconds:.2}"), lost.to_owned()]);
    row
}
