//! The referee's table, line by line.

use super::*;
use crate::{
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
    Setup::of(GameId(1), [time; 2], start)
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

/// Black's king and a camp of thirteen pieces worth 21 points; the pieces in hand add theirs.
const CAMP: &str = "1+R+R1G1GG1/4K1SSS/PPPPP4/9/9/9/9/4k4/9";
/// The same for white.
const WHITE_CAMP: &str = "9/4K4/9/9/9/9/ppppp4/4k1sss/1+r+r1g1gg1";

/// The ruling on a declaration under a rule.
fn declares(start: &str, declaration: Declaration) -> Option<Outcome> {
    let mut setup = setup(start);
    // Pieces that are in no place count for nobody.
    (setup.rules.declaration, setup.rules.handicap_credit) = (declaration, false);
    let mut game = begin(setup);
    said(&mut game, Said::Win, 1);
    game.outcome()
}

#[test]
fn points_of_a_declaration_are_counted_to_the_last_one() {
    const DRAWN: Option<Outcome> = Some(Outcome::Draw { by: DrawBy::Impasse });
    let refused = |color: Color| win(!color, WinBy::IllegalDeclaration);
    let allowed = |color: Color| win(color, WinBy::Declaration);
    let (black, white) = (Color::Black, Color::White);
    let (csa24, csa27) = (Declaration::Csa24, Declaration::Csa27);
    for (hand, points, of_24) in
        [("2P", 23, refused(black)), ("3P", 24, DRAWN), ("B4P", 30, DRAWN), ("B5P", 31, allowed(black))]
    {
        assert_eq!(declares(&format!("{CAMP} b {hand} 1"), csa24), of_24, "{points} points of black");
        let hand = hand.to_ascii_lowercase();
        let of_white = match of_24 {
            DRAWN => DRAWN,
            Some(Outcome::Win { winner: Color::Black, .. }) => allowed(white),
            _ => refused(white),
        };
        assert_eq!(
            declares(&format!("{WHITE_CAMP} w {hand} 1"), csa24),
            of_white,
            "{points} points of white"
        );
    }
    // Under the 27-point rule black needs one more than white.
    for (hand, points, of_black, of_white) in [
        ("BP", 27, refused(black), allowed(white)),
        ("B2P", 28, allowed(black), allowed(white)),
        ("B", 26, refused(black), refused(white)),
    ] {
        assert_eq!(declares(&format!("{CAMP} b {hand} 1"), csa27), of_black, "{points} points of black");
        let hand = hand.to_ascii_lowercase();
        assert_eq!(
            declares(&format!("{WHITE_CAMP} w {hand} 1"), csa27),
            of_white,
            "{points} points of white"
        );
    }
}

#[test]
fn enough_points_are_neither_a_win_nor_a_draw_in_check_outside_the_camp_or_with_nine_pieces_there() {
    for start in [
        // A rook gives check on the file that the pawn of the fifth file has left.
        "1+R+R1G1GG1/4K1SSS/PPPP1P3/9/9/9/4r4/4k4/9 b B 1",
        "1+R+R1G1GG1/6SSS/PPPPP4/4K4/9/9/9/4k4/9 b B 1",
        // Nine pieces worth 17 points, 29 with those in hand.
        "1+R+R1G1GG1/4K4/PPPP5/9/9/9/9/4k4/9 b 2B2P 1",
    ] {
        for declaration in [Declaration::Csa24, Declaration::Csa27] {
            assert_eq!(declares(start, declaration), win(Color::White, WinBy::IllegalDeclaration), "{start}");
        }
    }
    let ten = "1+R+R1G1GG1/4K4/PPPPP4/9/9/9/9/4k4/9 b 2BP 1";
    assert_eq!(declares(ten, Declaration::Csa27), win(Color::Black, WinBy::Declaration));
    assert_eq!(declares(ten, Declaration::Csa24), Some(Outcome::Draw { by: DrawBy::Impasse }));
}

#[test]
fn in_a_handicap_game_white_has_credit_for_what_it_gave_if_the_rules_say_so() {
    // White gave a rook and a bishop: 17 points on the board, ten of credit.
    let start = "9/4K4/9/9/9/9/ppppp4/4k1sss/1n1g1gglg w 8p 1";
    let rule = |handicap_credit, declaration| {
        Rules { handicap_credit, declaration, ..Rules::default() }.entering_king_rule()
    };
    use rsshogi::types::EnteringKingRule as Rule;
    for (declaration, with, without) in [
        (Declaration::None, Rule::None, Rule::None),
        (Declaration::Csa27, Rule::Point27Handicap, Rule::Point27),
        (Declaration::Csa24, Rule::Point24Handicap, Rule::Point24),
        (Declaration::Try, Rule::TryRule, Rule::TryRule),
    ] {
        assert_eq!([true, false].map(|credit| rule(credit, declaration)), [with, without], "{declaration:?}");
    }
    let mut plain = setup(start);
    plain.rules.handicap_credit = false;
    let mut game = begin(plain);
    said(&mut game, Said::Win, 1);
    assert_eq!(game.outcome(), win(Color::Black, WinBy::IllegalDeclaration));
}

#[test]
fn a_declaration_that_is_refused_says_which_condition_is_missing() {
    let reason = |start: &str, declaration| {
        let mut setup = setup(start);
        setup.rules.declaration = declaration;
        let mut game = begin(setup);
        match said(&mut game, Said::Win, 1).pop() {
            Some(Output::Ended(_, reason)) => reason,
            other => panic!("{other:?}"),
        }
    };
    let facts = "in check: no, king in the camp: yes, pieces there with the king: 14 of 11, points: 26 of 28";
    assert_eq!(reason(&format!("{CAMP} b B 1"), Declaration::Csa27), facts);
    let checked = "1+R+R1G1GG1/6SSS/PPPP1P3/4K4/9/9/4r4/4k4/9 b B 1";
    let facts = "in check: yes, king in the camp: no, pieces there with the king: 13 of 11, points: 26 of 28";
    assert_eq!(reason(checked, Declaration::Csa27), facts);
    assert_eq!(reason(EVEN, Declaration::None), "no declaration rule is in force");
    assert_eq!(reason(EVEN, Declaration::Try), "the king cannot step onto the try square");
}

#[test]
fn each_side_has_its_own_try_square_and_a_piece_there_is_no_king() {
    let tried = |start: &str, moves: &str| {
        let mut setup = setup(start);
        setup.rules.declaration = Declaration::Try;
        after(setup, moves)
    };
    assert_eq!(tried("9/9/9/9/9/9/9/4k4/8K w - 1", "5h5i"), win(Color::White, WinBy::Declaration));
    assert_eq!(tried("8k/4K4/9/9/9/9/9/9/9 b - 1", "5b4a"), None, "a square beside it");
    assert_eq!(tried("k8/4G4/9/9/9/9/9/9/8K b - 1", "5b5a"), None, "a gold is no king");
    assert_eq!(tried("k8/9/9/9/9/9/9/4K4/9 b - 1", "5h5i"), None, "the square of the other side");
    // A win by reaching it comes before the limit of moves.
    let mut limited = setup("9/4K4/9/9/9/9/9/9/k8 b - 1");
    (limited.rules.declaration, limited.rules.max_moves) = (Declaration::Try, Some(1));
    assert_eq!(after(limited, "5b5a"), win(Color::Black, WinBy::Declaration));
}

#[test]
fn the_limit_is_reached_at_its_last_ply_and_not_before() {
    for at_limit in [AtLimit::Draw, AtLimit::MateWins, AtLimit::CheckExtends] {
        let mut limited = setup(EVEN);
        (limited.rules.max_moves, limited.rules.at_limit) = (Some(4), at_limit);
        let mut game = begin(limited);
        play(&mut game, "7g7f 3c3d 2g2f");
        assert_eq!((game.outcome(), game.plies()), (None, 3));
        play(&mut game, "8c8d");
        assert_eq!(game.outcome(), Some(Outcome::Draw { by: DrawBy::MaxMoves }), "{at_limit:?}");
    }
    let mut endless = setup(EVEN);
    endless.rules.max_moves = None;
    assert_eq!(after(endless, "7g7f 3c3d 2g2f 8c8d"), None);
}

#[test]
fn perpetual_check_loses_before_the_limit_of_moves_draws() {
    let opening = "7g7f 8b7b 8h3c+ 5a5b 8g8f 7a8b 5i4h 7b7a ";
    let mut limited = setup(EVEN);
    limited.rules.max_moves = Some(21);
    let line = opening.to_owned() + &"3c4c 5b5a 4c3c 5a5b ".repeat(4);
    assert_eq!(after(limited, &line), win(Color::White, WinBy::PerpetualCheck));
}

#[test]
fn the_start_counts_as_an_occurrence_only_where_the_rules_say_so() {
    let shuffle = "5i5h 5a5b 5h5i 5b5a ".repeat(3);
    let mut counted = setup(EVEN);
    assert_eq!(after(counted.clone(), &shuffle), Some(Outcome::Draw { by: DrawBy::Sennichite }));
    counted.rules.count_start_position = false;
    assert_eq!(after(counted, &shuffle), None);
}

#[test]
fn a_side_that_is_mated_where_the_game_begins_has_lost_at_once() {
    let mated = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1";
    let mut game = begin(setup(mated));
    assert_eq!(game.outcome(), win(Color::Black, WinBy::Mate));
    assert!(game.handle(Input::FlagFell).is_empty() && game.is_over() && game.allowance().is_none());
    let mut polite = setup(mated);
    polite.rules.mate_ends_game = false;
    assert_eq!(begin(polite).outcome(), None);
}

#[test]
fn one_may_resign_at_any_time_and_do_nothing_else_out_of_turn() {
    let out_of_turn = |said: Said| {
        let mut game = begin(Setup { hears: [true; 2], ..setup(EVEN) });
        let outputs = game.handle(Input::Reply(Color::White, answer(said, ms(700))));
        (game.outcome(), outputs)
    };
    let (outcome, outputs) = out_of_turn(Said::Resign);
    assert_eq!(outcome, win(Color::Black, WinBy::Resignation));
    let heard = |output: &Output| match output {
        Output::Tell(_, Order::Heard(heard)) => Some((heard.color, heard.word, heard.charged)),
        _ => None,
    };
    let free = (Color::White, Word::Resign, Duration::ZERO);
    assert_eq!(outputs.iter().filter_map(heard).collect::<Vec<_>>(), [free; 2], "it costs no time");
    let moved = Said::Move(Move::from_usi("3c3d").unwrap());
    for said in [moved, Said::Win, Said::Unreadable("hm".to_owned())] {
        let named = said.to_string();
        let (outcome, outputs) = out_of_turn(said);
        assert_eq!(outcome, win(Color::Black, WinBy::IllegalMove(Foul::OutOfTurn)));
        assert!(matches!(outputs.last(), Some(Output::Ended(_, raw)) if *raw == named), "{outputs:?}");
    }
    // In its own turn the resignation has its time, and the declaration too.
    for (said, word) in [(Said::Resign, Word::Resign), (Said::Win, Word::Declare)] {
        let mut game = begin(Setup { hears: [false, true], ..setup(EVEN) });
        let outputs = game.handle(Input::Reply(Color::Black, answer(said, ms(700))));
        let heard: Vec<_> = outputs.iter().filter_map(heard).collect();
        assert_eq!(heard, [(Color::Black, word, ms(700))]);
    }
}

#[test]
fn a_flag_that_falls_says_how_long_was_waited_and_an_unreadable_answer_what_it_was() {
    let mut game = begin(setup(EVEN));
    let outputs = game.handle(Input::FlagFell);
    assert!(matches!(outputs.last(), Some(Output::Ended(_, why)) if why == "no reply within 10000 ms"));
    let mut game = begin(setup(EVEN));
    let outputs = said(&mut game, Said::Unreadable("bestmove hm".to_owned()), 1);
    assert_eq!(game.outcome(), win(Color::White, WinBy::IllegalMove(Foul::Unreadable)));
    assert!(matches!(outputs.last(), Some(Output::Ended(_, why)) if why == "bestmove hm"));
    let mut game = begin(setup(EVEN));
    let outputs = said(&mut game, Said::Resign, 10_001);
    assert!(
        matches!(outputs.last(), Some(Output::Ended(_, why)) if why == "`resign` came after 10001 ms of 10000 ms")
    );
}

#[test]
fn who_turns_a_game_down_aborts_it_or_loses_it_and_everybody_hears_how() {
    for (expired, word, why) in
        [(false, Word::Reject, "white rejected it"), (true, Word::Expire, "white did not agree in time")]
    {
        for (may_reject, ending) in [
            (true, Some(Outcome::Aborted { by: AbortBy::NotStarted })),
            (false, win(Color::Black, WinBy::Default)),
        ] {
            let (mut game, _) =
                Game::start(Setup { hears: [true, false], may_reject, ..setup(EVEN) }).unwrap();
            let outputs = game.handle(Input::Reply(Color::White, Reply::Rejected { expired }));
            assert_eq!(game.outcome(), ending);
            let Output::Tell(Color::Black, Order::Heard(heard)) = &outputs[0] else { panic!("{outputs:?}") };
            assert_eq!((heard.color, heard.word), (Color::White, word));
            assert!(matches!(outputs.last(), Some(Output::Ended(_, text)) if text == why), "{outputs:?}");
        }
    }
}

#[test]
fn stop_and_a_ruling_end_a_game_before_and_after_it_has_begun() {
    let ruled = Outcome::Win { winner: Color::White, by: WinBy::Ruling };
    for input in [Input::Stop, Input::Ruled(ruled, "by hand".to_owned())] {
        for ready in [0, 1, 2] {
            let (mut game, _) = Game::start(setup(EVEN)).unwrap();
            for color in Color::BOTH.into_iter().take(ready) {
                game.handle(Input::Reply(color, Reply::Ready));
            }
            assert!(!game.is_over());
            let outputs = game.handle(input.clone());
            let (ending, why) = match &input {
                Input::Ruled(outcome, why) => (*outcome, why.clone()),
                _ => (Outcome::Aborted { by: AbortBy::Stopped }, String::new()),
            };
            assert_eq!(game.outcome(), Some(ending));
            assert_eq!(outputs.last(), Some(&Output::Ended(ending, why)));
            assert_eq!(told(&outputs, Color::Black), ["over"]);
            assert_eq!(told(&outputs, Color::White), ["over"]);
        }
    }
}

#[test]
fn what_comes_before_both_are_ready_or_is_said_twice_decides_nothing() {
    let (mut game, _) = Game::start(setup(EVEN)).unwrap();
    let early = answer(Said::Resign, ms(1));
    assert!(
        game.handle(Input::Reply(Color::Black, early)).is_empty() && game.handle(Input::FlagFell).is_empty()
    );
    assert!(game.handle(Input::Reply(Color::Black, Reply::Ready)).is_empty());
    assert!(game.handle(Input::Reply(Color::Black, Reply::Ready)).is_empty(), "the other one is not ready");
    assert!(!game.handle(Input::Reply(Color::White, Reply::Ready)).is_empty());
    assert!(game.handle(Input::Reply(Color::White, Reply::Ready)).is_empty(), "it runs");
    assert_eq!((game.turn(), game.outcome()), (Color::Black, None));
}

#[test]
fn a_move_is_recorded_with_its_ply_its_times_and_what_is_left() {
    let mut late = setup(EVEN);
    late.opening = ["7g7f", "3c3d"].map(|mv| Move::from_usi(mv).unwrap()).to_vec();
    let mut game = begin(late);
    let said = Said::Move(Move::from_usi("2g2f").unwrap());
    let reply = Answer { said, elapsed: Duration::from_micros(1500), ponders: false, thought: None };
    let outputs = game.handle(Input::Reply(Color::Black, Reply::Answer(reply)));
    let Some(Output::Happened(Entry::Moved(moved))) = outputs.first() else { panic!("{outputs:?}") };
    assert_eq!((moved.game, moved.ply, moved.color), (GameId(1), 3, Color::Black));
    let times = (moved.charged, moved.elapsed, moved.left);
    assert_eq!(times, (ms(1), Duration::from_micros(1500), ms(9999)));
    assert_eq!((game.plies(), game.turn()), (3, Color::White));
    assert_eq!(told(&outputs, Color::White), ["go"]);
    assert!(!outputs.iter().any(|output| matches!(output, Output::Tell(_, Order::Ponder(_)))));
}

#[test]
fn two_games_have_one_hash_of_moves_only_if_their_start_and_their_moves_are_one() {
    let hash = |start: &str, opening: &[&str], moves: &str| {
        let opening = opening.iter().map(|mv| Move::from_usi(mv).unwrap()).collect();
        let mut game = begin(Setup { opening, ..setup(start) });
        play(&mut game, moves);
        game.moves_hash()
    };
    let other = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSN1 b - 1";
    let known = crate::distinct::moves_hash("startpos", ["7g7f", "3c3d"]);
    assert_eq!([hash(EVEN, &[], "7g7f 3c3d"), hash(EVEN, &["7g7f"], "3c3d")], [known; 2]);
    assert_eq!(hash(other, &[], "7g7f"), crate::distinct::moves_hash(other, ["7g7f"]));
    assert_eq!(hash(other, &[], ""), crate::distinct::moves_hash(other, []));
    let different = [hash(EVEN, &[], "7g7f"), hash(EVEN, &[], "7g7f 8c8d"), hash(other, &[], "7g7f 3c3d")];
    assert!(!different.contains(&known));
}

#[test]
fn the_line_of_a_position_has_promotions_drops_and_the_start() {
    let mut game = begin(setup(MATE_IN_ONE));
    let line = |outputs: &[Output]| match outputs.last() {
        Some(Output::Tell(_, Order::Go { position, .. })) => position.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        line(&said(&mut game, Said::Move(Move::from_usi("G*9i").unwrap()), 1)),
        format!("sfen {MATE_IN_ONE} moves G*9i")
    );
    let mut game = begin(setup(EVEN));
    play(&mut game, "7g7f 1c1d 8h3c+");
    let outputs = said(&mut game, Said::Move(Move::from_usi("2b3c").unwrap()), 1);
    assert_eq!(line(&outputs), "startpos moves 7g7f 1c1d 8h3c+ 2b3c");
}

#[test]
fn level_scores_draw_a_game_where_the_event_says_so() {
    let mut level = setup(EVEN);
    level.adjudication.draw = Some(crate::adjudicate::DrawRule { score: 10, plies: 2, from_ply: 2 });
    let mut game = begin(level);
    for usi in ["7g7f", "3c3d"] {
        assert_eq!(game.outcome(), None);
        let thought = Some(Box::new(Thought { score: Some(Score::Cp(10)), ..Thought::default() }));
        let said = Said::Move(Move::from_usi(usi).unwrap());
        let answer = Answer { said, elapsed: ms(1), ponders: false, thought };
        game.handle(Input::Reply(game.turn(), Reply::Answer(answer)));
    }
    assert_eq!(game.outcome(), Some(Outcome::Draw { by: DrawBy::Adjudication }));
}

#[test]
fn only_a_clock_that_runs_has_an_allowance_of_its_own() {
    let untimed = TimeControl { nodes: Some(5), patience: ms(60_000), ..TimeControl::default() };
    let timed = TimeControl { main: ms(900), margin: ms(50), ..TimeControl::default() };
    let game = begin(Setup { times: [untimed, timed], ..setup(EVEN) });
    assert_eq!(game.clock_allowance(Color::Black), None);
    assert_eq!(game.clock_allowance(Color::White), Some(ms(950)));
    assert_eq!((game.allowance(), game.is_ruled_elsewhere()), (Some(ms(60_000)), false));
}
