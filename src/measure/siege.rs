//! Attacks a host of its own while paced games are played on it, and measures the effect on their players: in the
//! same run first without an attack, then under one wave of attacks after the other.
//!
//! # What has to hold in every wave
//! - 99 of 100 paced moves arrive at most [`SLOWER`] ms later than without attack;
//! - nobody is charged more than [`OVERCHARGED`] ms a move beyond what its client measured: 99 of 100 moves, and every
//!   player on average;
//! - no attacker thinks longer than it is charged for: at most [`FREE`] ms in any turn;
//! - no paced game ends otherwise than its players want, and newcomers log in and get their games;
//! - where the host has pages, its arbiter logs in at each try, and a viewer's searches and streams are answered;
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
//! The one port of a hall has attacks of its own (`src/measure/siege/hall.rs`), whose names begin with `hall-`.
//!
//! Workers that were let in by the hub of an event attack its manager (`src/measure/machines/hostile.rs`), after the hosts.
//!
//! Attacks of one wave go on together, and are judged together; a wave has one row of the table. With `--attack` one
//! attack is alone on its host. Engines that fault belong to events, not to an open league: the tournament in
//! `src/tests/hosted/hostile.rs` has one.

mod attack;
mod attacks;
mod cheats;
pub mod client;
mod felt;
mod floods;
mod games;
mod hall;
pub mod host;
mod kept;
mod pages;
mod strangers;

use crate::{database::Database, machines, process::program, table::columns};
use anyhow::{Context, Result, ensure};
use attack::Target;
pub use attack::stand_back;
use attacks::{Attack, SIEGES, Siege};
use felt::{Felt, felt};
pub use games::moves;
use games::{Phase, Players};
use host::Host;
use std::{
    net::SocketAddr,
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};
use xtask::args::Flags;

/// Flags of the command that have a value.
pub const FLAGS: [&str; 4] = ["--seconds", "--games", "--attack", "--program"];
/// Flags that have none.
pub const SWITCHES: [&str; 1] = ["--long"];

/// The password of every account.
const PASSWORD: &str = "secret";
/// Seconds of a phase, and of a phase of the long form.
const SHORT: u64 = 15;
const LONG: u64 = 140;
/// Time between two phases, in which nothing is noted.
const REST: Duration = Duration::from_secs(3);
/// How much slower the slowest moves may be under attack, in ms.
const SLOWER: f64 = 10.0;
/// How much more than it measured a client may be charged for a move, in ms.
const OVERCHARGED: f64 = 5.0;
/// How much longer than what it was charged an attacker's turn may be, in ms.
const FREE: u64 = 250;
/// Memory that a host under attack may have, in MB.
const MEMORY: u64 = 512;
/// MB a second by which an attack may make the host's files grow, beside what the paced games add.
const DISK: f64 = 1.0;

/// Attacks one host after the other and prints a table.
///
/// # Errors
/// When the host cannot be run, or its event is not that of an undisturbed one.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let program = program(flags)?;
    let hub = hub_attacks(flags.text("--attack"));
    if flags.text("--attack").is_some() && !hub.is_empty() {
        return machines::besiege(flags, &program, &hub);
    }
    let usual = if flags.has("--long") { LONG } else { SHORT };
    let time = Duration::from_secs(flags.number("--seconds", usual)?);
    let games = flags.number("--games", 20)?;
    allow_many_files();
    let of_hall = hall_attacks(flags.text("--attack"));
    if flags.text("--attack").is_some() && !of_hall.is_empty() {
        let holds = hall::besiege(&program, &of_hall, time)?;
        return Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let (mut rows, mut undisturbed) = (vec![], true);
    for (siege, waves) in chosen(flags.text("--attack"))? {
        let besieged = besiege(&program, siege, &waves, games, time)?;
        if let Err(fault) = &besieged.kept {
            eprintln!("the event is not that of an undisturbed host: {fault:#}");
            undisturbed = false;
        }
        rows.extend(besieged.rows);
    }
    let cells: Vec<_> = rows.iter().map(Row::cells).collect();
    print!("{}", columns(&cells));
    let events = if undisturbed { "equal to undisturbed ones" } else { "NOT equal to undisturbed ones" };
    println!(
        "(times in ms. A move is timed from its sender to the opponent's end of the connection; overcharged: what the host \
         charged beyond what the client measured, of a move and, on average, of the player who fared worst; newcomers: the \
         longest time of two from login to the end of their game; pages: the longest wait of an arbiter or a viewer; free: the \
         longest that an attacker's turn was beyond what was charged; MB: the host's memory; files: growth in KB a second, in \
         all. Events: {events})"
    );
    let hall_holds = hall::besiege(&program, &of_hall, time)?;
    let of_hub = machines::besiege(flags, &program, &hub)?;
    let holds = hall_holds && undisturbed && rows.iter().all(Row::holds) && of_hub == ExitCode::SUCCESS;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The attacks of workers that were let in by a hub: all, or the one of this name.
fn hub_attacks(name: Option<&str>) -> Vec<&'static str> {
    machines::hostile::ATTACKS.into_iter().filter(|attack| name.is_none_or(|name| name == *attack)).collect()
}

/// The attacks on the port of a hall: all, or the one of this name.
fn hall_attacks(name: Option<&str>) -> Vec<hall::Attack> {
    hall::ATTACKS.into_iter().filter(|(attack, _)| name.is_none_or(|name| name == *attack)).collect()
}

type Wave = Vec<&'static Attack>;

