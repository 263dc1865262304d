//! The conversation, line by line.

use super::*;
use plan::GoForms;
use referee::{DrawBy, WinBy};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn engine() -> EnginePlan {
    EnginePlan {
        name: "it".to_owned(),
        command: "it".into(),
        options: vec![("Threads".to_owned(), "1".to_owned()), ("Clear Hash".to_owned(), String::new())],
        margin_given: true,
        cores: 1.0,
        ..EnginePlan::default()
    }
}

/// An engine's end of the conversation, with a clock of its own.
struct Talk {
    conversation: Conversation,
    now: Instant,
    effects: Effects,
}

impl Talk {
    fn with(engine: EnginePlan) -> Self {
        let conversation = Conversation::new(Arc::new(engine));
        let mut talk = Self { conversation, now: Instant::now(), effects: Effects::default() };
        talk.conversation.begin(talk.now, &mut talk.effects);
        talk
    }

    /// Up to the start of game 1 as black.
    fn seated(engine: EnginePlan) -> Self {
        let mut talk = Self::with(engine);
        talk.say("usiok");
        talk.order(Order::NewGame { game: GameId(1), color: Color::Black });
        talk.say("readyok");
        talk.written();
        talk.effects.replies.clear();
        talk
    }

    fn say(&mut self, line: &str) {
        self.conversation.line(line.as_bytes(), self.now, &mut self.effects);
    }

    fn order(&mut self, order: Order) {
        self.conversation.order(order, self.now, &mut self.effects);
    }

    fn go(&mut self, position: &str) {
        let budget = Budget { byoyomi: [ms(1000); 2], ..Budget::default() };
        self.order(Order::Go { position: position.to_owned(), last: None, budget });
    }

    /// What has been written since the last look, and the stamp of the write.
    fn written(&mut self) -> String {
        self.written_within_line(false)
    }

    fn written_within_line(&mut self, within_line: bool) -> String {
        self.conversation.written(self.now, within_line);
        String::from_utf8(std::mem::take(&mut self.effects.write)).unwrap()
    }

    fn wait(&mut self, time: u64) {
        self.now += ms(time);
    }

    fn answers(&mut self) -> Vec<Answer> {
        let replies = std::mem::take(&mut self.effects.replies);
        replies
            .into_iter()
            .filter_map(|(_, reply)| match reply {
                Reply::Answer(answer) => Some(answer),
                _ => None,
            })
            .collect()
    }
}

#[test]
fn evaluations_of_an_engine_that_gives_blacks_side_are_turned_to_its_own_where_it_has_white() {
    let score = |scores, color| {
        let mut talk = Talk::with(EnginePlan { scores, ..engine() });
        talk.say("usiok");
        talk.order(Order::NewGame { game: GameId(1), color });
        talk.say("readyok");
        talk.written();
        talk.go("startpos");
        talk.written();
        talk.say("info depth 3 score cp -2500 pv 7g7f");
        talk.say("bestmove 7g7f");
        talk.answers().remove(0).thought.unwrap().score.unwrap()
    };
    assert_eq!(score(ScoreView::Black, Color::White), Score::Cp(2500));
    assert_eq!(score(ScoreView::Black, Color::Black), Score::Cp(-2500));
    assert_eq!(score(ScoreView::Mover, Color::White), Score::Cp(-2500));
    assert_eq!(Score::Mate(-i32::MAX).of_the_other_side(), Score::Mate(i32::MAX));
}

