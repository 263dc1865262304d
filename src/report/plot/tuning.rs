//! The values of a tuning over its pairs.

use super::{
    Plot, Size,
    axis::signed,
    curves::{Curve, Frame, HEIGHT},
    paint,
};
use maud::html;

/// The course of a tuned option.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Name of the option.
    pub name: String,
    /// Pairs played, and the distance from the start in perturbations.
    pub points: Vec<(f64, f64)>,
}

/// The values of all options, as their distance from the start in perturbations; the band is what chance alone does in 95
/// of 100 tunings.
#[must_use]
pub fn tuning(title: &str, courses: &[Course], chance: &[(f64, f64)], size: Size) -> Plot {
    let curve = |(place, course): (usize, &Course)| Curve {
        name: course.name.clone(),
        class: paint::series(place),
        points: course.points.clone(),
        errors: vec![],
    };
    let curves: Vec<Curve> = courses.iter().enumerate().map(curve).collect();
    let band = Curve {
        name: String::new(),
        class: "rest".to_owned(),
        points: chance.iter().map(|(pairs, _)| (*pairs, 0.0)).collect(),
        errors: chance.iter().map(|(_, reach)| *reach).collect(),
    };
    let ends = courses.iter().flat_map(|course| course.points.iter()).copied();
    let ends = ends.chain(chance.iter().flat_map(|&(pairs, reach)| [(pairs, reach), (pairs, -reach)]));
    let (pairs, low, high) = ends.fold((1.0_f64, -0.5_f64, 0.5_f64), |(pairs, low, high), (at, value)| {
        (pairs.max(at), low.min(value), high.max(value))
    });
    let margin = 0.06 * (high - low);
    let frame = Frame::new(size, (0.0, pairs), (low - margin, high + margin), &curves);
    let body = html! {
        (frame.scales("pairs of games; up: perturbations from the start; band: by chance", signed))
        (frame.curves(&[band]))
        (frame.curves(&curves))
        (frame.names(&curves))
    };
    Plot::new(size, HEIGHT, title, body)
}
