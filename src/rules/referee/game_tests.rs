//! The referee's table, line by line.

use super::*;
use crate::{
    adjudicate::Adjudication,
    clock::{Accounting, TimeControl},
    entry::{Score, Thought},
    ids::GameId,
    rules::Rules,
};

const EVEN: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
/// Black mates with G*5b.
const MATE_IN_ONE: &str = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn setup(start: &str) -> Setup {
    let time = TimeControl { main: ms(10_000), ..TimeControl::default() };
    Setup {
        game: GameId(1),
        rules: Rules::default(),
        adjudication: Adjudication::default(),
        scales: Default::default(),
        times: [time; 2],
        start: start.to_owned(),
        opening: vec![],
        scores: vec![],
        hears: [false; 2],
        may_reject: true,
        seed: 0,
    }
}

fn begin(setup: Setup) -> Game {
    let (mut game, _) = Game::start(setup).unwrap();
    for color in Color::BOTH {
        game.handle(Input::Reply(color, Reply::Ready));
    }
    game
}

fn answer(said: Said, elapsed: Duration) -> Reply {
    Reply::Answer(Answer { said, elapsed, ponders: false, thought: None })
}

fn said(game: &mut Game, said: Said, elapsed: u64) -> Vec<Output> {
    let turn = game.turn();
    game.handle(Input::Reply(turn, answer(said, ms(elapsed))))
}

fn play(game: &mut Game, moves: &str) {
    for mv in moves.split_whitespace() {
        said(game, Said::Move(Move::from_usi(mv).unwrap()), 1);
    }
}

fn after(setup: Setup, moves: &str) -> Option<Outcome> {
    let mut game = begin(setup);
    play(&mut game, moves);
    game.outcome()
}

fn win(winner: Color, by: WinBy) -> Option<Outcome> {
    Some(Outcome::Win { winner, by })
}

#[test]
fn jittered_nodes_differ_from_ply_to_ply_and_game_to_game_and_are_the_same_when_a_game_is_repeated() {
    let asked = |seed| {
        let time =
            TimeControl { nodes: Some(100_000), jitter: 5, patience: ms(1000), ..TimeControl::default() };
        let mut game = begin(Setup { times: [time; 2], seed, ..setup(EVEN) });
        let nodes = |outputs: Vec<Output>| match outputs.last() {
            Some(Output::Tell(_, Order::Go { budget, .. })) => budget.nodes.unwrap(),
            other => panic!("{other:?}"),
        };
        ["7g7f", "3c3d", "2g2f", "8c8d"]
            .map(|mv| nodes(said(&mut game, Said::Move(Move::from_usi(mv).unwrap()), 1)))
    };
    let pairing = |index| crate::pairing::Pairing {
        stage: 0,
        index,
        attempt: 0,
        round: 1,
        pair: index / 2,
        opening: 0,
        black: crate::entry::PlayerId(0),
        white: crate::entry::PlayerId(1),
    };
    let first = asked(pairing(0).seed(1));
    assert_eq!(first, asked(pairing(0).seed(1)));
    assert!(first.iter().all(|nodes| (95_000..=105_000).contains(nodes)), "{first:?}");
    assert!(first.windows(2).all(|two| two[0] != two[1]), "{first:?}");
    assert!(first != asked(pairing(1).seed(1)) && first != asked(pairing(0).seed(2)));
}

#[test]
fn the_clock_starts_only_when_both_are_ready() {
    let (mut game, calls) = Game::start(setup(EVEN)).unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!(game.handle(Input::Reply(Color::White, Reply::Ready)), vec![]);
    assert_eq!(game.allowance(), None);
    let outputs = game.handle(Input::Reply(Color::Black, Reply::Ready));
    assert!(matches!(outputs[..], [Output::Started, Output::Tell(Color::Black, Order::Go { .. })]));
    assert_eq!(game.allowance(), Some(ms(10_000)));
}

#[test]
fn a_late_reply_loses_on_time_with_any_content() {
    let illegal = Said::Move(Move::from_usi("5e5d").unwrap());
    let legal = Said::Move(Move::from_usi("7g7f").unwrap());
    for late in [illegal, legal, Said::Resign, Said::Win, Said::Unreadable("hello".to_owned())] {
        let mut game = begin(setup(EVEN));
        said(&mut game, late, 10_001);
        assert_eq!(game.outcome(), win(Color::White, WinBy::Time));
    }
}

#[test]
fn the_flag_falls_on_the_side_to_move() {
    let mut game = begin(setup(EVEN));
    play(&mut game, "7g7f");
    game.handle(Input::FlagFell);
    assert_eq!(game.outcome(), win(Color::Black, WinBy::Time));
}

