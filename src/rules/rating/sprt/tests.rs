use super::*;
use crate::{Pentanomial, Trinomial};
use Model::{BayesElo, Logistic, Normalized};
use proptest::prelude::*;

fn test(model: Model, elo0: f64, elo1: f64) -> Sprt {
    Sprt::new(model, elo0, elo1, 0.05, 0.05).unwrap()
}

fn games(losses: u64, draws: u64, wins: u64) -> Counts {
    Trinomial { losses, draws, wins }.into()
}

fn pairs(cells: [u64; 5]) -> Counts {
    Pentanomial(cells).into()
}

fn assert_llrs(vectors: &[(Model, f64, f64, Counts, f64)], tolerance: f64) {
    for &(model, elo0, elo1, counts, expected) in vectors {
        let llr = test(model, elo0, elo1).llr(&counts).unwrap();
        assert!(
            (llr - expected).abs() <= tolerance,
            "{model:?} [{elo0}, {elo1}] {counts:?}: {llr}, not {expected}"
        );
    }
}

#[test]
fn llrs_are_fishtests() {
    let vectors = [
        (Normalized, 0.0, 2.0, games(36027, 68692, 36433), 0.923293),
        (Normalized, -1.75, 0.25, games(10650, 20431, 10871), 2.297500),
        (Logistic, 0.5, 2.5, games(21184, 40708, 21404), -1.571889),
        (Logistic, 0.0, 2.0, games(57030, 106593, 57433), -2.593024),
        (Normalized, 0.0, 2.0, pairs([365, 16618, 36229, 16974, 390]), 2.250368),
        (Normalized, -1.75, 0.25, pairs([127, 4883, 10712, 5150, 104]), 3.010154),
        (Logistic, 0.5, 2.5, pairs([223, 9863, 21279, 10037, 246]), -3.074126),
        (Logistic, 0.0, 2.0, pairs([871, 26175, 55983, 26678, 821]), -4.978673),
        (Normalized, 0.0, 10.0, games(0, 0, 4250), 120.548268),
        (Normalized, 0.0, 5.0, pairs([0, 0, 0, 0, 5550]), 111.797555),
        (Logistic, 0.2, 0.9, pairs([39, 2226, 31451, 2412, 40]), 2.162543),
        (Normalized, 0.764, 3.439, pairs([39, 2226, 31451, 2412, 40]), 2.162941),
        (Logistic, 0.0, 5.0, pairs([10, 20, 40, 30, 12]), 0.287085),
        (Normalized, 0.0, 5.0, pairs([10, 20, 40, 30, 12]), 0.232206),
        (Logistic, 0.0, 10.0, games(30, 10, 60), 0.913873),
        (Normalized, 0.0, 10.0, games(30, 10, 60), 0.868769),
        (Logistic, 0.0, 10.0, games(16, 0, 24), 0.213697),
        (Logistic, 0.0, 5.0, games(759, 1863, 880), 2.947224),
    ];
    assert_llrs(&vectors, 1e-6);
}

#[test]
fn bayeselo_llrs_are_fastchess_s() {
    let vectors = [
        (BayesElo, 0.0, 2.0, games(68526, 128429, 68965), -1.262643),
        (BayesElo, 0.5, 2.5, games(21484, 41111, 21629), -1.130677),
    ];
    assert_llrs(&vectors, 1e-3);
}

#[test]
fn bounds_and_verdicts_are_walds() {
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let (lower, upper) = test(Normalized, 0.0, 2.0).bounds();
    assert!(near(lower, -2.944438979) && near(upper, 2.944438979));
    let (lower, upper) = Sprt::new(Normalized, 0.0, 2.0, 0.05, 0.10).unwrap().bounds();
    assert!(near(lower, -2.251291799) && near(upper, 2.890371758));
    let verdict = |llr| test(Normalized, 0.0, 2.0).verdict(llr);
    assert_eq!([verdict(upper), verdict(2.95)], [Verdict::Continue, Verdict::H1]);
    assert_eq!([verdict(-2.94), verdict(-2.95)], [Verdict::Continue, Verdict::H0]);
    assert_eq!(verdict(test(Normalized, 0.0, 2.0).bounds().0), Verdict::H0);
}

