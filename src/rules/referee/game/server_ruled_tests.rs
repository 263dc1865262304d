//! Server-ruled games, ruling by ruling.

use super::*;
use crate::game::{Authority, Game, Setup};
use crate::{
    clock::{Accounting, TimeControl},
    entry::GameId,
    opening::EVEN,
};
use Color::{Black, White};

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn setup(start: &str) -> Setup {
    let time = TimeControl {
        main: secs(300),
        increment: secs(10),
        accounting: Accounting::Seconds,
        ..TimeControl::default()
    };
    Setup::of(GameId(1), [time; 2], start)
}

fn terms() -> ServerRuled {
    ServerRuled {
        server: White,
        left: [secs(300); 2],
        lag: Duration::from_millis(250),
        declares: false,
        restarts: 1,
    }
}

/// Our seat has black and was asked for a move.
fn begun(start: &str, terms: ServerRuled) -> (Game, Vec<Output>) {
    let (mut game, calls) = Game::start_under(setup(start), Authority::Server(terms)).unwrap();
    assert!(matches!(calls[..], [Output::Tell(Black, Order::NewGame { .. })]), "{calls:?}");
    let called = game.handle(Input::Reply(Black, Reply::Ready));
    assert!(matches!(called[..], [Output::Tell(White, Order::NewGame { .. })]), "{called:?}");
    let started = game.handle(Input::Reply(White, Reply::Ready));
    (game, started)
}

fn mv(text: &str) -> Said {
    Said::Move(Move::from_usi(text).unwrap())
}

fn answer(said: Said) -> Input {
    Input::Reply(Black, Reply::Answer(Answer { said, elapsed: secs(3), ponders: false, thought: None }))
}

fn ruled(color: Color, said: Said, charged: u64) -> Input {
    let lag = Duration::from_millis(500);
    let (raw, charged) = (said.to_string(), Some(secs(charged)));
    let ruled = RuledMove { color, said, raw, charged, elapsed: secs(4), lag, passed: Duration::ZERO };
    Input::Reply(White, Reply::Ruled(Ruling::Moved(ruled)))
}

fn gone(color: Color) -> Input {
    Input::Reply(color, Reply::Gone("it is gone".to_owned()))
}

fn asked(outputs: &[Output]) -> Budget {
    match outputs {
        [.., Output::Tell(Black, Order::Go { budget, .. })] => *budget,
        other => panic!("nobody is asked: {other:?}"),
    }
}

fn submits(outputs: &[Output], said: &Said) -> bool {
    matches!(outputs, [.., Output::Tell(White, Order::Submit(answer))] if answer.said == *said)
}

#[test]
fn our_move_counts_when_the_server_echoes_it_with_the_servers_time() {
    let (mut game, started) = begun(EVEN, terms());
    assert_eq!(asked(&started).left, [secs(300) - Duration::from_millis(250), secs(300)]);
    assert!(submits(&game.handle(answer(mv("7g7f"))), &mv("7g7f")));
    assert_eq!(
        (game.plies(), game.allowance()),
        (0, Some(word())),
        "what is submitted waits for the server alone"
    );
    let told = game.handle(ruled(Black, mv("7g7f"), 5));
    let [Output::Happened(Entry::Moved(moved))] = &told[..] else { panic!("{told:?}") };
    assert_eq!((moved.charged, moved.elapsed, moved.left), (secs(5), secs(3), secs(305)));
    let told = game.handle(ruled(White, mv("3c3d"), 20));
    let lag = Duration::from_millis(500);
    assert_eq!(asked(&told).left, [secs(305) - lag, secs(290)]);
}

#[test]
fn a_game_that_goes_on_has_the_time_that_is_left() {
    let left = [secs(0), secs(7)];
    let (_, started) = begun(EVEN, ServerRuled { left, ..terms() });
    let budget = asked(&started);
    assert_eq!(budget.left, left);
    assert_eq!(
        budget.increment[0],
        secs(10) - Duration::from_millis(250),
        "the lag is taken from what is there"
    );
}

#[test]
fn an_illegal_answer_is_never_sent_but_resigned_with_a_fault() {
    for (bad, name) in [
        (mv("7g7e"), "illegal-move:unreachable"),
        (Said::Unreadable("bestmove hello".to_owned()), "illegal-move:unreadable"),
        (Said::Win, "illegal-declaration"),
    ] {
        let (mut game, _) = begun(EVEN, terms());
        let outputs = game.handle(answer(bad));
        assert!(submits(&outputs, &Said::Resign));
        assert!(matches!(&outputs[0], Output::Fault(Black, text) if text.contains(name)), "{outputs:?}");
        assert!(!game.is_over(), "the server ends it");
    }
}