#[test]
fn options_of_a_game_are_set_before_its_isready_in_a_running_and_in_a_new_process() {
    let mut talk = Talk::seated(engine());
    let options = |value: &str| -> GameOptions { vec![("Reduction".to_owned(), value.to_owned())].into() };
    talk.order(Order::Over(Outcome::Draw { by: DrawBy::MaxMoves }));
    talk.written();
    talk.order(Order::Options(options("31")));
    talk.order(Order::NewGame { game: GameId(2), color: Color::White });
    assert_eq!(talk.written(), "setoption name Reduction value 31\nisready\n");
    talk.say("readyok");
    talk.written();
    let mut new = Talk::with(engine());
    new.order(Order::Options(options("7")));
    new.order(Order::NewGame { game: GameId(1), color: Color::Black });
    assert_eq!(new.written(), "usi\n");
    new.say("usiok");
    let plan = "setoption name Threads value 1\nsetoption name Clear Hash\n";
    assert_eq!(new.written(), format!("{plan}setoption name Reduction value 7\nisready\n"));
}

#[test]
fn options_are_set_once_and_isready_comes_before_every_game() {
    let mut talk = Talk::with(engine());
    assert_eq!(talk.written(), "usi\n");
    talk.say("option name Threads type spin default 1 min 1 max 8");
    talk.say("usiok");
    assert_eq!(talk.written(), "setoption name Threads value 1\nsetoption name Clear Hash\n");
    for game in [1, 2] {
        talk.order(Order::NewGame { game: GameId(game), color: Color::White });
        assert_eq!(talk.written(), "isready\n");
        talk.say("readyok");
        assert_eq!(talk.written(), "usinewgame\n");
        assert_eq!(talk.effects.replies.pop(), Some((GameId(game), Reply::Ready)));
        talk.order(Order::Over(Outcome::loss(Color::White, WinBy::Time)));
        assert_eq!(talk.written(), "gameover lose\n");
    }
    assert_eq!(talk.conversation.handshake().options.len(), 1);
}

#[test]
fn what_an_engine_declares_is_bounded_in_number_and_in_sum() {
    let mut talk = Talk::with(engine());
    for number in 0..OPTIONS {
        talk.say(&format!("option name O{number} type check default true"));
    }
    assert_eq!((talk.effects.fault.take(), talk.conversation.handshake().options.len()), (None, OPTIONS));
    talk.say("option name More type button");
    assert_eq!(talk.effects.fault.take().unwrap(), "it declares more than 1000 options");

    let mut talk = Talk::with(engine());
    let long = "x".repeat(60_000);
    for number in 0..10 {
        talk.say(&format!("option name O{number} type string default {long}"));
    }
    assert_eq!(talk.effects.fault.take().unwrap(), "its `option` lines are longer than 256 KiB");
    assert_eq!(talk.conversation.handshake().options.len(), 4);
}

#[test]
fn time_runs_from_the_write_to_the_read() {
    let mut talk = Talk::seated(engine());
    talk.go("startpos");
    talk.wait(3);
    assert_eq!(talk.written(), "position startpos\ngo btime 0 wtime 0 byoyomi 1000\n");
    talk.wait(40);
    talk.say("info depth 3 multipv 2 score cp -5 pv 2g2f");
    talk.say("info depth 3 multipv 1 score cp 31 nodes 99 pv 7g7f 3c3d");
    talk.say("info string thinking");
    talk.say("bestmove 7g7f ponder 3c3d");
    let answer = talk.answers().pop().unwrap();
    assert_eq!(answer.elapsed, ms(40));
    assert_eq!((answer.said, answer.ponders), (Said::Move(Move::from_usi("7g7f").unwrap()), false));
    let thought = answer.thought.unwrap();
    assert_eq!((thought.score, thought.nodes), (Some(Score::Cp(31)), Some(99)));
    assert_eq!(thought.pv.as_deref(), Some("7g7f 3c3d"));
}

#[test]
fn on_a_server_an_engine_that_would_lose_on_time_is_told_to_stop_and_its_move_counts() {
    let mut talk = Talk::seated(EnginePlan { hurry: Some(ms(200)), ..engine() });
    talk.go("startpos");
    assert_eq!(talk.conversation.deadline(), Some(talk.now + ms(800)));
    talk.written();
    talk.wait(800);
    talk.conversation.expired(&mut talk.effects);
    assert_eq!((talk.written().as_str(), talk.effects.fault.take()), ("stop\n", None));
    talk.wait(10);
    talk.say("bestmove 7g7f");
    assert_eq!(talk.answers()[0].elapsed, ms(810));
    assert_eq!(talk.conversation.deadline(), None);
    talk.order(Order::Over(Outcome::loss(Color::White, WinBy::Resignation)));
    assert_eq!(talk.written(), "gameover win\n", "no `bestmove` is waited for any more");
}

