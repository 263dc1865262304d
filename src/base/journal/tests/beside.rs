//! What is kept beside the log of an event: read again as it was written, and by its own event alone.

use super::*;
use crate::{Fineness, KnownLease, MachineCounts, NewTest, RatingRow, Role, TestChange, Tests, WebAccount};
use referee::{
    AbortBy,
    annotations::{Annotations, Comment, Variation},
    clock::{Scale, TimeControl},
    entry::WARNING,
    lease::{Committed, Lease, LeaseId, MachineState, Presence, Repeated},
    operation::{Action, NamedGame, Operation},
    sink::{Buoy, Channel, Direction, SideRecord, TranscriptLine, TranscriptPiece},
};

/// A database with these entries of an event, and what is kept beside them.
fn kept(entries: Vec<Stamped>, records: Vec<SideRecord>) -> (TempDir, Writer, EventId) {
    let (directory, path) = temporary();
    let (store, opened) = open(&path);
    let journal = start(store, opened.event);
    journal.append_with(entries, records);
    (directory, journal.finish().unwrap(), opened.event)
}

fn four_games() -> Vec<Stamped> {
    let lost = |color, by| Outcome::loss(color, by);
    vec![
        opening(),
        started(1, 0, 1),
        ended(1, 0, 1, lost(Color::White, WinBy::Time)),
        started(2, 1, 0),
        ended(2, 1, 0, SENNICHITE),
        started(3, 1, 0),
        ended(3, 1, 0, lost(Color::White, WinBy::Disconnection)),
        started(4, 2, 0),
        ended(4, 2, 0, win(Color::Black)),
    ]
}

/// The number of an event of which nothing is known.
const OTHER: EventId = EventId(99);

#[test]
fn the_lines_the_name_and_the_notes_of_a_game_are_those_that_were_kept() {
    let piece = |game, color, channel, part, at, lines: &str| {
        let lines = lines.as_bytes().to_vec();
        SideRecord::Transcript(TranscriptPiece { game: GameId(game), color, channel, part, at, lines })
    };
    let comment = |line, ply, text: &str| Comment { line, ply, text: text.to_owned() };
    let variation = |parent, ply, moves: &str, details: &str| {
        let (moves, details) = (moves.to_owned(), details.to_owned());
        Variation { parent, ply, moves, details }
    };
    let annotations = Annotations {
        game: GameId(2),
        comments: vec![comment(0, 1, "a start"), comment(2, 4, "a turn")],
        variations: vec![variation(0, 2, "3c3d", ""), variation(1, 3, "2g2f 8c8d", "{\"times\":[1]}")],
    };
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let (_directory, store, event) = kept(
        four_games(),
        vec![
            SideRecord::Named(GameId(1), "a+b+20260101000000".to_owned()),
            SideRecord::Named(GameId(2), "a+c+20270101000000".to_owned()),
            piece(1, Color::White, Channel::Network, 0, 1000, "0 < +7776FU\n"),
            piece(1, Color::White, Channel::Network, 1, 3000, "7 > -3334FU\n"),
            piece(1, Color::Black, Channel::Engine, 0, 2000, "0 > go\n"),
            piece(2, Color::Black, Channel::Engine, 0, 0, "0 > go\n"),
            SideRecord::OpeningTimes(GameId(1), vec![seconds(1), None, seconds(2)]),
            SideRecord::Annotated(Box::new(annotations.clone())),
        ],
    );
    let line = |at, color, channel, way, bytes: &[u8]| TranscriptLine {
        at,
        color,
        channel,
        way,
        bytes: bytes.to_vec(),
    };
    let lines = [
        line(1_000_000, Color::White, Channel::Network, Direction::Received, b"+7776FU"),
        line(2_000_000, Color::Black, Channel::Engine, Direction::Sent, b"go"),
        line(3_000_007, Color::White, Channel::Network, Direction::Sent, b"-3334FU"),
    ];
    assert_eq!(store.transcript(event, GameId(1)).unwrap(), lines);
    assert_eq!(store.transcript(OTHER, GameId(1)).unwrap(), []);
    assert_eq!(store.game_name(event, GameId(1)).unwrap().as_deref(), Some("a+b+20260101000000"));
    assert_eq!(store.game_name(OTHER, GameId(1)).unwrap(), None);
    let named = ["a+c+20270101000000", "a+b"].map(|name| store.game_named(event, name).unwrap());
    assert_eq!(named, [Some(GameId(2)), None]);
    let dated = |date| store.names_dated_from(event, date).unwrap();
    assert_eq!(dated("20270101000000"), ["a+c+20270101000000"]);
    assert_eq!((dated("20260101000000").len(), dated("20270101000001").len()), (2, 0));
    assert_eq!(store.annotations(event, GameId(2)).unwrap(), annotations);
    assert!(store.annotations(event, GameId(1)).unwrap().is_empty());
    let times = store.game(event, GameId(1)).unwrap().unwrap().opening_times;
    assert_eq!(times, [(1, Duration::from_secs(1)), (3, Duration::from_secs(2))]);
}

