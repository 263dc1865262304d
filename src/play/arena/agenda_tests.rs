use super::*;
use contest::{
    fault_limit::FaultLimit,
    schedule::{Format, Stage},
};
use plan::{EnginePlan, RoundBreak};
use referee::{AbortBy, Color, Outcome, WinBy, clock::Scale, entry::GameEnded, lease::LeaseId};
use std::time::Duration;

/// Surroundings that a test sets by hand.
#[derive(Default)]
struct World {
    /// Adjourned games that wait for the operator, by their index.
    held: Vec<u64>,
    /// Players of the network who are logged in; `None`: an event without a network.
    waiting: Option<Vec<PlayerId>>,
    machine_slots: Option<usize>,
    /// Games whose options are not known yet, by their index.
    steered: Vec<u64>,
    /// True while no later round begins.
    rests: bool,
}

impl Surroundings for World {
    fn holds(&self, pairing: &Pairing) -> bool {
        self.held.contains(&pairing.index)
    }

    fn has_adjourned(&self) -> bool {
        !self.held.is_empty()
    }

    fn knows_options(&self, pairing: &Pairing) -> bool {
        !self.steered.contains(&pairing.index)
    }

    fn has_network(&self) -> bool {
        self.waiting.is_some()
    }

    fn waits(&self, player: PlayerId) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| waiting.contains(&player))
    }

    fn machine_slots(&self) -> Option<usize> {
        self.machine_slots
    }

    fn holder(&self, _: u8, _: u64) -> Option<String> {
        None
    }

    fn break_is_over(&self, _: RoundOf) -> bool {
        !self.rests
    }
}

fn plan(format: Format, players: usize) -> Plan {
    let engine = |number: usize| EnginePlan { name: format!("e{number}"), ..EnginePlan::default() };
    let plan = Plan::of_engines("event", (0..players).map(engine).collect(), "event.db".into());
    Plan { stages: vec![Stage { format, games: 2, ..Stage::default() }], ..plan }
}

fn agenda(plan: &Plan) -> Agenda {
    let standings = Standings::new(&plan.stages, plan.engines.len());
    Agenda::new(
        Arc::new(plan.clone()),
        standings.with_rules(plan.ranking.clone()).with_fault_limits(plan.fault_limits()),
        true,
    )
}

/// The next game at this place.
fn next(agenda: &mut Agenda, place: Place, world: &World) -> Option<Pairing> {
    match agenda.next(place, world) {
        Choice::Game(pairing) => Some(pairing),
        Choice::Nothing => None,
        other => panic!("{other:?}"),
    }
}

fn end(agenda: &mut Agenda, pairing: Pairing, outcome: Outcome) {
    let game = GameId(1);
    let ended = GameEnded::new(game, pairing, outcome, 0);
    agenda.standings.fold(&Entry::GameEnded(ended));
}

const WON: Outcome = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
const STOPPED: Outcome = Outcome::Aborted { by: AbortBy::Stopped };

#[test]
fn a_game_of_a_player_who_is_missing_is_overtaken_and_begins_when_the_player_comes() {
    let mut plan = plan(Format::RoundRobin { cycles: 1 }, 4);
    plan.engines.iter_mut().for_each(|engine| engine.remote = true);
    let mut agenda = agenda(&plan);
    let mut world = World { waiting: Some(vec![PlayerId(1), PlayerId(2), PlayerId(3)]), ..World::default() };
    let first = next(&mut agenda, Place::Here, &world).unwrap();
    assert!(![first.black, first.white].contains(&PlayerId(0)));
    assert!(agenda.pending().iter().any(|game| agenda.is_absent(game.black, &world)));
    world.waiting = Some((0..4).map(PlayerId).collect());
    let second = next(&mut agenda, Place::Here, &world).unwrap();
    assert!([second.black, second.white].contains(&PlayerId(0)), "the game that waited longest is next");
}