#[test]
fn in_a_game_refereed_here_nobody_is_told_to_hurry() {
    let mut talk = Talk::seated(engine());
    talk.go("startpos");
    assert_eq!(talk.conversation.deadline(), None);
}

#[test]
fn the_word_of_one_move_is_not_taken_for_the_next() {
    let mut talk = Talk::seated(engine());
    talk.go("startpos");
    talk.written();
    talk.say("info depth 1 score cp 1 pv 7g7f");
    talk.say("bestmove 7g7f");
    talk.go("startpos moves 7g7f 3c3d");
    talk.written();
    talk.say("bestmove 2g2f");
    let answers = talk.answers();
    assert!(answers[0].thought.is_some() && answers[1].thought.is_none());
}

#[test]
fn an_info_behind_bestmove_belongs_to_no_later_move() {
    let mut talk = Talk::seated(engine());
    talk.go("startpos");
    talk.written();
    talk.say("bestmove 7g7f");
    talk.go("startpos moves 7g7f 3c3d");
    talk.say("info depth 9 score cp 500 pv 2g2f");
    talk.written();
    talk.say("bestmove 2g2f");
    talk.go("startpos moves 7g7f 3c3d 2g2f 8c8d");
    talk.written();
    talk.say("info depth 9 score cp 600 pv 2g2f 8c8d");
    talk.say("bestmove 2f2e");
    let answers = talk.answers();
    assert!(answers.iter().all(|answer| answer.thought.is_none()), "{answers:?}");

    let mut talk = ponderer();
    talk.go("startpos moves 7g7f 8c8d");
    talk.say("info depth 8 score cp 90 pv 8h2b+");
    talk.say("bestmove 8h2b+");
    talk.say("info depth 9 score cp 99 pv 8h2b+");
    talk.written();
    talk.say("bestmove 2g2f");
    assert_eq!(talk.answers()[0].thought, None);
}

fn ponderer() -> Talk {
    let mut talk = Talk::seated(EnginePlan { ponder: true, ..engine() });
    talk.go("startpos");
    talk.written();
    talk.say("bestmove 7g7f ponder 3c3d");
    assert!(talk.answers()[0].ponders);
    talk.order(Order::Ponder(Budget { byoyomi: [ms(1000); 2], ..Budget::default() }));
    assert_eq!(talk.written(), "position startpos moves 7g7f 3c3d\ngo ponder btime 0 wtime 0 byoyomi 1000\n");
    talk
}

#[test]
fn a_hit_is_told_and_charged_from_there() {
    let mut talk = ponderer();
    talk.wait(5000);
    talk.go("startpos moves 7g7f 3c3d");
    assert_eq!(talk.written(), "ponderhit\n");
    talk.wait(7);
    talk.say("bestmove 2g2f");
    assert_eq!(talk.answers()[0].elapsed, ms(7));
}

#[test]
fn a_miss_stops_throws_one_bestmove_away_and_charges_the_stopping() {
    let mut talk = ponderer();
    talk.go("startpos moves 7g7f 8c8d");
    assert_eq!(talk.written(), "stop\n");
    talk.wait(20);
    talk.say("bestmove 8h2b+");
    assert_eq!(talk.answers(), []);
    assert_eq!(talk.written(), "position startpos moves 7g7f 8c8d\ngo btime 0 wtime 0 byoyomi 1000\n");
    talk.wait(5);
    talk.say("bestmove 2g2f");
    assert_eq!(talk.answers()[0].elapsed, ms(25));
}

