use super::*;
use crate::manager::tests::fixture;
use referee::clock::TimeControl;

const ANN: &str = "annannannann0001";
const BOB: &str = "bobbobbobbob0002";

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn hello(name: &str, held: &[u64]) -> Hello {
    let holding = Holding { now: 1000, held: held.iter().copied().map(LeaseId).collect(), outbox: vec![] };
    let (build, name) = ("0.1.0".to_owned(), name.to_owned());
    Hello {
        protocol: PROTOCOL,
        build,
        session: 1,
        name,
        slots: 2,
        cores: 4,
        words: vec![],
        speed: None,
        ready: true,
        holding,
    }
}

fn beat(held: &[u64]) -> Beat {
    Beat { epoch: 3, session: 1, lag: 7, holding: hello("", held).holding }
}

fn with_ann(now: Instant) -> Registry {
    let mut registry = Registry::default();
    registry.hello(now, 1000, ANN, &hello("ann", &[])).unwrap();
    registry
}

fn give(registry: &mut Registry, now: Instant, lease: u64) -> bool {
    registry.give(now, 3, LeaseId(lease), vec![fixture(2 * lease), fixture(2 * lease + 1)]).is_some()
}

#[test]
fn a_machine_gets_as_many_pairs_as_it_has_slots_and_the_next_while_it_plays_short_ones() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1) && give(&mut registry, now, 2) && !give(&mut registry, now, 3));
    registry.answered(now, LeaseId(1), "a", secs(4));
    assert_eq!(registry.places(now), 3, "two slots, two more that wait, one pair there");
    registry.answered(now, LeaseId(2), "b", secs(400));
    assert_eq!(registry.places(now), 2, "its pairs are long");
}

#[test]
fn a_machine_with_very_short_pairs_has_two_seconds_of_play_ahead_and_still_plays_pairs_of_others_again() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    registry.answered(now, LeaseId(1), "a", Duration::from_millis(500));
    assert_eq!(registry.places(now), 10, "two slots, and four pairs ahead for each");
    assert!(give(&mut registry, now, 2));
    registry.answered(now, LeaseId(2), "b", Duration::ZERO);
    assert_eq!(registry.places(now), 18, "half as long");
    assert!((3..21).all(|lease| give(&mut registry, now, lease)) && !give(&mut registry, now, 21));
    let again = vec![fixture(0), fixture(1)];
    assert!(registry.give_again(now, LeaseId(30), again, "another"), "its places are always taken");
    let given = registry.job(now, 3, LeaseId(30), true);
    assert!(given.is_some_and(|(worker, job)| worker == ANN && job.repeats));
}

#[test]
fn a_machine_that_is_silent_gets_nothing_new_and_loses_what_it_has_after_half_a_minute() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    assert_eq!(registry.places(now + secs(13)), 0);
    assert!(registry.silent(now + LEASE).is_empty());
    assert_eq!(registry.silent(now + LEASE + secs(1)), [("ann".to_owned(), vec![LeaseId(1)])].into());
    assert!(matches!(registry.find(ANN, LeaseId(1)), Found::Unknown), "its answer comes too late");
    let (beaten, _) = registry.beat(now + secs(40), 1000, ANN, 3, &beat(&[1]));
    assert_eq!(beaten, Beaten::Known(Verdicts { lost: vec![LeaseId(1)], boards: 0 }));
}

#[test]
fn a_slow_machine_loses_nothing_as_long_as_it_gives_signs_of_life() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    for minute in 1..100 {
        for second in (0..60).step_by(5) {
            let at = now + secs(60 * minute + second);
            assert_eq!(registry.beat(at, 1000, ANN, 3, &beat(&[1])).1, []);
            assert!(registry.silent(at).is_empty());
        }
    }
}

#[test]
fn a_job_that_did_not_arrive_is_lost_when_it_is_not_listed() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    assert_eq!(registry.beat(now + secs(5), 1000, ANN, 3, &beat(&[])).1, [], "it may be on its way");
    assert_eq!(registry.beat(now + secs(11), 1000, ANN, 3, &beat(&[])).1, [LeaseId(1)]);
}

