use super::*;
use crate::{
    Pentanomial, Trinomial,
    simulation::{Random, games_at, pairs_at},
};
use std::collections::HashMap;

/// Least share of samples whose interval holds the truth. Nominal are 95 %; 1000 samples scatter by 0.7 %.
const COVERED: f64 = 0.93;
const SAMPLES: u32 = 1000;

/// The share of samples of `size` observations whose interval holds the true score.
fn coverage<const N: usize>(cells: &[f64; N], size: u32, count: fn([u64; N]) -> Counts) -> f64 {
    let truth = crate::moments(cells).0;
    let mut known: HashMap<[u64; N], bool> = HashMap::new();
    let mut random = Random(u64::from(size));
    let covered = (0..SAMPLES).filter(|_| {
        let mut counts = [0; N];
        (0..size).for_each(|_| counts[random.pick(cells)] += 1);
        *known.entry(counts).or_insert_with(|| {
            let Interval { low, high } = elo_interval(&count(counts));
            let elo = elo_of_score(truth);
            low.is_none_or(|low| low <= elo + 1e-9) && high.is_none_or(|high| elo - 1e-9 <= high)
        })
    });
    covered.count() as f64 / f64::from(SAMPLES)
}

fn trinomial([losses, draws, wins]: [u64; 3]) -> Counts {
    Trinomial { losses, draws, wins }.into()
}

fn pentanomial(cells: [u64; 5]) -> Counts {
    Pentanomial(cells).into()
}

fn scores() -> &'static [f64] {
    testing::repetitions(&[0.02, 0.1, 0.25, 0.4, 0.5, 0.65, 0.8, 0.93, 0.98], &[0.02, 0.25, 0.5, 0.93])
}

#[test]
fn the_interval_of_games_holds_the_truth_at_every_score_number_and_share_of_draws() {
    for size in [4, 8, 10, 20, 60, 1000] {
        for &score in scores() {
            for drawish in [0.0, 0.1, 0.5, 0.9] {
                let share = coverage(&games_at(score, drawish), size, trinomial);
                assert!(share >= COVERED, "{size} games at {score}, drawish {drawish}: {share}");
            }
        }
    }
}

#[test]
fn the_interval_of_pairs_holds_the_truth_whether_or_not_openings_favour_a_side() {
    for size in [2, 5, 30, 500] {
        for &score in scores() {
            for drawish in [0.0, 0.5, 0.9] {
                for bias in [0.0, 2.0] {
                    let cells = pairs_at(score, drawish, bias);
                    let share = coverage(&cells, size, pentanomial);
                    assert!(share >= COVERED, "{size} pairs at {score}, {drawish}, bias {bias}: {share}");
                }
            }
        }
    }
}
