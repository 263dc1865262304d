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
    seated(|_| ())
}

/// White, with other terms.
fn seated(change: impl FnOnce(&mut SeatTerms)) -> (Seat, CsaHost) {
    let mut terms = SeatTerms {
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
    change(&mut terms);
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

#[test]
fn an_answer_with_an_id_is_meant_for_that_game_and_with_shogi_server_anything_but_an_id_is() {
    let (_seat, host) = white();
    assert_eq!(["id", "other", "a+b+c+d+e"].map(|id| host.is_meant(id)), [true, false, false]);
    let (_seat, host) = seated(|terms| terms.compat = Compat::ShogiServer);
    let ids = ["id", "other", "a+b+c+d", "a+b+c+d+e"];
    assert_eq!(ids.map(|id| host.is_meant(id)), [true, true, true, false]);
}

#[test]
fn an_offer_is_answered_once_and_waits_anew_when_it_is_postponed() {
    let (mut seat, mut host) = white();
    let now = Instant::now();
    host.postpone(now);
    assert_eq!((host.phase(), host.deadline()), (Phase::Offered, Some(now + Duration::from_secs(120))));
    assert!(!host.is_under_way());
    assert_eq!([host.agree(), host.agree()], [true, false]);
    assert_eq!((host.phase(), host.deadline()), (Phase::Agreed, None));
    assert!(host.reject(), "the opponent has not agreed yet");
    assert_eq!(replies(&mut seat), [Reply::Ready, Reply::Rejected { expired: false }]);
    obeyed(&mut host, heard(Word::Start));
    assert!(host.is_under_way() && !host.reject() && !host.agree());
    host.leave("gone");
    host.leave("gone again");
    assert_eq!(replies(&mut seat), [Reply::Gone("gone".to_owned())]);
    assert!(!host.is_under_way());
}

#[test]
fn an_offer_that_comes_to_nothing_names_who_did_not_want_it() {
    for (order, told) in [
        (heard(Word::Reject), "REJECT:id by a\n"),
        (heard(Word::Expire), "REJECT:id by the Server (timed out)\n"),
        (Order::Over(Outcome::Aborted { by: AbortBy::NotStarted }), "REJECT:id by the Server\n"),
    ] {
        let (_seat, mut host) = white();
        assert_eq!((obeyed(&mut host, order), host.phase()), (told.to_owned(), Phase::Over));
    }
}

#[test]
fn special_words_have_their_time_but_for_a_resignation_with_shogi_server() {
    let told = |compat, word, by| {
        let (_seat, mut host) = seated(|terms| terms.compat = compat);
        obeyed(&mut host, heard(Word::Start));
        obeyed(&mut host, heard(word)) + &obeyed(&mut host, Order::Over(Outcome::loss(Color::Black, by)))
    };
    use Compat::{Protocol, ShogiServer};
    assert_eq!(told(Protocol, Word::Resign, WinBy::Resignation), "%TORYO,T2\n#RESIGN\n#WIN\n");
    assert_eq!(told(ShogiServer, Word::Resign, WinBy::Resignation), "%TORYO\n#RESIGN\n#WIN\n");
    assert_eq!(told(Protocol, Word::Declare, WinBy::IllegalDeclaration), "%KACHI,T2\n#ILLEGAL_MOVE\n#WIN\n");
    let twice = "%KACHI,T2\n%KACHI\n#ILLEGAL_MOVE\n#WIN\n";
    assert_eq!(told(ShogiServer, Word::Declare, WinBy::IllegalDeclaration), twice);
    let plain = told(ShogiServer, first_move(), WinBy::Time);
    assert_eq!(plain, "+7776FU,T2\n#TIME_UP\n#WIN\n");
}

/// White, who has lost its connection after the start, is offered the game again.
fn back(change: impl FnOnce(&mut SeatTerms), moves: usize) -> (Seat, CsaHost, String) {
    let (mut seat, mut host) = seated(change);
    host.agree();
    obeyed(&mut host, heard(Word::Start));
    (0..moves).for_each(|_| drop(obeyed(&mut host, heard(first_move()))));
    replies(&mut seat);
    let mut out = vec![];
    host.come_back(Instant::now(), &mut out);
    (seat, host, String::from_utf8(out).unwrap())
}

#[test]
fn who_comes_back_is_offered_the_game_as_it_stands_and_hears_the_rest_when_it_agrees() {
    let (_seat, mut host, offered) = back(|_| (), 0);
    assert!(offered.starts_with("BEGIN Game_Summary\n") && !offered.contains("START"), "{offered}");
    assert_eq!(host.phase(), Phase::Returning);
    assert!(host.is_under_way() && host.deadline().is_some() && !host.agree());
    assert_eq!(obeyed(&mut host, heard(first_move())), "", "it has not agreed yet");
    let mut out = vec![];
    assert!(host.go_on(Instant::now(), &mut out) && !host.go_on(Instant::now(), &mut out));
    assert_eq!(out, b"START:id\n+7776FU,T2\n");
    assert_eq!((host.phase(), host.deadline()), (Phase::Playing, None));
    for (compat, to_move) in [(Compat::Protocol, "To_Move:+\n"), (Compat::ShogiServer, "To_Move:-\n")] {
        let (_seat, _host, offered) = back(|terms| terms.compat = compat, 1);
        assert!(offered.contains(to_move) && offered.contains("+7776FU,T2\n"), "{offered}");
    }
}

#[test]
fn who_comes_back_too_late_hears_the_end_and_who_does_not_go_on_has_left() {
    let (_seat, mut host, _) = back(|_| (), 0);
    obeyed(&mut host, heard(first_move()));
    let end = obeyed(&mut host, Order::Over(Outcome::loss(Color::White, WinBy::Time)));
    assert_eq!(end, "START:id\n+7776FU,T2\n#TIME_UP\n#LOSE\n");
    let expired = |host: &mut CsaHost| host.expire();
    let rejected = |host: &mut CsaHost| assert!(host.reject());
    let ways: [fn(&mut CsaHost); 2] = [expired, rejected];
    let words = ["came back and did not agree to go on", "rejected its game when it came back"];
    for (way, how) in ways.into_iter().zip(words) {
        let (mut seat, mut host, _) = back(|_| (), 0);
        way(&mut host);
        assert_eq!(replies(&mut seat), [Reply::Gone(how.to_owned())]);
    }
}

#[test]
fn four_moves_said_too_early_wait_for_their_turns_and_no_more() {
    let (mut seat, mut host) = white();
    host.agree();
    obeyed(&mut host, heard(Word::Start));
    let early = ["%a", "%b", "%c", "%d", "%e"];
    early.iter().for_each(|line| assert!(!host.played(played(line), Instant::now())));
    replies(&mut seat);
    for expected in early.iter().map(Some).take(4).chain([None]) {
        obeyed(&mut host, go());
        let said = match replies(&mut seat).pop() {
            Some(Reply::Answer(Answer { said: Said::Unreadable(text), .. })) => Some(text),
            _ => None,
        };
        assert_eq!(said.as_deref(), expected.copied());
    }
}

#[test]
fn comments_are_kept_as_far_as_the_game_and_the_address_have_bytes_for_them() {
    let kept = |game_bytes, allowance: u64| {
        let (mut seat, mut host) = seated(|terms| {
            (terms.game_bytes, terms.allowance) = (game_bytes, Bucket::per_hour(allowance).into());
        });
        obeyed(&mut host, heard(Word::Start));
        [(); 3].map(|()| {
            obeyed(&mut host, go());
            let rest = Some("'* 35 -3334FU +2726FU".to_owned());
            assert!(host.played(Played { text: "%x".to_owned(), rest }, Instant::now()));
            let Some(Reply::Answer(answer)) = replies(&mut seat).pop() else { panic!("no answer") };
            let thought = answer.thought.unwrap();
            assert_eq!(thought.score, Some(referee::entry::Score::Cp(-35)), "white's own view");
            thought.pv.is_some()
        })
    };
    // Each has 15 bytes.
    assert_eq!(kept(1000, 1000), [true; 3]);
    assert_eq!((kept(30, 1000), kept(1000, 30)), ([true, true, false], [true, true, false]));
    assert_eq!((kept(29, 1000), kept(1000, 29)), ([true, false, false], [true, false, false]));
}

/// Pieces of transcripts.
#[derive(Debug, Default)]
struct Kept(parking_lot::Mutex<Vec<referee::sink::TranscriptPiece>>);

impl referee::sink::Sink for Kept {
    fn happened(&self, _: referee::entry::Entry) {}

    fn keep(&self, record: referee::sink::SideRecord) {
        let referee::sink::SideRecord::Transcript(piece) = record else { panic!("{record:?}") };
        self.0.lock().push(piece);
    }
}

#[test]
fn of_what_an_address_sends_beside_its_moves_no_more_is_kept_than_it_is_allowed() {
    let sink = std::sync::Arc::new(Kept::default());
    let (_seat, mut host) = seated(|terms| terms.allowance = Bucket::per_hour(100).into());
    host.keep(&Transcripts::new(sink.clone()));
    let now = Instant::now();
    let say = |host: &mut CsaHost, line: &str| {
        host.received(line.as_bytes(), &line.parse().unwrap(), now);
    };
    say(&mut host, "AGREE");
    host.agree();
    say(&mut host, "AGREE again, for nothing");
    obeyed(&mut host, heard(Word::Start));
    let comment = format!("-3334FU,'* 35 {}", "x".repeat(PLAIN));
    say(&mut host, &comment);
    say(&mut host, &"x".repeat(62));
    say(&mut host, &comment);
    say(&mut host, "no more");
    say(&mut host, "LOGOUT");
    obeyed(&mut host, Order::Over(Outcome::Draw { by: DrawBy::MaxMoves }));
    let pieces = std::mem::take(&mut *sink.0.lock());
    let lines: Vec<_> = pieces.iter().flat_map(referee::sink::TranscriptPiece::lines).collect();
    let text = |at: usize| String::from_utf8(lines[at].bytes.clone()).unwrap();
    let shown: Vec<String> = (0..lines.len()).map(text).collect();
    assert_eq!(
        shown,
        [
            "AGREE",
            "AGREE again, for nothing",
            "START:id",
            &comment,
            &"x".repeat(62),
            &format!("{}...", &comment[..PLAIN]),
            "no more is kept of lines that the game does not expect",
            "LOGOUT",
            "#MAX_MOVES",
            "#CENSORED"
        ]
    );
}
