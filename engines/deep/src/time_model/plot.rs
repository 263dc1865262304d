//! Plots of the model and of its calibration.

use super::{Features, Model};
use pairwise::{
    Fault,
    plot::{self, Line, Panel},
};
use std::path::Path;

/// Number of cases per point of the lower panel.
const POINTS: usize = 12;

/// Plots the probability of a change by the best move's share of the visits, and the observed frequency by the
/// predicted probability.
pub(super) fn draw(model: &Model, cases: &[(Features, bool)], path: &Path) -> Result<(), Fault> {
    let panels = [
        Panel {
            title: "the best move changes before the visits are N + M".to_owned(),
            across: "its share of N visits",
            up: "probability",
            lines: [(256.0, 256.0), (256.0, 4096.0), (4096.0, 4096.0), (4096.0, 512.0)]
                .map(|(visits, future)| curve(model, visits, future))
                .into(),
        },
        Panel {
            title: format!("{} held-out cases", cases.len()),
            across: "predicted",
            up: "seen",
            lines: vec![seen(model, cases), just()],
        },
    ];
    plot::draw(path, &panels)
}

fn curve(model: &Model, visits: f64, future: f64) -> Line {
    let point = |step: i32| {
        let share = f64::from(step) / 50.0;
        (share, model.change(&Features::new(share, visits, future)))
    };
    Line { name: format!("N {visits}, M {future}"), points: (0..=50).map(point).collect(), dots: false }
}

fn seen(model: &Model, cases: &[(Features, bool)]) -> Line {
    let mut cases: Vec<(f64, bool)> =
        cases.iter().map(|(features, changed)| (model.change(features), *changed)).collect();
    cases.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mean = |bin: &[(f64, bool)]| {
        let count = bin.len() as f64;
        let changed = bin.iter().filter(|case| case.1).count() as f64;
        (bin.iter().map(|case| case.0).sum::<f64>() / count, changed / count)
    };
    let points = cases.chunks(cases.len().div_ceil(POINTS).max(1)).map(mean).collect();
    Line { name: "seen".to_owned(), points, dots: true }
}

fn just() -> Line {
    Line { name: "as predicted".to_owned(), points: vec![(0.0, 0.0), (1.0, 1.0)], dots: false }
}
