use super::*;
use crate::{Counts, Numbers, Trinomial, elo_of_score, simulation::assert_covers};
use proptest::prelude::*;

fn results(black_wins: f64, draws: f64, white_wins: f64) -> Results {
    Results { black_wins, draws, white_wins }
}

fn table(players: usize, cells: &[(usize, usize, f64, f64, f64)]) -> CrossTable {
    let mut table = CrossTable::new(players);
    for &(black, white, won, drawn, lost) in cells {
        table.add(black, white, results(won, drawn, lost)).unwrap();
    }
    table
}

fn elo(ratings: &Ratings, player: usize) -> f64 {
    ratings.players[player].elo.value().unwrap()
}

fn error(ratings: &Ratings, player: usize) -> f64 {
    ratings.players[player].elo.error().unwrap()
}

fn assert_near(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "{got} is not {expected}");
}

#[test]
fn without_draws_and_with_both_colours_alike_two_players_differ_by_the_elo_of_their_score() {
    let ratings = fit(&table(2, &[(0, 1, 30.0, 0.0, 10.0), (1, 0, 10.0, 0.0, 30.0)]));
    assert_near(elo(&ratings, 0) - elo(&ratings, 1), elo_of_score(0.75), 1e-9);
    assert_near(ratings.black_advantage.value().unwrap(), 0.0, 1e-9);
    // Var of the log odds of 60 in 80 is 1/60 + 1/20; each is half the difference from the mean.
    assert_near(error(&ratings, 0), Z_95 * ELO_PER_NAT * (1.0f64 / 60.0 + 1.0 / 20.0).sqrt() / 2.0, 1e-6);
    assert_near(ratings.los(0, 1).unwrap(), 0.99999, 1e-5);
}

#[test]
fn blacks_advantage_is_separated_from_strength() {
    // Black scores 60 %, whoever has it.
    let ratings = fit(&table(2, &[(0, 1, 60.0, 0.0, 40.0), (1, 0, 60.0, 0.0, 40.0)]));
    assert_near(elo(&ratings, 0), 0.0, 1e-9);
    assert_near(ratings.black_advantage.value().unwrap(), elo_of_score(0.6), 1e-9);
    assert!(ratings.black_advantage.is_bounded());
}

#[test]
fn with_draws_a_small_difference_is_worth_as_much_score_as_on_the_logistic_scale() {
    for (losses, draws, wins) in [(89, 123, 76), (96, 111, 136)] {
        let half = |n: u64| n as f64 / 2.0;
        let cells =
            [(0, 1, half(wins), half(draws), half(losses)), (1, 0, half(losses), half(draws), half(wins))];
        let ratings = fit(&table(2, &cells));
        let pair = Numbers::from(&Counts::from(Trinomial { losses, draws, wins }));
        let difference = elo(&ratings, 0) - elo(&ratings, 1);
        assert_near(difference, pair.elo.value().unwrap(), 0.1);
        assert_near(2.0 * error(&ratings, 0), pair.elo.error().unwrap(), 0.5);
        assert_near(ratings.los(0, 1).unwrap(), pair.los, 1e-3);
    }
}

#[test]
fn everyone_scores_what_the_ratings_expect() {
    // The equations of the maximum: for plain Bradley-Terry, points = sum of expected points.
    let cells = [(0, 1, 7.0, 2.0, 1.0), (1, 2, 3.0, 3.0, 4.0), (2, 0, 2.0, 1.0, 5.0), (3, 0, 1.0, 0.0, 2.0)];
    let table = table(4, &cells);
    let ratings = fit_bradley_terry(&table);
    for player in 0..4 {
        let expected: f64 = cells
            .iter()
            .map(|&(black, white, w, d, l)| {
                let score = crate::score_of_elo(elo(&ratings, black) - elo(&ratings, white));
                let share = f64::from(u8::from(black == player)) * score
                    + f64::from(u8::from(white == player)) * (1.0 - score);
                share * (w + d + l)
            })
            .sum();
        let rating = ratings.players[player];
        assert_near(rating.score.unwrap() * rating.games, expected, 1e-8);
    }
    assert_near((0..4).map(|p| elo(&ratings, p)).sum(), 0.0, 1e-9);
}