#[test]
fn a_standing_holds_llr_bounds_and_verdict() {
    let standing = test(Normalized, -1.75, 0.25).standing(&pairs([127, 4883, 10712, 5150, 104])).unwrap();
    assert_eq!(standing.verdict, Verdict::H1);
    let json = serde_json::to_value(standing).unwrap();
    assert_eq!(json["verdict"], "h1");
    assert!(json["llr"].as_f64().unwrap() > json["upper"].as_f64().unwrap());
}

#[test]
fn hypotheses_out_of_reach_fall_back_to_the_closed_form() {
    let llr = test(Normalized, -400.0, -100.0).llr(&pairs([40, 3, 0, 0, 0])).unwrap();
    assert!(llr.is_finite() && llr < 0.0, "{llr}");
}

#[test]
fn impossible_tests_are_refused_by_name() {
    let text =
        |model, elo0, elo1, alpha, beta| Sprt::new(model, elo0, elo1, alpha, beta).unwrap_err().to_string();
    assert_eq!(text(Normalized, -401.0, 0.0, 0.05, 0.05), "elo0 = -401 is beyond +-400 Elo");
    assert_eq!(text(Logistic, 0.0, f64::INFINITY, 0.05, 0.05), "elo1 = inf is beyond +-1000 Elo");
    assert_eq!(text(Logistic, f64::NAN, 0.0, 0.05, 0.05), "elo0 = NaN is beyond +-1000 Elo");
    assert_eq!(text(Logistic, 5.0, 0.0, 0.05, 0.05), "elo0 = 5 is not below elo1 = 0 by 0.001 or more");
    assert_eq!(text(Logistic, 0.0, 5.0, 0.0, 0.05), "alpha = 0 is not between 0 and 0.5");
    assert_eq!(text(Logistic, 0.0, 5.0, 0.05, 0.5), "beta = 0.5 is not between 0 and 0.5");
    assert_eq!(test(BayesElo, 0.0, 5.0).llr(&pairs([1; 5])), Err(SprtError::BayesEloOfPairs));
}

#[test]
fn without_games_the_test_goes_on() {
    for counts in [games(0, 0, 0), pairs([0; 5])] {
        let standing = test(Normalized, 0.0, 2.0).standing(&counts).unwrap();
        assert_eq!((standing.llr, standing.verdict), (0.0, Verdict::Continue));
    }
}

#[test]
fn every_small_count_of_games_has_a_finite_llr() {
    let tests = [test(Normalized, 0.0, 2.0), test(Logistic, -400.0, 400.0), test(BayesElo, 0.0, 10.0)];
    for cell in 0..21 * 21 * 21 {
        let counts = games(cell % 21, cell / 21 % 21, cell / 441);
        assert!(tests.iter().all(|test| test.llr(&counts).unwrap().is_finite()), "{counts:?}");
    }
}

#[test]
fn the_largest_counts_and_the_farthest_hypotheses_stay_finite() {
    for model in [Normalized, Logistic, BayesElo] {
        let far = model.farthest();
        for (elo0, elo1) in [(-far, far), (-far, -far + 1.0), (far - 1.0, far), (0.0, 0.001)] {
            for counts in
                [games(u64::MAX, 0, 0), games(0, u64::MAX, 0), games(0, 1, u64::MAX), games(1, 1, 1)]
            {
                assert!(
                    test(model, elo0, elo1).llr(&counts).unwrap().is_finite(),
                    "{model:?} {elo0} {counts:?}"
                );
                test(model, elo0, elo1).estimate(&counts).unwrap();
            }
        }
    }
}