#[test]
fn the_game_ends_by_the_servers_word_alone() {
    let (mut game, _) = begun(EVEN, terms());
    game.handle(answer(Said::Resign));
    assert!(!game.is_over());
    let outcome = Outcome::loss(Black, WinBy::Resignation);
    let words = "#RESIGN #LOSE".to_owned();
    let outputs = game.handle(Input::Reply(White, Reply::Ruled(Ruling::Ended { outcome, words })));
    assert_eq!(game.outcome(), Some(outcome));
    assert!(matches!(outputs.last(), Some(Output::Ended(_, words)) if words == "#RESIGN #LOSE"));
}

#[test]
fn a_servers_move_that_no_referee_would_let_stand_ends_the_game_with_its_line() {
    for (color, bad) in [(White, mv("3c3d")), (Black, mv("7g7e")), (Black, mv("2g2f"))] {
        let (mut game, _) = begun(EVEN, terms());
        game.handle(answer(mv("7g7f")));
        let outputs = game.handle(ruled(color, bad.clone(), 1));
        assert_eq!(game.outcome(), Some(Outcome::Aborted { by: AbortBy::Server }));
        let raw = bad.to_string();
        assert!(matches!(&outputs[0], Output::Fault(White, text) if text.contains(&raw)), "{outputs:?}");
    }
}

#[test]
fn a_seat_that_is_gone_begins_anew_and_is_asked_again_and_then_we_resign() {
    let (mut game, _) = begun(EVEN, terms());
    let outputs = game.handle(gone(Black));
    assert!(matches!(outputs[..], [Output::Fault(Black, _), Output::Tell(Black, Order::NewGame { .. })]));
    let again = game.handle(Input::Reply(Black, Reply::Ready));
    assert!(matches!(again[..], [Output::AskAgain(Black, Order::Go { .. })]), "{again:?}");
    let outputs = game.handle(gone(Black));
    assert!(submits(&outputs, &Said::Resign) && matches!(outputs[0], Output::Fault(Black, _)));
}

#[test]
fn a_seat_that_begins_anew_in_the_opponents_time_is_asked_once() {
    let (mut game, _) = begun(EVEN, terms());
    game.handle(answer(mv("7g7f")));
    game.handle(gone(Black));
    game.handle(ruled(Black, mv("7g7f"), 5));
    let outputs = game.handle(ruled(White, mv("3c3d"), 5));
    assert!(matches!(outputs[..], [Output::Happened(_)]), "it is not ready: {outputs:?}");
    let again = game.handle(Input::Reply(Black, Reply::Ready));
    assert!(matches!(again[..], [Output::AskAgain(Black, _)]));
}

#[test]
fn a_line_that_breaks_decides_nothing() {
    let (mut game, _) = begun(EVEN, terms());
    game.handle(gone(White));
    assert_eq!(game.outcome(), Some(Outcome::Aborted { by: AbortBy::Server }));
}

#[test]
fn leaving_is_resigning_and_waiting_for_the_word() {
    let (mut game, _) = begun(EVEN, terms());
    assert!(submits(&game.handle(Input::Stop), &Said::Resign));
    assert!(!game.is_over());
    game.handle(Input::FlagFell);
    assert_eq!(game.outcome(), Some(Outcome::Aborted { by: AbortBy::Stopped }), "nobody waits for ever");
}

#[test]
fn a_win_that_can_be_declared_is_declared_without_asking() {
    // Ten pieces besides the king in the camp, 28 points.
    let entered = "RBGSNL3/PPPPK4/R1B6/9/9/9/9/9/4k4 b GSNL2g2s2n2l14p 1";
    let (_, started) = begun(entered, ServerRuled { declares: true, ..terms() });
    assert!(submits(&started, &Said::Win), "{started:?}");
    let (mut game, started) = begun(entered, terms());
    asked(&started);
    assert!(submits(&game.handle(answer(Said::Win)), &Said::Win));
}

