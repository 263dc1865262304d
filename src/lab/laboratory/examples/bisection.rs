//! How many games a search for the commit that lost strength needs, and how often it is right, beside a binary search
//! by sequential tests of the same total error. No draws, one commit loses.
//!
//! `cargo run -p laboratory --example bisection -- [RUNS] [COMMITS] [ELO] [PAIRS]`
#![allow(clippy::unwrap_used)]

use laboratory::bisection::{Bisection, Build, Found};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use referee::rating::score_of_elo;

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    let at = |place: usize, default: f64| numbers.get(place).copied().unwrap_or(default);
    let (runs, commits, elo, pairs) =
        (at(0, 200.0) as u64, at(1, 64.0) as usize, at(2, 30.0), at(3, 16.0) as u64);
    println!("{runs} runs, {commits} commits, a loss of {elo} Elo, {pairs} pairs at a time");
    for (name, search) in [("posterior", posterior as fn(_, _, _, _, &mut _) -> _), ("tests", tests)] {
        let mut rng = StdRng::seed_from_u64(1);
        let found: Vec<(bool, u64)> = (0..runs)
            .map(|_| {
                let guilty = rng.random_range(0..commits);
                search(commits, guilty, elo, pairs, &mut rng)
            })
            .collect();
        let right = found.iter().filter(|(right, _)| *right).count() as f64 / runs as f64;
        let mut games: Vec<u64> = found.iter().map(|(_, games)| *games).collect();
        games.sort_unstable();
        let mean = games.iter().sum::<u64>() as f64 / runs as f64;
        let (half, most) = (games[games.len() / 2], games[games.len() - 1]);
        println!(
            "{name:10} right in {:.1} %, {mean:.0} games on average, median {half}, at most {most}",
            100.0 * right
        );
    }
}

/// A pair of games at a score: its half points.
fn pair(score: f64, rng: &mut StdRng) -> usize {
    (0..2).map(|_| if rng.random_bool(score) { 2 } else { 0 }).sum()
}

fn posterior(commits: usize, guilty: usize, elo: f64, pairs: u64, rng: &mut StdRng) -> (bool, u64) {
    let mut search = Bisection::new(commits, 30.0);
    let mut results = vec![[0; 5]; commits + 1];
    loop {
        let posterior = search.posterior();
        if let Some(found) = search.found(&posterior, 0.95) {
            return (
                matches!(found, Found::Lost { first, last, .. } if first == guilty && last == guilty),
                search.games(),
            );
        }
        let commit = search.next(&posterior, pairs).unwrap();
        let score = score_of_elo(if commit >= guilty { -elo } else { 0.0 });
        (0..pairs).for_each(|_| results[commit + 1][pair(score, rng)] += 1);
        search.set_build(commit, Build::Program(commit + 1));
        search.set_results(commit + 1, results[commit + 1]);
    }
}

/// A binary search whose steps are sequential tests of 0 against the loss, which they know, with a total error of 5 %.
fn tests(commits: usize, guilty: usize, elo: f64, pairs: u64, rng: &mut StdRng) -> (bool, u64) {
    let steps = (commits as f64).log2().ceil();
    let error = 1.0 - 0.95_f64.powf(1.0 / steps);
    let bound = ((1.0 - error) / error).ln();
    let lost = score_of_elo(-elo);
    let (mut low, mut high, mut games) = (0, commits - 1, 0);
    while low < high {
        let middle = (low + high) / 2;
        let score = if middle >= guilty { lost } else { 0.5 };
        let mut llr = 0.0_f64;
        while llr.abs() < bound {
            for _ in 0..pairs {
                let wins = pair(score, rng) as f64 / 2.0;
                llr += wins * (lost / 0.5).ln() + (2.0 - wins) * ((1.0 - lost) / 0.5).ln();
                games += 2;
            }
        }
        if llr > 0.0 { high = middle } else { low = middle + 1 }
    }
    (low == guilty, games)
}
