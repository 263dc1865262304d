use super::*;
use crate::{
    messages::{Answer, Hello, Holding, PROTOCOL, Sight, Welcome},
    worker::{self, Audience, Worker},
};
use contest::schedule::Pairing;
use journal::now;
use plan::EnginePlan;
use referee::{
    Color, Outcome, WinBy,
    clock::TimeControl,
    entry::{Entry, GameEnded, GameId, GameStarted},
    game::{Input as Heard, Output, Reply as Says, Said, Setup},
    running::Ply,
};
use serde::Serialize;

const WORKER: &str = "abcdef0012345678";
const EVEN: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

/// An event of two players.
pub(crate) fn event() -> EventOfDesk {
    let engine = |name: &str| EnginePlan { name: name.to_owned(), ..EnginePlan::default() };
    let engines = vec![engine("a"), engine("b")];
    let plan = plan::Plan::of_engines("event", engines, PathBuf::new());
    EventOfDesk {
        database: PathBuf::new(),
        event: EventId(1),
        fleet: Fleet { key: String::new(), epoch: 1, reference: None },
        terms: EventOfDesk::terms(&plan, &[None, None]),
        dropped: vec![],
        repeats: None,
        scaling: Scaling::default(),
        scale_here: Scale::ONE,
        boards: Arc::default(),
    }
}

/// A manager with a database and a dispatcher that keep what it decides, and a worker `box2`.
struct Bench {
    manager: Manager,
    boards: Arc<LiveBoards>,
    notes: Vec<DeskNote>,
    faults: Vec<String>,
    said: Vec<String>,
    jobs: Vec<(WorkerId, Job)>,
    replies: Vec<Reply>,
    played: Vec<Played>,
    database: HashMap<LeaseId, KnownLease>,
}

impl Bench {
    fn start() -> Self {
        let boards = Arc::<LiveBoards>::default();
        let event = EventOfDesk { repeats: Some(1), boards: boards.clone(), ..event() };
        let mut drawn = 0;
        let draw = Box::new(move || {
            drawn += 1;
            drawn
        });
        let mut bench = Self {
            manager: Manager::new(event, draw),
            boards,
            notes: vec![],
            faults: vec![],
            said: vec![],
            jobs: vec![],
            replies: vec![],
            played: vec![],
            database: HashMap::new(),
        };
        assert!(matches!(bench.ask("hello", &hello()), Some(Reply::Welcome(Welcome::Come(_)))));
        bench
    }

    fn handle(&mut self, input: Input) {
        for act in self.manager.handle(Moment::now(), input) {
            match act {
                Act::Lease(lease) => {
                    let id = lease.lease;
                    self.database.insert(id, KnownLease { lease, sha256: None });
                    self.handle(Input::LeaseStored(id));
                }
                Act::LookUp(question) => {
                    let known = self.database.get(&question.lease()).cloned();
                    self.handle(Input::LookedUp(question, Some(known)));
                }
                Act::Reply(_, _, _, reply) => self.replies.push(reply),
                Act::Job(worker, _, job) => self.jobs.push((worker, job)),
                Act::Played(played) => self.played.push(played),
                Act::Note(DeskNote::Fault(_, text)) => self.faults.push(text),
                Act::Note(DeskNote::Free) => {}
                Act::Note(note) => self.notes.push(note),
                Act::Say(line) => self.said.push(line),
                Act::Piece(..)
                | Act::Order(..)
                | Act::OrderAll(_)
                | Act::Keep(_)
                | Act::CloseDoor(_)
                | Act::OpenDoors => {}
            }
        }
    }

    fn sender(worker: &str) -> Sender {
        let name = if worker == WORKER { "box2" } else { "box3" }.to_owned();
        Sender { id: WorkerId::from(worker), name }
    }

    fn ask_as(&mut self, worker: &str, kind: &str, message: &impl Serialize) -> Option<Reply> {
        self.send(worker, kind, serde_json::to_vec(message).unwrap())
    }