/// The hosts and waves of all attacks, or of one.
fn chosen(name: Option<&str>) -> Result<Vec<(&'static Siege, Vec<Wave>)>> {
    let wanted = |attack: &&Attack| name.is_none_or(|name| name == attack.name);
    let of = |siege: &'static Siege| {
        let waves = siege.waves.iter().map(|wave| wave.iter().filter(wanted).collect::<Wave>());
        (siege, waves.filter(|wave| !wave.is_empty()).collect::<Vec<_>>())
    };
    let sieges: Vec<_> = SIEGES.iter().map(of).filter(|(_, waves)| !waves.is_empty()).collect();
    let of_hosts =
        || SIEGES.iter().flat_map(|siege| siege.waves).flat_map(|wave| wave.iter()).map(|a| a.name);
    let names = || of_hosts().chain(hall::ATTACKS.map(|(name, _)| name)).chain(machines::hostile::ATTACKS);
    ensure!(
        !sieges.is_empty(),
        "there is no attack `{}`; there are: {}",
        name.unwrap_or_default(),
        names().collect::<Vec<_>>().join(", ")
    );
    Ok(sieges)
}

/// A thousand attackers need more files than a program usually may open.
pub fn allow_many_files() {
    let _refused = platform::account::files(u64::MAX);
}

/// A row of the table: the effect of a wave on the players.
struct Row {
    name: String,
    sent: u64,
    calm: Felt,
    attacked: Felt,
    /// The longest turn of an attacker beyond what was charged for it, in ms.
    free: u64,
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
            (attacked.no_page == 0, "pages"),
            (self.free <= FREE, "free thinking"),
            (self.memory <= MEMORY, "memory"),
            (during - before <= DISK, "disk"),
        ];
        all.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what).collect()
    }

    fn cells(&self) -> Vec<(&'static str, String)> {
        let ms = |ms: f64| format!("{ms:.1}");
        let Self { name, sent, calm, attacked, free, memory, growth } = self;
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
            ("pages", if attacked.pages_most.is_nan() { "–".to_owned() } else { ms(attacked.pages_most) }),
            ("free", free.to_string()),
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
    free: u64,
    memory: u64,
    growth: f64,
}

/// A host, and where its pages are.
type Fortress<'a> = (&'a Host, Option<SocketAddr>);

/// Plays on a host for that time in peace and for that time under each wave.
fn besiege(program: &Path, siege: &Siege, waves: &[Wave], games: usize, time: Duration) -> Result<Besieged> {
    let accounts = if siege.accounts { games::names(games) } else { vec![] };
    let mut host = Host::start(program, siege.keys, &accounts)?;
    let pages = if siege.pages { Some(host.pages()?) } else { None };
    pages.map_or(Ok(()), |_| host.add_arbiter(program))?;
    let phase = Phase::new();
    let (sum, calm, costs) = thread::scope(|scope| -> Result<_> {
        let players = Players::begin(scope, host.address(), games, &phase)?;
        let noted = &phase;
        let visitors = pages.map(|pages| scope.spawn(move || pages::visit(pages, noted)));
        let attacked = withstand((&host, pages), waves, time, &phase);
        // Players end also when this program is at fault.
        phase.end();
        let (mut sum, (calm, costs)) = (players.end()?, attacked?);
        if let Some(visitor) = visitors {
            sum.noted.extend(visitor.join().ok().context("a visitor panicked")?);
        }
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
        free: cost.free,
        memory: cost.memory,
        growth: [calm.growth, cost.growth],
    };
    let rows = waves.iter().zip(costs).enumerate().map(row).collect();
    Ok(Besieged { rows, kept })
}

/// Goes through the phases; returns what the host cost in peace and in each wave.
fn withstand(host: Fortress<'_>, waves: &[Wave], time: Duration, phase: &Phase) -> Result<(Cost, Vec<Cost>)> {
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
fn pass(
    (host, pages): Fortress<'_>,
    wave: &Wave,
    (number, phase): (u8, &Phase),
    time: Duration,
) -> Result<Cost> {
    let stop = AtomicBool::new(false);
    let pages = pages.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
    let target = |_: &&Attack| Target {
        address: host.address(),
        pages,
        stop: &stop,
        sent: AtomicU64::new(0),
        free: AtomicU64::new(0),
    };
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
    let free = targets.iter().map(|target| target.free.load(Ordering::Relaxed)).max().unwrap_or(0);
    Ok(Cost { sent, free, memory, growth })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_attack_can_be_chosen_and_an_unknown_one_is_told() {
        let one = chosen(Some("guesses")).unwrap();
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].1[0][0].name, "guesses");
        let fault = chosen(Some("guess")).err().unwrap().to_string();
        assert!(fault.starts_with("there is no attack `guess`; there are: who, list, "), "{fault}");
        assert!(chosen(None).unwrap().iter().map(|(_, waves)| waves.len()).sum::<usize>() > 10);
    }

    #[test]
    fn a_row_says_what_did_not_hold() {
        let calm = Felt { moves: 10, latency_p99: 2.0, newcomers: 1, ..Felt::default() };
        let row = |attacked: Felt| Row {
            name: "who".to_owned(),
            sent: 1,
            calm,
            attacked,
            free: 0,
            memory: 30,
            growth: [0.1, 0.2],
        };
        assert!(row(Felt { latency_p99: 12.0, ..calm }).holds());
        let fallen = row(Felt { latency_p99: 12.1, overcharged_p99: 5.1, refused: 1, lost: 1, ..calm });
        assert_eq!(fallen.faults(), ["slow", "overcharged", "lost", "newcomers"]);
        assert_eq!(fallen.cells()[0].1, "who FALLS (slow, overcharged, lost, newcomers)");
    }
}
