use super::*;
use platform::limits::Bucket;
use referee::{clock::TimeControl, game::Setup, opening::EVEN};

fn summary() -> Summary {
    Summary {
        version: "1.2".to_owned(),
        mode: None,
        format: "Shogi 1.0".to_owned(),
        declaration: None,
        game_id: Some("id".to_owned()),
        names: ["a".to_owned(), "b".to_owned()],
        your_turn: None,
        rematch_on_draw: None,
        to_move: Color::Black,
        max_moves: None,
        times: notation::csa::summary::Times::Unlimited,
        start: EVEN.to_owned(),
        moves: vec![],
        others: vec![],
    }
}

fn white() -> (Seat, CsaHost) {
    let terms = SeatTerms {
        game: GameId(1),
        color: Color::White,
        summary: summary(),
        opening: vec![],
        compat: Compat::Protocol,
        agreement: Duration::from_secs(120),
        unit: TimeUnit::SECOND,
        game_bytes: 128 * 1024,
        allowance: Bucket::per_hour(1024 * 1024).into(),
    };
    seat(terms)
}

fn played(line: &str) -> Played {
    Played { text: line.to_owned(), rest: None }
}

fn obeyed(host: &mut CsaHost, order: Order) -> String {
    let mut out = vec![];
    host.obey(order, Instant::now(), &mut out);
    String::from_utf8(out).unwrap()
}

fn heard(word: Word) -> Order {
    Order::Heard(Heard { color: Color::Black, word, charged: Duration::from_millis(2999) })
}

fn go() -> Order {
    Order::Go { position: String::new(), last: None, budget: referee::clock::Budget::default() }
}

/// The move +7776FU as the game tells it.
fn first_move() -> Word {
    let position = position_from_sfen(EVEN).unwrap();
    Word::Move(position.move32_from_move(Move::from_usi("7g7f").unwrap()))
}

fn replies(seat: &mut Seat) -> Vec<Reply> {
    std::iter::from_fn(|| seat.replies.try_recv().ok()).map(|(_, reply)| reply).collect()
}

#[test]
fn an_offer_that_nobody_answers_expires_after_two_minutes() {
    let (mut seat, mut host) = white();
    assert_eq!(host.deadline(), None);
    let told = obeyed(&mut host, Order::NewGame { game: GameId(1), color: Color::White });
    assert!(told.starts_with("BEGIN Game_Summary\n") && told.contains("Your_Turn:-\n"));
    let left = host.deadline().unwrap().saturating_duration_since(Instant::now());
    assert!(left > Duration::from_secs(100) && left <= Duration::from_secs(120));
    host.expire();
    assert_eq!(replies(&mut seat), [Reply::Rejected { expired: true }]);
    assert_eq!(host.deadline(), None);
    assert_eq!(obeyed(&mut host, heard(Word::Expire)), "REJECT:id by the Server (timed out)\n");
    assert_eq!(obeyed(&mut host, Order::Over(Outcome::Aborted { by: AbortBy::NotStarted })), "");
}

#[test]
fn a_move_said_too_early_waits_for_its_turn_and_a_repeated_one_is_not_heard() {
    let (mut seat, mut host) = white();
    host.agree();
    obeyed(&mut host, heard(Word::Start));
    assert!(!host.played(played("-3334FU"), Instant::now()));
    assert_eq!(replies(&mut seat), [Reply::Ready]);
    assert_eq!(obeyed(&mut host, heard(first_move())), "+7776FU,T2\n");
    obeyed(&mut host, go());
    let said: Vec<_> = replies(&mut seat);
    let [Reply::Answer(answer)] = &said[..] else { panic!("{said:?}") };
    assert_eq!(
        (answer.said.clone(), answer.elapsed),
        (Said::Move(Move::from_usi("3c3d").unwrap()), Duration::ZERO)
    );
    host.played(played("-3334FU"), Instant::now());
    obeyed(&mut host, go());
    assert!(replies(&mut seat).is_empty(), "the same line again is no second move");
}

#[test]
fn nonsense_in_turn_is_an_answer_that_keeps_its_text() {
    let (mut seat, mut host) = white();
    host.agree();
    obeyed(&mut host, heard(Word::Start));
    obeyed(&mut host, heard(first_move()));
    obeyed(&mut host, go());
    assert!(host.played(Played { text: "-3334fu".to_owned(), rest: Some("x".to_owned()) }, Instant::now()));
    let said = replies(&mut seat).pop();
    assert!(
        matches!(said, Some(Reply::Answer(Answer { said: Said::Unreadable(text), .. })) if text == "-3334fu,x")
    );
}

#[test]
fn a_player_put_away_without_a_word_has_left() {
    let (mut seat, host) = white();
    drop(host);
    let said = replies(&mut seat);
    assert!(matches!(&said[..], [Reply::Rejected { expired: false }, Reply::Gone(_)]), "{said:?}");
}

#[test]
fn each_ending_has_its_lines() {
    let lines = |outcome| {
        let (_seat, mut host) = white();
        obeyed(&mut host, heard(Word::Start));
        obeyed(&mut host, Order::Over(outcome))
    };
    let loss = |by| lines(Outcome::loss(Color::White, by));
    assert_eq!(loss(WinBy::Time), "#TIME_UP\n#LOSE\n");
    assert_eq!(loss(WinBy::PerpetualCheck), "#OUTE_SENNICHITE\n#LOSE\n");
    assert_eq!(loss(WinBy::Disconnection), "%TORYO\n#RESIGN\n#LOSE\n");
    assert_eq!(loss(WinBy::Declaration), "#JISHOGI\n#LOSE\n");
    assert_eq!(lines(Outcome::Draw { by: DrawBy::MaxMoves }), "#MAX_MOVES\n#CENSORED\n");
    assert_eq!(lines(Outcome::Draw { by: DrawBy::Impasse }), "#JISHOGI\n#DRAW\n");
    assert_eq!(lines(Outcome::Aborted { by: AbortBy::Stopped }), "#CHUDAN\n");
}

#[test]
fn a_game_plays_through_two_seats_without_a_socket() {
    let times = [TimeControl { main: Duration::from_secs(600), ..TimeControl::default() }; 2];
    let setup = Setup { hears: [true; 2], ..Setup::of(GameId(1), times, EVEN) };
    let (mut game, orders) = referee::game::Game::start(setup).unwrap();
    let (mut seat, mut host) = white();
    let mut told = String::new();
    let mut tell = |outputs: Vec<referee::game::Output>, host: &mut CsaHost| {
        for output in outputs {
            if let referee::game::Output::Tell(Color::White, order) = output {
                told.push_str(&obeyed(host, order));
            }
        }
    };
    tell(orders, &mut host);
    host.agree();
    let black = |reply| referee::game::Input::Reply(Color::Black, reply);
    tell(game.handle(black(Reply::Ready)), &mut host);
    for reply in replies(&mut seat) {
        tell(game.handle(referee::game::Input::Reply(Color::White, reply)), &mut host);
    }
    let answer = Answer {
        said: Said::Move(Move::from_usi("7g7f").unwrap()),
        elapsed: Duration::from_millis(4900),
        ponders: false,
        thought: None,
    };
    tell(game.handle(black(Reply::Answer(answer))), &mut host);
    host.played(played("%TORYO"), Instant::now());
    for reply in replies(&mut seat) {
        tell(game.handle(referee::game::Input::Reply(Color::White, reply)), &mut host);
    }
    let end = told.split_once("END Game_Summary\n").unwrap().1;
    assert_eq!(end, "START:id\n+7776FU,T4\n%TORYO,T0\n#RESIGN\n#LOSE\n");
}
