//! The ratings of a ledger beside fits that were made without this program.

use super::*;
use referee::rating::ELO_PER_NAT;

/// Home wins and away wins of seven teams, by home team and away team: A. Agresti, "Categorical Data Analysis", 2nd edition
/// (2002), table 10.10. The order is Milwaukee, Detroit, Toronto, New York, Boston, Cleveland, Baltimore.
const HOME_AND_AWAY: [[[u64; 2]; 7]; 7] = [
    [[0, 0], [4, 3], [4, 2], [4, 3], [6, 1], [4, 2], [6, 0]],
    [[3, 3], [0, 0], [4, 2], [4, 3], [6, 0], [6, 1], [4, 3]],
    [[2, 5], [4, 3], [0, 0], [2, 4], [4, 3], [4, 2], [6, 0]],
    [[3, 3], [5, 1], [2, 5], [0, 0], [4, 3], [4, 2], [6, 1]],
    [[5, 1], [2, 5], [3, 3], [4, 2], [0, 0], [5, 2], [6, 0]],
    [[2, 5], [3, 3], [3, 4], [4, 3], [4, 2], [0, 0], [2, 4]],
    [[2, 5], [1, 5], [1, 6], [2, 4], [1, 6], [3, 4], [0, 0]],
];

/// The maximum of the likelihood by the R package BradleyTerry2 (D. Firth and H. Turner), relative to the last team, in
/// natural logarithms with four digits: abilities, their standard errors, and the advantage of the home team.
const ABILITIES: [f64; 6] = [1.6196, 1.4754, 1.3271, 1.2813, 1.1438, 0.7047];
const ERRORS: [f64; 6] = [0.3474, 0.3446, 0.3403, 0.3404, 0.3378, 0.3350];
const AT_HOME: f64 = 0.3023;

/// Elo that the ratings may differ from another fit.
const NEAR: f64 = 0.1;

#[test]
fn a_published_fit_with_a_home_advantage_is_met_to_a_tenth_of_an_elo() {
    let mut ledger = Ledger::of(7);
    for (home, row) in HOME_AND_AWAY.iter().enumerate() {
        for (away, &[won, lost]) in row.iter().enumerate().filter(|(away, _)| *away != home) {
            ledger.play(home, away, [won, 0, lost]);
        }
    }
    let rated = ledger.rate(&anchored("p6", 0.0)).unwrap();
    let group = &rated.groups[0];
    for (team, (ability, sd)) in ABILITIES.into_iter().zip(ERRORS).enumerate() {
        let (elo, error) = value(group, team);
        assert!((elo - ELO_PER_NAT * ability).abs() < NEAR, "team {team}: {elo}");
        assert!((error - 1.96 * ELO_PER_NAT * sd).abs() < NEAR, "team {team}: +-{error}");
    }
    let advantage = group.black_advantage.value().unwrap();
    assert!((advantage - ELO_PER_NAT * AT_HOME).abs() < NEAR, "{advantage}");
}

/// Rates results with draws. The expected numbers are those of Davidson's model by a program of another method (one
/// parameter at a time, each by bisection) on the scale of [`referee::rating::Ratings`]: Elo of the players, of black's
/// advantage, and the share of draws between equals.
fn assert_rated_as(games: &[testing::GameResult], elos: [f64; 5], advantage: f64, draws: f64) {
    let mut ledger = Ledger::of(5);
    for game in games {
        let mut results = [0; 3];
        results[2 - usize::from(game.half_points)] = 1;
        ledger.play(game.players[0], game.players[1], results);
    }
    let rated = ledger.rate(&[]).unwrap();
    let group = &rated.groups[0];
    for (player, known) in elos.into_iter().enumerate() {
        let (elo, _) = value(group, player);
        assert!((elo - known).abs() < NEAR, "player {player}: {elo} is not {known}");
    }
    let found = group.black_advantage.value().unwrap();
    assert!((found - advantage).abs() < NEAR, "{found} is not {advantage}");
    assert!((group.draw_ratio.unwrap() - draws).abs() < 1e-5, "{:?} is not {draws}", group.draw_ratio);
}

#[test]
fn results_with_draws_are_rated_as_by_a_program_of_another_method() {
    let elos = [150.854_409, 109.323_922, 48.791_668, -68.983_468, -239.986_531];
    assert_rated_as(&testing::results(), elos, 3.487_302, 0.128_432_81);
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/data/rating_oracle: 400 results"]
    fn four_hundred_results_are_rated_as_by_a_program_of_another_method() {
        let elos = [257.864_216, 109.914_016, 22.222_785, -190.212_587, -199.788_43];
        assert_rated_as(&testing::oracle_results(), elos, -0.337_676, 0.083_498_47);
    }
}
