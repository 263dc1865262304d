//! Cost of a ply in the journal: CPU time of the process for queueing, writing and committing, divided by plies.
//!
//! `cargo bench --bench store [DIRECTORY]` (directory of the database; by default a temporary one).

use contest::schedule::Pairing;
use journal::{EventHead, Journal, Moves};
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, Opened, PlayerId, Score, Stamped, Thought},
};
use rsshogi::types::Move;
use std::{
    path::Path,
    time::{Duration, Instant},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Shape of an event: number of games, plies per game, games at once.
struct Load {
    name: &'static str,
    games: u64,
    plies: u32,
    at_once: u64,
    thought: bool,
    /// Plies per second; 0: as fast as the journal accepts them.
    pace: u32,
}

const LOADS: [Load; 4] = [
    Load {
        name: "12-ply games, one at a time, silent",
        games: 40_000,
        plies: 12,
        at_once: 1,
        thought: false,
        pace: 0,
    },
    Load {
        name: "the same at 60,000 plies/s",
        games: 20_000,
        plies: 12,
        at_once: 1,
        thought: false,
        pace: 60_000,
    },
    Load {
        name: "120-ply games, 16 at once, with pv",
        games: 4_000,
        plies: 120,
        at_once: 16,
        thought: true,
        pace: 0,
    },
    Load {
        name: "the same at 20,000 plies/s",
        games: 1_000,
        plies: 120,
        at_once: 16,
        thought: true,
        pace: 20_000,
    },
];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --all-targets` runs benches without `--bench`; then a hundredth of the load shows that they work.
    let share = if arguments.iter().any(|arg| arg == "--bench") { 1 } else { 100 };
    let directory = arguments.into_iter().find(|arg| !arg.starts_with('-'));
    let directory = directory.map_or_else(std::env::temp_dir, Into::into);
    let directory = tempfile::tempdir_in(directory)?;
    println!(
        "{:36} {:>9} {:>10} {:>12} {:>8} {:>10}",
        "load", "plies", "plies/s", "CPU us/ply", "MB", "replay ms"
    );
    for load in LOADS {
        let load = Load { games: load.games / share, ..load };
        measure(&load, &directory.path().join("bench.db"))?;
    }
    Ok(())
}

fn measure(load: &Load, path: &Path) -> Result<()> {
    let head = EventHead { name: load.name, kind: "run", plan: "{}", fingerprint: "{}" };
    let journal = Journal::open(path, &head)?.start(vec![], || ())?;
    let event = journal.event();
    let chunks = chunks(load);
    let plies = load.games * u64::from(load.plies);
    let (cpu, wall) = (cpu(), Instant::now());
    let mut written = 0;
    for chunk in chunks {
        written += chunk.len() as u32;
        for stamped in chunk {
            journal.append([stamped]);
        }
        pace(load, wall, written);
    }
    let store = journal.finish()?;
    let (cpu, wall) = (self::cpu() - cpu, wall.elapsed());
    let size = std::fs::metadata(path)?.len() as f64 / 1e6;
    let replay = Instant::now();
    store.replay(event, Moves::Without, &mut |_| ())?;
    println!(
        "{:36} {plies:>9} {:>10.0} {:>12.2} {size:>8.1} {:>10.1}",
        load.name,
        plies as f64 / wall.as_secs_f64(),
        cpu.as_secs_f64() * 1e6 / plies as f64,
        replay.elapsed().as_secs_f64() * 1e3,
    );
    std::fs::remove_file(path)?;
    Ok(())
}

fn pace(load: &Load, start: Instant, written: u32) {
    if load.pace > 0 {
        let due = start + Duration::from_secs(1) * written / load.pace;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
}

fn cpu() -> Duration {
    platform::usage::processor_time().expect("the system counts the time of a process")
}

/// Entries of all games in chunks, `at_once` games in step.
fn chunks(load: &Load) -> Vec<Vec<Stamped>> {
    let mut events = vec![Entry::Opened(Opened {
        name: load.name.to_owned(),
        players: vec!["a".to_owned(), "b".to_owned()],
        format: "match".to_owned(),
        resumed: false,
    })];
    for first in (1..=load.games).step_by(usize::try_from(load.at_once).unwrap_or(1)) {
        let games = first..(first + load.at_once).min(load.games + 1);
        events.extend(games.clone().map(started));
        for ply in 1..=load.plies {
            events.extend(games.clone().map(|game| moved(game, ply, load.thought)));
        }
        events.extend(games.map(|game| ended(game, load.plies)));
    }
    let stamped: Vec<Stamped> =
        events.into_iter().zip(1_800_000_000_000..).map(|(entry, at)| Stamped { at, entry }).collect();
    stamped.chunks(100).map(<[Stamped]>::to_vec).collect()
}

fn pairing(game: u64) -> Pairing {
    let index = game - 1;
    let (black, white) = (PlayerId((index % 2) as u32), PlayerId((1 - index % 2) as u32));
    Pairing { stage: 0, index, attempt: 0, round: 1, pair: index / 2, opening: index / 2, black, white }
}

fn started(game: u64) -> Entry {
    let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1".to_owned();
    Entry::GameStarted(GameStarted {
        game: GameId(game),
        pairing: pairing(game),
        start,
        opening: String::new(),
        times: None,
    })
}

fn ended(game: u64, plies: u32) -> Entry {
    let outcome = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
    let (game, pairing) = (GameId(game), pairing(game));
    Entry::GameEnded(GameEnded::new(game, pairing, outcome, plies))
}

fn moved(game: u64, ply: u32, thought: bool) -> Entry {
    let thought = thought.then(|| {
        Box::new(Thought {
            depth: Some(14),
            seldepth: Some(20),
            score: Some(Score::Cp(-123)),
            nodes: Some(1_234_567),
            nps: Some(987_654),
            time: Some(998),
            pv: Some("7g7f 3c3d 2g2f 8c8d 2f2e 8d8e 6i7h 4a3b".to_owned()),
        })
    });
    Entry::Moved(Moved {
        game: GameId(game),
        ply,
        color: if ply % 2 == 1 { Color::Black } else { Color::White },
        mv: Move::from_usi("7g7f").unwrap_or_default(),
        charged: Duration::from_millis(1001),
        elapsed: Duration::from_micros(1_001_234),
        left: Duration::from_millis(598_999),
        thought,
    })
}