    fn send(&mut self, worker: &str, kind: &str, payload: Vec<u8>) -> Option<Reply> {
        let from = Self::sender(worker);
        let reply = "_INBOX.1".to_owned();
        self.handle(Input::Letter(Letter { from, kind: kind.to_owned(), payload, reply }));
        self.replies.pop()
    }

    fn ask(&mut self, kind: &str, message: &impl Serialize) -> Option<Reply> {
        self.ask_as(WORKER, kind, message)
    }

    /// The word on an answer.
    fn taken(&mut self, answer: &impl Serialize) -> Taken {
        let Some(Reply::Taken(taken)) = self.ask("result", answer) else { panic!("there is no word on it") };
        taken
    }

    fn refused(&mut self, answer: &impl Serialize) -> String {
        let Taken::Refused { why } = self.taken(answer) else { panic!("it was taken") };
        why
    }

    /// Gives the worker a pair.
    fn give(&mut self) -> Job {
        self.handle(Input::Give(vec![fixture(0), fixture(1)]));
        let (_, job) = self.jobs.pop().unwrap();
        assert_eq!(job.games.len(), 2);
        job
    }

    /// Stores what was played, as dispatcher and journal do.
    fn store(&mut self) {
        let Played { lease, sha256, games, .. } = self.played.pop().unwrap();
        assert_eq!(games.len(), 2);
        self.database.get_mut(&lease).unwrap().sha256 = Some(sha256);
        self.handle(Input::Stored(lease));
    }

    fn answer_and_store(&mut self, answer: &Answer) -> Taken {
        assert_eq!(self.ask("result", answer), None, "the word follows when it is stored");
        self.store();
        let Some(Reply::Taken(taken)) = self.replies.pop() else { panic!("there is no word on it") };
        taken
    }

    fn faults(&self) -> String {
        self.faults.join("\n")
    }

    fn is_lost(&mut self, lease: LeaseId) -> bool {
        matches!(self.notes.remove(0), DeskNote::Lost(lost) if lost == lease)
    }
}

pub(crate) fn hello() -> Hello {
    let holding = Holding { now: now(), ..Holding::default() };
    let (build, name) = ("0.1.0".to_owned(), "box2".to_owned());
    Hello {
        protocol: PROTOCOL,
        build,
        session: 1,
        name,
        slots: 2,
        cores: 2,
        speed: None,
        ready: true,
        words: vec![],
        holding,
    }
}

pub(crate) fn fixture(index: u64) -> Fixture {
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
    let times = [TimeControl { main: Duration::from_secs(10), ..TimeControl::default() }; 2];
    let setup = Setup { may_reject: false, ..Setup::of(GameId(0), times, EVEN) };
    Fixture::of(setup, pairing)
}

/// A game in which black resigns at once.
pub(crate) fn played(index: u64) -> Vec<Stamped> {
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
        game.handle(Heard::Reply(color, Says::Ready));
    }
    let said = |said| referee::game::Answer { said, elapsed: Duration::ZERO, ponders: false, thought: None };
    let pairing = fixture.pairing;
    let start =
        GameStarted { game: GameId(1), pairing, start: EVEN.to_owned(), opening: String::new(), times: None };
    let (mut entries, mut outcome) = (vec![Entry::GameStarted(start)], None);
    let moves = moves.iter().map(|usi| Said::Move(rsshogi::types::Move::from_usi(usi).unwrap()));
    for answer in moves.chain([Said::Resign]).map(said) {
        let turn = game.turn();
        for output in game.handle(Heard::Reply(turn, Says::Answer(answer))) {
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
        moves_hash: Some(game.moves_hash()),
    }));
    entries.into_iter().map(|entry| Stamped { at: now(), entry }).collect()
}

fn answer(job: &Job) -> Answer {
    Answer { lease: job.lease, repeats: job.repeats, games: vec![played(0), played(1)] }
}