#[test]
fn a_buoy_is_as_it_was_set_last_until_it_is_deleted() {
    let buoy = |name: &str, moves: &[&str], left| Buoy {
        name: name.to_owned(),
        moves: moves.iter().map(|&mv| mv.to_owned()).collect(),
        owner: "kuma".to_owned(),
        left,
    };
    let [first, second] = [buoy("a-600-10", &["+7776FU", "-3334FU"], 3), buoy("b-600-10", &["+2726FU"], 1)];
    let records = vec![
        SideRecord::Buoy(first.clone()),
        SideRecord::Buoy(second),
        SideRecord::Buoy(Buoy { left: 2, ..first.clone() }),
        SideRecord::NoBuoy("b-600-10".to_owned()),
    ];
    let (_directory, store, event) = kept(vec![opening()], records);
    assert_eq!(store.buoys(event).unwrap(), [Buoy { left: 2, ..first }]);
    assert_eq!(store.buoys(OTHER).unwrap(), []);
}

fn lease(number: u64, machine: &str, scale: u32, games: &[u64]) -> Lease {
    Lease {
        lease: LeaseId(number),
        epoch: 1,
        machine: machine.to_owned(),
        worker: format!("worker of {machine}"),
        scale: Scale::new(scale).unwrap(),
        games: games.iter().map(|game| pairing(*game, 0, 1)).collect(),
    }
}

