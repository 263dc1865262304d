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
    /// Value before the first pair, after the last, and averaged over the second half: the result.
    pub values: [f64; 3],
}

/// Height of a line of values below the picture.
const LINE: f64 = 18.0;

/// The values of all options, as their distance from the start in perturbations; the band is what chance alone does in 95
/// of 100 tunings.
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
        @for (course, (curve, place)) in courses.iter().zip(curves.iter().zip(1..)) {
            g class=(curve.class) {
                (paint::text(8.0, HEIGHT + LINE * f64::from(place), "named", &values(course, size)))
            }
        }
    };
    Plot::new(size, HEIGHT + LINE * courses.len() as f64 + 8.0, title, body)
}

/// The values of an option in words.
fn values(course: &Course, size: Size) -> String {
    let [start, last, averaged] = course.values.map(number);
    let columns = if size == Size::Wide { 40 } else { 12 };
    let name = super::short(&course.name, columns);
    match size {
        Size::Wide => format!("{name}: start {start}, last {last}, averaged {averaged}"),
        Size::Narrow => format!("{name}: {start} → {averaged}"),
    }
}

/// A value with as many decimals as tell it from its neighbours.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