#[test]
fn an_undefeated_player_is_tentative_and_the_field_stays_bounded() {
    let cells = [(0, 1, 3.0, 0.0, 2.0), (1, 2, 3.0, 0.0, 2.0), (3, 0, 4.0, 0.0, 0.0), (1, 3, 0.0, 0.0, 4.0)];
    let ratings = fit(&table(5, &cells));
    let kinds: Vec<bool> = ratings.players.iter().map(|p| p.elo.is_bounded()).collect();
    assert_eq!(kinds, [true, true, true, false, false]);
    assert!(elo(&ratings, 3) > 200.0 && elo(&ratings, 3) < 2000.0);
    assert!(error(&ratings, 3) > error(&ratings, 0));
    assert_eq!(ratings.players[4].elo, Estimate::Unknown);
    assert!(ratings.los(3, 0).unwrap() > 0.9);
}

#[test]
fn more_wins_raise_an_undefeated_player() {
    let rating = |wins: f64| elo(&fit(&table(2, &[(0, 1, wins, 0.0, 0.0), (1, 0, 0.0, 0.0, wins)])), 0);
    assert_near(2.0 * rating(5.0), 400.0 * (10.5f64 / 0.5).log10(), 1e-6);
    assert!(rating(5.0) < rating(50.0) && rating(50.0) < rating(5000.0));
}

#[test]
fn groups_that_never_met_are_compared_tentatively() {
    let cells =
        [(0, 1, 3.0, 0.0, 2.0), (1, 0, 3.0, 0.0, 2.0), (2, 3, 30.0, 0.0, 2.0), (3, 2, 3.0, 0.0, 20.0)];
    let ratings = fit(&table(4, &cells));
    let kinds: Vec<bool> = ratings.players.iter().map(|p| p.elo.is_bounded()).collect();
    assert_eq!(kinds, [false, false, true, true]);
    assert_near(elo(&ratings, 0) + elo(&ratings, 1), elo(&ratings, 2) + elo(&ratings, 3), 20.0);
}

#[test]
fn an_advantage_that_black_never_lost_is_tentative() {
    let ratings = fit(&table(2, &[(0, 1, 10.0, 0.0, 0.0), (1, 0, 10.0, 0.0, 0.0)]));
    assert!(matches!(ratings.black_advantage, Estimate::Tentative { value, .. } if value > 300.0));
    assert_near(elo(&ratings, 0), 0.0, 1e-9);
    assert!(ratings.players[0].elo.is_bounded());
}

#[test]
fn with_one_colour_each_the_advantage_is_tentative_and_strength_takes_the_score() {
    let ratings = fit(&table(2, &[(0, 1, 30.0, 0.0, 10.0)]));
    assert_near(elo(&ratings, 0) - elo(&ratings, 1), elo_of_score(0.75), 1e-6);
    assert!(!ratings.black_advantage.is_bounded());
}

#[test]
fn all_draws_are_equality_with_a_wide_error() {
    let ratings = fit(&table(2, &[(0, 1, 0.0, 10.0, 0.0), (1, 0, 0.0, 10.0, 0.0)]));
    assert_near(elo(&ratings, 0), 0.0, 1e-9);
    assert!(ratings.draw_ratio.unwrap() > 0.9);
    assert_near(ratings.los(0, 1).unwrap(), 0.5, 1e-9);
}

#[test]
fn without_a_game_there_is_no_likelihood_of_superiority() {
    let ratings = fit(&table(3, &[(0, 1, 3.0, 0.0, 1.0)]));
    assert!(ratings.los(0, 1).unwrap() > 0.5);
    assert_eq!((ratings.los(0, 2), ratings.los(2, 1)), (None, None));
}

