//! The actor against scripted engines, in simulated time.

use super::*;
use crate::process::{Exit, Group};
use plan::SeatLimits;
use platform::life::{self, Ending};
use referee::{
    Color, Outcome, WinBy,
    clock::Budget,
    entry::GameId,
    game::{Answer, Said},
    sink::SideRecord,
};
use rsshogi::types::Move;
use std::{
    cell::RefCell,
    future::pending,
    pin::Pin,
    rc::Rc,
    sync::Mutex,
    task::{Context, Poll, Waker},
};
use tokio::{
    io::{AsyncWriteExt, ReadBuf, SimplexStream, WriteHalf, simplex},
    sync::{mpsc, oneshot},
    task::{LocalSet, spawn_local},
};

const SECOND: Duration = Duration::from_secs(1);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn engine() -> EnginePlan {
    EnginePlan {
        name: "it".to_owned(),
        command: "it".into(),
        margin_given: true,
        cores: 1.0,
        ..EnginePlan::default()
    }
}

/// The engine's end of its pipes: what it hears, line by line, and what it says.
struct Script {
    stdin: mpsc::UnboundedReceiver<String>,
    stdout: Option<WriteHalf<SimplexStream>>,
    /// Bytes in the pipe that the runtime has not heard of while it hears of others.
    unreported: Rc<RefCell<Vec<u8>>>,
    orders: mpsc::UnboundedReceiver<life::Order>,
    exit: Option<oneshot::Sender<Ending>>,
}

impl Script {
    /// The next line; pending for ever once stdin is closed, as an engine that does not know the end of its input.
    async fn hear(&mut self) -> String {
        match self.stdin.recv().await {
            Some(line) => line,
            None => pending().await,
        }
    }

    async fn expect(&mut self, line: &str) {
        assert_eq!(self.hear().await, line);
    }

    async fn say(&mut self, lines: &str) {
        self.begin_to_say(lines).await;
        self.begin_to_say("\n").await;
    }

    async fn begin_to_say(&mut self, bytes: &str) {
        self.stdout.as_mut().unwrap().write_all(bytes.as_bytes()).await.unwrap();
    }

    async fn introduce(&mut self) {
        self.expect("usi").await;
        self.say("id name Script\nusiok").await;
    }

    async fn get_ready(&mut self) {
        self.expect("isready").await;
        self.say("readyok").await;
        self.expect("usinewgame").await;
    }

    /// Up to the first turn.
    async fn sit_down(&mut self) {
        self.introduce().await;
        self.get_ready().await;
    }

    /// Ends by itself with this code.
    fn exit(&mut self, code: i32) {
        self.stdout = None;
        if let Some(exit) = self.exit.take() {
            exit.send(Ending::Exited(code)).ok();
        }
    }

    /// Lives on in silence until it is killed; the orders that it took.
    async fn live_until_killed(mut self) -> Vec<life::Order> {
        let mut taken = vec![];
        while let Some(order) = self.orders.recv().await {
            taken.push(order);
            if order == life::Order::Kill {
                self.exit(9);
            }
        }
        taken
    }
}

/// The actor's ends.
struct ScriptIn {
    lines: mpsc::UnboundedSender<String>,
    carry: Mutex<String>,
}

impl Input for ScriptIn {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut carry = self.carry.lock().unwrap();
        carry.push_str(std::str::from_utf8(bytes).unwrap());
        while let Some(end) = carry.find('\n') {
            let line: String = carry.drain(..=end).collect();
            self.lines.send(line.trim_end().to_owned()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(bytes.len())
    }

    async fn writable(&self) {}
}

struct ScriptOut(RefCell<Pin<Box<dyn AsyncRead>>>, Rc<RefCell<Vec<u8>>>);

impl ScriptOut {
    fn poll(&self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.0.borrow_mut().as_mut().poll_read(context, buffer) {
            Poll::Pending if !self.1.borrow().is_empty() => {
                buffer.put_slice(&self.1.take());
                Poll::Ready(Ok(()))
            }
            other => other,
        }
    }
}

impl AsyncRead for ScriptOut {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll(context, buffer)
    }
}