#[test]
fn a_round_begins_when_the_games_of_the_one_before_and_the_break_are_over() {
    let mut plan = plan(Format::RoundRobin { cycles: 1 }, 4);
    (plan.stages[0].games, plan.round_break) = (1, RoundBreak::Lasts(Duration::from_secs(60)));
    let (mut agenda, mut world) = (agenda(&plan), World::default());
    for round in 1..=3 {
        let games = [1, 2].map(|number| {
            let game = next(&mut agenda, Place::Here, &world).unwrap();
            agenda.running.insert(GameId(number), game);
            game
        });
        assert_eq!(games.map(|game| game.round), [round; 2]);
        assert_eq!(next(&mut agenda, Place::Here, &world), None, "games of the round are played");
        for (number, game) in (1..).zip(games) {
            end(&mut agenda, game, WON);
            agenda.running.remove(&GameId(number));
        }
        world.rests = true;
        let waits = next(&mut agenda, Place::Here, &world).is_none() && agenda.is_waiting();
        assert_eq!((waits, agenda.resting()), (round < 3, (round < 3).then_some((0, round + 1))));
        world.rests = false;
    }
    assert!(agenda.is_done());
}

#[test]
fn a_round_that_a_restart_broke_off_goes_on_without_a_break_and_the_next_one_waits() {
    let mut plan = plan(Format::RoundRobin { cycles: 1 }, 4);
    (plan.stages[0].games, plan.round_break) = (1, RoundBreak::Lasts(Duration::from_secs(60)));
    let mut before = agenda(&plan);
    let first = next(&mut before, Place::Here, &World::default()).unwrap();
    end(&mut before, first, WON);
    let mut agenda = Agenda::new(Arc::new(plan), before.standings, true);
    let world = World { rests: true, ..World::default() };
    let second = next(&mut agenda, Place::Here, &world).unwrap();
    assert_eq!((second.round, second.index), (1, 1));
    end(&mut agenda, second, WON);
    assert_eq!((next(&mut agenda, Place::Here, &world), agenda.resting()), (None, Some((0, 2))));
}

#[test]
fn an_event_that_nobody_can_go_on_with_waits_for_no_round() {
    let mut plan = plan(Format::RoundRobin { cycles: 2 }, 2);
    (plan.stages[0].games, plan.round_break) = (1, RoundBreak::Lasts(Duration::from_secs(60)));
    plan.fault_limit = Some(FaultLimit { in_a_row: Some(1), ..FaultLimit::default() });
    let (mut agenda, world) = (agenda(&plan), World { rests: true, ..World::default() });
    let first = next(&mut agenda, Place::Here, &World::default()).unwrap();
    agenda.running.insert(GameId(1), first);
    assert_eq!(next(&mut agenda, Place::Here, &world), None);
    assert!(agenda.is_waiting());
    end(&mut agenda, first, Outcome::Win { winner: Color::Black, by: WinBy::Disconnection });
    agenda.running.clear();
    assert_eq!(next(&mut agenda, Place::Here, &world), None);
    assert_eq!((agenda.standings.halts().len(), agenda.is_waiting()), (1, false));
}

#[test]
fn a_game_that_is_played_again_in_a_break_does_not_wait_for_the_end_of_it() {
    let mut plan = plan(Format::RoundRobin { cycles: 2 }, 2);
    (plan.stages[0].games, plan.round_break) = (1, RoundBreak::Lasts(Duration::from_secs(60)));
    let (mut agenda, mut world) = (agenda(&plan), World::default());
    let first = next(&mut agenda, Place::Here, &world).unwrap();
    end(&mut agenda, first, WON);
    world.rests = true;
    assert_eq!(next(&mut agenda, Place::Here, &world), None);
    agenda.standings = Standings::new(&plan.stages, 2);
    agenda.reopened(first);
    assert_eq!(next(&mut agenda, Place::Here, &world).map(|game| game.index), Some(first.index));
}

#[test]
fn an_adjourned_game_that_the_operator_holds_is_passed_over_until_its_release_and_is_then_the_first() {
    let plan = plan(Format::RoundRobin { cycles: 1 }, 2);
    let mut agenda = agenda(&plan);
    let mut world = World::default();
    let first = next(&mut agenda, Place::Here, &world).unwrap();
    end(&mut agenda, first, STOPPED);
    agenda.returned(first);
    world.held = vec![first.index];
    assert_eq!(next(&mut agenda, Place::Here, &world).unwrap().index, 1);
    assert_eq!(next(&mut agenda, Place::Here, &world), None);
    assert!(agenda.is_waiting() && !agenda.is_done());
    let idle = agenda.why_idle(false, &world).unwrap();
    assert!(idle.starts_with("the schedule waits for adjourned games"), "{idle}");
    world.held.clear();
    let again = next(&mut agenda, Place::Here, &world).unwrap();
    assert_eq!((again.index, again.attempt), (first.index, 1));
}