#[test]
fn a_side_that_is_gone_loses_even_on_the_opponents_turn() {
    let mut game = begin(setup(EVEN));
    game.handle(Input::Reply(Color::White, Reply::Gone("signal 6".to_owned())));
    assert_eq!(game.outcome(), win(Color::Black, WinBy::Disconnection));
}

#[test]
fn an_engine_that_never_gets_ready_loses() {
    let (mut game, _) = Game::start(setup(EVEN)).unwrap();
    game.handle(Input::Reply(Color::Black, Reply::Gone("no readyok".to_owned())));
    assert_eq!(game.outcome(), win(Color::White, WinBy::Disconnection));
}

#[test]
fn illegal_and_out_of_turn_moves_are_named() {
    let mut game = begin(setup(EVEN));
    let ended = said(&mut game, Said::Move(Move::from_usi("5e5d").unwrap()), 1);
    assert_eq!(game.outcome(), win(Color::White, WinBy::IllegalMove(Foul::NoPiece)));
    assert!(matches!(ended.last(), Some(Output::Ended(_, raw)) if raw == "5e5d"));

    let mut game = begin(setup(EVEN));
    let early = answer(Said::Move(Move::from_usi("3c3d").unwrap()), ms(1));
    game.handle(Input::Reply(Color::White, early));
    assert_eq!(game.outcome(), win(Color::Black, WinBy::IllegalMove(Foul::OutOfTurn)));
}

#[test]
fn mate_ends_the_game_without_asking_the_mated_side() {
    assert_eq!(after(setup(MATE_IN_ONE), "G*5b"), win(Color::Black, WinBy::Mate));
    let mut polite = setup(MATE_IN_ONE);
    polite.rules.mate_ends_game = false;
    assert_eq!(after(polite, "G*5b"), None);
}

#[test]
fn mate_by_the_last_move_is_ruled_as_configured() {
    let ruled = |at_limit| {
        let mut setup = setup(MATE_IN_ONE);
        setup.rules.max_moves = Some(1);
        setup.rules.at_limit = at_limit;
        after(setup, "G*5b")
    };
    assert_eq!(ruled(AtLimit::Draw), Some(Outcome::Draw { by: DrawBy::MaxMoves }));
    assert_eq!(ruled(AtLimit::MateWins), win(Color::Black, WinBy::Mate));
    assert_eq!(ruled(AtLimit::CheckExtends), win(Color::Black, WinBy::Mate));
}

/// The championship of the CSA had a limit of 256 plies in 2015, and white made the last one: mate of black by it counted.
/// In Denryu-sen the last of 512 plies is a draw even if it mates, and a declaration in place of it wins.
#[test]
fn the_last_ply_of_the_limit_is_whites() {
    for (limit, at_limit, ending) in [
        (256, AtLimit::MateWins, win(Color::White, WinBy::Mate)),
        (320, AtLimit::MateWins, win(Color::White, WinBy::Mate)),
        (512, AtLimit::Draw, Some(Outcome::Draw { by: DrawBy::MaxMoves })),
    ] {
        let last = |start: &str| {
            let mut limited = setup(&format!("{start} {limit}"));
            (limited.rules.max_moves, limited.rules.at_limit) = (Some(limit), at_limit);
            limited
        };
        // White mates with G*5h.
        assert_eq!(after(last("4k4/9/9/9/9/9/4p4/9/4K4 w g"), "G*5h"), ending, "{limit} plies");
        let quiet = after(last("4k4/9/9/9/9/9/4p4/9/4K4 w g"), "G*1a");
        assert_eq!(quiet, Some(Outcome::Draw { by: DrawBy::MaxMoves }));
        let mut declares = begin(last("9/4K4/9/9/9/9/ppppp4/4k1sss/1+r+r1g1gg1 w B"));
        said(&mut declares, Said::Win, 1);
        assert_eq!(declares.outcome(), win(Color::White, WinBy::Declaration), "{limit} plies");
    }
}

#[test]
fn play_goes_on_at_the_limit_only_while_in_check_where_check_extends() {
    let mut limited = setup("4k4/9/4P4/9/9/9/9/9/4K4 b G 1");
    limited.rules.max_moves = Some(1);
    limited.rules.at_limit = AtLimit::CheckExtends;
    let mut game = begin(limited);
    play(&mut game, "G*4b");
    assert_eq!(game.outcome(), None, "the king on 5a is in check");
    play(&mut game, "5a4b");
    assert_eq!(game.outcome(), Some(Outcome::Draw { by: DrawBy::MaxMoves }));
}