#[test]
fn a_machine_that_was_started_again_loses_at_once_what_its_dead_process_had() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    registry.beat(now + secs(5), 1000, ANN, 3, &beat(&[1]));
    let (_, missing) = registry.hello(now + secs(6), 1000, ANN, &hello("ann", &[])).unwrap();
    assert_eq!(missing, [LeaseId(1)]);
}

#[test]
fn a_lease_of_an_earlier_run_stays_with_its_machine_if_it_has_it_still() {
    let now = Instant::now();
    let mut registry = Registry::default();
    for lease in [1, 2] {
        let games = vec![fixture(lease)];
        let pairings = games.iter().map(|game| game.pairing).collect();
        let lease = Lease {
            scale: referee::clock::Scale::ONE,
            lease: LeaseId(lease),
            epoch: 2,
            machine: "ann".to_owned(),
            worker: ANN.to_owned(),
            games: pairings,
        };
        registry.adopt(now, &lease, games);
    }
    assert_eq!(registry.name_of(ANN), "ann", "an answer may come before the hello, and is of that machine");
    let (verdicts, missing) = registry.hello(now + secs(20), 1000, ANN, &hello("ann", &[1])).unwrap();
    assert_eq!((verdicts, missing), (Verdicts::default(), vec![LeaseId(2)]));
    assert!(matches!(registry.find(ANN, LeaseId(1)), Found::Open(_)));
    assert!(registry.silent(now + secs(49)).is_empty(), "its time began anew when the machine came");
}

#[test]
fn only_the_machine_that_has_a_lease_answers_it_or_gives_it_back() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    registry.hello(now, 1000, BOB, &hello("bob", &[])).unwrap();
    assert!(matches!(registry.find(BOB, LeaseId(1)), Found::Unknown));
    assert_eq!(registry.back(BOB, &[LeaseId(1)], false), []);
    assert_eq!(registry.back(ANN, &[LeaseId(1)], true), [LeaseId(1)]);
    assert_eq!(registry.places(now), 2, "only bob's: ann has left");
}

#[test]
fn an_answer_that_is_being_stored_cannot_be_lost_and_has_one_content() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    registry.answered(now, LeaseId(1), "content", secs(1));
    assert!(!registry.lose(LeaseId(1)));
    assert!(registry.silent(now + secs(100)).is_empty());
    assert!(matches!(registry.find(ANN, LeaseId(1)), Found::Answered(sha256) if sha256 == "content"));
}

#[test]
fn strangers_are_refused_in_a_sentence() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    let mut refused = |change: &dyn Fn(&mut Hello)| {
        let mut hello = hello("bob", &[]);
        change(&mut hello);
        registry.hello(now, 1000, BOB, &hello).unwrap_err()
    };
    let other = refused(&|hello| hello.protocol = PROTOCOL + 1);
    assert!(
        other.for_good && other.why.contains(&format!("speaks protocol {} and the manager", PROTOCOL + 1)),
        "{}",
        other.why
    );
    for change in [
        (|hello: &mut Hello| hello.name = "\u{202e}".to_owned()) as fn(&mut Hello),
        |hello| hello.name = "x".repeat(41),
        |hello| hello.slots = 0,
        |hello| hello.slots = 1_000_000,
    ] {
        assert!(refused(&change).for_good);
    }
}

#[test]
fn a_machine_that_is_barred_loses_what_it_has_and_gets_nothing_more() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    assert_eq!(registry.bar(ANN, Part::Lied), [LeaseId(1)]);
    registry.hello(now, 1000, ANN, &hello("ann", &[])).unwrap();
    assert_eq!(registry.places(now), 0, "saying hello again does not help");
}

#[test]
fn times_of_a_machine_are_told_by_our_clock() {
    let now = Instant::now();
    let mut registry = Registry::default();
    registry.hello(now, 250, ANN, &hello("ann", &[])).unwrap();
    assert_eq!(registry.our_time(ANN, 2000), 1250);
}