impl Output for ScriptOut {
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        let mut context = Context::from_waker(Waker::noop());
        match self.poll(&mut context, &mut buffer) {
            Poll::Ready(read) => read.map(|()| buffer.filled().len()),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

type Play = Pin<Box<dyn Future<Output = ()>>>;
type BoxedScript = Box<dyn FnOnce(Script) -> Play>;

/// Starts one script after another, and notes when.
struct ScriptedLauncher {
    scripts: RefCell<Vec<BoxedScript>>,
    /// What this machine lacks at the next starts, the next last.
    lacks: Rc<RefCell<Vec<io::ErrorKind>>>,
    starts: Rc<RefCell<Vec<Instant>>>,
}

impl Launcher for ScriptedLauncher {
    type Input = ScriptIn;
    type Output = ScriptOut;

    async fn launch(&self, _: &EnginePlan, _: &[usize]) -> io::Result<Process<ScriptIn, ScriptOut>> {
        if let Some(lack) = self.lacks.borrow_mut().pop() {
            return Err(lack.into());
        }
        if self.scripts.borrow().is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.starts.borrow_mut().push(Instant::now());
        let script = self.scripts.borrow_mut().remove(0);
        let (lines, stdin) = mpsc::unbounded_channel();
        let (output, stdout) = simplex(1 << 20);
        let (tell, orders) = mpsc::unbounded_channel();
        let (exit, told) = oneshot::channel();
        let unreported = Rc::default();
        let output = ScriptOut(RefCell::new(Box::pin(output)), Rc::clone(&unreported));
        spawn_local(script(Script { stdin, stdout: Some(stdout), unreported, orders, exit: Some(exit) }));
        Ok(Process {
            stdin: Some(ScriptIn { lines, carry: Mutex::default() }),
            stdout: output,
            stderr: None,
            exit: Exit::new(told),
            group: Group::Script(tell),
            is_far: false,
        })
    }
}

fn script<F: Future<Output = ()> + 'static>(play: impl FnOnce(Script) -> F + 'static) -> BoxedScript {
    Box::new(|script| Box::pin(play(script)))
}

/// Faults that were reported while no game suffered from them.
#[derive(Debug, Default)]
struct Faults(Mutex<Vec<String>>, Mutex<Vec<PlayerId>>);

impl Sink for Faults {
    fn happened(&self, entry: Entry) {
        if let Entry::Fault { text, player } = entry {
            self.0.lock().unwrap().push(text);
            self.1.lock().unwrap().extend(player);
        }
    }

    fn keep(&self, _: SideRecord) {}
}

/// A seat whose engines are scripts.
struct ScriptedSeat {
    seat: Seat,
    faults: Arc<Faults>,
    starts: Rc<RefCell<Vec<Instant>>>,
    startups: Arc<Semaphore>,
    lacks: Rc<RefCell<Vec<io::ErrorKind>>>,
}

impl ScriptedSeat {
    fn new(engine: EnginePlan, scripts: Vec<BoxedScript>) -> Self {
        Self::behind(None, engine, scripts)
    }

    fn behind(gate: Option<Arc<dyn Gate>>, engine: EnginePlan, scripts: Vec<BoxedScript>) -> Self {
        let (seat, end) = pair();
        let (faults, starts) = (Arc::new(Faults::default()), Rc::default());
        let lacks = Rc::<RefCell<Vec<io::ErrorKind>>>::default();
        let startups = Arc::new(Semaphore::new(1));
        let player = UsiPlayer {
            engine: Arc::new(engine),
            cores: vec![],
            startups: startups.clone(),
            reports: Some((faults.clone(), PlayerId(0))),
            recorder: None,
            gate,
        };
        let (scripts, lacks_then) = (RefCell::new(scripts), Rc::clone(&lacks));
        let launcher = ScriptedLauncher { scripts, lacks: lacks_then, starts: Rc::clone(&starts) };
        spawn_local(Actor::new(player, end, launcher).run());
        Self { seat, faults, starts, startups, lacks }
    }

    async fn order(&self, order: Order) {
        self.seat.orders.send(order).await.unwrap();
    }

