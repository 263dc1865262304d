use super::*;
use crate::{
    messages::{Answer, Hello, Holding, PROTOCOL, Welcome},
    wire::Seals,
};
use arena::desk::DeskNote;
use futures_util::StreamExt;
use journal::{EventHead, Journal};
use plan::EnginePlan;
use referee::{
    Color, Outcome, WinBy,
    adjudicate::Adjudication,
    clock::TimeControl,
    entry::{GameEnded, GameId, GameStarted, Opened},
    game::{Input, Output, Reply, Said, Setup},
    lease::Committed,
    rules::Rules,
    running::Ply,
    schedule::Pairing,
};
use std::{
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
};

const WORKER: &str = "abcdef0012345678";
const EVEN: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
/// An event, and its journal.
fn event_in(database: &Path, key: hub::EventId) -> (EventOfDesk, Journal) {
    let database = database.to_owned();
    let head = EventHead { name: "event", kind: "run", plan: "{}", fingerprint: "{}" };
    let opening = Journal::open(&database, &head).unwrap();
    let event = opening.event().event;
    let fleet = opening.writer().begin_fleet(event, &key.to_string()).unwrap();
    let engine = |name: &str| EnginePlan { name: name.to_owned(), ..EnginePlan::default() };
    let engines = vec![engine("a"), engine("b")];
    let plan = plan::Plan::of_engines("event", engines, database.clone());
    let journal = opening.start(vec![], || ()).unwrap();
    let players = vec!["a".to_owned(), "b".to_owned()];
    let opened = Opened { name: "event".to_owned(), players, format: String::new(), resumed: false };
    journal.happened(Entry::Opened(opened));
    let of_desk = EventOfDesk {
        database,
        event,
        fleet,
        terms: EventOfDesk::terms(&plan, &[None, None]),
        dropped: vec![],
        repeats: Some(1),
        scaling: Scaling::default(),
        scale_here: Scale::ONE,
        boards: Arc::default(),
    };
    (of_desk, journal)
}

/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);

struct Server(Child, String, hub::EventId);

impl Server {
    /// `None` where there is none to start.
    fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("nats-server");
        command
            .args(["-a", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if !golden::has("nats-server", golden::program("nats-server").is_some()) {
            return None;
        }
        let child = command.spawn().unwrap();
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < PATIENCE);
            thread::sleep(Duration::from_millis(10));
        }
        Some(Self(child, format!("nats://127.0.0.1:{port}"), hub::EventId::random()))
    }

    async fn wire(&self) -> Wire {
        Wire::new(async_nats::connect(&self.1).await.unwrap(), self.2, Seals::None)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _dead_already = self.0.kill();
        let _reaped_already = self.0.wait();
    }
}

/// A desk with a journal, and a worker that does what a test wants.
struct Bench {
    desk: MachineDesk,
    notes: Receiver<Note>,
    journal: Journal,
    faults: Vec<String>,
    /// What the desk has said.
    said: Arc<Mutex<Vec<String>>>,
    worker: Runtime,
    wire: Wire,
    id: WorkerId,
    _directory: tempfile::TempDir,
    server: Server,
}

