//! The embedded network.
#![allow(clippy::unwrap_used)] // tests, helpers included

use renmei_deep::{
    evaluator::{Answer, DeviceChoice, Evaluator, TorchEvaluator, TorchOptions},
    train::{AccuracyOptions, Source, load, measure_file},
};
use rsshogi::{board::MoveList, movegen::generate_legal_all, types::Move};
use std::path::Path;
use usi_shell::Game;

/// The network's evaluations of positions, with their legal moves.
fn asked(positions: &[&str]) -> Vec<(Vec<Move>, Answer)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("weights/small.toml");
    let options = TorchOptions { device: DeviceChoice::Cpu, threads: 1, ..TorchOptions::default() };
    let evaluator = TorchEvaluator::open(Some(&path), &options).unwrap();
    let (moves, questions): (Vec<_>, Vec<_>) = positions
        .iter()
        .map(|line| {
            let game = Game::parse(line).unwrap();
            let mut legal = MoveList::new();
            generate_legal_all(game.position(), &mut legal);
            let question = evaluator.encoding().question(game.position(), legal.as_slice(), 0);
            (legal.as_slice().to_vec(), question)
        })
        .unzip();
    moves.into_iter().zip(evaluator.evaluate(&questions).unwrap()).collect()
}

/// The moves with the highest priors.
fn likeliest((moves, answer): &(Vec<Move>, Answer), count: usize) -> Vec<String> {
    let mut ranked: Vec<_> = moves.iter().zip(&answer.priors).collect();
    ranked.sort_by(|one, other| other.1.total_cmp(one.1));
    ranked.iter().take(count).map(|(mv, _)| mv.to_usi()).collect()
}

#[test]
fn it_knows_how_a_game_begins() {
    let answers = asked(&["position startpos", "position startpos moves 7g7f"]);
    let first = likeliest(&answers[0], 5);
    assert!(["7g7f", "2g2f"].iter().any(|mv| first.contains(&(*mv).to_owned())), "{first:?}");
    let second = likeliest(&answers[1], 5);
    assert!(["3c3d", "8c8d"].iter().any(|mv| second.contains(&(*mv).to_owned())), "{second:?}");
}

#[test]
fn it_takes_back_a_piece() {
    // White has captured the bishop on 8h with a promotion.
    let answers = asked(&["position startpos moves 7g7f 3c3d 1g1f 2b8h+"]);
    let replies = likeliest(&answers[0], 2);
    assert!(replies.iter().any(|mv| mv == "7i8h"), "{replies:?}");
}

#[test]
fn it_knows_who_is_ahead_from_either_side() {
    // One side is a rook and a bishop ahead, with each side to move.
    let board = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
    let lines = [format!("position sfen {board} b RB 1"), format!("position sfen {board} w RB 1")];
    let answers = asked(&[&lines[0], &lines[1]]);
    let (ahead, behind) = (answers[0].1.value, answers[1].1.value);
    assert!(ahead > 0.7 && behind < 0.3, "{ahead} {behind}");
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/data: the lines of strong programs"]
    fn it_names_the_moves_of_strong_programs_as_often_as_its_page_says() {
        let lines = load(&[Source::Lines(testing::oracle("data/floodgate_lines/lines.txt.xz"))]).unwrap();
        assert_eq!((lines.games, lines.broken), (52_792, 1));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("weights/small.toml");
        let torch = TorchOptions { device: DeviceChoice::Cpu, ..TorchOptions::default() };
        let exam = measure_file(&path, lines, &AccuracyOptions { torch, held_out: 5, most: 20_000 }).unwrap();
        let policy = exam.policy.unwrap();
        // Half a point for other float types.
        assert!((policy.top1 - 0.416).abs() < 0.005 && (policy.top5 - 0.792).abs() < 0.005, "{exam}");
    }
}
