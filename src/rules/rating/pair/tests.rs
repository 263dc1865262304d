use super::*;
use crate::{
    Pentanomial, Trinomial,
    simulation::{assert_covers, games_at, pairs_at},
};
use proptest::prelude::*;

fn games(losses: u64, draws: u64, wins: u64) -> Counts {
    Trinomial { losses, draws, wins }.into()
}

fn pairs(cells: [u64; 5]) -> Counts {
    Pentanomial(cells).into()
}

fn assert_near(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "{got} is not {expected}");
}

#[test]
fn elo_nelo_and_los_are_those_of_other_runners() {
    let vectors = [
        (games(89, 123, 76), 0.477431, (-15.6935, 30.4580), (-20.7564, 40.1260), 0.155326),
        (games(96, 111, 136), 0.558309, (40.7025, 30.4272), (49.7684, 36.7685), 0.996010),
        (games(356, 0, 34), 0.087179, (-407.9884, 63.1645), (-508.4353, 34.4818), 0.000000),
        (pairs([34, 54, 63, 64, 75]), 0.579310, (55.5798, 27.6534), (57.9356, 28.2754), 0.999970),
        (pairs([332, 433, 498, 333, 334]), 0.487565, (-8.6427, 10.3342), (-9.1729, 10.9605), 0.050470),
        (pairs([10, 20, 40, 30, 12]), 0.531250, (21.7431, 35.7511), (27.8426, 45.4986), 0.884811),
        (pairs([5, 12, 20, 18, 9]), 0.554688, (38.1534, 49.3777), (47.2087, 60.1890), 0.937887),
    ];
    for (counts, score, elo, nelo, los) in vectors {
        let numbers = Numbers::from(&counts);
        assert_near(numbers.score.unwrap(), score, 5.1e-7);
        assert_near(numbers.los, los, 5.1e-7);
        for (estimate, (value, error)) in [(numbers.elo, elo), (numbers.nelo, nelo)] {
            assert_near(estimate.value().unwrap(), value, 5.1e-5);
            assert_near(estimate.error().unwrap(), error, 5.1e-5);
        }
    }
}

#[test]
fn ratios_count_draws_and_won_pairs() {
    let single = Numbers::from(&games(30, 10, 60));
    assert_eq!((single.games, single.draw_ratio, single.pairs_ratio), (100, Some(0.1), None));
    let paired = Numbers::from(&pairs([10, 20, 40, 30, 12]));
    assert_eq!((paired.games, paired.draw_ratio, paired.pairs_ratio), (224, Some(40.0 / 112.0), Some(1.4)));
    assert_eq!(Numbers::from(&pairs([0, 0, 1, 0, 1])).pairs_ratio, None);
}

#[test]
fn without_games_every_estimate_is_unknown() {
    let numbers = Numbers::from(&games(0, 0, 0));
    assert_eq!((numbers.games, numbers.score, numbers.los), (0, None, 0.5));
    assert_eq!((numbers.elo, numbers.nelo), (Estimate::Unknown, Estimate::Unknown));
}

#[test]
fn ten_wins_in_ten_bound_elo_from_below_only() {
    let won = Numbers::from(&games(0, 0, 10));
    assert_eq!(won.elo.to_string(), ">+140");
    assert_eq!(won.nelo.to_string(), ">+144");
    let lost = Numbers::from(&games(10, 0, 0));
    assert_eq!(lost.elo.to_string(), "<-140");
    assert!(won.los > 0.999 && lost.los < 0.001);
}

#[test]
fn four_lost_pairs_bound_elo_as_eight_lost_games_do() {
    let (paired, single) = (Numbers::from(&pairs([4, 0, 0, 0, 0])), Numbers::from(&games(8, 0, 0)));
    assert_eq!((paired.elo, paired.elo_high, paired.los), (single.elo, single.elo_high, single.los));
    assert_eq!((paired.elo.to_string(), paired.elo_low), ("<-93".to_owned(), None));
}

#[test]
fn one_bound_is_not_contradicted_by_the_other() {
    let lost = Numbers::from(&games(5, 0, 0));
    assert_eq!(lost.elo, Estimate::AtMost { value: lost.elo_high.unwrap() });
    assert_near(lost.elo_high.unwrap(), 15.174336, 1e-6);
}

#[test]
fn many_games_give_the_interval_that_other_runners_print() {
    let numbers = Numbers::from(&games(20_000, 30_000, 21_000));
    let (value, error) = (numbers.elo.value().unwrap(), numbers.elo.error().unwrap());
    assert_near(numbers.elo_low.unwrap(), value - error, 0.01);
    assert_near(numbers.elo_high.unwrap(), value + error, 0.01);
}