impl Bench {
    fn start() -> Option<Self> {
        let server = Server::start()?;
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("event.db");
        let (of_desk, journal) = event_in(&database, server.2);
        let said = Arc::<Mutex<Vec<String>>>::default();
        let heard = said.clone();
        let say: Say = Arc::new(move |line: &str| lock(&heard).push(line.to_owned()));
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let wire = runtime.block_on(server.wire());
        let mut desk = MachineDesk::on(of_desk, say, runtime, wire, None);
        let (sender, notes) = channel();
        assert_eq!(desk.open(sender, journal.sink()).unwrap(), []);
        desk.begin().unwrap();
        let worker = Builder::new_current_thread().enable_all().build().unwrap();
        let wire = worker.block_on(server.wire());
        let bench = Self {
            desk,
            notes,
            journal,
            faults: vec![],
            said,
            worker,
            wire,
            id: WORKER.parse().unwrap(),
            _directory: directory,
            server,
        };
        bench.worker.block_on(async {
            let hello = serde_json::to_vec(&hello()).unwrap();
            let ask = || bench.wire.ask::<Welcome>(&bench.id, "hello", hello.clone());
            // The server may not know yet that the manager listens.
            while !matches!(ask().await, Ok(Welcome::Come(_))) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        Some(bench)
    }

    fn ask<A: DeserializeOwned>(&self, kind: &str, message: &impl serde::Serialize) -> A {
        let message = serde_json::to_vec(message).unwrap();
        self.worker.block_on(self.wire.ask(&WORKER.parse().unwrap(), kind, message)).unwrap()
    }

    /// Gives the worker a pair, and receives it there.
    fn give(&mut self) -> Job {
        let mut jobs = self.worker.block_on(self.wire.to_worker(&WORKER.parse().unwrap(), "job")).unwrap();
        // The server knows of the subscription before anything is sent.
        self.worker.block_on(self.wire.settle());
        let lease = self.desk.give(vec![fixture(0), fixture(1)]).unwrap();
        let job = self.worker.block_on(jobs.next()).unwrap();
        let job: Job = serde_json::from_slice(&job.payload).unwrap();
        assert_eq!((job.lease, job.games.len()), (lease, 2));
        job
    }

    /// The next note that says what becomes of a lease; faults before it are kept.
    fn next(&mut self) -> DeskNote {
        loop {
            match self.notes.recv_timeout(PATIENCE).unwrap() {
                Note::Desk(DeskNote::Fault(_, text)) => self.faults.push(text),
                Note::Desk(DeskNote::Free) => {}
                Note::Desk(note) => return note,
                other => panic!("{other:?}"),
            }
        }
    }

    /// Stores what was played, as the dispatcher does.
    fn store(&mut self) {
        let DeskNote::Played(played) = self.next() else { panic!("not played") };
        let PlayedJob { lease, machine, sha256, games, kept } = *played;
        let committed = Committed { lease, machine, sha256, games: vec![] };
        assert_eq!(games.len(), 2);
        self.journal.append_with([], [SideRecord::Committed(Box::new(committed))]);
        self.journal.sink().when_kept(kept);
    }

    /// Answers a job, and stores the answer meanwhile.
    fn answer_and_store(&mut self, answer: &Answer) -> Taken {
        let (address, event, message) =
            (self.server.1.clone(), self.server.2, serde_json::to_vec(answer).unwrap());
        let asked = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let wire = Wire::new(async_nats::connect(address).await.unwrap(), event, Seals::None);
                wire.ask(&WORKER.parse().unwrap(), "result", message).await.unwrap()
            })
        });
        self.store();
        asked.join().unwrap()
    }

    fn faults(&mut self) -> String {
        while let Ok(Note::Desk(note)) = self.notes.try_recv() {
            if let DeskNote::Fault(_, text) = note {
                self.faults.push(text);
            }
        }
        self.faults.join("\n")
    }
}

fn hello() -> Hello {
    let holding = Holding { now: now(), ..Holding::default() };
    let (build, name) = ("0.1.0".to_owned(), "box2".to_owned());
    Hello {
        protocol: PROTOCOL,
        build,
        session: 1,
        name,
        slots: 2,
        cores: 2,
        tags: vec![],
        speed: None,
        ready: true,
        holding,
    }
}

fn fixture(index: u64) -> Fixture {
    let (black, white) = if index.is_multiple_of(2) { (0, 1) } else { (1, 0) };
    let pairing = Pairing {
        stage: 0,
        index,
        attempt: 0,
        round: 1,
        pair: index / 2,
        opening: index / 2,
        black: PlayerId(black),
        white: PlayerId(white),
    };
    let setup = Setup {
        game: GameId(0),
        rules: Rules::default(),
        adjudication: Adjudication::default(),
        times: [TimeControl { main: Duration::from_secs(10), ..TimeControl::default() }; 2],
        start: EVEN.to_owned(),
        opening: vec![],
        hears: [false; 2],
        may_reject: false,
    };
    Fixture {
        setup,
        pairing,
        draws: 0,
        replays_draws: false,
        tells_times: false,
        options: Default::default(),
    }
}

