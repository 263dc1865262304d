//! The conversation, line by line.

use super::*;
use referee::{AbortBy, DrawBy, Outcome, WinBy, entry::Score, entry::Thought, opening::EVEN};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A server's end of the conversation, with a clock of its own.
struct Talk {
    client: CsaClient,
    now: Instant,
    out: Vec<u8>,
    _seat: Seat,
}

impl Talk {
    fn offered(color: Color) -> Self {
        let count = Count { unit: ms(1000), least: ms(0), roundup: false };
        let terms = SeatTerms {
            game: GameId(1),
            game_id: Some("g+1".to_owned()),
            color,
            start: EVEN.to_owned(),
            opening: vec![],
            count,
            comments: true,
        };
        let now = Instant::now();
        let (seat, client) = seat(terms, Reserve::new(ms(100), ms(3000)), now);
        Self { client, now, out: vec![], _seat: seat }
    }

    fn playing(color: Color) -> Self {
        let mut talk = Self::offered(color);
        talk.order(Order::NewGame { game: GameId(1), color });
        assert_eq!(talk.said(), "AGREE g+1\n");
        assert_eq!(talk.hear("START:g+1"), [Reply::Ready]);
        talk
    }

    fn order(&mut self, order: Order) {
        self.client.obey(order, self.now, &mut self.out);
    }

    fn submit(&mut self, said: Said) -> String {
        let thought = Thought { score: Some(Score::Cp(20)), ..Thought::default() };
        let thought = Some(Box::new(thought));
        self.order(Order::Submit(Answer { said, elapsed: ms(1), ponders: false, thought }));
        self.said()
    }

    fn said(&mut self) -> String {
        String::from_utf8(std::mem::take(&mut self.out)).unwrap()
    }

    fn hear(&mut self, line: &str) -> Vec<Reply> {
        self.client.line(line.as_bytes(), self.now, &mut self.out);
        self.client.replies.drain(..).collect()
    }

    /// The ending that these lines tell; the last of them tells it.
    fn ends(color: Color, lines: &[&str]) -> (Outcome, String) {
        let mut talk = Self::playing(color);
        let (last, rest) = lines.split_last().unwrap();
        for line in rest {
            assert_eq!(talk.hear(line), [], "{line}");
        }
        match &talk.hear(last)[..] {
            [Reply::Ruled(Ruling::Ended { outcome, words })] => (*outcome, words.clone()),
            other => panic!("{lines:?}: {other:?}"),
        }
    }
}

fn mv(text: &str) -> Said {
    Said::Move(Move::from_usi(text).unwrap())
}

fn moved(replies: &[Reply]) -> &RuledMove {
    match replies {
        [Reply::Ruled(Ruling::Moved(moved))] => moved,
        other => panic!("{other:?}"),
    }
}

fn win(winner: Color, by: WinBy) -> Outcome {
    Outcome::Win { winner, by }
}

#[test]
fn moves_go_out_with_their_evaluation_and_stand_with_the_servers_time() {
    let mut talk = Talk::playing(Color::Black);
    talk.now += ms(2300);
    assert_eq!(talk.submit(mv("7g7f")), "+7776FU,'* 20\n");
    talk.now += ms(40);
    let replies = talk.hear("+7776FU,T2");
    let told = moved(&replies);
    assert_eq!((told.color, &told.said), (Color::Black, &mv("7g7f")));
    assert_eq!((told.charged, told.elapsed), (Some(ms(2000)), ms(2300)));
    talk.now += ms(5500);
    let replies = talk.hear("-3334FU,T5");
    assert_eq!((moved(&replies).charged, moved(&replies).elapsed), (Some(ms(5000)), ms(5500)));
}

#[test]
fn a_slow_way_to_the_server_is_kept_back_from_the_next_turn() {
    let mut talk = Talk::playing(Color::Black);
    talk.now += ms(1500);
    talk.submit(mv("7g7f"));
    talk.now += ms(800);
    assert_eq!(moved(&talk.hear("+7776FU,T2")).lag, ms(1000));
}

