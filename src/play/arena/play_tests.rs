//! Whole games between scripted seats, in simulated time.

use super::*;
use referee::{
    Foul,
    clock::TimeControl,
    entry::PlayerId,
    game::{Answer, RuledMove, Ruling, Said, ServerRuled as ServerTerms},
    opening::EVEN,
    sink::SideRecord,
};
use rsshogi::types::Move;
use seat::ActorEnd;
use std::{
    future::{Future, pending, ready},
    pin::{Pin, pin},
    sync::Mutex,
};
use tokio::{
    join,
    time::{advance, sleep},
};

const GAME: GameId = GameId(7);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn sudden_death(main: Duration) -> TimeControl {
    TimeControl { main, ..TimeControl::default() }
}

fn fixture(time: TimeControl) -> Fixture {
    let setup = Setup::of(GAME, [time; 2], EVEN);
    let (black, white) = (PlayerId(0), PlayerId(1));
    let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
    Fixture::of(setup, pairing)
}

/// What a game reported.
#[derive(Debug, Default)]
struct Reports(Mutex<Vec<Entry>>);

impl Reports {
    fn charged(&self) -> Vec<Duration> {
        let moved = |event: &Entry| match event {
            Entry::Moved(moved) => Some(moved.charged),
            _ => None,
        };
        self.0.lock().unwrap().iter().filter_map(moved).collect()
    }

    fn faults(&self) -> Vec<String> {
        let fault = |event: &Entry| match event {
            Entry::Fault { text, .. } => Some(text.clone()),
            _ => None,
        };
        self.0.lock().unwrap().iter().filter_map(fault).collect()
    }

    fn evidence(&self) -> String {
        match self.0.lock().unwrap().last() {
            Some(Entry::GameEnded(ended)) => ended.evidence.clone(),
            other => panic!("{other:?}"),
        }
    }
}

impl Sink for Reports {
    fn happened(&self, entry: Entry) {
        self.0.lock().unwrap().push(entry);
    }

    fn keep(&self, _: SideRecord) {}
}

/// A seat played by a test.
struct Player(ActorEnd);

impl Player {
    async fn say(&self, reply: Reply) {
        self.0.outbox.send((GAME, reply)).await.unwrap();
    }

    async fn answer(&self, said: Said, elapsed: Duration) {
        self.say(Reply::Answer(Answer { said, elapsed, ponders: false, thought: None })).await;
    }

    async fn play(&self, mv: &str, elapsed: Duration) {
        self.answer(moved(mv), elapsed).await;
    }

    async fn hear(&mut self) -> Order {
        self.0.inbox.recv().await.unwrap()
    }

    /// Waits for the turn.
    async fn turn(&mut self) {
        while !matches!(self.hear().await, Order::Go { .. }) {}
    }

    /// Answers each turn after the time given with the move given.
    async fn follow(mut self, line: &[(&str, u64)]) -> Self {
        self.say(Reply::Ready).await;
        for (mv, time) in line {
            self.turn().await;
            sleep(ms(*time)).await;
            self.play(mv, ms(*time)).await;
        }
        self
    }
}

fn moved(mv: &str) -> Said {
    Said::Move(Move::from_usi(mv).unwrap())
}

/// A game about to be played.
struct ScriptedGame {
    seats: [Seat; 2],
    reports: Reports,
    lag: SchedulerLag,
    stop: CancellationToken,
}

impl ScriptedGame {
    fn new() -> (Self, Player, Player) {
        let ((black, black_end), (white, white_end)) = (seat::pair(), seat::pair());
        let game = Self {
            seats: [black, white],
            reports: Reports::default(),
            lag: SchedulerLag::default(),
            stop: CancellationToken::new(),
        };
        (game, Player(black_end), Player(white_end))
    }

    async fn play(&mut self, time: TimeControl) -> Outcome {
        self.try_to_play(time).await.unwrap()
    }

    async fn try_to_play(&mut self, time: TimeControl) -> Result<Outcome, Unplayed> {
        let context = GameContext {
            sink: &self.reports,
            lag: &self.lag,
            stop: &self.stop,
            spectators: None,
            interventions: None,
        };
        play(fixture(time), &mut self.seats, context).await
    }

