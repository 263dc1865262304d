//! Plans of tunings, on landscapes that are known.

use super::*;

fn spec(parameters: usize) -> Spec {
    let parameter = |i: usize| Parameter {
        name: format!("p{i}"),
        start: 100.0,
        min: 0.0,
        max: 200.0,
        c_end: 10.0,
        r_end: 0.002,
        whole: i.is_multiple_of(2),
    };
    Spec { pairs: 1, window: 16, seed: 1, parameters: (0..parameters).map(parameter).collect() }
}

fn assumption(parameters: usize) -> Assumption {
    let costs = vec![COST; parameters];
    Assumption { costs, distance: 2.0, draws: 0.1, within: 8.0, confidence: 0.95 }
}

#[test]
fn a_planted_optimum_is_found_at_the_number_of_pairs_that_was_proposed() {
    let proposal = propose(&spec(2), &assumption(2), &|| false).unwrap();
    let others = (1000..1100_u64).filter(|run| {
        let landscape = landscape(&proposal.spec, &assumption(2), 1.0, 0.0, *run);
        landscape.tuned(proposal.spec.clone(), *run).1 <= 8.0
    });
    let found = others.count();
    assert!(found >= 93, "{found} of 100 at {} pairs", proposal.spec.pairs);
    assert!((proposal.start - 20.0).abs() < 1e-9);
}

#[test]
fn perturbations_are_proposed_that_cost_two_and_a_half_elo() {
    let costs = [10.0, COST, 0.625];
    let spec = perturbed(&spec(3), &costs);
    let c_end: Vec<_> = spec.parameters.iter().map(|it| it.c_end).collect();
    assert_eq!(c_end, [5.0, 10.0, 20.0]);
}

#[test]
fn a_goal_out_of_reach_has_no_proposal() {
    let goal = Assumption { within: 1e-6, ..assumption(2) };
    assert_eq!(propose(&spec(2), &goal, &|| false), None);
}