/// A game in which black resigns at once.
fn played(index: u64) -> Vec<Stamped> {
    playing(index, &[])
}

/// A game in which white resigns after a move.
fn with_a_move(index: u64) -> Vec<Stamped> {
    playing(index, &["7g7f"])
}

fn playing(index: u64, moves: &[&str]) -> Vec<Stamped> {
    let fixture = fixture(index);
    let (mut game, _) = referee::game::Game::start(fixture.setup.clone()).unwrap();
    for color in Color::BOTH {
        game.handle(Input::Reply(color, Reply::Ready));
    }
    let said = |said| referee::game::Answer { said, elapsed: Duration::ZERO, ponders: false, thought: None };
    let pairing = fixture.pairing;
    let start =
        GameStarted { game: GameId(1), pairing, start: EVEN.to_owned(), opening: String::new(), times: None };
    let (mut entries, mut outcome) = (vec![Entry::GameStarted(start)], None);
    let moves = moves.iter().map(|usi| Said::Move(rsshogi::types::Move::from_usi(usi).unwrap()));
    for answer in moves.chain([Said::Resign]).map(said) {
        let turn = game.turn();
        for output in game.handle(Input::Reply(turn, Reply::Answer(answer))) {
            match output {
                Output::Happened(Entry::Moved(moved)) => {
                    entries.push(Entry::Moved(referee::entry::Moved { game: GameId(1), ..moved }));
                }
                Output::Ended(ended, _) => outcome = Some(ended),
                _ => {}
            }
        }
    }
    let (evidence, plies) = (String::new(), game.plies());
    entries.push(Entry::GameEnded(GameEnded {
        game: GameId(1),
        pairing,
        outcome: outcome.unwrap(),
        plies,
        evidence,
        replayed: false,
    }));
    entries.into_iter().map(|entry| Stamped { at: now(), entry }).collect()
}

fn answer(job: &Job) -> Answer {
    Answer { lease: job.lease, repeats: job.repeats, games: vec![played(0), played(1)] }
}

#[test]
fn an_answer_is_stored_once_however_often_it_comes_and_other_games_under_its_lease_are_a_fault() {
    let Some(mut bench) = Bench::start() else { return };
    let job = bench.give();
    let answer = answer(&job);
    assert_eq!(bench.answer_and_store(&answer), Taken::Committed);
    for _ in 0..3 {
        assert_eq!(bench.ask::<Taken>("result", &answer), Taken::Committed);
    }
    let mut other = answer.clone();
    other.games[1][0].at += 1;
    let Taken::Refused { why } = bench.ask("result", &other) else { panic!("it was taken") };
    assert!(why.contains("was answered once more with other games"), "{why}");
    assert_eq!(bench.faults().lines().count(), 1);
    assert!(bench.faults().starts_with("machine `box2`: lease "));
    bench.desk.close(Closing::Over);
}

#[test]
fn an_answer_to_a_lease_that_is_lost_is_a_fault_on_record_and_does_not_count() {
    let Some(mut bench) = Bench::start() else { return };
    let job = bench.give();
    let back = Back { leases: vec![job.lease], why: String::new(), player: None, leaves: false };
    assert_eq!(bench.ask::<Taken>("back", &back), Taken::Committed);
    assert!(matches!(bench.next(), DeskNote::Lost(lease) if lease == job.lease));
    let Taken::Refused { why } = bench.ask("result", &answer(&job)) else { panic!("it was taken") };
    assert!(
        why.contains("(places 1 and 2 of the schedule) was answered after it was lost: not counted"),
        "{why}"
    );
    assert!(bench.faults().contains(&why));
    let unknown = Answer { lease: LeaseId(7), repeats: false, games: vec![] };
    let Taken::Refused { why } = bench.ask("result", &unknown) else { panic!("it was taken") };
    assert!(why.contains("which nobody has issued"), "{why}");
    bench.desk.close(Closing::Over);
}

