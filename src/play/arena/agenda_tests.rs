use super::*;
use contest::{
    fault_limit::FaultLimit,
    schedule::{Format, Stage},
};
use plan::{EnginePlan, RoundBreak};
use referee::{
    AbortBy, Color, Outcome, WinBy,
    clock::Scale,
    entry::{GameEnded, GameStarted},
    lease::LeaseId,
    operation::{Action, NamedGame, Operation},
};
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
    fn held(&self, pairing: &Pairing) -> Option<GameId> {
        self.held.contains(&pairing.index).then_some(GameId(pairing.index + 1))
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

/// Has a game played again that counts, as the operator orders.
fn replay(agenda: &mut Agenda, pairing: Pairing, was: Outcome) {
    let (black, white, round) = ("b".to_owned(), "w".to_owned(), pairing.round);
    let game = NamedGame { game: GameId(1), black, white, round };
    let action = Action::Replayed { game, pairing, was };
    let (by, reason) = ("op".to_owned(), String::new());
    let operation = Operation { number: 1, by, reason, undoes: None, action };
    agenda.standings.fold(&Entry::Operator(Box::new(operation)));
    agenda.reopened(pairing);
}

const CRASHED: Outcome = Outcome::Win { winner: Color::White, by: WinBy::Disconnection };
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
            agenda.over(GameId(number));
        }
        world.rests = true;
        let waits = next(&mut agenda, Place::Here, &world).is_none() && agenda.is_waiting();
        assert_eq!((waits, agenda.resting()), (round < 3, (round < 3).then_some((0, round + 1))));
        world.rests = false;
    }
    assert!(agenda.is_done());
}

