use super::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// A search in which every commit has a program of its own.
struct Simulation {
    search: Bisection,
    results: Vec<Pentanomial>,
    rng: StdRng,
}

impl Simulation {
    fn new(commits: usize, expected: f64, seed: u64) -> Self {
        let search = Bisection::new(commits, expected);
        Self { search, results: vec![[0; 5]; commits + 1], rng: StdRng::seed_from_u64(seed) }
    }

    /// Plays pairs of games without draws at a difference in Elo.
    fn play(&mut self, commit: usize, elo: f64, pairs: u64) {
        let score = score_of_elo(elo);
        for _ in 0..pairs {
            let won = (0..2).filter(|_| self.rng.random_bool(score)).count();
            self.results[commit + 1][2 * won] += 1;
        }
        self.search.set_build(commit, Build::Program(commit + 1));
        self.search.set_results(commit + 1, self.results[commit + 1]);
    }

    /// Searches for a loss at a commit.
    fn run(&mut self, guilty: usize, elo: f64) -> Found {
        loop {
            let posterior = self.search.posterior();
            if let Some(found) = self.search.found(&posterior, 0.95) {
                return found;
            }
            let commit = self.search.next(&posterior, 16).unwrap();
            self.play(commit, if commit >= guilty { -elo } else { 0.0 }, 16);
        }
    }
}

#[test]
fn a_loss_of_30_elo_among_64_commits_is_found_in_95_of_100_searches_with_6500_games_on_average() {
    let (mut right, mut games, runs) = (0, 0, testing::repetitions(200, 60));
    for run in 0..runs {
        let mut simulation = Simulation::new(64, 30.0, run);
        let guilty = StdRng::seed_from_u64(1000 + run).random_range(0..64);
        let found = simulation.run(guilty, 30.0);
        right +=
            u64::from(matches!(found, Found::Lost { first, last, .. } if first == guilty && last == guilty));
        games += simulation.search.games();
    }
    assert!(right * 100 >= 95 * runs, "{right} of {runs}");
    assert!(games <= 6500 * runs, "{} games on average", games / runs);
}

#[test]
fn probabilities_add_up_and_begin_alike() {
    let mut simulation = Simulation::new(10, 30.0, 1);
    let posterior = simulation.search.posterior();
    assert!(posterior.commits.iter().all(|p| (p - 0.095).abs() < 1e-9), "{posterior:?}");
    simulation.play(4, -100.0, 500);
    let posterior = simulation.search.posterior();
    let sum = posterior.commits.iter().sum::<f64>() + posterior.nothing;
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let after: f64 = posterior.commits[5..].iter().sum();
    assert!(after < 1e-6 && (posterior.loss - 100.0).abs() < 40.0, "{posterior:?}");
}

#[test]
fn without_a_loss_no_commit_is_accused() {
    let found = Simulation::new(16, 30.0, 1).run(99, 30.0);
    assert!(matches!(found, Found::Nothing(p) if p >= 0.95), "{found:?}");
}

#[test]
fn the_first_games_are_those_of_the_middle() {
    let search = Bisection::new(64, 30.0);
    let next = search.next(&search.posterior(), 16).unwrap();
    assert!((28..36).contains(&next), "{next}");
}

#[test]
fn a_loss_does_not_come_between_two_commits_of_one_program() {
    let mut search = Bisection::new(5, 30.0);
    search.set_build(1, Build::Program(1));
    search.set_build(3, Build::Program(1));
    let posterior = search.posterior();
    assert_eq!(posterior.commits[2..=3], [0.0, 0.0]);
    search.set_build(0, Build::Program(GOOD));
    assert_eq!(search.posterior().commits[0], 0.0);
    // All of them are the good program: nothing can be lost.
    search.set_build(4, Build::Program(GOOD));
    assert_eq!(search.found(&search.posterior(), 0.95), Some(Found::Nothing(1.0)));
}

#[test]
fn commits_that_do_not_build_are_one_place_with_the_next_that_does() {
    let mut simulation = Simulation::new(6, 100.0, 1);
    simulation.search.set_build(2, Build::Failed);
    simulation.search.set_build(3, Build::Failed);
    let found = simulation.run(3, 100.0);
    assert!(matches!(found, Found::Lost { first: 2, last: 4, .. }), "{found:?}");
}

#[test]
fn results_without_any_spread_give_no_nonsense() {
    let mut simulation = Simulation::new(3, 30.0, 1);
    simulation.search.set_build(1, Build::Program(2));
    for pairs in [[0, 0, 1_000_000, 0, 0], [1_000_000, 0, 0, 0, 0], [0, 0, 0, 0, 1_000_000]] {
        simulation.search.set_results(2, pairs);
        let posterior = simulation.search.posterior();
        let all = || posterior.commits.iter().chain([&posterior.nothing, &posterior.loss]);
        assert!(all().all(|value| value.is_finite()), "{posterior:?}");
        assert!(simulation.search.next(&posterior, 16).is_some());
    }
}

#[test]
fn a_program_whose_pairs_only_repeat_earlier_ones_is_played_no_more() {
    let mut search = Bisection::new(2, 30.0);
    for (commit, pairs) in [(0, [0, 0, 6, 0, 0]), (1, [3, 0, 0, 0, 3])] {
        search.set_build(commit, Build::Program(commit + 1));
        search.set_results(commit + 1, pairs);
        search.set_played(commit + 1, 6);
    }
    let next = |search: &Bisection| search.next(&search.posterior(), 16);
    let first = next(&search).unwrap();
    search.set_played(first + 1, 21);
    assert!(!search.is_used_up(first + 1), "fifteen pairs without a new one");
    search.set_played(first + 1, 22);
    assert_eq!((search.is_used_up(first + 1), next(&search)), (true, Some(1 - first)));
    search.set_played(2 - first, 22);
    assert_eq!((next(&search), search.has_used_up()), (None, true), "nothing is left to play");
    search.set_results(2 - first, [4, 0, 0, 0, 4]);
    search.set_played(2 - first, 40);
    assert_eq!(next(&search), Some(1 - first), "something new came");
}