#[test]
fn a_slower_machine_is_given_longer_clocks_and_a_manager_that_starts_again_knows_them() {
    let now = Instant::now();
    let mut registry = Registry::default();
    registry.hello(now, 1000, ANN, &hello("ann", &[])).unwrap();
    registry.set_scale(ANN, Scale::of(2.5).unwrap());
    let mut timed = fixture(0);
    timed.setup.times = [TimeControl { main: secs(60), ..TimeControl::default() }; 2];
    let lease = registry.give(now, 1, LeaseId(1), vec![timed.clone()]).unwrap();
    let (_, job) = registry.job(now, 1, LeaseId(1), false).unwrap();
    assert_eq!((job.games[0].times[0].main, job.games[0].tells_times), (secs(150), true));
    let mut later = Registry::default();
    later.adopt(now, &lease, vec![timed]);
    let Found::Open(games) = later.find(ANN, LeaseId(1)) else { panic!("the lease is unknown") };
    assert_eq!((games[0].setup.times[1].main, games[0].tells_times), (secs(150), true));
}

#[test]
fn a_machine_that_says_it_has_many_slots_gets_few_pairs_until_it_has_brought_one_back() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    let large = Hello { slots: SLOTS, ..hello("bob", &[]) };
    registry.hello(now, 1000, BOB, &large).unwrap();
    assert_eq!((registry.places(now), registry.slots(now)), (2 + 16, 2 + 16));
    let beats = |registry: &mut Registry, at: Instant| {
        [ANN, BOB].map(|worker| registry.beat(at, 1000, worker, 3, &beat(&[])).0)
    };
    let later = now + secs(25);
    beats(&mut registry, later);
    assert_eq!(registry.places(later), 2 + 64, "long pairs are no reason to leave its slots empty");
    let hour = now + secs(3600);
    beats(&mut registry, hour);
    assert_eq!(registry.places(hour), 2 + SLOTS);
    let given = registry.give(later, 3, LeaseId(1), vec![fixture(0), fixture(1)]);
    assert!(given.is_some_and(|lease| lease.worker == BOB));
    registry.answered(later + secs(100), LeaseId(1), "a", secs(100));
    beats(&mut registry, later);
    assert_eq!(registry.slots(later), 2 + SLOTS, "it plays");
    registry.bar(BOB, Part::Lied);
    assert_eq!(registry.slots(hour), 2, "a machine that gets nothing has no slots");
}

/// Both have a pair, and ann brings hers back after three seconds.
fn with_a_hoarder(now: Instant) -> Registry {
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    registry.back(ANN, &[], true);
    registry.hello(now, 1000, BOB, &hello("bob", &[])).unwrap();
    assert!(give(&mut registry, now, 2));
    registry.hello(now, 1000, ANN, &hello("ann", &[1])).unwrap();
    registry.answered(now + secs(3), LeaseId(1), "a", secs(3));
    registry
}

fn both_beat(registry: &mut Registry, at: Instant) {
    let held: Vec<u64> = registry.leases.keys().map(|lease| lease.0).collect();
    [ANN, BOB].into_iter().for_each(|worker| _ = registry.beat(at, 1000, worker, 3, &beat(&held)));
}

#[test]
fn a_pair_is_taken_back_from_a_machine_that_only_gives_signs_of_life_while_others_wait() {
    let now = Instant::now();
    let mut registry = with_a_hoarder(now);
    both_beat(&mut registry, now + secs(30));
    assert_eq!(registry.hoards(now + secs(30), None), []);
    both_beat(&mut registry, now + secs(31));
    let hoards = registry.hoards(now + secs(31), None);
    let [Hoard { worker, leases, held, usual, is_last: false }] = &hoards[..] else { panic!("{hoards:?}") };
    assert_eq!((worker.as_str(), &leases[..], *held, *usual), (BOB, &[LeaseId(2)][..], secs(31), secs(3)));
    assert!(matches!(registry.find(BOB, LeaseId(2)), Found::Unknown), "its answer comes too late");
    assert!(registry.hoards(now + secs(31), None).is_empty());
}