const OTHER: &str = "fedcba9876543210";
const CONFIRMED: Option<Reply> = Some(Reply::Taken(Taken::Committed));

#[test]
fn an_answer_is_stored_once_however_often_it_comes_and_other_games_under_its_lease_are_a_fault() {
    let mut bench = Bench::start();
    let job = bench.give();
    let answer = answer(&job);
    assert_eq!(bench.answer_and_store(&answer), Taken::Committed);
    for _ in 0..3 {
        assert_eq!(bench.taken(&answer), Taken::Committed);
    }
    let mut other = answer.clone();
    other.games[1][0].at += 1;
    let why = bench.refused(&other);
    assert!(why.contains("was answered once more with other games"), "{why}");
    assert_eq!(bench.faults().lines().count(), 1);
    assert!(bench.faults().starts_with("machine `box2`: lease "));
}

#[test]
fn an_answer_to_a_lease_that_is_lost_is_a_fault_on_record_and_does_not_count() {
    let mut bench = Bench::start();
    let job = bench.give();
    let back = Back { leases: vec![job.lease], why: String::new(), player: None, leaves: false };
    assert_eq!(bench.ask("back", &back), CONFIRMED);
    assert!(bench.is_lost(job.lease));
    let why = bench.refused(&answer(&job));
    assert!(
        why.contains("(places 1 and 2 of the schedule) was answered after it was lost: not counted"),
        "{why}"
    );
    assert!(bench.faults().contains(&why));
    let why = bench.refused(&Answer { lease: LeaseId(7), repeats: false, games: vec![] });
    assert!(why.contains("never issued"), "{why}");
}

#[test]
fn a_machine_that_alters_a_result_is_found_and_gets_nothing_more() {
    let mut bench = Bench::start();
    let job = bench.give();
    let mut lie = answer(&job);
    let Some(Stamped { entry: Entry::GameEnded(end), .. }) = lie.games[1].last_mut() else { panic!() };
    end.outcome = Outcome::loss(Color::White, WinBy::Time);
    let why = bench.refused(&lie);
    assert!(
        why.contains("the game at place 2 is not one: nothing in it led to its end: black wins by time"),
        "{why}"
    );
    assert!(bench.is_lost(job.lease), "it is played again");
    assert!(bench.faults().contains("not counted, played again, and this machine gets nothing more"));
    assert!(matches!(bench.ask("hello", &hello()), Some(Reply::Welcome(Welcome::Come(_)))));
    assert_eq!(bench.manager.registry().places(Instant::now()), 0);
}

#[test]
fn what_cannot_be_read_is_refused_and_brings_so_many_faults_on_record_and_no_more() {
    let mut bench = Bench::start();
    for _ in 0..2 * FAULTS {
        bench.refused(&"nonsense");
    }
    assert_eq!(bench.faults().lines().count(), FAULTS as usize);
    assert!(bench.faults().ends_with("further faults of this machine are not shown"));
}

#[test]
fn a_pair_that_another_machine_plays_otherwise_is_a_fault_that_names_both_and_never_counts() {
    let mut bench = Bench::start();
    let job = bench.give();
    assert_eq!(bench.answer_and_store(&answer(&job)), Taken::Committed);
    bench.ask_as(OTHER, "hello", &Hello { name: "box3".to_owned(), ..hello() });
    bench.handle(Input::Look { is_connected: true });
    let (worker, again) = bench.jobs.pop().unwrap();
    assert!(
        worker.as_str() == OTHER && again.repeats && again.lease != job.lease && again.games == job.games
    );
    let mut answer = answer(&again);
    answer.games[1] = with_a_move(1);
    assert_eq!(bench.ask_as(OTHER, "result", &answer), CONFIRMED);
    let faults = bench.faults();
    assert!(
        faults.contains("machine `box3`: the game at place 2, played again here, is not the one that machine `box2` has played: move 1 is `7g7f` and was the end"),
        "{faults}"
    );
    assert!(bench.played.is_empty());
}

