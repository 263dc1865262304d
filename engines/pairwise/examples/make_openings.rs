//! Makes `kifu/openings.bin`, the openings that the program carries: lines after which neither side is ahead.
//!
//! ```sh
//! cargo build --release -p renmei-pairwise --example make_openings
//! make=target/release/examples/make_openings
//! nice $make try 0 4250 > a.txt # several minutes; the others at the same time on other cores
//! nice $make try 100000 104250 > b.txt
//! nice $make try 200000 204250 > c.txt
//! $make pack kifu/openings.bin a.txt b.txt c.txt
//! ```
//!
//! `try` makes an attempt for each number of a range and prints the lines that are kept. An attempt depends on its number
//! alone, so a range may be divided among processes or continued later. The first two moves are drawn from common ones.
//! At each later ply a search of some hundred nodes values the best moves, and one of those within a margin of the best
//! is drawn. The margin is large in the first plies, so that lines diverge early, and while the mover is ahead, so that
//! the evaluation returns to level; small otherwise. The last two moves are searched more deeply: of both, several that leave
//! neither side ahead by more than a limit are taken, and each makes a line.
//!
//! `pack` drops lines that lead to a check or to a position already reached, sorts the first 20,000 others and writes them
//! as `records::openings` reads them: for each line a byte, the number of plies shared with the line before (high four bits) and of those that
//! follow (low four bits), then these as 16-bit moves, lowest byte first; all of it compressed by DEFLATE.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Write;

use flate2::{Compression, write::DeflateEncoder};
use pairwise::Fault;
use pairwise::evaluation::Weights;
use pairwise::search::{Searcher, Task, is_decided};
use usi_shell::Game;

/// Openings that are packed.
const LINES: usize = 20_000;
/// Plies of an opening.
const PLIES: std::ops::RangeInclusive<usize> = 9..=12;
/// Common first moves of black and white.
const FIRST: [[&str; 7]; 2] = [
    ["7g7f", "2g2f", "6g6f", "5g5f", "7i6h", "6i7h", "3i4h"],
    ["3c3d", "8c8d", "4c4d", "5c5d", "3a4b", "4a3b", "7a6b"],
];
/// Moves valued at each ply.
const MOVES: usize = 10;
/// Most moves taken of the last position but one, and of each that follows.
const SIBLINGS: usize = 4;
/// Plies drawn with the large margin.
const FREE: usize = 7;
/// Large and small margin: centipawns below the best move.
const MARGINS: [i32; 2] = [200, 100];
/// Greatest evaluation in centipawns, for either side: on the way, and in the last position.
const LEVEL: [i32; 2] = [400, 80];
/// Nodes searched at each ply, and in the last position.
const NODES: [u64; 2] = [400, 3_000];
/// Plies up to which valued moves are remembered: positions that many attempts reach.
const REMEMBERED: usize = 5;

fn main() -> Result<(), Fault> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["try", from, to] => attempts(from.parse()?..to.parse()?),
        ["pack", to, ref from @ ..] if !from.is_empty() => pack(to, from),
        _ => Err("make_openings try FROM TO | make_openings pack FILE LINES..".into()),
    }
}

fn attempts(range: std::ops::Range<u64>) -> Result<(), Fault> {
    let mut maker =
        Maker { weights: Weights::choose("default")?, searcher: Searcher::new(1), known: HashMap::new() };
    for attempt in range {
        maker.walk(&mut Dice(attempt << 32))?.iter().for_each(|line| println!("{line}"));
    }
    Ok(())
}

/// Moves in USI with values in centipawns for the side to move, best first.
type Valued = Vec<(i32, String)>;

struct Maker {
    weights: Weights,
    searcher: Searcher,
    /// The valued moves after the first plies, by these plies.
    known: HashMap<String, Valued>,
}

