//! The referee against positions whose legal moves are known: our own golden ones, and an oracle of 5,200 on whose moves
//! four independent programs agree.

use referee::{
    Color, Foul, Outcome, WinBy,
    clock::TimeControl,
    entry::GameId,
    game::{Answer, Game, Input, Reply, Said, Setup},
    rules::Rules,
};
use rsshogi::types::{Move, PieceType, Square};
use std::{collections::HashMap, fs, time::Duration};
use testing::Listed;

/// A game at `sfen` in which nothing but legality decides.
fn game(sfen: &str) -> Game {
    let rules = Rules { max_moves: None, mate_ends_game: false, ..Rules::default() };
    let times = [TimeControl { patience: Duration::from_secs(1), ..TimeControl::default() }; 2];
    let setup = Setup { rules, ..Setup::of(GameId(1), times, sfen) };
    let (mut game, _) = Game::start(setup).expect("the position is a position");
    for color in Color::BOTH {
        game.handle(Input::Reply(color, Reply::Ready));
    }
    game
}

/// The ruling of the referee on one answer.
fn ruling(sfen: &str, said: Said) -> Option<Outcome> {
    let mut game = game(sfen);
    let answer = Answer { said, elapsed: Duration::ZERO, ponders: false, thought: None };
    game.handle(Input::Reply(game.turn(), Reply::Answer(answer)));
    game.outcome()
}

fn is_foul(outcome: Option<Outcome>) -> bool {
    matches!(outcome, Some(Outcome::Win { by: WinBy::IllegalMove(foul), .. }) if foul != Foul::OutOfTurn)
}

/// Every move that can be written: from and to, with and without promotion, and every drop.
fn every_move() -> Vec<Move> {
    let squares: Vec<Square> = Square::iter().collect();
    let pairs = squares.iter().flat_map(|&from| squares.iter().map(move |&to| (from, to)));
    let moves = pairs.flat_map(|(from, to)| [Move::normal(from, to), Move::promotion(from, to)]);
    let drops = PieceType::hand_pieces().flat_map(|p| squares.iter().map(move |&to| Move::drop(p, to)));
    moves.chain(drops).filter(|mv| mv.is_normal()).collect()
}

/// Every writable move is legal or not as these positions list it.
fn are_ruled_as_listed(positions: &[Listed]) {
    let every = every_move();
    let written: HashMap<String, usize> =
        every.iter().enumerate().map(|(place, mv)| (mv.to_usi(), place)).collect();
    let mut checked = 0;
    for Listed { sfen, moves, is_mate, declares } in positions {
        let mut legal = vec![false; every.len()];
        moves.iter().for_each(|usi| legal[written[usi]] = true);
        let position = game(sfen);
        // Each writable move against the rule itself; every legal one, and every hundredth other, as a reply in a game.
        for (&mv, &expected) in every.iter().zip(&legal) {
            assert_eq!(position.position().is_legal_move(mv), expected, "{sfen}: {}", mv.to_usi());
            if expected || checked % 101 == 0 {
                assert_eq!(!is_foul(ruling(sfen, Said::Move(mv))), expected, "{sfen}: {}", mv.to_usi());
            }
            checked += 1;
        }
        let declared = ruling(sfen, Said::Win).and_then(Outcome::winner) == Some(position.turn());
        assert_eq!(declared, *declares, "{sfen}: declaration");
        assert_eq!(position.position().is_mated(), *is_mate, "{sfen}: mate");
    }
    println!("{checked} moves in {} positions", positions.len());
}

#[test]
fn every_legal_move_of_the_golden_positions_is_accepted_and_every_other_one_refused() {
    let positions = testing::positions();
    assert!(positions.len() > 300 && positions.iter().any(|listed| listed.is_mate));
    assert!(positions.iter().any(|listed| listed.declares));
    let (rare, usual) = positions.split_at(RARE.len());
    are_ruled_as_listed(rare);
    are_ruled_as_listed(&usual.iter().step_by(testing::repetitions(1, 3)).cloned().collect::<Vec<_>>());
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/data: 5,200 positions on whose moves four programs agree"]
    fn every_legal_move_is_accepted_and_every_other_one_refused() {
        are_ruled_as_listed(&testing::oracle_positions());
    }
}

/// Positions that random games hardly reach: mates, declarations, drops that are no moves.
const RARE: [&str; 10] = [
    "4k4/9/9/9/4P4/9/9/9/4K4 b P 1",
    "8k/6G2/8G/9/9/9/9/9/4K4 b P 1",
    "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1",
    "k8/PG7/9/9/9/9/9/9/K8 w - 1",
    "4k4/9/9/3+B+B4/9/3GGG3/3G1G3/9/4K4 b RS2N2L3Prs 1",
    "k8/3ggg3/3g1g3/9/4p4/3+p1+r3/5+r3/9/K8 w 2b2s 1",
    "RBGSNL3/PPPPK4/R1B6/9/9/9/9/9/4k4 b GSNLP 1",
    "RBGSNL3/PPP1K4/R1B6/9/9/9/9/9/4k4 b GSNLP 1",
    "4K4/9/9/9/9/9/r1b6/ppppk4/rbgsnl3 w gsnlp 1",
    "4k4/9/9/9/9/9/9/4r4/4K4 b 2PLN 1",
];

#[test]
#[ignore = "writes src/tests/testing/positions.tsv"]
fn golden_positions_are_written_again() {
    use rsshogi::{board::MoveList, movegen::generate_legal_all, types::Move32};
    let mut seed = 20_260_101_u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut sfens: Vec<String> = RARE.map(str::to_owned).to_vec();
    for _ in 0..30 {
        let mut position = rsshogi::board::hirate_position();
        position.init_stack();
        for ply in 0..280 {
            let mut legal = MoveList::new();
            generate_legal_all(&position, &mut legal);
            let legal: Vec<Move> = legal.iter().copied().collect();
            // Mates, checks, and one position in 24 of the others.
            if legal.is_empty() || position.is_in_check() && below(3) == 0 || ply % 24 == 23 {
                sfens.push(position.to_sfen(None));
            }
            if legal.is_empty() {
                break;
            }
            let mv = legal[below(legal.len())];
            position.apply_move32(Move32::from_move_with_piece(mv, position.moved_piece_after_move(mv)));
        }
    }
    let listed = sfens.iter().map(|sfen| {
        let position = game(sfen);
        let mut moves: Vec<String> = every_move()
            .into_iter()
            .filter(|mv| !is_foul(ruling(sfen, Said::Move(*mv))))
            .map(|mv| mv.to_usi())
            .collect();
        moves.sort();
        let declares = ruling(sfen, Said::Win).and_then(Outcome::winner) == Some(position.turn());
        Listed { sfen: sfen.clone(), is_mate: moves.is_empty(), moves, declares }.to_string() + "\n"
    });
    fs::write(testing::file("positions.tsv"), listed.collect::<String>()).expect("it can be written");
}

#[test]
fn our_own_handful_of_positions_is_ruled_as_the_rules_have_it() {
    // It is illegal to drop a second pawn on a file, mate by dropping a pawn, or leave the king in check.
    let nifu = "4k4/9/9/9/4P4/9/9/9/4K4 b P 1";
    assert!(is_foul(ruling(nifu, Said::Move(Move::from_usi("P*5c").expect("a move")))));
    assert_eq!(ruling(nifu, Said::Move(Move::from_usi("P*4c").expect("a move"))), None);
}