#[test]
fn words_of_a_machine_are_said_once_bounded_and_printable_and_are_no_faults() {
    let mut bench = Bench::start();
    let mut lines = vec!["engine `a` computes on \u{1b}[31mCPU\nmachine `box1`: it is fine".to_owned()];
    lines.extend((0..200).map(|at| format!("{at:03}").repeat(300)));
    let asks = Hello { ready: false, words: vec!["hear me".to_owned()], ..hello() };
    bench.ask("hello", &asks);
    assert!(bench.said.iter().all(|line| !line.contains("hear me")), "one that does not play is not heard");
    let comes = Hello { words: lines, ..hello() };
    for _ in 0..2 {
        bench.ask("hello", &comes);
    }
    let said: Vec<&String> = bench.said.iter().filter(|line| line.starts_with("machine `box2`: ")).collect();
    assert_eq!(said.len(), crate::messages::MOST_WORDS, "{said:?}");
    assert_eq!(said[0], "machine `box2`: engine `a` computes on \\u{1b}[31mCPU\\nmachine `box1`: it is fine");
    assert!(said.iter().all(|line| line.len() < crate::messages::WORD + 30), "{said:?}");
    let shown = bench.manager.registry().states(Instant::now(), now());
    assert_eq!((shown[0].faults, bench.faults().as_str()), (0, ""));
    assert!(!shown[0].word.is_empty());
}

#[test]
fn a_fault_of_an_engine_outside_a_game_is_on_record_with_the_name_of_its_machine() {
    let mut bench = Bench::start();
    let told = Told { player: Some(PlayerId(1)), text: "engine `b` ended: out of memory".to_owned() };
    assert_eq!(bench.ask("told", &told), CONFIRMED);
    assert_eq!(bench.faults(), "machine `box2`: engine `b` ended: out of memory");
}

#[test]
fn a_readmitted_machine_hears_that_an_answer_does_not_count_that_was_in_flight_when_it_was_dropped() {
    let mut bench = Bench::start();
    let job = bench.give();
    let answer = answer(&job);
    assert_eq!(bench.ask("result", &answer), None);
    bench.handle(Input::Drop("box2".to_owned(), "a mistake".to_owned()));
    // The dispatcher has taken the games out of the event before it came to the answer.
    bench.played.pop().unwrap();
    bench.handle(Input::TurnedDown(job.lease));
    let Some(Reply::Taken(Taken::Refused { why })) = bench.replies.pop() else { panic!("it was taken") };
    assert!(why.contains("the operator has dropped this machine: a mistake"), "{why}");
    bench.handle(Input::Readmit("box2".to_owned()));
    assert!(matches!(bench.ask("hello", &hello()), Some(Reply::Welcome(Welcome::Come(_)))));
    let why = bench.refused(&answer);
    assert!(why.contains("was answered after it was lost"), "{why}");
}

#[test]
fn a_machine_that_says_hello_while_its_answer_is_stored_has_all_its_places_afterwards() {
    let mut bench = Bench::start();
    let job = bench.give();
    assert_eq!(bench.ask("result", &answer(&job)), None);
    bench.ask("hello", &hello());
    let free = bench.manager.registry().places(Instant::now());
    bench.store();
    assert_eq!(bench.manager.registry().places(Instant::now()), free);
    assert_eq!(bench.manager.registry().states(Instant::now(), now())[0].playing, 0);
}

impl Bench {
    /// A sign of life with a lease; returns how many boards the worker is asked for.
    fn boards_asked(&mut self, lease: LeaseId) -> usize {
        let holding = Holding { now: now(), held: vec![lease], ..Holding::default() };
        let beat = Beat { epoch: 1, session: 1, lag: 0, holding };
        let Some(Reply::Beaten(Beaten::Known(verdicts))) = self.ask("beat", &beat) else {
            panic!("it is not known")
        };
        verdicts.boards
    }