impl Maker {
    /// Builds openings that differ in their last two moves; empty if a side is far ahead on the way.
    fn walk(&mut self, dice: &mut Dice) -> Result<Vec<String>, Fault> {
        let (mut game, mut line) = (Game::startpos(), Vec::new());
        let plies = PLIES.start() + dice.below(PLIES.end() - PLIES.start() + 1);
        for moves in FIRST {
            play(&mut game, &mut line, moves[dice.below(moves.len())])?;
        }
        while line.len() + 2 < plies {
            let mut valued = self.valued(&game, &line);
            let Some(&(best, _)) = valued.first() else { return Ok(vec![]) };
            if best.abs() > LEVEL[0] {
                return Ok(vec![]);
            }
            let margin = MARGINS[usize::from(line.len() >= FREE && best <= LEVEL[1])];
            valued.retain(|(value, _)| best - value <= margin);
            play(&mut game, &mut line, &valued[dice.below(valued.len())].1)?;
        }
        let mut lines = vec![];
        for last_but_one in self.level(&game, dice) {
            let (mut game, mut line) = (game.clone(), line.clone());
            play(&mut game, &mut line, &last_but_one)?;
            let last = self.level(&game, dice);
            lines.extend(last.into_iter().map(|usi| format!("{} {usi}", line.join(" "))));
        }
        Ok(lines)
    }

    /// Some of the better moves after which neither side is ahead.
    fn level(&mut self, game: &Game, dice: &mut Dice) -> Vec<String> {
        let mut moves = self.search(game, NODES[1]);
        let best = moves.first().map_or(0, |&(value, _)| value);
        moves.retain(|(value, _)| value.abs() <= LEVEL[1] && best - value <= MARGINS[0]);
        while moves.len() > SIBLINGS {
            moves.swap_remove(dice.below(moves.len()));
        }
        moves.into_iter().map(|(_, usi)| usi).collect()
    }

    fn valued(&mut self, game: &Game, line: &[String]) -> Valued {
        if line.len() > REMEMBERED {
            return self.search(game, NODES[0]);
        }
        let key = line.join(" ");
        if let Some(valued) = self.known.get(&key) {
            return valued.clone();
        }
        let valued = self.search(game, NODES[0]);
        self.known.insert(key, valued.clone());
        valued
    }

    /// The best moves by the last iteration that was completed, without mates. Nothing is remembered from earlier searches.
    fn search(&mut self, game: &Game, nodes: u64) -> Valued {
        self.searcher.clear();
        let task = Task { nodes: Some(nodes), lines: MOVES, threads: 1, ..Task::default() };
        let mut best = Vec::new();
        self.searcher.think(&self.weights, game, &task, |progress| {
            best.clone_from(&progress.found.best);
            true
        });
        let moves = best.iter().filter(|found| !is_decided(found.value));
        let mut valued: Valued =
            moves.filter_map(|found| Some((found.value, found.line.first()?.to_usi().to_string()))).collect();
        // Most pieces are rarely better without their promotion, and the search often finds no difference.
        let promoted: HashSet<String> =
            valued.iter().filter_map(|(_, usi)| Some(usi.strip_suffix('+')?.to_owned())).collect();
        valued.retain(|(_, usi)| !promoted.contains(usi));
        valued
    }
}

fn play(game: &mut Game, line: &mut Vec<String>, usi: &str) -> Result<(), Fault> {
    game.play(usi).ok_or_else(|| format!("`{usi}` is not legal"))?;
    line.push(usi.to_owned());
    Ok(())
}

fn pack(to: &str, from: &[&str]) -> Result<(), Fault> {
    let (mut seen, mut lines) = (HashSet::new(), Vec::new());
    for path in from {
        for line in fs::read_to_string(path)?.lines() {
            let (mut game, mut plies) = (Game::startpos(), Vec::new());
            line.split(' ').try_for_each(|usi| play(&mut game, &mut plies, usi))?;
            let sfen = game.position().to_sfen(None);
            let is_wanted = lines.len() < LINES && game.position().checkers().is_empty();
            if is_wanted && seen.insert(sfen.rsplit_once(' ').map(|(position, _)| position.to_owned())) {
                lines.push(game.moves().iter().map(|mv| mv.to_move().raw()).collect::<Vec<u16>>());
            }
        }
    }
    lines.sort_unstable();
    let mut packed = DeflateEncoder::new(File::create(to)?, Compression::best());
    let mut before: &[u16] = &[];
    for line in &lines {
        let shared = line.iter().zip(before).take_while(|(mv, other)| mv == other).count();
        packed.write_all(&[u8::try_from(shared << 4 | (line.len() - shared))?])?;
        line[shared..].iter().try_for_each(|mv| packed.write_all(&mv.to_le_bytes()))?;
        before = line;
    }
    println!("{} lines, {} bytes", lines.len(), packed.finish()?.metadata()?.len());
    Ok(())
}

/// splitmix64 (G. Steele, D. Lea and C. Flood, 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % end as u64) as usize
    }
}
