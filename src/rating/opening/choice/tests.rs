use super::*;
use crate::{
    NELO_PER_SD, Pentanomial,
    simulation::Dice,
    sprt::{Model, Sprt, Verdict},
};
use proptest::prelude::*;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Lines of planted bias, in natural logarithms of odds, in six families of which two are lopsided.
fn biases(dice: &mut Dice) -> (Vec<f64>, Vec<usize>) {
    let lopsided = [0.0, 1.5, 0.2, -1.5, 0.0, 0.3];
    let families: Vec<usize> = (0..60).map(|line| line % 6).collect();
    (families.iter().map(|&family| lopsided[family] + 0.8 * dice.normal()).collect(), families)
}

/// The gap at which lines taken in order have this normalized Elo.
fn gap_of(nelo: f64, biases: &[f64]) -> f64 {
    let at = |gap: f64| {
        let (mut mean, mut square) = (0.0, 0.0);
        for bias in biases {
            let (first, second) = (sigmoid(bias + gap), 1.0 - sigmoid(bias - gap));
            mean += (first + second) / 2.0;
            square += (first + second + 2.0 * first * second) / 4.0;
        }
        let (mean, square) = (mean / biases.len() as f64, square / biases.len() as f64);
        NELO_PER_SD * (mean - 0.5) / (2.0 * (square - mean * mean)).sqrt()
    };
    let (mut low, mut high) = (0.0, 3.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if at(middle) < nelo { low = middle } else { high = middle }
    }
    low
}

/// Plays a test with chosen lines: its verdict, and its pairs. `edges` are added to the gap by line.
fn test(biases: &[f64], families: &[usize], gap: f64, edges: &[f64], dice: &mut Dice) -> (Verdict, u64) {
    let sprt = Sprt::new(Model::Normalized, 0.0, 60.0, 0.05, 0.05).unwrap();
    let (mut choice, mut pairs) = (LineChoice::new(families.to_vec()), [0; 5]);
    for pair in 1..5000 {
        let opening = choice.choose();
        let line = opening as usize % biases.len();
        let gap = gap + edges.get(line).copied().unwrap_or_default();
        let [first, second] = [gap, -gap].map(|gap| u8::from(dice.roll() < sigmoid(biases[line] + gap)));
        choice.scored(opening, 2 * first);
        choice.scored(opening, 2 * second);
        pairs[usize::from(2 * first + 2 * (1 - second))] += 1;
        let verdict = sprt.verdict(sprt.llr(&Pentanomial(pairs).into()).unwrap());
        if verdict != Verdict::Continue {
            return (verdict, pair);
        }
    }
    (Verdict::Continue, 5000)
}

const TESTS: u32 = 400;

/// The share of tests that end so, where lines and families are drawn anew for each.
fn share(of: Verdict, nelo: f64, edge: f64) -> f64 {
    let ended = (0..TESTS).filter(|&seed| {
        let mut dice = Dice(u64::from(seed) << 32);
        let (biases, families) = biases(&mut dice);
        let gap = if nelo > 0.0 { gap_of(nelo, &biases) } else { 0.0 };
        let edges: Vec<f64> = (0..biases.len()).map(|_| edge * dice.normal()).collect();
        let mean = edges.iter().sum::<f64>() / edges.len() as f64;
        let edges: Vec<f64> = edges.iter().map(|edge| edge - mean).collect();
        test(&biases, &families, gap, &edges, &mut dice).0 == of
    });
    f64::from(ended.count() as u32) / f64::from(TESTS)
}

/// Three standard deviations of the share in so many tests at an error rate of 5 %.
fn allowed() -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / f64::from(TESTS)).sqrt()
}

#[test]
fn equals_pass_no_more_often_than_alpha_and_a_difference_of_elo1_fails_no_more_often_than_beta() {
    let (alpha, beta) = (share(Verdict::H1, 0.0, 0.0), share(Verdict::H0, 60.0, 0.0));
    println!("H1 at no difference {alpha}, H0 at elo1 {beta}");
    assert!(alpha <= allowed() && beta <= allowed(), "{alpha} {beta}");
}

#[test]
fn lines_on_which_one_of_two_equals_is_better_do_not_raise_alpha() {
    let alpha = share(Verdict::H1, 0.0, 0.5);
    println!("H1 at no difference, {alpha}");
    assert!(alpha <= allowed(), "{alpha}");
}

