//! Ratings from games that weigh less with age, as on floodgate.

use super::{CrossTable, Results, fit_bradley_terry};

/// A finished game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aged {
    /// Number of the black player.
    pub black: usize,
    /// Number of the white player.
    pub white: usize,
    /// Twice the score of black: 2, 1 or 0.
    pub half_points: u8,
    /// Age in days.
    pub days: f64,
}

/// The loss of weight with age. The default is that of shogi-server's `mk_rate`, which rates floodgate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    /// Days in which a game loses half of its weight.
    pub half_life: f64,
    /// Age in days up to which a game keeps its full weight.
    pub fresh: f64,
    /// Age in days beyond which a game has no weight.
    pub ignore: f64,
    /// Least total weight of a player's games, with at least one win and one loss among them. Games against players
    /// below it do not count for the others either.
    pub least: f64,
}

impl Default for Decay {
    fn default() -> Self {
        Self { half_life: 60.0, fresh: 7.0, ignore: 730.0, least: 15.0 }
    }
}

impl Decay {
    /// The weight of a game of this age.
    pub fn weight(&self, days: f64) -> f64 {
        match days > self.ignore {
            true => 0.0,
            // mk_rate has 0.693 for ln 2.
            false => (-0.693 * (days - self.fresh).max(0.0) / self.half_life).exp(),
        }
    }
}

/// Elo by player (by the model of Bradley and Terry, draws as half a win), relative to the mean of the players with
/// enough games; none for the others.
pub fn fit_aged(players: usize, games: &[Aged], decay: &Decay) -> Vec<Option<f64>> {
    let mut rated = vec![true; players];
    loop {
        let (won, lost) = weights(players, games, decay, &rated);
        let enough = |p: usize| won[p] > 0.0 && lost[p] > 0.0 && won[p] + lost[p] >= decay.least;
        let still: Vec<bool> = (0..players).map(|p| rated[p] && enough(p)).collect();
        if still == rated {
            break;
        }
        rated = still;
    }
    let mut places = vec![None; players];
    let members = (0..players).filter(|&p| rated[p]);
    let count = members.enumerate().map(|(place, p)| places[p] = Some(place)).count();
    let mut table = CrossTable::new(count);
    for game in games {
        let place = |p: usize| places.get(p).copied().flatten();
        if let (Some(black), Some(white)) = (place(game.black), place(game.white)) {
            // Only a player against itself is refused, and that is no game.
            let _no_game = table.add(black, white, results(game, decay));
        }
    }
    let fitted = fit_bradley_terry(&table);
    places.into_iter().map(|place| fitted.players.get(place?)?.elo.value()).collect()
}

fn results(game: &Aged, decay: &Decay) -> Results {
    let weight = decay.weight(game.days);
    match game.half_points {
        2 => Results { black_wins: weight, ..Results::default() },
        1 => Results { draws: weight, ..Results::default() },
        _ => Results { white_wins: weight, ..Results::default() },
    }
}