#[test]
fn the_move_limit_counts_the_opening() {
    let mut setup = setup(EVEN);
    setup.rules.max_moves = Some(3);
    setup.opening = ["7g7f", "3c3d"].map(|mv| Move::from_usi(mv).unwrap()).to_vec();
    assert_eq!(after(setup, "2g2f"), Some(Outcome::Draw { by: DrawBy::MaxMoves }));
}

#[test]
fn repetition_wins_over_the_move_limit() {
    let mut limited = setup(EVEN);
    limited.rules.max_moves = Some(12);
    let shuffle = "5i5h 5a5b 5h5i 5b5a ".repeat(3);
    assert_eq!(after(limited, &shuffle), Some(Outcome::Draw { by: DrawBy::Sennichite }));
}

#[test]
fn an_illegal_opening_is_refused() {
    let mut setup = setup(EVEN);
    setup.opening = vec![Move::from_usi("7g7e").unwrap()];
    let refused = Game::start(setup).err().unwrap().to_string();
    assert_eq!(refused, "move 1 of the opening, `7g7e`, is illegal: illegal-move:unreachable");
}

/// Black may declare: king on 5b, ten pieces in the camp, 28 points.
const DECLARABLE: &str = "1+R+R1G1GG1/4K1SSS/PPPPP4/9/9/9/9/4k4/9 b BBGSNNPPP 1";

#[test]
fn a_declaration_is_judged_by_the_rule_in_force() {
    let declared = |start: &str, declaration| {
        let mut setup = setup(start);
        setup.rules.declaration = declaration;
        let mut game = begin(setup);
        said(&mut game, Said::Win, 1);
        game.outcome()
    };
    assert_eq!(declared(DECLARABLE, Declaration::Csa27), win(Color::Black, WinBy::Declaration));
    assert_eq!(declared(DECLARABLE, Declaration::None), win(Color::White, WinBy::IllegalDeclaration));
    assert_eq!(declared(EVEN, Declaration::Csa27), win(Color::White, WinBy::IllegalDeclaration));
    let fewer = "1+R+R1G1GG1/4K1SSS/PPPPP4/9/9/9/9/4k4/9 b B 1";
    assert_eq!(declared(fewer, Declaration::Csa24), Some(Outcome::Draw { by: DrawBy::Impasse }));
    assert_eq!(declared(fewer, Declaration::Csa27), win(Color::White, WinBy::IllegalDeclaration));
}

#[test]
fn reaching_the_try_square_wins_under_the_try_rule_alone() {
    let start = "9/4K4/9/9/9/9/9/9/k8 b - 1";
    let mut tried = setup(start);
    tried.rules.declaration = Declaration::Try;
    assert_eq!(after(tried, "5b5a"), win(Color::Black, WinBy::Declaration));
    assert_eq!(after(setup(start), "5b5a"), None);
}

#[test]
fn stop_leaves_the_game_uncounted() {
    let mut game = begin(setup(EVEN));
    game.handle(Input::Stop);
    assert_eq!(game.outcome(), Some(Outcome::Aborted { by: AbortBy::Stopped }));
    assert_eq!(game.handle(Input::FlagFell), vec![], "after the end nothing means anything");
}

#[test]
fn scores_end_a_game_only_where_the_event_asks_for_it() {
    let mut setup = setup(EVEN);
    setup.adjudication.resign =
        Some(crate::adjudicate::ResignRule { score: 500, moves: 1, two_sided: false, audit: 0 });
    let mut game = begin(setup);
    let thought = Thought { score: Some(Score::Cp(-600)), ..Thought::default() };
    let reply = Answer {
        said: Said::Move(Move::from_usi("7g7f").unwrap()),
        elapsed: ms(1),
        ponders: false,
        thought: Some(Box::new(thought)),
    };
    game.handle(Input::Reply(Color::Black, Reply::Answer(reply)));
    assert_eq!(game.outcome(), win(Color::White, WinBy::Adjudication));
}

#[test]
fn adjudication_counts_the_scores_from_before_a_game_was_adjourned() {
    let mut setup = setup(EVEN);
    setup.adjudication.resign =
        Some(crate::adjudicate::ResignRule { score: 500, moves: 2, two_sided: false, audit: 0 });
    let ended = |scores: &[Option<Score>]| {
        let opening = ["2g2f", "8c8d", "7g7f"].map(|mv| Move::from_usi(mv).unwrap()).to_vec();
        let mut game = begin(Setup { opening, scores: scores.to_vec(), ..setup.clone() });
        let thought = Some(Box::new(Thought { score: Some(Score::Cp(-600)), ..Thought::default() }));
        let said = Said::Move(Move::from_usi("3c3d").unwrap());
        let answer = Answer { said, elapsed: ms(1), ponders: false, thought };
        game.handle(Input::Reply(Color::White, Reply::Answer(answer)));
        game.outcome()
    };
    assert_eq!(ended(&[Some(Score::Cp(-600)), None]), win(Color::Black, WinBy::Adjudication));
    assert_eq!(ended(&[Some(Score::Cp(-400)), Some(Score::Cp(-600))]), None);
    assert_eq!(ended(&[]), None);
}

