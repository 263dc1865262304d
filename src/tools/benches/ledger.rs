//! Speed and memory of the ledger: `cargo bench -p ledger [ROWS]` (rows of the database, ten million by default).
//!
//! Rates 100,000 games of 1,000 players, beside a floor: the expected score of every game, computed once. Then reads a
//! database of ROWS games of 1,000 players, beside a floor: SQLite steps through the same columns.

use journal::{EventHead, Journal};
use ledger::{Apart, Ledger};
use platform::usage::{Resident, resident};
use referee::{
    entry::{Entry, Opened, Stamped},
    rating::{CrossTable, Results, fit, score_of_elo},
};
use rusqlite::Connection;
use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const PLAYERS: u64 = 1000;
const GAMES: u64 = 100_000;
const ROWS: u64 = 10_000_000;
const PLAN: &str = r#"{"name":"bench","sprt":null,"engines":[],
    "stages":[{"format":{"format":"round-robin","cycles":200},"games":2,"entrants":null}]}"#;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --all-targets` runs benches without `--bench`; then a thousandth of the load shows that they work.
    let share = if arguments.iter().any(|arg| arg == "--bench") { 1 } else { 1000 };
    let given = arguments.iter().find(|arg| !arg.starts_with('-'));
    let rows = given.map(|rows| rows.parse()).transpose()?.unwrap_or(ROWS / share);
    rate(GAMES / share)?;
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("bench.db");
    write(&path, rows)?;
    read(&path, rows)
}

/// The games of a field whose players lie up to 600 Elo apart, by a generator with a seed (SplitMix64).
fn games(count: u64) -> impl Iterator<Item = (usize, usize, Results)> {
    let mut state = 1_u64;
    let mut roll = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..count).map(move |_| {
        let black = roll() % PLAYERS;
        let white = (black + 1 + roll() % (PLAYERS - 1)) % PLAYERS;
        let elo = |player: u64| 600.0 * player as f64 / PLAYERS as f64;
        let luck = roll() as f64 / u64::MAX as f64;
        let [black_wins, draws, white_wins] = match score_of_elo(elo(black) - elo(white)) {
            score if luck < 0.8 * score => [1.0, 0.0, 0.0],
            score if luck > 1.0 - 0.8 * (1.0 - score) => [0.0, 0.0, 1.0],
            _ => [0.0, 1.0, 0.0],
        };
        (black as usize, white as usize, Results { black_wins, draws, white_wins })
    })
}

fn rate(count: u64) -> Result<()> {
    let games: Vec<(usize, usize, Results)> = games(count).collect();
    let begun = Instant::now();
    let scores: f64 = games.iter().map(|&(a, b, _)| score_of_elo((a as f64 - b as f64) * 0.6)).sum();
    let floor = begun.elapsed();
    black_box(scores);
    let begun = Instant::now();
    let mut table = CrossTable::new(PLAYERS as usize);
    for (black, white, results) in games {
        table.add(black, white, results)?;
    }
    let ratings = fit(&table);
    let took = begun.elapsed();
    let bounded = ratings.players.iter().filter(|player| player.elo.is_bounded()).count();
    println!(
        "rated {count} games of {PLAYERS} players in {took:.2?} ({bounded} bounded); floor {floor:.2?}: one score a game"
    );
    Ok(())
}

/// Writes an event and its games, each two minutes long.
fn write(path: &Path, rows: u64) -> Result<()> {
    let head = EventHead { name: "bench", kind: "run", plan: PLAN, fingerprint: "{}" };
    let journal = Journal::open(path, &head)?.start(vec![], || ())?;
    let players = (0..PLAYERS).map(|player| format!("engine {player}")).collect();
    let opened = Opened { name: "bench".to_owned(), players, format: String::new(), resumed: false };
    journal.append([Stamped { at: 0, entry: Entry::Opened(opened) }]);
    journal.finish()?;
    let begun = Instant::now();
    let conn = Connection::open(path)?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    let mut insert = conn.prepare(
        "INSERT INTO games (event, number, stage, index_, attempt, round, pair, opening, black, white,
            started_at, ended_at, result, cause, plies)
         VALUES (1, ?1, 0, ?1, 0, 1, ?1 / 2, ?1 / 2, ?2, ?3, 1790000000000 + 60000 * ?1,
            1790000120000 + 60000 * ?1, ?4, 'resignation', 100)",
    )?;
    conn.execute_batch("BEGIN")?;
    for (number, (black, white, results)) in (1..).zip(games(rows)) {
        let result = match results {
            Results { black_wins: 1.0, .. } => "black",
            Results { draws: 1.0, .. } => "draw",
            _ => "white",
        };
        insert.execute((number, black as i64, white as i64, result))?;
    }
    conn.execute_batch("COMMIT")?;
    let megabytes = std::fs::metadata(path)?.len() as f64 / 1e6;
    println!("wrote {rows} rows, {megabytes:.0} MB, in {:.1?}", begun.elapsed());
    Ok(())
}

fn read(path: &Path, rows: u64) -> Result<()> {
    let floor = steps(path)?;
    let before = memory(|memory| memory.now);
    let begun = Instant::now();
    let mut ledger = Ledger::new(Apart::default(), None);
    ledger.read(path)?;
    let took = begun.elapsed();
    let peak = memory(|memory| memory.peak);
    let games = ledger.counts().games;
    let begun = Instant::now();
    let rated = ledger.rate(&[])?;
    println!(
        "read {games} of {rows} games in {took:.2?}; floor {floor:.2?}: SQLite steps through them\n\
         memory {before} before, {peak} at most; rated {} players in {:.2?}",
        rated.groups.iter().map(|group| group.rows.len()).sum::<usize>(),
        begun.elapsed()
    );
    Ok(())
}

/// The time of SQLite alone.
fn steps(path: &Path) -> Result<Duration> {
    let begun = Instant::now();
    let conn = Connection::open(path)?;
    let sql = "SELECT black, white, times, machine, result, started_at, ended_at FROM games
        WHERE event = 1 AND state = 'counted'";
    let mut games = conn.prepare(sql)?;
    let mut rows = games.query([])?;
    let mut sum = 0_i64;
    while let Some(row) = rows.next()? {
        sum += row.get::<_, i64>(0)?;
    }
    black_box(sum);
    Ok(begun.elapsed())
}

/// Memory of this process, by a value in KiB.
fn memory(of: fn(Resident) -> u64) -> String {
    let kib = resident(std::process::id()).map(of);
    kib.map_or("unknown".to_owned(), |kib| format!("{} MB", kib * 1024 / 1_000_000))
}
