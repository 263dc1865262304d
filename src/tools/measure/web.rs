//! The pages under load: viewers who follow the stream while games are played on a host.
//!
//! All clients are ours and on this machine, each from an address of its own on loopback. Players and viewers are told by
//! the kernel when something arrived, so that their own lateness is not measured; viewers have a lower priority than host
//! and players, as they would be on other machines. Their work is still part of what the host has to share the
//! processor with, and so are the copies that the kernel makes for them.
//!
//! # Phases, in one run of a host
//! - paced games without viewers;
//! - games as fast as the host relays, without viewers;
//! - paced games before all viewers, one of whom is cut off for a while and returns;
//! - games as fast as the host relays before all viewers.
//!
//! # What has to hold
//! The numbers are those of the constants in `figures`. The viewer who was cut must know every move of every game that the store has.

mod figures;
mod players;
mod viewers;

use crate::{
    database::Database,
    process::program,
    siege::{allow_many_files, host::Host},
    table::table,
};
use anyhow::{Context, Result, ensure};
use figures::{Cost, Figure};
use players::{Course, Phase, Players};
use std::{
    path::Path,
    process::ExitCode,
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};
use viewers::Wishes;
use xtask::args::Flags;

/// Flags that have a value.
pub const FLAGS: [&str; 5] = ["--viewers", "--games", "--seconds", "--cut", "--program"];
/// Flags that have none.
pub const SWITCHES: [&str; 1] = ["--short"];

/// Pause between two phases, in which nothing is noted.
const REST: Duration = Duration::from_secs(3);
/// Longest wait for viewers to come.
const PATIENCE: Duration = Duration::from_secs(120);

/// Keys of the host: an open league whose pages have room for all.
const KEYS: &str = "[serve.limits]\nconnections = 2000\n[http]\nlisten = [\"127.0.0.1:0\"]\nviewers = 4000\n\
    viewers_per_address = 100\n";

/// How much of everything.
struct Load {
    viewers: usize,
    games: usize,
    phase: Duration,
    cut: Duration,
}

impl Load {
    fn of(flags: &Flags) -> Result<Self> {
        let (viewers, games, seconds, cut) =
            if flags.has("--short") { (40, 10, 6, 5) } else { (500, 100, 60, 60) };
        let cut = flags.number("--cut", cut)?;
        Ok(Self {
            viewers: flags.number("--viewers", viewers)?.max(1),
            games: flags.number("--games", games)?.max(1),
            phase: Duration::from_secs(flags.number("--seconds", seconds)?),
            cut: Duration::from_secs(cut),
        })
    }
}

/// Measures and prints a table; fails where a goal is missed.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let program = program(flags)?;
    let load = Load::of(flags)?;
    allow_many_files();
    let figures = watched(&program, &load)?;
    println!("{} viewers, {} games, {} s a phase\n", load.viewers, load.games, load.phase.as_secs());
    let rows: Vec<_> = figures.iter().map(Figure::cells).collect();
    print!("{}", table(&["", "goal", "figure", ""], &rows));
    Ok(if figures.iter().all(Figure::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Plays on a host, before viewers and without.
fn watched(program: &Path, load: &Load) -> Result<Vec<Figure>> {
    let mut host = Host::start(program, KEYS)?;
    let pages = host.pages()?;
    let (course, wishes) = (Course::new(), Arc::new(Wishes::default()));
    let (sum, seen, cost) = thread::scope(|scope| -> Result<_> {
        let players = Players::begin(scope, host.address(), load.games, &course)?;
        let seeing = wishes.clone();
        let crowd = load.viewers;
        let alone = alone(&host, &course, load);
        let viewers = scope.spawn(move || viewers::watch(pages, crowd, &seeing));
        let cost = alone.and_then(|alone| before_viewers(&host, &course, &wishes, load, alone));
        // Everybody goes home also when this program is at fault; the players first, so that viewers see the ends.
        course.set(Phase::End);
        let sum = players.end();
        thread::sleep(REST);
        wishes.stop.store(true, Ordering::Relaxed);
        let seen = viewers.join().ok().context("a viewer panicked")?;
        Ok((sum?, seen?, cost?))
    })?;
    host.stop()?;
    let faults = wishes.faults.lock();
    ensure!(faults.is_empty(), "{} viewers failed, the first: {}", faults.len(), faults[0]);
    figures::of(&Database::open(&host.database())?, &sum, &seen, &cost, load.phase)
}

/// The phases without viewers; returns the most memory that the host had, in MB.
fn alone(host: &Host, course: &Course, load: &Load) -> Result<u64> {
    thread::sleep(REST);
    host.forget_peak();
    for (phase, about) in [(Phase::Paced, "paced games"), (Phase::Full, "games as fast as they go")] {
        pass(host, course, (phase, about), load.phase);
    }
    host.memory()
}

/// The phases before viewers.
fn before_viewers(host: &Host, course: &Course, wishes: &Wishes, load: &Load, alone: u64) -> Result<Cost> {
    let since = Instant::now();
    while wishes.watching.load(Ordering::Relaxed) < load.viewers {
        let faults = wishes.faults.lock();
        ensure!(since.elapsed() < PATIENCE && faults.is_empty(), "viewers did not come: {faults:?}");
        drop(faults);
        thread::sleep(Duration::from_millis(50));
    }
    thread::sleep(REST);
    host.forget_peak();
    let paced = thread::scope(|scope| {
        // One viewer is cut in the middle of the phase, or for longer than it.
        scope.spawn(|| {
            thread::sleep(Duration::from_secs(1));
            wishes.cut.store(true, Ordering::Relaxed);
            thread::sleep(load.cut);
            wishes.cut.store(false, Ordering::Relaxed);
        });
        let phase = (Phase::PacedWatched, "paced games before viewers");
        pass(host, course, phase, load.phase.max(load.cut))
    });
    let full =
        pass(host, course, (Phase::FullWatched, "games as fast as they go before viewers"), load.phase);
    Ok(Cost { alone, watched: host.memory()?, pages: [paced, full] })
}

/// One phase and the rest after it; returns how much of a processor the pages took, in %.
fn pass(host: &Host, course: &Course, (phase, about): (Phase, &str), time: Duration) -> f64 {
    eprintln!("{about}, for {} s", time.as_secs());
    let before = host.time_of("web");
    course.set(phase);
    thread::sleep(time);
    course.set(Phase::Rest);
    let taken = host.time_of("web").saturating_sub(before);
    thread::sleep(REST);
    100.0 * taken.as_secs_f64() / time.as_secs_f64()
}
