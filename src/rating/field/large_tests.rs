use super::*;
use crate::mix::mix;

/// Games of players of different strength, from a seed.
fn league(players: usize, games: u64, draws: bool) -> CrossTable {
    let mut table = CrossTable::new(players);
    let strength = |player: usize| 3.0 * player as f64 / players as f64;
    for game in 0..games {
        let [a, b, luck, draw] = [0, 1, 2, 3].map(|n| mix(mix(game) ^ n));
        let [black, white] = [a, b].map(|n| (n % players as u64) as usize);
        let chance = 1.0 / (1.0 + (strength(white) - strength(black) - 0.1).exp());
        let won = (luck as f64 / u64::MAX as f64) < chance;
        let results = match draws && draw % 5 == 0 {
            true => Results { draws: 1.0, ..Results::default() },
            false => Results { black_wins: won.into(), draws: 0.0, white_wins: (!won).into() },
        };
        let _itself = table.add(black, white, results);
    }
    table
}

fn both(table: &CrossTable, draws: bool) -> [Found; 2] {
    let core = core(table);
    let meetings = table.cells().map(|(black, white, &results)| Meeting { black, white, results });
    let likelihood = Likelihood {
        players: table.players(),
        meetings: meetings.chain(equal_meeting(table.players())).collect(),
        advantage: Some(table.players()),
        draw: draws.then_some(table.players() + 1),
    };
    let mut without = likelihood.clone();
    without.meetings.pop();
    [exact(&core, likelihood).unwrap(), sampled(&core, without, large::SAMPLES).unwrap()]
}

#[test]
fn a_large_field_is_rated_as_with_the_matrix_of_all_pairs() {
    for draws in [false, true] {
        let table = league(80, 1200, draws);
        assert!(core(&table).iter().all(|&member| member), "no prior in this comparison");
        let [exact, sampled] = both(&table, draws);
        for i in 0..exact.at.len() {
            assert!((exact.at[i] - sampled.at[i]).abs() < 1e-6, "{i}: {} {}", exact.at[i], sampled.at[i]);
            let share = sampled.variance[i] / exact.variance[i];
            assert!((0.8..1.25).contains(&share), "{i}: {} of the variance", share);
        }
    }
}

#[test]
fn the_difference_of_two_players_of_a_large_field_is_as_uncertain_as_with_the_matrix() {
    let table = league(80, 1200, true);
    let [exact, sampled] = both(&table, true).map(|found| Spread { scale: 1.0, errors: found.errors });
    let shares = (0..79).map(|i| sampled.between(i, i + 1) / exact.between(i, i + 1));
    let mean = shares.sum::<f64>() / 79.0;
    assert!((0.95..1.05).contains(&mean), "{mean}");
}

#[test]
fn newcomers_with_one_game_are_rated_tentatively_beside_a_league() {
    let league = league(50, 2000, true);
    let mut table = CrossTable::new(3000);
    for (black, white, &results) in league.cells() {
        table.add(black, white, results).unwrap();
    }
    for newcomer in 50..2990 {
        let results = Results { white_wins: 1.0, ..Results::default() };
        table.add(newcomer, newcomer % 50, results).unwrap();
    }
    let [alone, beside] = [fit(&league), fit(&table)];
    let between = |ratings: &Ratings| {
        ratings.players[49].elo.value().unwrap() - ratings.players[0].elo.value().unwrap()
    };
    assert!((between(&alone) - between(&beside)).abs() < 60.0, "{} {}", between(&alone), between(&beside));
    for newcomer in &beside.players[50..2990] {
        let Estimate::Tentative { error, .. } = newcomer.elo else { panic!("{newcomer:?}") };
        assert!((300.0..1500.0).contains(&error), "{error}");
    }
    assert!(beside.players[2990..].iter().all(|idle| idle.elo == Estimate::Unknown));
    assert!(beside.black_advantage.is_bounded());
}

#[test]
fn a_chain_of_players_of_any_length_has_ratings() {
    let mut table = CrossTable::new(5000);
    for player in 0..4999 {
        let even = Results { black_wins: 1.0, draws: 0.0, white_wins: 1.0 };
        table.add(player, player + 1, even).unwrap();
    }
    let ratings = fit(&table);
    assert!(ratings.players.iter().all(|player| player.elo.is_bounded()));
    assert!(ratings.los(0, 4999).is_some());
}