#[test]
fn past_our_clock_and_the_way_to_the_server_we_resign() {
    let (mut game, _) = begun(EVEN, terms());
    // 300 s, the increment of 10 s, and the way.
    assert_eq!(game.allowance(), Some(secs(310) + Duration::from_millis(250)));
    let outputs = game.handle(Input::FlagFell);
    assert!(submits(&outputs, &Said::Resign), "{outputs:?}");
    assert!(matches!(&outputs[0], Output::Fault(Black, text) if text.starts_with("our time is over")));
    assert_eq!(game.allowance(), Some(word()), "the server confirms it, or never will");
    let late = game.handle(answer(mv("7g7f")));
    assert!(matches!(&late[..], [Output::Fault(Black, text)] if text.contains("after the resignation")));
}

/// What the server has for its word: both clocks with their increments, the way, and [`SILENCE`].
fn word() -> Duration {
    secs(310 + 310 + 180) + Duration::from_millis(250)
}

#[test]
fn a_server_that_is_silent_past_both_clocks_is_left() {
    let (mut game, _) = begun(EVEN, terms());
    game.handle(answer(mv("7g7f")));
    game.handle(ruled(Black, mv("7g7f"), 5));
    // Five seconds of ours are gone, the increment has come, and the way was measured anew.
    assert_eq!(game.allowance(), Some(word() + secs(5) + Duration::from_millis(250)));
    let outputs = game.handle(Input::FlagFell);
    assert_eq!(game.outcome(), Some(Outcome::Aborted { by: AbortBy::Server }));
    let said = "no move and no ruling of the server within 805 s, although both clocks have run out";
    assert!(matches!(outputs.last(), Some(Output::Ended(_, why)) if why == said), "{outputs:?}");
}

#[test]
fn without_clocks_the_opponent_may_think_for_ever() {
    let mut setup = setup(EVEN);
    setup.times[1] = TimeControl { fixed: Some(secs(60)), ..TimeControl::default() };
    let (mut game, _) = Game::start_under(setup, Authority::Server(terms())).unwrap();
    game.handle(Input::Reply(Black, Reply::Ready));
    game.handle(Input::Reply(White, Reply::Ready));
    game.handle(answer(mv("7g7f")));
    assert_eq!(game.allowance(), None);
    assert_eq!(game.handle(Input::FlagFell), []);
}

#[test]
fn what_has_passed_of_our_turn_is_kept_from_our_seat() {
    let (mut game, _) = begun(EVEN, terms());
    game.handle(answer(mv("7g7f")));
    game.handle(ruled(Black, mv("7g7f"), 0));
    let Input::Reply(_, Reply::Ruled(Ruling::Moved(move_of_white))) = ruled(White, mv("3c3d"), 2) else {
        panic!()
    };
    let passed = secs(15);
    let told =
        game.handle(Input::Reply(White, Reply::Ruled(Ruling::Moved(RuledMove { passed, ..move_of_white }))));
    let lag = Duration::from_millis(500);
    assert_eq!(asked(&told).left[0], secs(310) - passed - lag);
    assert_eq!(game.allowance(), Some(secs(320) - passed + lag));
    game.handle(answer(mv("2g2f")));
    game.handle(ruled(Black, mv("2g2f"), 20));
    let told = game.handle(ruled(White, mv("8c8d"), 2));
    assert_eq!(asked(&told).left[0], secs(300) - lag, "the next turn has all of its time");
}

fn ended(outputs: &[Output]) -> &str {
    match outputs.last() {
        Some(Output::Ended(_, why)) => why,
        other => panic!("it goes on: {other:?}"),
    }
}

fn over(outcome: Outcome) -> Input {
    let words = "#RESIGN #LOSE".to_owned();
    Input::Reply(White, Reply::Ruled(Ruling::Ended { outcome, words }))
}

