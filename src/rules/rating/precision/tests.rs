use super::*;
use crate::simulation::{Random, pairs_at};

/// An event of pairs at a score: whether the interval ever missed the truth, and the pairs until it was as narrow as asked.
fn event(precision: Precision, cells: &[f64; 5], seed: u64, most: u64) -> (bool, Option<u64>) {
    let truth = elo_of_score(crate::moments(cells).0);
    let (mut pairs, mut random, mut missed, mut reached) = ([0; 5], Random(seed), false, None);
    for played in 1..=most {
        pairs[random.pick(cells)] += 1;
        missed |= precision.misses(pairs, score_of_elo(truth));
        let counts = TestCounts { pairs: played, pentanomial: pairs, ..TestCounts::default() };
        if reached.is_none() && precision.is_reached(&counts) {
            reached = Some(played);
        }
    }
    (missed, reached)
}

impl Precision {
    fn misses(self, pairs: [u64; 5], score: f64) -> bool {
        self.denies(pairs, score) || self.denies(flipped(pairs), 1.0 - score)
    }
}

/// At every look from the first pair to the last, and not only at the end: the interval misses in one of twenty events at
/// most.
#[test]
fn an_interval_that_is_looked_at_after_every_pair_holds_the_truth_in_95_percent_of_whole_events() {
    for (error, pairs, events) in
        [(20.0, 2000, testing::repetitions(200, 40)), (100.0, 200, testing::repetitions(1000, 250))]
    {
        let precision = Precision::new(error).unwrap();
        for elo in [-50.0, 0.0, 50.0] {
            for (drawish, bias) in [(0.0, 0.0), (0.6, 0.0), (0.1, 1.0)] {
                let cells = pairs_at(score_of_elo(elo), drawish, bias);
                let held = (0..events).filter(|&event_number| {
                    let (missed, _) = event(precision, &cells, 1_000_003 * event_number, pairs);
                    !missed
                });
                let share = held.count() as f64 / events as f64;
                assert!(share >= 0.95, "±{error} at {elo} Elo, {drawish}, {bias}: {share}");
            }
        }
    }
}

/// Without draws a pair varies by an eighth: a plain interval of ±20 Elo at 95 % takes 580 pairs.
#[test]
fn looking_after_every_pair_costs_less_than_three_times_the_games() {
    let precision = Precision::new(20.0).unwrap();
    for (elo, drawish, plain) in [(0.0, 0.0, 580.0), (50.0, 0.0, 592.0), (0.0, 0.6, 232.0)] {
        let cells = pairs_at(score_of_elo(elo), drawish, 0.0);
        let taken: Vec<u64> = (0..40).filter_map(|seed| event(precision, &cells, seed, 3000).1).collect();
        assert_eq!(taken.len(), 40, "some event did not end");
        let mean = taken.iter().sum::<u64>() as f64 / 40.0;
        assert!((plain..3.0 * plain).contains(&mean), "{elo} Elo: {mean} pairs");
    }
}

#[test]
fn a_stop_and_the_interval_agree() {
    let precision = Precision::new(30.0).unwrap();
    for pairs in [[10, 0, 20, 0, 12], [200, 10, 400, 12, 230], [300, 0, 500, 0, 310], [0, 0, 3, 90, 500]] {
        let counts = TestCounts { pentanomial: pairs, ..TestCounts::default() };
        let error = precision.known(pairs).unwrap().error();
        assert_eq!(precision.is_reached(&counts), error.is_some_and(|error| error <= 30.0), "{pairs:?}");
    }
}

#[test]
fn the_interval_is_mirrored_from_the_other_side() {
    let precision = Precision::new(5.0).unwrap();
    let pairs = [30, 11, 80, 5, 40];
    let (ours, theirs) = (precision.known(pairs).unwrap(), precision.known(flipped(pairs)).unwrap());
    let near = |a: Option<f64>, b: Option<f64>| (a.unwrap() + b.unwrap()).abs() < 1e-6;
    assert!(near(ours.elo, theirs.elo) && near(ours.low, theirs.high) && near(ours.high, theirs.low));
    assert!(ours.low < ours.elo && ours.elo < ours.high, "{ours:?}");
}

#[test]
fn nothing_is_known_before_the_first_pair_and_one_end_after_pairs_that_were_all_won() {
    let precision = Precision::new(5.0).unwrap();
    assert_eq!(precision.known([0; 5]), None);
    let won = precision.known([0, 0, 0, 0, 2000]).unwrap();
    assert!(won.elo.is_none() && won.high.is_none() && won.low.unwrap() > 100.0, "{won:?}");
    assert!(!precision.is_reached(&TestCounts { pentanomial: [0, 0, 0, 0, 2000], ..TestCounts::default() }));
    let few = precision.known([1, 0, 0, 0, 1]).unwrap();
    assert_eq!((few.low, few.high), (None, None));
}