#[test]
fn an_empty_field_and_a_field_without_games_are_unknown() {
    assert!(fit(&CrossTable::new(0)).players.is_empty());
    for players in [1, 3] {
        let ratings = fit(&CrossTable::new(players));
        assert!(ratings.players.iter().all(|p| p.elo == Estimate::Unknown && p.score.is_none()));
        assert_eq!((ratings.black_advantage, ratings.draw_ratio), (Estimate::Unknown, None));
        assert_eq!(ratings.los(0, players - 1), None);
    }
    assert_eq!(fit(&CrossTable::new(1)).los(0, 1), None);
}

#[test]
fn what_is_no_result_is_refused() {
    use crate::TableError;
    let mut table = CrossTable::new(2);
    assert_eq!(
        table.add(0, 2, results(1.0, 0.0, 0.0)),
        Err(TableError::NoSuchPlayer { player: 2, players: 2 })
    );
    assert_eq!(table.add(1, 1, results(1.0, 0.0, 0.0)), Err(TableError::Itself(1)));
    assert!(table.add(0, 1, results(f64::NAN, 0.0, 0.0)).is_err());
    assert!(table.add(0, 1, results(0.0, -1.0, 0.0)).is_err());
    assert_eq!(table, CrossTable::new(2));
}

#[test]
fn a_large_field_is_recovered_from_expected_scores() {
    let players = 60;
    let truth = |i: usize| (i as f64 - 29.5) * 20.0;
    let mut table = CrossTable::new(players);
    for black in 0..players {
        for white in (0..players).filter(|&white| white != black) {
            let score = crate::score_of_elo(truth(black) - truth(white) + 30.0);
            table.add(black, white, results(score, 0.0, 1.0 - score)).unwrap();
        }
    }
    let ratings = fit(&table);
    assert!((0..players).all(|i| (elo(&ratings, i) - truth(i)).abs() < 1e-6));
    assert_near(ratings.black_advantage.value().unwrap(), 30.0, 1e-6);
}

#[test]
fn json_holds_players_in_order_and_no_matrix() {
    let json = serde_json::to_value(fit(&table(2, &[(0, 1, 3.0, 1.0, 2.0), (1, 0, 3.0, 1.0, 2.0)]))).unwrap();
    let mut keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["black_advantage", "draw_ratio", "players"]);
    assert_eq!(json["players"][0]["games"], 12.0);
    assert_eq!(json["players"][0]["elo"]["kind"], "measured");
}

/// The ratings of five players from results that weigh less the older they are.
fn weighted(games: &[testing::GameResult]) -> Ratings {
    let mut table = CrossTable::new(5);
    for game in games {
        let weight = (-0.693 * (game.days - 7.0).max(0.0) / 60.0).exp();
        let outcome = match game.half_points {
            2 => results(weight, 0.0, 0.0),
            1 => results(0.0, weight, 0.0),
            _ => results(0.0, 0.0, weight),
        };
        table.add(game.players[0], game.players[1], outcome).unwrap();
    }
    fit_bradley_terry(&table)
}

#[test]
fn golden_results_weighted_by_age_are_rated_as_by_a_fit_with_50_digits() {
    let ratings = weighted(&testing::results());
    for (player, rate) in testing::RATES.into_iter().enumerate() {
        assert_near(elo(&ratings, player), rate, 1e-6);
    }
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/data/rating_oracle: 400 results and their ratings by another program"]
    fn results_weighted_by_age_are_rated_as_by_an_independent_fit() {
        let ratings = weighted(&testing::oracle_results());
        for (player, rate) in [1247.96, 1103.67, 1032.94, 817.93, 797.50].into_iter().enumerate() {
            assert_near(elo(&ratings, player) + 1000.0, rate, 0.5);
        }
    }
}

