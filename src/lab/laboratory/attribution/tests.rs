#![allow(clippy::unwrap_used)]

mod simulation;

use super::{design::NoDesign, effects::NoEffects, ridge::Ridge, *};
use nalgebra::DMatrix;
use simulation::{League, Truth};
use std::collections::HashSet;

fn switches(parts: usize) -> Field {
    Field::new(vec![2; parts], true)
}

#[test]
fn sixty_four_of_256_builds_by_lot_tell_eight_parts_and_their_pairs_apart_three_quarters_as_well_as_a_balanced_fraction()
 {
    let field = switches(8);
    let builds = design(&field, Some(64), 1).unwrap();
    assert_eq!((builds.len(), builds.iter().collect::<HashSet<_>>().len()), (64, 64));
    assert_eq!(builds[0], [0; 8], "the engine as it is plays");
    assert_eq!(field.aliased(&builds), []);
    assert_eq!(builds, design(&field, Some(64), 1).unwrap());
    assert_ne!(builds, design(&field, Some(64), 2).unwrap());
    // The fraction of resolution V: every column at right angles to every other.
    let log_determinant = |builds: &[Levels]| -> f64 {
        let matrix = field.matrix(builds).insert_column(0, 1.0);
        matrix.tr_mul(&matrix).cholesky().unwrap().l().diagonal().iter().map(|root| 2.0 * root.ln()).sum()
    };
    let fraction: Vec<Levels> = (0..64)
        .map(|number| {
            let mut build = Field::new(vec![2; 6], false).build(number);
            build.extend([
                build[..4].iter().sum::<usize>() % 2,
                (build[0] + build[1] + build[4] + build[5]) % 2,
            ]);
            build
        })
        .collect();
    assert_eq!(field.aliased(&fraction), []);
    let efficiency = ((log_determinant(&builds) - log_determinant(&fraction)) / 37.0).exp();
    assert!(efficiency > 0.75, "{efficiency}");
}

#[test]
fn a_design_may_have_parts_of_several_levels_and_all_possible_builds() {
    let field = Field::new(vec![3, 2, 2, 2], true);
    assert_eq!(field.effects().len(), 5 + 9);
    assert_eq!(design(&field, Some(24), 1).unwrap().len(), 24);
    let some = design(&field, Some(20), 1).unwrap();
    assert_eq!((some.len(), field.aliased(&some)), (20, vec![]));
    let has = |build: &Levels| build.iter().zip(field.levels()).all(|(level, of)| level < of);
    assert!(some.iter().all(|build| build.len() == field.levels().len() && has(build)));
}

#[test]
fn too_few_builds_are_refused_in_words() {
    let refusal = design(&switches(8), Some(30), 1).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "30 builds are too few for 36 effects: 39 are needed at least, or 11 with `pairs = false`, so \
         that pairs of parts have no effects"
    );
    let without = Field::new(vec![2; 8], false);
    assert_eq!(design(&without, Some(11), 1).unwrap().len(), 11);
    assert_eq!(
        design(&without, Some(10), 1).unwrap_err().to_string(),
        "10 builds are too few for 8 effects: 11 are needed at least"
    );
    let many = |parts, levels, pairs| design(&Field::new(vec![levels; parts], pairs), None, 1).unwrap_err();
    assert!(matches!(many(32, 10, true), NoDesign::Many { pairs: true, .. }));
    assert!(!many(1001, 2, false).to_string().contains("pairs"));
}

#[test]
fn pairs_are_advised_against_where_the_possible_builds_are_not_enough_for_them() {
    let refused = |levels: &[usize], pairs| {
        design(&Field::new(levels.to_vec(), pairs), None, 1).err().map(|refusal| refusal.to_string())
    };
    assert_eq!(
        refused(&[2, 2], true).unwrap(),
        "all 4 possible builds together are too few for 3 effects and their errors, which take 6: add a part or a level \
         and write `pairs = false`"
    );
    assert!(refused(&[2, 2], false).unwrap().ends_with("which take 5: add a part or a level"));
    assert!(refused(&[2, 3], true).unwrap().ends_with("add a part or a level, or write `pairs = false`"));
    assert_eq!(refused(&[2, 3], false), None);
}

#[test]
fn parts_that_were_never_apart_are_named() {
    let field = Field::new(vec![2; 3], false);
    let together = |a: usize, b: usize| vec![a, b, b];
    let builds: Vec<Levels> =
        [(0, 0), (1, 0), (0, 1), (1, 1)].iter().cycle().take(8).map(|(a, b)| together(*a, *b)).collect();
    let games = League::play(&field, &Truth::drawn(&field, 50.0, 0.0, 0.0, 1), &builds, 800, 1);
    let refusal = effects(&field, &builds, &games.table).unwrap_err();
    assert_eq!(refusal, NoEffects::Aliased(vec![Effect::Part { part: 2, level: 1 }]));
}

#[test]
fn an_effect_is_the_difference_to_the_first_level_and_a_pair_what_is_beyond_the_sum() {
    let field = Field::new(vec![2, 3], true);
    let elo = |build: &[usize]| {
        field.row(build).dot(&nalgebra::DVector::from_vec(vec![10.0, 20.0, 30.0, 4.0, 5.0]))
    };
    let effects = field.effects();
    assert_eq!(effects[4], Effect::Pair { parts: [0, 1], levels: [1, 2] });
    let average = |level: usize| (0..3).map(|other| elo(&[level, other])).sum::<f64>() / 3.0;
    assert!((average(1) - average(0) - 10.0).abs() < 1e-9);
    let beyond = elo(&[1, 2]) - elo(&[0, 2]) - elo(&[1, 0]) + elo(&[0, 0]);
    assert!((beyond - 5.0).abs() < 1e-9);
}