    async fn play_on_server(&mut self, terms: ServerTerms) -> Outcome {
        let context = GameContext {
            sink: &self.reports,
            lag: &self.lag,
            stop: &self.stop,
            spectators: None,
            interventions: None,
        };
        let fixture = fixture(sudden_death(secs(10)));
        play_under(Authority::Server(terms), fixture, &mut self.seats, context).await.unwrap()
    }
}

fn win(winner: Color, by: WinBy) -> Outcome {
    Outcome::Win { winner, by }
}

/// Polls a future until nothing more happens now; what it waits for may come while it is not looked at.
async fn settle<T>(future: &mut Pin<&mut impl Future<Output = T>>) {
    for _ in 0..32 {
        tokio::select! { biased;
            _ = future.as_mut() => panic!("it is over"),
            () = ready(()) => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_says_nothing_loses_on_time() {
    let (mut table, black, white) = ScriptedGame::new();
    let begin = Instant::now();
    let (outcome, _black, _white) =
        join!(table.play(sudden_death(secs(10))), black.follow(&[]), white.follow(&[]));
    assert_eq!(outcome, win(Color::White, WinBy::Time));
    assert_eq!(begin.elapsed(), secs(10) + ALARM_GRACE);
    assert!(table.reports.evidence().contains("no reply within 10000 ms"));
}

#[tokio::test(start_paused = true)]
async fn a_move_after_the_flag_fell_loses_on_time() {
    let (mut table, black, white) = ScriptedGame::new();
    let line = [("7g7f", 10_001)];
    let (outcome, _black, _white) =
        join!(table.play(sudden_death(secs(10))), black.follow(&line), white.follow(&[]));
    assert_eq!(outcome, win(Color::White, WinBy::Time));
    assert!(table.reports.evidence().contains("`7g7f` came after 10001 ms of 10000 ms"));
}

#[tokio::test(start_paused = true)]
async fn byoyomi_is_counted_to_the_millisecond() {
    let byoyomi = TimeControl { byoyomi: secs(1), ..TimeControl::default() };
    for (time, outcome) in [(1000, WinBy::Resignation), (1001, WinBy::Time)] {
        let (mut table, black, white) = ScriptedGame::new();
        let resigns = async {
            let mut white = white.follow(&[]).await;
            white.turn().await;
            white.answer(Said::Resign, ms(1)).await;
            pending::<()>().await;
        };
        let line = [("7g7f", time)];
        let game = async { join!(table.play(byoyomi), black.follow(&line)) };
        let (ended, _black) = tokio::select! {
            ended = game => ended,
            () = resigns => unreachable!(),
        };
        assert!(matches!(ended, Outcome::Win { by, .. } if by == outcome), "{time} ms: {ended:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_chatters_all_the_time_still_loses_at_the_deadline() {
    let (mut table, black, white) = ScriptedGame::new();
    let begin = Instant::now();
    let chatter = async {
        let black = black.follow(&[]).await;
        loop {
            sleep(ms(1)).await;
            let stale = Reply::Answer(Answer {
                said: Said::Resign,
                elapsed: Duration::ZERO,
                ponders: false,
                thought: None,
            });
            let _over = black.0.outbox.send((GameId(6), stale)).await;
        }
    };
    let game = async { join!(table.play(sudden_death(secs(10))), white.follow(&[])) };
    let outcome = tokio::select! {
        (outcome, _white) = game => outcome,
        () = chatter => unreachable!(),
    };
    assert_eq!(outcome, win(Color::White, WinBy::Time));
    assert_eq!(begin.elapsed(), secs(10) + ALARM_GRACE);
}

#[tokio::test(start_paused = true)]
async fn a_reply_in_the_mailbox_beats_the_alarm() {
    let (mut table, black, white) = ScriptedGame::new();
    let (mut black, white) = (black.follow(&[]).await, white.follow(&[]).await);
    let context = GameContext {
        sink: &table.reports,
        lag: &table.lag,
        stop: &table.stop,
        spectators: None,
        interventions: None,
    };
    let mut game = pin!(play(fixture(sudden_death(secs(10))), &mut table.seats, context));
    settle(&mut game).await;
    black.turn().await;
    // The thread of the game is held up until long after the alarm; meanwhile the reply has come.
    advance(secs(60)).await;
    black.play("7g7f", ms(9_999)).await;
    settle(&mut game).await;
    white.answer(Said::Resign, ms(1)).await;
    assert_eq!(game.await.unwrap(), win(Color::Black, WinBy::Resignation));
    assert_eq!(table.reports.charged(), [ms(9_999)]);
}

#[tokio::test(start_paused = true)]
async fn what_the_machine_was_late_itself_is_not_charged() {
    for (late, stands) in [(ms(90), true), (ms(10), false)] {
        let (mut table, black, white) = ScriptedGame::new();
        let (mut black, white) = (black.follow(&[]).await, white.follow(&[]).await);
        let lag = SchedulerLag::default();
        let context = GameContext {
            sink: &table.reports,
            lag: &lag,
            stop: &table.stop,
            spectators: None,
            interventions: None,
        };
        let mut game = pin!(play(fixture(sudden_death(secs(10))), &mut table.seats, context));
        settle(&mut game).await;
        black.turn().await;
        let turn = Instant::now();
        sleep(ms(10_050)).await;
        lag.record(turn + ms(9_900), turn + ms(9_900) + late);
        black.play("7g7f", ms(10_050)).await;
        white.answer(Said::Resign, ms(1)).await;
        let outcome = game.await.unwrap();
        match stands {
            true => assert_eq!(outcome, win(Color::Black, WinBy::Resignation)),
            false => assert_eq!(outcome, win(Color::White, WinBy::Time)),
        }
        assert!(table.reports.faults()[0].contains(&format!("{} ms late itself", late.as_millis())));
    }
}

#[tokio::test(start_paused = true)]
async fn the_alarm_waits_once_for_a_machine_that_was_late() {
    let (mut table, black, white) = ScriptedGame::new();
    let (mut black, _white) = (black.follow(&[]).await, white.follow(&[]).await);
    let lag = SchedulerLag::default();
    let context = GameContext {
        sink: &table.reports,
        lag: &lag,
        stop: &table.stop,
        spectators: None,
        interventions: None,
    };
    let mut game = pin!(play(fixture(sudden_death(secs(10))), &mut table.seats, context));
    settle(&mut game).await;
    black.turn().await;
    let turn = Instant::now();
    lag.record(turn + secs(1), turn + secs(3));
    assert_eq!(game.await.unwrap(), win(Color::White, WinBy::Time));
    assert_eq!(turn.elapsed(), secs(10) + ALARM_GRACE + secs(2));
}

#[tokio::test(start_paused = true)]
async fn who_speaks_out_of_turn_loses_and_who_resigns_then_has_resigned() {
    for (said, by) in [(Said::Win, WinBy::IllegalMove(Foul::OutOfTurn)), (Said::Resign, WinBy::Resignation)] {
        let (mut table, black, white) = ScriptedGame::new();
        let (mut black, white) = (black.follow(&[]).await, white.follow(&[]).await);
        let early = async {
            black.turn().await;
            sleep(secs(2)).await;
            white.answer(said, Duration::ZERO).await;
        };
        let (outcome, ()) = join!(table.play(sudden_death(secs(10))), early);
        assert_eq!(outcome, win(Color::Black, by));
    }
}

#[tokio::test(start_paused = true)]
async fn an_adjourned_game_ends_at_once_and_both_players_hear_of_it() {
    let (mut table, black, white) = ScriptedGame::new();
    let (mut black, mut white) = (black.follow(&[]).await, white.follow(&[]).await);
    let stop = table.stop.clone();
    let begin = Instant::now();
    let adjourning = async {
        black.turn().await;
        sleep(secs(3)).await;
        stop.cancel();
    };
    let (outcome, ()) = join!(table.play(sudden_death(secs(10))), adjourning);
    assert_eq!(outcome, Outcome::Aborted { by: AbortBy::Stopped });
    assert_eq!(begin.elapsed(), secs(3));
    assert_eq!(black.hear().await, Order::Over(outcome));
    assert!(matches!(white.hear().await, Order::NewGame { game: GAME, color: Color::White }));
    assert_eq!(white.hear().await, Order::Over(outcome));
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_is_given_up_loses_by_disconnection() {
    let (mut table, black, white) = ScriptedGame::new();
    let leaving = async {
        let mut black = black.follow(&[]).await;
        black.turn().await;
        drop(black);
    };
    let (outcome, (), _white) = join!(table.play(sudden_death(secs(10))), leaving, white.follow(&[]));
    assert_eq!(outcome, win(Color::White, WinBy::Disconnection));
    assert!(table.reports.evidence().contains("its seat was given up"));
}

#[tokio::test(start_paused = true)]
async fn a_player_whom_this_machine_cannot_seat_loses_nothing_and_the_game_is_to_be_played_again() {
    for is_other_ready in [false, true] {
        let (mut table, mut black, white) = ScriptedGame::new();
        if is_other_ready {
            black.say(Reply::Ready).await;
        }
        white.say(Reply::Unseated("no open files".to_owned())).await;
        let played = table.try_to_play(sudden_death(secs(10))).await;
        assert_eq!(played, Err(Unplayed::Lack("no open files".to_owned())));
        let entries = std::mem::take(&mut *table.reports.0.lock().unwrap());
        let [Entry::GameEnded(ended)] = &entries[..] else { panic!("{entries:?}") };
        assert_eq!(ended.outcome, Outcome::Aborted { by: AbortBy::NotStarted });
        assert_eq!(ended.evidence, "no open files");
        assert!(matches!(black.hear().await, Order::NewGame { .. }));
        assert_eq!(black.hear().await, Order::Over(ended.outcome));
    }
}

fn terms() -> ServerTerms {
    let left = [secs(10); 2];
    ServerTerms { server: Color::White, left, lag: Duration::ZERO, declares: false, restarts: 0 }
}

fn ruled(color: Color, mv: &str, charged: u64) -> Reply {
    let (said, raw, charged) = (moved(mv), mv.to_owned(), Some(secs(charged)));
    let ruled = RuledMove {
        color,
        said,
        raw,
        charged,
        elapsed: secs(1),
        lag: Duration::ZERO,
        passed: Duration::ZERO,
    };
    Reply::Ruled(Ruling::Moved(ruled))
}

/// Both ends of a game on a server, up to our first turn.
async fn begun(engine: &mut Player, server: &mut Player) {
    engine.say(Reply::Ready).await;
    assert!(matches!(server.hear().await, Order::NewGame { .. }));
    server.say(Reply::Ready).await;
    engine.turn().await;
}

#[tokio::test(start_paused = true)]
async fn on_a_server_only_the_server_runs_clocks_and_ends_games() {
    let (mut table, mut engine, mut server) = ScriptedGame::new();
    let ended = Outcome::Win { winner: Color::White, by: WinBy::Time };
    let talk = async {
        begun(&mut engine, &mut server).await;
        // Only when our time is over by far is the game resigned, which is a test of its own.
        sleep(secs(9)).await;
        engine.play("7g7f", secs(9)).await;
        assert!(matches!(server.hear().await, Order::Submit(answer) if answer.said == moved("7g7f")));
        server.say(ruled(Color::Black, "7g7f", 3)).await;
        let words = "#TIME_UP #LOSE".to_owned();
        server.say(Reply::Ruled(Ruling::Ended { outcome: ended, words })).await;
    };
    let (outcome, ()) = join!(table.play_on_server(terms()), talk);
    assert_eq!(outcome, ended);
    assert_eq!(table.reports.charged(), [secs(3)], "the time is the server's");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_rule_on_our_leaving_is_not_waited_for_long() {
    let (mut table, mut engine, mut server) = ScriptedGame::new();
    let stop = table.stop.clone();
    let talk = async {
        begun(&mut engine, &mut server).await;
        stop.cancel();
        assert!(matches!(server.hear().await, Order::Submit(answer) if answer.said == Said::Resign));
        Instant::now()
    };
    let (outcome, asked) = join!(table.play_on_server(terms()), talk);
    assert_eq!(outcome, Outcome::Aborted { by: AbortBy::Stopped });
    assert_eq!(asked.elapsed(), FAREWELL);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_left_some_minutes_after_both_clocks_have_run_out() {
    let (mut table, mut engine, mut server) = ScriptedGame::new();
    let begin = Instant::now();
    let talk = async {
        begun(&mut engine, &mut server).await;
        engine.play("7g7f", secs(0)).await;
        while !matches!(server.hear().await, Order::Over(_)) {}
    };
    let (outcome, ()) = join!(table.play_on_server(terms()), talk);
    assert_eq!(outcome, Outcome::Aborted { by: AbortBy::Server });
    assert_eq!(begin.elapsed(), secs(10 + 10 + 180) + ALARM_GRACE);
    assert!(table.reports.evidence().contains("no ruling of the server within 200 s"));
}
