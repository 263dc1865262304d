//! Makes `kifu/openings.sfen`: openings after which the game is about as open as at its start.
//!
//! `cargo run --example make_openings -- [--lines N] [--seed N] [--engine PROGRAM] > kifu/openings.sfen`
//!
//! Each opening is built move by move. The first two moves are drawn from common ones. At each later ply the engine
//! searches a few thousand nodes with `MultiPV`, and one of the moves within some centipawns of the best is drawn. The
//! tolerance is large in the first plies, so that openings diverge early, and while the mover is ahead, so that the
//! evaluation returns to level; small otherwise. The final position is searched more deeply. It is kept if its
//! evaluation is close to that of the start (engines give the side to move a bonus, and black the first move), the
//! side to move is not in check, and no earlier opening leads to it. All draws follow from the seed: with one thread
//! and a cleared hash, the same engine reproduces the same openings.

use anyhow::{Context, Result, bail};
use notation::usi::{Bound, Info, ScoreValue};
use rsshogi::{
    board::{Position, hirate_position},
    types::Move,
};
use std::{
    collections::{BTreeMap, HashSet},
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// Plies of an opening.
const PLIES: std::ops::RangeInclusive<u64> = 8..=24;
/// Common first moves of black and white.
const FIRST: [[&str; 7]; 2] = [
    ["7g7f", "2g2f", "6g6f", "5g5f", "7i6h", "6i7h", "3i4h"],
    ["3c3d", "8c8d", "4c4d", "5c5d", "3a4b", "4a3b", "7a6b"],
];
/// Plies drawn with the large tolerance.
const FREE: usize = 8;
/// Large and small tolerance: centipawns below the best move.
const BEHIND: [i32; 2] = [120, 30];
/// Greatest deviation from the start's evaluation in centipawns: on the way, and in the final position.
const LEVEL: [i32; 2] = [400, 100];
/// Nodes searched at each ply, and in the final position.
const NODES: [u32; 2] = [3_000, 50_000];

fn main() -> Result<()> {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: &str| {
        let at = options.iter().position(|word| word == name);
        at.and_then(|at| options.get(at + 1)).map_or(default.to_owned(), Clone::clone)
    };
    let lines: usize = option("--lines", "500").parse().context("--lines needs a number")?;
    let mut dice = Dice(option("--seed", "1").parse().context("--seed needs a number")?);
    let mut engine = Engine::start(&option("--engine", "fairy-stockfish"))?;
    engine.new_game()?;
    let even =
        engine.search(&[], NODES[1])?.first().map(|(score, _)| *score).context("no score at the start")?;
    let (mut seen, mut made) = (HashSet::new(), 0);
    while made < lines {
        if let Some((line, goal)) = walk(&mut engine, &mut dice, even)?
            && seen.insert(goal)
        {
            println!("startpos moves {line}");
            made += 1;
        }
    }
    Ok(())
}

/// Builds an opening; `None` if its final position is not level. `even` is black's evaluation of the start. Returns
/// the moves and the position.
fn walk(engine: &mut Engine, dice: &mut Dice, even: i32) -> Result<Option<(String, String)>> {
    rsshogi::board::init();
    let mut position = hirate_position();
    position.init_stack();
    let plies = PLIES.start() + dice.below(PLIES.end() - PLIES.start() + 1);
    let mut line = Vec::new();
    for moves in FIRST {
        let usi = moves[usize::try_from(dice.below(moves.len() as u64))?];
        play(&mut position, usi)?;
        line.push(usi.to_owned());
    }
    engine.new_game()?;
    while (line.len() as u64) < plies {
        let known = engine.search(&line, NODES[0])?;
        let Some(best) = known.iter().map(|(score, _)| *score).max() else { return Ok(None) };
        let better = best - by_mover(even, line.len());
        if better.abs() > LEVEL[0] {
            return Ok(None);
        }
        let generously = line.len() < FREE || better > LEVEL[1];
        let behind = BEHIND[usize::from(!generously)];
        let good: Vec<_> = known.into_iter().filter(|(score, _)| best - score <= behind).collect();
        let (_, usi) = &good[usize::try_from(dice.below(good.len() as u64))?];
        play(&mut position, usi)?;
        line.push(usi.clone());
    }
    engine.new_game()?;
    let score = engine.search(&line, NODES[1])?.first().map(|(score, _)| *score);
    let near = |score: i32| (score - by_mover(even, line.len())).abs() <= LEVEL[1];
    let level = score.is_some_and(near) && position.checkers().is_empty();
    Ok(level.then(|| (line.join(" "), position.to_sfen(Some(-1)))))
}

/// Converts black's evaluation to the side to move.
fn by_mover(black: i32, plies: usize) -> i32 {
    if plies.is_multiple_of(2) { black } else { -black }
}

fn play(position: &mut Position, usi: &str) -> Result<()> {
    let mv = Move::from_usi(usi).filter(|mv| position.is_legal_move(*mv));
    let mv = mv.with_context(|| format!("the engine's `{usi}` is not legal"))?;
    let full = position.move32_from_move(mv);
    position.try_apply_move32(full).map_err(|fault| anyhow::anyhow!("{usi}: {fault:?}"))
}

/// splitmix64 (Steele, Lea, Flood 2014): reproducible across versions of this program.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % end
    }
}

struct Engine {
    process: Child,
    orders: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
}

impl Engine {
    fn start(program: &str) -> Result<Self> {
        // Debian's directory for games is often not on the PATH.
        let path = std::env::var("PATH").unwrap_or_default() + ":/usr/games";
        let mut process = Command::new(program)
            .env("PATH", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("engine `{program}`"))?;
        let orders = process.stdin.take().context("no stdin")?;
        let replies = BufReader::new(process.stdout.take().context("no stdout")?).lines();
        let mut engine = Self { process, orders, replies };
        engine.say("usi")?;
        engine.until("usiok", |_| {})?;
        ["Threads value 1", "Hash value 16", "MultiPV value 6"]
            .into_iter()
            .try_for_each(|option| engine.say(&format!("setoption name {option}")))?;
        Ok(engine)
    }

    fn say(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.orders, "{line}")?)
    }

    fn until(&mut self, word: &str, mut each: impl FnMut(&str)) -> Result<()> {
        for line in self.replies.by_ref() {
            let line = line?;
            if line.starts_with(word) {
                return Ok(());
            }
            each(&line);
        }
        bail!("the engine ended before it printed `{word}`")
    }

    fn new_game(&mut self) -> Result<()> {
        self.say("isready")?;
        self.until("readyok", |_| {})?;
        self.say("usinewgame")
    }

    /// The best moves with scores in centipawns for the side to move, best first, without moves into mate.
    fn search(&mut self, line: &[String], nodes: u32) -> Result<Vec<(i32, String)>> {
        let moves = if line.is_empty() { String::new() } else { format!(" moves {}", line.join(" ")) };
        self.say(&format!("position startpos{moves}\ngo nodes {nodes}"))?;
        let mut ranks = BTreeMap::new();
        self.until("bestmove", |line| {
            let info = Info::of(line);
            if let (Some(rank), Some(score), Some(mv)) =
                (info.multipv, &info.score, info.pv.split(' ').next())
                && let ScoreValue::Cp(cp) = score.value
                && score.bound == Bound::Exact
            {
                ranks.insert(rank, (cp, mv.to_owned()));
            }
        })?;
        Ok(ranks.into_values().collect())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _gone_already = self.say("quit");
        let _status = self.process.wait();
    }
}