proptest! {
    #[test]
    fn every_count_of_pairs_and_every_test_have_a_finite_llr(
        cells in prop::array::uniform5(0u64..=20),
        elo0 in -400.0f64..399.0,
        gap in 0.1f64..100.0,
    ) {
        for model in [Normalized, Logistic] {
            let test = test(model, elo0, (elo0 + gap).min(400.0));
            prop_assert!(test.llr(&pairs(cells)).unwrap().is_finite());
        }
    }

    #[test]
    fn seen_from_the_other_side_the_llr_is_opposite(
        cells in prop::array::uniform5(0u64..=2000),
        elo0 in -20.0f64..20.0,
        gap in 0.1f64..20.0,
    ) {
        for model in [Normalized, Logistic] {
            let ours = test(model, elo0, elo0 + gap).llr(&pairs(cells)).unwrap();
            let theirs = test(model, -elo0 - gap, -elo0).llr(&pairs(cells).flipped()).unwrap();
            prop_assert!((ours + theirs).abs() < 1e-6 * (1.0 + ours.abs()), "{} {}", ours, theirs);
        }
    }

    #[test]
    fn more_points_raise_the_llr(cells in prop::array::uniform5(5u64..500), elo0 in -5.0f64..5.0) {
        let [ll, ld, even, wd, ww] = cells;
        for model in [Normalized, Logistic] {
            let test = test(model, elo0, elo0 + 5.0);
            let before = test.llr(&pairs(cells)).unwrap();
            prop_assert!(test.llr(&pairs([ll, ld, even - 1, wd + 1, ww])).unwrap() > before - 1e-9);
        }
    }
}

#[test]
fn a_verdict_on_pairs_heeds_the_ones_that_faults_have_decided() {
    let test = test(Normalized, 0.0, 20.0);
    let counts =
        |pentanomial, without_faults| TestCounts { pentanomial, without_faults, ..TestCounts::default() };
    let (won, lost, level) = ([0, 20, 300, 200, 40], [40, 200, 300, 20, 0], [5, 20, 40, 21, 5]);
    let word = |counts: &TestCounts, heeds| test.verdict_on(counts, heeds).map(|(word, _)| word);
    for (pairs, without, heeding, heedless) in [
        (won, won, Some("H1"), Some("H1")),
        (won, lost, Some(BY_FAULTS), Some("H1")),
        (won, [0; 5], Some(BY_FAULTS), Some("H1")), // nothing leans to no side
        (won, [0, 20, 300, 190, 40], Some("H1"), Some("H1")),
        (lost, lost, Some("H0"), Some("H0")),
        (lost, won, Some(BY_FAULTS), Some("H0")),
        (lost, [40, 190, 300, 20, 0], Some("H0"), Some("H0")),
        (level, won, None, None),
    ] {
        let counts = counts(pairs, without);
        assert_eq!((word(&counts, true), word(&counts, false)), (heeding, heedless), "{counts:?}");
    }
    let (_, llr) = test.verdict_on(&counts(won, won), true).unwrap();
    assert_eq!(llr, test.llr(&pairs(won)).unwrap());
}

#[test]
fn the_edges_of_what_a_test_may_ask_for_are_accepted() {
    for (model, elo0, elo1) in
        [(Normalized, -400.0, 400.0), (Logistic, -1000.0, 1000.0), (BayesElo, 0.0, 0.001)]
    {
        assert!(Sprt::new(model, elo0, elo1, 0.05, 0.05).is_ok(), "{model:?}");
    }
    assert!(Sprt::new(Normalized, 0.0, 0.000_9, 0.05, 0.05).is_err());
    assert!(Sprt::new(Normalized, 0.0, 5.0, 0.499, 1e-300).is_ok());
    assert!(
        Sprt::new(Normalized, 0.0, 5.0, 0.5, 0.05).is_err()
            && Sprt::new(Normalized, 0.0, 5.0, 0.05, 9e-301).is_err()
    );
}