#[test]
fn what_machines_have_and_have_played_is_counted_for_each_and_a_pair_belongs_to_the_last_that_got_it() {
    let (_directory, path) = temporary();
    let (store, opened) = open(&path);
    let event = opened.event;
    assert_eq!(store.machines(event, i64::MAX).unwrap(), [], "no game was given away");
    let fleet = store.begin_fleet(event, "key").unwrap();
    assert_eq!((&*fleet.key, fleet.epoch, fleet.reference), ("key", 1, None));
    let [first, again, other] = [
        lease(1 << 63, "swift", 1000, &[1, 2]),
        lease(2, "slow", 2500, &[1, 2]),
        lease(3, "slow", 1500, &[3]),
    ];
    let committed = |lease: &Lease, games: &[u64]| {
        let games = games.iter().copied().map(GameId).collect();
        let (lease, machine) = (lease.lease, lease.machine.clone());
        SideRecord::Committed(Box::new(Committed { lease, machine, sha256: "ab".to_owned(), games }))
    };
    let repeated = |machine: &str, again: &str, difference: Option<&str>| {
        let (machine, again) = (machine.to_owned(), again.to_owned());
        let difference = difference.map(str::to_owned);
        SideRecord::Repeated(Box::new(Repeated { game: pairing(1, 0, 1), machine, again, difference }))
    };
    let state = |name: &str, presence| MachineState {
        name: name.to_owned(),
        slots: 4,
        cores: 16,
        nps: Some(1_000_000),
        scale: Scale::new(2500).unwrap(),
        playing: 3,
        faults: 1,
        lag: 7,
        presence,
        word: "it is warm".to_owned(),
        seen: 12,
        held_since: Some(5),
    };
    let states = [
        state("slow", Presence::Here),
        MachineState { nps: None, held_since: None, ..state("swift", Presence::Barred) },
    ];
    let leased = |lease: &Lease| SideRecord::Leased(Box::new(lease.clone()));
    let journal = start(store, event);
    journal.append_with(
        four_games(),
        [leased(&first), leased(&again), leased(&other)]
            .into_iter()
            .chain(states.iter().map(|state| SideRecord::Machine(Box::new(state.clone()))))
            .chain([SideRecord::Reference("{}".to_owned())]),
    );
    let store = journal.finish().unwrap();
    assert_eq!(
        store.open_leases(event).unwrap(),
        [again.clone(), other.clone()],
        "the first has lost its pair"
    );
    assert_eq!(store.open_leases(OTHER).unwrap(), []);
    assert_eq!(store.machine_states(event).unwrap(), states);
    let journal = start(store, event);
    let later = [
        committed(&again, &[1, 2, 3]),
        repeated("slow", "swift", None),
        repeated("slow", "swift", Some("game 2")),
    ];
    journal.append_with([], later);
    let store = journal.finish().unwrap();
    assert_eq!(store.open_leases(event).unwrap(), [first.clone(), other], "its games are over");
    let known = |lease| store.lease(event, lease).unwrap();
    assert_eq!(known(first.lease), Some(KnownLease { lease: first, sha256: None }));
    assert_eq!(known(again.lease), Some(KnownLease { lease: again, sha256: Some("ab".to_owned()) }));
    assert_eq!(known(LeaseId(7)), None);
    let scale = |thousandths| Scale::new(thousandths).unwrap();
    let slow = MachineCounts {
        machine: Some("slow".to_owned()),
        games: 3,
        results: [1, 1, 1],
        time_losses: 1,
        faults: 1,
        open: 1,
        clocks: Some([scale(1500), scale(2500)]),
        repeated: 2,
        differed: 1,
    };
    let swift = MachineCounts {
        machine: Some("swift".to_owned()),
        open: 1,
        clocks: Some([Scale::ONE; 2]),
        repeated: 2,
        differed: 1,
        ..MachineCounts::default()
    };
    let own = MachineCounts { games: 1, results: [0, 0, 1], ..MachineCounts::default() };
    assert_eq!(store.machines(event, i64::MAX).unwrap(), [own, slow.clone(), swift.clone()]);
    let second = 1_800_000_062_500;
    let until = store.machines(event, second).unwrap();
    assert_eq!(until, [MachineCounts { games: 2, results: [1, 1, 0], faults: 0, ..slow }, swift]);
    let has = ["slow", "swift", "manager"].map(|machine| store.has_machine(event, machine).unwrap());
    assert_eq!(has, [true, true, false]);
    let games = |machine| store.games_of_machine(event, machine).unwrap();
    assert_eq!((games("slow"), games("swift")), ([1, 2, 3].map(GameId).to_vec(), vec![]));
    let fleet = store.begin_fleet(event, "another").unwrap();
    assert_eq!((&*fleet.key, fleet.epoch, fleet.reference.as_deref()), ("key", 2, Some("{}")));
    let left = states.map(|state| MachineState { presence: Presence::Left, playing: 0, ..state });
    assert_eq!(store.machine_states(event).unwrap(), left, "until they come again");
    store.set_reference(event, "{\"nps\":1}").unwrap();
    assert_eq!(store.begin_fleet(event, "k").unwrap().reference.as_deref(), Some("{\"nps\":1}"));
}

