//! CPU time that the manager takes from its engines.

use crate::{
    database::Database,
    manager::{Load, Mode, expect_success, silence},
    measure::{Usage, measured},
    table::columns,
};
use anyhow::{Result, ensure};
use platform::cores::usable;
use std::process::{Command, ExitCode};
use xtask::{
    args::Flags,
    workspace::{self, Scratch},
};

/// Flags of the command.
pub const FLAGS: [&str; 3] = ["--king-games", "--rook-games", "--rival"];

/// Numbers of games at once.
const CONCURRENCIES: [u32; 3] = [1, 2, 4];

/// Measures every row and prints the table.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let sizes = [
        (Mode::King, flags.number("--king-games", 10_000)?),
        (Mode::Rook, flags.number("--rook-games", 500)?),
    ];
    workspace::build_release(true)?;
    let usable = usable();
    let mut rows = Vec::new();
    for places in [1, 2].into_iter().filter(|&cores| cores <= usable.len()) {
        for (mode, games) in sizes {
            for concurrency in CONCURRENCIES {
                let load = Load { mode, games, concurrency, sleep_us: 0 };
                rows.extend(measure(&load, &usable[..places], flags.text("--rival"))?);
            }
        }
    }
    println!(
        "instant engines, manager and engines on the same cores; the manager writes every move to its database"
    );
    println!("own: processor time of the manager itself, engines excluded; king: 12 plies a game, rook: 252");
    println!("floor: a loop with two pipes, without rules, clock or records, in the same run\n");
    print!("{}", columns(&rows));
    if usable.len() < 2 {
        println!("\nonly one core is usable, so rows with two are left out");
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(load: &Load, on: &[usize], rival: Option<&str>) -> Result<Vec<Vec<(&'static str, String)>>> {
    let scratch = Scratch::new("bench-arena")?;
    let cores = if on.len() == 1 { "pinned to one core".to_owned() } else { format!("{} cores", on.len()) };
    let title = format!("{} x {}, {} at once, {cores}", load.mode.name(), load.games, load.concurrency);
    eprintln!("{title}");
    let floor = used(load.floor(None), on, &scratch)?;
    let db = scratch.file("arena.db");
    let manager = used(load.manager(&db, "byoyomi 10s", "0ms"), on, &scratch)?;
    expect_all_played(load, &Database::open(&db)?)?;
    let mut rows = vec![row(&title, load, &manager, Some(&floor))];
    if let Some(template) = rival {
        let rival = used(load.rival(template), on, &scratch)?;
        rows.push(row("  the rival", load, &rival, None));
    }
    Ok(rows)
}

fn used(mut command: Command, on: &[usize], scratch: &Scratch) -> Result<Usage> {
    let log = scratch.file("log");
    silence(&mut command, &log)?;
    let usage = measured(&mut command, on)?;
    expect_success(&command, usage.status.success(), &log)?;
    Ok(usage)
}

/// Figures per ply are meaningless unless all plies were played.
fn expect_all_played(load: &Load, played: &Database) -> Result<()> {
    let (games, moves) = (played.finished()?, played.moves()?);
    ensure!(
        games == i64::from(load.games) && moves == i64::from(load.plies()),
        "{games} games and {moves} moves are in the database instead of {} and {}",
        load.games,
        load.plies()
    );
    Ok(())
}

fn row(title: &str, load: &Load, usage: &Usage, floor: Option<&Usage>) -> Vec<(&'static str, String)> {
    let seconds = usage.wall.as_secs_f64();
    let resident = [1, 2, 3, 4].map(|quarters| megabytes(usage.resident_after(quarters)));
    let floor = floor.map_or(String::new(), |floor| {
        let rate = f64::from(load.plies()) / floor.wall.as_secs_f64();
        format!("{:.1} {rate:.0}", micros_per_ply(load, floor))
    });
    vec![
        ("", title.to_owned()),
        ("own us/ply", format!("{:.1}", micros_per_ply(load, usage))),
        ("plies/s", format!("{:.0}", f64::from(load.plies()) / seconds)),
        ("games/s", format!("{:.0}", f64::from(load.games) / seconds)),
        ("wall s", format!("{seconds:.2}")),
        ("peak MB", megabytes(usage.peak)),
        ("MB after 1/4, 1/2, 3/4, all", resident.join(" ")),
        ("floor: us/ply, plies/s", floor),
    ]
}

fn micros_per_ply(load: &Load, usage: &Usage) -> f64 {
    usage.cpu.as_secs_f64() * 1e6 / f64::from(load.plies())
}

fn megabytes(kib: u64) -> String {
    format!("{:.1}", kib as f64 * 1024.0 / 1e6)
}