    async fn new_game(&self, game: u64) {
        self.order(Order::NewGame { game: GameId(game), color: Color::Black }).await;
    }

    async fn go(&self, position: &str) {
        let budget = Budget { byoyomi: [10 * SECOND; 2], ..Budget::default() };
        self.order(Order::Go { position: position.to_owned(), last: None, budget }).await;
    }

    async fn over(&self) {
        self.order(Order::Over(Outcome::loss(Color::White, WinBy::Resignation))).await;
    }

    async fn reply(&mut self) -> (GameId, Reply) {
        self.seat.replies.recv().await.unwrap()
    }

    async fn answer(&mut self) -> Answer {
        match self.reply().await {
            (_, Reply::Answer(answer)) => answer,
            other => panic!("{other:?}"),
        }
    }

    /// The words in which the seat says that its engine is gone.
    async fn gone(&mut self) -> String {
        match self.reply().await {
            (_, Reply::Gone(text)) => text,
            other => panic!("{other:?}"),
        }
    }
}

/// Runs a test with its scripts on one thread, whose clock is simulated.
fn in_simulated_time<F: Future<Output = ()>>(test: F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    LocalSet::new().block_on(&runtime.unwrap(), test);
}

#[test]
fn an_engine_without_usiok_is_given_up_at_its_limit() {
    in_simulated_time(async {
        let limits = SeatLimits { start: 7 * SECOND, ..SeatLimits::default() };
        let silent = script(|script| async { drop(script.live_until_killed().await) });
        let mut player = ScriptedSeat::new(EnginePlan { limits, ..engine() }, vec![silent]);
        let begin = Instant::now();
        player.new_game(1).await;
        assert_eq!(player.gone().await, "no `usiok` within 7000 ms");
        assert_eq!(begin.elapsed(), 7 * SECOND);
    });
}

/// Has the engines of this thread wait for a processor from now on, for so long.
fn starve(time: Duration) {
    let begin = Instant::now();
    let state = move || {
        let (ran, queued) = (begin.elapsed().saturating_sub(time), time.min(begin.elapsed()));
        let is_over = !ran.is_zero();
        // The system counts a wait when it is over.
        let queued = if is_over { queued } else { Duration::ZERO };
        (platform::usage::Thread { id: 1, ran, queued }, !is_over)
    };
    crate::waits::system::STATE.set(Some(Box::new(state)));
}

#[test]
fn an_engine_that_gets_no_processor_is_waited_for_and_given_up_with_a_word_about_the_machine() {
    in_simulated_time(async {
        let limits = SeatLimits { start: 7 * SECOND, ..SeatLimits::default() };
        let late = script(|mut script| async move {
            sleep(40 * SECOND).await;
            script.sit_down().await;
            script.live_until_killed().await;
        });
        let mut player = ScriptedSeat::new(EnginePlan { limits, ..engine() }, vec![late]);
        starve(35 * SECOND);
        player.new_game(1).await;
        assert_eq!(player.reply().await, (GameId(1), Reply::Ready));
        let silent = script(|script| async { drop(script.live_until_killed().await) });
        let mut player = ScriptedSeat::new(EnginePlan { limits, ..engine() }, vec![silent]);
        let begin = Instant::now();
        starve(1000 * SECOND);
        player.new_game(2).await;
        let said = player.gone().await;
        assert!(
            said.starts_with("no `usiok` within 7000 ms, not counting 62980 ms in which it waited"),
            "{said}"
        );
        assert!(said.contains("this machine is too busy"), "{said}");
        assert_eq!(begin.elapsed(), 70 * SECOND, "there is an end");
    });
}

/// The look at an engine that is this script.
async fn look_at(play: BoxedScript) -> Result<Handshake, LookFault> {
    look_lacking(vec![], play).await
}

/// The same on a machine that lacks something at the start.
async fn look_lacking(lacks: Vec<io::ErrorKind>, play: BoxedScript) -> Result<Handshake, LookFault> {
    let (_seat, end) = pair();
    let player = UsiPlayer::alone(Arc::new(engine()));
    let (scripts, lacks) = (RefCell::new(vec![play]), Rc::new(RefCell::new(lacks)));
    let launcher = ScriptedLauncher { scripts, lacks, starts: Rc::default() };
    Actor::new(player, end, launcher).look(Reach::Move, &tokio::sync::watch::channel(Step::default()).0).await
}

#[test]
fn a_look_waits_for_a_move_that_waits_for_a_processor_and_does_not_refuse_an_engine_for_a_slow_goodbye() {
    let answers_after = |time: Duration| {
        script(move |mut script| async move {
            script.sit_down().await;
            script.expect("position startpos").await;
            assert!(script.hear().await.starts_with("go "));
            sleep(time).await;
            script.say("bestmove 7g7f").await;
            script.live_until_killed().await;
        })
    };
    in_simulated_time(async move {
        assert!(look_at(answers_after(SECOND)).await.unwrap().stays);
        let silent = look_at(answers_after(60 * SECOND)).await.unwrap_err();
        assert_eq!(silent.how.to_string(), "no `bestmove` within 8200 ms, `stop` included");
        starve(20 * SECOND);
        assert!(look_at(answers_after(20 * SECOND)).await.is_ok());
        starve(1000 * SECOND);
        let silent = look_at(answers_after(1000 * SECOND)).await.unwrap_err().how.to_string();
        assert!(silent.contains("no `bestmove` within 8200 ms, `stop` included, not counting "), "{silent}");
    });
}

fn honest() -> BoxedScript {
    script(|mut script| async move {
        script.sit_down().await;
        script.live_until_killed().await;
    })
}

#[test]
fn a_start_that_this_machine_lacks_the_means_for_is_tried_again_and_costs_the_engine_nothing() {
    in_simulated_time(async {
        for restart in [Restart::OnFault, Restart::EveryGame, Restart::Never] {
            let mut player = ScriptedSeat::new(EnginePlan { restart, ..engine() }, vec![honest()]);
            player.lacks.borrow_mut().extend([io::ErrorKind::OutOfMemory; LACKS as usize - 1]);
            player.new_game(1).await;
            assert_eq!(player.reply().await, (GameId(1), Reply::Ready));
            assert_eq!(player.starts.borrow().len(), 1);
            let faults = player.faults.0.lock().unwrap();
            assert_eq!(faults.len(), 1, "said once: {faults:?}");
            assert!(faults[0].contains("; this is no fault of the engine: allow Renmei more"), "{faults:?}");
            assert_eq!(*player.faults.1.lock().unwrap(), [], "no player is blamed");
        }
    });
}

#[test]
fn a_lack_of_this_machine_that_lasts_leaves_a_game_unplayed_and_its_engine_free_to_play_the_next() {
    in_simulated_time(async {
        let engine = EnginePlan { restart: Restart::Never, ..engine() };
        let mut player = ScriptedSeat::new(engine, vec![honest()]);
        player.lacks.borrow_mut().extend([io::ErrorKind::StorageFull; LACKS as usize]);
        let begin = Instant::now();
        player.new_game(1).await;
        let (game, Reply::Unseated(why)) = player.reply().await else { panic!("not unseated") };
        assert_eq!(game, GameId(1));
        assert!(why.starts_with("`it` could not be started: ") && why.contains("no fault"), "{why}");
        assert!(begin.elapsed() > SECOND && begin.elapsed() < 5 * SECOND, "{:?}", begin.elapsed());
        player.over().await;
        player.new_game(2).await;
        assert_eq!(player.reply().await, (GameId(2), Reply::Ready));
        // What the program itself is at fault for is still its own.
        let mut player = ScriptedSeat::new(self::engine(), vec![]);
        player.new_game(1).await;
        assert!(!player.gone().await.contains("no fault"));
        let seen = look_lacking(vec![io::ErrorKind::QuotaExceeded], honest()).await.unwrap_err();
        assert!(matches!(seen.how, Failing::Ours(_)), "{seen}");
        let seen = look_lacking(vec![io::ErrorKind::PermissionDenied], honest()).await.unwrap_err();
        assert!(matches!(seen.how, Failing::Fault(_)), "{seen}");
    });
}

#[test]
fn an_engine_that_nobody_trusts_is_stopped_from_its_move_to_the_next_line_that_it_is_sent() {
    let play = |mut script: Script| async move {
        script.sit_down().await;
        for turn in 1..=2 {
            script.expect("position startpos").await;
            assert!(script.hear().await.starts_with("go "));
            assert!(script.orders.try_recv().is_err(), "it is its turn {turn}");
            script.say("bestmove 7g7f").await;
            assert_eq!(script.orders.recv().await, Some(life::Order::Rest));
            assert_eq!(script.orders.recv().await, Some(life::Order::Resume));
        }
        script.expect("gameover win").await;
        script.live_until_killed().await;
    };
    in_simulated_time(async {
        let sandbox = plan::SandboxPlan { kind: Sandbox::Strict, ..Default::default() };
        let mut player = ScriptedSeat::new(EnginePlan { sandbox, ..engine() }, vec![script(play)]);
        player.new_game(1).await;
        assert_eq!(player.reply().await, (GameId(1), Reply::Ready));
        for _ in 0..2 {
            player.go("startpos").await;
            assert!(matches!(player.answer().await.said, Said::Move(_)));
            sleep(SECOND).await;
        }
        player.over().await;
        sleep(SECOND).await;
        assert!(player.faults.0.lock().unwrap().is_empty());
    });
    // One that may ponder is its opponent's equal.
    let play = |mut script: Script| async move {
        script.introduce().await;
        script.expect("setoption name USI_Ponder value true").await;
        script.get_ready().await;
        script.expect("position startpos").await;
        script.hear().await;
        script.say("bestmove 7g7f").await;
        script.expect("gameover win").await;
        assert!(script.orders.try_recv().is_err());
        script.live_until_killed().await;
    };
    in_simulated_time(async {
        let sandbox = plan::SandboxPlan { kind: Sandbox::Strict, ..Default::default() };
        let engine = EnginePlan { sandbox, ponder: true, ..engine() };
        let mut player = ScriptedSeat::new(engine, vec![script(play)]);
        player.new_game(1).await;
        player.reply().await;
        player.go("startpos").await;
        player.answer().await;
        player.over().await;
        sleep(SECOND).await;
    });
}

#[test]
fn isready_has_a_limit_of_its_own_that_is_longer_for_a_fresh_process() {
    in_simulated_time(async {
        let limits = SeatLimits { ready: 60 * SECOND, new_game: 3 * SECOND, ..SeatLimits::default() };
        let play = |mut script: Script| async move {
            script.introduce().await;
            script.expect("isready").await;
            sleep(59 * SECOND).await;
            script.say("readyok").await;
            script.expect("usinewgame").await;
            script.expect("gameover win").await;
            script.expect("isready").await;
            script.live_until_killed().await;
        };
        let restarted = |script: Script| async { drop(script.live_until_killed().await) };
        let mut player =
            ScriptedSeat::new(EnginePlan { limits, ..engine() }, vec![script(play), script(restarted)]);
        player.new_game(1).await;
        assert_eq!(player.reply().await, (GameId(1), Reply::Ready));
        player.over().await;
        let begin = Instant::now();
        player.new_game(2).await;
        assert!(player.gone().await.starts_with("no `usiok`"), "the second process fails too");
        assert_eq!(player.starts.borrow()[1] - begin, 3 * SECOND);
        let faults = player.faults.0.lock().unwrap();
        assert!(faults[0].contains("no `readyok` between games within 3000 ms"), "{faults:?}");
    });
}

#[test]
fn the_time_of_a_move_runs_from_the_write_of_go_to_the_read_of_bestmove() {
    in_simulated_time(async {
        let play = |mut script: Script| async move {
            script.sit_down().await;
            script.expect("position startpos").await;
            assert!(script.hear().await.starts_with("go "));
            sleep(ms(2345)).await;
            script.say("info depth 9 score cp 31 pv 7g7f\nbestmove 7g7f").await;
            script.live_until_killed().await;
        };
        let mut player = ScriptedSeat::new(engine(), vec![script(play)]);
        player.new_game(1).await;
        assert_eq!(player.reply().await, (GameId(1), Reply::Ready));
        sleep(3600 * SECOND).await;
        player.go("startpos").await;
        let answer = player.answer().await;
        assert_eq!(answer.elapsed, ms(2345));
        assert_eq!(answer.said, Said::Move(Move::from_usi("7g7f").unwrap()));
        assert_eq!(answer.thought.unwrap().depth, Some(9));
    });
}

#[test]
fn an_engine_that_does_not_answer_stop_is_replaced_before_the_next_game() {
    in_simulated_time(async {
        let limits = SeatLimits { stop: 2 * SECOND, ..SeatLimits::default() };
        let deaf = |mut script: Script| async move {
            script.sit_down().await;
            script.expect("position startpos").await;
            assert!(script.hear().await.starts_with("go "));
            script.expect("stop").await;
            assert_eq!(script.live_until_killed().await.first(), Some(&life::Order::Kill));
        };
        let fresh = |mut script: Script| async move {
            script.sit_down().await;
            script.live_until_killed().await;
        };
        let mut player =
            ScriptedSeat::new(EnginePlan { limits, ..engine() }, vec![script(deaf), script(fresh)]);
        player.new_game(1).await;
        player.reply().await;
        player.go("startpos").await;
        sleep(SECOND).await;
        player.over().await;
        let begin = Instant::now();
        player.new_game(2).await;
        assert_eq!(player.reply().await, (GameId(2), Reply::Ready));
        assert!(begin.elapsed() >= 2 * SECOND);
        assert!(player.faults.0.lock().unwrap()[0].contains("no `bestmove` after `stop` within 2000 ms"));
    });
}

#[test]
fn a_hit_is_charged_from_ponderhit_and_a_miss_costs_the_stopping() {
    in_simulated_time(async {
        let play = |mut script: Script| async move {
            script.expect("usi").await;
            script.say("usiok").await;
            script.expect("setoption name USI_Ponder value true").await;
            script.get_ready().await;
            script.expect("position startpos").await;
            script.hear().await;
            script.say("bestmove 7g7f ponder 3c3d").await;
            script.expect("position startpos moves 7g7f 3c3d").await;
            assert!(script.hear().await.starts_with("go ponder "));
            script.expect("ponderhit").await;
            sleep(ms(40)).await;
            script.say("bestmove 2g2f ponder 8c8d").await;
            script.expect("position startpos moves 7g7f 3c3d 2g2f 8c8d").await;
            assert!(script.hear().await.starts_with("go ponder "));
            script.expect("stop").await;
            sleep(ms(300)).await;
            script.say("bestmove 2f2e").await;
            script.expect("position startpos moves 7g7f 3c3d 2g2f 4a3b").await;
            assert!(script.hear().await.starts_with("go btime "));
            sleep(ms(50)).await;
            script.say("bestmove 2f2e").await;
            script.live_until_killed().await;
        };
        let mut player = ScriptedSeat::new(EnginePlan { ponder: true, ..engine() }, vec![script(play)]);
        player.new_game(1).await;
        player.reply().await;
        player.go("startpos").await;
        assert!(player.answer().await.ponders);
        let budget = Budget { byoyomi: [SECOND; 2], ..Budget::default() };
        player.order(Order::Ponder(budget)).await;
        sleep(5 * SECOND).await;
        player.go("startpos moves 7g7f 3c3d").await;
        assert_eq!(player.answer().await.elapsed, ms(40), "the opponent's time is free");
        player.order(Order::Ponder(budget)).await;
        sleep(5 * SECOND).await;
        player.go("startpos moves 7g7f 3c3d 2g2f 4a3b").await;
        assert_eq!(player.answer().await.elapsed, ms(350));
    });
}

#[test]
fn what_an_engine_began_to_say_before_go_is_no_answer_to_it() {
    // Of a second answer to `stop` all but its end was read with the first, or it lies in the pipe behind the first.
    for is_begun in [true, false] {
        in_simulated_time(async move {
            let play = move |mut script: Script| async move {
                script.introduce().await;
                script.expect("setoption name USI_Ponder value true").await;
                script.get_ready().await;
                script.expect("position startpos").await;
                script.hear().await;
                script.say("bestmove 7g7f ponder 3c3d").await;
                script.expect("position startpos moves 7g7f 3c3d").await;
                assert!(script.hear().await.starts_with("go ponder "));
                script.expect("stop").await;
                if is_begun {
                    script.begin_to_say("bestmove resign\nbestmove resign").await;
                } else {
                    script.unreported.borrow_mut().extend(b"bestmove resign\n");
                    script.say("bestmove resign").await;
                }
                script.expect("position startpos moves 7g7f 4a3b").await;
                assert!(script.hear().await.starts_with("go btime "));
                if is_begun {
                    script.say("").await;
                }
                sleep(ms(50)).await;
                script.say("bestmove 2g2f").await;
                script.live_until_killed().await;
            };
            let mut player = ScriptedSeat::new(EnginePlan { ponder: true, ..engine() }, vec![script(play)]);
            player.new_game(1).await;
            player.reply().await;
            player.go("startpos").await;
            assert!(player.answer().await.ponders);
            player.order(Order::Ponder(Budget { byoyomi: [SECOND; 2], ..Budget::default() })).await;
            sleep(SECOND).await;
            player.go("startpos moves 7g7f 4a3b").await;
            let answer = player.answer().await;
            assert_eq!(answer.said, Said::Move(Move::from_usi("2g2f").unwrap()), "{is_begun}");
            assert_eq!(answer.elapsed, ms(50));
        });
    }
}

#[test]
fn an_engine_that_fails_at_its_start_again_and_again_is_started_more_and_more_slowly() {
    in_simulated_time(async {
        let crash = || {
            script(|mut script: Script| async move {
                script.expect("usi").await;
                script.exit(1);
            })
        };
        let mut player = ScriptedSeat::new(engine(), (0..7).map(|_| crash()).collect());
        for game in 1..=7 {
            player.new_game(game).await;
            assert_eq!(player.gone().await, "it exited with code 1");
        }
        let starts = player.starts.borrow();
        let pauses: Vec<_> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(pauses[0] < ms(50), "one failure may be an accident: {pauses:?}");
        for (at, pause) in pauses.iter().enumerate().skip(1) {
            let ceiling = ms(50 << (at + 1));
            assert!((ceiling / 2..=ceiling + ms(10)).contains(pause), "{pauses:?}");
        }
    });
}

#[test]
fn what_an_engine_said_before_it_died_counts_and_then_its_death() {
    in_simulated_time(async {
        let play = |mut script: Script| async move {
            script.sit_down().await;
            script.expect("position startpos").await;
            script.hear().await;
            script.say("bestmove 7g7f").await;
            script.exit(3);
        };
        let mut player = ScriptedSeat::new(engine(), vec![script(play)]);
        player.new_game(1).await;
        player.reply().await;
        player.go("startpos").await;
        assert_eq!(player.answer().await.said, Said::Move(Move::from_usi("7g7f").unwrap()));
        assert_eq!(player.gone().await, "it exited with code 3");
    });
}

#[test]
fn an_engine_that_is_not_to_be_restarted_is_not() {
    in_simulated_time(async {
        let play = |mut script: Script| async move {
            script.sit_down().await;
            script.exit(3);
        };
        let plan = EnginePlan { restart: Restart::Never, ..engine() };
        let mut player = ScriptedSeat::new(plan, vec![script(play), script(|_| async {})]);
        player.new_game(1).await;
        player.reply().await;
        assert_eq!(player.gone().await, "it exited with code 3");
        player.new_game(2).await;
        assert_eq!(player.gone().await, "it had a fault before and is not started again");
        assert_eq!(player.starts.borrow().len(), 1);
    });
}

#[test]
fn a_program_that_is_not_there_is_said_by_its_path() {
    in_simulated_time(async {
        let mut player = ScriptedSeat::new(engine(), vec![]);
        player.new_game(1).await;
        assert_eq!(player.gone().await, "`it` could not be started: entity not found");
    });
}

#[test]
fn the_permit_to_start_is_kept_until_the_engine_is_ready() {
    in_simulated_time(async {
        let play = |mut script: Script| async move {
            script.introduce().await;
            script.expect("isready").await;
            sleep(20 * SECOND).await;
            script.say("readyok").await;
            script.live_until_killed().await;
        };
        let mut player = ScriptedSeat::new(engine(), vec![script(play)]);
        player.new_game(1).await;
        sleep(19 * SECOND).await;
        assert_eq!(player.startups.available_permits(), 0);
        player.reply().await;
        sleep(ms(1)).await;
        assert_eq!(player.startups.available_permits(), 1);
    });
}

#[test]
fn a_process_ends_in_stages_each_with_its_own_patience() {
    in_simulated_time(async {
        let (tell, told) = oneshot::channel();
        let limits = SeatLimits { quit: 4 * SECOND, terminate: 6 * SECOND, ..SeatLimits::default() };
        let stubborn = move |mut script: Script| async move {
            script.sit_down().await;
            script.expect("quit").await;
            let asked = Instant::now();
            let mut taken = vec![];
            while taken.last().is_none_or(|(order, _)| *order != life::Order::Kill) {
                let order = script.orders.recv().await.unwrap();
                taken.push((order, asked.elapsed()));
            }
            script.exit(9);
            tell.send(taken).unwrap();
        };
        let mut player = ScriptedSeat::new(EnginePlan { limits, ..engine() }, vec![script(stubborn)]);
        player.new_game(1).await;
        player.reply().await;
        sleep(SECOND).await;
        drop(player);
        let stages = [(life::Order::Leave, 4 * SECOND), (life::Order::Kill, 10 * SECOND)];
        assert_eq!(told.await.unwrap(), stages);
    });
}

#[test]
fn an_engine_that_floods_hears_stop_at_once() {
    in_simulated_time(async {
        let play = |mut script: Script| async move {
            script.sit_down().await;
            script.expect("position startpos").await;
            script.hear().await;
            while script.stdin.try_recv().is_err() {
                script.say(&"info depth 1 score cp 0 pv 7g7f\n".repeat(32_768)).await;
            }
            script.say("bestmove 7g7f").await;
            script.expect("gameover win").await;
            script.get_ready().await;
            script.live_until_killed().await;
        };
        let mut player = ScriptedSeat::new(engine(), vec![script(play)]);
        player.new_game(1).await;
        player.reply().await;
        player.go("startpos").await;
        sleep(ms(50)).await;
        let begin = Instant::now();
        player.over().await;
        player.new_game(2).await;
        assert_eq!(player.reply().await, (GameId(2), Reply::Ready));
        assert!(begin.elapsed() < ms(50), "{:?}", begin.elapsed());
    });
}

/// A gate with a number of starts left before somebody is suspicious, and then not let through.
#[derive(Debug)]
struct Closing(std::sync::atomic::AtomicI32);

impl Gate for Closing {
    fn is_suspect(&self) -> bool {
        self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) <= 0
    }

    fn opens(&self) -> bool {
        false
    }
}

#[test]
fn an_engine_behind_a_closed_gate_is_not_started_and_its_seat_stays_silent() {
    in_simulated_time(async {
        let play = |mut script: Script| async move {
            script.sit_down().await;
            script.expect("gameover win").await;
            script.expect("quit").await;
            script.exit(0);
        };
        let gate = Arc::new(Closing(1.into()));
        let plan = EnginePlan { restart: Restart::EveryGame, ..engine() };
        let mut player = ScriptedSeat::behind(Some(gate), plan, vec![script(play), script(play)]);
        player.new_game(1).await;
        assert!(matches!(player.reply().await, (GameId(1), Reply::Ready)));
        player.over().await;
        player.new_game(2).await;
        let reply = tokio::time::timeout(3600 * SECOND, player.seat.replies.recv()).await;
        assert!(reply.is_err(), "neither ready nor gone: {reply:?}");
        assert_eq!(player.starts.borrow().len(), 1);
    });
}