#[test]
fn a_notice_is_delivered_once_to_each_channel_and_ratings_are_those_that_were_set_last() {
    let (_directory, store, event) = kept(vec![opening()], vec![]);
    assert_eq!([1, 2].map(|now| store.notices_since(event, "mail", now).unwrap()), [1, 1]);
    for notice in ["over", "over", "round 2"] {
        store.deliver(event, "mail", notice, 3).unwrap();
    }
    let delivered = |event, channel| Vec::from_iter(store.delivered(event, channel).unwrap());
    assert_eq!(delivered(event, "mail"), ["over", "round 2"]);
    assert!(delivered(event, "chat").is_empty() && delivered(OTHER, "mail").is_empty());
    assert_eq!(
        (store.event_named(HEAD.name).unwrap(), store.event_named("cup").unwrap()),
        (Some(event), None)
    );
    let rating =
        |player, rate| RatingRow { player: PlayerId(player), rate, error: Some(20.5), games: 7, at: 9 };
    store.set_ratings(event, &[rating(0, 1500.0), rating(1, 1400.0)]).unwrap();
    let last = [RatingRow { error: None, ..rating(1, 1410.5) }, rating(2, 1300.0)];
    store.set_ratings(event, &last).unwrap();
    assert_eq!((store.ratings(event).unwrap(), store.ratings(OTHER).unwrap()), (last.to_vec(), vec![]));
}

#[test]
fn accounts_are_made_changed_and_removed_by_their_names() {
    let (_directory, store, _) = kept(vec![], vec![]);
    let set = [("tora", "a"), ("kuma", "b"), ("tora", "c")]
        .map(|(name, hash)| store.set_account(name, hash).unwrap());
    assert_eq!(set, [true, true, false]);
    let names = || store.accounts().unwrap().into_iter().map(|account| account.name).collect::<Vec<_>>();
    assert_eq!(names(), ["kuma", "tora"]);
    assert_eq!(["tora", "usagi"].map(|name| store.account_hash(name).unwrap()), [Some("c".to_owned()), None]);
    assert_eq!(["tora", "tora"].map(|name| store.remove_account(name).unwrap()), [true, false]);
    assert_eq!(names(), ["kuma"]);
    let set = [("kai", Role::Operator, "a"), ("ann", Role::Arbiter, "b"), ("kai", Role::Arbiter, "c")]
        .map(|(name, role, hash)| store.set_web_account(name, role, hash).unwrap());
    assert_eq!(set, [true, true, false]);
    let shown = |account: WebAccount| (account.name, account.role, account.hash);
    let all: Vec<_> = store.web_accounts().unwrap().into_iter().map(shown).collect();
    let expected = [("ann", Role::Arbiter, "b"), ("kai", Role::Arbiter, "c")];
    assert_eq!(all, expected.map(|(name, role, hash)| (name.to_owned(), role, hash.to_owned())));
    assert_eq!(store.web_account("kai").unwrap().map(shown), all.last().cloned());
    assert_eq!(["kai", "kai"].map(|name| store.remove_web_account(name).unwrap()), [true, false]);
    assert_eq!(store.web_account("kai").unwrap(), None);
    let roles = ["operator", "arbiter", "king"].map(|word| word.parse::<Role>().map(|role| role.to_string()));
    assert_eq!(roles[..2], [Ok("operator".to_owned()), Ok("arbiter".to_owned())]);
    let fault = roles[2].as_ref().unwrap_err().to_string();
    assert_eq!(fault, "`king` is no role; the roles are `arbiter` and `operator`");
}

const TEST: NewTest<'_> = NewTest {
    title: "t",
    repository: "/r",
    config: "c",
    base: "/",
    commits: "{}",
    priority: 1,
    share: 2,
    note: "",
    by: "ann",
};