#[test]
fn the_position_line_grows_as_usi_has_it() {
    let mut game = begin(setup(EVEN));
    play(&mut game, "7g7f 3c3d");
    let outputs = said(&mut game, Said::Move(Move::from_usi("8h2b+").unwrap()), 1);
    let Some(Output::Tell(Color::White, Order::Go { position, last, .. })) = outputs.last() else { panic!() };
    assert_eq!(position, "startpos moves 7g7f 3c3d 8h2b+");
    assert_eq!(*last, Move::from_usi("8h2b+"));
}

#[test]
fn a_pondering_player_receives_the_clocks_after_its_move() {
    let mut game = begin(setup(EVEN));
    let said = Said::Move(Move::from_usi("7g7f").unwrap());
    let reply = Answer { said, elapsed: ms(400), ponders: true, thought: None };
    let outputs = game.handle(Input::Reply(Color::Black, Reply::Answer(reply)));
    let Some(Output::Tell(Color::Black, Order::Ponder(budget))) = outputs.last() else { panic!() };
    assert_eq!(budget.left, [ms(9600), ms(10_000)]);
}

#[test]
fn time_is_counted_in_whole_seconds_where_configured() {
    let mut setup = setup(EVEN);
    setup.times =
        [TimeControl { main: ms(2000), accounting: Accounting::Seconds, ..TimeControl::default() }; 2];
    let mut game = begin(setup);
    said(&mut game, Said::Move(Move::from_usi("7g7f").unwrap()), 1999);
    assert_eq!(game.outcome(), None);
    said(&mut game, Said::Move(Move::from_usi("3c3d").unwrap()), 2000);
    assert_eq!(game.outcome(), win(Color::Black, WinBy::Time));
}

/// The orders for `side`, abbreviated.
fn told(outputs: &[Output], side: Color) -> Vec<&'static str> {
    let short = |output: &Output| match output {
        Output::Tell(to, Order::Heard(heard)) if *to == side => Some(match heard.word {
            Word::Start => "start",
            Word::Move(_) => "move",
            Word::Resign => "resign",
            Word::Declare => "declare",
            Word::Reject => "reject",
            Word::Expire => "expire",
        }),
        Output::Tell(to, Order::Go { .. }) if *to == side => Some("go"),
        Output::Tell(to, Order::Over(_)) if *to == side => Some("over"),
        _ => None,
    };
    outputs.iter().filter_map(short).collect()
}

#[test]
fn a_side_that_receives_every_word_receives_it_before_the_ruling() {
    let (mut game, _) = Game::start(Setup { hears: [true, false], ..setup(EVEN) }).unwrap();
    game.handle(Input::Reply(Color::Black, Reply::Ready));
    let started = game.handle(Input::Reply(Color::White, Reply::Ready));
    assert_eq!(told(&started, Color::Black), ["start", "go"]);
    let moved = said(&mut game, Said::Move(Move::from_usi("7g7f").unwrap()), 1500);
    assert_eq!((told(&moved, Color::Black), told(&moved, Color::White)), (vec!["move"], vec!["go"]));
    let csa = moved.iter().find_map(|output| match output {
        Output::Tell(_, Order::Heard(Heard { word: Word::Move(mv), .. })) => mv.to_csa(),
        _ => None,
    });
    assert_eq!(csa.as_deref(), Some("+7776FU"));
    let resigned = said(&mut game, Said::Resign, 1);
    assert_eq!(
        (told(&resigned, Color::Black), told(&resigned, Color::White)),
        (vec!["resign", "over"], vec!["over"])
    );
}

#[test]
fn a_game_that_is_rejected_does_not_count() {
    let (mut game, _) = Game::start(Setup { hears: [true; 2], ..setup(EVEN) }).unwrap();
    game.handle(Input::Reply(Color::Black, Reply::Ready));
    let outputs = game.handle(Input::Reply(Color::White, Reply::Rejected { expired: false }));
    assert_eq!(told(&outputs, Color::Black), ["reject", "over"]);
    assert_eq!(game.outcome(), Some(Outcome::Aborted { by: AbortBy::NotStarted }));
}

#[test]
fn a_rejection_in_a_running_game_means_nothing() {
    let mut game = begin(setup(EVEN));
    assert!(game.handle(Input::Reply(Color::White, Reply::Rejected { expired: false })).is_empty());
    assert!(!game.is_over());
}
