//! Playouts with a uniform evaluator, where only the rules determine the result.

use super::*;
use crate::{
    evaluator::{Answer, UniformEvaluator},
    search::{Proven, Terms},
};
use rsshogi::types::EnteringKingRule;
use usi_shell::Game;

fn parameters() -> Parameters {
    Parameters { descent: 150.0, backup: 50.0, policy: 0.0, cut: 0.0, mate: true, terms: Terms::default() }
}

/// Runs this many playouts, each with immediate evaluation.
fn searched(
    position: &str,
    parameters: Parameters,
    playout_count: usize,
    table: &mut Table,
) -> (Vec<(Move, f32)>, Option<Proven>) {
    let game = Game::parse(&format!("position {position}")).unwrap();
    let evaluator = UniformEvaluator::new(8);
    let unknown = Answer { priors: vec![], value: 0.5 };
    let mut playouts = Playouts::new(table, &game, &unknown, parameters, evaluator.encoding());
    let mut rng = SplitMix64::new(3);
    for _ in 0..playout_count {
        if let PlayoutEnd::Expanded(expansion, questions) = playouts.run(&mut rng) {
            let answers = evaluator.evaluate(&questions).unwrap();
            playouts.evaluated(&expansion, &answers);
        }
    }
    let moves = playouts.moves().into_iter().map(|choice| (choice.mv, choice.value)).collect();
    (moves, playouts.proof())
}

fn table() -> Table {
    Table::new(1 << 26)
}

#[test]
fn replies_below_the_policy_cut_are_not_evaluated_and_prove_nothing() {
    let asked = |cut: f32| {
        let (game, mut table) = (Game::startpos(), table());
        let mut answer = Answer { priors: vec![0.01; 30], value: 0.5 };
        answer.priors[7] = 0.71;
        let encoding = UniformEvaluator::new(8).encoding();
        let mut playouts =
            Playouts::new(&mut table, &game, &answer, Parameters { cut, ..parameters() }, encoding);
        let PlayoutEnd::Expanded(expansion, questions) = playouts.run(&mut SplitMix64::new(3)) else {
            panic!()
        };
        let won = Answer { priors: vec![], value: 1.0 };
        playouts.evaluated(&expansion, &vec![won; questions.len()]);
        assert!(playouts.proof().is_none());
        (questions.len(), playouts.moves().len())
    };
    assert_eq!([asked(0.0), asked(0.01), asked(0.02)], [(30, 30), (30, 30), (1, 1)]);
}

/// Mate with two rooks; black also has its king, white nothing else.
const MATE_IN_THREE: &str = "sfen 4k4/9/9/9/9/9/9/R8/1R2K4 b - 1";

#[test]
fn a_mate_in_three_is_proven() {
    let (moves, proof) = searched(MATE_IN_THREE, parameters(), 600, &mut table());
    assert!(matches!(proof, Some(Proven::Win(plies)) if plies >= 3), "{proof:?} {moves:?}");
    assert!((moves[0].1 - 1.0).abs() < 1e-6);
}

#[test]
fn a_repetition_has_the_value_of_the_rules() {
    // After the rook shuffles, moving back once more repeats the position.
    let cycle = "startpos moves 2h3h 8b7b 3h2h 7b8b 2h3h 8b7b 3h2h";
    let terms = Terms { draw_black: 0.9, draw_white: 0.1, ..Terms::default() };
    let (moves, _) = searched(cycle, Parameters { terms, ..parameters() }, 40, &mut table());
    let back = moves.iter().find(|(mv, _)| mv.to_usi() == "7b8b").unwrap();
    assert!((back.1 - 0.1).abs() < 1e-6, "{back:?}");
}

#[test]
fn repetitions_do_not_corrupt_the_shared_table() {
    let mut shared = table();
    searched("startpos moves 2h3h 8b7b", parameters(), 40, &mut shared);
    let terms = Terms { draw_black: 0.8, draw_white: 0.2, ..Terms::default() };
    // 3h2h and then 7b8b repeat the start position.
    let repeated = "startpos moves 2h3h 8b7b 3h2h";
    let (moves, _) = searched(repeated, Parameters { terms, ..parameters() }, 40, &mut shared);
    let back = moves.iter().find(|(mv, _)| mv.to_usi() == "7b8b").unwrap();
    assert!((back.1 - 0.2).abs() < 1e-6, "{back:?}");
}

#[test]
fn perpetual_check_loses() {
    // The rook checks from 3c and 4c in turn while the king moves to and fro.
    let game = "startpos moves 7g7f 8b7b 8h3c+ 5a5b 8g8f 7a8b 5i4h 7b7a \
                3c4c 5b5a 4c3c 5a5b 3c4c 5b5a 4c3c 5a5b";
    let (moves, _) = searched(game, parameters(), 50, &mut table());
    let check = moves.iter().find(|(mv, _)| mv.to_usi() == "3c4c").unwrap();
    assert!(check.1 < 1e-6, "{check:?}");
}

#[test]
fn the_last_ply_of_a_game_draws() {
    let terms = Terms { max_moves: 2, draw_black: 0.3, draw_white: 0.7, declaration: EnteringKingRule::None };
    let (moves, _) = searched("startpos moves 7g7f", Parameters { terms, ..parameters() }, 20, &mut table());
    assert!(moves.iter().all(|(_, value)| (value - 0.7).abs() < 1e-6), "{moves:?}");
}

#[test]
fn among_moves_of_equal_value_the_highest_prior_is_best() {
    let game = Game::startpos();
    let evaluator = UniformEvaluator::new(8);
    let mut priors = vec![0.1 / 29.0; 30];
    priors[7] = 0.9;
    let likes = Answer { priors, value: 0.5 };
    let best = |policy: f32| {
        let mut table = table();
        let parameters = Parameters { policy, ..parameters() };
        let mut playouts = Playouts::new(&mut table, &game, &likes, parameters, evaluator.encoding());
        let PlayoutEnd::Expanded(expansion, questions) = playouts.run(&mut SplitMix64::new(1)) else {
            panic!()
        };
        playouts.evaluated(&expansion, &evaluator.evaluate(&questions).unwrap());
        playouts.moves()[0].mv
    };
    assert_eq!(best(1.0), crate::player::legal(game.position())[7]);
    assert_ne!(best(0.0), best(1.0));
}