#[test]
fn a_bestmove_before_ponderhit_is_kept_for_a_hit_and_forgotten_on_a_miss() {
    let mut talk = ponderer();
    talk.say("bestmove 2g2f");
    talk.go("startpos moves 7g7f 3c3d");
    assert_eq!(talk.written(), "");
    assert_eq!(talk.answers()[0].said, Said::Move(Move::from_usi("2g2f").unwrap()));

    let mut talk = ponderer();
    talk.say("bestmove 2g2f");
    talk.go("startpos moves 7g7f 8c8d");
    assert_eq!(talk.answers(), []);
    assert_eq!(talk.written(), "position startpos moves 7g7f 8c8d\ngo btime 0 wtime 0 byoyomi 1000\n");
}

#[test]
fn a_second_answer_to_stop_is_no_answer_to_the_go_that_follows_it() {
    let mut talk = ponderer();
    talk.go("startpos moves 7g7f 8c8d");
    talk.written();
    talk.say("bestmove resign");
    talk.say("bestmove resign"); // in the same read: `go` is not written before its end
    assert_eq!(talk.answers(), []);
    assert_eq!(talk.written(), "position startpos moves 7g7f 8c8d\ngo btime 0 wtime 0 byoyomi 1000\n");
    talk.say("bestmove 2g2f");
    assert_eq!(talk.answers()[0].said, Said::Move(Move::from_usi("2g2f").unwrap()));
}

#[test]
fn a_line_that_began_before_go_is_no_answer_to_it() {
    let move_of = |answers: Vec<Answer>| {
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert_eq!(answers[0].said, Said::Move(Move::from_usi("2g2f").unwrap()));
    };
    let mut talk = ponderer();
    talk.go("startpos moves 7g7f 8c8d");
    talk.written();
    talk.say("bestmove resign");
    talk.written_within_line(true);
    talk.say("bestmove resign");
    talk.say("bestmove 2g2f");
    move_of(talk.answers());

    let mut talk = Talk::seated(EnginePlan { ponder: true, ..engine() });
    talk.go("startpos");
    talk.written();
    talk.say("bestmove 7g7f ponder 3c3d");
    talk.answers();
    talk.order(Order::Ponder(Budget { byoyomi: [ms(1000); 2], ..Budget::default() }));
    talk.written_within_line(true);
    talk.say("bestmove resign");
    talk.go("startpos moves 7g7f 3c3d");
    assert_eq!(talk.written(), "ponderhit\n");
    talk.say("bestmove 2g2f");
    move_of(talk.answers());

    // A game that ends within the line: the engine still owes the answer to `stop`.
    let mut talk = Talk::seated(engine());
    talk.go("startpos");
    talk.written_within_line(true);
    talk.order(Order::Over(Outcome::Draw { by: DrawBy::MaxMoves }));
    assert_eq!(talk.written(), "stop\n");
    talk.say("bestmove resign");
    assert_eq!(talk.written(), "");
    talk.say("bestmove 7g7f");
    assert_eq!(talk.written(), "gameover draw\n");
}

#[test]
fn an_answer_that_began_before_ponderhit_is_that_of_the_search() {
    let mut talk = ponderer();
    talk.go("startpos moves 7g7f 3c3d");
    assert_eq!(talk.written_within_line(true), "ponderhit\n");
    talk.wait(7);
    talk.say("bestmove 2g2f");
    assert_eq!(talk.answers()[0].elapsed, ms(7));
}

#[test]
fn of_two_answers_before_ponderhit_the_first_is_that_of_the_search() {
    let mut talk = ponderer();
    talk.say("bestmove 2g2f");
    talk.say("bestmove resign");
    talk.go("startpos moves 7g7f 3c3d");
    let answers = talk.answers();
    assert_eq!((answers.len(), &answers[0].said), (1, &Said::Move(Move::from_usi("2g2f").unwrap())));
}