#[test]
fn a_machine_that_alters_a_result_is_found_and_gets_nothing_more() {
    let Some(mut bench) = Bench::start() else { return };
    let job = bench.give();
    let mut lie = answer(&job);
    let Some(Stamped { entry: Entry::GameEnded(end), .. }) = lie.games[1].last_mut() else { panic!() };
    end.outcome = Outcome::loss(Color::White, WinBy::Time);
    let Taken::Refused { why } = bench.ask("result", &lie) else { panic!("it was taken") };
    assert!(
        why.contains("the game at place 2 is not one: nothing in it led to its end: black wins by time"),
        "{why}"
    );
    assert!(matches!(bench.next(), DeskNote::Lost(lease) if lease == job.lease), "it is played again");
    assert!(bench.faults().contains("not counted, played again, and this machine gets nothing more"));
    assert!(matches!(bench.ask("hello", &hello()), Welcome::Come(_)));
    assert_eq!(bench.desk.places(), 0);
    bench.desk.close(Closing::Over);
}

#[test]
fn what_cannot_be_read_is_refused_and_brings_so_many_faults_on_record_and_no_more() {
    let Some(mut bench) = Bench::start() else { return };
    for _ in 0..2 * FAULTS {
        assert!(matches!(bench.ask("result", &"nonsense"), Taken::Refused { .. }));
    }
    assert_eq!(bench.faults().lines().count(), FAULTS as usize);
    assert!(bench.faults().ends_with("further faults of this machine are not told"));
    bench.desk.close(Closing::Over);
}

#[test]
fn a_pair_that_another_machine_plays_otherwise_is_a_fault_that_names_both_and_never_counts() {
    let Some(mut bench) = Bench::start() else { return };
    let job = bench.give();
    assert_eq!(bench.answer_and_store(&answer(&job)), Taken::Committed);
    let other: WorkerId = "fedcba9876543210".parse().unwrap();
    let Ok(mut jobs) = bench.worker.block_on(bench.wire.to_worker(&other, "job")) else { panic!() };
    let hello = serde_json::to_vec(&Hello { name: "box3".to_owned(), ..hello() }).unwrap();
    let welcome: Welcome = bench.worker.block_on(bench.wire.ask(&other, "hello", hello)).unwrap();
    assert!(matches!(welcome, Welcome::Come(_)));
    let again = bench.worker.block_on(jobs.next()).unwrap();
    let again: Job = serde_json::from_slice(&again.payload).unwrap();
    assert!(again.repeats && again.lease != job.lease && again.games == job.games);
    let mut answer = answer(&again);
    answer.games[1] = with_a_move(1);
    let answer = serde_json::to_vec(&answer).unwrap();
    let taken: Taken = bench.worker.block_on(bench.wire.ask(&other, "result", answer)).unwrap();
    assert_eq!(taken, Taken::Committed);
    let faults = bench.faults();
    assert!(
        faults.contains("machine `box3`: the game at place 2, played again here, is not the one that machine `box2` has played: move 1 is `7g7f` and was the end"),
        "{faults}"
    );
    bench.desk.close(Closing::Over);
}

