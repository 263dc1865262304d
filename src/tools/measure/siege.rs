//! Attacks a host of its own while paced games are played on it, and measures the effect on their players: in the
//! same run first without an attack, then under one wave of attacks after the other.
//!
//! # What has to hold in every wave
//! - 99 of 100 paced moves arrive at most [`SLOWER`] ms later than without attack;
//! - nobody is charged more than [`OVERCHARGED`] ms a move beyond what its client measured: 99 of 100 moves, and every
//!   player on average;
//! - no paced game ends otherwise than its players want, and newcomers log in and get their games;
//! - memory, and what database, records and log grow by, stay within [`MEMORY`] and [`DISK`].
//!
//! At the end of a host its event has to be that of an undisturbed one: the players' moves are always the same, so every
//! game has to be there once, with these moves, the times that were charged, and its result.
//!
//! # What is bounded
//! Everything stays on loopback, in a number of connections that each attack names. The attackers come from 127.0.0.2
//! and further, each player from an address of its own in 127.2, newcomers from 127.1. Attackers send at a fixed rate, one
//! packet a connection in each turn of a game (100 ms), and their threads have a lower priority than players and host: on
//! a machine of two cores the attackers' own work would otherwise be what the players feel, not the host's. What the
//! kernel does for the attackers' packets is part of what is measured.
//!
//! Attacks of one wave go on together, and are judged together; a wave has one row of the table. With `--attack` one
//! attack is alone. Attacks that a test shows, such as guesses, names and
//! places of one address, are tests (`src/tests/csa`, `src/play/host/tests`).

mod attack;
mod attacks;
mod client;
mod felt;
mod floods;
mod games;
mod host;
mod kept;
mod strangers;

use crate::{database::Database, table::columns};
use anyhow::{Context, Result, ensure};
use attack::Target;
use attacks::{Attack, WAVES};
pub use client::{connect, now, receive};
use felt::{Felt, felt};
use games::{Phase, Players};
pub use host::Host;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};
use xtask::{
    args::Flags,
    workspace::{build_release, release},
};

/// Flags of the command that have a value.
pub const FLAGS: [&str; 4] = ["--seconds", "--games", "--attack", "--program"];
/// Flags that have none.
pub const SWITCHES: [&str; 1] = ["--long"];

/// Seconds of a phase, and of a phase of the long form.
const SHORT: u64 = 15;
const LONG: u64 = 140;
/// Time between two phases, in which nothing is noted.
const REST: Duration = Duration::from_secs(3);
/// How much slower the slowest moves may be under attack, in ms.
const SLOWER: f64 = 10.0;
/// How much more than it measured a client may be charged for a move, in ms.
const OVERCHARGED: f64 = 5.0;
/// Memory that a host under attack may have, in MB.
const MEMORY: u64 = 512;
/// MB a second by which an attack may make the host's files grow, beside what the paced games add.
const DISK: f64 = 1.0;

/// Attacks a host and prints a table.
///
/// # Errors
/// When the host cannot be run, or its event is not that of an undisturbed one.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let program = program(flags)?;
    let usual = if flags.has("--long") { LONG } else { SHORT };
    let time = Duration::from_secs(flags.number("--seconds", usual)?);
    let waves = chosen(flags.text("--attack"))?;
    // A thousand attackers need more files than a program usually may open.
    let _refused = platform::account::files(u64::MAX);
    let Besieged { rows, kept } = besiege(&program, &waves, flags.number("--games", 20)?, time)?;
    if let Err(fault) = &kept {
        eprintln!("the event is not that of an undisturbed host: {fault:#}");
    }
    let cells: Vec<_> = rows.iter().map(Row::cells).collect();
    print!("{}", columns(&cells));
    let event = if kept.is_ok() { "equal to an undisturbed one" } else { "NOT equal to an undisturbed one" };
    println!(
        "(times in ms. A move is timed from its sender to the opponent's end of the connection; overcharged: what the host \
         charged beyond what the client measured, of a move and, on average, of the player who fared worst; newcomers: the \
         longest time of two from login to the end of their game; MB: the host's memory; files: growth in KB a second, in \
         all. Event: {event})"
    );
    let holds = kept.is_ok() && rows.iter().all(Row::holds);
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The program of `--program`, or the release build of the manager.
fn program(flags: &Flags) -> Result<PathBuf> {
    if let Some(program) = flags.text("--program") {
        return Ok(PathBuf::from(program));
    }
    build_release(false)?;
    Ok(release("renmei"))
}