#[test]
fn a_stale_bestmove_after_the_end_is_not_heard_in_the_next_game() {
    let mut talk = Talk::seated(engine());
    talk.go("startpos");
    talk.order(Order::Over(Outcome::Draw { by: DrawBy::MaxMoves }));
    talk.written();
    talk.order(Order::NewGame { game: GameId(2), color: Color::White });
    assert_eq!(talk.written(), "", "it still owes an answer");
    talk.say("bestmove 7g7f");
    assert_eq!(talk.written(), "gameover draw\nisready\n");
    assert_eq!(talk.answers(), []);
    assert!(talk.conversation.deadline().is_some());
}

#[test]
fn an_unasked_bestmove_is_the_referees_business() {
    let mut talk = Talk::seated(engine());
    talk.say("bestmove 7g7f");
    assert_eq!(talk.answers().len(), 1);
}

#[test]
fn what_is_no_move_is_passed_on_as_it_was() {
    for (line, said) in [
        ("bestmove resign", Said::Resign),
        ("bestmove win", Said::Win),
        ("bestmove hello", Said::Unreadable("bestmove hello".to_owned())),
        ("bestmove", Said::Unreadable("bestmove".to_owned())),
        ("bestmove none", Said::Unreadable("bestmove none".to_owned())),
    ] {
        let mut talk = Talk::seated(engine());
        talk.go("startpos");
        talk.written();
        talk.say(line);
        assert_eq!(talk.answers()[0].said, said, "{line}");
    }
}

#[test]
fn a_word_that_only_begins_with_a_keyword_is_no_answer() {
    let mut talk = Talk::seated(engine());
    talk.go("startpos");
    talk.written();
    for line in
        ["bestmovefoo 7g7f", "bestmove7g7f", "infobestmove 7g7f", "xbestmove 7g7f", "bestmoves resign"]
    {
        talk.say(line);
        assert_eq!(talk.answers(), [], "{line}");
    }
    talk.say("bestmove 2g2f");
    assert_eq!(talk.answers()[0].said, Said::Move(Move::from_usi("2g2f").unwrap()));
}

fn go(engine: &EnginePlan, budget: Budget) -> String {
    go_of(Color::Black, engine, budget)
}

fn go_of(color: Color, engine: &EnginePlan, budget: Budget) -> String {
    let mut line = vec![];
    go_line(&mut line, &budget, engine, color, false);
    String::from_utf8(line).unwrap()
}

#[test]
fn go_has_the_byoyomi_and_the_main_time_of_the_side_that_moves() {
    let budget = Budget {
        left: [ms(60_000), ms(0)],
        byoyomi: [ms(3000), ms(9000)],
        increment: [ms(0), ms(500)],
        ..Budget::default()
    };
    assert_eq!(go_of(Color::White, &engine(), budget), "go btime 60000 wtime 0 byoyomi 9500\n");
    let shy = EnginePlan { go: GoForms { zero_time: false, ..GoForms::default() }, ..engine() };
    assert_eq!(go_of(Color::White, &shy, budget), "go byoyomi 9500\n");
    assert_eq!(go_of(Color::Black, &shy, budget), "go btime 60000 wtime 0 byoyomi 3000\n");
    let own = EnginePlan { go: GoForms { own_time_only: true, ..GoForms::default() }, ..engine() };
    assert_eq!(go_of(Color::White, &own, budget), "go btime 0 wtime 0 byoyomi 9500\n");
    let limits = Budget { depth: Some(7), fixed: Some(ms(9)), ..budget };
    assert_eq!(go(&engine(), limits), "go depth 7\n");
    let reserve = EnginePlan { reserve: ms(100), ..engine() };
    assert_eq!(go(&reserve, Budget { fixed: Some(ms(900)), ..budget }), "go movetime 800\n");
}