#[test]
fn a_seat_that_may_not_begin_anew_aborts_a_game_before_its_start_and_resigns_a_running_one() {
    let none = ServerRuled { restarts: 0, ..terms() };
    let (mut game, _) = Game::start_under(setup(EVEN), Authority::Server(none)).unwrap();
    assert_eq!(ended(&game.handle(gone(Black))), "it is gone");
    assert_eq!(game.outcome(), Some(Outcome::Aborted { by: AbortBy::NotStarted }));
    let (mut game, _) = begun(EVEN, none);
    let outputs = game.handle(gone(Black));
    assert!(submits(&outputs, &Said::Resign));
    let fault = "it is gone; it is not started again: resigned";
    assert_eq!(outputs[0], Output::Fault(Black, fault.to_owned()));
    // The server knows the resignation alone; the record has the fault before its words.
    let lost = Outcome::loss(Black, WinBy::Resignation);
    assert_eq!(ended(&game.handle(over(lost))), format!("black: {fault}\n#RESIGN #LOSE"));
    let (mut game, _) = begun(EVEN, none);
    game.handle(gone(Black));
    let other = Outcome::loss(White, WinBy::Time);
    assert_eq!(ended(&game.handle(over(other))), "#RESIGN #LOSE", "it ended otherwise");
    let (mut game, _) = begun(EVEN, terms());
    game.handle(answer(Said::Resign));
    assert_eq!(ended(&game.handle(over(lost))), "#RESIGN #LOSE", "no fault, no reason");
}

#[test]
fn a_seat_may_begin_anew_before_the_game_as_often_as_in_it() {
    let (mut game, _) =
        Game::start_under(setup(EVEN), Authority::Server(ServerRuled { restarts: 2, ..terms() })).unwrap();
    for _ in 0..2 {
        let outputs = game.handle(gone(Black));
        assert!(matches!(outputs[..], [Output::Fault(Black, _), Output::Tell(Black, Order::NewGame { .. })]));
    }
    let called = game.handle(Input::Reply(Black, Reply::Ready));
    assert!(matches!(called[..], [Output::Tell(White, Order::NewGame { color: White, .. })]), "{called:?}");
    let started = game.handle(Input::Reply(White, Reply::Ready));
    assert!(matches!(started[..], [Output::Started, Output::Tell(Black, Order::Go { .. })]), "asked once");
    assert!(game.handle(Input::Reply(Black, Reply::Ready)).is_empty(), "it had not gone");
}

#[test]
fn a_game_that_ends_without_a_ruling_says_whether_we_had_resigned() {
    let resigned = "we had resigned, which the server did not confirm but may count as a loss; ";
    for (said, prefix) in [(None, ""), (Some(mv("7g7f")), ""), (Some(Said::Resign), resigned)] {
        let (mut game, _) = begun(EVEN, terms());
        said.into_iter().for_each(|said| _ = game.handle(answer(said)));
        let outputs = game.handle(gone(White));
        assert_eq!(ended(&outputs), format!("{prefix}it is gone"));
        assert_eq!(game.outcome(), Some(Outcome::Aborted { by: AbortBy::Server }));
    }
    let (mut game, _) = begun(EVEN, terms());
    game.handle(Input::Stop);
    assert_eq!(ended(&game.handle(Input::FlagFell)), resigned);
}

#[test]
fn before_the_game_a_stop_and_a_rejection_abort_it_and_the_operator_never_rules_it() {
    let prepared = || Game::start_under(setup(EVEN), Authority::Server(terms())).unwrap().0;
    for (input, by, why) in [
        (Input::Stop, AbortBy::Stopped, ""),
        (Input::FlagFell, AbortBy::Stopped, ""),
        (
            Input::Reply(White, Reply::Ruled(Ruling::Rejected("by taka".to_owned()))),
            AbortBy::NotStarted,
            "by taka",
        ),
        (gone(White), AbortBy::Server, "it is gone"),
    ] {
        let mut game = prepared();
        assert_eq!(ended(&game.handle(input)), why);
        assert_eq!(game.outcome(), Some(Outcome::Aborted { by }));
        assert!(game.handle(Input::Stop).is_empty() && game.is_ruled_elsewhere());
    }
    let ruling = Input::Ruled(Outcome::loss(Black, WinBy::Ruling), "by hand".to_owned());
    let (mut game, _) = begun(EVEN, terms());
    assert!(game.handle(ruling.clone()).is_empty() && !game.is_over());
    let mut game = prepared();
    assert!(
        game.handle(ruling).is_empty() && game.handle(answer(Said::Resign)).is_empty() && !game.is_over()
    );
}