#[test]
fn words_of_a_machine_are_said_once_bounded_and_printable_and_are_no_faults() {
    let Some(mut bench) = Bench::start() else { return };
    let mut lines = vec!["engine `a` computes on \u{1b}[31mCPU\nmachine `box1`: it is fine".to_owned()];
    lines.extend((0..200).map(|at| format!("{at:03}").repeat(300)));
    let words = messages::Words { lines };
    for _ in 0..2 {
        assert_eq!(bench.ask::<Taken>("words", &words), Taken::Committed);
    }
    let said: Vec<String> =
        lock(&bench.said).iter().filter(|line| line.starts_with("machine `box2`: ")).cloned().collect();
    assert_eq!(said.len(), messages::MOST_WORDS, "{said:?}");
    assert_eq!(said[0], "machine `box2`: engine `a` computes on \\u{1b}[31mCPU\\nmachine `box1`: it is fine");
    assert!(said.iter().all(|line| line.len() < messages::WORD + 30), "{said:?}");
    let shown = bench.desk.shared.registry().states(Instant::now(), now());
    assert_eq!((shown[0].faults, bench.faults().as_str()), (0, ""));
    assert!(!shown[0].word.is_empty());
    let stranger: WorkerId = "0123456789abcdef".parse().unwrap();
    let message = serde_json::to_vec(&messages::Words { lines: vec!["hear me".to_owned()] }).unwrap();
    let taken: Taken = bench.worker.block_on(bench.wire.ask(&stranger, "words", message)).unwrap();
    assert_eq!(taken, Taken::Committed);
    assert!(
        lock(&bench.said).iter().all(|line| !line.contains("hear me")),
        "one that does not play is not heard"
    );
}

#[test]
fn a_fault_of_an_engine_outside_a_game_is_on_record_with_the_name_of_its_machine() {
    let Some(mut bench) = Bench::start() else { return };
    let told =
        messages::Told { player: Some(PlayerId(1)), text: "engine `b` ended: out of memory".to_owned() };
    assert_eq!(bench.ask::<Taken>("told", &told), Taken::Committed);
    assert_eq!(bench.faults(), "machine `box2`: engine `b` ended: out of memory");
    bench.desk.close(Closing::Over);
}

impl Bench {
    /// A sign of life with a lease, and what it is told of boards.
    fn boards_asked(&self, lease: LeaseId) -> usize {
        let holding = Holding { now: now(), held: vec![lease], ..Holding::default() };
        let epoch = self.desk.shared.event.fleet.epoch;
        let Beaten::Known(verdicts) = self.ask("beat", &Beat { epoch, session: 1, lag: 0, holding }) else {
            panic!("it is not known")
        };
        verdicts.boards
    }

    /// Shows something, as this worker or another.
    fn show(&self, worker: &str, sight: &messages::Sight) {
        self.worker.block_on(async {
            assert!(self.wire.show(&worker.parse().unwrap(), sight).await);
            self.wire.settle().await;
        });
    }