type Wave = Vec<&'static Attack>;

/// The waves of all attacks, or of one.
fn chosen(name: Option<&str>) -> Result<Vec<Wave>> {
    let wanted = |attack: &&Attack| name.is_none_or(|name| name == attack.name);
    let waves = WAVES.iter().map(|wave| wave.iter().filter(wanted).collect::<Wave>());
    let waves: Vec<_> = waves.filter(|wave| !wave.is_empty()).collect();
    let names = || WAVES.iter().flat_map(|wave| wave.iter()).map(|attack| attack.name);
    ensure!(
        !waves.is_empty(),
        "there is no attack `{}`; there are: {}",
        name.unwrap_or_default(),
        names().collect::<Vec<_>>().join(", ")
    );
    Ok(waves)
}

/// A row of the table: the effect of a wave on the players.
struct Row {
    name: String,
    sent: u64,
    calm: Felt,
    attacked: Felt,
    memory: u64,
    /// MB a second, without and with the attack.
    growth: [f64; 2],
}

impl Row {
    fn holds(&self) -> bool {
        self.faults().is_empty()
    }

    /// The limits that did not hold.
    fn faults(&self) -> Vec<&'static str> {
        let Self { calm, attacked, growth: [before, during], .. } = self;
        let all = [
            (self.sent > 0, "nothing was sent"),
            (attacked.latency_p99 - calm.latency_p99 <= SLOWER, "slow"),
            (attacked.overcharged_p99 <= OVERCHARGED && attacked.clock <= OVERCHARGED, "overcharged"),
            (attacked.lost == 0, "lost"),
            (attacked.newcomers > 0 && attacked.refused == 0, "newcomers"),
            (self.memory <= MEMORY, "memory"),
            (during - before <= DISK, "disk"),
        ];
        all.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what).collect()
    }

    fn cells(&self) -> Vec<(&'static str, String)> {
        let ms = |ms: f64| format!("{ms:.1}");
        let Self { name, sent, calm, attacked, memory, growth } = self;
        let verdict = match &self.faults()[..] {
            [] => name.clone(),
            faults => format!("{name} FALLS ({})", faults.join(", ")),
        };
        vec![
            ("attacks", verdict),
            ("sent", sent.to_string()),
            ("moves", attacked.moves.to_string()),
            ("p99 calm", ms(calm.latency_p99)),
            ("p99", ms(attacked.latency_p99)),
            ("overcharged p99", ms(attacked.overcharged_p99)),
            ("most", ms(attacked.overcharged_most)),
            ("mean", ms(attacked.clock)),
            ("lost", attacked.lost.to_string()),
            ("newcomers", ms(attacked.newcomers_most)),
            ("MB", memory.to_string()),
            ("files KB/s", format!("{:.0}", growth[1] * 1000.0)),
        ]
    }
}

/// Result of a host.
struct Besieged {
    rows: Vec<Row>,
    kept: Result<()>,
}

/// Measurements of the host itself in a phase.
struct Cost {
    sent: u64,
    memory: u64,
    growth: f64,
}

