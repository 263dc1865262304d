//! Golden files and oracles. Used by tests only.
//!
//! **Golden files** lie in this directory, so tests that read them run on every machine:
//! - `conversations/*.txt`: conversations with our own host, which has to reproduce its lines; see [`conversation`]
//!   for the format and the recorder.
//! - `positions.tsv`: positions of random games with all their legal moves; columns as in [`Listed`].
//! - `results.tsv`: results of five players on 80 days; columns as in [`results`].
//!
//! **Oracles** are large collections by other authors, in `../shared` beside the repository. They are not part of it,
//! so a test of an oracle stands in a module named `oracles` and is ignored:
//!
//! ```ignore
//! mod oracles {
//!     #[test]
//!     #[ignore = "needs the oracles in ../shared/data/records"]
//!     fn public_records_are_read() { .. testing::oracle("data/records") .. }
//! }
//! ```
//!
//! `cargo xtask test` runs these tests where `../shared` exists; elsewhere
//! it prints the number of tests left out, and fails with `RENMEI_REQUIRE_SHARED=1`.
//!
//! **Simulations** are runs that a seed decides; see [`for_each_seed`]. `disk` is a disk under SQLite for them, which forgets
//! what was not synced.
//!
//! **Equipment** is what a machine may lack: another engine, a sandbox, a nats-server. A test that cannot run without it
//! asks [`has`], so that a run counts and names the tests that it left out.
#![allow(clippy::unwrap_used)] // A test whose files cannot be read has failed.

pub mod conversation;
#[cfg(all(target_os = "linux", feature = "disk"))]
pub mod disk;
mod equipment;
#[cfg(target_os = "linux")]
pub mod network;
mod seeds;

pub use equipment::{LEFT_OUT, REQUIRE_ALL, has, program, repetitions, requires_all};
pub use seeds::{BRIEF, Random, SEEDS, for_each_seed, is_brief, seeds};

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// Longest wait of a test: longer than anything takes on a slow machine, and shorter than the time after which a run ends a
/// test that says nothing.
pub const PATIENCE: Duration = Duration::from_secs(400);

/// Root of the repository.
#[must_use]
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap()
}

/// A golden file or directory.
#[must_use]
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A file or directory of the oracles, relative to `../shared`.
///
/// # Panics
/// When it does not exist; only ignored tests use it.
#[must_use]
pub fn oracle(name: &str) -> PathBuf {
    let path = repository().join("../shared").join(name);
    assert!(path.exists(), "this test needs the oracles: `{}` does not exist", path.display());
    path
}

/// The text of a file.
///
/// # Panics
/// When it cannot be read.
#[must_use]
pub fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|fault| panic!("`{}` cannot be read: {fault}", path.display()))
}

/// The files of a directory, sorted by name.
///
/// # Panics
/// When it cannot be read.
#[must_use]
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap_or_else(|fault| panic!("`{}` cannot be read: {fault}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// A position with its legal moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The position.
    pub sfen: String,
    /// All legal moves in USI notation.
    pub moves: Vec<String>,
    /// True if the side to move is mated.
    pub is_mate: bool,
    /// True if the side to move may declare a win by the 27-point rule.
    pub declares: bool,
}

impl Listed {
    /// Reads a line: the position and three columns (moves, mate, declaration; as in `positions.tsv`) or five (the number
    /// of moves, moves, check, mate, declaration; as in the oracle).
    ///
    /// # Panics
    /// When the line has other columns.
    #[must_use]
    pub fn read(line: &str) -> Self {
        let cells: Vec<&str> = line.split('\t').collect();
        let (sfen, moves, mate, declaration) = match cells[..] {
            [sfen, moves, mate, declaration] | [sfen, _, moves, _, mate, declaration] => {
                (sfen, moves, mate, declaration)
            }
            _ => panic!("a position has other columns: `{line}`"),
        };
        Self {
            sfen: sfen.to_owned(),
            moves: moves.split_whitespace().map(str::to_owned).collect(),
            is_mate: mate == "1",
            declares: declaration == "1",
        }
    }
}

impl std::fmt::Display for Listed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (mate, declares) = (u8::from(self.is_mate), u8::from(self.declares));
        write!(f, "{}\t{}\t{mate}\t{declares}", self.sfen, self.moves.join(" "))
    }
}

/// The golden positions.
#[must_use]
pub fn positions() -> Vec<Listed> {
    text(&file("positions.tsv")).lines().map(Listed::read).collect()
}

/// 5,200 positions on whose legal moves four independent programs agree.
#[must_use]
pub fn oracle_positions() -> Vec<Listed> {
    text(&oracle("data/positions_a.tsv")).lines().map(Listed::read).collect()
}

/// The result of a game between two of five players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GameResult {
    /// The players' numbers, black's first.
    pub players: [usize; 2],
    /// Twice black's score: 0, 1 or 2.
    pub half_points: u8,
    /// Days from the game to the day of the rating.
    pub days: f64,
}

/// Elo of the five players of [`results`] by the model of Bradley and Terry, relative to their mean. A game of `d` days
/// weighs `exp(-0.693 max(d - 7, 0) / 60)`, a draw is half a win. Computed by fixed-point iteration with 50 digits.
pub const RATES: [f64; 5] =
    [164.958_070_134_64, 117.989_809_802_08, 30.570_893_082_064, -80.848_956_755_596, -232.669_816_263_18];

/// Results of five players. Each line of `results.tsv` holds black's number, white's number, black's half points, and the
/// age of the game in days.
#[must_use]
pub fn results() -> Vec<GameResult> {
    let game = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| cells[at].parse().unwrap();
        GameResult {
            players: [number(0), number(1)],
            half_points: cells[2].parse().unwrap(),
            days: cells[3].parse().unwrap(),
        }
    };
    text(&file("results.tsv")).lines().map(game).collect()
}

/// 400 results of five players with dates, for which another program's Bradley-Terry fit is known.
#[must_use]
pub fn oracle_results() -> Vec<GameResult> {
    let game = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |id: &str| "ABCDE".find(&id[1..2]).unwrap();
        GameResult {
            players: [number(cells[3]), number(cells[4])],
            half_points: ["lose", "draw", "win"].iter().position(|result| *result == cells[2]).unwrap() as u8,
            days: days_before_november(cells[0]),
        }
    };
    text(&oracle("data/rating_oracle/results.txt")).lines().map(game).collect()
}

/// Days from a time in 2026 (`2026/07/03 03:49:27`) to the beginning of 2026-11-02.
fn days_before_november(time: &str) -> f64 {
    const BEFORE_MONTH: [f64; 12] =
        [0.0, 31.0, 59.0, 90.0, 120.0, 151.0, 181.0, 212.0, 243.0, 273.0, 304.0, 334.0];
    let n: Vec<f64> = time.split(['/', ' ', ':']).map(|part| part.parse().unwrap()).collect();
    let day = |month: f64, day: f64| BEFORE_MONTH[month as usize - 1] + day;
    day(11.0, 2.0) - day(n[1], n[2]) - (n[3] * 3600.0 + n[4] * 60.0 + n[5]) / 86400.0
}