    /// The moves of the boards, once they are so many.
    fn moves(&self, count: usize) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let boards = &self.desk.shared.event.boards;
            let moves: Vec<String> = boards.read(|boards| {
                let plies = boards.values().flat_map(|board| &board.plies);
                plies.filter(|ply| ply.charged.is_some()).map(|ply| ply.mv.to_usi()).collect()
            });
            if moves.len() >= count {
                return moves;
            }
            assert!(begun.elapsed() < PATIENCE, "{moves:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn sight(job: &Job, from: usize, moves: &[&str]) -> messages::Sight {
    let moved = |(at, usi): (usize, &&str)| {
        let moves = from + at;
        let (ply, color) = (moves as u32 + 1, Color::BOTH[moves % 2]);
        let mv = rsshogi::types::Move::from_usi(usi).unwrap();
        let [charged, elapsed, left] = [Duration::ZERO; 3];
        let moved =
            referee::entry::Moved { game: GameId(7), ply, color, mv, charged, elapsed, left, thought: None };
        (now() + 3_600_000, moved)
    };
    messages::Sight { lease: job.lease, game: 0, from, moves: moves.iter().enumerate().map(moved).collect() }
}

#[test]
fn of_a_game_that_a_machine_shows_its_legal_moves_are_seen_in_their_order_until_its_pair_is_stored() {
    let Some(mut bench) = Bench::start() else { return };
    let job = bench.give();
    assert_eq!(bench.boards_asked(job.lease), 0, "nobody looks on");
    bench.desk.shared.event.boards.watch();
    assert_eq!(bench.boards_asked(job.lease), 64);
    // Of a machine that does not have the lease; of a game of which the beginning is missing; of no game of the pair.
    bench.show("fedcba9876543210", &sight(&job, 0, &["1g1f"]));
    bench.show(WORKER, &sight(&job, 1, &["3c3d"]));
    bench.show(WORKER, &messages::Sight { game: 2, ..sight(&job, 0, &["1g1f"]) });
    bench.show(WORKER, &sight(&job, 0, &["7g7f"]));
    // What is known comes again with what is new; then a move that nobody can make, and one behind it.
    bench.show(WORKER, &sight(&job, 0, &["7g7f", "3c3d", "8h3c+"]));
    assert_eq!(bench.moves(2), ["7g7f", "3c3d", "8h3c+"]);
    bench.show(WORKER, &sight(&job, 3, &["9a9i", "7f7e"]));
    bench.show(WORKER, &sight(&job, 3, &["2b3c"]));
    assert_eq!(bench.moves(4), ["7g7f", "3c3d", "8h3c+", "2b3c"]);
    bench.desk.shared.event.boards.read(|boards| {
        let board = boards.values().next().unwrap();
        assert!(boards.len() == 1 && board.machine.as_deref() == Some("box2"));
        assert!(board.plies.iter().all(|ply| ply.at <= now()), "no clock of a machine leads into the future");
    });
    assert_eq!(bench.answer_and_store(&answer(&job)), Taken::Committed);
    bench
        .desk
        .shared
        .event
        .boards
        .read(|boards| assert!(boards.is_empty(), "its games have their numbers now"));
    assert_eq!(bench.faults(), "", "a board is no fault, whatever it shows");
    bench.desk.close(Closing::Over);
}

#[test]
fn a_machine_that_shows_more_than_it_was_asked_for_is_not_listened_to() {
    let boards = Arc::new(LiveBoards::default());
    boards.watch();
    let mut registry = Registry::default();
    assert!(registry.hello(Instant::now(), now(), WORKER, &hello()).is_ok());
    let pair = vec![fixture(0), fixture(1)];
    let (_, job) = registry.give(Instant::now(), 1, LeaseId(1), pair).unwrap();
    let mut shown = Boards::of(boards.clone());
    let moves: Vec<&str> = ["2h3h", "8b7b", "3h2h", "7b8b"].into_iter().cycle().take(3000).collect();
    for from in 0..moves.len() {
        let sight = serde_json::to_vec(&sight(&job, from, &moves[from..=from])).unwrap();
        shown.take(&registry, WORKER, now(), &sight);
    }
    let is_played = |ply: &&Ply| ply.charged.is_some();
    let moves = || {
        boards.read(|boards| {
            boards.values().map(|board| board.plies.iter().filter(is_played).count()).sum::<usize>()
        })
    };
    assert_eq!(moves(), 256, "four messages for each of 64 boards, until the next look");
    shown.look(&registry);
    let whole: Vec<&str> = ["2h3h", "8b7b", "3h2h", "7b8b"].into_iter().cycle().take(1500).collect();
    for from in [256, 1000] {
        let sight = serde_json::to_vec(&sight(&job, from, &whole[from % 4..])).unwrap();
        shown.take(&registry, WORKER, now(), &sight);
    }
    assert_eq!(moves(), 2000, "no game is endless");
    let large = vec![b' '; crate::wire::BOARD + 1];
    shown.take(&registry, WORKER, now(), &large);
    registry.lose(job.lease);
    shown.look(&registry);
    assert_eq!(boards.read(std::collections::BTreeMap::len), 0);
}

/// A desk on a server of the event's own, which knows its workers by their keys.
struct Own {
    desk: MachineDesk,
    journal: Journal,
    notes: Receiver<Note>,
    said: Arc<Mutex<Vec<String>>>,
    line: String,
    worker: Runtime,
    directory: tempfile::TempDir,
}

impl Own {
    /// `None` where there is no server to start.
    fn start() -> Option<Self> {
        if Command::new("nats-server").arg("--version").stdout(Stdio::null()).status().is_err() {
            eprintln!("not run: there is no nats-server on the path (apt install nats-server)");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let (database, event) = (directory.path().join("event.db"), hub::EventId::random());
        let (of_desk, journal) = event_in(&database, event);
        let said = Arc::<Mutex<Vec<String>>>::default();
        let heard = said.clone();
        let say: Say = Arc::new(move |line: &str| lock(&heard).push(line.to_owned()));
        let listen = "127.0.0.1:0".parse().unwrap();
        let options = hub::ServerOptions {
            directory: Hub::beside(&database),
            listen,
            event,
            host: None,
            program: None,
        };
        let mut line = String::new();
        let open = async {
            let hub = Hub::start(options).await.map_err(|why| why.to_string())?;
            line = hub.token().line();
            Ok(hub)
        };
        let mut desk = MachineDesk::connect(of_desk, say, open).unwrap();
        let (sender, notes) = channel();
        assert_eq!(desk.open(sender, journal.sink()).unwrap(), []);
        desk.begin().unwrap();
        let worker = Builder::new_current_thread().enable_all().build().unwrap();
        Some(Self { desk, journal, notes, said, line, worker, directory })
    }

    /// Lets a worker in by a key of its own, which lies in this directory.
    fn join(&self, directory: &str, name: &str) -> Result<hub::Joined, hub::HubError> {
        let options = hub::JoinOptions {
            directory: self.directory.path().join(directory),
            name: name.to_owned(),
            credentials: None,
            server: None,
            cache_bytes: 1 << 20,
        };
        self.worker.block_on(hub::join(&self.line.parse().unwrap(), options))
    }

    /// Says hello by any name.
    fn says_hello(&self, joined: &hub::Joined, name: &str) -> Welcome {
        let hello = serde_json::to_vec(&Hello { name: name.to_owned(), ..hello() }).unwrap();
        self.worker.block_on(Wire::of_worker(joined, 1).ask(joined.id(), "hello", hello)).unwrap()
    }

    fn machines(&self) -> Vec<String> {
        self.desk.shared.registry().machines().map(|machine| machine.name.clone()).collect()
    }

    /// Waits until the desk has said a line with these words.
    fn until_said(&self, words: &str) {
        let begun = Instant::now();
        while !lock(&self.said).iter().any(|line| line.contains(words)) {
            assert!(begun.elapsed() < PATIENCE, "not said: {words}: {:?}", lock(&self.said));
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_worker_has_the_name_that_its_key_was_let_in_with_whatever_its_hello_says() {
    let Some(mut own) = Own::start() else { return };
    let evil = own.join("evil", "evil").unwrap();
    assert!(matches!(own.says_hello(&evil, "box2"), Welcome::Come(_)));
    assert_eq!(own.machines(), ["evil"]);
    own.desk.give(vec![fixture(0), fixture(1)]).unwrap();
    let (event, database) = (own.desk.shared.event.event, &own.desk.shared.event.database);
    let (kept, stored) = channel();
    own.journal.sink().when_kept(Box::new(move || _ = kept.send(())));
    stored.recv_timeout(PATIENCE).unwrap();
    let leases = Store::read(database).unwrap().open_leases(event).unwrap();
    assert_eq!(leases.iter().map(|lease| lease.machine.as_str()).collect::<Vec<_>>(), ["evil"]);
    own.until_said("machine `evil`: it calls itself `box2`");
    let honest = own.join("box2", "box2").unwrap();
    assert!(matches!(own.says_hello(&honest, "box2"), Welcome::Come(_)), "nobody has its name");
    let mut machines = own.machines();
    machines.sort();
    assert_eq!(machines, ["box2", "evil"]);
    own.desk.close(Closing::Over);
}

#[test]
fn dropping_a_machine_closes_the_door_to_the_key_that_has_played_and_to_a_new_one_until_it_is_readmitted() {
    let Some(mut own) = Own::start() else { return };
    let (evil, honest) = (own.join("evil", "evil").unwrap(), own.join("box2", "box2").unwrap());
    assert!(matches!(own.says_hello(&evil, "box2"), Welcome::Come(_)));
    assert!(matches!(own.says_hello(&honest, "box2"), Welcome::Come(_)));
    let lease = own.desk.give(vec![fixture(0), fixture(1)]).unwrap();
    let of_evil =
        own.desk.shared.registry().holder(Instant::now(), lease).is_some_and(|(name, _)| name == "evil");
    own.desk.bar("evil", "it lies");
    own.until_said("the key of machine `evil` opens the door no more");
    let lost = own.notes.try_iter().any(|note| matches!(note, Note::Desk(DeskNote::Lost(_))));
    assert_eq!(lost, of_evil, "what evil had is played again, and nothing else");
    assert!(!lock(&own.said).iter().any(|line| line.contains("`box2` opens the door no more")));
    assert!(matches!(own.says_hello(&honest, "box2"), Welcome::Come(_)), "the honest key opens the door");
    drop(evil);
    let again = own.join("evil", "evil").unwrap_err().to_string();
    assert!(again.contains("`evil` was sent away"), "{again}");
    let anew = own.join("another", "evil").unwrap_err().to_string();
    assert!(anew.contains("does not come back by a new key") && anew.contains("readmit evil"), "{anew}");
    own.desk.readmit("evil");
    own.until_said("the key of machine `evil` opens the door again");
    assert_eq!(own.join("evil", "evil").unwrap().name(), "evil");
    assert_eq!(own.join("another", "evil").unwrap().name(), "evil-2");
    own.desk.close(Closing::Over);
}

/// Signs of life that list 30,000 pairs each.
async fn flood(client: &async_nats::Client, event: hub::EventId, worker: &str, inbox: &str) {
    let holding = Holding { now: now(), held: (1..30_000).map(LeaseId).collect(), outbox: vec![] };
    let beat = serde_json::to_vec(&Beat { epoch: 1, session: 1, lag: 0, holding }).unwrap();
    for _ in 0..60 {
        let (subject, reply) = (format!("renmei.{event}.res.{worker}.beat"), format!("{inbox}.{worker}"));
        client.publish_with_reply(subject, reply, beat.clone().into()).await.unwrap();
    }
    client.flush().await.unwrap();
}

#[test]
fn a_worker_that_floods_before_it_has_said_hello_is_dropped_by_the_name_of_its_key() {
    let Some(mut own) = Own::start() else { return };
    let evil = own.join("evil", "evil").unwrap();
    let (event, inbox) = (evil.subjects().event(), format!("_INBOX_{}", evil.id()));
    own.worker.block_on(flood(evil.client(), event, evil.id().as_str(), &inbox));
    let hinders = own.notes.iter().find_map(|note| match note {
        Note::Desk(DeskNote::Hinders(machine, _)) => Some(machine),
        _ => None,
    });
    assert_eq!(hinders.as_deref(), Some("evil"));
    own.desk.bar("evil", "it floods");
    own.until_said("the key of machine `evil` opens the door no more");
    own.desk.close(Closing::Over);
}

#[test]
fn a_worker_that_sends_long_lists_without_end_is_dropped_and_others_are_answered_meanwhile() {
    let Some(mut bench) = Bench::start() else { return };
    let job = bench.give();
    let (address, event) = (bench.server.1.clone(), bench.server.2);
    bench.worker.block_on(async {
        let client = async_nats::connect(address).await.unwrap();
        flood(&client, event, WORKER, "_INBOX").await;
    });
    let other: WorkerId = "fedcba9876543210".parse().unwrap();
    let hello = serde_json::to_vec(&Hello { name: "box3".to_owned(), ..hello() }).unwrap();
    let welcome: Welcome = bench.worker.block_on(bench.wire.ask(&other, "hello", hello)).unwrap();
    assert!(matches!(welcome, Welcome::Come(_)));
    let DeskNote::Hinders(machine, why) = bench.next() else { panic!("it is not dropped") };
    assert_eq!(machine, "box2");
    assert!(why.contains("more than any worker needs"), "{why}");
    bench.desk.bar(&machine, &why);
    assert!(matches!(bench.next(), DeskNote::Lost(lease) if lease == job.lease), "its pair is played again");
    bench.desk.close(Closing::Over);
}
