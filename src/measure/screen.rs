//! Cost of the dashboard: plies per second with and without it, and the cost of opening a long event.

use crate::{
    database::Database,
    manager::{Load, Mode},
    measure::{kib, measured, median, own_time},
    table::table,
    terminal::Terminal,
};
use anyhow::{Context, Result, ensure};
use platform::cores::usable;
use std::{
    fs,
    path::Path,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};
use xtask::{
    args::Flags,
    workspace::{self, Scratch},
};

/// Flags of the command.
pub const FLAGS: [&str; 4] = ["--king-games", "--rook-games", "--runs", "--watch-games"];

/// Number of games at once.
const CONCURRENCY: u32 = 2;

/// Measures and prints the tables.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let sizes = [
        (Mode::King, flags.number("--king-games", 10_000)?),
        (Mode::Rook, flags.number("--rook-games", 500)?),
    ];
    let (runs, watched) = (flags.number("--runs", 5_usize)?, flags.number("--watch-games", 100_000_u32)?);
    workspace::build_release(false)?;
    let scratch = Scratch::new("bench-dashboard")?;
    let mut rows = vec![];
    for (mode, games) in sizes {
        rows.push(compare(&Load { mode, games, concurrency: CONCURRENCY, sleep_us: 0 }, runs, &scratch)?);
    }
    println!("instant engines, {CONCURRENCY} games at once, on a terminal of 160x50; off and on alternate\n");
    let heads = ["", "plies/s off", "on", "median of on/off", "lowest - highest", "own us/ply off", "on"];
    print!("{}", table(&heads, &rows));
    println!(
        "\nown: processor time of the manager and its screens, engines excluded; hardly affected by other load"
    );
    if watched > 0 {
        println!("\n{}", watch(watched, &scratch)?);
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(load: &Load, runs: usize, scratch: &Scratch) -> Result<Vec<String>> {
    let title = format!("{} x {}", load.mode.name(), load.games);
    let (mut off, mut on, mut ratios) = (vec![], vec![], vec![]);
    let mut own = [vec![], vec![]];
    for run in 0..runs {
        eprintln!("{title}, {} of {runs}", run + 1);
        let (without, cpu) = rate(load, true, &scratch.file(&format!("off-{}-{run}.db", load.mode.name())))?;
        own[0].push(cpu);
        let (with, cpu) = rate(load, false, &scratch.file(&format!("on-{}-{run}.db", load.mode.name())))?;
        own[1].push(cpu);
        ratios.push(with / without);
        off.push(without);
        on.push(with);
    }
    let (low, high) =
        ratios.iter().fold((f64::MAX, 0.0_f64), |(low, high), &ratio| (low.min(ratio), high.max(ratio)));
    Ok(vec![
        title,
        format!("{:.0}", median(&mut off)),
        format!("{:.0}", median(&mut on)),
        format!("{:.3}", median(&mut ratios)),
        format!("{low:.3} - {high:.3}"),
        format!("{:.1}", median(&mut own[0])),
        format!("{:.1}", median(&mut own[1])),
    ])
}

/// Plies per second of one run, and the manager's own microseconds per ply.
fn rate(load: &Load, quiet: bool, db: &Path) -> Result<(f64, f64)> {
    let mut command = match quiet {
        true => load.manager(db, "byoyomi 10s", "0ms"),
        false => load.shown(db, "byoyomi 10s", "0ms"),
    };
    let terminal = Terminal::open(&mut command)?;
    let usage = measured(&mut command, &usable())?;
    drop(command);
    ensure!(usage.status.success(), "the manager failed:\n{}", terminal.output());
    ensure!(quiet || terminal.output().contains("Standings"), "the dashboard was not shown");
    let games = Database::open(db)?.finished()?;
    ensure!(games == i64::from(load.games), "{games} of {} games were played", load.games);
    fs::remove_file(db)?;
    let plies = f64::from(load.plies());
    Ok((plies / usage.wall.as_secs_f64(), 1e6 * usage.cpu.as_secs_f64() / plies))
}

/// Measures `renmei watch` on a long event.
fn watch(games: u32, scratch: &Scratch) -> Result<String> {
    let db = scratch.file("watched.db");
    eprintln!("playing an event of {games} games for `watch`");
    let load = Load { mode: Mode::King, games, concurrency: CONCURRENCY, sleep_us: 0 };
    let mut play = load.manager(&db, "byoyomi 10s", "0ms");
    ensure!(workspace::run(play.stdout(std::process::Stdio::null()))?.success(), "the event was not played");
    let mut command = Command::new(workspace::release("renmei"));
    command.arg("watch").arg(&db);
    let mut terminal = Terminal::open(&mut command)?;
    let begun = Instant::now();
    let mut child = command.spawn().context("renmei watch")?;
    drop(command);
    let progress = format!("{games}/");
    while !(terminal.output().contains("Standings") && terminal.output().contains(&progress)) {
        ensure!(begun.elapsed() < Duration::from_secs(60), "no first screen:\n{}", terminal.output());
        std::thread::sleep(Duration::from_millis(2));
    }
    let first = begun.elapsed();
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let cpu = own_time(&stat).context("no times in /proc")?.as_secs_f64();
    std::thread::sleep(Duration::from_secs(3));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let peak = kib(&status, "VmHWM:").context("no memory in /proc")?;
    terminal.press("q")?;
    child.wait()?;
    let megabytes = peak as f64 * 1024.0 / 1e6;
    let first = first.as_secs_f64();
    Ok(format!(
        "watch, {games} games: first screen after {first:.2} s ({cpu:.2} s of processor time), at most {megabytes:.0} MB"
    ))
}
