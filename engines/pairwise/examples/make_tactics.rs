//! Makes `kifu/tactics.sfen`, mates in 1, 3 and 5 and captures that win material, from game records.
//!
//! `cargo run --release -p renmei-pairwise --example make_tactics -- GAMES.. > kifu/tactics.sfen`
//!
//! GAMES are databases of Renmei, record files, or directories of them. A mate is proven by trying every check
//! and every reply; all its first moves are listed. A winning capture is one that searches of 5,000 and of
//! 60,000 nodes both value four pawns or more above every other move, in a position that was roughly even. No
//! two positions come from the same game.

use std::path::Path;
use std::process::ExitCode;

use opening_book::games::{self, Game as Record};
use pairwise::evaluation::Weights;
use pairwise::search::{Outcome, Searcher, Task, is_decided, to_score};
use rsshogi::board::{Move32List, Position, position_from_sfen};
use rsshogi::movegen::{generate_checks_all_move32, generate_legal_all_move32};
use rsshogi::types::Move32;
use usi_shell::{Game, Score};

/// Number of positions per kind.
const WANTED: usize = 10;
const KINDS: [&str; 4] = ["mate 1", "mate 3", "mate 5", "capture"];

fn main() -> ExitCode {
    let mut found: [Vec<String>; 4] = Default::default();
    println!("# sfen, kind, all moves that solve it; made by engines/pairwise/examples/make_tactics.rs");
    for path in std::env::args().skip(1) {
        match games::games(Path::new(&path)) {
            Ok(games) => games.iter().for_each(|game| look_through(game, &mut found)),
            Err(fault) => {
                eprintln!("{fault}");
                return ExitCode::FAILURE;
            }
        }
    }
    found.iter().flatten().for_each(|line| println!("{line}"));
    ExitCode::SUCCESS
}

/// Takes the first position of the game that is of the kind found least often so far.
fn look_through(record: &Record, found: &mut [Vec<String>; 4]) {
    let mut kinds: Vec<usize> = (0..KINDS.len()).filter(|&kind| found[kind].len() < WANTED).collect();
    kinds.sort_by_key(|&kind| found[kind].len());
    for kind in kinds {
        let position = candidates(record, kind)
            .into_iter()
            .find_map(|position| Some((solve(&position, kind)?, position)));
        if let Some((moves, position)) = position {
            let moves: Vec<String> = moves.iter().map(Move32::to_string).collect();
            found[kind].push(format!("{}\t{}\t{}", position.to_sfen(None), KINDS[kind], moves.join(" ")));
            return;
        }
    }
}

/// For mates, positions near the end of a game with the winner to move; for captures, middlegame positions.
fn candidates(record: &Record, kind: usize) -> Vec<Position> {
    let mut all = positions(record);
    match kind {
        3 => all.into_iter().skip(20).step_by(5).take(12).collect(),
        _ => {
            all.truncate(all.len().saturating_sub(2 * kind));
            all.into_iter().rev().step_by(2).take(3).collect()
        }
    }
}

fn positions(record: &Record) -> Vec<Position> {
    let Ok(mut position) = position_from_sfen(&record.start) else { return Vec::new() };
    let mut all = Vec::new();
    for (mv, _) in &record.moves {
        all.push(position.clone_compact());
        let mv = position.move32_from_move(*mv);
        if position.try_apply_move32(mv).is_err() {
            break;
        }
    }
    all
}

fn solve(position: &Position, kind: usize) -> Option<Vec<Move32>> {
    match kind {
        3 => capture(position),
        _ => mates(position, 2 * kind as u32 + 1),
    }
}

/// The first moves of all mates in `plies`, if there is no shorter mate.
fn mates(position: &Position, plies: u32) -> Option<Vec<Move32>> {
    // A short search finds nearly all mates and saves the exhaustive proof where there is none.
    let outcome = search(position, 20_000, 1)?;
    let mates = outcome.moves.first().is_some_and(|best| to_score(best.value) == Score::Mate(plies as i32));
    if !mates {
        return None;
    }
    let mut position = position.clone_compact();
    if plies > 1 && mating_moves(&mut position, plies - 2).next().is_some() {
        return None;
    }
    let moves: Vec<Move32> = mating_moves(&mut position, plies).collect();
    (!moves.is_empty()).then_some(moves)
}

/// The checks after which every reply is mated within the remaining plies.
fn mating_moves(position: &mut Position, plies: u32) -> impl Iterator<Item = Move32> {
    let mut checks = Move32List::new();
    generate_checks_all_move32(position, &mut checks);
    let checks: Vec<Move32> = checks.iter().copied().collect();
    checks.into_iter().filter(move |&mv| {
        // The generator also yields quiet and pseudo-legal moves.
        if !position.gives_check_move32(mv) || position.try_apply_move32(mv).is_err() {
            return false;
        }
        let lost = is_lost(position, plies - 1);
        let _ = position.undo_move32(mv);
        lost
    })
}

/// True if the side to move is mated, now or after any move.
fn is_lost(position: &mut Position, plies: u32) -> bool {
    let mut answers = Move32List::new();
    generate_legal_all_move32(position, &mut answers);
    answers.is_empty() || plies >= 2 && answers.iter().all(|&mv| is_answered(position, mv, plies - 1))
}

fn is_answered(position: &mut Position, mv: Move32, plies: u32) -> bool {
    if position.try_apply_move32(mv).is_err() {
        return true;
    }
    let mated = mating_moves(position, plies).next().is_some();
    let _ = position.undo_move32(mv);
    mated
}

fn search(position: &Position, nodes: u64, lines: usize) -> Option<Outcome> {
    let game = Game::from_sfen(&position.to_sfen(None)).ok()?;
    let task = Task { nodes: Some(nodes), lines, ..Task::default() };
    Some(Searcher::new(4).think(&Weights::material(), &game, &task, |_| true))
}

/// The capture that is clearly best in both a short and a long search.
fn capture(position: &Position) -> Option<Vec<Move32>> {
    clearly_best(position, 5_000)?;
    let mv = clearly_best(position, 60_000)?;
    position.is_capture_move32(mv).then(|| vec![mv])
}

fn clearly_best(position: &Position, nodes: u64) -> Option<Move32> {
    let outcome = search(position, nodes, 2)?;
    let [best, second, ..] = &outcome.moves[..] else { return None };
    let clear = best.value - second.value >= 400 && !is_decided(best.value) && second.value.abs() < 1500;
    clear.then(|| position.move32_from_move(best.line[0]))
}