#[test]
fn one_win_is_no_proof_of_superiority() {
    let numbers = Numbers::from(&games(0, 0, 1));
    assert_near(numbers.los, 0.841345, 1e-6);
    assert_eq!(numbers.nelo, Estimate::Unknown);
}

#[test]
fn all_games_drawn_are_even_without_a_known_error() {
    let numbers = Numbers::from(&games(0, 50, 0));
    assert_eq!(numbers.elo, Estimate::Measured { value: 0.0, error: None });
    assert_eq!((numbers.nelo, numbers.los), (Estimate::Unknown, 0.5));
}

#[test]
fn an_interval_beyond_the_whole_score_still_has_an_error() {
    let numbers = Numbers::from(&games(1, 0, 9));
    assert_near(numbers.elo.value().unwrap(), 381.697, 1e-3);
    assert_near(numbers.elo.error().unwrap(), 358.898, 1e-3);
}

/// Every way to share `size` observations among `N` outcomes.
fn shared<const N: usize>(size: u64) -> Vec<[u64; N]> {
    let mut all = vec![[0; N]];
    for _ in 0..size {
        let more = |counts: [u64; N]| {
            (0..N).map(move |at| std::array::from_fn(|cell| counts[cell] + u64::from(cell == at)))
        };
        all = all.into_iter().flat_map(more).collect();
        all.sort_unstable();
        all.dedup();
    }
    all
}

fn assert_no_worse_result_raises_los<const N: usize>(counts: [u64; N], of: fn([u64; N]) -> Counts) {
    let before = Numbers::from(&of(counts)).los;
    for better in (1..N).filter(|&at| counts[at] > 0) {
        for worse in 0..better {
            let mut changed = counts;
            changed[better] -= 1;
            changed[worse] += 1;
            let after = Numbers::from(&of(changed)).los;
            assert!(after <= before, "{counts:?} {before}, the worse {changed:?} {after}");
        }
    }
}

fn assert_los_agrees_with_the_interval(counts: &Counts) {
    let Numbers { elo_low, elo_high, los, .. } = Numbers::from(counts);
    let above = elo_low.is_some_and(|low| low > 0.0);
    let below = elo_high.is_some_and(|high| high < 0.0);
    assert!(!above || los > 0.975, "{counts:?}: {elo_low:?} .. {elo_high:?}, {los}");
    assert!(!below || los < 0.025, "{counts:?}: {elo_low:?} .. {elo_high:?}, {los}");
    assert!(above || los < 0.999, "{counts:?}: {elo_low:?} .. {elo_high:?}, {los}");
    assert!(below || los > 0.001, "{counts:?}: {elo_low:?} .. {elo_high:?}, {los}");
}

#[test]
fn no_worse_result_of_few_games_or_pairs_raises_los() {
    (1..=12).for_each(|size| {
        shared(size).into_iter().for_each(|cells: [u64; 3]| {
            assert_no_worse_result_raises_los(cells, |[losses, draws, wins]| games(losses, draws, wins));
        });
    });
    (1..=6).for_each(|size| {
        shared(size).into_iter().for_each(|cells| assert_no_worse_result_raises_los(cells, pairs));
    });
}

#[test]
fn los_never_contradicts_the_interval_of_few_games_or_pairs() {
    (1..=12).for_each(|size| {
        shared(size).into_iter().for_each(|[losses, draws, wins]: [u64; 3]| {
            assert_los_agrees_with_the_interval(&games(losses, draws, wins));
        });
    });
    (1..=6).for_each(|size| {
        shared(size).into_iter().for_each(|cells| assert_los_agrees_with_the_interval(&pairs(cells)));
    });
}

fn assert_honest(counts: &Counts) {
    let numbers = Numbers::from(counts);
    let json = serde_json::to_value(numbers).unwrap();
    let mut numbers_in_json = 0;
    let mut values = vec![&json];
    while let Some(value) = values.pop() {
        match value {
            serde_json::Value::Object(fields) => values.extend(fields.values()),
            serde_json::Value::Number(number) => {
                assert!(number.as_f64().unwrap().is_finite());
                numbers_in_json += 1;
            }
            _ => {}
        }
    }
    // serde_json writes NaN and infinities as null: what has a value must arrive as a number.
    let optional =
        [numbers.score, numbers.draw_ratio, numbers.pairs_ratio, numbers.elo_low, numbers.elo_high];
    let present = optional.iter().flatten().count();
    let estimates: usize = [numbers.elo, numbers.nelo].into_iter().map(parts).sum();
    assert_eq!(numbers_in_json, 2 + present + estimates, "{counts:?}: {json}");
    assert!((0.0..=1.0).contains(&numbers.los));
    let elo = numbers.elo.value();
    assert!(numbers.elo_low.is_none_or(|low| elo.is_none_or(|elo| low <= elo)), "{counts:?} {numbers:?}");
    assert!(numbers.elo_high.is_none_or(|high| elo.is_none_or(|elo| elo <= high)), "{counts:?} {numbers:?}");
    assert!(numbers.elo.error().is_none_or(|e| e >= 0.0) && numbers.nelo.error().is_none_or(|e| e >= 0.0));
}

