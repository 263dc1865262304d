//! Games that go on from adjourned ones, as the dispatcher sets them up and the database has them.

use super::*;
use crate::operations::{
    Done,
    command::{Command, RuledResult},
};
use contest::schedule::{Format, Stage};
use plan::EnginePlan;
use referee::{
    AbortBy, DrawBy,
    clock::{Accounting, TimeControl},
    entry::{Moved, Score, Thought},
    operation::NamedGame,
};
use rsshogi::types::Move;
use std::thread;
use words::Message;

/// How long a commit is held back that nobody waits for.
const HELD: Duration = Duration::from_millis(300);
const STOPPED: Outcome = Outcome::Aborted { by: AbortBy::Stopped };

/// Lets a test act on a dispatcher that plays no game by itself.
fn with_dispatcher(act: impl FnOnce(&mut Dispatcher<'_>)) {
    let directory = tempfile::tempdir().unwrap();
    let time = TimeControl {
        main: Duration::from_secs(600),
        accounting: Accounting::Seconds,
        ..TimeControl::default()
    };
    let engine = |name: &str| EnginePlan { name: name.to_owned(), time, ..EnginePlan::default() };
    let plan = Plan::of_engines("event", vec![engine("a"), engine("b")], directory.path().join("event.db"));
    let stages = vec![Stage { format: Format::RoundRobin { cycles: 1 }, games: 2, ..Stage::default() }];
    let plan = Plan { concurrency: 1, affinity: Some(false), stages, ..plan };
    let company = Company {
        openings: in_order(vec![], &plan),
        remote: None,
        machines: None,
        readers: vec![],
        say: Arc::new(|_: &str| ()),
        disk: DiskWatch::default(),
    };
    let shutdown = Shutdown::default();
    let event = OpenEvent::open(&plan, vec![], None).unwrap();
    let id = event.event();
    let mut dispatcher = Dispatcher::start(event, company, &shutdown).unwrap();
    dispatcher.open(&[], false, vec![]);
    act(&mut dispatcher);
    shutdown.adjourn();
    dispatcher.close(Ok(()), id).unwrap();
}

fn attempt(attempt: u32) -> Pairing {
    let (black, white) = (PlayerId(0), PlayerId(1));
    Pairing { stage: 0, index: 0, attempt, round: 1, pair: 0, opening: 0, black, white }
}

/// A game that begins with these moves on the board, in which each of the other moves has a score.
fn game(
    dispatcher: &mut Dispatcher<'_>,
    pairing: Pairing,
    opening: &str,
    moves: &[(&str, i32)],
    outcome: Outcome,
) {
    let game = dispatcher.fixtures.number();
    let begun = opening.split_whitespace().count();
    let (start, opening) = (referee::opening::EVEN.to_owned(), opening.to_owned());
    dispatcher.happened(Entry::GameStarted(GameStarted { game, pairing, start, opening, times: None }));
    for (ply, (mv, score)) in (begun + 1..).zip(moves) {
        let thought = Thought { score: Some(Score::Cp(*score)), ..Thought::default() };
        let moved = Moved {
            game,
            ply: ply as u32,
            color: if ply % 2 == 1 { Color::Black } else { Color::White },
            mv: Move::from_usi(mv).unwrap(),
            charged: Duration::ZERO,
            elapsed: Duration::ZERO,
            left: Duration::ZERO,
            thought: Some(Box::new(thought)),
        };
        dispatcher.happened(Entry::Moved(moved));
    }
    let plies = (begun + moves.len()) as u32;
    let replayed = outcome != STOPPED;
    let ended = GameEnded { replayed, ..GameEnded::new(game, pairing, outcome, plies) };
    dispatcher.happened(Entry::GameEnded(ended));
}

fn named(game: u64) -> NamedGame {
    NamedGame { game: GameId(game), black: "a".to_owned(), white: "b".to_owned(), round: 1 }
}

fn operator(dispatcher: &mut Dispatcher<'_>, action: Action) {
    let operations = dispatcher.operations.clone();
    operations.record_by("op", "", None, action, |entry| dispatcher.happened(entry));
}

fn adjourn(dispatcher: &mut Dispatcher<'_>, game: u64, held: Option<Pairing>) {
    operator(dispatcher, Action::Adjourned { game: named(game), held });
}

fn asked(dispatcher: &mut Dispatcher<'_>, order: Command, game: u64) -> Result<Done, Message> {
    let (answer, answered) = mpsc::channel();
    let (by, reason, game) = ("op".to_owned(), "why".to_owned(), GameId(game));
    dispatcher.asked(Asked { by, reason, order, game, newcomers: vec![], answer });
    answered.recv().unwrap()
}

/// Keeps everything that is appended from now on off the disk, until the sender is dropped.
fn hold_commits(dispatcher: &mut Dispatcher<'_>) -> Sender<()> {
    let here = thread::current().id();
    loop {
        let (release, released) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        dispatcher.happened(Entry::Fault { player: None, text: "the last entry before".to_owned() });
        dispatcher.journal.sink().when_kept(Box::new(move || {
            // On this thread, if the entry is on the disk already.
            let is_held = thread::current().id() != here;
            tell.send(is_held).unwrap();
            if is_held {
                let _dropped = released.recv();
            }
        }));
        if told.recv().unwrap() {
            return release;
        }
    }
}

#[test]
fn a_replay_waits_for_the_commit_of_the_game_before_it_and_goes_on_from_no_older_one() {
    with_dispatcher(|dispatcher| {
        game(dispatcher, attempt(0), "", &[("7g7f", 0), ("3c3d", 0)], STOPPED);
        adjourn(dispatcher, 1, None);
        dispatcher.await_disk().unwrap();
        let release = hold_commits(dispatcher);
        let sennichite = Outcome::Draw { by: DrawBy::Sennichite };
        game(dispatcher, attempt(1), "7g7f 3c3d", &[("2g2f", 0), ("8c8d", 0)], sennichite);
        let (set_up, is_set_up) = mpsc::channel::<()>();
        let fixture = thread::scope(|scope| {
            scope.spawn(move || {
                let _dropped_or_awaited = is_set_up.recv_timeout(HELD);
                drop(release);
            });
            let fixture = dispatcher.fixture(GameId(3), attempt(2)).0;
            drop(set_up);
            fixture
        });
        assert_eq!(fixture.setup.opening, [], "it begins at its opening, not where the first was adjourned");
    });
}

#[test]
fn a_game_that_goes_on_has_the_scores_of_every_game_before_it() {
    with_dispatcher(|dispatcher| {
        game(dispatcher, attempt(0), "", &[("7g7f", 10), ("3c3d", -20)], STOPPED);
        adjourn(dispatcher, 1, None);
        let first = dispatcher.fixture(GameId(2), attempt(1)).0.setup;
        assert_eq!(first.scores, [10, -20].map(|cp| Some(Score::Cp(cp))));
        game(dispatcher, attempt(1), "7g7f 3c3d", &[("2g2f", 30)], STOPPED);
        adjourn(dispatcher, 2, None);
        let second = dispatcher.fixture(GameId(3), attempt(2)).0.setup;
        assert_eq!(second.opening.iter().map(|mv| mv.to_usi()).collect::<Vec<_>>(), ["7g7f", "3c3d", "2g2f"]);
        assert_eq!(second.scores, [10, -20, 30].map(|cp| Some(Score::Cp(cp))));
        // This one began anew, as if the games before it could not have been read.
        game(dispatcher, attempt(2), "", &[("2g2f", 40)], STOPPED);
        adjourn(dispatcher, 3, None);
        assert_eq!(dispatcher.fixture(GameId(4), attempt(3)).0.setup.scores, [Some(Score::Cp(40))]);
    });
}

#[test]
fn no_order_has_the_game_of_a_replaced_engine_wait_or_resumes_it() {
    with_dispatcher(|dispatcher| {
        game(dispatcher, attempt(0), "", &[("7g7f", 0)], STOPPED);
        let (replaces, out) = (Some(PlayerId(1)), Some("b".to_owned()));
        let (name, configuration) = ("c".to_owned(), "{}".to_owned());
        operator(dispatcher, Action::Joined { player: PlayerId(2), name, replaces, out, configuration });
        // The order to adjourn it was on its way to the game when the other engine came.
        adjourn(dispatcher, 1, Some(attempt(0)));
        dispatcher.agenda.running.insert(GameId(2), attempt(1));
        let orders = [
            Command::PlayOn { game: 1 },
            Command::Replay { game: 1 },
            Command::Adjourn { game: 2, hold: true },
        ];
        for (order, game) in orders.into_iter().zip([1, 1, 2]) {
            let refused = asked(dispatcher, order, game).unwrap_err().to_string();
            assert!(refused.contains("`b` was replaced"), "{refused}");
        }
        dispatcher.agenda.running.clear();
    });
}

#[test]
fn an_order_about_a_game_that_does_not_count_hears_what_becomes_of_its_place() {
    with_dispatcher(|dispatcher| {
        game(dispatcher, attempt(0), "", &[("7g7f", 0)], STOPPED);
        adjourn(dispatcher, 1, Some(attempt(0)));
        asked(dispatcher, Command::PlayOn { game: 1 }, 1).unwrap();
        dispatcher.await_disk().unwrap();
        let mut refused = || asked(dispatcher, Command::Replay { game: 1 }, 1).unwrap_err().to_string();
        assert!(refused().contains("the game to be played in its place is not over yet"), "{}", refused());
        let (game, start) = (dispatcher.fixtures.number(), referee::opening::EVEN.to_owned());
        let (pairing, opening) = (attempt(1), "7g7f".to_owned());
        dispatcher.happened(Entry::GameStarted(GameStarted { game, pairing, start, opening, times: None }));
        let drawn = Outcome::Draw { by: DrawBy::Sennichite };
        dispatcher.happened(Entry::GameEnded(GameEnded::new(game, pairing, drawn, 2)));
        dispatcher.await_disk().unwrap();
        let refused = asked(dispatcher, Command::Replay { game: 1 }, 1).unwrap_err().to_string();
        assert!(refused.contains("another was played in its place"), "{refused}");
    });
}

#[test]
fn an_adjourned_game_of_an_engine_that_is_replaced_is_given_up_and_the_orders_about_it_say_so() {
    with_dispatcher(|dispatcher| {
        game(dispatcher, attempt(0), "", &[("7g7f", 0)], STOPPED);
        adjourn(dispatcher, 1, Some(attempt(0)));
        let replaces = Some("b".to_owned());
        let mut plan = Plan::clone(&dispatcher.plan);
        plan.engines.push(EnginePlan { name: "c".to_owned(), replaces, ..EnginePlan::default() });
        dispatcher.plan = Arc::new(plan);
        dispatcher.agenda.plan = dispatcher.plan.clone();
        let done = dispatcher.join(PlayerId(2), None, "{}".to_owned(), ("op", ""));
        assert_eq!(done.text, "replaced `b` by `c`; adjourned game 1 is given up");
        dispatcher.await_disk().unwrap();
        let clock = Command::Clock { game: 1, color: Color::White, left: "2s".to_owned() };
        let (again, rule) =
            (Command::Replay { game: 1 }, Command::Rule { game: 1, result: RuledResult::Draw });
        for order in [Command::PlayOn { game: 1 }, clock, again, rule] {
            let refused = asked(dispatcher, order, 1).unwrap_err().to_string();
            assert!(refused.starts_with("game 1 is given up: `b` was replaced"), "{refused}");
        }
        let refused = asked(dispatcher, Command::PlayOn { game: 7 }, 7).unwrap_err().to_string();
        assert!(refused.contains("does not wait"), "{refused}");
    });
}

#[test]
fn a_clock_of_whole_seconds_is_set_to_whole_seconds() {
    with_dispatcher(|dispatcher| {
        game(dispatcher, attempt(0), "", &[("7g7f", 0)], STOPPED);
        adjourn(dispatcher, 1, Some(attempt(0)));
        let mut set = |left: &str| {
            let order = Command::Clock { game: 1, color: Color::White, left: left.to_owned() };
            asked(dispatcher, order, 1).map_err(|why| why.to_string())
        };
        assert!(set("1500ms").unwrap_err().contains("counts whole seconds, and `1500ms`"));
        assert!(set("2s").is_ok());
    });
}
