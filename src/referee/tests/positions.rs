//! The referee against 5,200 positions whose legal moves four independent programs agree on.

use referee::{
    Color, Foul, Outcome, WinBy,
    adjudicate::Adjudication,
    clock::TimeControl,
    event::GameId,
    game::{Answer, Game, Input, Reply, Said, Setup},
    rules::Rules,
};
use rsshogi::types::{Move, PieceType, Square};
use std::{collections::HashSet, fs, path::Path, time::Duration};

/// A game at `sfen` in which nothing but legality decides.
fn game(sfen: &str) -> Game {
    let setup = Setup {
        game: GameId(1),
        rules: Rules { max_moves: None, mate_ends_game: false, ..Rules::default() },
        adjudication: Adjudication::default(),
        times: [TimeControl { patience: Duration::from_secs(1), ..TimeControl::default() }; 2],
        start: sfen.to_owned(),
        opening: vec![],
        hears: [false; 2],
        may_reject: true,
    };
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

#[test]
fn every_legal_move_is_accepted_and_every_other_one_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/positions_a.tsv");
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("skipped: no {}", path.display());
        return;
    };
    let every = every_move();
    let mut checked = 0;
    for (number, line) in text.lines().enumerate() {
        let [sfen, _, moves, _, is_mate, declaration] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("line {} has other columns", number + 1)
        };
        let legal: HashSet<&str> = moves.split_whitespace().collect();
        let position = game(sfen);
        // Each writable move against the rule itself; every legal one, and every hundredth other, as a reply in a game.
        for &mv in &every {
            let usi = mv.to_usi();
            let expected = legal.contains(usi.as_str());
            assert_eq!(position.position().is_legal_move(mv), expected, "{sfen}: {usi}");
            if expected || checked % 101 == 0 {
                assert_eq!(!is_foul(ruling(sfen, Said::Move(mv))), expected, "{sfen}: {usi}");
            }
            checked += 1;
        }
        let declared = ruling(sfen, Said::Win).and_then(Outcome::winner) == Some(position.turn());
        assert_eq!(declared, declaration == "1", "{sfen}: declaration");
        assert_eq!(position.position().is_mated(), is_mate == "1", "{sfen}: mate");
    }
    println!("{checked} moves in {} positions", text.lines().count());
}

#[test]
fn our_own_handful_of_positions_is_ruled_as_the_rules_have_it() {
    // It is illegal to drop a second pawn on a file, mate by dropping a pawn, or leave the king in check.
    let nifu = "4k4/9/9/9/4P4/9/9/9/4K4 b P 1";
    assert!(is_foul(ruling(nifu, Said::Move(Move::from_usi("P*5c").expect("a move")))));
    assert_eq!(ruling(nifu, Said::Move(Move::from_usi("P*4c").expect("a move"))), None);
}
