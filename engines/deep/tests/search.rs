//! The search with the embedded network.
#![allow(clippy::unwrap_used)] // tests, helpers included

use renmei_deep::{
    evaluator::{DeviceChoice, TorchEvaluator, TorchOptions},
    search::{Outcome, Proven, Searcher, Task},
};
use std::{path::Path, sync::Arc, time::Duration};
use usi_shell::Game;

const TACTICS: &str = include_str!("../../../kifu/tactics.sfen");

fn searcher() -> Searcher {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("weights/small.toml");
    let options = TorchOptions { device: DeviceChoice::Cpu, batch: 8, threads: 1, ..TorchOptions::default() };
    Searcher::new(Arc::new(TorchEvaluator::open(Some(&path), &options).unwrap()), 64 << 20)
}

fn task(playouts: u64) -> Task {
    Task { playouts: Some(playouts), batch: 8, deterministic: true, ..Task::default() }
}

fn think(searcher: &mut Searcher, line: &str, task: &Task) -> Outcome {
    let game = Game::parse(&format!("position {line}")).unwrap();
    searcher.think(&game, task, &mut |_| true).unwrap()
}

#[test]
fn it_opens_as_players_do_and_knows_the_game_is_even() {
    let outcome = think(&mut searcher(), "startpos", &task(200));
    let best = &outcome.progress.moves[0];
    assert!(["7g7f", "2g2f"].contains(&best.mv.to_usi().as_str()), "{best:?}");
    assert!((0.35..0.65).contains(&best.value), "{best:?}");
    assert_eq!(outcome.reply, best.line.get(1).copied());
}

#[test]
fn it_mates_and_wins_pieces() {
    let mut searcher = searcher();
    let (mut solved, mut all) = (0, 0);
    for line in TACTICS.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let outcome = think(&mut searcher, &format!("sfen {}", fields[0]), &task(150));
        let best = &outcome.progress.moves[0];
        let right = fields[2].split(' ').any(|mv| mv == best.mv.to_usi());
        if fields[1].starts_with("mate") {
            assert!(matches!(best.proven, Some(Proven::Win(_))), "{line} {best:?}");
        } else {
            all += 1;
            solved += usize::from(right);
        }
    }
    assert!(solved * 4 >= all * 3, "{solved} of {all}");
}

#[test]
fn two_threads_and_a_solver_work_side_by_side() {
    let task =
        Task { threads: 2, deterministic: false, report_interval: Duration::from_millis(1), ..task(300) };
    let mut reported = 0;
    let game = Game::startpos();
    let outcome = searcher()
        .think(&game, &task, &mut |progress| {
            assert!(progress.visits >= reported);
            reported = progress.visits;
            true
        })
        .unwrap();
    let progress = outcome.progress;
    assert_eq!((progress.playouts, progress.visits), (300, 300));
    assert!(progress.evaluations > 150 && reported > 0);
}