/// Plays on a host for that time in peace and for that time under each wave.
fn besiege(program: &Path, waves: &[Wave], games: usize, time: Duration) -> Result<Besieged> {
    let mut host = Host::start(program, "")?;
    let phase = Phase::new();
    let (sum, calm, costs) = thread::scope(|scope| -> Result<_> {
        let players = Players::begin(scope, host.address(), games, &phase)?;
        let attacked = withstand(&host, waves, time, &phase);
        // Players end also when this program is at fault.
        phase.end();
        let (sum, (calm, costs)) = (players.end()?, attacked?);
        Ok((sum, calm, costs))
    })?;
    host.stop()?;
    let kept = Database::open(&host.database()).and_then(|db| kept::expect_undisturbed(&db, &sum.tables));
    let quiet = felt(&sum.noted, 0);
    let row = |(number, (wave, cost)): (usize, (&Wave, Cost))| Row {
        name: wave.iter().map(|attack| attack.name).collect::<Vec<_>>().join("+"),
        sent: cost.sent,
        calm: quiet,
        attacked: felt(&sum.noted, number as u8 + 1),
        memory: cost.memory,
        growth: [calm.growth, cost.growth],
    };
    let rows = waves.iter().zip(costs).enumerate().map(row).collect();
    Ok(Besieged { rows, kept })
}

/// Goes through the phases; returns what the host cost in peace and in each wave.
fn withstand(host: &Host, waves: &[Wave], time: Duration, phase: &Phase) -> Result<(Cost, Vec<Cost>)> {
    thread::sleep(REST);
    eprintln!("nobody attacks for {} s", time.as_secs());
    let calm = pass(host, &vec![], (0, phase), time)?;
    let mut costs = vec![];
    for (number, wave) in waves.iter().enumerate() {
        for attack in wave {
            eprintln!("{}: {}", attack.name, attack.about);
        }
        costs.push(pass(host, wave, (number as u8 + 1, phase), time)?);
    }
    Ok((calm, costs))
}

/// One phase, and the rest after it.
fn pass(host: &Host, wave: &Wave, (number, phase): (u8, &Phase), time: Duration) -> Result<Cost> {
    let stop = AtomicBool::new(false);
    let target = |_: &&Attack| Target { address: host.address(), stop: &stop, sent: AtomicU64::new(0) };
    let targets: Vec<Target<'_>> = wave.iter().map(target).collect();
    host.forget_peak();
    let before = host.disk();
    thread::scope(|scope| {
        for (attack, target) in wave.iter().zip(&targets) {
            attack.act.begin(scope, target);
        }
        phase.set(number);
        thread::sleep(time);
        phase.set(Phase::UNNOTED);
        stop.store(true, Ordering::Relaxed);
    });
    let memory = host.memory().context("the host fell")?;
    thread::sleep(REST);
    let growth = host.disk().saturating_sub(before) as f64 / 1e6 / time.as_secs_f64();
    let sent = targets.iter().map(|target| target.sent.load(Ordering::Relaxed)).sum();
    Ok(Cost { sent, memory, growth })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_attack_can_be_chosen_and_an_unknown_one_is_told() {
        let one = chosen(Some("storm")).unwrap();
        assert_eq!((one.len(), one[0].len(), one[0][0].name), (1, 1, "storm"));
        let fault = chosen(Some("storms")).err().unwrap().to_string();
        assert!(fault.starts_with("there is no attack `storms`; there are: list, chat, "), "{fault}");
        assert_eq!(chosen(None).unwrap().len(), WAVES.len());
    }

    #[test]
    fn a_row_says_what_did_not_hold() {
        let calm = Felt { moves: 10, latency_p99: 2.0, newcomers: 1, ..Felt::default() };
        let row = |attacked: Felt| Row {
            name: "who".to_owned(),
            sent: 1,
            calm,
            attacked,
            memory: 30,
            growth: [0.1, 0.2],
        };
        assert!(row(Felt { latency_p99: 12.0, ..calm }).holds());
        let fallen = row(Felt { latency_p99: 12.1, overcharged_p99: 5.1, refused: 1, lost: 1, ..calm });
        assert_eq!(fallen.faults(), ["slow", "overcharged", "lost", "newcomers"]);
        assert_eq!(fallen.cells()[0].1, "who FALLS (slow, overcharged, lost, newcomers)");
    }
}