#[test]
fn intervals_of_95_percent_hold_the_true_effects_of_simulated_leagues() {
    let field = switches(5);
    let builds = design(&field, Some(24), 1).unwrap();
    let (mut inside, mut all, mut own) = (0, 0, 0.0);
    let leagues = 60;
    for seed in 0..leagues {
        let truth = Truth::drawn(&field, 60.0, 15.0, 20.0, seed);
        let league = League::play(&field, &truth, &builds, 6000, 1000 + seed);
        let found = effects(&field, &builds, &league.table).unwrap();
        own += found.own / leagues as f64;
        for (estimated, elo) in found.all.iter().zip(&truth.effects) {
            all += 1;
            inside += usize::from((estimated.elo - elo).abs() <= estimated.error);
        }
    }
    let share = inside as f64 / all as f64;
    assert!((0.93..=0.97).contains(&share), "{share} of {all}");
    assert!((14.0..24.0).contains(&own), "what builds have of their own: {own}");
}

#[test]
fn a_build_that_never_played_is_predicted_within_its_interval() {
    let field = switches(6);
    let builds = design(&field, Some(44), 1).unwrap();
    let (mut inside, mut all) = (0, 0);
    for seed in 0..12 {
        let truth = Truth::drawn(&field, 60.0, 15.0, 10.0, seed);
        let everybody = (0..64).map(|number| field.build(number)).filter(|build| !builds.contains(build));
        let league = League::play(&field, &truth, &builds, 9000, 77 + seed);
        let found = effects(&field, &builds, &league.table).unwrap();
        let predictor = Predictor::new(&field, &builds, &found);
        let mean = league.elo.iter().sum::<f64>() / builds.len() as f64;
        for build in everybody {
            let predicted = predictor.predict(&build);
            // What the build would have of its own is drawn here.
            let own = truth.own * simulation::normal(&mut design::Lots::new(seed ^ predicted.elo.to_bits()));
            all += 1;
            inside += usize::from(
                (predicted.elo - truth.elo(&field, &build) - own + mean).abs() <= predicted.error,
            );
        }
        let best = predictor.best_unplayed(&builds).unwrap();
        assert!(!builds.contains(&best.build));
    }
    let share = inside as f64 / f64::from(all);
    assert!((0.9..=0.99).contains(&share), "{share} of {all}");
}

#[test]
fn an_effect_that_nothing_bounds_is_no_effect() {
    let field = Field::new(vec![2; 2], false);
    let builds: Vec<Levels> = (0..4).map(|number| field.build(number)).cycle().take(8).collect();
    let refusal = effects(&field, &builds, &referee::rating::CrossTable::new(8)).unwrap_err();
    assert_eq!(refusal, NoEffects::Unbounded);
}

#[test]
fn pairs_explain_what_parts_alone_do_not_and_held_out_builds_show_it() {
    let field = switches(6);
    let builds = design(&field, Some(48), 1).unwrap();
    let truth = Truth::drawn(&field, 30.0, 90.0, 0.0, 3);
    let rate = |build: &Levels| {
        let expected = referee::rating::score_of_elo(truth.elo(&field, build));
        (2.0 * expected - 1.0, 100.0)
    };
    let rates: Vec<(f64, f64)> = builds.iter().map(rate).collect();
    let [parts, pairs, both] = table(&field, &builds, &rates)[..] else { panic!("three rows") };
    assert!(both.ridge > parts.ridge + 0.1, "{parts:?} {both:?}");
    assert!(pairs.ridge > parts.ridge + 0.1 && both.ridge > 0.8, "{pairs:?} {both:?}");
    assert_eq!((parts.number, pairs.number, both.number), (12, 60, 72));
}

#[test]
fn ridge_regression_without_noise_finds_the_line_and_leaves_out_one_at_a_time() {
    let x = DMatrix::from_fn(12, 2, |row, column| ((row * 7 + column * 5) % 11) as f64);
    let y: Vec<f64> = x.row_iter().map(|row| 3.0 + 2.0 * row[0] - row[1]).collect();
    let weights = vec![1.0; 12];
    let fit = Ridge::chosen(&x, &y, &weights);
    assert!((fit.predict(&nalgebra::DVector::from_vec(vec![4.0, 1.0])) - 10.0).abs() < 1e-3);
    assert!((fit.largest() - 2.0).abs() < 1e-3);
    // The residual of a held-out observation is that of a fit without it.
    let mut noisy = y.clone();
    noisy[3] += 5.0;
    let all = Ridge::least_squares(&x, &noisy, &weights);
    let rest: Vec<usize> = (0..12).filter(|row| *row != 3).collect();
    let without = Ridge::least_squares(
        &x.select_rows(&rest),
        &rest.iter().map(|row| noisy[*row]).collect::<Vec<_>>(),
        &weights[..11],
    );
    assert!((all.held_out[3] - (noisy[3] - without.predict(&x.row(3).transpose()))).abs() < 1e-9);
}