#[test]
fn more_games_of_a_level_encounter_wait_for_no_break() {
    let mut plan = plan(Format::Knockout { tie: contest::schedule::Tie::MoreGames { extra: 1 } }, 8);
    plan.round_break = RoundBreak::Lasts(Duration::from_secs(60));
    let (mut agenda, mut world) = (agenda(&plan), World::default());
    let games: Vec<Pairing> = (1..=8)
        .map(|number| {
            let game = next(&mut agenda, Place::Here, &world).unwrap();
            agenda.running.insert(GameId(number), game);
            game
        })
        .collect();
    world.rests = true;
    for (number, game) in (1..).zip(&games) {
        // Black wins both games of the last encounter, so that it is level; elsewhere the same player wins both.
        let is_last = game.pair == games[7].pair;
        let winner = if is_last || game.black < game.white { Color::Black } else { Color::White };
        end(&mut agenda, *game, Outcome::Win { winner, by: WinBy::Resignation });
        agenda.over(GameId(number));
        let more = next(&mut agenda, Place::Here, &world);
        assert_eq!(more.map(|game| game.index), (number == 8).then_some(games[7].index + 1), "{number}");
    }
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

/// The orders that have game 1 go on.
fn play_on(plan: &Plan) -> String {
    let line = crate::operations::command::Command::line(&plan.database, &plan.name, "play-on 1");
    format!("`{line}` or `replay 1`")
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
    assert_eq!(idle, format!("the schedule waits for adjourned game 1, until {}", play_on(&plan)));
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
        let waits =
            format!("32 pairs ahead of pair 1, which waits for adjourned game 1, until {}", play_on(&plan));
        assert!(idle.contains(&waits), "{idle}");
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
fn games_that_a_halt_has_passed_over_are_played_when_it_is_lifted() {
    let mut plan = plan(Format::RoundRobin { cycles: 2 }, 3);
    plan.fault_limit = Some(FaultLimit { in_a_row: Some(1), ..FaultLimit::default() });
    let (mut agenda, world) = (agenda(&plan), World::default());
    let first = next(&mut agenda, Place::Here, &world).unwrap();
    let other = next(&mut agenda, Place::Here, &world).unwrap();
    agenda.put_back([other]);
    end(&mut agenda, first, CRASHED);
    let of_others = std::iter::from_fn(|| {
        let game = next(&mut agenda, Place::Here, &world)?;
        end(&mut agenda, game, WON);
        Some(game)
    });
    assert!(of_others.into_iter().all(|game| ![game.black, game.white].contains(&first.black)));
    assert!(!agenda.is_done(), "a halt keeps games from beginning");
    replay(&mut agenda, first, CRASHED);
    while let Some(game) = next(&mut agenda, Place::Here, &world) {
        end(&mut agenda, game, WON);
    }
    assert_eq!((agenda.standings.finished(0).unwrap().len(), agenda.is_done()), (12, true));
}

#[test]
fn a_halted_engine_that_is_replaced_keeps_no_event_from_its_end() {
    let mut plan = plan(Format::RoundRobin { cycles: 2 }, 3);
    plan.fault_limit = Some(FaultLimit { in_a_row: Some(1), ..FaultLimit::default() });
    let (mut agenda, world) = (agenda(&plan), World::default());
    let first = next(&mut agenda, Place::Here, &world).unwrap();
    end(&mut agenda, first, CRASHED);
    let second = next(&mut agenda, Place::Here, &world).unwrap();
    end(&mut agenda, second, WON);
    let (player, name, out) = (PlayerId(3), "new".to_owned(), Some("e0".to_owned()));
    let action =
        Action::Joined { player, name, replaces: Some(first.black), out, configuration: String::new() };
    let (by, reason) = ("op".to_owned(), String::new());
    let operation = Operation { number: 1, by, reason, undoes: None, action };
    plan.engines.push(EnginePlan { name: "new".to_owned(), ..EnginePlan::default() });
    agenda.plan = Arc::new(plan);
    agenda.standings.fold(&Entry::Operator(Box::new(operation)));
    while let Some(game) = next(&mut agenda, Place::Here, &world) {
        end(&mut agenda, game, WON);
    }
    assert!(agenda.is_done(), "{:?}", agenda.schedule.next(&agenda.standings));
}

#[test]
fn an_engine_that_the_file_withdraws_loses_its_games_by_default_also_those_of_the_round_that_is_played() {
    let mut plan = plan(Format::RoundRobin { cycles: 1 }, 3);
    plan.fault_limit = Some(FaultLimit { in_a_row: Some(1), ..FaultLimit::default() });
    let (mut agenda, world) = (agenda(&plan), World::default());
    let first = next(&mut agenda, Place::Here, &world).unwrap();
    end(&mut agenda, first, CRASHED);
    let others = std::iter::from_fn(|| {
        let game = next(&mut agenda, Place::Here, &world)?;
        end(&mut agenda, game, WON);
        Some(game)
    });
    assert_eq!(others.count(), 2, "those of the halted engine wait");
    plan.engines[first.black.index()].withdrawn = true;
    let mut resumed = Agenda::new(Arc::new(plan), agenda.standings, true);
    let mut by_default = 0;
    while let Choice::Default(game, out) = resumed.next(Place::Here, &world) {
        assert!([game.black, game.white].contains(&first.black) && out.contains(&true));
        end(&mut resumed, game, WON);
        by_default += 1;
    }
    assert_eq!((by_default, resumed.is_done()), (3, true));
}

#[test]
fn games_whose_options_are_taken_back_keep_none_from_beginning_that_they_follow_from() {
    let plan = plan(Format::RoundRobin { cycles: 16 }, 2);
    let (mut agenda, mut world) = (agenda(&plan), World { machine_slots: Some(2), ..World::default() });
    let dropped: Vec<Pairing> =
        (0..8).map(|_| next(&mut agenda, Place::Elsewhere, &world).unwrap()).collect();
    dropped.iter().for_each(|game| end(&mut agenda, *game, WON));
    let late = next(&mut agenda, Place::Here, &world).unwrap();
    agenda.running.insert(GameId(9), late);
    // Its other half waits for the place that it is played at, and so do others.
    let waits: Vec<Pairing> = (0..8).map_while(|_| next(&mut agenda, Place::Elsewhere, &world)).collect();
    agenda.put_back(waits);
    agenda.running.clear();
    end(&mut agenda, late, WON);
    dropped.iter().for_each(|game| replay(&mut agenda, *game, WON));
    world.steered = (8..32).collect();
    let again: Vec<u64> =
        std::iter::from_fn(|| next(&mut agenda, Place::Here, &world)).map(|game| game.index).collect();
    assert_eq!(again, Vec::from_iter(0..8));
    world.steered.clear();
    assert_eq!(next(&mut agenda, Place::Here, &world).unwrap().index, late.index + 1, "it was put off");
}

/// An event that goes on as the dice say.
struct Diced {
    agenda: Agenda,
    world: World,
    dice: u64,
    number: u64,
    /// Games that count.
    over: Vec<(Pairing, Outcome)>,
    /// Players whose games they lose by a crash.
    broken: Vec<bool>,
    /// True if options follow from the results of earlier pairs.
    is_tuning: bool,
    seed: u64,
}

impl Diced {
    fn roll(&mut self, sides: usize) -> usize {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) as usize % sides
    }

    /// Begins a game, or records a bye; false if nothing can begin.
    fn begin(&mut self) -> bool {
        if self.is_tuning {
            let first = self.agenda.standings.finished(0).unwrap().first_absent(0) / 2 * 2;
            self.world.steered = (first + 8..first + 64).collect();
        }
        match self.agenda.next(Place::Here, &self.world) {
            Choice::Game(game) if self.roll(8) == 0 => self.agenda.put_back([game]),
            Choice::Game(pairing) => {
                self.number += 1;
                let (game, start) = (GameId(self.number), String::new());
                let opening = String::new();
                let started = GameStarted { game, pairing, start, opening, times: None };
                self.agenda.standings.fold(&Entry::GameStarted(started));
                self.agenda.running.insert(game, pairing);
            }
            Choice::Bye(bye) => self.agenda.standings.fold(&bye),
            Choice::Nothing => return false,
            other => panic!("{other:?}"),
        }
        true
    }

    fn end(&mut self, may_adjourn: bool) {
        let running: Vec<GameId> = self.agenda.running.keys().copied().min().into_iter().collect();
        let Some(game) = running.first() else { return };
        let pairing = self.agenda.running.remove(game).unwrap();
        let outcome = match () {
            () if self.broken[pairing.black.index()] => CRASHED,
            () if self.broken[pairing.white.index()] => {
                Outcome::Win { winner: Color::Black, by: WinBy::Disconnection }
            }
            () if may_adjourn && self.roll(4) == 0 => STOPPED,
            () => WON,
        };
        self.agenda.standings.fold(&Entry::GameEnded(GameEnded::new(*game, pairing, outcome, 9)));
        match outcome.counts() {
            true => self.over.push((pairing, outcome)),
            false => self.agenda.returned(pairing),
        }
        if outcome == STOPPED && self.roll(2) == 0 {
            self.world.held.push(pairing.index);
        }
    }

    /// Has a game played again, if nothing follows from it yet.
    fn replay(&mut self, at: usize) {
        let (pairing, was) = self.over[at];
        let standings = &self.agenda.standings;
        let mut others = self.agenda.running.values().chain(self.agenda.pending());
        let is_followed = standings.follows_results(&pairing)
            && others.any(|other| other.round > pairing.round)
            || standings.settled(&pairing).is_some();
        if !is_followed {
            self.over.remove(at);
            replay(&mut self.agenda, pairing, was);
        }
    }

    /// Has all games played again that faults ended, as `renmei rerun` does.
    fn rerun(&mut self) {
        for at in (0..self.over.len()).rev() {
            if self.over[at].1 != WON {
                self.replay(at);
            }
        }
    }

    fn step(&mut self) {
        match self.roll(16) {
            0 => {
                let player = self.roll(self.broken.len());
                self.broken[player] = !self.broken[player];
            }
            1 => self.rerun(),
            2 if !self.over.is_empty() => {
                let at = self.roll(self.over.len());
                self.replay(at);
            }
            3 => self.world.held.clear(),
            4..8 => self.end(true),
            _ if self.agenda.running.len() < 3 && self.begin() => {}
            _ => self.end(true),
        }
        self.check();
    }

    /// The end is said when each game that was planned counts, and something is played or keeps games from beginning before.
    fn check(&mut self) {
        let planned = self.agenda.standings.games_to_play();
        let finished = self.agenda.standings.finished(0).unwrap().len();
        if self.agenda.is_done() {
            let seed = self.seed;
            assert!(
                planned.is_none_or(|planned| planned == finished),
                "seed {seed}: {finished} of {planned:?} games"
            );
            assert_eq!(self.over.len() as u64, finished, "seed {seed}");
        }
    }

    /// Mends all engines, takes back what their faults have ended, and plays to the end.
    fn finish(&mut self) {
        self.broken.fill(false);
        self.world.held.clear();
        self.rerun();
        while self.begin() || !self.agenda.running.is_empty() {
            self.end(false);
            self.world.held.clear();
        }
        self.check();
        let halts = self.agenda.standings.halts().len();
        assert!(self.agenda.is_done() || halts > 0, "seed {}: nothing says why no game begins", self.seed);
    }
}

#[test]
fn whatever_halts_holds_and_replays_come_in_any_order_each_planned_game_counts_at_the_end() {
    let formats = [
        (Format::RoundRobin { cycles: 2 }, 4),
        (Format::Gauntlet { challengers: 1, cycles: 2 }, 4),
        (Format::Random { rounds: 4 }, 5),
        (Format::Swiss { rounds: 3 }, 5),
        (Format::Knockout { tie: contest::schedule::Tie::HigherSeed }, 4),
        (Format::RoundRobin { cycles: 12 }, 2),
    ];
    let mut complete = [0; 6];
    for seed in 0..600 {
        let at = seed as usize % formats.len();
        let (format, players) = formats[at];
        let mut plan = plan(format, players);
        plan.fault_limit = Some(FaultLimit { in_a_row: Some(2), ..FaultLimit::default() });
        let is_tuning = players == 2;
        let world = World { machine_slots: is_tuning.then_some(2), ..World::default() };
        let (agenda, broken) = (agenda(&plan), vec![false; players]);
        let mut event = Diced { agenda, world, dice: seed, number: 0, over: vec![], broken, is_tuning, seed };
        (0..8).for_each(|_| _ = event.roll(2));
        (0..80).for_each(|_| event.step());
        event.finish();
        complete[at] += u32::from(event.agenda.is_done());
    }
    assert!(complete.iter().all(|complete| *complete > 10), "{complete:?}");
    assert_eq!(
        [0, 1, 2, 5].map(|at| complete[at]),
        [100; 4],
        "a halt is lifted where nothing follows from it"
    );
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