    /// Shows something, as this worker or another.
    fn show(&mut self, worker: &str, sight: &Sight) {
        self.handle(Input::Sight(Self::sender(worker), serde_json::to_vec(sight).unwrap()));
    }

    /// The moves of the boards.
    fn moves(&self) -> Vec<String> {
        self.boards.read(|boards| {
            let plies = boards.values().flat_map(|board| &board.plies);
            plies.filter(|ply| ply.charged.is_some()).map(|ply| ply.mv.to_usi()).collect()
        })
    }
}

fn sight(job: &Job, from: usize, moves: &[&str]) -> Sight {
    let moved = |(at, usi): (usize, &&str)| {
        let moves = from + at;
        let (ply, color) = (moves as u32 + 1, Color::BOTH[moves % 2]);
        let mv = rsshogi::types::Move::from_usi(usi).unwrap();
        let [charged, elapsed, left] = [Duration::ZERO; 3];
        let moved =
            referee::entry::Moved { game: GameId(7), ply, color, mv, charged, elapsed, left, thought: None };
        (now() + 3_600_000, moved)
    };
    Sight { lease: job.lease, game: 0, from, moves: moves.iter().enumerate().map(moved).collect() }
}

#[test]
fn of_a_game_that_a_machine_shows_its_legal_moves_are_seen_in_their_order_until_its_pair_is_stored() {
    let mut bench = Bench::start();
    let job = bench.give();
    assert_eq!(bench.boards_asked(job.lease), 0, "nobody looks on");
    bench.boards.watch();
    assert_eq!(bench.boards_asked(job.lease), 64);
    // Of a machine that does not have the lease; of a game of which the beginning is missing; of no game of the pair.
    bench.show("fedcba9876543210", &sight(&job, 0, &["1g1f"]));
    bench.show(WORKER, &sight(&job, 1, &["3c3d"]));
    bench.show(WORKER, &Sight { game: 2, ..sight(&job, 0, &["1g1f"]) });
    bench.show(WORKER, &sight(&job, 0, &["7g7f"]));
    // What is known comes again with what is new; then a move that nobody can make, and one behind it.
    bench.show(WORKER, &sight(&job, 0, &["7g7f", "3c3d", "8h3c+"]));
    assert_eq!(bench.moves(), ["7g7f", "3c3d", "8h3c+"]);
    bench.show(WORKER, &sight(&job, 3, &["9a9i", "7f7e"]));
    bench.show(WORKER, &sight(&job, 3, &["2b3c"]));
    assert_eq!(bench.moves(), ["7g7f", "3c3d", "8h3c+", "2b3c"]);
    bench.boards.read(|boards| {
        let board = boards.values().next().unwrap();
        assert!(boards.len() == 1 && board.machine.as_deref() == Some("box2"));
        assert!(board.plies.iter().all(|ply| ply.at <= now()), "no clock of a machine leads into the future");
    });
    assert_eq!(bench.answer_and_store(&answer(&job)), Taken::Committed);
    bench.boards.read(|boards| assert!(boards.is_empty(), "its games have their numbers now"));
    assert_eq!(bench.faults(), "", "a board is no fault, whatever it shows");
}

