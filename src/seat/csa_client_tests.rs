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
        let (seat, client) = seat(terms, Margin::new(ms(100), ms(3000)), now);
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
        self.client.line(line.as_bytes(), self.now);
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