#[test]
fn a_test_of_the_queue_is_as_it_was_changed_last_and_one_process_plays_the_queue() {
    let (_directory, mut store, _) = kept(vec![], vec![]);
    (0..2).for_each(|_| assert!(store.queue_test(&TEST).unwrap().is_some()));
    let test = |store: &Writer| store.queued_test(1).unwrap().unwrap();
    let added = test(&store);
    assert_eq!((added.number, &*added.event, &*added.title), (1, "test-1", "t"));
    assert_eq!((added.priority, added.share, &*added.config, &*added.repository), (1, 2, "c", "/r"));
    let change = |change| assert!(store.change_test(1, &change).unwrap());
    change(TestChange::Pause);
    assert!(test(&store).paused && !test(&store).waits() && !test(&store).is_settled());
    change(TestChange::Priority(-7));
    change(TestChange::Share(9));
    change(TestChange::Note("it is slower"));
    change(TestChange::Pruned);
    change(TestChange::Fail("no compiler"));
    let changed = test(&store);
    assert_eq!(
        (changed.priority, changed.share, &*changed.note, changed.pruned),
        (-7, 9, "it is slower", true)
    );
    assert!(changed.is_settled() && store.queued_tests(Tests::Open).unwrap().len() == 1);
    change(TestChange::Resume);
    let resumed = test(&store);
    assert!(resumed.waits() && resumed.fault.is_none() && !resumed.is_unapproved());
    assert!(!store.change_test(3, &TestChange::Pause).unwrap());
    let paused = [true, false].map(|paused| {
        store.pause_queue(paused).unwrap();
        store.queue_is_paused().unwrap()
    });
    assert_eq!(paused, [true, false]);
    assert_eq!(store.queue_holder(), None);
    store.lock_queue().unwrap();
    assert!(store.queue_holder().is_some());
    let fault = Writer::open(store.path()).unwrap().lock_queue().unwrap_err().to_string();
    assert!(fault.contains("the queue"), "{fault}");
}

#[test]
fn a_test_of_the_queue_is_over_when_its_event_is() {
    let (_directory, path) = temporary();
    let mut store = Writer::open(&path).unwrap();
    assert_eq!(store.queue_test(&TEST).unwrap(), Some(1));
    let head = EventHead { name: "test-1", ..HEAD };
    let event = store.open_event(&head).unwrap().event;
    assert!(store.is_played(event) && !store.is_played(OTHER));
    let journal = start(store, event);
    journal.append([opening(), at(77, Entry::Closed)]);
    let store = journal.finish().unwrap();
    let test = store.queued_test(1).unwrap().unwrap();
    assert!(test.over && test.is_settled() && test.over_at == Some(77) && !test.waits());
    store.reopen(event).unwrap();
    assert!(!store.queued_test(1).unwrap().unwrap().over, "it has become longer");
    assert!(!store.events().unwrap()[0].closed);
}

const DAY: i64 = 86_400_000;

#[test]
fn results_are_counted_by_players_clocks_day_and_part() {
    let times =
        |main| Some(Box::new([TimeControl { main: Duration::from_secs(main), ..TimeControl::default() }; 2]));
    let mut entries = vec![opening()];
    for (game, black, main, day, outcome) in [
        (1, 0, 60, 0, win(Color::Black)),
        (2, 0, 60, 0, SENNICHITE),
        (3, 0, 60, 1, win(Color::White)),
        (4, 1, 60, 1, win(Color::White)),
        (5, 0, 90, 1, win(Color::White)),
        (6, 0, 90, 1, Outcome::Aborted { by: AbortBy::Stopped }),
    ] {
        let began = day * DAY + game as i64 * 10_000;
        let (Entry::GameStarted(start), Entry::GameEnded(end)) =
            (started(game, black, 1 - black).entry, ended(game, black, 1 - black, outcome).entry)
        else {
            unreachable!()
        };
        entries.push(at(began, Entry::GameStarted(GameStarted { times: times(main), ..start })));
        entries.push(at(began + 1500, Entry::GameEnded(GameEnded { moves_hash: Some(game), ..end })));
    }
    let (_directory, store, event) = kept(entries, vec![]);
    let tallies = |fineness| {
        let tallies = store.tallies(event, fineness).unwrap();
        let main = |tally: &crate::Tally| tally.times.as_ref().unwrap()[0].main.as_secs();
        tallies
            .into_iter()
            .map(|tally| (tally.black.0, main(&tally), tally.part, tally.day, tally.results, tally.timed))
            .collect::<Vec<_>>()
    };
    let all = tallies(Fineness::default());
    assert_eq!(
        all,
        [
            (0, 60, 0, 0, [1, 1, 1], (3, 4.5)),
            (0, 90, 0, 0, [0, 0, 1], (1, 1.5)),
            (1, 60, 0, 0, [0, 0, 1], (1, 1.5))
        ]
    );
    let by_day = tallies(Fineness { by_day: true, ..Fineness::default() });
    let days = by_day.iter().map(|tally| (tally.0, tally.1, tally.3, tally.4));
    assert_eq!(
        days.collect::<Vec<_>>(),
        [(0, 60, 0, [1, 1, 0]), (0, 60, 1, [0, 0, 1]), (0, 90, 1, [0, 0, 1]), (1, 60, 1, [0, 0, 1])]
    );
    // The second game ends at this moment, and belongs to what comes after it.
    let moments = [21_500, DAY + 40_000];
    let parts = tallies(Fineness { moments: &moments, ..Fineness::default() });
    let parts: Vec<_> = parts.iter().map(|tally| (tally.2, tally.0, tally.4)).collect();
    assert_eq!(parts, [(0, 0, [1, 0, 0]), (1, 0, [0, 1, 1]), (2, 0, [0, 0, 1]), (2, 1, [0, 0, 1])]);
    let moves: Vec<_> = store.tallies(event, Fineness::default()).unwrap().remove(0).moves;
    let expected = [(0, win(Color::Black), 1), (1, SENNICHITE, 2), (2, win(Color::White), 3)];
    assert_eq!(moves, expected);
    assert_eq!(store.tallies(OTHER, Fineness::default()).unwrap(), []);
}