#[test]
fn every_server_ends_a_game_in_its_own_words() {
    let (us, them) = (Color::Black, Color::White);
    for (lines, outcome) in [
        (&["%TORYO", "#RESIGN", "#WIN"][..], win(us, WinBy::Resignation)),
        (&["%TORYO,T4", "##[CHAT][x] gg", "", "#RESIGN", "#LOSE"], win(them, WinBy::Resignation)),
        (&["%KACHI,T0", "%KACHI", "#JISHOGI", "#LOSE"], win(them, WinBy::Declaration)),
        (&["%KACHI,T8", "#JISHOGI", "#WIN"], win(us, WinBy::Declaration)),
        (&["%KACHI,T0", "%KACHI", "#ILLEGAL_MOVE", "#WIN"], win(us, WinBy::IllegalDeclaration)),
        (&["#ILLEGAL_MOVE", "#WIN"], win(us, WinBy::IllegalMove(Foul::Unreadable))),
        (&["#TIME_UP", "", "#LOSE"], win(them, WinBy::Time)),
        (&["#OUTE_SENNICHITE", "#WIN"], win(us, WinBy::PerpetualCheck)),
        (&["#SENNICHITE", "#DRAW"], Outcome::Draw { by: DrawBy::Sennichite }),
        (&["#JISHOGI", "#DRAW"], Outcome::Draw { by: DrawBy::Impasse }),
        (&["#MAX_MOVES", "#CENSORED"], Outcome::Draw { by: DrawBy::MaxMoves }),
        (&["#ILLEGAL_ACTION", "#WIN"], win(us, WinBy::IllegalAction)),
        (&["#WIN"], win(us, WinBy::Adjudication)),
        (&["#CHUDAN"], Outcome::Aborted { by: AbortBy::Server }),
    ] {
        assert_eq!(Talk::ends(us, lines).0, outcome, "{lines:?}");
    }
    assert_eq!(Talk::ends(us, &["%TORYO,T4", "#RESIGN", "#WIN"]).1, "%TORYO,T4 #RESIGN #WIN");
}

#[test]
fn an_illegal_move_that_the_server_tells_and_then_rules_on_is_no_fault() {
    let mut talk = Talk::playing(Color::White);
    assert_eq!(talk.hear("+7775FU,T1"), []);
    assert_eq!(talk.hear("#ILLEGAL_MOVE"), []);
    let replies = talk.hear("#WIN");
    let foul = win(Color::White, WinBy::IllegalMove(Foul::Unreachable));
    assert!(matches!(&replies[..], [Reply::Ruled(Ruling::Ended { outcome, .. })] if *outcome == foul));
}

#[test]
fn an_illegal_move_that_the_server_lets_stand_is_told_as_it_came() {
    let mut talk = Talk::playing(Color::White);
    assert_eq!(talk.hear("+7775FU,T1"), []);
    assert_eq!(talk.client.deadline(), Some(talk.now + AFTERTHOUGHT));
    talk.client.expire();
    let replies: Vec<Reply> = talk.client.replies.drain(..).collect();
    assert_eq!(moved(&replies).raw, "+7775FU,T1");
}

#[test]
fn a_move_told_twice_is_made_once_and_strange_fields_are_passed_over() {
    let mut talk = Talk::playing(Color::White);
    assert_eq!(moved(&talk.hear("+7776FU,'* 35 -8384FU,T7")).charged, Some(ms(7000)));
    assert_eq!(talk.hear("+7776FU,T0"), []);
    assert_eq!(moved(&talk.hear("-3334FU")).charged, None);
}

#[test]
fn who_resigns_out_of_turn_logs_out() {
    let mut talk = Talk::playing(Color::White);
    assert_eq!(talk.submit(Said::Resign), "LOGOUT\n");
    let mut talk = Talk::playing(Color::Black);
    assert_eq!(talk.submit(Said::Resign), "%TORYO\n");
    let mut talk = Talk::playing(Color::Black);
    talk.submit(mv("7g7f"));
    assert_eq!(talk.submit(Said::Resign), "LOGOUT\n", "the move is on its way");
}

#[test]
fn a_game_that_is_not_wanted_is_rejected_and_one_that_they_reject_is_not_played() {
    let mut talk = Talk::offered(Color::Black);
    talk.order(Order::Over(Outcome::Aborted { by: AbortBy::NotStarted }));
    assert_eq!(talk.said(), "REJECT g+1\n");
    let mut talk = Talk::offered(Color::Black);
    talk.order(Order::NewGame { game: GameId(1), color: Color::Black });
    let replies = talk.hear("REJECT:g+1 by the Server (timed out)");
    assert_eq!(replies, [Reply::Ruled(Ruling::Rejected("rejected by the Server (timed out)".to_owned()))]);
}

#[test]
fn what_comes_after_the_end_is_not_heard() {
    let mut talk = Talk::playing(Color::Black);
    talk.hear("#CHUDAN");
    assert_eq!(talk.hear("+7776FU,T1"), []);
    talk.client.gone("closed".to_owned());
    assert_eq!(talk.client.replies, []);
}