proptest! {
    #[test]
    fn who_won_which_game_of_a_pair_changes_no_choice(results in prop::collection::vec((0_u8..=2, 0_u8..=2), 1..200)) {
        let families: Vec<usize> = (0..20).map(|line| line % 3).collect();
        let [mut ours, mut theirs] = [LineChoice::new(families.clone()), LineChoice::new(families)];
        for (first, second) in results {
            let opening = ours.choose();
            prop_assert_eq!(theirs.choose(), opening);
            [first, second].into_iter().for_each(|black| ours.scored(opening, black));
            [second, first].into_iter().for_each(|black| theirs.scored(opening, black));
        }
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn what_is_taken_back_was_never_seen(results in prop::collection::vec((0_u64..9, 0_u8..=2), 0..50)) {
        let (mut seen, mut used) = (LineChoice::new(vec![0, 1, 0]), LineChoice::new(vec![0, 1, 0]));
        results.iter().for_each(|&(opening, black)| seen.scored(opening, black));
        results.iter().for_each(|&(opening, black)| seen.take_back(opening, black));
        results.iter().for_each(|&(opening, _)| used.used(opening));
        prop_assert_eq!(seen, used);
    }
}

/// A line of each kind: level, won by black nearly always, and unseen ones of both families.
#[test]
fn every_open_line_comes_once_before_any_comes_again_and_a_lopsided_one_is_left_out() {
    let mut choice = LineChoice::new(vec![0, 0, 1, 1]);
    let first: Vec<u64> = (0..4).map(|_| choice.choose()).collect();
    assert_eq!(first, [0, 1, 2, 3], "nothing is known, so the order of the event decides");
    for _ in 0..30 {
        choice.scored(1, 2);
        choice.scored(0, 2);
        choice.scored(0, 0);
    }
    let again: Vec<u64> = (0..6).map(|_| choice.choose()).collect();
    assert!(
        again[..3].iter().all(|opening| (4..8).contains(opening)),
        "{again:?}: the second use of a line each"
    );
    assert!(again.iter().all(|opening| opening % 4 != 1), "{again:?}: what black always wins is left out");
    assert_eq!(again[0], 4, "of the others the one that is known to be level comes first");
}

#[test]
fn lines_of_a_family_that_was_seen_to_be_lopsided_come_late() {
    let mut choice = LineChoice::new(vec![0, 0, 1, 1, 0, 1]);
    for opening in 0..2 {
        (0..8).for_each(|_| choice.scored(opening, 2));
    }
    let next: Vec<u64> = (0..4).map(|_| choice.choose()).collect();
    assert_eq!(next, [2, 3, 5, 4]);
}

/// Pairs until H1, with lines in order and chosen, over tests that all end so; printed, since it is what lines are chosen for.
#[test]
#[ignore = "a figure: 200 tests with planted lines, in order and chosen"]
fn games_to_h1_with_chosen_lines() {
    let mut pairs = [0.0; 2];
    for seed in 0..200 {
        let mut dice = Dice(seed << 32);
        let (biases, families) = biases(&mut dice);
        let gap = gap_of(60.0, &biases);
        pairs[1] += test(&biases, &families, gap, &[], &mut Dice(seed)).1 as f64;
        pairs[0] += plain(&biases, gap, &mut Dice(seed)) as f64;
    }
    println!("games until a verdict: {} in order, {} chosen", pairs[0] / 100.0, pairs[1] / 100.0);
}

/// Pairs of a test with lines in their order.
fn plain(biases: &[f64], gap: f64, dice: &mut Dice) -> u64 {
    let sprt = Sprt::new(Model::Normalized, 0.0, 60.0, 0.05, 0.05).unwrap();
    let mut pairs = [0; 5];
    for pair in 1..5000 {
        let bias = biases[pair as usize % biases.len()];
        let [first, second] = [gap, -gap].map(|gap| usize::from(dice.roll() < sigmoid(bias + gap)));
        pairs[2 * first + 2 * (1 - second)] += 1;
        if sprt.verdict(sprt.llr(&Pentanomial(pairs).into()).unwrap()) != Verdict::Continue {
            return pair;
        }
    }
    5000
}
