//! The tuning, by its rules.

use super::*;
use proptest::prelude::*;

fn spec(pairs: u64, window: u64) -> Spec {
    let parameter = |name: &str, whole| Parameter {
        name: name.to_owned(),
        start: 50.0,
        min: 0.0,
        max: 100.0,
        c_end: 5.0,
        r_end: 0.05,
        whole,
    };
    Spec { pairs, window, seed: 7, parameters: vec![parameter("whole", true), parameter("decimal", false)] }
}

/// A result of pair `k` that depends on what was played.
fn result(k: u64, trial: &Trial) -> i8 {
    let bits = trial.plus.iter().chain(&trial.minus).fold(k, |hash, value| mix(hash ^ value.to_bits()));
    (bits % 5) as i8 - 2
}

fn played_in_order(spec: Spec) -> Tuning {
    let pairs = spec.pairs;
    let mut tuning = Tuning::new(spec);
    for k in 1..=pairs {
        let trial = tuning.trial(k).unwrap();
        tuning.note(k, result(k, &trial));
    }
    tuning
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn the_last_pair_has_the_perturbation_and_the_step_that_were_asked_for() {
    let spec = spec(1000, 1);
    assert!((spec.perturbation(1000) - 1.0).abs() < 1e-12);
    assert!((spec.step(1000) - 1.0).abs() < 1e-12);
    let mut tuning = Tuning::new(spec.clone());
    (1..1000).for_each(|k| tuning.note(k, 0));
    assert_eq!(tuning.values(), [50.0, 50.0], "level pairs move nothing");
    let trial = tuning.trial(1000).unwrap();
    assert!(((trial.plus[1] - 50.0).abs() - 5.0).abs() < 1e-9, "{trial:?}");
    let towards = (trial.plus[1] - 50.0).signum();
    tuning.note(1000, 2);
    assert!((tuning.values()[1] - (50.0 + towards * 2.0 * 0.05 * 5.0)).abs() < 1e-9, "{:?}", tuning.values());
}

#[test]
fn early_pairs_have_the_perturbations_and_steps_of_the_schedule() {
    let spec = spec(10_000, 1);
    let (n, k) = (10_000.0_f64, 100.0_f64);
    let c = 5.0 * n.powf(0.101) / k.powf(0.101);
    let a = 0.05 * 25.0 * (1000.0 + n).powf(0.602) / (1000.0 + k).powf(0.602);
    assert!((5.0 * spec.perturbation(100) - c).abs() < 1e-9);
    assert!((0.05 * 5.0 * spec.step(100) - a / c).abs() < 1e-9);
}

#[test]
fn whole_numbers_are_rounded_so_that_their_mean_is_the_value() {
    let parameter = Parameter {
        name: "x".to_owned(),
        start: 10.25,
        min: 0.0,
        max: 100.0,
        c_end: 0.3,
        r_end: 0.002,
        whole: true,
    };
    let tuning = Tuning::new(Spec { pairs: 40_000, window: 40_000, seed: 3, parameters: vec![parameter] });
    let mean =
        |side: fn(Trial) -> f64| (1..=40_000).map(|k| side(tuning.trial(k).unwrap())).sum::<f64>() / 40_000.0;
    let both = mean(|trial| (trial.plus[0] + trial.minus[0]) / 2.0);
    assert!((both - 10.25).abs() < 0.02, "{both}");
    assert!((1..100).all(|k| tuning.trial(k).unwrap().plus[0].fract() == 0.0));
}

#[test]
fn a_pair_waits_for_the_results_that_its_values_follow_from() {
    let mut tuning = Tuning::new(spec(100, 4));
    assert!((1..=4).all(|k| tuning.trial(k).is_some()), "the first pairs play the start");
    assert_eq!(tuning.trial(5), None);
    tuning.note(2, 1);
    assert_eq!(tuning.trial(5), None, "pair 1 is missing");
    tuning.note(1, -1);
    assert!(tuning.trial(5).is_some() && tuning.trial(6).is_some());
    assert_eq!(tuning.trial(7), None);
    tuning.note(1, 2);
    assert_eq!(tuning.applied(), 2, "a pair counts once");
}

#[test]
fn a_value_without_influence_stays_within_the_band_of_chance() {
    let outside = (0..400_u64).filter(|&seed| {
        let mut tuning = Tuning::new(Spec { seed, ..spec(500, 1) });
        (1..=500).for_each(|k| tuning.note(k, (mix(seed ^ (k << 20)) % 5) as i8 - 2));
        let it = &tuning.spec().parameters[1];
        (tuning.values()[1] - it.start).abs() > tuning.chance() * it.r_end * it.c_end
    });
    let outside = outside.count();
    assert!((8..=34).contains(&outside), "{outside} of 400 are outside, 20 are expected");
}

proptest! {
    /// Pairs are played in whatever order the slots allow, and the program is killed now and then: it then forgets
    /// what was playing, and learns all finished results anew, in the order of their ends.
    #[test]
    fn the_values_are_the_same_bit_for_bit_whatever_the_slots_and_kills(
        window in 1_u64..12,
        slots in 1_usize..9,
        choices in proptest::collection::vec(any::<u16>(), 400),
    ) {
        let expected = played_in_order(spec(120, window));
        let mut tuning = Tuning::new(spec(120, window));
        let (mut running, mut ended, mut next) = (Vec::<(u64, i8)>::new(), Vec::<(u64, i8)>::new(), 1);
        let mut choices = choices.into_iter().cycle();
        while tuning.applied() < 120 {
            while running.len() < slots && next <= 120 {
                let Some(trial) = tuning.trial(next) else { break };
                running.push((next, result(next, &trial)));
                next += 1;
            }
            let choice = usize::from(choices.next().unwrap());
            if choice % 23 == 0 {
                tuning = Tuning::new(spec(120, window));
                ended.iter().for_each(|&(k, result)| tuning.note(k, result));
                let again: Vec<u64> = running.drain(..).map(|(k, _)| k).collect();
                for k in again {
                    let trial = tuning.trial(k).expect("it could be played before");
                    running.push((k, result(k, &trial)));
                }
            }
            if !running.is_empty() {
                let (k, result) = running.remove(choice % running.len());
                tuning.note(k, result);
                ended.push((k, result));
            }
        }
        prop_assert_eq!(bits(tuning.values()), bits(expected.values()));
        prop_assert_eq!(bits(&tuning.averaged()), bits(&expected.averaged()));
    }

    #[test]
    fn nothing_is_ever_played_outside_the_bounds(
        results in proptest::collection::vec(-2_i8..=2, 60), start in 0.0_f64..100.0, c_end in 0.1_f64..500.0,
    ) {
        let mut spec = spec(60, 3);
        for it in &mut spec.parameters {
            (it.start, it.c_end, it.r_end) = (start, c_end, 1.0);
        }
        let mut tuning = Tuning::new(spec);
        for (k, result) in (1..).zip(results) {
            let Trial { plus, minus } = tuning.trial(k).unwrap();
            prop_assert!(plus.iter().chain(&minus).all(|value| (0.0..=100.0).contains(value)));
            tuning.note(k, result);
            prop_assert!(tuning.values().iter().all(|value| (0.0..=100.0).contains(value)));
        }
    }
}