fn any_table() -> impl Strategy<Value = CrossTable> {
    (1usize..7).prop_flat_map(|players| {
        let cell = (0..players, 0..players, 0u8..4, 0u8..3, 0u8..4);
        prop::collection::vec(cell, 0..12).prop_map(move |cells| {
            let mut table = CrossTable::new(players);
            for (black, white, won, drawn, lost) in cells {
                let _ = table.add(black, white, results(won.into(), drawn.into(), lost.into()));
            }
            table
        })
    })
}

fn assert_honest(ratings: &Ratings) {
    for player in &ratings.players {
        let finite =
            [player.elo.value(), player.elo.error(), player.score].iter().flatten().all(|x| x.is_finite());
        assert!(finite, "{ratings:?}");
        assert_eq!(player.elo == Estimate::Unknown, player.games == 0.0, "{ratings:?}");
    }
    let players = 0..ratings.players.len();
    let pairs = players.clone().flat_map(|player| players.clone().map(move |other| (player, other)));
    for los in pairs.filter_map(|(player, other)| ratings.los(player, other)) {
        assert!((0.0..=1.0).contains(&los), "{ratings:?}");
    }
    assert!(ratings.black_advantage.value().is_none_or(f64::is_finite));
}

proptest! {
    #[test]
    fn every_small_field_is_rated_with_finite_numbers(table in any_table()) {
        assert_honest(&fit(&table));
        assert_honest(&fit_bradley_terry(&table));
    }

    #[test]
    fn the_order_of_players_does_not_matter(table in any_table(), turn in 0usize..6) {
        let n = table.players();
        let place = |player: usize| (player + turn) % n;
        let mut turned = CrossTable::new(n);
        for (black, white, &results) in table.cells() {
            turned.add(place(black), place(white), results).unwrap();
        }
        let (straight, turned) = (fit(&table), fit(&turned));
        for player in 0..n {
            let (a, b) = (straight.players[player].elo, turned.players[place(player)].elo);
            prop_assert_eq!(a.is_bounded(), b.is_bounded());
            let near = |a: Option<f64>, b: Option<f64>| (a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-4;
            prop_assert!(near(a.value(), b.value()) && near(a.error(), b.error()), "{:?} {:?}", a, b);
        }
    }

    #[test]
    fn swapping_colours_turns_only_the_advantage(table in any_table()) {
        let mut swapped = CrossTable::new(table.players());
        for (black, white, &Results { black_wins, draws, white_wins }) in table.cells() {
            swapped.add(white, black, results(white_wins, draws, black_wins)).unwrap();
        }
        let (straight, swapped) = (fit(&table), fit(&swapped));
        for (a, b) in straight.players.iter().zip(&swapped.players) {
            prop_assert!((a.elo.value().unwrap_or(0.0) - b.elo.value().unwrap_or(0.0)).abs() < 1e-4);
        }
        let advantage = |r: &Ratings| r.black_advantage.value().unwrap_or(0.0);
        prop_assert!((advantage(&straight) + advantage(&swapped)).abs() < 1e-4);
    }
}

#[test]
fn every_field_of_two_with_few_games_is_rated() {
    for code in 0..3u32.pow(6) {
        let n = |place: u32| f64::from(code / 3u32.pow(place) % 3);
        assert_honest(&fit(&table(2, &[(0, 1, n(0), n(1), n(2)), (1, 0, n(3), n(4), n(5))])));
    }
}

#[test]
fn very_unequal_weights_do_not_break_the_fit() {
    let ratings = fit(&table(3, &[(0, 1, 1e9, 0.0, 1.0), (1, 2, 1e-6, 0.0, 1e-6), (2, 0, 0.0, 1.0, 3.0)]));
    assert_honest(&ratings);
    assert!(ratings.players.iter().all(|player| player.elo.is_bounded()));
}

#[test]
fn weights_beyond_what_floating_point_adds_up_leave_the_field_unrated() {
    let ratings = fit(&table(2, &[(0, 1, 1e300, 1e-300, 1.0), (1, 0, 1e300, 0.0, 1.0)]));
    assert!(ratings.players.iter().all(|player| player.elo == Estimate::Unknown));
    assert_eq!(ratings.los(0, 1), Some(0.5));
}

#[test]
fn of_more_players_than_are_rated_those_with_the_most_games_are() {
    let mut table = CrossTable::new(7);
    let even = |games: f64| Results { black_wins: games, draws: 0.0, white_wins: games };
    for player in 1..=5 {
        table.add(player - 1, player, even(2.0)).unwrap();
    }
    table.add(3, 6, even(0.5)).unwrap();
    let ratings = rate_most(&table, true, 6);
    let rated = ratings.players.iter().filter(|player| player.elo.value().is_some()).count();
    assert_eq!((rated, ratings.players.len()), (6, 7));
    assert_eq!((ratings.players[6].elo, ratings.players[6].games), (Estimate::Unknown, 1.0), "games count");
    assert_eq!(ratings.los(0, 6), None);
    assert!((ratings.los(0, 1).unwrap() - 0.5).abs() < 1e-6);
}

/// Six players of known strengths, black's advantage and the odds of a draw; everybody meets everybody with both colours.
#[test]
fn the_errors_of_a_field_hold_the_truth_in_94_to_96_percent() {
    let strengths = [0.9, 0.4, 0.1, -0.1, -0.5, -0.8_f64];
    for (games, nu) in [(10, 0.6), (40, 1.5)] {
        let scale = ELO_PER_NAT * 2.0 / (2.0 + nu);
        let samples = testing::repetitions(4000, 400);
        assert_covers(&format!("{games} games with each colour, nu {nu}"), samples, |random| {
            let mut table = CrossTable::new(strengths.len());
            for (black, of_black) in strengths.iter().enumerate() {
                for (white, of_white) in strengths.iter().enumerate().filter(|(white, _)| *white != black) {
                    let x = of_black - of_white + 0.2;
                    let odds = [(x / 2.0).exp(), nu, (-x / 2.0).exp()];
                    let sum: f64 = odds.iter().sum();
                    let [won, drawn, lost] =
                        random.counts(&odds.map(|odds| odds / sum), games).map(|n| n as f64);
                    table.add(black, white, results(won, drawn, lost)).unwrap();
                }
            }
            let ratings = fit(&table);
            let held =
                |at: &usize| (elo(&ratings, *at) - scale * strengths[*at]).abs() <= error(&ratings, *at);
            let advantage = ratings.black_advantage;
            let black = (advantage.value().unwrap() - scale * 0.2).abs() <= advantage.error().unwrap();
            let players = (0..strengths.len()).filter(held).count();
            (players as u32 + u32::from(black), strengths.len() as u32 + 1)
        });
    }
}

#[test]
fn every_player_of_a_field_of_thousands_has_a_rating_and_an_error() {
    let players = 3000;
    let mut table = CrossTable::new(players + 1);
    for player in 0..players {
        for distance in [1, 7, 50, 333] {
            table.add(player, (player + distance) % players, results(1.0, 1.0, 1.0)).unwrap();
        }
    }
    // One who has only won is tied to the others by the prior.
    table.add(players, 0, results(1.0, 0.0, 0.0)).unwrap();
    let ratings = fit(&table);
    let kinds = |kind: &str| ratings.players.iter().filter(|player| player.elo.kind() == kind).count();
    assert_eq!((kinds("measured"), kinds("tentative")), (players, 1));
    // 24 games each, a third drawn, against others who are as little known.
    assert!(
        (0..players).all(|player| (60.0..200.0).contains(&error(&ratings, player))),
        "{}",
        error(&ratings, 5)
    );
    assert!(elo(&ratings, players) > 100.0 && error(&ratings, players) > 300.0);
}