#[test]
fn go_is_spelled_as_the_engine_understands_it() {
    let byoyomi =
        Budget { left: [ms(60_000), ms(50_000)], byoyomi: [ms(3000), ms(9000)], ..Budget::default() };
    let fischer = Budget { left: [ms(60_000), ms(50_000)], increment: [ms(1000); 2], ..Budget::default() };
    let plain =
        EnginePlan { go: GoForms { increment: false, movetime: false, ..GoForms::default() }, ..engine() };
    assert_eq!(go(&engine(), byoyomi), "go btime 60000 wtime 50000 byoyomi 3000\n");
    assert_eq!(go(&engine(), fischer), "go btime 60000 wtime 50000 binc 1000 winc 1000\n");
    assert_eq!(go(&plain, fischer), "go btime 61000 wtime 51000 byoyomi 0\n");
    let both = Budget { byoyomi: [ms(3000); 2], ..fischer };
    assert_eq!(go(&engine(), both), "go btime 60000 wtime 50000 byoyomi 4000\n");
    let fixed = Budget { fixed: Some(ms(500)), ..Budget::default() };
    assert_eq!(go(&engine(), fixed), "go movetime 500\n");
    assert_eq!(go(&plain, fixed), "go btime 0 wtime 0 byoyomi 500\n");
    assert_eq!(go(&engine(), Budget { nodes: Some(9), ..fischer }), "go nodes 9\n");
    let muddled = EnginePlan { go: GoForms { own_time_only: true, ..GoForms::default() }, ..engine() };
    assert_eq!(go(&muddled, fischer), "go btime 60000 wtime 60000 binc 1000 winc 1000\n");
    let shy = EnginePlan { go: GoForms { zero_time: false, ..GoForms::default() }, ..engine() };
    assert_eq!(go(&shy, Budget { byoyomi: [ms(3000); 2], ..Budget::default() }), "go byoyomi 3000\n");
}

#[test]
fn an_engine_that_overshoots_is_told_less_than_it_has() {
    let slow = EnginePlan { reserve: ms(1000), ..engine() };
    let budget = Budget { left: [ms(500), ms(9000)], byoyomi: [ms(3000); 2], ..Budget::default() };
    assert_eq!(go(&slow, budget), "go btime 0 wtime 8000 byoyomi 2000\n");
}

#[test]
fn each_result_has_its_word_and_a_game_without_one_has_none() {
    let over = |outcome| {
        let mut talk = Talk::seated(engine());
        talk.order(Order::Over(outcome));
        talk.written()
    };
    assert_eq!(over(Outcome::loss(Color::White, WinBy::Mate)), "gameover win\n");
    assert_eq!(over(Outcome::loss(Color::Black, WinBy::Mate)), "gameover lose\n");
    assert_eq!(over(Outcome::Draw { by: DrawBy::MaxMoves }), "gameover draw\n");
    assert_eq!(over(Outcome::Aborted { by: referee::AbortBy::Stopped }), "");
}

#[test]
fn an_engine_on_a_server_is_hurried_a_quarter_of_its_time_before_the_end_at_most() {
    let mut talk = Talk::seated(EnginePlan { hurry: Some(ms(900)), ..engine() });
    talk.go("startpos");
    assert_eq!(talk.conversation.deadline(), Some(talk.now + ms(750)));
}

#[test]
fn the_word_of_a_move_is_the_last_scored_info_of_its_own_search() {
    let mut talk = Talk::seated(engine());
    talk.go("startpos");
    talk.written();
    talk.say("info depth 9 score cp 5 pv 2g2f");
    talk.say("info depth 9 nodes 7");
    talk.say("bestmove 7g7f");
    let thought = talk.answers().remove(0).thought.unwrap();
    assert_eq!((thought.score, thought.depth, thought.nodes), (Some(Score::Cp(5)), Some(9), None));
    talk.say("info depth 3 score cp 9 pv 2g2f");
    talk.go("startpos moves 7g7f 3c3d");
    talk.written();
    talk.say("bestmove 2g2f");
    assert_eq!(talk.answers()[0].thought, None, "nothing was searched when it came");
}
