//! Encounters by information, beside a round robin of the same number of games.

use super::*;
use rating::{
    fit,
    mix::{GOLDEN, mix},
    score_of_elo,
};

/// Draws of a generator with a seed.
struct Random(u64);

impl Random {
    /// An index with the probability of its weight; the weights sum to 1.
    fn pick(&mut self, weights: &[f64]) -> usize {
        let mut rest = (mix(self.0) >> 11) as f64 / (1_u64 << 53) as f64;
        self.0 = self.0.wrapping_add(GOLDEN);
        let found = weights.iter().position(|weight| {
            rest -= weight;
            rest < 0.0
        });
        found.unwrap_or(weights.len() - 1)
    }
}

fn stage(rounds: u32) -> Stage {
    Stage { format: Format::Information { rounds }, games: 2, ..Stage::default() }
}

/// Plays a league of players with these strengths, a fifth of whose games between equals are drawn, and returns the root
/// of the mean square of the ratings' errors, relative to the mean.
fn error_of(stage: Stage, truth: &[f64], seed: u64) -> f64 {
    let stages = [stage];
    let mut standings = Standings::new(&stages, truth.len());
    let mut schedule = Schedule::new(&stages, truth.len(), seed, ReplayDraws::default(), OpeningsPer::Pair);
    let (mut number, mut random) = (0, Random(mixed(seed)));
    while let Next::Game(pairing) = schedule.next(&standings) {
        number += 1;
        let game = GameId(number);
        let (start, opening) = (String::new(), String::new());
        standings.fold(&Entry::GameStarted(GameStarted { game, pairing, start, opening, times: None }));
        let score = score_of_elo(truth[pairing.black.index()] - truth[pairing.white.index()]);
        let draws = 0.4 * score.min(1.0 - score);
        let outcome = match random.pick(&[score - draws / 2.0, draws, 1.0 - score - draws / 2.0]) {
            0 => Outcome::Win { winner: Color::Black, by: WinBy::Resignation },
            1 => Outcome::Draw { by: DrawBy::Sennichite },
            _ => Outcome::Win { winner: Color::White, by: WinBy::Resignation },
        };
        let plies = 100;
        standings.fold(&Entry::GameEnded(GameEnded::new(game, pairing, outcome, plies)));
    }
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let ratings = fit(&standings.cross_table());
    let error =
        |(player, truth): (usize, &f64)| ratings.players[player].elo.value().unwrap() - (truth - mean);
    (truth.iter().enumerate().map(|it| error(it).powi(2)).sum::<f64>() / truth.len() as f64).sqrt()
}

/// The mean over leagues.
fn mean_error(stage: &Stage, truth: &[f64]) -> f64 {
    let leagues = testing::repetitions(100, 30);
    (0..leagues).map(|seed| error_of(stage.clone(), truth, seed)).sum::<f64>() / leagues as f64
}

/// Prints the table of the guide. A wide field profits, and a field of equals loses nothing.
#[test]
fn by_information_the_errors_are_smaller_than_in_a_round_robin_of_as_many_games() {
    println!("spread  games  round robin  information");
    let spreads: &[(f64, f64)] = &[(120.0, 1.1), (60.0, 1.0), (0.0, 0.95)];
    for &(spread, least) in &spreads[..testing::repetitions(3, 1)] {
        let truth: Vec<f64> = (0..12).map(|player| spread * f64::from(player)).collect();
        for cycles in testing::repetitions(vec![2, 4], vec![2]) {
            let round_robin = Stage { format: Format::RoundRobin { cycles }, games: 2, ..Stage::default() };
            let (even, chosen) = (mean_error(&round_robin, &truth), mean_error(&stage(11 * cycles), &truth));
            println!("{:6}  {:5}  {even:11.1}  {chosen:11.1}", 11.0 * spread, 132 * cycles);
            assert!(even / chosen > least, "{spread} {cycles}: {even} {chosen}");
        }
    }
}

#[test]
fn the_first_round_has_everybody_once_and_colours_are_level() {
    let mut host = Host::new(&[stage(4)], 8, 3);
    assert_eq!(host.schedule.total(), Some(32));
    while matches!(host.next(), Next::Game(_)) {}
    let first: BTreeSet<PlayerId> = host.started.iter().map(|pairing| pairing.black).collect();
    assert_eq!((host.started.len(), first.len()), (8, 8), "four encounters of two games");
    while !host.running.is_empty() || host.next() != Next::Done {
        while matches!(host.next(), Next::Game(_)) {}
        if !host.running.is_empty() {
            host.end_any();
        }
    }
    assert_eq!(host.started.len(), 32);
    for pair in host.started.chunks(2) {
        assert_eq!((pair[0].black, pair[0].opening), (pair[1].white, pair[1].opening));
    }
}

/// Whoever goes on from any part of the entries has the same encounters.
#[test]
fn a_resumed_league_plays_the_same_encounters() {
    let stages = [stage(3)];
    let mut host = Host::new(&stages, 7, 5);
    loop {
        match host.next() {
            Next::Game(pairing) => {
                host.running.retain(|running| *running != pairing);
                host.end(pairing, result(&pairing, 0));
            }
            Next::Done => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(host.started.len(), 18);
    for (at, pairing) in host.started.iter().enumerate() {
        let mut standings = Standings::new(&stages, 7);
        host.log[..2 * at].iter().for_each(|entry| standings.fold(entry));
        let mut schedule = Schedule::new(&stages, 7, SEED, ReplayDraws::default(), OpeningsPer::Pair);
        assert_eq!(schedule.next(&standings), Next::Game(*pairing));
    }
}