/// The attempt of a game at its place, with an end and an operation about it.
fn attempt(game: u64, attempt: u32, opening: &str, outcome: Outcome, replayed: bool) -> [Stamped; 3] {
    let place = Pairing { attempt, ..pairing(1, 0, 1) };
    let (Entry::GameStarted(start), Entry::GameEnded(end)) =
        (started(game, 0, 1).entry, ended(game, 0, 1, outcome).entry)
    else {
        unreachable!()
    };
    let opening = opening.to_owned();
    [
        at(1, Entry::GameStarted(GameStarted { pairing: place, opening, ..start })),
        moved(game, 3, 5),
        at(2, Entry::GameEnded(GameEnded { pairing: place, replayed, ..end })),
    ]
}

fn ordered(number: u64, game: u64, action: fn(NamedGame) -> Action) -> Stamped {
    let (black, white) = ("Asa".to_owned(), "Bei".to_owned());
    let action = action(NamedGame { game: GameId(game), black, white, round: 1 });
    let (by, reason) = ("kai".to_owned(), String::new());
    at(3, Entry::Operator(Box::new(Operation { number, by, reason, undoes: None, action })))
}

fn adjourned(number: u64, game: u64) -> Stamped {
    ordered(number, game, |game| Action::Adjourned { game, held: None })
}

const STOPPED: Outcome = Outcome::Aborted { by: AbortBy::Stopped };

#[test]
fn an_attempt_goes_on_from_the_game_that_was_adjourned_at_its_place_whatever_was_stopped_since() {
    let before = |entries: Vec<Stamped>, at: u32| {
        let (_directory, store, event) = kept([vec![opening()], entries].concat(), vec![]);
        let place = Pairing { attempt: at, ..pairing(1, 0, 1) };
        let elsewhere = Pairing { index: 1, ..place };
        assert!(store.adjourned_at(event, &elsewhere).unwrap().is_none());
        store.adjourned_at(event, &place).unwrap().map(|game| game.row.game.0)
    };
    let first = || [attempt(1, 0, "7g7f 3c3d", STOPPED, false).to_vec(), vec![adjourned(1, 1)]].concat();
    let then = |outcome| [first(), attempt(2, 1, "7g7f 3c3d", outcome, false).to_vec()].concat();
    assert_eq!((before(first(), 0), before(first(), 1)), (None, Some(1)));
    assert_eq!(before(then(STOPPED), 2), Some(1));
    assert_eq!(before(then(Outcome::Aborted { by: AbortBy::NotStarted }), 2), Some(1));
    assert_eq!(
        before(then(Outcome::Aborted { by: AbortBy::Server }), 2),
        None,
        "it came to an end of its own"
    );
    let anew = [first(), vec![ordered(2, 1, |game| Action::Restarted { game })]].concat();
    assert_eq!(before(anew, 1), None, "it is played from its opening");
    let twice = [then(STOPPED), vec![adjourned(2, 2)]].concat();
    assert_eq!(before(twice, 2), Some(2));
}

