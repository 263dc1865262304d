//! Makes `kifu/openings.sfen`: lines of early moves after which the game is as open as at its start.
//!
//! `cargo run --example make_openings -- [--lines N] [--seed N] [--engine PROGRAM] > kifu/openings.sfen`
//!
//! A line is walked move by move. The first two are drawn from those that people play. At each ply after them the
//! engine searches a few thousand nodes with `MultiPV`, and one of the moves within some centipawns of the best is
//! drawn: generously at first, so that lines part early, and while the mover is better, so that lines come level;
//! strictly else. The position a line ends in is searched more deeply and kept if the engine judges it about as it
//! judges the start (engines give the side to move a bonus and black its first move), the side to move is not in check
//! and no line before led to it. All is drawn by the seed; with one thread and a cleared hash the same engine gives
//! the same lines again.

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

/// Plies of a line.
const PLIES: std::ops::RangeInclusive<u64> = 8..=24;
/// How games begin: black's first move and white's.
const FIRST: [[&str; 7]; 2] = [
    ["7g7f", "2g2f", "6g6f", "5g5f", "7i6h", "6i7h", "3i4h"],
    ["3c3d", "8c8d", "4c4d", "5c5d", "3a4b", "4a3b", "7a6b"],
];
/// Plies that are drawn generously.
const FREE: usize = 8;
/// How far behind the best a drawn move may be, in centipawns, when it is drawn generously and strictly.
const BEHIND: [i32; 2] = [120, 30];
/// How far from the start's a line's evaluation may be, in centipawns: while it is walked, and where it ends.
const LEVEL: [i32; 2] = [400, 100];
/// Nodes searched at each ply, and in the last position.
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

/// A line and the position it leads to; `None` when it is not level: `even` is black's evaluation of the start.
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

/// Black's evaluation as that of the side to move.
fn by_mover(black: i32, plies: usize) -> i32 {
    if plies.is_multiple_of(2) { black } else { -black }
}

fn play(position: &mut Position, usi: &str) -> Result<()> {
    let mv = Move::from_usi(usi).filter(|mv| position.is_legal_move(*mv));
    let mv = mv.with_context(|| format!("the engine's `{usi}` is not legal"))?;
    let full = position.move32_from_move(mv);
    position.try_apply_move32(full).map_err(|fault| anyhow::anyhow!("{usi}: {fault:?}"))
}

/// splitmix64 (Steele, Lea, Flood 2014): the same numbers from the same seed, in every version of this program.
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
        // Debian keeps games off the usual path.
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
        bail!("the engine ended before it said `{word}`")
    }

    fn new_game(&mut self) -> Result<()> {
        self.say("isready")?;
        self.until("readyok", |_| {})?;
        self.say("usinewgame")
    }

    /// The best moves with their scores in centipawns by the side to move, the best first; moves into mate are left
    /// out.
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