#[test]
fn an_answer_that_nobody_asked_for_is_a_fault_and_goes_nowhere() {
    let (mut game, _) = begun(EVEN, terms());
    game.handle(answer(mv("7g7f")));
    let twice = game.handle(answer(mv("2g2f")));
    assert_eq!(twice, [Output::Fault(Black, "`2g2f` came unasked".to_owned())]);
    game.handle(ruled(Black, mv("7g7f"), 1));
    let out_of_turn = game.handle(answer(mv("2g2f")));
    assert_eq!(out_of_turn, [Output::Fault(Black, "`2g2f` came unasked".to_owned())]);
    let (mut game, _) = begun(EVEN, terms());
    game.handle(Input::Stop);
    let late = game.handle(answer(mv("2g2f")));
    assert_eq!(late, [Output::Fault(Black, "`2g2f` came after the resignation".to_owned())]);
    // The seat of the server answers no question of ours.
    let Input::Reply(_, reply) = answer(mv("7g7f")) else { panic!() };
    assert!(game.handle(Input::Reply(White, reply)).is_empty());
}

#[test]
fn who_ponders_has_the_clocks_as_the_server_left_them_unless_the_game_is_being_left() {
    let pondered = |stop: bool| {
        let (mut game, _) = begun(EVEN, terms());
        let said = mv("7g7f");
        let reply = Answer { said, elapsed: secs(3), ponders: true, thought: None };
        game.handle(Input::Reply(Black, Reply::Answer(reply)));
        if stop {
            game.handle(Input::Stop);
            // What had been submitted before the resignation is what the server has ruled on.
            return game.handle(ruled(White, mv("3c3d"), 1));
        }
        game.handle(ruled(Black, mv("7g7f"), 5))
    };
    let outputs = pondered(false);
    let Some(Output::Tell(Black, Order::Ponder(budget))) = outputs.last() else { panic!("{outputs:?}") };
    assert_eq!(budget.left, [secs(305) - Duration::from_millis(500), secs(300)]);
    assert!(!pondered(true).iter().any(|output| matches!(output, Output::Tell(Black, Order::Ponder(_)))));
    let (mut game, _) = begun(EVEN, terms());
    game.handle(answer(mv("7g7f")));
    let silent = game.handle(ruled(Black, mv("7g7f"), 5));
    assert!(matches!(silent[..], [Output::Happened(_)]), "nothing was said of pondering: {silent:?}");
}

#[test]
fn a_move_of_the_wrong_side_and_a_word_that_is_no_move_end_the_game_with_what_is_wrong() {
    let fault = |input| {
        let (mut game, _) = begun(EVEN, terms());
        game.handle(answer(mv("7g7f")));
        ended(&game.handle(input)).to_owned()
    };
    assert_eq!(
        fault(ruled(White, mv("3c3d"), 1)),
        "the server lets `3c3d` stand, but: it is not that side's turn"
    );
    assert_eq!(
        fault(ruled(Black, mv("2g2f"), 1)),
        "the server lets `2g2f` stand, but: that was not submitted"
    );
    let unreadable = Said::Unreadable("+7776XX".to_owned());
    assert_eq!(
        fault(ruled(Black, unreadable, 1)),
        "the server lets `+7776XX` stand, but: illegal-move:unreadable"
    );
    let (mut game, _) = begun(EVEN, terms());
    game.handle(answer(mv("7g7f")));
    game.handle(ruled(Black, mv("7g7f"), 1));
    let illegal = game.handle(ruled(White, mv("3c3e"), 1));
    assert_eq!(ended(&illegal), "the server lets `3c3e` stand, but: illegal-move:unreachable");
}

#[test]
fn our_seat_may_have_white() {
    let ours = ServerRuled { server: Black, ..terms() };
    let (mut game, calls) = Game::start_under(setup(EVEN), Authority::Server(ours)).unwrap();
    assert!(matches!(calls[..], [Output::Tell(White, Order::NewGame { color: White, .. })]), "{calls:?}");
    game.handle(Input::Reply(White, Reply::Ready));
    let started = game.handle(Input::Reply(Black, Reply::Ready));
    assert_eq!(started, [Output::Started], "black, who is on the server, begins");
    let lag = Duration::from_millis(500);
    let moved = RuledMove {
        color: Black,
        said: mv("7g7f"),
        raw: "+7776FU".to_owned(),
        charged: None,
        elapsed: Duration::from_millis(4900),
        lag,
        passed: Duration::ZERO,
    };
    let told = game.handle(Input::Reply(Black, Reply::Ruled(Ruling::Moved(moved))));
    let [Output::Happened(Entry::Moved(moved)), Output::Tell(White, Order::Go { budget, .. })] = &told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!((moved.charged, moved.elapsed, moved.left), (secs(4), Duration::from_millis(4900), secs(306)));
    assert_eq!(budget.left, [secs(306), secs(300) - lag]);
}