#[test]
fn a_slow_machine_keeps_its_pairs_while_nobody_waits_or_nobody_has_brought_one_back() {
    let now = Instant::now();
    let mut registry = with_a_hoarder(now);
    let later = now + secs(10_000);
    both_beat(&mut registry, later);
    assert!((3..).map(|lease| give(&mut registry, later, lease)).take_while(|given| *given).count() > 0);
    assert_eq!(registry.hoards(later, None), [], "everybody has enough");
    let mut registry = with_ann(now);
    assert!(give(&mut registry, now, 1));
    registry.hello(now, 1000, BOB, &hello("bob", &[])).unwrap();
    both_beat(&mut registry, later);
    assert_eq!(registry.hoards(later, None), [], "nobody knows how long a pair takes");
    assert_eq!(registry.hoards(later, Some(secs(5000))), [], "games are that long here");
    assert_eq!(registry.hoards(later, Some(secs(900))).len(), 1, "places of the manager's machine wait too");
}

#[test]
fn a_machine_that_becomes_slow_keeps_its_pairs_as_long_as_it_brings_some_back() {
    let now = Instant::now();
    let mut registry = with_a_hoarder(now);
    assert!((3..9).take_while(|lease| give(&mut registry, now + secs(4), *lease)).count() >= 3);
    let of_bob: Vec<LeaseId> = registry.machines[BOB].leases.iter().copied().collect();
    assert!(of_bob.len() >= 2, "{of_bob:?}");
    let of_ann: Vec<LeaseId> = registry.machines[ANN].leases.iter().copied().collect();
    of_ann.into_iter().for_each(|lease| registry.answered(now + secs(7), lease, "a", secs(3)));
    registry.answered(now + secs(20), of_bob[0], "b", secs(16));
    both_beat(&mut registry, now + secs(50));
    assert_eq!(registry.hoards(now + secs(50), None), [], "it has brought one back half a minute ago");
    both_beat(&mut registry, now + secs(51));
    assert_eq!(registry.hoards(now + secs(51), None)[0].leases, of_bob[1..]);
}

#[test]
fn a_machine_that_hoards_gets_one_pair_at_a_time_and_the_third_time_in_a_row_is_the_last() {
    let now = Instant::now();
    let mut registry = with_a_hoarder(now);
    let mut at = now + secs(31);
    for time in 1..=3 {
        both_beat(&mut registry, at);
        let hoards = registry.hoards(at, None);
        assert_eq!((hoards.len(), hoards[0].is_last), (1, time == 3), "{hoards:?}");
        assert_eq!(registry.machines[BOB].places(at), 1);
        // All places are taken, bob's one among them; then ann brings hers back.
        let given = 10 * time..10 * time + 9;
        let last = given.clone().take_while(|lease| give(&mut registry, at, *lease)).last().unwrap();
        let of_ann: Vec<LeaseId> = registry.machines[ANN].leases.iter().copied().collect();
        assert_eq!(registry.machines[BOB].leases.len(), 1, "{last}");
        of_ann.into_iter().for_each(|lease| {
            registry.answered(at + secs(3), lease, "a", secs(3));
            registry.end(lease);
        });
        at += secs(40);
    }
    let mut registry = with_a_hoarder(now);
    both_beat(&mut registry, now + secs(31));
    registry.hoards(now + secs(31), None);
    let given = (3..9).take_while(|lease| give(&mut registry, now + secs(31), *lease)).count();
    assert!(given > 0);
    let lease = *registry.machines[BOB].leases.iter().next().unwrap();
    registry.answered(now + secs(90), lease, "a", secs(59));
    assert_eq!(registry.machines[BOB].hoards, 0, "it plays after all");
}

#[test]
fn a_machine_that_lists_thousands_of_pairs_that_it_was_never_given_hears_of_a_thousand() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    let held: Vec<u64> = (1..30_000).collect();
    let (Beaten::Known(verdicts), _) = registry.beat(now, 1000, ANN, 3, &beat(&held)) else { panic!() };
    assert_eq!(verdicts.lost.len(), MOST_LOST);
}

#[test]
fn screens_and_pages_hear_since_when_a_machine_has_had_its_oldest_pair() {
    let now = Instant::now();
    let mut registry = with_ann(now);
    assert_eq!(registry.states(now, 50_000)[0].held_since, None);
    assert!(give(&mut registry, now, 1) && give(&mut registry, now + secs(4), 2));
    assert_eq!(registry.states(now + secs(9), 59_000)[0].held_since, Some(50_000));
}
