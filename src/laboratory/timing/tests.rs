//! Games with a planted law: the truth about a policy is played, not computed as the estimate does.

use super::*;
use referee::rating::elo_of_score;

const MS: fn(u64) -> Duration = Duration::from_millis;
/// Own moves of a planted game.
const MOVES: u32 = 50;
/// Centipawns of one unit of log odds of the planted engine.
const CENTIPAWNS: f64 = 600.0;
/// How much smaller the errors of a move are with twice the nodes.
const GAIN: f64 = 0.85;

/// Draws of a generator with a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 += 1;
        ((referee::rating::mix::mix(self.0) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.roll().ln()).sqrt() * (std::f64::consts::TAU * self.roll()).cos()
    }
}

fn control() -> TimeControl {
    TimeControl { main: MS(60_000), increment: MS(100), ..TimeControl::default() }
}

/// How large errors are at an own move: large in the middle of the game, small at its ends.
fn stake(number: u32) -> f64 {
    match number {
        0..12 => 0.3,
        12..35 => 1.0,
        _ => 0.5,
    }
}

/// Probability that a normal number is below (M. Abramowitz and I. Stegun 26.2.17, errors below 1e-7).
fn below(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let terms = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let poly = terms.iter().rev().fold(0.0, |sum, term| t * (term + sum));
    let tail = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * poly;
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// The result of a game whose own moves search so many doublings more than usual, with the expected score before each.
/// Now and then a side errs: an own error is the smaller the more was searched. The standing is the sum of errors, and the
/// side that it favours at the end wins.
fn course(doublings: &dyn Fn(u32) -> f64, dice: &mut Dice) -> (Vec<f64>, f64) {
    // The variance of an exponential error that one side in four makes.
    let variance = |number: u32| 2.0 * stake(number).powi(2) * (2.0 / 4.0 - 1.0 / 16.0);
    let ahead = |from: u32| (from..MOVES).map(variance).sum::<f64>().sqrt();
    let (mut standing, mut shares) = (0.0, vec![]);
    for number in 0..MOVES {
        shares.push(below(standing / ahead(number)));
        for size in [-GAIN.powf(doublings(number)), 1.0] {
            if dice.roll() < 0.25 {
                standing -= size * stake(number) * dice.roll().ln();
            }
        }
    }
    (shares, if standing > 0.0 { 1.0 } else { 0.0 })
}

/// Elo of an engine that searches so many doublings more, played out.
fn played(doublings: &dyn Fn(u32) -> f64) -> f64 {
    let mut dice = Dice(7_000_000);
    let games = 40_000;
    elo_of_score((0..games).map(|_| course(doublings, &mut dice).1).sum::<f64>() / f64::from(games))
}

/// A game of the planted engine on `usi-shell`'s default policy, of which it uses `use_of` at each move.
fn game(dice: &mut Dice) -> PlayedGame {
    let (shares, result) = course(&|_| 0.0, dice);
    let (mut clock, mut moves) = (referee::clock::Clock::new(control()), vec![]);
    for (number, share) in shares.iter().enumerate() {
        let ply = number as u32 * 2 + 1;
        let budget = budget_of(&TimePolicy::default(), clock.left(), ply);
        let elapsed = budget.soft.mul_f64(use_of(number as u32)).min(budget.hard);
        // Noise of an evaluation that the next search takes back.
        let log_odds = (share / (1.0 - share)).ln() + 0.3 * dice.normal();
        let nodes = Some(300 * elapsed.as_millis() as u64);
        let score = Some((CENTIPAWNS * log_odds).clamp(-9000.0, 9000.0) as i32);
        moves.push(OwnMove { ply, left: clock.left(), elapsed, nodes, score, expected: number % 3 == 0 });
        clock.charge(elapsed).unwrap();
    }
    PlayedGame { control: control(), result, fell: false, moves }
}

fn use_of(number: u32) -> f64 {
    [0.5, 0.8, 1.3][number as usize % 3]
}

fn budget_of(policy: &TimePolicy, left: Duration, ply: u32) -> usi_shell::Budget {
    let clock = usi_shell::OwnClock { time: left, byoyomi: MS(0), increment: MS(100) };
    policy.budget(clock, ply, usi_shell::Seen::default(), MS(50))
}

fn games(count: usize, seed: u64) -> Vec<PlayedGame> {
    let mut dice = Dice(seed * 1_000_000_000);
    (0..count).map(|_| game(&mut dice)).collect()
}

fn question(policy: &str, doubling: Doubling) -> Question {
    let (present, policy) = (Some(TimePolicy::default()), policy.parse().unwrap());
    Question { present, policy, delay: MS(50), centipawns: CENTIPAWNS, doubling }
}

/// Doublings by which a policy searches more at a move, by playing the clock out.
fn doublings_of(policy: &str) -> Vec<f64> {
    let policies = [TimePolicy::default(), policy.parse().unwrap()];
    let mut clocks = [referee::clock::Clock::new(control()); 2];
    let mut spend = |number: u32| {
        let times: Vec<f64> = policies
            .iter()
            .zip(&mut clocks)
            .map(|(policy, clock)| {
                let budget = budget_of(policy, clock.left(), number * 2 + 1);
                let time = budget.soft.mul_f64(use_of(number)).min(budget.hard);
                clock.charge(time).unwrap();
                time.as_secs_f64()
            })
            .collect();
        (times[1] / times[0]).log2()
    };
    (0..MOVES).map(&mut spend).collect()
}

const POLICIES: [&str; 4] = [
    "moves=25 least_moves=8",
    "moves=200 least_moves=100",
    "ply1=30 ply25=160 ply71=80",
    "ply1=300 ply25=50",
];

#[test]
fn the_estimate_covers_what_the_policy_brings_when_it_is_played() {
    let elo = played(&|_| 1.0);
    assert!((50.0..200.0).contains(&elo), "{elo}: a planted doubling");
    let doubling = Doubling { elo, error: 4.0, games: 0 };
    for policy in POLICIES {
        let doublings = doublings_of(policy);
        let truth = played(&|number| doublings[number as usize]);
        let found = estimate(&games(600, 1), &question(policy, doubling)).unwrap();
        let [low, high] = found.interval;
        // What 40,000 games leave open about the truth.
        let slack = 4.0;
        println!("{policy}: played {truth:.0}, predicted {:.0} ({low:.0} to {high:.0})", found.elo);
        assert!(low - slack <= truth && truth <= high + slack, "{policy}: {truth} {found}");
        assert!((found.elo - truth).abs() < 0.25 * truth.abs() + 6.0, "{policy}: {truth} {found}");
        assert!(high - low < 0.5 * elo, "{policy}: {found}");
    }
}

#[test]
fn intervals_hold_the_mean_estimate_as_often_as_they_promise() {
    let doubling = Doubling { elo: 100.0, error: 0.0, games: 0 };
    let question = question(POLICIES[2], doubling);
    let found: Vec<Estimate> =
        (0..60).map(|seed| estimate(&games(150, seed + 2), &question).unwrap()).collect();
    let truth = found.iter().map(|one| one.elo).sum::<f64>() / found.len() as f64;
    let held = found.iter().filter(|one| one.interval[0] <= truth && truth <= one.interval[1]).count();
    // 57 are expected; fewer than 52 have a chance of 1 %.
    assert!(held >= 52, "{held} of 60 hold {truth}");
}

#[test]
fn the_same_policy_is_worth_nothing_and_spends_what_was_spent() {
    let found =
        estimate(&games(50, 1), &question("", Doubling { elo: 100.0, error: 20.0, games: 0 })).unwrap();
    assert!(found.elo.abs() < 0.2, "{found}");
    assert!((found.left[0] - found.left[1]).abs() < 0.05, "{found}");
    let weight: f64 = found.phases.iter().map(|phase| phase.weight).sum();
    assert!((weight - 1.0).abs() < 1e-9, "{found}");
}

#[test]
fn a_policy_never_spends_more_than_the_clock() {
    let greedy = "moves=1 least_moves=1 most=100 floor=20000 ply1=1000";
    for delay in [0, 50] {
        let question =
            Question { delay: MS(delay), ..question(greedy, Doubling { elo: 100.0, error: 0.0, games: 0 }) };
        for game in games(20, 3) {
            let habits = walk::Habits::of(&[&game], &question);
            let (spent, left, fell) = habits.walk(&game, &question);
            assert!(!fell);
            let gained = control().main + control().increment * spent.len() as u32;
            assert!(spent.iter().sum::<Duration>() + left <= gained, "{spent:?}");
        }
    }
}

#[test]
fn an_engine_that_overruns_its_budget_loses_on_time_and_the_estimate_counts_it() {
    let mut games = games(40, 4);
    // The machine takes 40 ms more than the whole budget at one move; a clock that is used up does not have them.
    for game in &mut games {
        let own = &mut game.moves[40];
        let budget = budget_of(&TimePolicy::default(), own.left, own.ply);
        own.elapsed = budget.hard + MS(400);
    }
    let greedy = "moves=1 least_moves=1 most=100 ply1=1000";
    let found = estimate(&games, &question(greedy, Doubling { elo: 100.0, error: 0.0, games: 0 })).unwrap();
    assert_eq!(found.lost_on_time, [0, 40], "{found}");
    assert!(found.elo < -1000.0, "{found}");
}

#[test]
fn moves_that_had_no_time_to_search_are_a_reason_not_to_trust_the_estimate() {
    let mut games = games(40, 6);
    let question = question("moves=40", Doubling { elo: 100.0, error: 0.0, games: 0 });
    let text = |games: &[PlayedGame]| estimate(games, &question).unwrap().to_string();
    games.iter_mut().for_each(|game| game.moves[..3].iter_mut().for_each(|own| own.nodes = None));
    assert!(
        !text(&games).contains("do not trust"),
        "a move from a book is no search without an end: {}",
        text(&games)
    );
    games.iter_mut().for_each(|game| game.moves[30..40].iter_mut().for_each(|own| own.nodes = None));
    assert!(text(&games).contains("do not trust it: 21 % of the moves have no nodes"), "{}", text(&games));
}

#[test]
fn games_without_nodes_times_or_a_clock_are_refused_with_the_reason() {
    let question = question("", Doubling { elo: 100.0, error: 0.0, games: 0 });
    let refused = |change: &dyn Fn(&mut PlayedGame)| {
        let mut games = games(30, 5);
        games.iter_mut().for_each(change);
        estimate(&games, &question).unwrap_err()
    };
    let each = |of: fn(&mut OwnMove)| move |game: &mut PlayedGame| game.moves.iter_mut().for_each(of);
    assert_eq!(refused(&each(|own| own.nodes = None)), NoEstimate::Nodes { known: 0, moves: 1500 });
    assert_eq!(refused(&each(|own| own.score = None)), NoEstimate::Nodes { known: 0, moves: 1500 });
    assert_eq!(refused(&each(|own| own.elapsed = MS(0))), NoEstimate::Times);
    assert_eq!(refused(&|game| game.control.fixed = Some(MS(100))), NoEstimate::Clock);
    assert_eq!(refused(&|game| game.control = TimeControl::default()), NoEstimate::Clock);
    assert_eq!(refused(&|game| game.result = 0.5), NoEstimate::Scores);
    assert_eq!(estimate(&games(19, 5), &question), Err(NoEstimate::Games { games: 19 }));
}

#[test]
fn the_worth_of_a_doubling_is_measured_from_games_at_several_speeds() {
    let mut dice = Dice(1);
    let truth = 110.0;
    let mut games = |count: usize| -> Vec<Odds> {
        let game = |at: usize| {
            let doublings = [1.0, -1.0, 2.0, -2.0][at % 4];
            let won = dice.roll() < referee::rating::score_of_elo(truth * doublings);
            Odds { doublings, result: f64::from(u8::from(won)) }
        };
        (0..count).map(game).collect()
    };
    let found = Doubling::measured(&games(2000)).unwrap();
    assert!((found.elo - truth).abs() < found.error && found.error < 20.0, "{found}");
    let held = (0..100).filter(|_| {
        let found = Doubling::measured(&games(200)).unwrap();
        (found.elo - truth).abs() < found.error
    });
    assert!(held.count() >= 88);
    assert_eq!(Doubling::measured(&[Odds { doublings: 1.0, result: 1.0 }; 50]), None, "all won: no bound");
    assert_eq!(Doubling::measured(&[]), None);
}
