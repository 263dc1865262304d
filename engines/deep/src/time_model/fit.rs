//! The stopping model of searches that were recorded.

use super::{Features, Model};
use crate::logistic;

/// The maximum likelihood model of cases (features, and whether the best move changed). `None` if all outcomes
/// are alike, as the coefficients would be infinite.
pub(super) fn fit(cases: &[(Features, bool)]) -> Option<Model> {
    let rows: Vec<_> =
        cases.iter().map(|(features, changed)| (features.row(), f64::from(u8::from(*changed)))).collect();
    let [intercept, share, visits, future] = logistic::fit(&rows)?;
    Some(Model { intercept, share, visits, future })
}

/// Mean negative log-likelihood of the cases.
pub(super) fn loss(model: &Model, cases: &[(Features, bool)]) -> f64 {
    let of = |(features, changed): &(Features, bool)| {
        let change = model.change(features);
        -(if *changed { change } else { 1.0 - change }).max(1e-12).ln()
    };
    cases.iter().map(of).sum::<f64>() / cases.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use usi_shell::SplitMix64;

    #[test]
    fn it_finds_the_coefficients_that_made_the_cases() {
        let truth = Model { intercept: 1.0, share: -6.0, visits: -0.3, future: 0.5 };
        let mut rng = SplitMix64::new(11);
        let mut uniform = || rng.uniform();
        let cases: Vec<(Features, bool)> = (0..40_000)
            .map(|_| {
                let features = Features {
                    share: uniform(),
                    visits: 6.0 + 8.0 * uniform(),
                    future: 4.0 + 10.0 * uniform(),
                };
                let changed = uniform() < truth.change(&features);
                (features, changed)
            })
            .collect();
        let found = fit(&cases).unwrap();
        assert!((found.share - truth.share).abs() < 0.3, "{found:?}");
        assert!((found.visits - truth.visits).abs() < 0.05 && (found.future - truth.future).abs() < 0.05);
        assert!(loss(&found, &cases) <= loss(&truth, &cases));
    }

    #[test]
    fn cases_without_a_change_have_no_model() {
        let cases = vec![(Features::new(0.5, 100.0, 100.0), false); 50];
        // The likelihood has no maximum.
        assert!(fit(&cases).is_none_or(|model| model.change(&cases[0].0) < 1e-3));
    }
}