/// The weight that each player won and lost against rated players.
fn weights(players: usize, games: &[Aged], decay: &Decay, rated: &[bool]) -> (Vec<f64>, Vec<f64>) {
    let (mut won, mut lost) = (vec![0.0; players], vec![0.0; players]);
    let is_rated = |p: usize| rated.get(p).copied().unwrap_or(false);
    for game in games.iter().filter(|game| is_rated(game.black) && is_rated(game.white)) {
        let weight = decay.weight(game.days);
        let black = weight * f64::from(game.half_points.min(2)) / 2.0;
        won[game.black] += black;
        lost[game.black] += weight - black;
        won[game.white] += weight - black;
        lost[game.white] += black;
    }
    (won, lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(of: (usize, usize), won: usize, lost: usize, days: f64) -> Vec<Aged> {
        let game = |half_points| Aged { black: of.0, white: of.1, half_points, days };
        (0..won).map(|_| game(2)).chain((0..lost).map(|_| game(0))).collect()
    }

    #[test]
    fn a_game_weighs_half_after_a_half_life_and_nothing_when_it_is_too_old() {
        let decay = Decay::default();
        assert_eq!(decay.weight(7.0), 1.0);
        assert!((decay.weight(67.0) - 0.5).abs() < 1e-3);
        assert_eq!(decay.weight(731.0), 0.0);
    }

    #[test]
    fn players_with_too_few_games_or_only_wins_are_not_rated_and_do_not_count_for_others() {
        let mut all = games((0, 1), 10, 10, 0.0);
        all.extend(games((2, 0), 20, 0, 0.0));
        all.extend(games((3, 1), 3, 3, 0.0));
        let rated = fit_aged(4, &all, &Decay::default());
        assert_eq!(rated[2..], [None, None]);
        assert!(rated[0].unwrap().abs() < 1e-6 && rated[1].unwrap().abs() < 1e-6, "{rated:?}");
        let old = fit_aged(2, &games((0, 1), 10, 10, 100.0), &Decay::default());
        assert_eq!(old, [None, None], "old games do not suffice");
    }

    fn rates(games: &[testing::GameResult]) -> Vec<Option<f64>> {
        let game = |game: &testing::GameResult| {
            let [black, white] = game.players;
            Aged { black, white, half_points: game.half_points, days: game.days }
        };
        fit_aged(5, &games.iter().map(game).collect::<Vec<_>>(), &Decay::default())
    }

    #[test]
    fn golden_results_of_eighty_days_are_rated_as_by_a_fit_with_50_digits() {
        let rates = rates(&testing::results());
        for (rate, known) in rates.iter().zip(testing::RATES) {
            assert!((rate.unwrap() - known).abs() < 1e-3, "{rates:?}");
        }
    }

    mod oracles {
        use super::*;

        #[test]
        #[ignore = "needs the oracles in ../shared/data/rating_oracle: 400 results and their ratings by another program"]
        fn results_of_a_hundred_days_are_rated_as_by_an_independent_fit() {
            let rates = rates(&testing::oracle_results());
            for (rate, known) in rates.iter().zip([1247.96, 1103.67, 1032.94, 817.93, 797.50]) {
                assert!((rate.unwrap() + 1000.0 - known).abs() < 0.5, "{rates:?}");
            }
        }
    }

    #[test]
    fn a_game_is_fresh_to_its_last_day_and_counts_to_the_last_day_before_it_is_ignored() {
        let decay = Decay { half_life: 10.0, fresh: 7.0, ignore: 30.0, least: 2.0 };
        assert_eq!([0.0, 7.0, 30.1].map(|days| decay.weight(days)), [1.0, 1.0, 0.0]);
        assert!((decay.weight(17.0) - 0.5).abs() < 1e-3 && (decay.weight(27.0) - 0.25).abs() < 1e-3);
        assert!(decay.weight(30.0) > 0.2, "the last day counts");
    }

    #[test]
    fn as_much_weight_as_is_asked_for_is_enough_and_a_draw_is_half_won_and_half_lost() {
        let decay = Decay { least: 4.0, ..Decay::default() };
        let drawn = |count: usize| vec![Aged { black: 0, white: 1, half_points: 1, days: 0.0 }; count];
        assert_eq!(fit_aged(2, &drawn(3), &decay), [None, None]);
        assert!(fit_aged(2, &drawn(4), &decay).iter().all(|elo| elo.is_some_and(|elo| elo.abs() < 1e-9)));
        assert_eq!(fit_aged(2, &games((0, 1), 4, 0, 0.0), &decay), [None, None], "nothing was lost");
        let mixed = fit_aged(2, &games((0, 1), 3, 1, 0.0), &decay);
        let apart = mixed[0].unwrap() - mixed[1].unwrap();
        assert!((apart - crate::elo_of_score(0.75)).abs() < 1e-6, "{apart}");
        // Games of players who are not in the list are left out.
        let stranger = [drawn(4), games((0, 7), 9, 0, 0.0)].concat();
        assert_eq!(fit_aged(2, &stranger, &decay).len(), 2);
    }
}