#[test]
fn every_count_has_ordered_finite_ends() {
    for error in [0.1, 5.0, 400.0] {
        let precision = Precision::new(error).unwrap();
        for pairs in [
            [u64::MAX, 0, 0, 0, 1],
            [1, 0, u64::MAX, 0, 0],
            [1, 1, 1, 1, 1],
            [0, 1, 0, 0, 0],
            [0, 0, 9, 0, 0],
        ] {
            let Known { elo, low, high } = precision.known(pairs).unwrap();
            let ends = [low, elo, high];
            assert!(ends.iter().flatten().all(|end| end.is_finite()), "{pairs:?} {ends:?}");
            assert!(low.zip(elo).is_none_or(|(low, elo)| low <= elo), "{pairs:?} {ends:?}");
            assert!(high.zip(elo).is_none_or(|(high, elo)| elo <= high), "{pairs:?} {ends:?}");
        }
    }
}

#[test]
fn a_precision_is_a_number_of_elo() {
    for (text, elo) in [("5 elo", 5.0), ("2.5 Elo", 2.5), (" 0.1  ELO ", 0.1), ("400 elo", 400.0)] {
        assert_eq!(text.parse::<Precision>().unwrap().elo(), elo);
    }
    let fault = |text: &str| text.parse::<Precision>().unwrap_err().to_string();
    for text in
        ["5 Elo?", "5", "elo", "five elo", "inf elo", "NaN elo", "-5 elo", "5 nelo", "±5 elo", "1e1 elo", ""]
    {
        assert_eq!(fault(text), format!("`{text}` is not a number of Elo; say such as \"5 elo\""));
    }
    assert_eq!(fault("0 elo"), "0 Elo is not between 0.1 and 400");
    assert_eq!(fault("401 elo"), "401 Elo is not between 0.1 and 400");
}

#[test]
fn a_difference_is_far_only_if_the_estimate_and_its_nearer_end_are_both_beyond() {
    let known = |elo, low, high| Known { elo, low, high }.is_far();
    assert!(known(None, Some(400.0), None), "every pair was won");
    assert!(!known(None, Some(399.9), None) && !known(None, None, None));
    assert!(known(None, None, Some(-400.0)) && !known(None, None, Some(-399.9)));
    assert!(known(Some(798.25), Some(400.0), Some(1500.0)) && !known(Some(798.2), Some(400.0), Some(1500.0)));
    assert!(
        known(Some(-800.0), Some(-1500.0), Some(-400.0)) && !known(Some(-798.2), Some(-1500.0), Some(-400.0))
    );
    assert!(!known(Some(900.0), None, None) && !known(Some(900.0), Some(399.0), Some(2000.0)));
    assert!(!known(Some(900.0), Some(-900.0), Some(-500.0)), "the ends are of the other side");
}

#[test]
fn the_error_is_the_larger_distance_and_unknown_while_an_end_is() {
    let error = |elo, low, high| Known { elo, low, high }.error();
    assert_eq!(error(Some(10.0), Some(4.0), Some(13.0)), Some(6.0));
    assert_eq!(error(Some(10.0), Some(8.0), Some(17.0)), Some(7.0));
    assert_eq!(
        [
            error(None, Some(1.0), Some(2.0)),
            error(Some(1.0), None, Some(2.0)),
            error(Some(1.0), Some(0.0), None)
        ],
        [None; 3]
    );
}

#[test]
fn a_test_of_precision_ends_when_it_is_reached_or_out_of_reach() {
    let precision = Precision::new(30.0).unwrap();
    let verdict = |pentanomial| precision.verdict_on(&TestCounts { pentanomial, ..TestCounts::default() });
    assert_eq!(verdict([0; 5]), None);
    assert_eq!(verdict([100, 10, 200, 12, 100]), None);
    assert_eq!(verdict([2000, 100, 4000, 120, 2000]), Some(PRECISE));
    assert_eq!((verdict([0, 0, 0, 0, 2000]), verdict([2000, 0, 0, 0, 0])), (Some(PRECISE), Some(PRECISE)));
    assert_eq!(verdict([0, 0, 0, 0, 5]), None);
}

/// The shares of the capital sum to the whole of it, whatever is asked for: otherwise the error would be another.
#[test]
fn stakes_are_shares_of_one_capital_and_leave_something_of_it() {
    for error in [0.1, 5.0, 20.0, 400.0] {
        for mean in [0.01, 0.3, 0.5, 0.99] {
            let stakes = Precision(error).stakes(mean);
            let whole: f64 = stakes.iter().map(|(weight, _)| weight).sum();
            assert!((whole - 1.0).abs() < 1e-12, "{whole}");
            assert!(stakes.iter().all(|(_, stake)| (0.0..=BOLDEST).contains(stake)), "{stakes:?}");
            assert!(stakes.is_sorted_by(|one, other| one.1 <= other.1));
            let middle = 2.0 * error / ELO_PER_NAT * mean;
            assert!((stakes[4].1 - middle.min(BOLDEST)).abs() < 1e-12, "{stakes:?}");
            assert!(stakes[4].0 > stakes[3].0 && (stakes[3].0 - stakes[5].0).abs() < 1e-15);
        }
    }
}