fn parts(estimate: Estimate) -> usize {
    match estimate {
        Estimate::Unknown => 0,
        Estimate::Measured { error: Some(_), .. } | Estimate::Tentative { .. } => 2,
        _ => 1,
    }
}

#[test]
fn every_small_count_of_games_gives_finite_numbers() {
    for cell in 0..21 * 21 * 21 {
        assert_honest(&games(cell % 21, cell / 21 % 21, cell / 441));
    }
}

#[test]
fn the_largest_counts_stay_finite() {
    assert_honest(&games(1, 0, u64::MAX));
    assert_honest(&games(0, 0, u64::MAX));
    assert_honest(&pairs([u64::MAX; 5]));
    assert_honest(&pairs([0, u64::MAX, 1, 0, 0]));
}

proptest! {
    #[test]
    fn every_count_of_pairs_gives_finite_numbers(cells in prop::array::uniform5(0u64..=20)) {
        assert_honest(&pairs(cells));
    }

    #[test]
    fn the_other_side_has_the_opposite_numbers(cells in prop::array::uniform5(0u64..300)) {
        let (ours, theirs) = (Numbers::from(&pairs(cells)), Numbers::from(&pairs(cells).flipped()));
        let opposite = |a: Estimate, b: Estimate| match (a.value(), b.value()) {
            (Some(a), Some(b)) => (a + b).abs() < 1e-9 * (1.0 + a.abs()),
            (a, b) => a == b,
        };
        prop_assert!(opposite(ours.elo, theirs.elo) && opposite(ours.nelo, theirs.nelo));
        prop_assert!((ours.los + theirs.los - 1.0).abs() < 1e-12);
    }

    #[test]
    fn more_points_never_lower_elo(losses in 1u64..50, draws in 0u64..50, wins in 1u64..50) {
        let before = Numbers::from(&games(losses, draws, wins)).elo.value();
        let after = Numbers::from(&games(losses - 1, draws, wins + 1)).elo.value();
        prop_assert!(after.is_none_or(|after| Some(after) > before));
    }
}

fn covers<const N: usize>(what: &str, cells: &[f64; N], size: u64, of: fn([u64; N]) -> Counts) {
    let (mean, variance) = crate::moments(cells);
    let games_each = of([0; N]).games_per_observation() as f64;
    let elo = elo_of_score(mean);
    let nelo = NELO_PER_SD * (mean - 0.5) / (games_each * variance).sqrt();
    let samples = testing::repetitions(20_000, 3000);
    assert_covers(&format!("Elo of {size} {what} at {mean}"), samples, |random| {
        let numbers = Numbers::from(&of(random.counts(cells, size)));
        let held = numbers.elo_low.unwrap() <= elo && elo <= numbers.elo_high.unwrap();
        (u32::from(held), 1)
    });
    // Its error, which is that of other runners, is right for sides that are not far apart.
    if (mean - 0.5).abs() < 0.06 {
        assert_covers(&format!("normalized Elo of {size} {what} at {mean}"), samples, |random| {
            let numbers = Numbers::from(&of(random.counts(cells, size)));
            let held = (numbers.nelo.value().unwrap() - nelo).abs() <= numbers.nelo.error().unwrap();
            (u32::from(held), 1)
        });
    }
}

#[test]
fn the_intervals_of_many_games_hold_the_truth_in_94_to_96_percent() {
    let trinomial = |[losses, draws, wins]: [u64; 3]| games(losses, draws, wins);
    for (score, drawish, size) in [(0.5, 0.0, 4000), (0.8, 0.3, 20_000), (0.52, 0.2, 40_000)] {
        covers("games", &games_at(score, drawish), size, trinomial);
    }
    for (score, bias, size) in [(0.5, 0.0, 8000), (0.7, 1.5, 20_000)] {
        covers("pairs", &pairs_at(score, 0.3, bias), size, pairs);
    }
}
