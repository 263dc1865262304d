//! The one port of a hall under attack. Behind it the events are hosts as those of the other sieges; what is new there is
//! the reception, which reads a login before it knows whose it is. So two players of each of two events log in again and
//! again, play a game and leave, while strangers hold, storm and flood the reception.

use super::{
    MEMORY, REST,
    attack::{Target, address, stand_back},
    client::{Client, connect, resign},
};
use crate::{process::Process, table::columns};
use anyhow::{Context, Result};
use std::{
    fs,
    io::Write,
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};
use xtask::workspace::Scratch;

/// The attacks, each with what it does.
pub const ATTACKS: [Attack; 5] = [
    ("hall-hold", |target| target.hold(600, |number| silent(target, number % 10))),
    ("hall-addresses", |target| target.hold(600, |number| silent(target, number % 600))),
    ("hall-halves", |target| target.hold(600, |number| halves(target, number))),
    ("hall-storm", |target| {
        let mut number = 0;
        target.repeat(500, || {
            number += 1;
            storm(target, number);
        });
    }),
    ("hall-names", |target| {
        let mut number = 0;
        target.repeat(400, || {
            number += 1;
            name(target, number);
        });
    }),
];

/// An attack: its name, and what its thread does.
pub type Attack = (&'static str, Act);
type Act = fn(&Target<'_>);

/// Events behind the port.
const EVENTS: [&str; 2] = ["cup", "night"];
/// Longest time that a player waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest end of the hall.
const END: Duration = Duration::from_secs(600);
/// Exit code of a hall that is stopped before its events are over.
const STOPPED: i32 = 3;
/// How much longer the slowest visit may take than without attack, in ms. A game of the schedule begins at most a second
/// after both players are there.
const SLOWER: f64 = 1500.0;

/// Connects and says nothing. The socket does not block, so that it can be looked at whether it still stands.
fn silent(target: &Target<'_>, from: usize) -> Option<TcpStream> {
    let socket = connect(address(from), target.address).ok()?;
    socket.set_nonblocking(true).ok()?;
    Some(socket)
}

/// Sends half of a login.
fn halves(target: &Target<'_>, number: usize) -> Option<TcpStream> {
    let mut socket = silent(target, number % 10)?;
    socket.write_all(b"LOGIN black").ok()?;
    Some(socket)
}

/// Connects, sends something or nothing, and leaves; some guess the secret of a player of an event.
fn storm(target: &Target<'_>, number: usize) {
    let Ok(mut socket) = connect(address(number % 25), target.address) else { return };
    let said: &[u8] = match number % 4 {
        0 => b"",
        1 => b"LOGIN night0 night-600-0,guess\n",
        2 => &[b'\n'; 600],
        _ => b"GET / HTTP/1.1\r\n\r\n",
    };
    let _closed = socket.write_all(said);
    target.hit();
}

/// Logs in under a name that no event has, or for a game that none has.
fn name(target: &Target<'_>, number: usize) {
    let Ok(mut socket) = connect(address(number % 40), target.address) else { return };
    let _closed = socket.write_all(format!("LOGIN stranger{number} game{number}-600-10,x x1\n").as_bytes());
    target.hit();
}

/// Two players of an event log in at the port, play a game that black resigns, and leave.
fn visit(port: SocketAddr, event: usize) -> Result<()> {
    let login = |side: usize| {
        let from = [127, 2, event as u8, side as u8 + 1];
        let name = format!("{}{side}", EVENTS[event]);
        Client::enter(from, port, &name, PATIENCE)
    };
    let mut players = [login(0)?, login(1)?];
    let mut black = 0;
    for (side, player) in players.iter_mut().enumerate() {
        if offered_black(player)? {
            black = side;
        }
        player.say("AGREE")?;
    }
    for player in &mut players {
        player.until("START:")?;
    }
    resign(&mut players, black)
}

/// Waits for the offer of a game; true if the player has black.
fn offered_black(player: &mut Client) -> Result<bool> {
    let mut is_black = false;
    loop {
        let (line, _) = player.line()?;
        is_black |= line == "Your_Turn:+";
        if line == "END Game_Summary" {
            return Ok(is_black);
        }
    }
}

/// How visits went in a phase: the longest in ms, how many, and how many failed.
#[derive(Clone, Copy, Default)]
struct Visits {
    longest: f64,
    done: usize,
    failed: usize,
}

/// Attacks the port of a hall, one attack after the other; false if one had an effect.
///
/// # Errors
/// When the hall cannot be run.
pub fn besiege(program: &Path, attacks: &[Attack], time: Duration) -> Result<bool> {
    if attacks.is_empty() {
        return Ok(true);
    }
    let dir = Scratch::new("siege-hall")?;
    let (mut process, port) = start(program, &dir)?;
    eprintln!("nobody attacks the hall for {} s", time.as_secs());
    let calm = visits(port, time);
    let (mut rows, mut holds) = (vec![], true);
    for (name, act) in attacks {
        eprintln!("{name}");
        let stop = AtomicBool::new(false);
        let (sent, free) = (AtomicU64::new(0), AtomicU64::new(0));
        let target = Target { address: port, pages: port, stop: &stop, sent, free };
        let felt = thread::scope(|scope| {
            let attacker = || {
                stand_back();
                act(&target);
            };
            scope.spawn(attacker);
            let felt = visits(port, time);
            stop.store(true, Ordering::Relaxed);
            felt
        });
        let memory = process.megabytes("VmHWM:").context("the hall fell")?;
        let faults = faults(calm, felt, memory);
        holds &= faults.is_empty();
        let verdict = if faults.is_empty() {
            (*name).to_owned()
        } else {
            format!("{name} FALLS ({})", faults.join(", "))
        };
        rows.push(vec![
            ("attacks", verdict),
            ("sent", target.sent.load(Ordering::Relaxed).to_string()),
            ("visits", felt.done.to_string()),
            ("longest calm", format!("{:.0}", calm.longest)),
            ("longest", format!("{:.0}", felt.longest)),
            ("failed", felt.failed.to_string()),
            ("MB", memory.to_string()),
        ]);
        thread::sleep(REST);
    }
    process.terminate(END, STOPPED)?;
    print!("{}", columns(&rows));
    println!("(a visit, in ms: two players log in at the port of a hall, are given their game and end it)");
    Ok(holds)
}

/// The limits that did not hold.
fn faults(calm: Visits, felt: Visits, memory: u64) -> Vec<&'static str> {
    let all = [
        (felt.done > 0 && felt.failed == 0, "players kept out"),
        (felt.longest - calm.longest <= SLOWER, "slow"),
        (memory <= MEMORY, "memory"),
    ];
    all.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what).collect()
}