#[test]
fn a_game_that_was_adjourned_twice_has_the_moves_of_all_its_parts() {
    let parts = [
        attempt(1, 0, "7g7f", STOPPED, false).to_vec(),
        vec![adjourned(1, 1)],
        attempt(2, 1, "7g7f 2g2f", STOPPED, false).to_vec(),
        vec![adjourned(2, 2)],
        attempt(3, 2, "7g7f 2g2f 2g2f", win(Color::Black), false).to_vec(),
    ];
    let (_directory, store, event) = kept([vec![opening()], parts.concat()].concat(), vec![]);
    let row = |game| store.game(event, GameId(game)).unwrap().unwrap().row;
    let before = |row| {
        store
            .moves_before(event, &row)
            .unwrap()
            .into_iter()
            .map(|(_, moved)| moved.game.0)
            .collect::<Vec<_>>()
    };
    assert_eq!([1, 2, 3].map(|game| before(row(game))), [vec![], vec![1], vec![1, 2]]);
    let other = crate::GameRow { opening: Some("7g7f 8c8d".to_owned()), ..row(3) };
    assert!(before(other).is_empty(), "it began at an opening of its own");
}

#[test]
fn a_draw_is_replayed_by_the_next_attempt_that_comes_to_an_end() {
    let before = |entries: &[[Stamped; 3]], at: u32| {
        let (_directory, store, event) = kept([vec![opening()], entries.concat()].concat(), vec![]);
        let place = Pairing { attempt: at, ..pairing(1, 0, 1) };
        store.replayed_at(event, &place).unwrap().map(|game| game.row.game.0)
    };
    let draw = || attempt(1, 0, "", SENNICHITE, true);
    assert_eq!((before(&[draw()], 0), before(&[draw()], 1)), (None, Some(1)));
    assert_eq!(before(&[attempt(1, 0, "", SENNICHITE, false)], 1), None);
    assert_eq!(before(&[draw(), attempt(2, 1, "", STOPPED, false)], 2), Some(1));
    assert_eq!(before(&[draw(), attempt(2, 1, "", SENNICHITE, true)], 2), Some(2));
    assert_eq!(before(&[draw(), attempt(2, 1, "", win(Color::Black), false)], 2), None);
}

#[test]
fn warnings_are_listed_once_each_and_openings_are_those_of_games_that_count() {
    let fault = |text: &str| at(5, Entry::Fault { player: None, text: text.to_owned() });
    let warned = |text: &str| fault(&format!("{WARNING}{text}"));
    let mut entries = four_games();
    entries.extend([warned("b"), fault("an exit"), warned("a"), warned("b")]);
    let placed = |index, attempt: [Stamped; 3]| {
        attempt.map(|mut stamped| {
            if let Entry::GameStarted(GameStarted { pairing, .. })
            | Entry::GameEnded(GameEnded { pairing, .. }) = &mut stamped.entry
            {
                pairing.index = index;
            }
            stamped
        })
    };
    // A game that is played on began at the opening of its first part.
    entries.extend(placed(9, attempt(5, 0, "7g7f 3c3d", STOPPED, false)));
    entries.extend(placed(9, attempt(6, 1, "7g7f 3c3d 2g2f", win(Color::Black), false)));
    entries.extend(placed(10, attempt(7, 0, "2g2f", win(Color::Black), false)));
    let (_directory, store, event) = kept(entries, vec![]);
    assert_eq!(store.warnings(event).unwrap(), [format!("{WARNING}b"), format!("{WARNING}a")]);
    assert_eq!((store.warnings(OTHER).unwrap(), store.opening_lines(event).unwrap()), (vec![], 2));
    let mut lost = vec![];
    store.lost_by_fault(event, |row| lost.push(row.game.0)).unwrap();
    assert_eq!(lost, [1, 3]);
}