#[test]
fn a_machine_that_shows_more_than_it_was_asked_for_is_not_listened_to() {
    let boards = Arc::new(LiveBoards::default());
    boards.watch();
    let mut registry = Registry::default();
    assert!(registry.hello(Instant::now(), now(), WORKER, &hello()).is_ok());
    let pair = vec![fixture(0), fixture(1)];
    registry.give(Instant::now(), 1, LeaseId(1), pair).unwrap();
    let (_, job) = registry.job(Instant::now(), 1, LeaseId(1), false).unwrap();
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

/// A sign of life that lists 30,000 pairs.
fn long_list() -> Vec<u8> {
    let holding = Holding { now: now(), held: (1..30_000).map(LeaseId).collect(), outbox: vec![] };
    serde_json::to_vec(&Beat { epoch: 1, session: 1, lag: 0, holding }).unwrap()
}

#[test]
fn a_worker_that_sends_long_lists_without_end_is_dropped_and_others_are_answered_meanwhile() {
    let mut bench = Bench::start();
    let job = bench.give();
    let list = long_list();
    (0..60).for_each(|_| _ = bench.send(WORKER, "beat", list.clone()));
    let welcome = bench.ask_as(OTHER, "hello", &Hello { name: "box3".to_owned(), ..hello() });
    assert!(matches!(welcome, Some(Reply::Welcome(Welcome::Come(_)))));
    let DeskNote::Hinders(machine, why) = bench.notes.remove(0) else { panic!("it is not dropped") };
    assert_eq!(machine, "box2");
    assert!(why.contains("more than any worker needs"), "{why}");
    bench.handle(Input::Drop(machine, why));
    assert!(bench.is_lost(job.lease), "its pair is played again");
}

#[test]
fn a_worker_that_comes_without_end_fills_no_screen_and_others_are_still_announced() {
    let begun = Instant::now();
    let mut bench = Bench::start();
    (0..1000).for_each(|_| _ = bench.ask("hello", &hello()));
    let most = 41 + usize::try_from(begun.elapsed().as_secs()).unwrap() / 10;
    let lines = |bench: &Bench, name: &str| bench.said.iter().filter(|line| line.contains(name)).count();
    let last = "(further arrivals are left out)";
    assert!(bench.said.iter().any(|line| line.ends_with(last)), "{:?}", bench.said);
    assert!((40..=most).contains(&lines(&bench, "`box2` is here")), "{}", bench.said.len());
    bench.ask_as(OTHER, "hello", &Hello { name: "box3".to_owned(), ..hello() });
    assert_eq!(lines(&bench, "`box3` is here"), 1);
}

#[test]
fn a_worker_reports_a_malformed_order_and_plays_on() {
    let Some(Reply::Welcome(Welcome::Come(terms))) = Bench::start().ask("hello", &hello()) else { panic!() };
    let mut worker = Worker::new(Moment::now(), hello(), *terms, vec![1], Default::default());
    let why = serde_json::from_str::<Order>("{").unwrap_err();
    let acts = worker.handle(Moment::now(), worker::Input::Order(Err(why), Audience::This));
    let said = |act: &worker::Act| matches!(act, worker::Act::Say(text) if text.starts_with("ignored a malformed order: "));
    assert!(acts.len() == 1 && said(&acts[0]) && !worker.is_done());
}

/// A worker that plays a pair, and the pair.
fn worker_that_plays() -> (Worker, Job) {
    let mut bench = Bench::start();
    let Some(Reply::Welcome(Welcome::Come(terms))) = bench.ask("hello", &hello()) else { panic!() };
    let job = bench.give();
    let mut worker = Worker::new(Moment::now(), hello(), *terms.clone(), vec![1], Default::default());
    let welcome = worker::Heard::Welcome(Some(Welcome::Come(terms)));
    worker.handle(Moment::now(), worker::Input::Begin);
    worker.handle(Moment::now(), worker::Input::Heard(welcome));
    let acts = worker.handle(Moment::now(), worker::Input::Job(Ok(job.clone())));
    assert!(matches!(&acts[..], [worker::Act::Play(0, _)]), "{acts:?}");
    (worker, job)
}

#[test]
fn a_worker_whose_disk_is_full_throws_no_answer_away_and_plays_on_once_there_is_room() {
    let (mut worker, job) = worker_that_plays();
    let mut acts = vec![];
    for (index, game) in [(0, GameId(1)), (1, GameId(2))] {
        let mut entries = played(index);
        let Some(Entry::GameEnded(ended)) = entries.pop().map(|stamped| stamped.entry) else { panic!() };
        let (ended, outcome) = (Some(ended.clone()), Ok(ended.outcome));
        let over = worker::GameOver { game, entries, ended, outcome };
        acts = worker.handle(Moment::now(), worker::Input::Over(over));
    }
    let [worker::Act::Keep(lease, answer)] = &acts[..] else { panic!("{acts:?}") };
    let full = || worker::NotKept::Io("state".into(), std::io::ErrorKind::StorageFull.into());
    let acts = worker.handle(Moment::now(), worker::Input::Kept(*lease, Err(full())));
    let [worker::Act::Say(said), worker::Act::Ask(worker::Request::Back(back))] = &acts[..] else {
        panic!("{acts:?}")
    };
    assert!(said.contains("an answer cannot be kept") && said.contains("`state`"), "{said}");
    assert!(back.leaves && back.leases.is_empty() && back.why == *said, "{back:?}");
    assert_eq!(worker.leases(), [job.lease], "its pair is not lost");
    let other = Job { lease: LeaseId(99), ..job };
    assert!(worker.handle(Moment::now(), worker::Input::Job(Ok(other))).is_empty(), "nothing begins");
    let tick = || worker::Input::Tick(crate::hub::Connection::Up);
    for kept in [Err(full()), Ok(())] {
        let acts = worker.handle(Moment::now(), tick());
        assert!(matches!(&acts[..], [worker::Act::Keep(same, again)] if same == lease && again == answer));
        let is_kept = kept.is_ok();
        let acts = worker.handle(Moment::now(), worker::Input::Kept(*lease, kept));
        assert_eq!(acts.len(), usize::from(is_kept), "it is said once, and sent once it is kept: {acts:?}");
    }
    let acts = worker.handle(Moment::now(), tick());
    let says_so =
        |act: &worker::Act| matches!(act, worker::Act::Ask(worker::Request::Hello(hello)) if hello.ready);
    assert!(acts.iter().any(says_so), "{acts:?}");
}

#[test]
fn a_worker_whose_server_has_another_event_gives_its_games_up_and_ends() {
    let (mut worker, _) = worker_that_plays();
    let acts = worker.handle(Moment::now(), worker::Input::Tick(crate::hub::Connection::Elsewhere));
    assert!(matches!(&acts[..], [worker::Act::Stop(GameId(1)), ..]), "{acts:?}");
    let outcome = Ok(Outcome::Aborted { by: referee::AbortBy::Stopped });
    let over = worker::GameOver { game: GameId(1), entries: vec![], ended: None, outcome };
    worker.handle(Moment::now(), worker::Input::Over(over));
    assert!(worker.is_done());
    let why = worker.end().ended.unwrap_err().to_string();
    assert!(why.contains("plays another event now") && why.ends_with("start this worker again"), "{why}");
}

#[test]
fn a_worker_that_asks_for_files_without_end_is_sent_no_more_than_four_large_engines_and_dropped() {
    let mut bench = Bench::start();
    let fetch = |payload: &[u8]| {
        let reply = "_INBOX.1".to_owned();
        let letter =
            Letter { from: Bench::sender(WORKER), kind: FETCH.to_owned(), payload: payload.to_vec(), reply };
        Input::Letter(letter)
    };
    for malformed in [&b""[..], b"abc", b"abc x", b"abc -1", b"\xff 1"] {
        assert!(bench.manager.handle(Moment::now(), fetch(malformed)).is_empty(), "{malformed:?}");
    }
    let mut sent = 0_u64;
    let hinders = (0..200_000).any(|_| {
        let acts = bench.manager.handle(Moment::now(), fetch(b"abc 1"));
        sent += acts.iter().filter(|act| matches!(act, Act::Piece(..))).count() as u64;
        acts.iter().any(|act| matches!(act, Act::Note(DeskNote::Hinders(name, _)) if name == "box2"))
    });
    // A slow machine gives it 16 MB more for each second of this test.
    assert!(hinders && sent * PIECE >= 31 << 30, "{sent}");
}