#[test]
fn a_test_with_a_game_that_the_operator_holds_waits_for_it_after_so_many_pairs() {
    let (within, max_games) = ("5 elo".parse().unwrap(), 1000);
    for format in [Format::Sprt { max_games }, Format::Precision { within, max_games }] {
        let plan = plan(format, 2);
        let mut agenda = agenda(&plan);
        let mut world = World::default();
        let first = next(&mut agenda, Place::Here, &world).unwrap();
        end(&mut agenda, first, STOPPED);
        agenda.returned(first);
        world.held = vec![first.index];
        let mut games = 0;
        while let Some(game) = next(&mut agenda, Place::Here, &world) {
            end(&mut agenda, game, WON);
            games += 1;
        }
        assert_eq!(games, 2 * LEAST_WINDOW - 1);
        let idle = agenda.why_idle(false, &world).unwrap();
        assert!(idle.contains("32 pairs ahead of pair 1, which waits for an adjourned game"), "{idle}");
        world.held.clear();
        assert_eq!(next(&mut agenda, Place::Here, &world).unwrap().index, first.index);
    }
}

#[test]
fn the_second_game_of_a_pair_stays_where_the_first_is_played() {
    let plan = plan(Format::RoundRobin { cycles: 2 }, 2);
    let mut agenda = agenda(&plan);
    let world = World { machine_slots: Some(2), ..World::default() };
    let first = next(&mut agenda, Place::Here, &world).unwrap();
    agenda.running.insert(GameId(1), first);
    let away = next(&mut agenda, Place::Elsewhere, &world).unwrap();
    assert_eq!(away.pair, first.pair + 1);
    assert_eq!(next(&mut agenda, Place::With(away), &world).unwrap().pair, away.pair);
    assert_eq!(next(&mut agenda, Place::Here, &world).unwrap().pair, first.pair);
}

#[test]
fn a_test_runs_only_so_many_pairs_ahead_and_a_verdict_hands_waiting_games_back() {
    let plan = plan(Format::Sprt { max_games: 1000 }, 2);
    let mut agenda = agenda(&plan);
    let world = World { machine_slots: Some(2), ..World::default() };
    let begun: Vec<Pairing> = std::iter::from_fn(|| next(&mut agenda, Place::Elsewhere, &world)).collect();
    assert_eq!(begun.len() as u64, 2 * LEAST_WINDOW);
    let idle = agenda.why_idle(true, &world).unwrap();
    assert!(idle.ends_with("32 pairs ahead of pair 1, which nobody plays"), "{idle}");
    begun[..2].iter().for_each(|game| end(&mut agenda, *game, WON));
    assert_eq!(next(&mut agenda, Place::Elsewhere, &world).unwrap().pair, LEAST_WINDOW);
    agenda.put_back([begun[5]]);
    let verdict = Entry::Verdict { verdict: "H1".to_owned(), llr: 3.0, pairs: 1 };
    agenda.standings.fold(&verdict);
    let _completes_pairs = next(&mut agenda, Place::Elsewhere, &world);
    assert!(!agenda.pending().contains(&begun[5]));
}

#[test]
fn a_game_whose_options_are_not_known_waits() {
    let plan = plan(Format::RoundRobin { cycles: 1 }, 2);
    let mut agenda = agenda(&plan);
    let mut world = World { steered: vec![0], ..World::default() };
    assert_eq!(next(&mut agenda, Place::Here, &world), None);
    let idle = agenda.why_idle(false, &world).unwrap();
    assert!(idle.contains("its options follow from results"), "{idle}");
    assert_eq!(agenda.why_idle(true, &world), None);
    world.steered.clear();
    assert_eq!(next(&mut agenda, Place::Here, &world).unwrap().index, 0);
}

#[test]
fn a_manager_that_starts_again_does_not_wait_for_leases_whose_games_others_have_played() {
    let game = |index: u64| Pairing {
        stage: 0,
        index,
        attempt: 0,
        round: 1,
        pair: index / 2,
        opening: index / 2,
        black: PlayerId(0),
        white: PlayerId(1),
    };
    let lease = |lease: u64, first: u64| Lease {
        lease: LeaseId(lease),
        epoch: 1,
        machine: "box2".to_owned(),
        worker: "abcdef0012345678".to_owned(),
        scale: Scale::ONE,
        games: vec![game(first), game(first + 1)],
    };
    let left = unfinished(vec![lease(1, 0), lease(2, 2), lease(3, 4)], |game| game.index < 3);
    assert_eq!(left, [lease(3, 4)], "a pair of which one game was played is not that lease's any more");
}
