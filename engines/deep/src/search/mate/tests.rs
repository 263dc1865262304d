use super::*;
use rsshogi::movegen::generate_legal_all;
use usi_shell::SplitMix64;

const TACTICS: &str = include_str!("../../../../../kifu/tactics.sfen");

/// Positions of a kind, with all first moves that solve them.
fn problems(kind: &str) -> Vec<(Game, Vec<&'static str>)> {
    let problem = |line: &'static str| {
        let mut fields = line.split('\t');
        let game = Game::from_sfen(fields.next()?).ok()?;
        (fields.next()? == kind).then_some(())?;
        Some((game, fields.next()?.split(' ').collect()))
    };
    TACTICS.lines().filter_map(problem).collect()
}

fn quick(game: &Game, nodes: u64) -> Mate {
    Solver::new(1 << 14).solve(game.position(), nodes, &|| false)
}

fn mate_of(game: &Game) -> Vec<Move> {
    match quick(game, 100_000) {
        Mate::Moves(line) => line,
        other => panic!("{other:?} {}", game.position().to_sfen(None)),
    }
}

/// Asserts that the line consists of checks and replies and ends with mate.
fn assert_mates(game: &Game, line: &[Move]) {
    let mut position = game.position().clone();
    for (ply, &mv) in line.iter().enumerate() {
        assert!(position.is_legal_move(mv), "{} at {ply}", mv.to_usi());
        position.apply_move32(position.move32_from_move(mv));
        assert_eq!(position.is_in_check(), ply % 2 == 0, "{} at {ply}", mv.to_usi());
    }
    assert!(position.is_mated());
}

#[test]
fn the_solver_finds_all_mates_of_the_tactics() {
    for plies in [1, 3, 5] {
        let problems = problems(&format!("mate {plies}"));
        assert!(!problems.is_empty());
        for (game, solutions) in problems {
            let line = mate_of(&game);
            assert_mates(&game, &line);
            assert!(line.len() >= plies);
            let first = line[0].to_usi();
            assert!(line.len() > plies || solutions.contains(&first.as_str()), "{first} {solutions:?}");
        }
    }
}

#[test]
fn the_short_search_finds_mates_of_its_length_and_no_others() {
    for (plies, found) in [(1, Some(1)), (3, Some(3)), (5, None)] {
        for (game, _) in problems(&format!("mate {plies}")) {
            let mut position = game.position().clone();
            assert_eq!(short(&mut position, 3), found, "{}", position.to_sfen(None));
            assert_eq!(short(&mut position, 1), found.filter(|&plies| plies == 1));
            assert_eq!(position.to_sfen(None), game.position().to_sfen(None));
        }
    }
}

/// True if exhaustive search finds a mate by checks in this many plies.
fn tried(position: &mut Position, plies: u32) -> bool {
    let mut moves = rsshogi::board::MoveList::new();
    generate_legal_all(position, &mut moves);
    moves.iter().any(|&mv| {
        let mv = position.move32_from_move(mv);
        position.apply_move32(mv);
        let mates = position.is_in_check() && refuted(position, plies - 1);
        back(position, mv);
        mates
    })
}

fn refuted(position: &mut Position, plies: u32) -> bool {
    let mut answers = rsshogi::board::MoveList::new();
    generate_legal_all(position, &mut answers);
    answers.iter().all(|&mv| {
        let mv = position.move32_from_move(mv);
        position.apply_move32(mv);
        let mates = plies > 1 && tried(position, plies - 1);
        back(position, mv);
        mates
    })
}

/// Positions of random play, with many pieces in hand.
fn random_positions(seed: u64, games: usize) -> Vec<Game> {
    let mut rng = SplitMix64::new(seed);
    let mut found = Vec::new();
    for _ in 0..games {
        let mut game = Game::startpos();
        for ply in 0..140 {
            let mut moves = rsshogi::board::MoveList::new();
            generate_legal_all(game.position(), &mut moves);
            let Some(mv) = rng.choose(moves.as_slice()) else { break };
            game.play(&mv.to_usi()).unwrap();
            if ply > 60 && ply % 7 == 0 {
                found.push(Game::from_sfen(&game.position().to_sfen(None)).unwrap());
            }
        }
    }
    found
}

#[test]
fn short_search_and_solver_agree_with_exhaustive_search() {
    let (mut mates, mut longest) = (0, 0);
    for game in random_positions(5, 40) {
        let mut position = game.position().clone();
        let expected = tried(&mut position, 3);
        assert_eq!(short(&mut position, 3).is_some(), expected, "{}", position.to_sfen(None));
        match quick(&game, 20_000) {
            Mate::Moves(line) => {
                assert_mates(&game, &line);
                longest = longest.max(line.len());
            }
            other => assert!(!expected, "{other:?} {}", position.to_sfen(None)),
        }
        mates += usize::from(expected);
    }
    assert!(mates > 5 && longest > 8, "{mates} {longest}");
}

#[test]
fn a_position_without_a_mate_is_refuted() {
    assert_eq!(quick(&Game::startpos(), 1_000), Mate::NoMate);
    let mated = Game::from_sfen("4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1").unwrap();
    assert_eq!(quick(&mated, 1_000), Mate::NoMate);
}

#[test]
fn a_pawn_drop_is_no_mate() {
    // The pawn drop would be uchifuzume; the gold at its side mates.
    let game = Game::from_sfen("3sks3/9/4G4/9/9/9/9/9/4K4 b P 1").unwrap();
    let Mate::Moves(line) = quick(&game, 10_000) else { return };
    assert!(!line[0].is_drop());
}

#[test]
fn the_solver_ends_when_stopped_or_at_its_node_limit() {
    let (game, _) = problems("mate 5").remove(0);
    assert_eq!(quick(&game, 2), Mate::Unknown);
    let stopped = Solver::new(1 << 10).solve(game.position(), u64::MAX, &|| true);
    assert!(matches!(stopped, Mate::Unknown | Mate::Moves(_)));
}

#[test]
fn a_mate_is_found_in_a_table_that_is_far_too_small() {
    for (game, _) in problems("mate 5") {
        match Solver::new(64).solve(game.position(), 200_000, &|| false) {
            Mate::Moves(line) => assert_mates(&game, &line),
            other => assert_eq!(other, Mate::Unknown),
        }
    }
}

#[test]
fn the_attackers_king_may_be_missing() {
    let game = Game::from_sfen("4k4/9/4P4/9/9/9/9/9/9 b G 1").unwrap();
    assert_eq!(mate_of(&game), vec![Move::from_usi("G*5b").unwrap()]);
}