/// Visits to both events for that time.
fn visits(port: SocketAddr, time: Duration) -> Visits {
    let (until, mut sum) = (Instant::now() + time, Visits::default());
    for event in (0..EVENTS.len()).cycle() {
        if Instant::now() >= until {
            break;
        }
        let begun = Instant::now();
        match visit(port, event) {
            Ok(()) => {
                sum.done += 1;
                sum.longest = sum.longest.max(begun.elapsed().as_secs_f64() * 1000.0);
            }
            Err(fault) => {
                eprintln!("players of `{}` got no game: {fault:#}", EVENTS[event]);
                sum.failed += 1;
                thread::sleep(Duration::from_millis(100));
            }
        }
    }
    sum
}

/// Starts a hall of two events whose players log in at one port.
fn start(program: &Path, dir: &Scratch) -> Result<(Process, SocketAddr)> {
    fs::create_dir_all(dir.file("hall"))?;
    for event in EVENTS {
        let players: String =
            [0, 1].map(|side| format!("[[engines]]\nname = \"{event}{side}\"\nremote = true\n")).concat();
        let text = format!("time = \"10m\"\n[event]\ngames = 100000\n[serve]\nwait = 86400\n{players}");
        fs::write(dir.file("hall").join(format!("{event}.toml")), text)?;
    }
    fs::write(dir.file("hall").join("hall.toml"), "[serve]\nlisten = [\"127.0.0.1:0\"]\n")?;
    let mut hall = Command::new(program);
    hall.arg("hall").arg(dir.file("hall")).args(["--oversubscribe", "--concurrency", "4", "--quiet"]);
    let mut process = Process::start(&mut hall, &dir.file("hall.log"))?;
    let port = process.logged("listening on ")?;
    let port = port.split(' ').next().unwrap_or_default().parse()?;
    for event in EVENTS {
        process.logged(&format!("{event}: {event} begins"))?;
    }
    Ok((process, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hall_that_keeps_a_player_out_has_fallen() {
        let calm = Visits { longest: 100.0, done: 3, failed: 0 };
        assert!(faults(calm, calm, 30).is_empty());
        let attacked = Visits { longest: 2000.0, done: 3, failed: 1 };
        assert_eq!(faults(calm, attacked, 600), ["players kept out", "slow", "memory"]);
        assert_eq!(faults(calm, Visits::default(), 30), ["players kept out"], "nobody came");
    }
}