#[test]
fn a_logout_that_is_confirmed_in_a_game_is_our_resignation() {
    let mut talk = Talk::playing(Color::White);
    assert_eq!(talk.submit(Said::Resign), "LOGOUT\n");
    match &talk.hear("LOGOUT:completed")[..] {
        [Reply::Ruled(Ruling::Ended { outcome, words })] => {
            assert_eq!(*outcome, win(Color::Black, WinBy::Resignation));
            assert_eq!(words, "LOGOUT:completed");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_may_say_why_it_breaks_a_game_off() {
    for before in [true, false] {
        let mut talk = Talk::offered(Color::Black);
        talk.order(Order::NewGame { game: GameId(1), color: Color::Black });
        if !before {
            assert_eq!(talk.hear("START:g+1"), [Reply::Ready]);
        }
        let replies = talk.hear("#CHUDAN server_shutdown");
        let outcome = Outcome::Aborted { by: AbortBy::Server };
        let words = "#CHUDAN server_shutdown".to_owned();
        assert_eq!(replies, [Reply::Ruled(Ruling::Ended { outcome, words })]);
    }
}

impl Talk {
    fn submits(&mut self, usi: &str) {
        self.order(Order::Submit(Answer { said: mv(usi), elapsed: ms(1), ponders: false, thought: None }));
    }

    /// The server offers the game anew, with these moves.
    fn offers(&mut self, moves: &[(&str, u64)]) -> (bool, Vec<Reply>) {
        let words = moves.iter().map(|(word, time)| ((*word).to_owned(), Some(ChargedTime::Units(*time))));
        let words: Vec<_> = words.collect();
        let mut position = position_from_sfen(EVEN).unwrap();
        position.init_stack();
        let opening = words.iter().map(|(word, _)| {
            let mv = move_from_csa(&position, word).unwrap();
            let piece = position.moved_piece_after_move(mv);
            position.try_apply_move32(Move32::from_move_with_piece(mv, piece)).unwrap();
            mv
        });
        let terms = SeatTerms { opening: opening.collect(), ..self.client.terms.clone() };
        let resumed = self.client.resume(&terms, &words, self.now, &mut self.out);
        (resumed, self.client.replies.drain(..).collect())
    }
}

#[test]
fn an_answer_that_was_lost_with_the_connection_is_submitted_again_and_teaches_nothing() {
    let mut talk = Talk::playing(Color::Black);
    talk.now += ms(1000);
    talk.submits("7g7f");
    assert_eq!(talk.said(), "+7776FU\n");
    assert!(talk.client.may_return());
    talk.client.lost();
    talk.now += ms(20_000);
    assert_eq!(talk.offers(&[]), (true, vec![]));
    assert_eq!(talk.said(), "AGREE g+1\n");
    assert_eq!(talk.hear("START:g+1"), []);
    assert_eq!(talk.said(), "+7776FU\n");
    let replies = talk.hear("+7776FU,T21");
    assert_eq!((moved(&replies).charged, moved(&replies).lag), (Some(ms(21_000)), ms(100)));
}

#[test]
fn an_answer_that_is_found_while_there_is_no_connection_is_submitted_once_the_server_takes_us_back() {
    let mut talk = Talk::playing(Color::Black);
    talk.client.lost();
    talk.submits("7g7f");
    assert_eq!(talk.said(), "");
    assert_eq!(talk.offers(&[]), (true, vec![]));
    assert_eq!(talk.said(), "AGREE g+1\n");
    talk.hear("START:g+1");
    assert_eq!(talk.said(), "+7776FU\n");
}

#[test]
fn what_has_passed_of_a_turn_that_began_without_us_is_taken_off_our_clock() {
    let mut talk = Talk::playing(Color::Black);
    talk.now += ms(1000);
    talk.submits("7g7f");
    talk.client.lost();
    talk.now += ms(17_000);
    // One second for our move, two for the reply: our turn began 15 s ago, or a little less.
    let (resumed, replies) = talk.offers(&[("+7776FU", 1), ("-3334FU", 2)]);
    assert!(resumed);
    let passed: Vec<_> = replies.iter().map(|reply| moved(std::slice::from_ref(reply)).passed).collect();
    assert_eq!(passed, [ms(0), ms(15_000)]);
    talk.said();
    talk.hear("START:g+1");
    talk.submits("2g2f");
    assert_eq!(talk.said(), "+2726FU\n");
    talk.now += ms(40);
    assert_eq!(moved(&talk.hear("+2726FU,T15")).lag, ms(100), "the outage is no delay of the network");
}

#[test]
fn a_game_of_another_course_or_one_that_we_have_resigned_is_not_taken_up() {
    let mut talk = Talk::playing(Color::Black);
    talk.submits("7g7f");
    talk.hear("+7776FU,T0");
    talk.client.lost();
    assert_eq!(talk.offers(&[]), (false, vec![]));
    assert_eq!(talk.offers(&[("+2726FU", 0)]), (false, vec![]));
    talk.client.terms.game_id = Some("g+2".to_owned());
    let mut other = Talk::playing(Color::Black);
    other.client.lost();
    let terms = talk.client.terms.clone();
    assert!(!other.client.resume(&terms, &[], other.now, &mut vec![]));
    let mut resigned = Talk::playing(Color::Black);
    resigned.submit(Said::Resign);
    assert!(!resigned.client.may_return());
}

#[test]
fn a_server_is_sure_to_have_measured_what_it_charged_less_what_it_adds_by_rule() {
    let measured = |least, roundup, charged| {
        Count { unit: ms(1000), least: ms(least), roundup }.measured(ms(charged)).as_millis()
    };
    assert_eq!([0, 1000, 5000].map(|charged| measured(0, false, charged)), [0, 1000, 5000]);
    assert_eq!([1000, 1001, 5000].map(|charged| measured(1000, false, charged)), [0, 1001, 5000]);
    assert_eq!([1000, 2000, 5000].map(|charged| measured(0, true, charged)), [0, 1000, 4000]);
}

#[test]
fn a_server_that_neither_begins_nor_rejects_the_game_is_given_up_after_five_minutes() {
    let mut talk = Talk::offered(Color::Black);
    assert_eq!((talk.client.deadline(), talk.client.is_ruled()), (None, false));
    assert_eq!(talk.hear("START:g+1"), [], "we have not agreed");
    talk.order(Order::NewGame { game: GameId(1), color: Color::Black });
    assert_eq!(talk.client.deadline(), Some(talk.now + Duration::from_secs(300)));
    talk.order(Order::NewGame { game: GameId(1), color: Color::Black });
    assert_eq!(talk.said(), "AGREE g+1\n", "once");
    talk.client.expire();
    assert!(talk.client.is_ruled());
    let gone = Reply::Gone("it said neither START nor REJECT".to_owned());
    assert_eq!(talk.client.replies.drain(..).collect::<Vec<_>>(), [gone]);
    let mut talk = Talk::playing(Color::Black);
    assert_eq!((talk.client.deadline(), talk.hear("START:g+1")), (None, vec![]));
    talk.client.gone("closed".to_owned());
    assert_eq!(talk.client.replies.drain(..).collect::<Vec<_>>(), [Reply::Gone("closed".to_owned())]);
}

#[test]
fn a_game_without_a_name_is_agreed_to_without_one_and_nobody_comes_back_to_it() {
    let mut talk = Talk::offered(Color::Black);
    (talk.client.terms.game_id, talk.client.terms.comments) = (None, false);
    talk.order(Order::NewGame { game: GameId(1), color: Color::Black });
    assert_eq!(talk.said(), "AGREE\n");
    talk.hear("START:");
    assert_eq!(talk.submit(mv("7g7f")), "+7776FU\n", "and comments are not wanted");
    assert!(!talk.client.may_return());
    let terms = talk.client.terms.clone();
    talk.client.lost();
    assert!(!talk.client.resume(&terms, &[], talk.now, &mut vec![]));
}

#[test]
fn a_return_that_is_rejected_or_not_answered_ends_the_game() {
    let away = || {
        let mut talk = Talk::playing(Color::Black);
        talk.client.lost();
        assert_eq!(talk.client.deadline(), None, "nothing was asked");
        assert!(talk.client.may_return());
        talk.now += ms(500);
        assert!(talk.offers(&[]).0);
        assert_eq!(talk.client.deadline(), Some(talk.now + AGREEMENT));
        talk
    };
    let rejected = "our return was rejected by the Server".to_owned();
    assert_eq!(away().hear("REJECT:g+1 by the Server"), [Reply::Gone(rejected)]);
    let mut talk = away();
    talk.order(Order::Over(Outcome::Aborted { by: AbortBy::Stopped }));
    assert_eq!(talk.said(), "AGREE g+1\n", "no game that runs is rejected");
    assert!(talk.client.is_done() && !talk.client.may_return());
}

#[test]
fn a_declaration_and_words_out_of_turn_go_their_ways() {
    let mut talk = Talk::playing(Color::Black);
    assert_eq!(talk.submit(Said::Win), "%KACHI\n");
    let mut talk = Talk::playing(Color::White);
    for line in ["+", "%", "#WHAT", "##[CHAT] +7776FU", ""] {
        assert_eq!(talk.hear(line), [], "{line}");
    }
    assert_eq!(talk.hear("-3334FU,T1"), [], "out of turn: the server may say so");
    let replies = talk.hear("+7776FU,T1");
    let [Reply::Ruled(Ruling::Moved(early)), Reply::Ruled(Ruling::Moved(told))] = &replies[..] else {
        panic!("{replies:?}")
    };
    assert_eq!(
        [early, told].map(|told| (told.color, told.passed)),
        [(Color::White, ms(0)), (Color::Black, ms(0))]
    );
    assert_eq!(talk.client.deadline(), None);
}
