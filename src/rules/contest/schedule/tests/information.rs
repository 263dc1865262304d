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

/// What the documentation says of a round, with every covariance inverted anew instead of being updated.
mod reference {
    use super::*;
    use nalgebra::DMatrix;
    use rating::{CrossTable, ELO_PER_NAT, Results, Z_95};

    pub struct Round {
        information: DMatrix<f64>,
        of_game: DMatrix<f64>,
        games: f64,
    }

    fn said_by_a_game(elo: f64) -> f64 {
        score_of_elo(elo) * score_of_elo(-elo)
    }

    fn variance(covariance: &DMatrix<f64>, a: usize, b: usize) -> f64 {
        covariance[(a, a)] + covariance[(b, b)] - 2.0 * covariance[(a, b)]
    }

    fn add(information: &mut DMatrix<f64>, a: usize, b: usize, weight: f64) {
        for (row, column, sign) in [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)] {
            information[(row, column)] += sign * weight;
        }
    }

    /// A quarter on the diagonal is the game against the field.
    fn of_all(players: usize, met: &[Pairing], of_game: &DMatrix<f64>) -> DMatrix<f64> {
        let mut information = DMatrix::from_diagonal_element(players, players, 0.25);
        for game in met {
            let (a, b) = (game.black.index(), game.white.index());
            add(&mut information, a, b, of_game[(a, b)]);
        }
        information
    }

    impl Round {
        pub fn after(players: usize, games: u32, met: &[Pairing], year: u64) -> Self {
            let mut table = CrossTable::new(players);
            let share = 0.5 / players as f64;
            for a in 0..players {
                for b in 0..a {
                    let even = Results { black_wins: share, draws: 0.0, white_wins: share };
                    table.add(a, b, even).unwrap();
                }
            }
            for game in met {
                let half_points = result(game, year).black_half_points().unwrap();
                let [black_wins, draws, white_wins] =
                    [2, 1, 0].map(|of| f64::from(u8::from(of == half_points)));
                table
                    .add(game.black.index(), game.white.index(), Results { black_wins, draws, white_wins })
                    .unwrap();
            }
            let ratings = fit(&table);
            let elo = |player: usize| ratings.players[player].elo.value().unwrap();
            let apart = |a: usize, b: usize| (elo(a) - elo(b)).abs();
            let plain = DMatrix::from_fn(players, players, |a, b| said_by_a_game(apart(a, b)));
            let first = of_all(players, met, &plain).try_inverse().unwrap();
            let of_game = DMatrix::from_fn(players, players, |a, b| {
                let error = Z_95 * ELO_PER_NAT * variance(&first, a, b).max(0.0).sqrt();
                said_by_a_game((apart(a, b) - error).max(0.0))
            });
            Self { information: of_all(players, met, &of_game), of_game, games: games.into() }
        }

        /// What an encounter takes off the sum of all variances.
        pub fn gain(&self, a: usize, b: usize) -> f64 {
            let sum = |information: &DMatrix<f64>| information.clone().try_inverse().unwrap().trace();
            let mut after = self.information.clone();
            add(&mut after, a, b, self.games * self.of_game[(a, b)]);
            sum(&self.information) - sum(&after)
        }

        pub fn play(&mut self, a: usize, b: usize) {
            add(&mut self.information, a, b, self.games * self.of_game[(a, b)]);
        }
    }
}

#[test]
fn every_encounter_is_the_one_that_takes_most_off_the_sum_of_the_variances() {
    let mut by_lot = [0, 0];
    let years = (0..6).map(|year| (8, 2, year));
    for (players, games, year) in [(6, 2, 0), (7, 1, 4), (5, 3, 9)].into_iter().chain(years) {
        let stage = Stage { format: Format::Information { rounds: 4 }, games, ..Stage::default() };
        let mut host = Host::new(&[stage], players, 5);
        host.year = year;
        host.play(2, usize::MAX);
        let counted: Vec<Pairing> = host.counted().into_values().collect();
        let mut blacks = vec![0_u32; players];
        for round in 1..=4 {
            let met: Vec<Pairing> = counted.iter().filter(|game| game.round < round).copied().collect();
            let mut reference = reference::Round::after(players, games, &met, year);
            let chosen: Vec<&Pairing> = counted
                .iter()
                .filter(|game| game.round == round && game.index.is_multiple_of(games.into()))
                .collect();
            assert_eq!(chosen.len(), players / 2);
            for game in chosen {
                let (black, white) = (game.black.index(), game.white.index());
                let gain = reference.gain(black, white);
                for a in 0..players {
                    for b in 0..a {
                        let other = reference.gain(a, b);
                        assert!(
                            gain >= other * (1.0 - 1e-6),
                            "round {round}: {black}-{white} {gain}, {a}-{b} {other}"
                        );
                    }
                }
                assert!(blacks[black] <= blacks[white], "who had black less often has it");
                by_lot[usize::from(black < white)] += u32::from(blacks[black] == blacks[white]);
                blacks[black] += games.div_ceil(2);
                blacks[white] += games / 2;
                reference.play(black, white);
            }
        }
    }
    assert!(by_lot.iter().all(|lots| *lots > 0), "either of two may begin: {by_lot:?}");
}

#[test]
fn who_has_withdrawn_is_chosen_only_if_fewer_than_two_others_are_left() {
    use referee::operation::{Action, Operation};
    let withdraw = |host: &mut Host, player: u32, round| {
        let (player, name) = (PlayerId(player), String::new());
        let action = Action::Withdrawn { player, name, stage: 0, round, holds: true };
        let (by, reason) = ("arbiter".to_owned(), String::new());
        host.tell(Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action })));
    };
    let players_of = |out: &[u32]| -> BTreeSet<u32> {
        let mut host = Host::new(&[stage(2)], 4, 3);
        out.iter().for_each(|player| withdraw(&mut host, *player, 0));
        while matches!(host.next(), Next::Game(_)) {}
        host.started.iter().flat_map(|game| [game.black.0, game.white.0]).collect()
    };
    assert_eq!(players_of(&[]), BTreeSet::from([0, 1, 2, 3]));
    assert_eq!(players_of(&[1, 3]), BTreeSet::from([0, 2]));
    assert!(players_of(&[0, 1, 3]).len() > 1, "one alone has no opponent");
}
